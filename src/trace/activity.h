/* How busy jobs keep their devices, for a trace that does not say: drawn from what was measured on
 * a cluster. The draw hangs on the seed and the job's place in the trace alone. */
#ifndef BRIM_TRACE_ACTIVITY_H
#define BRIM_TRACE_ACTIVITY_H
#include "base/err.h"
#include "model/job/job_spec.h"

enum { ACTIVITY_QUANTILES = 21 };

struct activity {
    const char *name;
    double idle;                     /* share of the samples of devices at 1 % or less */
    double busy[ACTIVITY_QUANTILES]; /* of the others: per cent at each 5 % of them */
};

/* The clusters that are known, "philly", "seren" and "kalos": by number, NULL behind the last; by
 * name, NULL for any other. */
const struct activity *activity_at(size_t i);
const struct activity *activity_named(const char *name);

/* Give each job that has none its stretches: a working part, as busy as drawn once for the job,
 * by turns with idle ones, whose lengths are drawn around stretch_ms; idle at its start as likely
 * as at any time. -ENOMEM, or -E2BIG with a sentence. */
int activity_draw(struct workload *w, const struct activity *a, int64_t stretch_ms, uint64_t seed,
                  struct err *e) CHECK_RESULT;

#endif
