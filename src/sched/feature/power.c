#include "sched/feature/power.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "model/signal/quantity.h"
#include "sched/core/action.h"
#include "sched/core/reason_text.h"
#include "sched/core/scheduler.h"
#include "sched/core/state.h"

struct power {
    const struct watts *kinds; /* by kind, in the arena */
    int64_t *devices;          /* by kind */
    int64_t *drawn;            /* by job: what it adds while it runs */
    int64_t now_mw, idle_mw;   /* of all nodes; when nothing runs */
    int64_t waiting;           /* what waits, in thousandths of devices */
    double share;              /* the limit at which jobs start in this pass */
    double fit_speed;          /* of the place that was found */
    int64_t fit_mw;
    int64_t spare_mw;  /* what a job may add that is tried; WORK_UNKNOWN: up to the cap */
    double slowest;    /* the speed at the lowest limit of the slowest kind */
    uint32_t shortage; /* the first in this pass that found a place and no power; WAITING_NONE */
    int64_t short_mw;  /* what it would add */
    uint8_t *told;     /* by job: it was told while it waited */
    uint64_t limited;  /* starts below the full limit */
};

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

static int open_tables(struct sched *s, struct power *p, const struct watts *kinds, struct err *e)
{
    size_t n = MAX(s->pool->n_kinds, 1), jobs = s->work->n_jobs + 1;
    struct watts *copy = arena_alloc(&s->arena, n * sizeof(*copy));

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

int power_open(struct sched *s, const struct watts *kinds, struct err *e)
{
    const struct policy_power *policy = &s->policy.power;
    struct power *p;
    int rc;

    if (policy->cap_mw == 0)
        return 0;
    if (policy->action == POWER_LIMIT && s->work->n_speeds > 0)
        return err_set(e, -EINVAL, "%s: action = limit is for jobs as fast on all kinds",
                       s->policy.name);
    p = arena_alloc(&s->arena, sizeof(*p));
    if (!p)
        return err_nomem(e);
    rc = open_tables(s, p, kinds, e);
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
    s->power = p;
    return 1;
}

int64_t power_now_mw(const struct sched *s)
{
    return s->power ? s->power->now_mw : 0;
}

uint64_t power_limited(const struct sched *s)
{
    return s->power ? s->power->limited : 0;
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
        const struct watts *w = &s->power->kinds[s->pool->nodes[x->node].kind];

        sum += adds(w, share) * __builtin_popcount(x->devices) * x->milli / WORK_WHOLE;
        if (x->devices)
            *speed = fmin(*speed, step_at(w, share).speed);
    }
    return sum;
}

static bool is_below(const struct sched *s)
{
    const struct power *p = s->power;

    return p->now_mw + p->fit_mw <= s->policy.power.cap_mw && p->fit_mw <= p->spare_mw;
}

