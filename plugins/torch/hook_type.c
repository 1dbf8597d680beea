/* The types State and Hook. */
#include "hook.h"

#include <stdbool.h>
#include <stddef.h>
#include <structmember.h>

enum {
    DICT_VERSION = 0x03090000, /* the first whose limited API gives types a __dict__ */
    HAVE_VECTORCALL = 1 << 11, /* Py_TPFLAGS_HAVE_VECTORCALL, since 3.9 */
};

#define STATE(type, name) \
    { \
#name, type, offsetof(struct state, name), 0, NULL \
    }

static PyMemberDef state_members[] = {
    STATE(T_BOOL, opened),       STATE(T_BOOL, alone),        STATE(T_BOOL, inside),
    STATE(T_BOOL, stepped),      STATE(T_BOOL, stepping),     STATE(T_BOOL, ddp),
    STATE(T_BOOL, unfed),        STATE(T_INT, others),        STATE(T_INT, patience),
    STATE(T_LONG, last),         STATE(T_LONGLONG, steps),    STATE(T_LONGLONG, loss_at),
    STATE(T_OBJECT, feeding),    STATE(T_OBJECT, main),       STATE(T_OBJECT, timer),
    STATE(T_OBJECT, after_step), STATE(T_OBJECT, every_step), STATE(T_OBJECT, tensor),
    STATE(T_OBJECT, grad),       STATE(T_OBJECT, change),     STATE(T_LONGLONG, look_at),
    { NULL, 0, 0, 0, NULL },
};

static int visit_all(PyObject *const *all, size_t n, visitproc visit, void *arg)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < n; i++)
        rc = all[i] ? visit(all[i], arg) : 0;
    return rc;
}

static int state_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct state *s = (struct state *)self;
    PyObject *const all[] = { (PyObject *)Py_TYPE(self),
                              s->feeding,
                              s->main,
                              s->timer,
                              s->after_step,
                              s->every_step,
                              s->tensor,
                              s->grad,
                              s->change };

    return visit_all(all, sizeof(all) / sizeof(all[0]), visit, arg);
}

static int state_clear(PyObject *self)
{
    struct state *s = (struct state *)self;

    Py_CLEAR(s->feeding);
    Py_CLEAR(s->main);
    Py_CLEAR(s->timer);
    Py_CLEAR(s->after_step);
    Py_CLEAR(s->every_step);
    Py_CLEAR(s->tensor);
    Py_CLEAR(s->grad);
    Py_CLEAR(s->change);
    return 0;
}

static void free_object(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    release(self);
    Py_DECREF((PyObject *)type);
}

static void state_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    state_clear(self);
    free_object(self);
}

static int hook_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct hook *h = (struct hook *)self;
    PyObject *const all[] = { (PyObject *)Py_TYPE(self),
                              h->dict,
                              (PyObject *)h->state,
                              h->inner,
                              h->slow,
                              h->more,
                              h->method };

    return visit_all(all, sizeof(all) / sizeof(all[0]), visit, arg);
}

static int hook_clear(PyObject *self)
{
    struct hook *h = (struct hook *)self;
    PyObject *state = (PyObject *)h->state;

    h->state = NULL;
    Py_XDECREF(state);
    Py_CLEAR(h->dict);
    Py_CLEAR(h->inner);
    Py_CLEAR(h->slow);
    Py_CLEAR(h->more);
    Py_CLEAR(h->method);
    return 0;
}

static void hook_dealloc(PyObject *self)
{
    struct hook *h = (struct hook *)self;

    PyObject_GC_UnTrack(self);
    if (h->weak)
        PyObject_ClearWeakRefs(self);
    hook_clear(self);
    Py_CLEAR(h->attribute);
    Py_CLEAR(h->shape);
    free_object(self);
}

static PyObject *method_type(void)
{
    PyObject *types = PyImport_ImportModule("types");
    PyObject *method = types ? PyObject_GetAttrString(types, "MethodType") : NULL;

    Py_XDECREF(types);
    return method;
}

/* Whether object is a State; the type has it as its attribute. -1: an exception is set. */
static int is_state(PyTypeObject *type, PyObject *object)
{
    PyObject *state_type = PyObject_GetAttrString((PyObject *)type, "State");
    int is = state_type ? PyObject_IsInstance(object, state_type) : -1;

    Py_XDECREF(state_type);
    if (!is)
        PyErr_SetString(PyExc_TypeError, "a hook needs a State");
    return is;
}

static PyObject *run(PyObject *self, const struct call *c)
{
    struct hook *h = (struct hook *)self;

    if (h->state)
        return h->run(h, c);
    PyErr_SetString(PyExc_RuntimeError, "the hook has been collected");
    return NULL;
}

static PyObject *hook_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    const struct call c = { .args = args, .kwargs = kwargs };

    return run(self, &c);
}

