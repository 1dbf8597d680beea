/* How it went by accounting, how well a simulation of Slurm repeats that, and what other policies
 * would have changed: text and JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/sim/show.h"
#include "render/text.h"

enum { NAMED = 3 }; /* who gains, or loses, the most */
static const double least_s = 1, hour_ms = 3600e3;

/* ---- what was read ---- */

static void add_count(size_t n, const char *one, const char *many, bool *any, struct str *out)
{
    if (n == 0)
        return;
    str_addf(out, "%s%zu %s", *any ? "; " : "", n, n == 1 ? one : many);
    *any = true;
}

static void add_nodes(const struct sim_accounts *a, struct str *out)
{
    if (a->cluster.away)
        str_addf(out, "%zu node%s down or drained, and no job was there: left out\n",
                 a->cluster.away, a->cluster.away == 1 ? " is" : "s are");
    if (a->cluster.large)
        str_addf(out, "%zu node%s more than %d GPUs: left out\n", a->cluster.large,
                 a->cluster.large == 1 ? " has" : "s have", POOL_DEVICES);
}

void sim_show_accounts(const struct sim_report *r, struct str *out)
{
    const struct sim_accounts *a = r->accounts;
    bool any = false;

    if (!a)
        return;
    add_nodes(a, out);
    add_count(a->past.before, "ran when that began: it counts from then on",
              "ran when that began: they count from then on", &any, out);
    add_count(a->past.running, "still runs: it counts as far as it has run",
              "still run: they count as far as they have run", &any, out);
    add_count(a->past.waiting, "waits: left out", "wait: left out", &any, out);
    add_count(a->past.never, "was cancelled before it started: left out",
              "were cancelled before they started: left out", &any, out);
    if (any)
        str_add_char(out, '\n');
    if (a->only)
        str_addf(out,
                 "all are jobs of %s: where slurmdbd.conf has PrivateData=jobs, Slurm shows "
                 "those of others to operators alone\n",
                 a->only);
}

/* ---- shares ---- */

static double idle_hours(const struct sim_report *r, const struct sim_run *run)
{
    return ((double)r->pool->devices * (double)run->result.counted_ms - run->result.used) / hour_ms;
}

/* What a policy is a change of. */
static const struct sim_run *base_of(const struct sim_report *r, const struct sim_run *run)
{
    return r->n_bases > 1 && run->policy.backfill == BACKFILL_EASY ? &r->runs[1] : &r->runs[0];
}

static double wait_of(const struct sim_run *run)
{
    return run->stats.all.wait;
}

/* " (7 % less)"; nothing where there was none before. */
static void add_ratio(double was, double is, struct str *out)
{
    if (was > 0 && lround(fabs(is / was - 1) * 100) == 0)
        str_add(out, " (the same)");
    else if (was > 0)
        str_addf(out, " (%.0f %% %s)", fabs(is / was - 1) * 100, is > was ? "more" : "less");
}

static void add_share(double share, struct str *out)
{
    if (isnan(share))
        str_add(out, "?");
    else
        str_addf(out, "%.1f %%", share * 100);
}

/* ---- who gains, who loses ---- */

struct change {
    const char *name;
    size_t jobs;
    double was, is; /* seconds that a job waits */
};

static const struct sim_group *find(const struct sim_breakdown *b, const char *name, size_t at)
{
    if (at < b->n && !strcmp(b->groups[at].name, name))
        return &b->groups[at];
    for (size_t i = 0; i < b->n; i++)
        if (!strcmp(b->groups[i].name, name))
            return &b->groups[i];
    return NULL;
}

/* How much all its jobs together wait longer. */
static double sum_of(const struct change *c)
{
    return (c->is - c->was) * (double)c->jobs;
}

/* Put it among those that gain (sign -1) or lose (1) the most. */
static void keep(struct change best[NAMED], size_t *n, const struct change *c, int sign)
{
    size_t at = *n;

    while (at > 0 && sign * sum_of(&best[at - 1]) < sign * sum_of(c))
        at--;
    if (at == NAMED)
        return;
    *n = MIN(*n + 1, (size_t)NAMED);
    memmove(&best[at + 1], &best[at], (*n - at - 1) * sizeof(*best));
    best[at] = *c;
}

