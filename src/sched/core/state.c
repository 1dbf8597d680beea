#include "sched/core/action.h"
#include "sched/core/expected_ends.h"
#include "sched/core/labels.h"
#include "sched/core/scheduler.h"
#include "sched/core/speed.h"
#include "sched/core/state.h"

#include <errno.h>
#include <math.h>

/* ---- keys ---- */

static const int32_t aged_rank = INT32_MIN; /* before all ranks by priority and queue */

void state_key(const struct sched *s, uint32_t job, int64_t now_ms, struct order_key *ret)
{
    const struct work *w = &s->work->jobs[job];
    const struct sched_job *j = &s->jobs[job];
    bool runs = j->state == SCHED_RUNNING;

    *ret = (struct order_key){ .tie = job };
    s->policy.order->key(&s->policy, w, j, now_ms, ret);
    if (j->aged) {
        ret->rank = aged_rank;
        ret->value = w->submit_ms;
        return;
    }
    if (s->policy.priorities)
        ret->rank -= w->priority * (POLICY_QUEUES + 1);
    if (s->policy.ties == TIES_LIST)
        ret->tie = j->list;
    else if (s->policy.ties != TIES_SUBMITTED)
        ret->tie = j->list | (uint32_t)(runs == (s->policy.ties == TIES_WAITING)) << 31;
}

/* ---- changes of state ---- */

void state_count_users(struct sched *s, int64_t now_ms)
{
    int64_t passed = now_ms - s->users_ms;
    double keep = s->policy.half_life_ms > 0
                      ? exp2(-(double)passed / (double)s->policy.half_life_ms)
                      : 1;

    if (passed <= 0)
        return;
    for (size_t i = 0; i <= s->work->users.n; i++)
        s->users[i].had = s->users[i].had * keep + (double)(s->users[i].running * passed);
    s->users_ms = now_ms;
}

void state_count_user(struct sched *s, uint32_t job, int64_t now_ms, int sign)
{
    const struct work *w = &s->work->jobs[job];

    if (!s->policy.order->needs_users)
        return;
    state_count_users(s, now_ms);
    s->users[w->user + 1].running += (int64_t)sign * w->devices;
}

void state_unqueue(struct sched *s, uint32_t job)
{
    uint32_t last;

    for (const struct feature *const *f = s->hooks.unqueued; *f; f++)
        (*f)->unqueued(s, job);
    if (s->jobs[job].tier != TIER_BATCH)
        return;
    last = s->waits[--s->n_waiting];
    s->waits[s->at[job]] = last;
    s->at[last] = s->at[job];
    if (!s->queues)
        return;
    waiting_remove(&s->waiting, s->group[job], job);
}

/* A job waits, at a place among equals. */
static void queue_at(struct sched *s, uint32_t job, int64_t now_ms, uint32_t list)
{
    struct sched_job *j = &s->jobs[job];
    struct order_key key;

    j->state = SCHED_WAITING;
    j->since_ms = now_ms;
    j->list = list;
    for (const struct feature *const *f = s->hooks.queued; *f; f++)
        (*f)->queued(s, job, now_ms);
    if (j->tier != TIER_BATCH)
        return;
    s->at[job] = (uint32_t)s->n_waiting;
    s->waits[s->n_waiting++] = job;
    if (!s->queues)
        return;
    state_key(s, job, now_ms, &key);
    waiting_add(&s->waiting, s->group[job], job, &key, j->left_ms);
}

void state_queue(struct sched *s, uint32_t job, int64_t now_ms)
{
    queue_at(s, job, now_ms, ++s->lists);
}

/* One that ran waits again. */
static void queue_again(struct sched *s, uint32_t job, int64_t now_ms)
{
    if (!labels_are_kept(s)) {
        state_queue(s, job, now_ms);
        return;
    }
    labels_stop(s, job);
    queue_at(s, job, now_ms, s->jobs[job].list);
}

void state_run(struct sched *s, uint32_t job, int64_t since_ms)
{
    struct sched_job *j = &s->jobs[job];

    j->state = SCHED_RUNNING;
    j->since_ms = since_ms;
    j->list = ++s->lists;
    s->at[job] = (uint32_t)s->n_running;
    s->running[s->n_running++] = job;
    if (s->listed && !s->listed[job]) {
        s->listed[job] = 1;
        s->ranked[s->n_ranked++] = (struct ranked){ .job = job };
    }
    if (s->ends)
        expected_ends_add(s, job);
    falling_add(s, job, since_ms);
    lowest_add(s, job);
    for (const struct feature *const *f = s->hooks.runs; *f; f++)
        (*f)->runs(s, job, since_ms);
}

