#include "sched/feature/idle.h"

#include <errno.h>
#include <string.h>

#include "sched/core/action.h"
#include "sched/core/reason_text.h"
#include "sched/core/scheduler.h"
#include "sched/core/state.h"

enum { IDLE_BURSTS = 4 }; /* remembered of each job: more become one */

struct idle_burst {
    int64_t from_ms, to_ms;
};

struct idle_job {
    struct idle_burst bursts[IDLE_BURSTS]; /* of work, the newest last */
    int64_t from_ms;                       /* what was before does not count: a start, and grace */
    int64_t warn_ms, due_ms; /* when it is told; when its devices can be taken; while it is idle */
    int64_t pause_ms;        /* when it became idle */
    uint32_t at;             /* in the list */
    uint8_t n;               /* bursts */
    bool idle, warned;
    bool pauses; /* the last time that it was idle for policy.again, it was for policy.reclaim */
};

struct idle {
    struct idle_job *jobs;
    uint32_t *list;  /* those that run and are idle */
    size_t n, n_due; /* n_due: whose devices can be taken in this pass */
    uint8_t *exempt; /* by class, plus 1 */
};

static int open_idle(struct sched *s, struct err *e)
{
    const struct policy_idle *p = &s->policy.idle;
    const struct work_names *classes = &s->work->classes;
    size_t n = s->work->n_jobs + 1;
    struct idle *d;

    if (p->reclaim_ms == 0)
        return 0;
    d = arena_alloc(&s->arena, sizeof(*d));
    if (!d)
        return err_nomem(e);
    d->list = arena_alloc(&s->arena, n * sizeof(*d->list));
    d->exempt = arena_alloc(&s->arena, classes->n + 1);
    d->jobs = arena_alloc(&s->arena, n * sizeof(*d->jobs));
    if (!d->list || !d->exempt || !d->jobs)
        return err_nomem(e);
    for (size_t i = 0; i < classes->n; i++)
        for (size_t k = 0; k < p->n_exempt; k++)
            d->exempt[i + 1] |= !strcmp(classes->names[i], p->exempt[k]);
    s->idle = d;
    return 1;
}

/* ---- the window ---- */

/* From when on a job that is idle now, and stays so, worked for no more than a burst within a
 * window, all of which counts. */
static int64_t idle_at(const struct sched *s, const struct idle_job *j, int64_t window)
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
    return from + window;
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

static void runs(struct sched *s, uint32_t job, int64_t since_ms)
{
    struct idle_job *j = &s->idle->jobs[job];
    int64_t now_ms = state_from_ms(s, job);

    (void)since_ms;
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
    if (s->idle)
        learn(s, &s->idle->jobs[job], now_ms);
}

static int64_t window_ms(const struct sched *s, uint32_t job)
{
    const struct policy_idle *p = &s->policy.idle;

    return p->again_ms && s->idle->jobs[job].pauses ? p->again_ms : p->reclaim_ms;
}

static void stops(struct sched *s, uint32_t job, int64_t now_ms)
{
    (void)now_ms;
    if (s->idle->jobs[job].idle)
        list_remove(s->idle, job);
}

static bool is_exempt(const struct sched *s, uint32_t job)
{
    const struct work *w = &s->work->jobs[job];

    return w->devices == 0 || s->idle->exempt[w->class + 1] || s->jobs[job].tier != TIER_BATCH;
}

static void used(struct sched *s, uint32_t job, int64_t now_ms, int milli)
{
    struct idle_job *j = &s->idle->jobs[job];
    const struct policy_idle *p = &s->policy.idle;
    bool idle = milli <= WORK_IDLE;

    if (s->jobs[job].state != SCHED_RUNNING || idle == j->idle || is_exempt(s, job))
        return;
    if (!idle) {
        learn(s, j, now_ms);
        list_remove(s->idle, job);
        add_burst(j, now_ms);
        return;
    }
    if (j->n > 0)
        j->bursts[j->n - 1].to_ms = MAX(now_ms, j->bursts[j->n - 1].from_ms);
    j->idle = true;
    j->pause_ms = now_ms;
    j->at = (uint32_t)s->idle->n;
    s->idle->list[s->idle->n++] = job;
    j->due_ms = p->action == IDLE_WARN || s->work->jobs[job].fixed
                    ? WORK_UNKNOWN
                    : idle_at(s, j, window_ms(s, job));
    j->warn_ms = p->warn_ms               ? idle_at(s, j, p->warn_ms)
                 : p->action == IDLE_WARN ? idle_at(s, j, p->reclaim_ms)
                                          : WORK_UNKNOWN;
    j->warned &= j->warn_ms <= now_ms;
}

