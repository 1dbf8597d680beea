/* What the files of a scheduler share; for src/sched alone. */
#ifndef BRIM_SCHED_CORE_SCHEDULER_H
#define BRIM_SCHED_CORE_SCHEDULER_H
#include "sched/core/order.h"
#include "sched/place/place_scored.h"
#include "sched/core/falling.h"
#include "sched/core/lowest.h"
#include "sched/core/feature.h"
#include "sched/core/waiting.h"
#include "sched/place/wiring.h"
#include "sched/core/sched_job.h"
#include "sched/core/watts.h"

/* One of all jobs that are there, with its key of this pass. */
struct ranked {
    struct order_key key;
    uint32_t job;
    bool granted, runs; /* runs: by quota, kept up to the end of a pass for those with a grant */
};

/* A running job on one node (victims). */
struct holder {
    uint32_t job;
    uint32_t at; /* in the order of this pass: later ones stop first */
    uint8_t devices;
};

/* When a running job is expected to end. */
struct expected_end {
    int64_t end_ms;
    uint32_t job;
};

/* What the first job that waits was promised (EASY). Spot jobs give way, so that it does not look
 * at them; what is kept for replicas is not its own. */
struct promise {
    uint32_t job;     /* WAITING_NONE: none */
    int64_t start_ms; /* WORK_UNKNOWN: nobody knows */
    uint8_t *spare;   /* by node: devices that it will not need then */
    int64_t spare_mw; /* power that it will not need then */
    int32_t *had;     /* by node: what its owners have of a reserve then; NULL: there is none */
};

struct user {
    double had; /* device time, decayed up to 'at' */
    int64_t running;
};

/* What features keep is in their own files. */
struct data;
struct deadlines;
struct device_sharing;
struct elastic;
struct idle;
struct power;
struct quota;
struct reclaim;
struct service;
struct tiers;

struct sched {
    struct arena arena;
    uint32_t on;  /* features, as bits by their places in the list */
    bool fresh;   /* one of them has to see jobs from their start on */
    bool ordered; /* one of them decides who goes first */
    struct feature_hooks hooks;
    struct power *power; /* NULL: it is off, as of those below */
    struct tiers *tiers;
    struct service *service;
    struct deadlines *deadlines;
    struct idle *idle;
    struct device_sharing *sharing;
    struct reclaim *reclaim;
    struct elastic *elastic;
    struct data *data;
    struct quota *quota;
    struct policy policy;
    const struct pool *pool;
    const struct workload *work;  /* with the devices that jobs have, or would have next */
    const struct workload *asked; /* with those that they asked for */
    struct free_capacity capacity;
    struct scores scores;
    struct wiring wiring;
    struct sched_job *jobs;
    bool queues; /* those that wait are kept in order, in waiting; else by each pass */
    struct waiting waiting;
    uint32_t *group; /* of each job */
    size_t n_groups;
    uint32_t *cursor; /* by group, in a pass */
    int64_t *longest; /* by group, in a pass */
    /* preemption: all that are there, in the order of the last pass; with queues those that run */
    struct ranked *ranked;
    struct falling falling; /* those that run, in an order by queues */
    struct lowest lowest;   /* of their priorities */
    uint32_t *placed;     /* rebuild with queues: who has a place, in the order of the last pass */
    size_t n_placed;      /* 0: nothing is known */
    uint32_t *in_vain;    /* by group: it finds no place behind so many of placed */
    uint8_t *listed;      /* by job: it is there (queues) */
    struct ranked *other; /* to sort them; with queues, those that were stopped in a pass */
    size_t n_ranked, n_stopped;
    /* quota: of those ranked, how many run without a grant; before which none has one and waits */
    size_t n_behind, first_granted;
    uint32_t begun;         /* with queues: lists when the pass began */
    uint32_t *running, *at; /* those that run; by job, where it stands there or in waits */
    uint32_t *waits;        /* those that wait, in no order */
    size_t n_running, n_waiting;
    int64_t *ready_ms; /* by job: from when on all of its devices are its own; NULL: at once */
    struct expected_end *ends; /* those that run by their ends (backfill) */
    size_t n_ends;
    struct expected_end *ends_room; /* where these may lie: twice as many as there are jobs */
    size_t ends_most;
    struct promise promise;
    int16_t *back; /* by device of each node: shares given back by then; NULL: no job has any */
    struct user *users;
    int64_t users_ms;       /* up to when they are counted */
    struct holder *holders; /* running jobs by node (victims) */
    uint32_t *first;
    uint32_t lists;       /* the last place that was handed out */
    uint32_t first_label; /* no label of those that wait is before it (labels.h) */
    struct fit fit;
    struct action *actions;
    size_t n_actions;
};

/* Whether a job waits yet for devices that others are leaving. From when on it really runs. */
static inline bool state_waits_for_devices(const struct sched *s, uint32_t job, int64_t now_ms)
{
    return s->ready_ms && s->ready_ms[job] > now_ms;
}

static inline int64_t state_from_ms(const struct sched *s, uint32_t job)
{
    int64_t since_ms = s->jobs[job].since_ms;

    return s->ready_ms ? MAX(since_ms, s->ready_ms[job]) : since_ms;
}

/* What it costs a job to start again after a preemption. */
static inline int64_t state_restart_ms(const struct sched *s, uint32_t job)
{
    const struct work *w = &s->asked->jobs[job];

    if (w->restart_ms >= 0)
        return w->restart_ms;
    return w->devices > s->pool->most ? s->policy.restart_multi_ms : s->policy.restart_ms;
}

/* What a running job has to pay of its start yet. */
static inline int64_t state_owed_ms(const struct sched *s, uint32_t job, int64_t now_ms)
{
    return MAX(s->jobs[job].owed_ms - MAX(now_ms - state_from_ms(s, job), 0), 0);
}

#endif
