/* What one sampler knows of one accelerator at one moment, and how that becomes rows. */
#ifndef BRIM_PROBE_GPU_GPU_READING_H
#define BRIM_PROBE_GPU_GPU_READING_H
#include "probe/gpu/gpu_sample.h"

struct gpu_reading {
    char thing[SIGNAL_THING]; /* "amd0"; "": there is none, it gives no rows */
    char facts[SIGNAL_FACTS][SIGNAL_THING];
    double gpu[GPU_VALUES], throttle[GPU_THROTTLE_VALUES], error[GPU_ERROR_VALUES];
};

/* Make every value absent; thing and facts stay. */
void gpu_reading_clear(struct gpu_reading *r);

/* Add rows for n readings that stand stride bytes apart, those of a set together. A set of which a
 * reading knows nothing gets no row. 0 or -ENOMEM. */
int gpu_reading_add(const struct gpu_reading *first, size_t n, size_t stride, struct tick *t)
    CHECK_RESULT;

#endif
