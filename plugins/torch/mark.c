/* The marks as a Python extension: one binary for every CPython from 3.8 on (the limited API). The
 * functions are those of brim_torch/marks/ring.py. There is one ring a process, hence a static. */
#include "mark.h"

#include "brim/ring.h"
#include "brim/step.h"

static struct brim_step *ring;

void mark_put(uint32_t code_kind, uint64_t value)
{
    brim_step_mark(ring, code_kind, value);
}

static PyObject *none(void)
{
    Py_INCREF(Py_None);
    return Py_None;
}

static PyObject *py_open(PyObject *self, PyObject *arg)
{
    PyObject *framework = PyUnicode_AsASCIIString(arg);

    (void)self;
    if (!framework)
        return NULL;
    brim_step_close(ring);
    ring = brim_step_open(PyBytes_AsString(framework));
    Py_DecRef(framework);
    return PyBool_FromLong(ring != NULL);
}

static PyObject *py_close(PyObject *self, PyObject *arg)
{
    struct brim_step *old = ring;

    (void)self;
    (void)arg;
    ring = NULL;
    brim_step_close(old);
    return none();
}

static PyObject *py_mark(PyObject *self, PyObject *arg)
{
    unsigned long code_kind = PyLong_AsUnsignedLong(arg);

    (void)self;
    if (code_kind == (unsigned long)-1 && PyErr_Occurred())
        return NULL;
    brim_step_mark(ring, (uint32_t)code_kind, 0);
    return none();
}

static PyObject *py_wait(PyObject *self, PyObject *arg)
{
    unsigned long source = PyLong_AsUnsignedLong(arg);

    (void)self;
    if (source == (unsigned long)-1 && PyErr_Occurred())
        return NULL;
    brim_step_mark(ring, BRIM_RING_STAGE_BEGIN | BRIM_STAGE_WAIT << 16, source);
    return none();
}

static PyObject *py_samples(PyObject *self, PyObject *arg)
{
    unsigned long long both = PyLong_AsUnsignedLongLong(arg);

    (void)self;
    if (both == (unsigned long long)-1 && PyErr_Occurred())
        return NULL;
    brim_step_mark(ring, BRIM_RING_SAMPLES | (uint32_t)(both & 0xffff) << 16, both >> 16);
    return none();
}

static PyObject *py_loss(PyObject *self, PyObject *arg)
{
    double loss = PyFloat_AsDouble(arg);

    (void)self;
    if (PyErr_Occurred())
        return NULL;
    brim_step_loss(ring, loss);
    return none();
}

static PyObject *py_switch(PyObject *self, PyObject *args)
{
    unsigned long long number;
    unsigned int outcome;

    (void)self;
    if (!PyArg_ParseTuple(args, "KI", &number, &outcome))
        return NULL;
    brim_step_mark(ring, BRIM_RING_SWITCH | outcome << 16, number);
    return none();
}

static PyObject *py_collective(PyObject *self, PyObject *args)
{
    unsigned long long size;
    long long begin, end;
    int kind;

    (void)self;
    if (!PyArg_ParseTuple(args, "iKLL", &kind, &size, &begin, &end))
        return NULL;
    brim_step_collective(ring, kind, size, begin, end);
    return none();
}

static PyObject *py_device(PyObject *self, PyObject *args)
{
    long long begin, end;
    int stage;

    (void)self;
    if (!PyArg_ParseTuple(args, "iLL", &stage, &begin, &end))
        return NULL;
    brim_stage_device(ring, stage, begin, end);
    return none();
}

static PyObject *py_note(PyObject *self, PyObject *args)
{
    const char *text;

    (void)self;
    if (!PyArg_ParseTuple(args, "s", &text))
        return NULL;
    brim_step_note(ring, text);
    return none();
}

static PyObject *py_value(PyObject *self, PyObject *args)
{
    const char *name;
    double value;

    (void)self;
    if (!PyArg_ParseTuple(args, "sd", &name, &value))
        return NULL;
    brim_step_value(ring, name, value);
    return none();
}

static PyObject *py_set_rank(PyObject *self, PyObject *args)
{
    int rank, local_rank, world;

    (void)self;
    if (!PyArg_ParseTuple(args, "iii", &rank, &local_rank, &world))
        return NULL;
    brim_step_set_rank(ring, rank, local_rank, world);
    return none();
}

/* In a child the handle is empty already; open() makes another. */
static PyObject *py_forked(PyObject *self, PyObject *arg)
{
    (void)self;
    (void)arg;
    return none();
}

PyMethodDef mark_methods[] = {
    { "open", py_open, METH_O, NULL },
    { "close", py_close, METH_NOARGS, NULL },
    { "mark", py_mark, METH_O, NULL },
    { "wait", py_wait, METH_O, NULL },
    { "samples", py_samples, METH_O, NULL },
    { "loss", py_loss, METH_O, NULL },
    { "switch", py_switch, METH_VARARGS, NULL },
    { "collective", py_collective, METH_VARARGS, NULL },
    { "device", py_device, METH_VARARGS, NULL },
    { "note", py_note, METH_VARARGS, NULL },
    { "value", py_value, METH_VARARGS, NULL },
    { "set_rank", py_set_rank, METH_VARARGS, NULL },
    { "forked", py_forked, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};
