/* What the files that make moments share. */
#ifndef BRIM_RUN_MOMENT_MOMENT_PRIVATE_H
#define BRIM_RUN_MOMENT_MOMENT_PRIVATE_H
#include "model/signal/rate.h"
#include "run/moment/moment.h"

struct moment_view {
    const struct tick *before, *now;
    double seconds;
    double *values; /* by enum run_signal */
};

/* A signal of a row, and how fast it grew; NaN. label: NULL for one without. */
static inline double moment_gauge(const struct signal_row *row, const char *name, const char *label)
{
    size_t i = signal_index(row->set, name, label);

    return i < row->set->n_defs ? row->values[i] : (double)NAN;
}

static inline double moment_rate(const struct moment_view *v, const struct signal_row *row,
                                 const char *name, const char *label)
{
    size_t i = signal_index(row->set, name, label);

    return i < row->set->n_defs ? signal_rate(v->before, v->now, row, i) : (double)NAN;
}

/* Sum, with NaN for what is not known. */
static inline void moment_add(double *sum, double value)
{
    if (!isnan(value))
        *sum = isnan(*sum) ? value : *sum + value;
}

void moment_host(const struct moment_view *v);
void moment_io(const struct moment_view *v);
void moment_gpus(const struct moment_view *v, const struct moment_job *job);

#endif
