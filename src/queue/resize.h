/* With what a job goes on at once that was stopped for others, or resized. Pure. */
#ifndef BRIM_QUEUE_RESIZE_H
#define BRIM_QUEUE_RESIZE_H
#include "queue/plan.h"

/* The slots that a job goes on with after a pass that stopped or resized it; "": none, it waits in
 * its turn. Where a policy takes all of its devices for one that needs some, those are its that
 * nobody has then, if they are as many as it can go on with. *cpus: how many were taken so before
 * in that pass, to which its own are added. */
void queue_resize_next(const struct queue_plan *p, const struct action *a,
                       const struct queue_job *j, int *cpus, char next[QUEUE_SLOTS]);

#endif
