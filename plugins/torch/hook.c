/* The wrappers around what a loop calls, for the case that happens in nearly every step: nothing is
 * to be decided, two marks and the call are all. */
#include "hook.h"

#include <stdbool.h>
#include <string.h>

#include "brim/step.h"
#include "brim/ring.h"
#include "mark.h"

enum {
    FIRST_VALUES = 4, /* of a dict, that are looked at for a tensor: as count_samples() */
    BEGIN = BRIM_RING_STAGE_BEGIN,
    END = BRIM_RING_STAGE_END,
};

#define OFFSET_FLAG ((size_t)1 << (8 * sizeof(size_t) - 1)) /* PY_VECTORCALL_ARGUMENTS_OFFSET */

static bool is_none(const PyObject *o)
{
    return !o || o == Py_None;
}

static PyObject *call_on(PyObject *function, const struct call *c)
{
    if (c->args)
        return PyObject_Call(function, c->args, c->kwargs);
    return PyObject_Vectorcall(function, c->vector, c->flags, c->names);
}

/* Borrowed; NULL: there is none before the keywords. */
static PyObject *first_argument(const struct call *c)
{
    if (!c->args)
        return c->flags & ~OFFSET_FLAG ? c->vector[0] : NULL;
    return PyTuple_Size(c->args) > 0 ? PyTuple_GetItem(c->args, 0) : NULL;
}

static void stage(uint32_t begin_or_end, uint32_t which, uint64_t value)
{
    mark_put(begin_or_end | which << 16, value);
}

/* The number of the iterator's loader where its data go into steps; 0 where Python decides. */
static long source_of(const struct hook *h, PyObject *iterator)
{
    PyObject *number;
    long source = 0;

    if (!iterator)
        return 0;
    number = PyObject_GetAttr(iterator, h->attribute);
    if (number && h->state->feeding && PySet_Contains(h->state->feeding, number) == 1)
        source = PyLong_AsLong(number);
    Py_XDECREF(number);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    return source;
}

/* Borrowed; what is found first in the batches that most loaders make, or the batch itself. */
static PyObject *first_of(PyObject *data, const PyObject *tensor)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;

    if (PyList_CheckExact(data) && PyList_Size(data) > 0)
        return PyList_GetItem(data, 0);
    if (PyTuple_CheckExact(data) && PyTuple_Size(data) > 0)
        return PyTuple_GetItem(data, 0);
    if (PyDict_CheckExact(data))
        for (int i = 0; i < FIRST_VALUES && PyDict_Next(data, &at, &key, &value); i++)
            if ((PyObject *)Py_TYPE(value) == tensor)
                return value;
    return data;
}

/* The first dimension of the batch's first tensor; 0: it has none; -1: Python looks. */
static long long count_of(const struct hook *h, PyObject *data)
{
    PyObject *first = first_of(data, h->state->tensor), *shape;
    long long count = -1;

    if ((PyObject *)Py_TYPE(first) != h->state->tensor)
        return -1;
    Py_INCREF(first);
    shape = PyObject_GetAttr(first, h->shape);
    Py_DECREF(first);
    if (shape && PyTuple_Check(shape))
        count = PyTuple_Size(shape) ? PyLong_AsLongLong(PyTuple_GetItem(shape, 0)) : 0;
    Py_XDECREF(shape);
    if (PyErr_Occurred())
        PyErr_Clear();
    return count;
}

/* __next__ of a loader's iterator. */
static PyObject *run_next(struct hook *h, const struct call *c)
{
    struct state *s = h->state;
    long source = s->opened && s->stepped && !s->alone ? source_of(h, first_argument(c)) : 0;
    PyObject *data, *done;
    long long count;

    if (source <= 0)
        return call_on(h->slow, c);
    stage(BEGIN, BRIM_STAGE_WAIT, (uint64_t)source);
    data = call_on(h->inner, c);
    stage(END, BRIM_STAGE_WAIT, 0);
    if (!data)
        return NULL;
    count = count_of(h, data);
    if (count >= 0) {
        s->last = source;
        if (count > 0)
            mark_put(BRIM_RING_SAMPLES | (uint32_t)(source & 0xffff) << 16, (uint64_t)count);
        return data;
    }
    done = PyObject_CallFunction(h->more, "lO", source, data);
    if (!done) {
        Py_DECREF(data);
        return NULL;
    }
    Py_DECREF(done);
    return data;
}

