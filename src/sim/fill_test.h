/* How much of a pool can be given away: jobs come in a random order until a multiple of the devices
 * was asked for; each is placed or turned away, none ends. */
#ifndef BRIM_SIM_FILL_TEST_H
#define BRIM_SIM_FILL_TEST_H
#include "base/err.h"
#include "sched/policy/policy.h"

struct pool;
struct workload;

enum { PACK_MOST = 10 }; /* loads, times the devices of the pool */

struct fill_test_options {
    double load;   /* asked for at the end, times the devices of the pool */
    uint64_t seed; /* of the first order */
    int rounds;    /* orders; results are their mean */
};

struct fill_test_result {
    double at_full; /* share given away when as much was asked for as there is; NaN: it never was */
    double at_end;
    double turned_away; /* share of the jobs; NaN: there was none */
    size_t jobs;        /* of all rounds */
};

/* -ENOMEM; -EINVAL with a sentence when no job asks for a device. */
int fill_test_run(struct fill_test_result *ret, const struct policy *policy,
                  const struct pool *pool, const struct workload *work,
                  const struct fill_test_options *o, struct err *e) CHECK_RESULT;

#endif
