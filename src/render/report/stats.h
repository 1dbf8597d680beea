/* Figures of a run's steps. Private to src/render. */
#ifndef BRIM_RENDER_REPORT_STATS_H
#define BRIM_RENDER_REPORT_STATS_H
#include "model/job/run.h"

struct step_stats {
    double median_s, p90_s, best_s;    /* of the steps that were kept; NaN */
    double steps_per_s, samples_per_s; /* from the first begin to the last end; NaN */
    double steps;                      /* all of them */
};

/* NaN where the end is before the begin, or either is no time of a monotonic clock. */
double stats_step_seconds(const struct step *s);

/* Of one rank, and of all: steps/s in the mean, samples/s in sum. 0 or -ENOMEM. */
int step_stats_rank(const struct run_rank *k, struct step_stats *ret) CHECK_RESULT;
int step_stats_run(const struct run *r, struct step_stats *ret) CHECK_RESULT;

/* Sort n finite values; the one that 'share' of them (0 to 1) lie below; NaN for none. */
double stats_quantile(double *values, size_t n, double share);

/* The mean of a signal over the moments, by their length; NaN when it was never measured. */
double stats_signal(const struct run *r, enum run_signal s);

/* The ranks in their order; NULL when out of memory. The caller frees it. */
const struct run_rank **stats_ranks(const struct run *r) CHECK_RESULT;

#endif
