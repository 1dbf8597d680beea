/* How busy a GPU was in some time, by what its agent tells: its name, and one of its series
 * (schemas "brim.live.v1", "brim.series.v1"). The texts are not trusted. Pure. */
#ifndef BRIM_MODEL_NODES_NODE_SERIES_H
#define BRIM_MODEL_NODES_NODE_SERIES_H
#include <stddef.h>

#include "base/err.h"

enum { NODE_SERIES_NAME = 64 };

/* The name of a GPU, in the agent's order, of letters, digits and ":._-" alone, as it goes into a
 * path. 0, -ENOENT: there is none, or a negative errno. */
int node_gpu_name(char name[NODE_SERIES_NAME], const char *text, size_t len, unsigned gpu)
    CHECK_RESULT;

/* The mean of what was measured, all of it 0 to 1; NaN: nothing was. */
double node_series_mean(const char *text, size_t len);

#endif
