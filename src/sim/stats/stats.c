#include "sim/stats/stats.h"

#include <errno.h>
#include <math.h>

#include "model/signal/sorted.h"

enum { SIZES = 4 };
static const char *const sizes[SIZES] = { "1", "2-7", "8", ">8" };

void sim_stats_done(struct sim_stats *s)
{
    arena_done(&s->arena);
}

static double mean(const double *values, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

/* ---- groupings ---- */

typedef size_t group_fn(const struct workload *work, size_t job);

static size_t by_devices(const struct workload *work, size_t job)
{
    const struct work *w = &work->jobs[job];

    return w->devices <= 1 ? 0 : w->devices < 8 ? 1 : w->devices == 8 ? 2 : 3;
}

static size_t by_class(const struct workload *work, size_t job)
{
    return (size_t)(work->jobs[job].class + 1);
}

static size_t by_user(const struct workload *work, size_t job)
{
    return (size_t)(work->jobs[job].user + 1);
}

static size_t by_team(const struct workload *work, size_t job)
{
    return (size_t)(work->jobs[job].team + 1);
}

static size_t all_one(const struct workload *work, size_t job)
{
    (void)work;
    (void)job;
    return 0;
}

struct grouping {
    group_fn *of;
    size_t n;
    const struct work_names *names; /* of group 1 on, 0 is "-"; NULL: those of sizes */
};

/* ---- values ---- */

/* The jobs that ended, those of a group side by side. */
struct values {
    double *completion, *wait;
    size_t *first; /* of each group, and behind the last */
};

static double slowdown(const struct sim_job *j, const struct work *w)
{
    double length = MAX((double)w->length_ms / 1e3, (double)SIM_SHORT_S);

    return MAX((double)(j->end_ms - w->submit_ms) / 1e3 / length, 1.0);
}

/* A job with a deadline, which ended or not. */
static void count_due(struct sim_group *g, const struct sim_job *j, const struct work *w)
{
    double late_s = (double)MAX(j->end_ms - work_deadline(w), 0) / 1e3;

    g->due++;
    if (j->fate != SIM_ENDED)
        return;
    g->met += j->end_ms <= work_deadline(w);
    g->tardiness += late_s;
    g->tardiness_max = MAX(g->tardiness_max, late_s);
    g->due_ended++;
}

static void summarise(struct sim_group *g, double *completion, double *wait, size_t n)
{
    g->jobs = n;
    g->tardiness = g->due_ended ? g->tardiness / (double)g->due_ended : 0;
    if (n == 0)
        return;
    g->slowdown /= (double)n;
    sorted_put(completion, n);
    sorted_put(wait, n);
    g->completion = mean(completion, n);
    g->completion_p50 = sorted_quantile(completion, n, 0.5);
    g->completion_p90 = sorted_quantile(completion, n, 0.9);
    g->completion_p99 = sorted_quantile(completion, n, 0.99);
    g->wait = mean(wait, n);
    g->wait_p50 = sorted_quantile(wait, n, 0.5);
    g->wait_p90 = sorted_quantile(wait, n, 0.9);
    g->wait_p99 = sorted_quantile(wait, n, 0.99);
    g->wait_max = wait[n - 1];
}

/* Sort jobs into their groups, and sum up what is summed. */
static void collect(struct values *v, struct sim_group *groups, const struct grouping *by,
                    const struct sim_result *r, const struct workload *work)
{
    for (size_t i = 0; i < work->n_jobs; i++)
        if (r->jobs[i].fate == SIM_ENDED)
            v->first[by->of(work, i) + 2]++;
    for (size_t g = 1; g <= by->n; g++)
        v->first[g + 1] += v->first[g];
    for (size_t i = 0; i < work->n_jobs; i++) {
        const struct sim_job *j = &r->jobs[i];
        const struct work *w = &work->jobs[i];
        size_t g = by->of(work, i), at;

        groups[g].device_hours += (double)j->ran_ms / 3600e3 * w->devices * w->milli / WORK_WHOLE +
                                  (double)j->more_ms / 3600e3;
        if (work_deadline(w) != WORK_UNKNOWN)
            count_due(&groups[g], j, w);
        if (j->fate != SIM_ENDED)
            continue;
        at = v->first[g + 1]++;
        v->completion[at] = (double)(j->end_ms - w->submit_ms) / 1e3;
        v->wait[at] = (double)j->wait_ms / 1e3;
        groups[g].slowdown += slowdown(j, w);
    }
}

static const char *name_of(const struct grouping *by, size_t i)
{
    if (!by->names)
        return sizes[i];
    return i ? by->names->names[i - 1] : "-";
}

/* The groups that have jobs. */
static int break_down(struct sim_breakdown *ret, struct arena *a, const struct grouping *by,
                      const struct sim_result *r, const struct workload *work)
{
    CLEANUP(freep) double *completion = calloc(work->n_jobs + 1, sizeof(*completion));
    CLEANUP(freep) double *wait = calloc(work->n_jobs + 1, sizeof(*wait));
    CLEANUP(freep) size_t *first = calloc(by->n + 2, sizeof(*first));
    struct sim_group *groups = arena_alloc(a, by->n * sizeof(*groups));
    struct values v = { completion, wait, first };

    if (!completion || !wait || !first || !groups)
        return -ENOMEM;
    collect(&v, groups, by, r, work);
    ret->groups = groups;
    ret->n = 0;
    for (size_t i = 0; i < by->n; i++) {
        struct sim_group g = groups[i];

        summarise(&g, completion + first[i], wait + first[i], first[i + 1] - first[i]);
        g.name = name_of(by, i);
        if (g.jobs)
            groups[ret->n++] = g;
    }
    return 0;
}

/* ---- the whole ---- */

static double share(double used, const struct pool *pool, int64_t ms)
{
    return ms > 0 ? used / ((double)pool->devices * (double)ms) : (double)NAN;
}

/* Jain, Chiu, Hawe: A Quantitative Measure of Fairness and Discrimination, 1984. */
static double jain(double sum, double squares, size_t n)
{
    return n ? sum * sum / ((double)n * squares) : (double)NAN;
}

static void find_fairness(struct sim_stats *s, const struct sim_result *r,
                          const struct workload *work)
{
    const struct sim_breakdown *of = s->users.n > 1   ? &s->users
                                     : s->teams.n > 1 ? &s->teams
                                                      : &s->main;
    double sum = 0, squares = 0;
    size_t n = 0;

    s->fairness_of = of == &s->users ? "users" : of == &s->teams ? "teams" : "classes";
    if (of == &s->main && (work->classes.n < 2 || of->n < 2)) {
        s->fairness_of = "jobs";
        for (size_t i = 0; i < work->n_jobs; i++)
            if (r->jobs[i].fate == SIM_ENDED) {
                double x = slowdown(&r->jobs[i], &work->jobs[i]);

                sum += x;
                squares += x * x;
                n++;
            }
    } else {
        for (n = 0; n < of->n; n++) {
            sum += of->groups[n].slowdown;
            squares += of->groups[n].slowdown * of->groups[n].slowdown;
        }
    }
    s->fairness = jain(sum, squares, n);
}

static double find_fragmented(const struct sim_result *r)
{
    double whole = 0, partly = 0;

    for (size_t i = 0; i < r->n_samples; i++) {
        whole += r->samples[i].free;
        partly += r->samples[i].partly;
    }
    return whole > 0 ? partly / whole : (double)NAN;
}

static int make(struct sim_stats *s, const struct sim_result *r, const struct workload *work)
{
    bool classes = work->classes.n > 1;
    const struct grouping one = { all_one, 1, NULL };
    const struct grouping main = { classes ? by_class : by_devices,
                                   classes ? work->classes.n + 1 : SIZES,
                                   classes ? &work->classes : NULL };
    const struct grouping users = { by_user, work->users.n + 1, &work->users };
    const struct grouping teams = { by_team, work->teams.n + 1, &work->teams };
    struct sim_breakdown all;
    int rc = break_down(&all, &s->arena, &one, r, work);

    if (rc == 0 && all.n)
        s->all = all.groups[0];
    s->all.name = "all";
    s->main.by = classes ? "class" : "devices";
    s->users.by = "user";
    s->teams.by = "team";
    if (rc == 0)
        rc = break_down(&s->main, &s->arena, &main, r, work);
    if (rc == 0 && work->users.n)
        rc = break_down(&s->users, &s->arena, &users, r, work);
    if (rc == 0 && work->teams.n)
        rc = break_down(&s->teams, &s->arena, &teams, r, work);
    return rc;
}

int sim_stats_make(struct sim_stats *ret, const struct sim_result *r, const struct pool *pool,
                   const struct workload *work, struct err *e)
{
    struct sim_stats s = { .fairness = 0 };

    if (make(&s, r, work) < 0) {
        sim_stats_done(&s);
        return err_nomem(e);
    }
    find_fairness(&s, r, work);
    s.fragmented = find_fragmented(r);
    s.allocated = share(r->used, pool, r->counted_ms);
    s.allocated_all = share(r->used_all, pool, r->end_ms);
    s.busy = r->measured ? share(r->busy, pool, r->counted_ms) : (double)NAN;
    s.busy_all = r->measured ? share(r->busy_all, pool, r->end_ms) : (double)NAN;
    for (size_t i = 0; i < work->n_jobs; i++)
        s.away += (double)r->jobs[i].away_ms / 1e3 / (double)work->n_jobs;
    *ret = s;
    return 0;
}
