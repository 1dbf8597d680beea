/* How many nodes a cluster needs so that jobs wait no longer than they may. */
#ifndef BRIM_SIM_CAPACITY_H
#define BRIM_SIM_CAPACITY_H
#include "sim/sim.h"

struct outage_options;

enum capacity_metric {
    CAPACITY_MEAN_WAIT,
    CAPACITY_P50_WAIT,
    CAPACITY_P90_WAIT,
    CAPACITY_P99_WAIT,
    CAPACITY_MAX_WAIT,
    CAPACITY_COMPLETION,
    CAPACITY_P90_COMPLETION,
    CAPACITY_P99_COMPLETION,
    CAPACITY_METRICS,
};

struct capacity_target {
    enum capacity_metric metric;
    double most_s;
};

/* "p90-wait". */
const char *capacity_metric_name(enum capacity_metric m);

/* Read "p90-wait=1h". -EINVAL with a sentence. */
int capacity_target_read(struct capacity_target *ret, const char *text, struct err *e) CHECK_RESULT;

/* The metric of a result, in seconds. A job that could not run, or did not end, waits for ever:
 * INFINITY where it counts. -ENOMEM. */
int capacity_measure(double *ret, enum capacity_metric m, const struct sim_result *r,
                     const struct workload *work) CHECK_RESULT;

/* The nodes that may be added: devices of a kind (its number in the pool is not looked at). */
struct capacity_shape {
    int devices;
    const char *kind; /* "" for one without a name */
};

struct capacity_ask {
    const struct policy *policy;
    const struct pool *pool; /* what there is */
    const struct workload *work;
    const struct outage_options *outages; /* NULL: nothing fails */
    struct capacity_target target;
    struct capacity_shape shape;
    unsigned threads; /* 1 at least */
};

struct capacity_answer {
    bool found;
    size_t nodes;    /* the fewest to add that meet the target */
    double value;    /* the metric with them */
    double one_less; /* with one less, which does not meet it; NaN when there is nothing to add */
    double today;
    bool steady;    /* one more meets it, too: else more nodes do not always help */
    size_t most;    /* not found: that many do not meet it, and no job waits for more */
    double at_most; /* the metric with those */
    unsigned tries; /* simulations that it took */
};

/* Find the fewest nodes, by doubling and then between what fails and what does not; both sides of
 * the answer were simulated. -ENOMEM, or what sim_run() says. */
int capacity_find(struct capacity_answer *ret, const struct capacity_ask *ask, struct err *e)
    CHECK_RESULT;

#endif
