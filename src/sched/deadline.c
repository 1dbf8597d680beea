#include "sched/deadline.h"

#include "sched/speed.h"

int deadline_open(struct sched *s)
{
    if (!s->policy.order->by_deadline || s->policy.preempt != PREEMPT_NONE)
        return 0;
    return waiting_init(&s->deadlines.soon, &s->arena, s->work->n_jobs + 1, 1);
}

/* When a job with a deadline has to run, or run on, at the latest: by then with the best kind of
 * devices if it waits. What is not known of it takes no time. */
static int64_t latest(const struct sched *s, uint32_t job, int64_t now_ms)
{
    const struct sched_job *j = &s->jobs[job];
    int64_t left = j->state == SCHED_RUNNING ? sched_job_left(j, now_ms) : speed_shortest(s, job);

    return work_deadline(&s->work->jobs[job]) - (left == WORK_UNKNOWN ? 0 : left);
}

static bool has_one(const struct sched *s, uint32_t job)
{
    return work_deadline(&s->work->jobs[job]) != WORK_UNKNOWN;
}

/* ---- without preemption: those that wait, by keys that are made once ---- */

void deadline_queue(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct sched_job *j = &s->jobs[job];
    struct order_key key = { .tie = job };

    if (!has_one(s, job))
        return;
    key.value = latest(s, job, now_ms);
    j->late = key.value < now_ms;
    if (!j->late)
        waiting_add(&s->deadlines.soon, 0, job, &key, 0);
}

void deadline_unqueue(struct sched *s, uint32_t job)
{
    if (sched_job_due(&s->jobs[job], &s->work->jobs[job]))
        waiting_remove(&s->deadlines.soon, 0, job);
}

/* It goes to its place among those without a deadline. */
static void give_up(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct order_key key;

    waiting_remove(&s->deadlines.soon, 0, job);
    waiting_remove(&s->waiting, s->group[job], job);
    s->jobs[job].late = 1;
    state_key(s, job, now_ms, &key);
    waiting_add(&s->waiting, s->group[job], job, &key, s->jobs[job].left_ms);
}

static int64_t pass_waiting(struct sched *s, int64_t now_ms)
{
    uint32_t job;

    while ((job = waiting_next(&s->deadlines.soon, 0, NULL, WORK_UNKNOWN)) != WAITING_NONE) {
        int64_t at_ms = s->deadlines.soon.nodes[job].key.value;

        if (at_ms >= now_ms)
            return at_ms + 1;
        give_up(s, job, now_ms);
    }
    return WORK_UNKNOWN;
}

/* ---- with preemption: all that are there, by keys of each pass ---- */

/* When it is late; WORK_UNKNOWN: it is, or has no deadline. */
static int64_t look(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct sched_job *j = &s->jobs[job];
    int64_t at_ms;

    if (!has_one(s, job))
        return WORK_UNKNOWN;
    at_ms = latest(s, job, now_ms);
    j->late = at_ms < now_ms;
    if (j->late)
        return WORK_UNKNOWN;
    /* One that runs gets on with what is left of it: it is late when that takes longer. */
    return (j->state == SCHED_RUNNING ? work_deadline(&s->work->jobs[job]) : at_ms) + 1;
}

static int64_t pass_all(struct sched *s, int64_t now_ms)
{
    int64_t next_ms = WORK_UNKNOWN;

    for (size_t i = 0; i < s->n_waiting; i++)
        next_ms = MIN(next_ms, look(s, s->waits[i], now_ms));
    for (size_t i = 0; i < s->n_running && s->n_waiting > 0; i++)
        next_ms = MIN(next_ms, look(s, s->running[i], now_ms));
    return next_ms;
}

int64_t deadline_pass(struct sched *s, int64_t now_ms)
{
    if (!s->policy.order->by_deadline)
        return WORK_UNKNOWN;
    return s->policy.preempt == PREEMPT_NONE ? pass_waiting(s, now_ms) : pass_all(s, now_ms);
}
