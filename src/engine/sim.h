/* A workload under a policy in virtual time: every submission, start, preemption and end, one after
 * the other. The same scheduler would act on a real cluster. */
#ifndef BRIM_ENGINE_SIM_H
#define BRIM_ENGINE_SIM_H
#include "base/err.h"
#include "sched/sched.h"

enum sim_fate { SIM_ENDED, SIM_IMPOSSIBLE };

/* What became of a job. */
struct sim_job {
    int64_t start_ms; /* the first time */
    int64_t end_ms;
    int64_t wait_ms; /* all the time that it was there and did not run */
    int64_t ran_ms;  /* all the time that it ran: its length, and what preemptions cost */
    uint32_t starts; /* one more than preemptions */
    uint8_t fate;    /* enum sim_fate */
};

struct sim_result {
    struct arena arena;
    struct sim_job *jobs; /* as in the workload */
    uint64_t events;      /* submissions, starts, preemptions and ends */
    uint64_t passes, preemptions;
    size_t impossible;    /* jobs that the pool could not run even if it were empty */
    int64_t submitted_ms; /* the last submission */
    int64_t end_ms;       /* the last end */
    double used;          /* device time allocated up to the last submission, in ms */
    double used_all;      /* up to the last end */
};

/* Told of every action, with the time and the reason's sentence to be had from the scheduler. */
typedef void sim_watch_fn(void *ctx, const struct sched *s, const struct action *a, int64_t now_ms);

struct sim_options {
    sim_watch_fn *watch; /* NULL: nobody */
    void *ctx;
};

/* Run to the end. -ENOMEM, or what sched_open() says. */
int sim_run(struct sim_result *ret, const struct policy *policy, const struct pool *pool,
            const struct workload *work, const struct sim_options *options, struct err *e)
    CHECK_RESULT;
void sim_result_done(struct sim_result *r);

#endif
