#include "sched/idle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sched/spot_preempt.h"
#include "sched/sched_private.h"

enum { IDLE_LIST = UINT32_MAX }; /* of a stop: not one that shares */

int idle_open(struct sched *s, struct err *e)
{
    const struct policy_idle *p = &s->policy.idle;
    const struct work_names *classes = &s->work->classes;
    size_t n = s->work->n_jobs + 1;
    struct idle *d = &s->idle;

    if (p->reclaim_ms == 0)
        return 0;
    d->list = arena_alloc(&s->arena, n * sizeof(*d->list));
    d->victims = arena_alloc(&s->arena, n * sizeof(*d->victims));
    d->exempt = arena_alloc(&s->arena, classes->n + 1);
    d->jobs = arena_alloc(&s->arena, n * sizeof(*d->jobs));
    if (!d->list || !d->victims || !d->exempt || !d->jobs)
        return err_nomem(e);
    for (size_t i = 0; i < classes->n; i++)
        for (size_t k = 0; k < p->n_exempt; k++)
            d->exempt[i + 1] |= !strcmp(classes->names[i], p->exempt[k]);
    return 0;
}

/* ---- the window ---- */

/* From when on a job that is idle now, and stays so, worked for no more than a burst within a
 * window, all of which counts. */
static int64_t idle_at(const struct sched *s, const struct idle_job *j, int64_t window_ms)
{
    int64_t left = s->policy.idle.burst_ms, from = j->from_ms;

    for (int i = j->n; i-- > 0;) {
        const struct idle_burst *b = &j->bursts[i];

        if (b->to_ms - b->from_ms > left) {
            from = MAX(from, b->to_ms - left);
            break;
        }
        left -= b->to_ms - b->from_ms;
    }
    return from + window_ms;
}

static void add_burst(struct idle_job *j, int64_t from_ms)
{
    if (j->n == IDLE_BURSTS) { /* as if it had worked between the first two */
        j->bursts[1].from_ms = j->bursts[0].from_ms;
        memmove(&j->bursts[0], &j->bursts[1], (IDLE_BURSTS - 1) * sizeof(*j->bursts));
        j->n--;
    }
    j->bursts[j->n++] = (struct idle_burst){ from_ms, from_ms };
}

static void list_remove(struct idle *d, uint32_t job)
{
    uint32_t last = d->list[--d->n];

    d->list[d->jobs[job].at] = last;
    d->jobs[last].at = d->jobs[job].at;
    d->jobs[job].idle = false;
}

void idle_begin(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct idle_job *j = &s->idle.jobs[job];

    *j = (struct idle_job){ .from_ms = now_ms + s->policy.idle.grace_ms, .pauses = j->pauses };
    add_burst(j, now_ms);
}

/* A pause of a job is over: was it one to wait for the end of? */
static void learn(const struct sched *s, struct idle_job *j, int64_t now_ms)
{
    int64_t lasted = now_ms - j->pause_ms;

    if (lasted >= s->policy.idle.again_ms)
        j->pauses = lasted >= s->policy.idle.reclaim_ms;
}

void idle_wake(struct sched *s, uint32_t job, int64_t now_ms)
{
    learn(s, &s->idle.jobs[job], now_ms);
}

int64_t idle_window_ms(const struct sched *s, uint32_t job)
{
    const struct policy_idle *p = &s->policy.idle;

    return p->again_ms && s->idle.jobs[job].pauses ? p->again_ms : p->reclaim_ms;
}

void idle_leave(struct sched *s, uint32_t job)
{
    if (s->idle.jobs[job].idle)
        list_remove(&s->idle, job);
}

static bool is_exempt(const struct sched *s, uint32_t job)
{
    const struct work *w = &s->work->jobs[job];

    return w->devices == 0 || s->idle.exempt[w->class + 1] || s->jobs[job].tier != TIER_BATCH;
}

void idle_use(struct sched *s, uint32_t job, int64_t now_ms, int milli)
{
    struct idle_job *j = &s->idle.jobs[job];
    const struct policy_idle *p = &s->policy.idle;
    bool idle = milli <= WORK_IDLE;

    if (s->jobs[job].state != SCHED_RUNNING || idle == j->idle || is_exempt(s, job))
        return;
    if (!idle) {
        learn(s, j, now_ms);
        list_remove(&s->idle, job);
        add_burst(j, now_ms);
        return;
    }
    if (j->n > 0)
        j->bursts[j->n - 1].to_ms = MAX(now_ms, j->bursts[j->n - 1].from_ms);
    j->idle = true;
    j->pause_ms = now_ms;
    j->at = (uint32_t)s->idle.n;
    s->idle.list[s->idle.n++] = job;
    j->due_ms = p->action == IDLE_WARN || s->work->jobs[job].fixed
                    ? WORK_UNKNOWN
                    : idle_at(s, j, idle_window_ms(s, job));
    j->warn_ms = p->warn_ms               ? idle_at(s, j, p->warn_ms)
                 : p->action == IDLE_WARN ? idle_at(s, j, p->reclaim_ms)
                                          : WORK_UNKNOWN;
    j->warned &= j->warn_ms <= now_ms;
}