static size_t most_changed(struct change best[NAMED], const struct sim_breakdown *before,
                           const struct sim_breakdown *after, int sign)
{
    size_t n = 0;

    for (size_t i = 0; i < before->n; i++) {
        const struct sim_group *was = &before->groups[i], *is = find(after, was->name, i);
        struct change c = { was->name, was->jobs, was->wait, is ? is->wait : 0 };

        if (is && sign * (c.is - c.was) >= least_s)
            keep(best, &n, &c, sign);
    }
    return n;
}

/* Who they are: what was asked for, else accounts where there are several, else users, else
 * partitions; NULL. */
static const struct sim_breakdown *groups_of(const struct sim_report *r, const struct sim_run *run,
                                             const char **word)
{
    const struct sim_stats *s = &run->stats;
    bool teams = r->by ? !strcmp(r->by, "team") : s->teams.n > 1;
    bool users = r->by ? !strcmp(r->by, "user") : s->users.n > 1;

    *word = teams ? "account" : users ? "user" : "partition";
    if (teams || users)
        return teams ? &s->teams : &s->users;
    return !strcmp(s->main.by, "class") ? &s->main : NULL;
}

static void add_changed(const struct sim_report *r, const struct sim_run *before,
                        const struct sim_run *after, int sign, struct str *out)
{
    const char *word;
    const struct sim_breakdown *was = groups_of(r, before, &word), *is = groups_of(r, after, &word);
    struct change best[NAMED];
    size_t n = was && is ? most_changed(best, was, is, sign) : 0;

    for (size_t i = 0; i < n; i++) {
        if (i == 0)
            str_addf(out, "  %s: ", sign < 0 ? "gain" : "lose");
        str_addf(out, "%s%s %s (%zu job%s wait%s %s", i ? ", " : "", word, best[i].name,
                 best[i].jobs, str_plural(best[i].jobs), best[i].jobs == 1 ? "s" : "",
                 quantity_span(best[i].is).text);
        str_addf(out, " instead of %s)", quantity_span(best[i].was).text);
    }
    if (n)
        str_add_char(out, '\n');
}

/* ---- text ---- */

static void add_went(const struct sim_report *r, struct str *out)
{
    str_addf(out, "as it went: a job waited %s in the mean, ",
             quantity_span(wait_of(r->went)).text);
    add_share(r->went->stats.allocated, out);
    str_addf(out, " of the devices had jobs, %.0f device-hours had none\n", idle_hours(r, r->went));
}

/* That of the two which stands for Slurm's. */
static const char *backfill_of(const struct sim_run *run)
{
    return run->policy.backfill == BACKFILL_EASY ? "easy" : "conservative";
}

static void add_calibration(const struct sim_report *r, struct str *out)
{
    const struct sim_run *as = &r->runs[0];
    double points = (as->stats.allocated - r->went->stats.allocated) * 100;

    str_addf(out, "Slurm, simulated with %s backfill by limits: %s", backfill_of(as),
             quantity_span(wait_of(as)).text);
    add_ratio(wait_of(r->went), wait_of(as), out);
    str_add(out, " and ");
    add_share(as->stats.allocated, out);
    if (lround(fabs(points) * 10) == 0)
        str_add(out, " (the same)");
    else if (!isnan(points))
        str_addf(out, " (%.1f points %s)", fabs(points), points > 0 ? "more" : "less");
    str_add(out, ": that far is the simulation from how it went\n");
}

/* Whether what changes is less than what the simulation of Slurm is off by. */
static bool is_small(const struct sim_report *r, const struct sim_run *before,
                     const struct sim_run *after)
{
    return fabs(wait_of(after) - wait_of(before)) < fabs(wait_of(&r->runs[0]) - wait_of(r->went));
}

static void add_change(const struct sim_report *r, const struct sim_run *after, struct str *out)
{
    const struct sim_run *before = base_of(r, after);
    double hours = idle_hours(r, before) - idle_hours(r, after);

    str_addf(out, "%s, simulated: a job waits %s", after->policy.name,
             quantity_span(wait_of(after)).text);
    str_addf(out, " instead of %s%s", quantity_span(wait_of(before)).text,
             before == r->runs ? "" : " (slurm-easy)");
    add_ratio(wait_of(before), wait_of(after), out);
    str_add(out, ", ");
    add_share(after->stats.allocated, out);
    str_add(out, " of the devices have jobs instead of ");
    add_share(before->stats.allocated, out);
    str_addf(out, ": %.0f device-hours %s idle", fabs(hours), hours < 0 ? "more" : "fewer");
    if (is_small(r, before, after))
        str_add(out, "; the simulation itself is further off than the waits change");
    str_add_char(out, '\n');
    add_changed(r, before, after, -1, out);
    add_changed(r, before, after, 1, out);
}

