#include "sched/power.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "sched/sched_private.h"

static const double lowest = 0.3, stride = 0.05; /* the limits that are tried */

/* ---- what there is ---- */

/* The limits at which a kind is run: down to the least that was given, or else down to that with
 * the most speed for its power. */
static void cut_steps(struct watts *w, double least)
{
    size_t keep = 0;
    double best = 1;

    for (size_t i = 0; i < w->n_steps; i++) {
        const struct watts_step *x = &w->steps[i];

        if (least > 0 ? x->share >= least - 1e-9 : x->speed / x->share > best)
            keep = i + 1;
        best = fmax(best, x->speed / x->share);
    }
    w->n_steps = keep;
}

/* The step at a limit: the highest that is not above it, or the lowest that there is. */
static struct watts_step step_at(const struct watts *w, double share)
{
    struct watts_step at = { 1, 1 };

    for (size_t i = 0; i < w->n_steps && at.share > share + 1e-9; i++)
        at = w->steps[i];
    return at;
}

static int open_tables(struct sched *s, const struct watts *kinds, struct err *e)
{
    size_t n = MAX(s->pool->n_kinds, 1), jobs = s->work->n_jobs + 1;
    struct watts *copy = arena_alloc(&s->arena, n * sizeof(*copy));
    struct power *p = &s->power;

    p->devices = arena_alloc(&s->arena, n * sizeof(*p->devices));
    p->drawn = arena_alloc(&s->arena, jobs * sizeof(*p->drawn));
    p->told = arena_alloc(&s->arena, jobs);
    if (!copy || !p->devices || !p->drawn || !p->told)
        return err_nomem(e);
    memcpy(copy, kinds, n * sizeof(*copy));
    p->slowest = 1;
    for (size_t i = 0; i < n; i++) {
        cut_steps(&copy[i], s->policy.power.least);
        if (s->policy.power.action == POWER_LIMIT)
            p->slowest = fmin(p->slowest, step_at(&copy[i], lowest - 2 * stride).speed);
    }
    p->kinds = copy;
    return 0;
}

int sched_watts(struct sched *s, const struct watts *kinds, struct err *e)
{
    const struct policy_power *policy = &s->policy.power;
    struct power *p = &s->power;
    int rc;

    if (policy->cap_mw == 0)
        return 0;
    if (policy->action == POWER_LIMIT && s->work->n_speeds > 0)
        return err_set(e, -EINVAL, "%s: action = limit is for jobs as fast on all kinds",
                       s->policy.name);
    rc = open_tables(s, kinds, e);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < s->pool->n_nodes; i++) {
        const struct pool_node *n = &s->pool->nodes[i];

        p->devices[n->kind] += n->devices;
        p->idle_mw += policy->node_mw + n->devices * p->kinds[n->kind].idle_mw;
    }
    if (p->idle_mw >= policy->cap_mw)
        return err_set(e, -EINVAL, "%s: the cap is %g kW, and idle nodes draw %g kW",
                       s->policy.name, (double)policy->cap_mw / 1e6, (double)p->idle_mw / 1e6);
    p->now_mw = p->idle_mw;
    p->share = 1;
    p->spare_mw = WORK_UNKNOWN;
    p->shortage = WAITING_NONE;
    p->on = true;
    return 0;
}

int64_t sched_drawn_mw(const struct sched *s)
{
    return s->power.now_mw;
}

uint64_t sched_limited(const struct sched *s)
{
    return s->power.limited;
}

/* ---- what a job adds ---- */

/* What a device adds at a limit. */
static int64_t adds(const struct watts *w, double share)
{
    return MAX((int64_t)llround((double)w->busy_mw * step_at(w, share).share) - w->idle_mw,
               (int64_t)0);
}

/* The lowest limit that is tried. */
static double lower_end(const struct sched *s)
{
    return s->policy.power.action == POWER_LIMIT ? lowest : 1;
}

/* What the place in s->fit adds at a limit, and how fast it is: as its slowest part. */
static int64_t fit_adds(const struct sched *s, double share, double *speed)
{
    int64_t sum = 0;

    *speed = 1;
    for (uint32_t i = 0; i < s->fit.n; i++) {
        const struct part *x = &s->fit.parts[i];
        const struct watts *w = &s->power.kinds[s->pool->nodes[x->node].kind];

        sum += adds(w, share) * __builtin_popcount(x->devices) * x->milli / WORK_WHOLE;
        if (x->devices)
            *speed = fmin(*speed, step_at(w, share).speed);
    }
    return sum;
}