/* ---- passes ---- */

static int begin(struct sched *s, int64_t now_ms)
{
    struct action why = { .kind = ACTION_WARN, .why = WHY_IDLE, .other = WAITING_NONE };

    s->idle->n_due = 0;
    for (size_t i = 0; i < s->idle->n; i++) {
        struct idle_job *j = &s->idle->jobs[s->idle->list[i]];

        s->idle->n_due += j->due_ms <= now_ms;
        if (j->warned || j->warn_ms > now_ms)
            continue;
        j->warned = true;
        why.job = s->idle->list[i];
        why.until_ms = j->due_ms;
        if (state_note(s, &why) < 0)
            return -1;
    }
    return 0;
}

static int64_t again_ms(const struct sched *s, int64_t now_ms)
{
    int64_t best = WORK_UNKNOWN;

    for (size_t i = 0; i < s->idle->n; i++) {
        const struct idle_job *j = &s->idle->jobs[s->idle->list[i]];

        if (!j->warned)
            best = MIN(best, j->warn_ms);
        if (j->due_ms > now_ms)
            best = MIN(best, j->due_ms);
    }
    return best;
}

int idle_stop(struct sched *s, uint32_t job, uint32_t other, int64_t now_ms)
{
    const struct action why = { .why = WHY_IDLE, .other = other };

    s->idle->n_due--;
    return state_evict(s, job, now_ms, &why, s->policy.idle.action == IDLE_SHRINK);
}

/* ---- for others ---- */

bool idle_now(const struct sched *s, uint32_t job)
{
    return s->idle && s->idle->jobs[job].idle;
}

bool idle_due(const struct sched *s, uint32_t job, int64_t now_ms)
{
    return idle_now(s, job) && s->idle->jobs[job].due_ms <= now_ms;
}

const uint32_t *idle_list(const struct sched *s, size_t *n)
{
    *n = s->idle ? s->idle->n : 0;
    return s->idle ? s->idle->list : NULL;
}

size_t idle_n_due(const struct sched *s)
{
    return s->idle ? s->idle->n_due : 0;
}

int64_t idle_due_ms(const struct sched *s, uint32_t job)
{
    return s->idle->jobs[job].due_ms;
}

/* ---- sentences ---- */

/* For how long devices were idle, and what comes of it. */
static bool reason(const struct sched *s, const struct action *a, int64_t now_ms, struct str *out)
{
    const struct policy_idle *p = &s->policy.idle;
    bool warns = a->kind == ACTION_WARN;

    (void)now_ms;
    if (a->why != WHY_IDLE)
        return false;
    str_add(out, warns ? " idle for " : ": they were idle for ");
    reason_time(out, warns && p->warn_ms ? p->warn_ms : window_ms(s, a->job));
    if (p->burst_ms > 0) {
        str_add(out, " but for ");
        reason_time(out, p->burst_ms);
        str_add(out, " at most");
    }
    if (!warns) {
        str_add(out, ", and are for ");
        reason_other(s, a->other, out);
        str_add(out, a->kind == ACTION_PARK      ? "; it goes on when it needs some"
                     : a->kind == ACTION_PREEMPT ? "; it starts again in its turn"
                                                 : "");
    } else if (a->until_ms != WORK_UNKNOWN) {
        str_add(out, "; after ");
        reason_time(out, window_ms(s, a->job));
        str_add(out, " they are for jobs that wait");
    }
    return true;
}

const struct feature feature_idle = {
    .section = "idle",
    .take = idle_take,
    .check = idle_check,
    .open = open_idle,
    .runs = runs,
    .used = used,
    .stops = stops,
    .begin = begin,
    .again_ms = again_ms,
    .reason = reason,
};
