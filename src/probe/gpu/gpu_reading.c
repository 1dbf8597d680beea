#include "probe/gpu/gpu_reading.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static void clear(double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = (double)NAN;
}

void gpu_reading_clear(struct gpu_reading *r)
{
    clear(r->gpu, GPU_VALUES);
    clear(r->throttle, GPU_THROTTLE_VALUES);
    clear(r->error, GPU_ERROR_VALUES);
}

static bool knows(const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i]))
            return true;
    return false;
}

static const double *values_of(const struct gpu_reading *r, const struct signal_set *set)
{
    return set == &gpu_set ? r->gpu : set == &gpu_throttle_set ? r->throttle : r->error;
}

static int add_row(const struct gpu_reading *r, const struct signal_set *set, struct tick *t)
{
    const double *values = values_of(r, set);
    struct signal_row *row;

    if (!r->thing[0] || (set != &gpu_set && !knows(values, set->n_defs)))
        return 0;
    row = tick_add(t, set, r->thing);
    if (!row)
        return -ENOMEM;
    memcpy(row->values, values, set->n_defs * sizeof(*values));
    for (size_t i = 0; set->facts && i < SIGNAL_FACTS; i++)
        tick_fact(row, i, r->facts[i]);
    return 0;
}

int gpu_reading_add(const struct gpu_reading *first, size_t n, size_t stride, struct tick *t)
{
    static const struct signal_set *const sets[] = { &gpu_set, &gpu_throttle_set, &gpu_error_set };

    for (size_t s = 0; s < ARRAY_SIZE(sets); s++) {
        for (size_t i = 0; i < n; i++) {
            const void *at = (const char *)first + i * stride;

            if (add_row(at, sets[s], t) < 0)
                return -ENOMEM;
        }
    }
    return 0;
}