static bool accepts(struct sched *s, uint32_t job)
{
    bool limits = s->policy.power.action == POWER_LIMIT;
    struct power *p = s->power;
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

int64_t power_least_mw(const struct sched *s, uint32_t job)
{
    uint64_t kinds = s->work->jobs[job].kinds;
    int64_t most = 0;

    for (size_t k = 0; s->power && k < MAX(s->pool->n_kinds, 1); k++)
        if (!kinds || kinds >> k & 1)
            most = MAX(most, adds(&s->power->kinds[k], lower_end(s)));
    return most * needs(s, job) / WORK_WHOLE;
}

int64_t power_drawn_mw(const struct sched *s, uint32_t job)
{
    return s->power ? s->power->drawn[job] : 0;
}

int64_t power_left_mw(const struct sched *s)
{
    return s->power ? s->policy.power.cap_mw - s->power->now_mw : 0;
}

int64_t power_fit_mw(const struct sched *s)
{
    return s->power ? s->power->fit_mw : 0;
}

void power_spare(struct sched *s, int64_t spare_mw)
{
    if (s->power)
        s->power->spare_mw = spare_mw;
}

int64_t power_longest_ms(const struct sched *s, int64_t length_ms)
{
    if (!s->power || length_ms == WORK_UNKNOWN)
        return length_ms;
    return (int64_t)ceil((double)length_ms / s->power->slowest);
}

int64_t power_shortest_ms(const struct sched *s, int64_t length_ms)
{
    return s->power ? (int64_t)((double)length_ms * s->power->slowest) : length_ms;
}

/* ---- what waits and runs ---- */

static void waits(struct sched *s, uint32_t job, int sign)
{
    s->power->waiting += sign * needs(s, job);
    s->power->told[job] = 0;
}

static void queued(struct sched *s, uint32_t job, int64_t now_ms)
{
    (void)now_ms;
    waits(s, job, 1);
}

static void unqueued(struct sched *s, uint32_t job)
{
    waits(s, job, -1);
}

static void scale(struct sched_job *j, double by)
{
    if (j->left_ms != WORK_UNKNOWN)
        j->left_ms = (int64_t)ceil((double)j->left_ms * by);
    j->owed_ms = (int64_t)ceil((double)j->owed_ms * by);
}

static void starts(struct sched *s, uint32_t job, int64_t now_ms, struct action *a)
{
    struct power *p = s->power;
    struct sched_job *j = &s->jobs[job];

    (void)now_ms, (void)a;
    p->drawn[job] = p->fit_mw;
    p->now_mw += p->fit_mw;
    if (s->policy.power.action != POWER_LIMIT)
        return;
    p->limited += p->fit_speed < 1;
    j->speed = (float)p->fit_speed;
    scale(j, 1 / (double)j->speed);
}

static void stops(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct power *p = s->power;

    (void)now_ms;
    p->now_mw -= p->drawn[job];
    p->drawn[job] = 0;
    if (s->policy.power.action == POWER_LIMIT)
        scale(&s->jobs[job], (double)s->jobs[job].speed);
}

static void lifts(struct sched *s, uint32_t job, bool up)
{
    s->power->now_mw += up ? -s->power->drawn[job] : s->power->drawn[job];
}

/* ---- passes ---- */

/* What the devices that could start now would add at a limit, at the mean of all kinds. */
static double all_add(const struct sched *s, double share)
{
    double free = (double)MIN(s->power->waiting, s->capacity.milli) / WORK_WHOLE, sum = 0;

    for (size_t k = 0; k < MAX(s->pool->n_kinds, 1); k++)
        sum += (double)(adds(&s->power->kinds[k], share) * s->power->devices[k]);
    return sum / (double)MAX(s->pool->devices, 1) * free;
}

/* The highest limit at which all that waits, as far as there are devices, would stay below the
 * cap: what starts first does not take the power of what starts last. */
static int begin(struct sched *s, int64_t now_ms)
{
    struct power *p = s->power;

    (void)now_ms;
    p->shortage = WAITING_NONE;
    p->share = 1;
    if (s->policy.power.action != POWER_LIMIT)
        return 0;
    while (p->share > lowest &&
           (double)p->now_mw + all_add(s, p->share) > (double)s->policy.power.cap_mw)
        p->share -= stride;
    return 0;
}

/* Tell who waits for power alone. */
static int finish(struct sched *s, int64_t now_ms)
{
    struct power *p = s->power;
    struct action hold = { .job = p->shortage,
                           .kind = ACTION_HOLD,
                           .why = WHY_POWER,
                           .other = WAITING_NONE,
                           .until_ms = p->short_mw };

    (void)now_ms;
    if (p->shortage == WAITING_NONE || s->jobs[p->shortage].state != SCHED_WAITING ||
        p->told[p->shortage])
        return 0;
    p->told[p->shortage] = 1;
    return state_note(s, &hold);
}

/* ---- sentences ---- */

static void add_kw(struct str *out, int64_t mw)
{
    str_addf(out, "%s kW", quantity_number((double)mw / 1e6, 4).text);
}

static bool reason(const struct sched *s, const struct action *a, int64_t now_ms, struct str *out)
{
    (void)now_ms;
    if (a->why != WHY_POWER)
        return false;
    add_kw(out, a->until_ms);
    str_add(out, " of ");
    add_kw(out, s->policy.power.cap_mw);
    str_add(out, ": ");
    add_kw(out, s->power->now_mw);
    str_add(out, " are drawn, and ");
    reason_devices(s, &s->work->jobs[a->job], s->work->jobs[a->job].devices, out);
    str_add(out, " more would lift that above the cap");
    return true;
}

static void remark(const struct sched *s, const struct action *a, int64_t now_ms, struct str *out)
{
    double speed = (double)s->jobs[a->job].speed;

    (void)now_ms;
    if (a->kind == ACTION_START && s->policy.power.action == POWER_LIMIT && speed < 1)
        str_addf(out, "; at a lower limit of power, at %.1f %% of its speed", speed * 100);
}

const struct feature feature_power = {
    .section = "power",
    .take = power_take,
    .check = power_check,
    .from_start = true,
    .queued = queued,
    .unqueued = unqueued,
    .starts = starts,
    .stops = stops,
    .accepts = accepts,
    .lifts = lifts,
    .begin = begin,
    .finish = finish,
    .reason = reason,
    .remark = remark,
};
