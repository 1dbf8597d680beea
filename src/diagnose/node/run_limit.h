/* What limits a node where nothing of the node does: a run that goes on there. Pure. */
#ifndef BRIM_DIAGNOSE_NODE_RUN_LIMIT_H
#define BRIM_DIAGNOSE_NODE_RUN_LIMIT_H
#include "model/verdict/live.h"

/* After live_update(): where no stage is at its limit, and a run is limited by something that costs
 * it much, the sentence and the action become that run's. */
void run_limit(struct live *l, const struct live_run *runs, size_t n);

#endif