static PyObject *hook_call_vector(PyObject *self, PyObject *const *vector, size_t flags,
                                  PyObject *names)
{
    const struct call c = { .vector = vector, .flags = flags, .names = names };

    return run(self, &c);
}

/* Hook(kind, state, inner, slow, more) */
static PyObject *hook_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *state, *inner, *slow, *more, *self;
    const char *kind;
    struct hook *h;

    (void)kwargs;
    if (!PyArg_ParseTuple(args, "sOOOO", &kind, &state, &inner, &slow, &more) ||
        is_state(type, state) != 1)
        return NULL;
    self = allocate(type, 0);
    if (!self)
        return NULL;
    h = (struct hook *)self;
    h->run = hook_find(kind);
    h->vectorcall = hook_call_vector;
    Py_INCREF(state);
    h->state = (struct state *)state;
    Py_INCREF(inner);
    h->inner = inner;
    Py_INCREF(slow);
    h->slow = slow;
    Py_INCREF(more);
    h->more = more;
    h->method = method_type();
    h->attribute = PyUnicode_InternFromString(inner == Py_None ? "__call__" : "_brim_source");
    h->shape = PyUnicode_InternFromString("shape");
    if (!h->run)
        PyErr_SetString(PyExc_ValueError, "there is no such kind of hook");
    if (!h->run || !h->method || !h->attribute || !h->shape) {
        Py_DECREF(self);
        return NULL;
    }
    return self;
}

/* On an object: a method, as a function makes one. */
static PyObject *hook_bind(PyObject *self, PyObject *object, PyObject *type)
{
    (void)type;
    if (object && object != Py_None)
        return PyObject_CallFunctionObjArgs(((struct hook *)self)->method, self, object, NULL);
    Py_INCREF(self);
    return self;
}

static PyObject *hook_dict(PyObject *self, void *unused)
{
    struct hook *h = (struct hook *)self;

    (void)unused;
    if (!h->dict)
        h->dict = PyDict_New();
    Py_XINCREF(h->dict);
    return h->dict;
}

/* Copied and pickled by name, as functions are. */
static PyObject *hook_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyObject_GetAttrString(self, "__qualname__");
}

static PyGetSetDef hook_getset[] = {
    { "__dict__", hook_dict, NULL, NULL, NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyMethodDef hook_methods[] = {
    { "__reduce__", hook_reduce, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyMemberDef hook_members[] = {
    { "__dictoffset__", T_PYSSIZET, offsetof(struct hook, dict), READONLY, NULL },
    { "__vectorcalloffset__", T_PYSSIZET, offsetof(struct hook, vectorcall), READONLY, NULL },
    { "__weaklistoffset__", T_PYSSIZET, offsetof(struct hook, weak), READONLY, NULL },
    { NULL, 0, 0, 0, NULL },
};

static PyType_Slot state_slots[] = {
    { Py_tp_members, state_members },
    { Py_tp_traverse, (void *)state_traverse },
    { Py_tp_clear, (void *)state_clear },
    { Py_tp_dealloc, (void *)state_dealloc },
    { 0, NULL },
};

static PyType_Slot hook_slots[] = {
    { Py_tp_new, (void *)hook_new },
    { Py_tp_call, (void *)hook_call },
    { Py_tp_descr_get, (void *)hook_bind },
    { Py_tp_members, hook_members },
    { Py_tp_getset, hook_getset },
    { Py_tp_methods, hook_methods },
    { Py_tp_traverse, (void *)hook_traverse },
    { Py_tp_clear, (void *)hook_clear },
    { Py_tp_dealloc, (void *)hook_dealloc },
    { 0, NULL },
};

static PyType_Spec state_spec = {
    .name = "brim_mark.State",
    .basicsize = sizeof(struct state),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = state_slots,
};

/* A method descriptor: object.hook() calls it with the object, and makes no bound method. */
static const PyType_Spec hook_spec = {
    .name = "brim_mark.Hook",
    .basicsize = sizeof(struct hook),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .slots = hook_slots,
};

static bool types_have_dicts(void)
{
    PyObject *version = PySys_GetObject("hexversion");

    return version && PyLong_AsLong(version) >= DICT_VERSION;
}

int hook_add_types(PyObject *module)
{
    PyType_Spec spec = hook_spec;
    PyObject *state, *hook = NULL;
    int rc = -1;

    if (!types_have_dicts())
        return 0;
    state = PyType_FromSpec(&state_spec);
    if (PyObject_Vectorcall)
        spec.flags |= HAVE_VECTORCALL;
    if (state)
        hook = PyType_FromSpec(&spec);
    if (hook && !PyObject_SetAttrString(hook, "State", state) &&
        !PyObject_SetAttrString(module, "State", state))
        rc = PyObject_SetAttrString(module, "Hook", hook);
    Py_XDECREF(state);
    Py_XDECREF(hook);
    return rc;
}
