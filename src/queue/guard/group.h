/* All processes of a job: those that descend from its guard, which reaps orphans, and those of its
 * control group where one could be made. */
#ifndef BRIM_QUEUE_GUARD_GROUP_H
#define BRIM_QUEUE_GUARD_GROUP_H
#include <stdint.h>

#include "run/job/family.h"

struct queue_group {
    char path[512]; /* the control group's folder; "": there is none */
    struct family *family;
    int proc;
};

/* Make the group of a job, in the calling process, which reaps. Without permission for a
 * control group there is none. 0 or a negative errno. */
int queue_group_open(struct queue_group *g, int64_t id, struct err *e) CHECK_RESULT;

/* The calling process joins the control group. */
void queue_group_join(const struct queue_group *g);

/* Send a signal to all; 0: only look. How many there are. */
size_t queue_group_send(struct queue_group *g, int signal);

/* Remove the control group, in which nobody is any more. */
void queue_group_close(struct queue_group *g);

#endif
