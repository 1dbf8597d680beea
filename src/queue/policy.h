/* What the actions of a policy ask of the queue of a machine. What of a policy it can carry out is
 * in sched/engine.h; the rest is refused before it starts. Pure. */
#ifndef BRIM_QUEUE_POLICY_H
#define BRIM_QUEUE_POLICY_H
#include <stdint.h>

enum queue_deed {
    DEED_NONE,   /* it cannot be carried out */
    DEED_START,  /* start the job */
    DEED_STOP,   /* ask it for a checkpoint and end it: it waits again */
    DEED_TELL,   /* tell its owner */
    DEED_RESIZE, /* the same as stop, but it goes on at once, with other devices */
    DEED_JOIN,   /* the same, with those that another job has */
};

/* What an action (enum action_kind) asks of this engine. */
enum queue_deed queue_deed(uint8_t kind);

#endif
