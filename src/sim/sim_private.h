/* The state of a simulation, and what its parts do for each other. */
#ifndef BRIM_SIM_SIM_PRIVATE_H
#define BRIM_SIM_SIM_PRIVATE_H
#include "sched/forecast.h"
#include "sched/core/waiting.h"
#include "sim/heap.h"
#include "sim/sim.h"
#include "sim/use.h"

struct sim {
    const struct policy *policy;
    const struct pool *pool;
    const struct workload *work;
    const struct sim_options *options;
    struct sched *sched;
    struct sim_result *result;
    struct heap ends;        /* of jobs, or of what they do with their devices */
    struct outages *outages; /* NULL: nothing fails */
    int64_t *fresh_ms;       /* by job: what of left_ms is a start; NULL: nobody asks */
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
    int64_t sample_ms;       /* the next moment at which to look */
};

/* ---- a job (job.c); those that return an int: 0, or -ENOMEM ---- */

/* It comes; it starts where the scheduler has put it, when those that give way for it are gone
 * (ready_ms; 0: at once); it gives up its devices; it ends. */
void sim_submit_job(struct sim *m, uint32_t job);
int sim_start_job(struct sim *m, uint32_t job, int64_t ready_ms) CHECK_RESULT;
int sim_preempt_job(struct sim *m, uint32_t job) CHECK_RESULT;
int sim_end_job(struct sim *m, uint32_t job) CHECK_RESULT;

/* ---- what it has done and has left (account.c) ---- */

/* It stops running, for any reason; it begins to. */
void sim_stop_job(struct sim *m, uint32_t job);
int sim_begin_span(struct sim *m, uint32_t job) CHECK_RESULT;

/* How long it has run by now. One whose devices others are leaving yet waits no longer. */
int64_t sim_ran(struct sim *m, uint32_t job);

/* With failures or spot jobs, without activity: count what a running job has done since its start,
 * which it may have to do again (lost), and what its next start costs. Returns the work that it
 * goes back by. */
int64_t sim_account(struct sim *m, uint32_t job, bool lost);

/* Count what a running job has done since it started: left_ms and fresh_ms are what is left.
 * Returns what of its data it would have paid yet, which is not left of it any more. */
int64_t sim_count(struct sim *m, uint32_t job);

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

/* ---- with activity (active.c, change.c) ---- */

/* A part of a job's length passed without devices. */
void sim_pass_without(struct sim *m, uint32_t job, int64_t ms);

/* A running job goes on on the devices of another one; a job leaves those that it shares, if it
 * does. -ENOMEM. */
int sim_join(struct sim *m, uint32_t guest, uint32_t host) CHECK_RESULT;
int sim_part(struct sim *m, uint32_t job) CHECK_RESULT;

/* Its rate may have changed: when it ends follows. -ENOMEM. */
int sim_set_rate(struct sim *m, uint32_t job) CHECK_RESULT;

/* Tell the scheduler how busy a job keeps its devices. */
void sim_tell_use(struct sim *m, uint32_t job);

/* A job does something else with its devices, or has none and could go on. Whether the scheduler
 * has to be asked; -ENOMEM. */
int sim_change(struct sim *m, uint32_t job) CHECK_RESULT;

/* ---- with services, spot jobs and a cap of power (tiers.c, give_way.c) ---- */

/* Whether the policy's sections go with the workload; room for what they need. -ENOMEM, or -EINVAL
 * with a sentence. */
int sim_tiers_open(struct sim *m, struct err *e) CHECK_RESULT;

/* A spot job gives way: what it has not saved is lost. */
int sim_give_way(struct sim *m, uint32_t job) CHECK_RESULT;

/* A job stops; some time passes up to the last submission; actions were carried out. Where activity
 * is known some time passes, of which first counts: what spot jobs leave meanwhile, they save. */
void sim_tiers_ran(struct sim *m, uint32_t job);
void sim_tiers_pass(struct sim *m, int64_t ms);
void sim_tiers_look(struct sim *m);
void sim_tiers_leave(struct sim *m, int64_t first, int64_t all);

/* ---- with elastic jobs (elastic.c, resize.c) ---- */

/* After the scheduler was opened. -ENOMEM. */
int sim_open_elastic(struct sim *m) CHECK_RESULT;

/* The devices that a job has, or had last; how fast it is on them, of those that it asked for. */
int32_t sim_devices(const struct sim *m, uint32_t job);
double sim_pace(const struct sim *m, uint32_t job);

/* A job starts with as many devices, which sim_start_job() is told next. */
void sim_give_devices(struct sim *m, uint32_t job, int32_t devices);

/* What it has left takes otherwise long (sim_scale()). */
void sim_scale_elastic(struct sim *m, uint32_t job, bool starts);

/* A running job goes on with more devices, or fewer. -ENOMEM. */
int sim_resize(struct sim *m, const struct action *a) CHECK_RESULT;

/* ---- with places of data (data.c) ---- */

/* After the scheduler was opened. -ENOMEM. */
int sim_open_data(struct sim *m) CHECK_RESULT;

/* A job starts, at since_ms: count it, and let it pay when it is away from its data. What it pays.
 *  */
int64_t sim_bring_data(struct sim *m, uint32_t job);

/* A job stops: what it has not paid yet. */
int64_t sim_drop_data(struct sim *m, uint32_t job);

/* ---- with failures (lost.c) ---- */

/* What happens to nodes now. 1 when one was lost or is back, 0 when not, -ENOMEM. */
int sim_fail(struct sim *m) CHECK_RESULT;

/* Leave out the jobs that no time would end. */
void sim_give_up(struct sim *m);

#endif
