/* What a scheduler knows of a job while it is there, and keys that put jobs in order. */
#ifndef BRIM_SCHED_CORE_SCHED_JOB_H
#define BRIM_SCHED_CORE_SCHED_JOB_H
#include "model/job/job_spec.h"

enum sched_job_state {
    SCHED_ABSENT,
    SCHED_WAITING,
    SCHED_RUNNING,
    SCHED_AWAY, /* there, without devices, and in need of none */
};

/* Replicas of services, batch jobs and spot jobs (feature/tiers.h). */
enum tier { TIER_BATCH, TIER_SERVICE, TIER_SPOT };

struct sched_job {
    int64_t since_ms;    /* that it waits, or runs */
    int64_t left_ms;     /* of its work at that time, as far as known; WORK_UNKNOWN */
    int64_t owed_ms;     /* of that, what a start costs after a preemption */
    int64_t attained_ms; /* device time that it had before that */
    uint32_t part;       /* of the room: where it runs */
    uint32_t list;       /* its place among equals: grows with each change of state */
    uint32_t queue;      /* the lowest it fell into */
    uint8_t state;       /* enum sched_job_state */
    uint8_t was;         /* preempted before */
    uint8_t leaves;      /* it was told to stop, and has its devices until it does */
    uint8_t aged;        /* it waited for so long that it goes first until it ends */
    uint8_t late;        /* it cannot meet its deadline any more (deadline.h) */
    float speed;         /* where it runs, or last did; 0: 1 */
    uint8_t guest;       /* it runs on another job's devices (device_sharing.h) */
    uint8_t tier;        /* enum tier: those that are not batch wait in queues of their own */
};

struct order_key {
    int64_t value;
    int32_t rank; /* goes before value */
    uint32_t tie;
};

static inline int order_compare(const struct order_key *a, const struct order_key *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return a->tie < b->tie ? -1 : a->tie > b->tie;
}

/* What is left of its work at a time; WORK_UNKNOWN. */
static inline int64_t sched_job_left(const struct sched_job *j, int64_t now_ms)
{
    if (j->left_ms == WORK_UNKNOWN || j->state != SCHED_RUNNING)
        return j->left_ms;
    return j->left_ms > now_ms - j->since_ms ? j->left_ms - (now_ms - j->since_ms) : 0;
}

/* Device time that it has had. */
static inline int64_t sched_job_attained(const struct sched_job *j, const struct work *w,
                                         int64_t now_ms)
{
    return j->attained_ms + (j->state == SCHED_RUNNING ? (now_ms - j->since_ms) * w->devices : 0);
}

/* Whether it has a deadline that it can meet, as far as is known. */
static inline bool sched_job_due(const struct sched_job *j, const struct work *w)
{
    return !j->late && work_deadline(w) != WORK_UNKNOWN;
}

#endif
