/* The state of a simulation, and what its parts do for each other. Private to src/engine/sim*.c. */
#ifndef BRIM_ENGINE_SIM_INSIDE_H
#define BRIM_ENGINE_SIM_INSIDE_H
#include "engine/heap.h"
#include "engine/sim.h"
#include "engine/sim_use.h"
#include "sched/waiting.h"

struct sim {
    const struct policy *policy;
    const struct pool *pool;
    const struct workload *work;
    const struct sim_options *options;
    struct sched *sched;
    struct sim_result *result;
    struct heap ends;        /* of jobs, or of what they do with their devices */
    struct outages *outages; /* NULL: nothing fails */
    int64_t *fresh_ms;       /* by job: what of left_ms is a start after a loss or preemption */
    uint32_t *span;          /* by job: its last span; NULL: they are not kept */
    struct use use;
    uint32_t *partner; /* by job: who shares its devices; WAITING_NONE */
    int64_t *left_ms;  /* by job, at since_ms; while it runs, at the speed that it has there */
    float *speed;      /* by job; NULL: all are as fast anywhere */
    int64_t *since_ms; /* by job: it waits, or runs */
    uint32_t *start;   /* by job: the number of its present start, or restart */
    size_t next;       /* job to be submitted */
    size_t unfinished; /* jobs that can run and have not ended */
    bool leaves;       /* of the pool are known */
    int64_t now_ms, pass_ms; /* pass_ms: when the scheduler wants to be asked */
    int64_t sample_ms;       /* the next moment at which to look */
};

/* ---- a job (sim_job.c); those that return an int: 0, or -ENOMEM ---- */

/* It comes; it starts where the scheduler has put it; it gives up its devices; it ends. */
void sim_submit_job(struct sim *m, uint32_t job);
int sim_start_job(struct sim *m, uint32_t job) CHECK_RESULT;
int sim_preempt_job(struct sim *m, uint32_t job) CHECK_RESULT;
int sim_end_job(struct sim *m, uint32_t job) CHECK_RESULT;

/* It stops running, for any reason; it begins to. */
void sim_stop_job(struct sim *m, uint32_t job);
int sim_begin_span(struct sim *m, uint32_t job) CHECK_RESULT;

/* With failures: count what a running job has done since its start, which it may have to do again
 * (lost), and what its next start costs. Returns the work that it goes back by. */
int64_t sim_account(struct sim *m, uint32_t job, bool lost);

/* It starts on a kind of devices, or stops: what it has left takes otherwise long. */
void sim_scale(struct sim *m, uint32_t job, bool starts);

/* Note when it ends, or does something else with its devices. */
int sim_expect(struct sim *m, uint32_t job, bool runs) CHECK_RESULT;

/* All that run are stopped and started again by a pass: what they did since the last one counts but
 * for the start. */
int sim_restart_all(struct sim *m) CHECK_RESULT;

/* ---- with activity (sim_active.c) ---- */

/* A part of a job's length passed without devices. */
void sim_pass_without(struct sim *m, uint32_t job, int64_t ms);

/* A running job goes on on the devices of another one; a job leaves those that it shares, if it
 * does. -ENOMEM. */
int sim_join(struct sim *m, uint32_t guest, uint32_t host) CHECK_RESULT;
int sim_part(struct sim *m, uint32_t job) CHECK_RESULT;

/* Tell the scheduler how busy a job keeps its devices. */
void sim_tell_use(struct sim *m, uint32_t job);

/* A job does something else with its devices, or has none and could go on. Whether the scheduler
 * has to be asked; -ENOMEM. */
int sim_change(struct sim *m, uint32_t job) CHECK_RESULT;

/* ---- with failures (sim_lost.c) ---- */

/* What happens to nodes now. 1 when one was lost or is back, 0 when not, -ENOMEM. */
int sim_fail(struct sim *m) CHECK_RESULT;

/* Leave out the jobs that no time would end. */
void sim_give_up(struct sim *m);

#endif
