/* With preemption: all jobs that are there, running or not, in their order; those at the front get
 * devices. */
#include "sched/core/action.h"
#include "sched/core/find_place.h"
#include "sched/core/labels.h"
#include "sched/pass/pass.h"
#include "sched/core/queue.h"
#include "sched/core/scheduler.h"
#include "sched/core/state.h"

enum { FEW = 64 };

/* Drop those that ended, make keys, sort. */
static void rank_all(struct sched *s, int64_t now_ms)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_ranked; i++) {
        uint32_t job = s->ranked[i].job;
        struct sched_job *j = &s->jobs[job];
        struct ranked *r = &s->ranked[n];

        if (j->state == SCHED_ABSENT)
            continue;
        *r = (struct ranked){ .job = job };
        n++;
        state_key(s, job, now_ms, &r->key);
        if (s->policy.ties == TIES_LIST && r->key.rank > (int32_t)j->queue) {
            j->queue = (uint32_t)r->key.rank;
            j->list = r->key.tie = ++s->lists; /* the last of its new queue */
        }
    }
    s->n_ranked = n;
    ranked_sort(s);
}

/* Number all anew: in each queue, those that run go ahead of those that wait. */
static void number_lists(struct sched *s)
{
    uint32_t next = 0;

    for (int running = 1; running >= 0; running--)
        for (size_t i = 0; i < s->n_ranked; i++) {
            struct sched_job *j = &s->jobs[s->ranked[i].job];

            if ((j->state == SCHED_RUNNING) == running)
                j->list = ++next;
        }
    s->lists = next;
}

/* When a job that runs will have less left than one that was granted devices and waits. Of those
 * that wait before it, it passes the last one first: that has the most left. */
static int64_t next_passed(const struct sched *s, int64_t now_ms)
{
    const struct ranked *waits = NULL;
    int64_t best = WORK_UNKNOWN;

    for (size_t i = s->first_granted; i < s->n_ranked; i++) {
        const struct ranked *r = &s->ranked[i];
        int64_t falls, gap;

        if (r->granted && !r->runs)
            waits = r;
        if (!waits || !r->granted || !r->runs || r->key.rank != waits->key.rank ||
            r->key.value >= INT64_MAX / 2)
            continue;
        falls = s->policy.order->falls(&s->work->jobs[r->job]);
        gap = (r->key.value - waits->key.value) / falls + 1;
        best = MIN(best, now_ms + gap);
    }
    return best;
}

/* When the order changes by time alone. */
static int64_t next_change(const struct sched *s, int64_t now_ms)
{
    int64_t best = WORK_UNKNOWN;

    if (s->falling.on)
        return falling_next_ms(s);
    if (s->policy.order->keeps_ms)
        for (size_t i = 0; i < s->n_running; i++) {
            uint32_t job = s->running[i];
            int64_t keeps = s->policy.order->keeps_ms(&s->policy, &s->work->jobs[job],
                                                      &s->jobs[job], now_ms);

            if (keeps != WORK_UNKNOWN)
                best = MIN(best, now_ms + MAX(keeps, 1));
        }
    /* One that was granted devices and found no place may lose its grant to one that runs. */
    if (s->policy.order->falls && s->policy.preempt == PREEMPT_QUOTA)
        best = MIN(best, next_passed(s, now_ms));
    return best;
}

static int preempt_others(struct sched *s, int64_t now_ms)
{
    const struct action why = { .why = WHY_BEHIND, .other = WAITING_NONE };
    bool numbered = !labels_are_kept(s);

    for (size_t i = 0; i < s->n_ranked; i++) {
        const struct ranked *r = &s->ranked[i];

        if (r->granted || s->jobs[r->job].state != SCHED_RUNNING)
            continue;
        if (!numbered)
            labels_number(s, false);
        numbered = true;
        if (state_preempt(s, r->job, now_ms, &why) < 0)
            return -1;
    }
    return 0;
}

/* The next job that waits of those groups whose jobs need no more devices than are left; false:
 * there is none. */
static bool next_waiting(struct sched *s, int64_t left, struct ranked *ret)
{
    uint32_t group;

    while ((group = queue_first_group(s)) != WAITING_NONE) {
        uint32_t job = s->cursor[group];

        if (s->work->jobs[job].devices <= left) {
            *ret = (struct ranked){ .key = s->waiting.nodes[job].key, .job = job };
            return true;
        }
        s->cursor[group] = WAITING_NONE; /* all of a group need as many */
    }
    return false;
}

/* Give devices to the i-th of all if so many are left. */
static void grant_one(struct sched *s, size_t i, struct ranked *r, bool runs, int64_t *left)
{
    int32_t devices = s->work->jobs[r->job].devices;

    r->granted = devices <= *left;
    r->runs = runs;
    *left -= r->granted ? devices : 0;
    s->n_behind += runs && !r->granted;
    if (!runs && r->granted)
        s->first_granted = MIN(s->first_granted, i);
}

/* Those that run, and of those that wait, which are kept in order, the ones that get devices: the
 * others may be as many as they like. */
