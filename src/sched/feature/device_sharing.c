#include "sched/feature/device_sharing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sched/core/action.h"
#include "sched/feature/idle.h"
#include "sched/feature/quota.h"
#include "sched/core/reason_text.h"
#include "sched/core/scheduler.h"
#include "sched/core/state.h"

struct device_sharing_job {
    int64_t seen_ms;  /* that it was seen at work */
    double sum;       /* of how busy, by that time */
    int64_t since_ms; /* that it is that busy; it runs */
    uint32_t partner; /* WAITING_NONE */
    int16_t milli;
};

struct device_sharing {
    struct device_sharing_job *jobs;
    struct victim *victims; /* those that could move to others */
    uint32_t *host;         /* of each, by job */
};

static int open_sharing(struct sched *s, struct err *e)
{
    size_t n = s->work->n_jobs + 1;
    struct device_sharing *x;

    if (s->policy.share.below == 0)
        return 0;
    x = arena_alloc(&s->arena, sizeof(*x));
    if (!x)
        return err_nomem(e);
    x->victims = arena_alloc(&s->arena, n * sizeof(*x->victims));
    x->host = arena_alloc(&s->arena, n * sizeof(*x->host));
    x->jobs = arena_alloc(&s->arena, n * sizeof(*x->jobs));
    if (!x->victims || !x->host || !x->jobs)
        return err_nomem(e);
    for (size_t i = 0; i < n; i++)
        x->jobs[i].partner = WAITING_NONE;
    s->sharing = x;
    return 1;
}

bool device_sharing_shares(const struct sched *s)
{
    return s->sharing != NULL;
}

uint32_t device_sharing_partner(const struct sched *s, uint32_t job)
{
    return s->sharing ? s->sharing->jobs[job].partner : WAITING_NONE;
}

uint32_t device_sharing_host(const struct sched *s, uint32_t job)
{
    return s->jobs[job].guest ? s->sharing->jobs[job].partner : job;
}

/* ---- what is seen ---- */

static void see(struct device_sharing_job *j, int64_t now_ms)
{
    if (j->milli > WORK_IDLE) {
        j->seen_ms += now_ms - j->since_ms;
        j->sum += (double)(now_ms - j->since_ms) * j->milli;
    }
    j->since_ms = now_ms;
}

static void runs(struct sched *s, uint32_t job, int64_t since_ms)
{
    struct device_sharing_job *j = &s->sharing->jobs[job];

    j->since_ms = since_ms;
    j->milli = 0; /* until it is told */
}

static void used(struct sched *s, uint32_t job, int64_t now_ms, int milli)
{
    struct device_sharing_job *j = &s->sharing->jobs[job];

    if (s->jobs[job].state != SCHED_RUNNING)
        return;
    see(j, now_ms);
    j->milli = (int16_t)milli;
}

/* How busy a job keeps its devices while it works, in thousandths; 0: that was not seen for long
 * enough. */
static int usual(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct device_sharing_job *j = &s->sharing->jobs[job];

    see(j, now_ms);
    return j->seen_ms < s->policy.share.after_ms ? 0 : (int)(j->sum / (double)j->seen_ms);
}

void device_sharing_seen(struct sched *s, uint32_t job, int64_t now_ms, int64_t worked_ms,
                         int milli)
{
    struct device_sharing_job *j;

    if (!s->sharing)
        return;
    j = &s->sharing->jobs[job];
    j->seen_ms = worked_ms;
    j->sum = (double)worked_ms * milli;
    j->since_ms = now_ms;
    j->milli = 0; /* until it is told */
}

/* ---- pairs ---- */

void device_sharing_pair(struct sched *s, uint32_t guest, uint32_t host)
{
    s->sharing->jobs[guest].partner = host;
    s->sharing->jobs[host].partner = guest;
    s->jobs[guest].guest = true;
    quota_count(s, guest, -1);
}

/* Its guest has no devices without it. */
static int preempts(struct sched *s, uint32_t job, int64_t now_ms, const struct action *why)
{
    uint32_t partner = s->sharing->jobs[job].partner;

    if (partner == WAITING_NONE || s->jobs[job].guest)
        return 0;
    return state_evict(s, partner, now_ms, why, false);
}

static void stops(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct device_sharing_job *j = &s->sharing->jobs[job];
    uint32_t partner = j->partner;

    see(j, now_ms);
    j->milli = 0;
    if (partner == WAITING_NONE)
        return;
    if (!s->jobs[job].guest) { /* its devices stay its guest's */
        s->jobs[partner].part = s->jobs[job].part;
        s->jobs[job].part = NO_PART;
        quota_count(s, partner, 1);
    }
    j->partner = s->sharing->jobs[partner].partner = WAITING_NONE;
    s->jobs[job].guest = s->jobs[partner].guest = false;
}

static int by_shape(const void *a, const void *b)
{
    const struct victim *x = a, *y = b;
    int order = COMPARE(x->list, y->list);

    if (!order)
        order = COMPARE(x->since_ms, y->since_ms);
    return order ? order : COMPARE(x->job, y->job);
}

/* Of two that share devices and of which one is idle and can be stopped, the other one; of one that
 * shares none, itself. WAITING_NONE: nobody else can come in. */