void sim_show_changes(const struct sim_report *r, struct str *out)
{
    if (!r->went)
        return;
    add_went(r, out);
    add_calibration(r, out);
    for (size_t i = r->n_bases; i < r->n_runs; i++)
        add_change(r, &r->runs[i], out);
}

/* ---- JSON ---- */

static void json_use(const struct sim_report *r, const struct sim_run *run, struct json *j)
{
    json_round(j, "allocated", run->stats.allocated, 6);
    json_round(j, "idle_device_hours", idle_hours(r, run), 3);
}

static void json_went(const struct sim_report *r, struct json *j)
{
    static const char *const keys[] = { "teams", "users" };
    const struct sim_breakdown *const of[] = { &r->went->stats.teams, &r->went->stats.users };

    json_object(j, "went");
    sim_show_group_json(j, "all", &r->went->stats.all);
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        json_array(j, keys[i]);
        for (size_t k = 0; k < of[i]->n; k++)
            sim_show_group_json(j, NULL, &of[i]->groups[k]);
        json_end(j);
    }
    json_use(r, r->went, j);
    json_end(j);
}

static void json_changed(const struct sim_report *r, const struct sim_run *before,
                         const struct sim_run *after, int sign, struct json *j)
{
    const char *word;
    const struct sim_breakdown *was = groups_of(r, before, &word), *is = groups_of(r, after, &word);
    struct change best[NAMED];
    size_t n = was && is ? most_changed(best, was, is, sign) : 0;

    json_array(j, sign < 0 ? "gain" : "lose");
    for (size_t i = 0; i < n; i++) {
        json_object(j, NULL);
        json_string(j, word, best[i].name);
        json_int(j, "jobs", (int64_t)best[i].jobs);
        json_round(j, "wait_s", best[i].is, 3);
        json_round(j, "wait_before_s", best[i].was, 3);
        json_end(j);
    }
    json_end(j);
}

static void json_change(const struct sim_report *r, const struct sim_run *after, struct json *j)
{
    const struct sim_run *before = base_of(r, after);

    json_object(j, NULL);
    json_string(j, "policy", after->policy.name);
    json_string(j, "instead_of", before->policy.name);
    json_round(j, "wait_s", wait_of(after), 3);
    json_round(j, "wait_before_s", wait_of(before), 3);
    json_bool(j, "less_than_off", is_small(r, before, after));
    json_round(j, "allocated_before", before->stats.allocated, 6);
    json_use(r, after, j);
    json_changed(r, before, after, -1, j);
    json_changed(r, before, after, 1, j);
    json_end(j);
}

/* When it was, as far as it is known. */
static void json_window(const struct past *p, struct json *j)
{
    static const char *const keys[] = { "since", "until" };
    const int64_t at_s[] = { p->from_s, p->until_s };

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        CLEANUP(str_done) struct str text = STR_INIT(64);

        clock_add_iso(&text, at_s[i] * NS_PER_S);
        if (at_s[i])
            json_string(j, keys[i], str_text(&text));
    }
}

void sim_show_changes_json(const struct sim_report *r, struct json *j)
{
    const struct sim_accounts *a = r->accounts;

    if (!r->went)
        return;
    json_object(j, "accounting");
    json_window(&a->past, j);
    json_int(j, "ran_before", (int64_t)a->past.before);
    json_int(j, "still_run", (int64_t)a->past.running);
    json_int(j, "wait", (int64_t)a->past.waiting);
    json_int(j, "never_started", (int64_t)a->past.never);
    if (a->has_cluster)
        json_int(j, "nodes_left_out", (int64_t)(a->cluster.away + a->cluster.large));
    json_went(r, j);
    json_object(j, "slurm_simulated");
    json_string(j, "backfill", backfill_of(&r->runs[0]));
    json_round(j, "wait_s", wait_of(&r->runs[0]), 3);
    json_use(r, &r->runs[0], j);
    json_end(j);
    json_array(j, "changes");
    for (size_t i = r->n_bases; i < r->n_runs; i++)
        json_change(r, &r->runs[i], j);
    json_end(j);
    json_end(j);
}
