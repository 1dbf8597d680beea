/* A Hook stands where a function of torch's was, and a State is what it and the wrappers in Python
 * both look at: the base of brim_torch.loop.Loop, whose attributes of these names lie in it. Every
 * access is made with the interpreter's lock held. */
#ifndef BRIM_TORCH_HOOK_H
#define BRIM_TORCH_HOOK_H
#include "mark.h"

struct state {
    PyObject head;
    char opened, alone, inside, stepped, stepping, ddp, unfed;
    int others, patience;
    long last;
    long long steps, loss_at, look_at; /* look_at: the step after which Python is called */
    PyObject *feeding;                 /* a set */
    PyObject *main, *timer;            /* None, or a weak reference; None, or a cuda.Timer */
    PyObject *after_step, *every_step; /* a list; None, or a function */
    PyObject *tensor, *grad;           /* torch.Tensor, torch.is_grad_enabled */
    PyObject *change;                  /* None, or a change.Change */
};

struct hook;

/* The arguments of a call: a tuple and a dict or NULL; or, where args is NULL, as vectorcall has
 * them. */
struct call {
    PyObject *args, *kwargs;
    PyObject *const *vector;
    size_t flags; /* how many of vector are not keywords, and the caller's flag */
    PyObject *names;
};

typedef PyObject *hook_vectorcall(PyObject *self, PyObject *const *vector, size_t flags,
                                  PyObject *names);

/* In the stable ABI from 3.12 on, with which 3.11's is the same; NULL: older. */
extern PyObject *PyObject_Vectorcall(PyObject *callable, PyObject *const *vector, size_t flags,
                                     PyObject *names) __attribute__((weak));

typedef PyObject *hook_run(struct hook *h, const struct call *c);

struct hook {
    PyObject head;
    PyObject *dict, *weak;
    hook_vectorcall *vectorcall;
    hook_run *run;
    struct state *state;
    PyObject *inner;             /* what is wrapped; forward: None: the __call__ that more has */
    PyObject *slow;              /* the wrapper in Python, for whatever is not the usual case */
    PyObject *more;              /* next: called with (source, batch) whose samples are not found;
                                    optimizer: called after a step, where something is left to do;
                                    forward: a class; backward: None */
    PyObject *method;            /* types.MethodType */
    PyObject *attribute, *shape; /* names */
};

/* How hooks of a kind ("next", "forward", "backward", "optimizer") run; NULL: there is no such. */
hook_run *hook_find(const char *kind);

/* Add the types State and Hook to the module. On Python 3.8, whose limited API cannot make types
 * with a __dict__, adds nothing. Returns 0, or -1 with an exception set. */
int hook_add_types(PyObject *module);

#endif
