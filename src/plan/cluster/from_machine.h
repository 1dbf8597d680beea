/* The cluster that a machine is: "this machine", or the recordings of many. */
#ifndef BRIM_PLAN_CLUSTER_FROM_MACHINE_H
#define BRIM_PLAN_CLUSTER_FROM_MACHINE_H
#include "model/machine/catalogue.h"
#include "model/machine/machine.h"
#include "plan/cluster/gpus.h"

/* GPUs, their memory, links and network ports as they were found. Ports are the fastest that are
 * up, at most one for a GPU (others are for storage and users), as many as the node with the fewest
 * has. 0, or -EINVAL with a sentence: without GPUs, with different ones, with one that the table
 * lacks. */
int cluster_from_machine(struct cluster *ret, const struct gpus *g, const struct catalogue *c,
                         const struct machine *m, struct err *e) CHECK_RESULT;

#endif