static uint32_t mover(const struct sched *s, uint32_t owner, int64_t now_ms)
{
    uint32_t partner = s->sharing->jobs[owner].partner;

    if (partner == WAITING_NONE)
        return idle_now(s, owner) ? WAITING_NONE : owner;
    if (idle_due(s, owner, now_ms))
        return idle_now(s, partner) ? WAITING_NONE : partner;
    return idle_due(s, partner, now_ms) && !idle_now(s, owner) ? owner : WAITING_NONE;
}

/* The jobs that could share, by shape, those of the least use first: as the owners of devices. */
static size_t candidates(struct sched *s, int64_t now_ms)
{
    struct victim *victims = s->sharing->victims;
    size_t n = 0;

    for (size_t i = 0; i < s->n_running; i++) {
        uint32_t owner = s->running[i], job;
        const struct work *w = &s->work->jobs[owner];
        int use;

        if (s->jobs[owner].guest || w->fixed || w->devices == 0 || w->milli < WORK_WHOLE)
            continue;
        job = mover(s, owner, now_ms);
        if (job == WAITING_NONE || work_is_alone(&s->work->jobs[job]) || s->jobs[job].leaves)
            continue;
        use = usual(s, job, now_ms);
        if (use > 0 && use <= s->policy.share.below)
            victims[n++] = (struct victim){ use, w->shape, owner };
    }
    if (n > 0)
        qsort(victims, n, sizeof(*victims), by_shape);
    return n;
}

/* The job that stays of those that have an owner's devices, where it shares them with a third. */
static uint32_t stays(const struct sched *s, uint32_t owner, int64_t now_ms)
{
    uint32_t job = mover(s, owner, now_ms);

    return job == WAITING_NONE ? owner : job;
}

/* Whether the memory of a device holds both. */
static bool fits(const struct sched *s, uint32_t one, uint32_t other, int64_t now_ms)
{
    const struct work *jobs = s->work->jobs;

    return work_memory_milli(&jobs[stays(s, one, now_ms)]) +
               work_memory_milli(&jobs[stays(s, other, now_ms)]) <=
           WORK_WHOLE;
}

/* Pair the least with the most that goes with it; the guests of the pairs, in front. */
static size_t pair(struct sched *s, size_t n, int64_t now_ms)
{
    struct victim *victims = s->sharing->victims;
    size_t guests = 0;

    for (size_t from = 0, end; from < n; from = end) {
        size_t low = from, high;

        for (end = from; end < n && victims[end].list == victims[from].list;)
            end++;
        for (high = end - 1; low < high; high--)
            if (victims[low].since_ms + victims[high].since_ms <= s->policy.share.together &&
                fits(s, victims[low].job, victims[high].job, now_ms)) {
                s->sharing->host[victims[low].job] = victims[high].job;
                victims[guests++] = victims[low++];
            }
    }
    return guests;
}

size_t device_sharing_guests(struct sched *s, int64_t now_ms, struct victim *ret)
{
    size_t n;

    if (!s->sharing)
        return 0;
    n = pair(s, candidates(s, now_ms), now_ms);
    if (ret != s->sharing->victims)
        memcpy(ret, s->sharing->victims, n * sizeof(*ret));
    return n;
}

/* The devices of two that share them become the guest's. */
static void change_owner(struct sched *s, uint32_t host, uint32_t guest)
{
    s->jobs[guest].part = s->jobs[host].part;
    s->jobs[host].part = NO_PART;
    quota_count(s, host, -1);
    quota_count(s, guest, 1);
    s->jobs[host].guest = true;
    s->jobs[guest].guest = false;
}

/* Stop the idle one of two that share devices: the other one has them alone, and is *ret. */
static int part(struct sched *s, uint32_t owner, uint32_t other, int64_t now_ms, uint32_t *ret)
{
    uint32_t partner = s->sharing->jobs[owner].partner;

    *ret = owner;
    if (partner == WAITING_NONE)
        return 0;
    if (!idle_due(s, owner, now_ms))
        return idle_stop(s, partner, other, now_ms);
    change_owner(s, owner, partner);
    *ret = partner;
    return idle_stop(s, owner, other, now_ms);
}

int device_sharing_join(struct sched *s, uint32_t owner, uint32_t other, int64_t now_ms)
{
    struct action why = { .kind = ACTION_JOIN, .why = WHY_LITTLE, .other = other };
    uint32_t guest, host = s->sharing->host[owner];

    if (part(s, owner, other, now_ms, &guest) < 0 || part(s, host, other, now_ms, &host) < 0)
        return -ENOMEM;
    free_capacity_give(&s->capacity, &s->work->jobs[guest], s->jobs[guest].part);
    s->jobs[guest].part = NO_PART;
    quota_count(s, guest, -1);
    s->sharing->jobs[guest].partner = host;
    s->jobs[guest].guest = true;
    s->sharing->jobs[host].partner = guest;
    why.job = guest;
    why.with = host;
    return state_note(s, &why);
}

static bool reason(const struct sched *s, const struct action *a, int64_t now_ms, struct str *out)
{
    (void)now_ms;
    if (a->why != WHY_LITTLE)
        return false;
    str_addf(out, " and shares those of job %s: both are at most %d %% busy, together %d %%, and ",
             s->work->jobs[a->with].name, s->policy.share.below / 10,
             s->policy.share.together / 10);
    reason_other(s, a->other, out);
    str_add(out, ", gets them");
    return true;
}

const struct feature feature_device_sharing = {
    .section = "share",
    .take = device_sharing_take,
    .check = device_sharing_check,
    .open = open_sharing,
    .runs = runs,
    .used = used,
    .preempts = preempts,
    .stops = stops,
    .reason = reason,
};
