/* A condition over what is known of a run, as knobs have them:
 *
 *     loader.workers and loader.kind != iterable
 *     (gpus >= 1 or device == cuda) and not group.world
 *
 * A name alone holds when it is known. <, <=, > and >= compare numbers, == and != numbers or words;
 * a comparison of what is not known is false, whichever it is. */
#ifndef BRIM_MODEL_JOB_CONDITION_H
#define BRIM_MODEL_JOB_CONDITION_H
#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"

enum condition_kind {
    NEEDS_KNOWN,
    NEEDS_EQUAL,
    NEEDS_OTHER,
    NEEDS_LESS,
    NEEDS_LESS_EQUAL,
    NEEDS_MORE,
    NEEDS_MORE_EQUAL,
    NEEDS_NOT,
    NEEDS_AND,
    NEEDS_OR,
};

struct condition_part {
    enum condition_kind kind;
    const char *name; /* of comparisons and NEEDS_KNOWN */
    const char *word; /* what it is compared with */
    double number;    /* the same; NaN: it is no number */
};

enum { NEEDS_PARTS = 24 }; /* most */

struct condition {
    struct condition_part *parts; /* in postfix order; belongs to the arena */
    size_t count;                 /* 0: always holds */
};

/* What is known under a name; NULL: nothing. */
typedef const char *condition_look(const void *ctx, const char *name);

/* Read a condition; its texts are copied to the arena. 0, -ENOMEM, or -EINVAL with a sentence
 * without a place. */
int condition_parse(struct condition *ret, struct arena *a, const char *text, struct err *e)
    CHECK_RESULT;

bool condition_hold(const struct condition *n, condition_look *look, const void *ctx);

#endif
