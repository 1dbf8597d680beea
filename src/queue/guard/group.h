/* All processes of a job: those that descend from its guard, which reaps orphans, and those of its
 * control group where one could be made. */
#ifndef BRIM_QUEUE_GUARD_GROUP_H
#define BRIM_QUEUE_GUARD_GROUP_H
#include <stdint.h>

#include "run/job/family.h"

struct local_group {
    char path[512]; /* the control group's folder; "": there is none */
    struct family *family;
    int proc;
};

/* Make the group of a job, in the calling process, which reaps. Without permission for a
 * control group there is none. 0 or a negative errno. */
int local_group_open(struct local_group *g, int64_t id, struct err *e) CHECK_RESULT;

/* The calling process joins the control group. */
void local_group_join(const struct local_group *g);

/* Send a signal to all; 0: only look. How many there are. */
size_t local_group_send(struct local_group *g, int signal);

/* Remove the control group, in which nobody is any more. */
void local_group_close(struct local_group *g);

#endif
