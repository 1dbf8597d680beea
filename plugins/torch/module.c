/* The extension: its functions, and the types that its hooks need. */
#include "hook.h"
#include "mark.h"

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "brim_mark", NULL, -1, mark_methods, NULL, NULL, NULL, NULL
};

PyMODINIT_FUNC PyInit_brim_mark(void);

PyMODINIT_FUNC PyInit_brim_mark(void)
{
    PyObject *made = PyModule_Create(&module);

    if (made && hook_add_types(made)) {
        Py_DecRef(made);
        return NULL;
    }
    return made;
}
