/* The node's samplers, opened beside the job's start: a driver may take a second. */
#ifndef BRIM_RUN_WATCH_NODE_H
#define BRIM_RUN_WATCH_NODE_H
#include "model/signal/signal.h"
#include "probe/sample/sampler.h"

struct node;

/* root: a descriptor of / that stays the caller's for as long as there is a node; fake: as in
 * struct sampler_env. */
int node_open(struct node **ret, int root, const char *fake, struct err *e) CHECK_RESULT;

/* Fill the tick, which was begun; without rows while the samplers are not open yet, and
 * for NULL. 0 or -ENOMEM. */
int node_sample(struct node *n, struct tick *t) CHECK_RESULT;

/* Waits for the samplers when they are still being opened. */
void node_close(struct node *n);
DEFINE_CLEANUP(struct node, node_close)

#endif