static bool is_below(const struct sched *s)
{
    const struct power *p = &s->power;

    return p->now_mw + p->fit_mw <= s->policy.power.cap_mw && p->fit_mw <= p->spare_mw;
}

bool power_allows(struct sched *s, uint32_t job)
{
    bool limits = s->policy.power.action == POWER_LIMIT;
    struct power *p = &s->power;
    double share = p->share;

    p->fit_mw = fit_adds(s, share, &p->fit_speed);
    while (limits && share > lowest && !is_below(s)) {
        share -= stride;
        p->fit_mw = fit_adds(s, share, &p->fit_speed);
    }
    if (is_below(s))
        return true;
    if (p->shortage == WAITING_NONE && p->now_mw + p->fit_mw > s->policy.power.cap_mw) {
        p->shortage = job;
        p->short_mw = p->fit_mw;
    }
    return false;
}

static int64_t needs(const struct sched *s, uint32_t job)
{
    return (int64_t)s->work->jobs[job].devices * s->work->jobs[job].milli;
}

int64_t power_least(const struct sched *s, uint32_t job)
{
    uint64_t kinds = s->work->jobs[job].kinds;
    int64_t most = 0;

    for (size_t k = 0; k < MAX(s->pool->n_kinds, 1); k++)
        if (!kinds || kinds >> k & 1)
            most = MAX(most, adds(&s->power.kinds[k], lower_end(s)));
    return most * needs(s, job) / WORK_WHOLE;
}

/* ---- what waits and runs ---- */

void power_wait(struct sched *s, uint32_t job, int sign)
{
    s->power.waiting += sign * needs(s, job);
    s->power.told[job] = 0;
}

static void scale(struct sched_job *j, double by)
{
    if (j->left_ms != WORK_UNKNOWN)
        j->left_ms = (int64_t)ceil((double)j->left_ms * by);
}

void power_start(struct sched *s, uint32_t job)
{
    struct power *p = &s->power;
    struct sched_job *j = &s->jobs[job];

    p->drawn[job] = p->fit_mw;
    p->now_mw += p->fit_mw;
    if (s->policy.power.action != POWER_LIMIT)
        return;
    p->limited += p->fit_speed < 1;
    j->speed = (float)p->fit_speed;
    scale(j, 1 / (double)j->speed);
}

void power_stop(struct sched *s, uint32_t job)
{
    struct power *p = &s->power;

    p->now_mw -= p->drawn[job];
    p->drawn[job] = 0;
    if (s->policy.power.action == POWER_LIMIT)
        scale(&s->jobs[job], (double)s->jobs[job].speed);
}

void power_lift(struct sched *s, uint32_t job, bool up)
{
    s->power.now_mw += up ? -s->power.drawn[job] : s->power.drawn[job];
}

/* ---- passes ---- */

/* What the devices that could start now would add at a limit, at the mean of all kinds. */
static double all_add(const struct sched *s, double share)
{
    double free = (double)MIN(s->power.waiting, s->capacity.milli) / WORK_WHOLE, sum = 0;

    for (size_t k = 0; k < MAX(s->pool->n_kinds, 1); k++)
        sum += (double)(adds(&s->power.kinds[k], share) * s->power.devices[k]);
    return sum / (double)MAX(s->pool->devices, 1) * free;
}

/* The highest limit at which all that waits, as far as there are devices, would stay below the
 * cap: what starts first does not take the power of what starts last. */
void power_pass(struct sched *s)
{
    struct power *p = &s->power;

    p->shortage = WAITING_NONE;
    p->share = 1;
    if (s->policy.power.action != POWER_LIMIT)
        return;
    while (p->share > lowest &&
           (double)p->now_mw + all_add(s, p->share) > (double)s->policy.power.cap_mw)
        p->share -= stride;
}

int power_tell(struct sched *s)
{
    struct power *p = &s->power;
    struct action hold = { .job = p->shortage,
                           .kind = ACTION_HOLD,
                           .why = WHY_POWER,
                           .other = WAITING_NONE,
                           .until_ms = p->short_mw };

    if (p->shortage == WAITING_NONE || s->jobs[p->shortage].state != SCHED_WAITING ||
        p->told[p->shortage])
        return 0;
    p->told[p->shortage] = 1;
    return state_note(s, &hold);
}
