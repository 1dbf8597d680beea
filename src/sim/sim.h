/* A workload under a policy in virtual time: every submission, start, preemption and end, one after
 * the other. The same scheduler would act on a real cluster. */
#ifndef BRIM_SIM_SIM_H
#define BRIM_SIM_SIM_H
#include "base/err.h"
#include "sched/sched.h"
#include "sim/leaves.h"
#include "sim/tiers.h"
#include "sim/use.h"

struct outage_options;

enum sim_fate {
    SIM_ENDED,
    SIM_IMPOSSIBLE, /* the pool could not run it even if it were empty */
    SIM_ENDLESS,    /* failures let it not end: it was lost SIM_LOSSES times, or years passed */
};

enum { SIM_LOSSES = 1000, SIM_SAMPLES = 200 };

/* What was free at a moment. */
struct sim_sample {
    double free;   /* devices */
    double partly; /* of those, on nodes that are partly in use */
};

/* What became of a job. */
struct sim_job {
    int64_t start_ms; /* the first time */
    int64_t end_ms;
    int64_t wait_ms; /* all the time that it was there and did not run */
    int64_t ran_ms;  /* all the time that it ran: its length, and what preemptions cost */
    int64_t away_ms; /* all the time that it needed no devices, and had none */
    int64_t idle_ms; /* of its length: idle stretches that passed while it had none */
    int64_t more_ms; /* device time beyond that of what it asked for; below 0: less */
    uint32_t starts; /* one more than preemptions and losses */
    uint32_t losses; /* of a node that it ran on */
    uint8_t fate;    /* enum sim_fate */
};

/* What failures took; device time in ms. */
struct sim_losses {
    uint64_t failures; /* of nodes on which jobs could be */
    uint64_t jobs;     /* that were thrown back by one, each time */
    size_t endless;    /* jobs of SIM_ENDLESS */
    double redone;     /* work since the last checkpoint */
    double restarts;   /* what starts after it cost */
    double saving;     /* what checkpoints cost */
    double out;        /* of nodes that were lost, up to the last end */
};

/* What elastic jobs did with their devices. */
struct sim_resizes {
    uint64_t to_more, to_fewer;
    uint64_t started_on_fewer; /* than they asked for */
    double paid;               /* device time that resizes cost, in ms */
};

/* Jobs that say where their data are. */
struct sim_data {
    uint64_t starts, away; /* of these, on a node without them */
    double brought;        /* device time that went into bringing them, in ms */
};

/* One time that a job ran, on as many devices. */
struct sim_span {
    int64_t from_ms, to_ms;
    uint32_t job;
    int32_t devices;
};

struct sim_result {
    struct arena arena;
    struct sim_job *jobs; /* as in the workload */
    uint64_t events;      /* submissions, starts, preemptions and ends */
    uint64_t passes, preemptions;
    uint64_t warned, reclaimed;         /* idle jobs: told so; whose devices were taken */
    uint64_t joined;                    /* jobs that went to share the devices of others */
    size_t impossible;                  /* jobs that the pool could not run even if it were empty */
    int64_t submitted_ms;               /* the last submission, or options' until_ms */
    int64_t counted_ms;                 /* up to it, the time that counts for shares of devices */
    int64_t end_ms;                     /* the last end */
    double used;                        /* device time allocated in counted_ms, in ms */
    double *used_of;                    /* the same by kinds of devices; NULL: there is one kind */
    double used_all;                    /* up to the last end */
    bool measured;                      /* some job says how busy it keeps its devices */
    double busy;                        /* device time that they were busy in counted_ms, in ms */
    double busy_all;                    /* up to the last end */
    double spent[USE_TIMES][USE_KINDS]; /* of jobs, in ms: enum use_what; 0: not measured */
    struct sim_losses losses;
    struct sim_leaves leaves;
    struct sim_tiers tiers;
    struct sim_resizes resizes;
    struct sim_data data;
    struct sim_sample *samples; /* equal times apart, up to the last submission */
    size_t n_samples;
    struct sim_span *spans; /* where they were asked for, in the order of their starts */
    size_t n_spans;
};

/* Told of every action, with the time and the reason's sentence to be had from the scheduler. */
typedef void sim_watch_fn(void *ctx, const struct sched *s, const struct action *a, int64_t now_ms);

struct sim_options {
    sim_watch_fn *watch; /* NULL: nobody */
    void *ctx;
    bool spans;                           /* keep them */
    int64_t from_ms;                      /* what was before does not count for shares of devices */
    int64_t until_ms;                     /* nor what is behind; 0: behind the last submission */
    const struct outage_options *outages; /* NULL: nothing fails, and checkpoints cost nothing */
    const struct watts *watts;            /* by kind of the pool, for policies with [power] */
};

/* Up to when devices count for shares of them. */
static inline int64_t sim_until(const struct sim_options *o, const struct workload *work)
{
    return o->until_ms ? o->until_ms : work->n_jobs ? work->jobs[work->n_jobs - 1].submit_ms : 0;
}

/* Run to the end. -ENOMEM, or what sched_open() and outages_open() say; -EINVAL for failures under
 * a policy that restarts all in each pass. */
int sim_run(struct sim_result *ret, const struct policy *policy, const struct pool *pool,
            const struct workload *work, const struct sim_options *options, struct err *e)
    CHECK_RESULT;
void sim_result_done(struct sim_result *r);

#endif
