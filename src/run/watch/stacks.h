/* The Python calls of a job's ranks and of their loaders' workers, looked at now and then at times
 * of chance: which lines take the time. They are read from outside (probe/python/stack.h): nothing
 * in the job is stopped or changed. */
#ifndef BRIM_RUN_WATCH_STACKS_H
#define BRIM_RUN_WATCH_STACKS_H
#include "base/clock.h"
#include "run/job/family.h"
#include "run/ring/rings.h"

struct stacks;

/* What is looked at. All of it is borrowed. */
struct stacks_config {
    int proc;         /* a descriptor of /proc */
    pid_t first;      /* the job's first process */
    struct lines *to; /* the sums go there */
    const struct clock *clock;
    uint64_t chance; /* any bits */
};

/* 0 or -ENOMEM. */
int stacks_open(struct stacks **ret, const struct stacks_config *c) CHECK_RESULT;
void stacks_close(struct stacks *s);
DEFINE_CLEANUP(struct stacks, stacks_close)

/* Behind a sample of the family, with the ranks as they are known now: whose calls are read. Where
 * again and again none of them is Python, it is the first process (a job that mostly waits for
 * programs that it starts has these for ranks). */
void stacks_of(struct stacks *s, const struct family *f, const pid_t *ranks, size_t n);

/* When to look next, monotonic: 20 times a second at first, then less often; INT64_MAX: there is
 * nobody to look at. */
int64_t stacks_due_ns(const struct stacks *s);

/* Look at some of the processes. rings: what their marks say counts as the stage that they are in,
 * and is read for that; NULL: their calls tell. 0, or what rings_read() failed with. */
int stacks_look(struct stacks *s, struct rings *rings, struct err *e) CHECK_RESULT;

/* Whether there is more to tell than when this was asked last. */
bool stacks_is_new(struct stacks *s);

#endif
