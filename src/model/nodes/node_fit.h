/* Whether a job would fail on GPUs of a node, by what its agent tells (schema "brim.live.v1"). Only
 * what is sure counts: a GPU that the driver does not reach, or that it wants to be reset, whose
 * memory is damaged and not yet replaced, or of which it told a fault that only a reset ends. The
 * text is not trusted. Pure. */
#ifndef BRIM_MODEL_NODES_NODE_FIT_H
#define BRIM_MODEL_NODES_NODE_FIT_H
#include "base/err.h"
#include "model/verdict/live.h"

enum { NODE_FIT_GPUS = 64, NODE_FIT_STALE_MS = 30000, NODE_FIT_TEXT_MAX = 1 << 20 };

struct node_unfit {
    unsigned gpu;        /* in the agent's order */
    char why[LIVE_TEXT]; /* the alert's sentence */
};

/* gpus: those that count, bits. 1: a job would fail on *ret, the first of them; 0: of none is that
 * known; a negative errno with a sentence: nobody can tell. */
int node_fit_read(struct node_unfit *ret, const char *text, size_t len, uint64_t gpus,
                  int64_t now_ms, struct err *e) CHECK_RESULT;

#endif
