/* The state of a simulation, and what its parts do for each other. */
#ifndef BRIM_SIM_SIM_PRIVATE_H
#define BRIM_SIM_SIM_PRIVATE_H
#include "sched/forecast.h"
#include "sched/core/waiting.h"
#include "sim/feature.h"
#include "sim/heap.h"
#include "sim/sim.h"
#include "sim/use.h"

struct sim_counting;

struct sim {
    const struct sim_counting *counting;
    const struct sim_feature *on[SIM_FEATURES + 1]; /* those that are on; NULL behind the last */
    const struct policy *policy;
    const struct pool *pool;
    const struct workload *work;
    const struct sim_options *options;
    struct sched *sched;
    struct sim_result *result;
    struct heap ends;        /* of jobs, or of what they do with their devices */
    struct outages *outages; /* NULL: nothing fails */
    int64_t *fresh_ms;       /* by job: what of left_ms is a start */
    uint32_t *span;          /* by job: its last span; NULL: they are not kept */
    struct use use;
    struct forecast forecast; /* LENGTH_HISTORY */
    uint8_t *seen;            /* by job: how long its steps take is known; NULL: nobody asks */
    uint32_t *partner;        /* by job: who shares its devices; WAITING_NONE */
    int64_t *left_ms;       /* by job, at since_ms; while it runs, at the speed that it has there */
    float *speed;           /* by job; NULL: all are as fast anywhere */
    int32_t *devices;       /* by job: that it has, or had last; NULL: what it asked for */
    int64_t *since_ms;      /* by job: it waits, or runs */
    uint32_t *start;        /* by job: the number of its present start, or restart */
    int64_t *data_until_ms; /* by job: its data are there; NULL: that costs nothing */
    size_t next;            /* job to be submitted */
    size_t unfinished;      /* jobs that can run and have not ended */
    bool leaves;            /* of the pool are known */
    int64_t now_ms, pass_ms; /* pass_ms: when the scheduler wants to be asked */
    int64_t until_ms;        /* it goes on for no longer; WORK_UNKNOWN */
    int64_t sample_ms;       /* the next moment at which to look */
    int64_t save_cost_ms;    /* of a checkpoint */
};

/* Call a function of all features that are on and have it: SIM_CALL(m, stops, job). */
#define SIM_CALL(m, function, ...) \
    do { \
        for (const struct sim_feature *const *f_ = (m)->on; *f_; f_++) \
            if ((*f_)->function) \
                (*f_)->function((m), ##__VA_ARGS__); \
    } while (0)

/* The features: rows of feature_list.c. */
extern const struct sim_feature sim_data, sim_elastic, sim_known, sim_lost, sim_over, sim_spans,
    sim_speeds, sim_tiers;

/* How much of the time from now to at_ms counts for what is reported: between from_ms and the last
 * submission. */
static inline int64_t sim_counted(const struct sim *m, int64_t at_ms)
{
    int64_t from_ms = MAX(m->now_ms, m->options->from_ms);

    return MAX(MIN(at_ms, m->result->submitted_ms) - from_ms, 0);
}

/* ---- a job (job.c); those that return an int: 0, or -ENOMEM ---- */

/* It comes; it starts where the scheduler has put it, when those that give way for it are gone
 * (ready_ms; 0: at once); it gives up its devices; it ends. */
void sim_submit_job(struct sim *m, uint32_t job);
int sim_start_job(struct sim *m, uint32_t job, int64_t ready_ms) CHECK_RESULT;
int sim_preempt_job(struct sim *m, uint32_t job) CHECK_RESULT;
int sim_end_job(struct sim *m, uint32_t job) CHECK_RESULT;

/* ---- what it has done and has left (account.c) ---- */

/* It stops running, for any reason. */
void sim_stop_job(struct sim *m, uint32_t job);

/* How long it has run by now. One whose devices others are leaving yet waits no longer. */
int64_t sim_ran(struct sim *m, uint32_t job);

/* With failures or spot jobs, without activity: count what a running job has done since its start,
 * which it may have to do again (lost), and what its next start costs. Returns the work that it
 * goes back by. */
int64_t sim_account(struct sim *m, uint32_t job, bool lost);

/* Count what a running job has done, where nothing of it is lost (struct sim_counting.count). */
void sim_count_work(struct sim *m, uint32_t job);

/* It starts on its devices, or stops: what it has left takes otherwise long. */
void sim_scale(struct sim *m, uint32_t job, bool starts);

/* Note when it ends, or does something else with its devices. */
int sim_expect(struct sim *m, uint32_t job, bool runs) CHECK_RESULT;

/* All that run are stopped and started again by a pass: what they did since the last one counts but
 * for the start. */
int sim_restart_all(struct sim *m) CHECK_RESULT;

/* ---- what the scheduler is told of lengths (known.c) ---- */

/* What it knows to be left of a job of which this is left; WORK_UNKNOWN. */
int64_t sim_known_left(const struct sim *m, uint32_t job, int64_t left_ms);

/* Tell it of running jobs that have taken longer than was expected (LENGTH_HISTORY), or whose steps
 * were seen for long enough (LENGTH_STEPS). When there will be more of these; WORK_UNKNOWN. */
int64_t sim_known_again(struct sim *m);

/* ---- with activity (count_use.c) ---- */

/* A running job goes on on the devices of another one. -ENOMEM. */
int sim_join(struct sim *m, uint32_t guest, uint32_t host) CHECK_RESULT;

/* ---- with spot jobs (give_way.c) ---- */

/* A spot job gives way: what it has not saved is lost. */
int sim_give_way(struct sim *m, uint32_t job) CHECK_RESULT;

/* ---- with elastic jobs (elastic.c, resize.c) ---- */

/* The devices that a job has, or had last; how fast it is on them, of those that it asked for;
 * whether they may be others than those. */
int32_t sim_devices(const struct sim *m, uint32_t job);
double sim_pace(const struct sim *m, uint32_t job);
bool sim_is_elastic(const struct sim *m, uint32_t job);

/* A job starts with as many devices, which sim_start_job() is told next. */
void sim_give_devices(struct sim *m, uint32_t job, int32_t devices);

/* A running job goes on with more devices, or fewer. -ENOMEM. */
int sim_resize(struct sim *m, const struct action *a) CHECK_RESULT;

/* ---- with places of data (data.c) ---- */

/* A job stops: what of its data it has not paid yet. */
int64_t sim_drop_data(struct sim *m, uint32_t job);

/* ---- where it is asked when jobs ran (spans.c) ---- */

/* A job runs from now on, on the devices that it has. -ENOMEM. */
int sim_begin_span(struct sim *m, uint32_t job) CHECK_RESULT;

#endif
