#include "sched/sched.h"

#include <assert.h>
#include <errno.h>

#include "sched/feature/data.h"
#include "sched/feature/device_sharing.h"
#include "sched/feature/elastic.h"
#include "sched/core/expected_ends.h"
#include "sched/core/find_place.h"
#include "sched/core/labels.h"
#include "sched/feature/idle.h"
#include "sched/pass/pass.h"
#include "sched/feature/power.h"
#include "sched/feature/quota.h"
#include "sched/core/scheduler.h"
#include "sched/feature/service.h"
#include "sched/feature/spot_preempt.h"
#include "sched/core/state.h"

/* ---- what there is ---- */

const struct action *sched_actions(const struct sched *s, size_t *n)
{
    *n = s->n_actions;
    return s->actions;
}

const struct sched_job *sched_job(const struct sched *s, uint32_t job)
{
    return &s->jobs[job];
}

const struct free_capacity *sched_capacity(const struct sched *s)
{
    return &s->capacity;
}

const uint32_t *sched_running(const struct sched *s, size_t *n)
{
    *n = s->n_running;
    return s->running;
}

int64_t sched_restart_ms(const struct sched *s, uint32_t job)
{
    return state_restart_ms(s, job);
}

bool sched_resizes(const struct sched *s)
{
    return elastic_resizes(s);
}

int32_t sched_devices(const struct sched *s, uint32_t job)
{
    return s->work->jobs[job].devices;
}

bool sched_is_service(const struct sched *s, uint32_t job)
{
    return s->jobs[job].tier == TIER_SERVICE;
}

bool sched_is_spot(const struct sched *s, uint32_t job)
{
    return s->jobs[job].tier == TIER_SPOT;
}

int64_t sched_drawn_mw(const struct sched *s)
{
    return power_now_mw(s);
}

uint64_t sched_limited(const struct sched *s)
{
    return power_limited(s);
}

int64_t sched_leaving(const struct sched *s)
{
    return spot_preempt_leaving_milli(s);
}

int sched_reserve(const struct sched *s, uint32_t node)
{
    return service_reserve(s, node);
}

bool sched_is_away(const struct sched *s, uint32_t job)
{
    return data_is_away(s, job);
}

bool sched_above_share(const struct sched *s, uint32_t job, struct str *out)
{
    return quota_says(s, job, out);
}

bool sched_possible(struct sched *s, uint32_t job)
{
    assert(s->n_running == 0);
    return sched_find_place(s, job) || elastic_possible(s, job);
}

/* ---- what happened ---- */

void sched_submit(struct sched *s, uint32_t job, int64_t now_ms, int64_t length_ms)
{
    struct sched_job *j = &s->jobs[job];

    assert(j->state == SCHED_ABSENT);
    j->left_ms = length_ms;
    j->part = NO_PART;
    state_queue(s, job, now_ms);
    labels_submit(s, job);
    if (s->ranked && !s->queues && j->tier == TIER_BATCH)
        s->ranked[s->n_ranked++] = (struct ranked){ .job = job };
}

/* Under labels the order in which jobs are taken up is that in which they fall. */
static void rank(struct sched *s, uint32_t job)
{
    if (!s->ranked || (s->queues && (!labels_are_kept(s) || s->listed[job])))
        return;
    if (s->queues)
        s->listed[job] = 1;
    s->ranked[s->n_ranked++] = (struct ranked){ .job = job };
}

int sched_take_up(struct sched *s, uint32_t job, int64_t now_ms, const struct sched_job *was,
                  const struct fit *where)
{
    struct sched_job *j = &s->jobs[job];

    assert(j->state == SCHED_ABSENT && !s->fresh);
    *j = *was;
    j->part = NO_PART;
    if (where)
        elastic_arrive(s, job, where);
    if (where && free_capacity_take(&s->capacity, &s->work->jobs[job], where, &j->part) < 0)
        return -ENOMEM;
    if (where) {
        state_run(s, job, was->since_ms);
        state_count_user(s, job, now_ms, 1);
    } else {
        state_queue(s, job, was->since_ms);
    }
    rank(s, job);
    return 0;
}

void sched_take_up_guest(struct sched *s, uint32_t job, int64_t now_ms, const struct sched_job *was,
                         uint32_t host)
{
    struct sched_job *j = &s->jobs[job];

    assert(j->state == SCHED_ABSENT && !s->fresh && device_sharing_shares(s));
    *j = *was;
    j->part = NO_PART;
    state_run(s, job, was->since_ms);
    state_count_user(s, job, now_ms, 1);
    device_sharing_pair(s, job, host);
    rank(s, job);
}

void sched_seen(struct sched *s, uint32_t job, int64_t now_ms, int64_t worked_ms, int milli)
{
    device_sharing_seen(s, job, now_ms, worked_ms, milli);
}

void sched_had(struct sched *s, int user, int64_t now_ms, double had_ms)
{
    state_count_users(s, now_ms);
    s->users[user + 1].had = had_ms;
}

void sched_end(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct sched_job *j = &s->jobs[job];

    if (j->state == SCHED_RUNNING)
        state_stop(s, job, now_ms);
    else if (j->state == SCHED_WAITING)
        state_unqueue(s, job);
    j->state = SCHED_ABSENT;
}

