/* What Python's own iterators have given out so far. */
#ifndef BRIM_PROBE_PYTHON_ITERATOR_H
#define BRIM_PROBE_PYTHON_ITERATOR_H
#include "probe/python/memory.h"
#include "probe/python/offsets.h"

enum python_kind {
    PYTHON_OTHER,
    PYTHON_RANGE,
    PYTHON_SEQUENCE, /* of a list or a tuple */
    PYTHON_ENUMERATE,
    PYTHON_SLICE,
    PYTHON_COUNT,
    PYTHON_ZIP, /* it has a tuple of others */
    PYTHON_MAP, /* so it has */
    PYTHON_GENERATOR,
};

enum { PYTHON_KINDS = 1024 };

/* Types by address, with what they are: a process has some thousand. */
struct python_kinds {
    struct {
        uint64_t type;
        enum python_kind kind;
    } known[PYTHON_KINDS];
};

/* Which kind a type is, by its name, which is read once. */
enum python_kind python_kind_of(struct python_kinds *k, const struct python_memory *m,
                                const struct python_offsets *o, uint64_t type);

struct python_progress {
    int64_t at;   /* grows by one with each item; where it begins depends on the kind */
    int64_t left; /* items to come; -1: not known */
};

/* How far an iterator is that counts itself. -ENOENT: it is of a kind that does not; or another
 * negative errno: it cannot be read. */
int python_iterator_read(const struct python_memory *m, const struct python_offsets *o,
                         enum python_kind kind, uint64_t at, struct python_progress *ret)
    CHECK_RESULT;

/* Where the address stands of the iterator that another one, of kind PYTHON_ZIP or PYTHON_MAP, asks
 * first. 0, or a negative errno. */
int python_iterator_first(const struct python_memory *m, const struct python_offsets *o,
                          enum python_kind kind, uint64_t at, uint64_t *ret) CHECK_RESULT;

#endif