static bool grad_is_on(const struct state *s)
{
    PyObject *said = s->grad ? PyObject_CallObject(s->grad, NULL) : NULL;
    bool on = said == Py_True;

    if (!said)
        PyErr_Clear();
    Py_XDECREF(said);
    return on;
}

/* __call__ of a class of modules. */
static PyObject *run_forward(struct hook *h, const struct call *c)
{
    struct state *s = h->state;
    PyObject *call, *result;

    if (s->opened && !s->inside && !(is_none(s->timer) && is_none(s->change)))
        return call_on(h->slow, c);
    /* Looked up anew, for others replace it too. */
    call = h->inner == Py_None ? PyObject_GetAttr(h->more, h->attribute) : h->inner;
    if (!call)
        return NULL;
    if (h->inner != Py_None)
        Py_INCREF(call);
    if (!s->opened || s->inside || !grad_is_on(s)) {
        result = call_on(call, c);
    } else {
        s->inside = 1;
        stage(BEGIN, BRIM_STAGE_FORWARD, 0);
        result = call_on(call, c);
        stage(END, BRIM_STAGE_FORWARD, 0);
        s->inside = 0;
    }
    Py_DECREF(call);
    return result;
}

static bool is_settled(const struct state *s)
{
    return s->opened && is_none(s->timer) && is_none(s->change) && !s->unfed;
}

/* torch.autograd.backward. */
static PyObject *run_backward(struct hook *h, const struct call *c)
{
    const struct state *s = h->state;
    PyObject *result;

    if (!is_settled(s) || s->ddp || s->steps >= s->loss_at)
        return call_on(h->slow, c);
    stage(BEGIN, BRIM_STAGE_BACKWARD, 0);
    result = call_on(h->inner, c);
    stage(END, BRIM_STAGE_BACKWARD, 0);
    return result;
}

/* Whether this optimizer's step() ends a step, as Loop.optimizer_done() has it: 1, 0; -1: Python
 * decides. */
static int ends_step(const struct state *s, const PyObject *optimizer)
{
    PyObject *main;
    int ends = -1;

    if (is_none(s->main) || !optimizer)
        return -1;
    main = PyObject_CallObject(s->main, NULL); /* a weak reference; PyWeakref_GetObject() goes */
    if (!main)
        PyErr_Clear();
    else if (main == optimizer)
        ends = 1;
    else if (main != Py_None && s->others < s->patience)
        ends = 0;
    Py_XDECREF(main);
    return ends;
}

/* After a step's end, also where step() raised: then that goes on. */
static PyObject *run_after(const struct hook *h, PyObject *result)
{
    PyObject *type = NULL, *value = NULL, *trace = NULL, *done;

    if (!result)
        PyErr_Fetch(&type, &value, &trace);
    done = PyObject_CallObject(h->more, NULL);
    if (done && !result) {
        PyErr_Restore(type, value, trace);
    } else {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
    }
    if (!done) {
        Py_XDECREF(result);
        return NULL;
    }
    Py_DECREF(done);
    return result;
}

/* step() of a class of optimizers. */
static PyObject *run_optimizer(struct hook *h, const struct call *c)
{
    struct state *s = h->state;
    int ends = is_settled(s) && s->stepped && !s->alone && !s->stepping
                   ? ends_step(s, first_argument(c))
                   : -1;
    PyObject *result;

    if (ends < 0)
        return call_on(h->slow, c);
    s->stepping = 1;
    stage(BEGIN, BRIM_STAGE_OPTIMIZER, 0);
    result = call_on(h->inner, c);
    stage(END, BRIM_STAGE_OPTIMIZER, 0);
    s->stepping = 0;
    if (!ends) {
        s->others++;
        return result;
    }
    s->others = 0;
    mark_put(BRIM_RING_STEP_END, 0);
    s->steps++;
    if (is_none(s->every_step) && PyList_Size(s->after_step) == 0 && s->steps < s->look_at)
        return result;
    return run_after(h, result);
}

static const struct {
    const char *name;
    hook_run *run;
} kinds[] = {
    { "next", run_next },
    { "forward", run_forward },
    { "backward", run_backward },
    { "optimizer", run_optimizer },
};

hook_run *hook_find(const char *kind)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (!strcmp(kinds[i].name, kind))
            return kinds[i].run;
    return NULL;
}