int64_t state_age(struct sched *s, int64_t now_ms)
{
    int64_t next_ms = WORK_UNKNOWN;

    for (size_t i = 0; s->policy.ageing_ms > 0 && i < s->n_waiting; i++) {
        uint32_t job = s->waits[i];
        struct sched_job *j = &s->jobs[job];
        int64_t at_ms = j->since_ms + s->policy.ageing_ms;
        struct order_key key;

        if (j->aged)
            continue;
        if (at_ms > now_ms) {
            next_ms = MIN(next_ms, at_ms);
            continue;
        }
        j->aged = 1;
        if (!s->queues)
            continue;
        waiting_remove(&s->waiting, s->group[job], job);
        state_key(s, job, now_ms, &key);
        waiting_add(&s->waiting, s->group[job], job, &key, j->left_ms);
    }
    return next_ms;
}

/* What is left of the work of a job that runs. */
static int64_t left_of(const struct sched *s, uint32_t job, int64_t now_ms)
{
    int64_t left_ms = s->jobs[job].left_ms, did_ms = MAX(now_ms - state_from_ms(s, job), 0);

    return left_ms == WORK_UNKNOWN ? left_ms : MAX(left_ms - did_ms, 0);
}

void state_stop(struct sched *s, uint32_t job, int64_t now_ms)
{
    const struct work was = s->work->jobs[job]; /* as it took its place */
    struct sched_job *j = &s->jobs[job];
    uint32_t last = s->running[--s->n_running];

    s->running[s->at[job]] = last;
    s->at[last] = s->at[job];
    if (s->ends)
        expected_ends_remove(s, job);
    falling_remove(s, job);
    lowest_remove(s, job);
    state_count_user(s, job, now_ms, -1);
    j->attained_ms = sched_job_attained(j, &s->work->jobs[job], now_ms);
    j->left_ms = left_of(s, job, now_ms);
    j->owed_ms = state_owed_ms(s, job, now_ms);
    for (const struct feature *const *f = s->hooks.stops; *f; f++)
        (*f)->stops(s, job, now_ms);
    speed_stop(s, job);
    free_capacity_give(&s->capacity, &was, j->part);
    if (j->tier != TIER_SPOT) /* which no promise counts on */
        s->promise.job = WAITING_NONE;
}

int state_note(struct sched *s, const struct action *a)
{
    if ((s->n_actions & (s->n_actions - 1)) == 0) {
        size_t n = s->n_actions ? 2 * s->n_actions : 1;
        struct action *grown = reallocarray(s->actions, n, sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        s->actions = grown;
    }
    s->actions[s->n_actions++] = *a;
    return 0;
}

int state_start(struct sched *s, uint32_t job, int64_t now_ms, const struct action *why)
{
    struct sched_job *j = &s->jobs[job];
    struct action a = *why;

    if (free_capacity_take(&s->capacity, &s->work->jobs[job], &s->fit, &j->part) < 0)
        return -ENOMEM;
    state_unqueue(s, job);
    speed_start(s, job);
    for (const struct feature *const *f = s->hooks.starts; *f; f++)
        (*f)->starts(s, job, now_ms, &a);
    state_run(s, job, now_ms);
    state_count_user(s, job, now_ms, 1);
    a.job = job;
    a.kind = ACTION_START;
    a.devices = s->work->jobs[job].devices;
    return state_note(s, &a);
}

int state_evict(struct sched *s, uint32_t job, int64_t now_ms, const struct action *why, bool parks)
{
    struct sched_job *j = &s->jobs[job];
    struct action a = *why;
    int64_t owes;

    for (const struct feature *const *f = s->hooks.preempts; *f; f++)
        if ((*f)->preempts(s, job, now_ms, why) < 0)
            return -ENOMEM;
    a.devices = s->work->jobs[job].devices;
    state_stop(s, job, now_ms);
    owes = policy_owes_ms(&s->policy, state_restart_ms(s, job), j->owed_ms);
    if (j->left_ms != WORK_UNKNOWN && !s->policy.restart_each_pass)
        j->left_ms += owes - j->owed_ms;
    j->owed_ms = owes;
    j->was = 1;
    j->leaves = 0;
    if (parks)
        j->state = SCHED_AWAY;
    else
        queue_again(s, job, now_ms);
    a.job = job;
    a.kind = parks ? ACTION_PARK : ACTION_PREEMPT;
    return state_note(s, &a);
}

int state_preempt(struct sched *s, uint32_t job, int64_t now_ms, const struct action *why)
{
    return state_evict(s, job, now_ms, why, false);
}