/* ---- passes ---- */

int idle_pass(struct sched *s, int64_t now_ms)
{
    struct action why = { .kind = ACTION_WARN, .why = WHY_IDLE, .other = WAITING_NONE };

    s->idle.n_due = 0;
    for (size_t i = 0; i < s->idle.n; i++) {
        struct idle_job *j = &s->idle.jobs[s->idle.list[i]];

        s->idle.n_due += j->due_ms <= now_ms;
        if (j->warned || j->warn_ms > now_ms)
            continue;
        j->warned = true;
        why.job = s->idle.list[i];
        why.until_ms = j->due_ms;
        if (state_note(s, &why) < 0)
            return -1;
    }
    return 0;
}

int64_t idle_again(const struct sched *s, int64_t now_ms)
{
    int64_t best = WORK_UNKNOWN;

    for (size_t i = 0; i < s->idle.n; i++) {
        const struct idle_job *j = &s->idle.jobs[s->idle.list[i]];

        if (!j->warned)
            best = MIN(best, j->warn_ms);
        if (j->due_ms > now_ms)
            best = MIN(best, j->due_ms);
    }
    return best;
}

static int longest_first(const void *a, const void *b)
{
    const struct victim *x = a, *y = b;

    if (x->since_ms != y->since_ms)
        return x->since_ms < y->since_ms ? -1 : 1;
    return x->job < y->job ? -1 : x->job > y->job;
}

/* Those whose devices can be taken; of two that share devices, both must be. */
static size_t find_victims(const struct sched *s, int64_t now_ms, struct victim *victims)
{
    size_t n = 0;

    for (size_t i = 0; i < s->idle.n; i++) {
        uint32_t job = s->idle.list[i], partner = device_sharing_partner(s, job);

        if (idle_due(s, job, now_ms) &&
            (partner == WAITING_NONE ||
             (!device_sharing_is_guest(s, job) && idle_due(s, partner, now_ms))))
            victims[n++] = (struct victim){ s->idle.jobs[job].due_ms, IDLE_LIST, job };
    }
    if (n > 0)
        qsort(victims, n, sizeof(*victims), longest_first);
    return n;
}

bool idle_due(const struct sched *s, uint32_t job, int64_t now_ms)
{
    return s->idle.jobs && s->idle.jobs[job].idle && s->idle.jobs[job].due_ms <= now_ms;
}

int idle_stop(struct sched *s, uint32_t job, uint32_t other, int64_t now_ms)
{
    const struct action why = { .why = WHY_IDLE, .other = other };

    s->idle.n_due--;
    return state_evict(s, job, now_ms, &why, s->policy.idle.action == IDLE_SHRINK);
}

/* It, and the one that shares its devices, give them up. */
static int take(struct sched *s, uint32_t job, uint32_t other, int64_t now_ms)
{
    uint32_t partner = device_sharing_partner(s, job);

    if (partner != WAITING_NONE && idle_stop(s, partner, other, now_ms) < 0)
        return -ENOMEM;
    return idle_stop(s, job, other, now_ms);
}

/* What idle jobs hold and jobs of little use could do without, in stops; how many of them are
 * enough. */
static size_t find_enough(struct sched *s, uint32_t job, int64_t now_ms, struct victim *victims)
{
    size_t n = s->idle.n_due > 0 ? find_victims(s, now_ms, victims) : 0;

    n += device_sharing_guests(s, now_ms, victims + n);
    return n > 0 ? choose_victims(s, job, victims, n, NULL) : 0;
}

/* Let them give theirs up, and share. 1, 0, -1. */
static int take_enough(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct victim *victims = s->idle.victims ? s->idle.victims : s->sharing.victims;
    size_t n = victims ? find_enough(s, job, now_ms, victims) : 0;

    for (size_t i = 0; i < n; i++) {
        bool gives = victims[i].list == IDLE_LIST;
        int rc = gives ? take(s, victims[i].job, job, now_ms)
                       : device_sharing_join(s, victims[i].job, job, now_ms);

        if (rc < 0)
            return -1;
    }
    return n > 0 && sched_find_place(s, job);
}

int idle_reclaim(struct sched *s, uint32_t job, int64_t now_ms)
{
    bool lifted;
    int found;

    if (s->idle.n_due == 0 && !s->sharing.jobs)
        return 0;
    lifted = spot_preempt_lift(s, true);
    found = take_enough(s, job, now_ms);
    if (!lifted)
        return found;
    spot_preempt_lift(s, false);
    return found > 0 ? spot_preempt_beside(s, job, now_ms) : found;
}