static void grant_queued(struct sched *s, int64_t now_ms)
{
    int64_t left = s->pool->devices - s->capacity.lost / WORK_WHOLE;
    struct ranked *swap, waits;
    size_t n = 0, at = 0;
    bool any;

    rank_running(s, now_ms);
    for (uint32_t g = 0; g < s->n_groups; g++)
        s->cursor[g] = waiting_next(&s->waiting, g, NULL, WORK_UNKNOWN);
    any = next_waiting(s, left, &waits);
    while (any || at < s->n_ranked) {
        bool runs = !any ||
                    (at < s->n_ranked && order_compare(&s->ranked[at].key, &waits.key) <= 0);
        struct ranked *r = &s->other[n];

        *r = runs ? s->ranked[at++] : waits;
        grant_one(s, n++, r, runs, &left);
        s->listed[r->job] = 1;
        if (!runs)
            s->cursor[s->group[r->job]] = waiting_next(&s->waiting, s->group[r->job], &r->key,
                                                       WORK_UNKNOWN);
        if (any && (!runs || s->work->jobs[waits.job].devices > left))
            any = next_waiting(s, left, &waits);
    }
    swap = s->ranked;
    s->ranked = s->other;
    s->other = swap;
    s->n_ranked = n;
}

static void grant(struct sched *s)
{
    int64_t left = s->pool->devices - s->capacity.lost / WORK_WHOLE;

    for (size_t i = 0; i < s->n_ranked; i++) {
        struct ranked *r = &s->ranked[i];

        grant_one(s, i, r, s->jobs[r->job].state == SCHED_RUNNING, &left);
    }
}

/* Devices by number; then a place for each that got some. */
static int by_quota(struct sched *s, int64_t now_ms)
{
    const struct action why = { .why = WHY_SHARE, .other = WAITING_NONE };

    s->n_behind = 0;
    s->first_granted = SIZE_MAX;
    if (s->queues)
        grant_queued(s, now_ms);
    else
        grant(s);
    if (s->n_behind > 0 && preempt_others(s, now_ms) < 0)
        return -1;
    for (size_t i = s->first_granted; i < s->n_ranked; i++) {
        struct ranked *r = &s->ranked[i];

        if (!r->granted || r->runs || !sched_find_place(s, r->job))
            continue;
        if (state_start(s, r->job, now_ms, &why) < 0)
            return -1;
        r->runs = true;
    }
    return 0;
}

static int anew(struct sched *s, int64_t now_ms)
{
    return pass_anew(s, now_ms) < 0 ? -1 : preempt_others(s, now_ms);
}

/* While nobody waits, no order matters; a list is kept from pass to pass, though. While all that
 * wait have places, that of those that run does not matter. 1 when that was all, 0 when it was not:
 * those at the front may have started. */
static int pass_quickly(struct sched *s, int64_t now_ms)
{
    const struct action why = { .why = WHY_SHARE, .other = WAITING_NONE };
    struct ranked waits[FEW];
    size_t n = s->n_waiting;

    if (s->policy.preempt == PREEMPT_REBUILD || s->policy.ties == TIES_LIST)
        return 0;
    if (n > 0 && s->ordered)
        return 0;
    if (n > FEW || (n > 1 && s->policy.preempt != PREEMPT_VICTIMS))
        return 0;
    for (size_t i = 0; i < n; i++) {
        struct ranked r = { .job = s->waits[i] };
        size_t at = i;

        state_key(s, r.job, now_ms, &r.key);
        for (; at > 0 && order_compare(&r.key, &waits[at - 1].key) < 0; at--)
            waits[at] = waits[at - 1];
        waits[at] = r;
    }
    for (size_t i = 0; i < n; i++) {
        if (!sched_find_place(s, waits[i].job))
            return 0;
        if (state_start(s, waits[i].job, now_ms, &why) < 0)
            return -1;
    }
    return 1;
}

int pass_ranked(struct sched *s, int64_t now_ms, int64_t *again_ms)
{
    int rc = 0;

    if (s->queues && s->policy.preempt == PREEMPT_VICTIMS) {
        rc = pass_queued_victims(s, now_ms);
        if (rc == 0 && s->n_waiting > 0)
            *again_ms = next_change(s, now_ms);
        return rc;
    }
    rc = pass_quickly(s, now_ms);
    if (rc != 0)
        return MIN(rc, 0);
    labels_pass(s);
    falling_pass(s, now_ms);
    if (!s->queues)
        rank_all(s, now_ms);
    if (s->policy.preempt == PREEMPT_VICTIMS)
        rc = pass_victims(s, now_ms);
    else
        rc = s->policy.preempt == PREEMPT_REBUILD ? anew(s, now_ms) : by_quota(s, now_ms);
    if (rc < 0)
        return rc;
    *again_ms = next_change(s, now_ms);
    if (s->policy.preempt != PREEMPT_VICTIMS && s->policy.every_ms > 0 && s->n_actions > 0)
        *again_ms = MIN(*again_ms, now_ms + s->policy.every_ms);
    if (labels_are_kept(s))
        labels_number(s, true);
    else if (s->policy.ties == TIES_LIST)
        number_lists(s);
    return 0;
}