void sched_return(struct sched *s, uint32_t job, int64_t now_ms, int64_t left_ms)
{
    struct sched_job *j = &s->jobs[job];

    assert(j->state == SCHED_RUNNING);
    state_stop(s, job, now_ms);
    j->left_ms = left_ms;
    j->was = 1;
    j->owed_ms = state_restart_ms(s, job);
    state_queue(s, job, now_ms);
}

void sched_node(struct sched *s, uint32_t node, bool up)
{
    if (!up)
        spot_preempt_drop(s, node);
    if (up)
        free_capacity_regain(&s->capacity, node);
    else
        free_capacity_lose(&s->capacity, node);
    s->promise.job = WAITING_NONE;
    s->n_placed = 0;
}

int sched_close_node(struct sched *s, uint32_t node, bool closed)
{
    s->promise.job = WAITING_NONE;
    s->n_placed = 0;
    return free_capacity_close(&s->capacity, node, closed);
}

bool sched_is_on(const struct sched *s, uint32_t job, uint32_t node)
{
    uint32_t p = s->jobs[device_sharing_host(s, job)].part;

    assert(s->jobs[job].state == SCHED_RUNNING);
    while (p != NO_PART && s->capacity.parts[p].node != node)
        p = s->capacity.parts[p].next;
    return p != NO_PART;
}

static void progress(struct sched *s, uint32_t job, int64_t now_ms, int64_t left_ms)
{
    struct sched_job *j = &s->jobs[job];

    if (s->ends)
        expected_ends_remove(s, job);
    j->attained_ms = sched_job_attained(j, &s->work->jobs[job], now_ms);
    j->owed_ms = state_owed_ms(s, job, now_ms);
    j->since_ms = now_ms;
    j->left_ms = left_ms;
    if (s->ends)
        expected_ends_add(s, job);
}

void sched_progress(struct sched *s, uint32_t job, int64_t now_ms, int64_t left_ms)
{
    assert(s->jobs[job].state == SCHED_RUNNING);
    progress(s, job, now_ms, left_ms);
}

int64_t sched_restart_all(struct sched *s, int64_t now_ms, const int64_t *since_ms,
                          int64_t *left_ms)
{
    int64_t all_ms = 0;

    for (size_t i = 0; i < s->n_running; i++) {
        uint32_t job = s->running[i];
        int64_t passed_ms = now_ms - since_ms[job];
        int64_t lost_ms = MIN(passed_ms, state_restart_ms(s, job));

        all_ms = i == 0 || lost_ms == all_ms ? lost_ms : WORK_UNKNOWN;
        left_ms[job] -= passed_ms - lost_ms;
        progress(s, job, now_ms, left_ms[job]);
    }
    return all_ms;
}

void sched_use(struct sched *s, uint32_t job, int64_t now_ms, int milli)
{
    for (const struct feature *const *f = s->hooks.used; *f; f++)
        (*f)->used(s, job, now_ms, milli);
}

void sched_worked(struct sched *s, uint32_t job, const struct bursts *b, int64_t now_ms,
                  int64_t first_ms)
{
    for (int i = 0; i < b->n; i++) {
        if (i > 0)
            sched_use(s, job, MAX(b->at[i].from_ms - first_ms, 0), WORK_WHOLE);
        if (i < b->n - 1 || !b->busy)
            sched_use(s, job, MAX(b->at[i].to_ms - first_ms, 0), 0);
    }
    if (!b->busy && !bursts_idle_ms(b, now_ms))
        sched_use(s, job, MAX(b->seen_ms - first_ms, 0), WORK_WHOLE);
}

void sched_wake(struct sched *s, uint32_t job, int64_t now_ms, int64_t passed_ms)
{
    struct sched_job *j = &s->jobs[job];

    assert(j->state == SCHED_AWAY);
    idle_wake(s, job, now_ms);
    if (j->left_ms != WORK_UNKNOWN)
        j->left_ms = MAX(j->left_ms - passed_ms, 0);
    state_queue(s, job, now_ms);
}

/* The jobs that wait in the order of the policy. */
static int pass(struct sched *s, int64_t now_ms, int64_t *again_ms)
{
    if (s->policy.preempt != PREEMPT_NONE)
        return pass_ranked(s, now_ms, again_ms);
    if (s->n_waiting == 0)
        return 0;
    if (*s->hooks.pass)
        return (*s->hooks.pass)->pass(s, now_ms);
    return s->policy.backfill == BACKFILL_CONSERVATIVE ? pass_planned(s, now_ms)
                                                       : pass_queue(s, now_ms);
}

int sched_pass(struct sched *s, int64_t now_ms, int64_t *again_ms)
{
    int64_t aged_ms;
    int rc = 0;

    s->n_actions = 0;
    *again_ms = WORK_UNKNOWN;
    if (s->policy.order->needs_users)
        state_count_users(s, now_ms);
    aged_ms = state_age(s, now_ms);
    for (const struct feature *const *f = s->hooks.begin; *f && rc == 0; f++)
        rc = (*f)->begin(s, now_ms);
    if (rc == 0)
        rc = pass(s, now_ms, again_ms);
    for (const struct feature *const *f = s->hooks.finish; *f && rc == 0; f++)
        rc = (*f)->finish(s, now_ms);
    *again_ms = MIN(*again_ms, aged_ms);
    for (const struct feature *const *f = s->hooks.again_ms; *f; f++)
        *again_ms = MIN(*again_ms, (*f)->again_ms(s, now_ms));
    return rc;
}
