/* What of a policy the queue of a machine can carry out. The rest is refused before it starts, and
 * never done in another way. Pure. */
#ifndef BRIM_QUEUE_POLICY_H
#define BRIM_QUEUE_POLICY_H
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sched/policy/policy.h"

/* What it was read of: a file, or (text NULL) a policy's own name. */
struct queue_policy_text {
    const char *name, *text;
    size_t len;
};

/* 0, or -EINVAL with a sentence that names the line and what to write instead. What is not known
 * here (a section or a key that came later) is refused, too: whoever makes it work adds it to the
 * tables in policy.c. */
int queue_policy_check(const struct policy *p, const struct queue_policy_text *from, struct err *e)
    CHECK_RESULT;

enum queue_deed {
    DEED_NONE,   /* it cannot be carried out */
    DEED_START,  /* start the job */
    DEED_STOP,   /* ask it for a checkpoint and end it: it waits again */
    DEED_TELL,   /* tell its owner */
    DEED_RESIZE, /* the same as stop, but it goes on at once, with other devices */
};

/* What an action (enum action_kind) asks of this engine. */
enum queue_deed queue_deed(uint8_t kind);

#endif
