/* What of a policy each engine can carry out: the one table of that, for the queue, which refuses
 * the rest, and for brim sim, which refuses it or simulates what the engine would do. A part that
 * an engine learns is a changed cell, one that policies learn a row (engine_parts.c). Pure. */
#ifndef BRIM_SCHED_ENGINE_H
#define BRIM_SCHED_ENGINE_H
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "sched/policy/policy.h"

enum engine {
    ENGINE_LOCAL, /* the queue of a machine: src/queue */
    ENGINE_SLURM, /* Slurm, with what its own plugins do */
    ENGINE_N,
};

/* Their names as options have them, NULL behind the last; as sentences have them. */
extern const char *const engine_names[];
const char *engine_called(enum engine engine);

enum engine_can {
    ENGINE_DOES,
    ENGINE_CHANGES, /* it does something else instead */
    ENGINE_LACKS,
};

/* What an engine makes of a part. */
struct engine_cell {
    enum engine_can can;
    const char *why;     /* it changes or lacks it */
    const char *instead; /* what it does: for "order = sjf is INSTEAD" */
    void (*change)(struct policy *p);
};

/* A part of a policy and where that stands: key NULL: a section; value NULL: any value. */
struct engine_part {
    const char *section, *key, *value;
    bool (*asks)(const struct policy *p, const char *value); /* NULL: all engines do it */
    struct engine_cell by[ENGINE_N];
};

extern const struct engine_part engine_parts[];
extern const size_t engine_n_parts;

/* The next part from *at on that a policy asks for and an engine changes or lacks; NULL: no more.
 * *at is behind it. */
const struct engine_part *engine_next(const struct policy *p, enum engine engine,
                                      enum engine_can can, size_t *at);

enum { ENGINE_PART_TEXT = 64 };

/* "[share]", "order = las", "interleave". */
const char *engine_part_text(const struct engine_part *part, char ret[ENGINE_PART_TEXT]);

/* What a policy was read of: a file, or (text NULL) its own name. */
struct engine_policy_text {
    const char *name, *text;
    size_t len;
};

/* 0, or -EINVAL with a sentence that names the line and what the engine lacks. What no row knows (a
 * section or a key that came later) is lacked, too. */
int engine_check(const struct policy *p, enum engine engine, const struct engine_policy_text *from,
                 struct err *e) CHECK_RESULT;

/* Make a policy that passed engine_check() what the engine does. -EINVAL with a sentence where that
 * does not go together. */
int engine_change(struct policy *p, enum engine engine, struct err *e) CHECK_RESULT;

#endif
