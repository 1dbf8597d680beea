/* What the files that make moments share. */
#ifndef BRIM_RUN_MOMENT_MOMENT_PRIVATE_H
#define BRIM_RUN_MOMENT_MOMENT_PRIVATE_H
#include "run/moment/moment.h"

struct moment_view {
    const struct tick *before, *now;
    double seconds;
    double *values; /* by enum run_signal */
};

/* A signal of a row, and how fast it grew; NaN. label: NULL for one without. */
double moment_gauge(const struct signal_row *row, const char *name, const char *label);
double moment_rate(const struct moment_view *v, const struct signal_row *row, const char *name,
                   const char *label);

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
