/* All processes of a job, in the guard: those of its control group, or, where none can be made,
 * those that descend from the guard, which reaps orphans. */
#ifndef BRIM_QUEUE_GUARD_GROUP_H
#define BRIM_QUEUE_GUARD_GROUP_H
#include <stdint.h>

#include "queue/guard/control_group.h"
#include "run/job/family.h"

struct queue_group {
    char path[CONTROL_GROUP]; /* the control group's folder; "": there is none */
    struct family *family;
    int proc;
};

/* Make the group of a job where it was planned, in the calling process, which reaps. Without
 * permission for a control group there is none. 0 or a negative errno. */
int queue_group_open(struct queue_group *g, const char *planned, struct err *e) CHECK_RESULT;

/* Put the job's first process into it. When that is refused there is no control group. */
void queue_group_take(struct queue_group *g, pid_t pid);

/* Send a signal to all; 0: only look. How many there are. */
size_t queue_group_send(struct queue_group *g, int signal);

/* Remove the control group, in which nobody is any more. */
void queue_group_close(struct queue_group *g);

#endif
