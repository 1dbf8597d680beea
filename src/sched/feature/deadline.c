#include "sched/feature/deadline.h"

#include "model/signal/quantity.h"
#include "sched/core/action.h"
#include "sched/core/speed.h"
#include "sched/core/state.h"

struct deadlines {
    struct waiting soon; /* with queues: jobs that wait, by when they have to start */
    int64_t next_ms;     /* when the next one is late, as of the last pass; WORK_UNKNOWN */
};

static int open_deadlines(struct sched *s, struct err *e)
{
    if (!s->policy.order->by_deadline)
        return 0;
    s->deadlines = arena_alloc(&s->arena, sizeof(*s->deadlines));
    if (!s->deadlines || waiting_init(&s->deadlines->soon, &s->arena, s->work->n_jobs + 1, 1) < 0)
        return err_nomem(e);
    return 1;
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

/* ---- with queues: those that wait, by keys that are made once ---- */

static void queued(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct sched_job *j = &s->jobs[job];
    struct order_key key = { .tie = job };

    if (!s->queues || j->tier != TIER_BATCH || !has_one(s, job))
        return;
    key.value = latest(s, job, now_ms);
    j->late = key.value < now_ms;
    if (!j->late)
        waiting_add(&s->deadlines->soon, 0, job, &key, 0);
}

static void unqueued(struct sched *s, uint32_t job)
{
    if (s->queues && s->jobs[job].tier == TIER_BATCH &&
        sched_job_due(&s->jobs[job], &s->work->jobs[job]))
        waiting_remove(&s->deadlines->soon, 0, job);
}

/* It goes to its place among those without a deadline. */
static void give_up(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct order_key key;

    waiting_remove(&s->deadlines->soon, 0, job);
    waiting_remove(&s->waiting, s->group[job], job);
    s->jobs[job].late = 1;
    state_key(s, job, now_ms, &key);
    waiting_add(&s->waiting, s->group[job], job, &key, s->jobs[job].left_ms);
}

static int64_t pass_waiting(struct sched *s, int64_t now_ms)
{
    uint32_t job;

    while ((job = waiting_next(&s->deadlines->soon, 0, NULL, WORK_UNKNOWN)) != WAITING_NONE) {
        int64_t at_ms = s->deadlines->soon.nodes[job].key.value;

        if (at_ms >= now_ms)
            return at_ms + 1;
        give_up(s, job, now_ms);
    }
    return WORK_UNKNOWN;
}

/* ---- without: all that are there, by keys of each pass ---- */

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
    int64_t next_ms = s->queues ? pass_waiting(s, now_ms) : WORK_UNKNOWN;

    for (size_t i = 0; i < s->n_waiting && !s->queues; i++)
        next_ms = MIN(next_ms, look(s, s->waits[i], now_ms));
    for (size_t i = 0; i < s->n_running && s->n_waiting > 0; i++)
        next_ms = MIN(next_ms, look(s, s->running[i], now_ms));
    return next_ms;
}

static int begin(struct sched *s, int64_t now_ms)
{
    s->deadlines->next_ms = s->policy.preempt == PREEMPT_NONE ? pass_waiting(s, now_ms)
                                                              : pass_all(s, now_ms);
    return 0;
}

static int64_t again_ms(const struct sched *s, int64_t now_ms)
{
    (void)now_ms;
    return s->deadlines->next_ms;
}

/* ---- sentences ---- */

/* "its deadline is in 2 h". */
static void add_deadline(const struct sched *s, uint32_t job, const char *whose, int64_t now_ms,
                         struct str *out)
{
    int64_t left_ms = work_deadline(&s->work->jobs[job]) - now_ms;
    struct quantity time = quantity_span((double)(left_ms < 0 ? -left_ms : left_ms) / 1e3);

    if (left_ms < 0)
        str_addf(out, "; %s deadline was %s ago", whose, time.text);
    else if (s->jobs[job].late)
        str_addf(out, "; %s deadline in %s cannot be met", whose, time.text);
    else
        str_addf(out, "; %s deadline is in %s", whose, time.text);
}

/* Which was the first of those that wait, where none can meet a deadline. */
static bool reason(const struct sched *s, const struct action *a, int64_t now_ms, struct str *out)
{
    (void)now_ms;
    if (a->why != WHY_FIRST || sched_job_due(&s->jobs[a->job], &s->work->jobs[a->job]))
        return false;
    str_add(out, ": of those that wait it was submitted first, and none has a deadline that it can "
                 "meet");
    return true;
}

static void remark(const struct sched *s, const struct action *a, int64_t now_ms, struct str *out)
{
    if (a->kind == ACTION_START && work_deadline(&s->work->jobs[a->job]) != WORK_UNKNOWN)
        add_deadline(s, a->job, "its", now_ms, out);
    if (a->why == WHY_VICTIM && sched_job_due(&s->jobs[a->other], &s->work->jobs[a->other]))
        add_deadline(s, a->other, "the other's", now_ms, out);
}

const struct feature feature_deadline = {
    .open = open_deadlines,
    .queued = queued,
    .unqueued = unqueued,
    .begin = begin,
    .again_ms = again_ms,
    .reason = reason,
    .remark = remark,
};
