#include "cmd/sim/show.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "base/file.h"
#include "base/json.h"
#include "model/signal/quantity.h"
#include "render/text.h"

enum { NAME_WIDTH = 17 };

/* ---- text ---- */

static void add_notes(const struct trace_notes *n, struct str *out)
{
    if (n->bad)
        str_addf(out, "%zu row%s left out:\n", n->bad, str_plural(n->bad));
    for (size_t i = 0; i < n->bad && i < TRACE_NOTES; i++)
        str_addf(out, "  %s\n", n->text[i]);
    if (n->bad > TRACE_NOTES)
        str_addf(out, "  and %zu more\n", n->bad - TRACE_NOTES);
    if (n->skipped)
        str_addf(out, "%zu row%s skipped: no job that needs devices\n", n->skipped,
                 str_plural(n->skipped));
}

static void add_group(const struct sim_group *g, struct str *out)
{
    str_addf(out, "%8zu %11s %9s %11s", g->jobs, quantity_span(g->completion).text,
             quantity_span(g->completion_p99).text, quantity_span(g->wait).text);
    str_addf(out, " %9s %9s %9s %9s", quantity_span(g->wait_p50).text,
             quantity_span(g->wait_p90).text, quantity_span(g->wait_p99).text,
             quantity_span(g->wait_max).text);
}

static void add_header(const char *first, struct str *out)
{
    str_add(out, first);
    str_pad(out, NAME_WIDTH);
    str_add(out, "    jobs  completion       p99        wait       p50       p90       p99"
                 "       max");
}

/* A figure that is not known is a question mark. */
static void add_figure(double figure, int width, int decimals, struct str *out)
{
    if (isnan(figure))
        str_addf(out, " %*s", width, "?");
    else
        str_addf(out, " %*.*f", width, decimals, figure);
}

/* Where all jobs were submitted at once there is no time up to the last submission. */
static void add_share(double share, struct str *out)
{
    add_figure(share * 100, 9, 1, out);
}

static void add_run(const struct sim_run *r, struct str *out)
{
    str_add(out, r->policy.name);
    str_pad(out, NAME_WIDTH);
    add_group(&r->stats.all, out);
    add_share(r->stats.allocated, out);
    if (r->result.measured)
        add_share(r->stats.busy, out);
    str_addf(out, " %9llu", (unsigned long long)r->result.preemptions);
    if (r->policy.idle.reclaim_ms > 0)
        str_addf(out, " %9llu", (unsigned long long)r->result.reclaimed);
    str_add_char(out, '\n');
}

static bool any_reclaims(const struct sim_run *runs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (runs[i].policy.idle.reclaim_ms > 0)
            return true;
    return false;
}

static void add_groups(const struct sim_run *r, const struct sim_breakdown *b, struct str *out)
{
    if (b->n == 0) {
        str_addf(out, "\n%s: the trace names no %s\n", r->policy.name, b->by);
        return;
    }
    str_addf(out, "\n%s, by %s\n", r->policy.name, b->by);
    add_header(b->by, out);
    str_add(out, "  slowdown  device-h");
    if (r->stats.all.due)
        sim_show_due_head(out);
    str_add_char(out, '\n');
    for (size_t i = 0; i < b->n; i++) {
        str_add(out, b->groups[i].name);
        str_pad(out, NAME_WIDTH);
        add_group(&b->groups[i], out);
        str_addf(out, " %9.2f %9.0f", b->groups[i].slowdown, b->groups[i].device_hours);
        if (r->stats.all.due)
            sim_show_due_group(&b->groups[i], out);
        str_add_char(out, '\n');
    }
}

/* Fairness, fragments, energy and money of each policy. */
static void add_figures(const struct sim_run *runs, size_t n, struct str *out)
{
    str_add(out, "\npolicy");
    str_pad(out, NAME_WIDTH);
    str_add(out, "fairness slowdown fragmented%         kWh     dollars   of it idle\n");
    for (size_t i = 0; i < n; i++) {
        const struct sim_run *run = &runs[i];

        str_add(out, run->policy.name);
        str_pad(out, NAME_WIDTH);
        add_figure(run->stats.fairness, 7, 3, out);
        str_addf(out, " %8.2f", run->stats.all.slowdown);
        add_figure(run->stats.fragmented * 100, 11, 1, out);
        add_figure(run->money.kwh, 11, 0, out);
        add_figure(run->money.usd, 11, 0, out);
        add_figure(run->money.usd_idle, 11, 0, out);
        str_add_char(out, '\n');
    }
}

static void add_about(const struct sim_report *r, struct str *out)
{
    str_addf(out, "fairness: Jain's index of the mean slowdowns of %s\n",
             r->runs[0].stats.fairness_of);
    device_prices_about(r->rates, out);
}

/* went: first how it really went; NULL. */
static void add_runs(const struct sim_run *runs, size_t n, const struct sim_run *went,
                     struct str *out)
{
    str_add_char(out, '\n');
    add_header("policy", out);
    str_addf(out, " allocated%%%s preempted%s\n", runs[0].result.measured ? "     busy%" : "",
             any_reclaims(runs, n) ? "   of idle" : "");
    if (went)
        add_run(went, out);
    for (size_t i = 0; i < n; i++)
        add_run(&runs[i], out);
}

/* Over how many leaves gangs lie, where the pool has any. */
static void add_leaves(const struct sim_report *r, struct str *out)
{
    bool any = false;

    for (size_t i = 0; i < r->n_runs; i++) {
        const struct sim_leaves *l = &r->runs[i].result.leaves;

        if (l->gangs == 0)
            continue;
        if (!any) {
            str_add(out, "\npolicy");
            str_pad(out, NAME_WIDTH);
            str_add(out, "starts on several nodes  on several leaves%  leaves of each\n");
        }
        any = true;
        str_add(out, r->runs[i].policy.name);
        str_pad(out, NAME_WIDTH);
        str_addf(out, "%23llu %19.1f %15.2f\n", (unsigned long long)l->gangs,
                 100.0 * (double)l->apart / (double)l->gangs, (double)l->leaves / (double)l->gangs);
    }
}

static const struct sim_breakdown *broken_down(const struct sim_stats *s, const char *by)
{
    if (by && !strcmp(by, "user"))
        return &s->users;
    return by && !strcmp(by, "team") ? &s->teams : &s->main;
}

static double device_hours(double ms)
{
    return ms / 3600e3;
}

/* What failures took of each policy. */
static void add_losses(const struct sim_report *r, struct str *out)
{
    if (!r->failing)
        return;
    str_addf(out, "\n%s%s in device-hours\n",
             *r->failing->about ? r->failing->about : "without failures", ";");
    str_add(out, "policy");
    str_pad(out, NAME_WIDTH);
    str_add(out, "failures jobs lost   done again  restarts    saving  not there  never end\n");
    for (size_t i = 0; i < r->n_runs; i++) {
        const struct sim_losses *l = &r->runs[i].result.losses;

        str_add(out, r->runs[i].policy.name);
        str_pad(out, NAME_WIDTH);
        str_addf(out, "%8llu %9llu %12.1f %9.1f %9.1f %10.1f %10zu\n",
                 (unsigned long long)l->failures, (unsigned long long)l->jobs,
                 device_hours(l->redone), device_hours(l->restarts), device_hours(l->saving),
                 device_hours(l->out), l->endless);
    }
}

static void add_packed(const struct sim_report *r, struct str *out)
{
    str_add(out, "\npolicy");
    str_pad(out, NAME_WIDTH);
    str_addf(out, " allocated%% when 100%% is asked for  %8llu%% turned away%%\n",
             (unsigned long long)r->load);
    for (size_t i = 0; i < r->n_runs; i++) {
        const struct fill_test_result *p = &r->runs[i].pack;

        str_add(out, r->runs[i].policy.name);
        str_pad(out, NAME_WIDTH);
        add_figure(p->at_full * 100, 33, 2, out);
        add_figure(p->at_end * 100, 9, 2, out);
        add_figure(p->turned_away * 100, 13, 2, out);
        str_add_char(out, '\n');
    }
}

/* Jobs for which the pool is too small, and the names of the first. */
static void add_impossible(const struct sim_report *r, struct str *out)
{
    const struct sim_result *x = &r->runs[0].result;
    size_t named = 0;

    if (x->impossible == 0)
        return;
    str_addf(out, "%zu job%s more than there is and %s left out: ", x->impossible,
             x->impossible == 1 ? " needs" : "s need", x->impossible == 1 ? "was" : "were");
    for (size_t i = 0; named < MIN(x->impossible, (size_t)TRACE_NOTES); i++)
        if (x->jobs[i].fate == SIM_IMPOSSIBLE)
            str_addf(out, "%s%s", named++ ? ", " : "", r->work->jobs[i].name);
    str_add(out, x->impossible > named ? ", ...\n" : "\n");
}

static void add_pool(const struct pool *p, struct str *out)
{
    str_addf(out, "%zu node%s with %lld devices", p->n_nodes, str_plural(p->n_nodes),
             (long long)p->devices);
}

/* The same runs with other nodes. */
static void add_then(const struct sim_report *r, struct str *out)
{
    if (!r->then)
        return;
    str_addf(out, "\nwith %s: ", r->what_if);
    add_pool(r->then_pool, out);
    str_add(out, "; before ");
    add_pool(r->pool, out);
    str_add_char(out, '\n');
    for (size_t i = 0; i < r->n_runs; i++)
        sim_show_change(&r->runs[i], &r->then[i], out);
    add_runs(r->then, r->n_runs, NULL, out);
    sim_show_due(r->then, r->n_runs, out);
    add_figures(r->then, r->n_runs, out);
}

void sim_show_text(const struct sim_report *r, struct str *out)
{
    str_addf(out, "%s (%s): ", file_input_name(r->trace), r->notes->kind);
    text_count(out, r->work->n_jobs, "job");
    str_add(out, " on ");
    text_count(out, r->pool->n_nodes, "node");
    str_add(out, " with ");
    text_count(out, (size_t)r->pool->devices, "device");
    str_add(out, r->nodes_assumed ? " (assumed: --nodes says what there is)\n" : "\n");
    add_notes(r->notes, out);
    sim_show_accounts(r, out);
    if (r->load) {
        sim_show_engine(r, out);
        add_packed(r, out);
        return;
    }
    sim_show_changes(r, out);
    if (!r->went)
        sim_show_best(r->runs, r->n_runs, out);
    sim_show_engine(r, out);
    add_impossible(r, out);
    sim_show_beside(r, out);
    add_runs(r->runs, r->n_runs, r->went, out);
    add_losses(r, out);
    add_leaves(r, out);
    sim_show_tiers(r, out);
    sim_show_elastic(r->runs, r->n_runs, out);
    sim_show_due(r->runs, r->n_runs, out);
    sim_show_data(r->runs, r->n_runs, out);
    add_figures(r->runs, r->n_runs, out);
    add_about(r, out);
    for (size_t i = 0; i < r->n_runs; i++) {
        const struct sim_breakdown *b = broken_down(&r->runs[i].stats, r->by);

        if (b->n > 1 || r->by)
            add_groups(&r->runs[i], b, out);
    }
    add_then(r, out);
    sim_show_needs(r, out);
}

/* ---- JSON ---- */

static void json_packed(const struct sim_report *report, const struct sim_run *r, struct json *j)
{
    json_object(j, NULL);
    json_string(j, "policy", r->policy.name);
    sim_show_engine_json(report, r, j);
    json_round(j, "allocated_at_full", r->pack.at_full, 6);
    json_round(j, "allocated_at_load", r->pack.at_end, 6);
    json_round(j, "turned_away", r->pack.turned_away, 6);
    json_int(j, "jobs", (int64_t)r->pack.jobs);
    json_end(j);
}

static void json_groups(struct json *j, const char *key, const struct sim_breakdown *b)
{
    json_array(j, key);
    for (size_t i = 0; i < b->n; i++)
        sim_show_group_json(j, NULL, &b->groups[i]);
    json_end(j);
}

/* What devices were allocated for, as shares of that. */
static void json_spent(struct json *j, const struct sim_run *r)
{
    static const char *const names[USE_KINDS] = { "busy",   "partly", "idle",  "starts",
                                                  "redone", "saving", "shared" };

    json_object(j, "allocated_for");
    for (size_t i = 0; i < USE_KINDS; i++)
        json_round(j, names[i], r->result.spent[USE_COUNTED][i] / r->result.used, 6);
    json_end(j);
}

static void json_losses(struct json *j, const struct sim_losses *l)
{
    json_object(j, "failures");
    json_int(j, "nodes", (int64_t)l->failures);
    json_int(j, "jobs_thrown_back", (int64_t)l->jobs);
    json_int(j, "jobs_that_never_end", (int64_t)l->endless);
    json_round(j, "done_again_device_hours", device_hours(l->redone), 4);
    json_round(j, "restarts_device_hours", device_hours(l->restarts), 4);
    json_round(j, "saving_device_hours", device_hours(l->saving), 4);
    json_round(j, "out_device_hours", device_hours(l->out), 4);
    json_end(j);
}

static void json_run(const struct sim_report *report, const struct sim_run *r, struct json *j)
{
    json_object(j, NULL);
    json_string(j, "policy", r->policy.name);
    sim_show_engine_json(report, r, j);
    sim_show_group_json(j, "all", &r->stats.all);
    json_string(j, "by", r->stats.main.by);
    json_groups(j, "groups", &r->stats.main);
    json_groups(j, "users", &r->stats.users);
    json_groups(j, "teams", &r->stats.teams);
    json_round(j, "fairness", r->stats.fairness, 6);
    json_string(j, "fairness_of", r->stats.fairness_of);
    json_round(j, "fragmented", r->stats.fragmented, 6);
    json_round(j, "energy_kwh", r->money.kwh, 3);
    json_round(j, "cost_usd", r->money.usd, 2);
    json_round(j, "cost_idle_usd", r->money.usd_idle, 2);
    json_round(j, "cost_done_again_usd", r->money.usd_redone, 2);
    json_round(j, "allocated", r->stats.allocated, 6);
    json_round(j, "allocated_to_end", r->stats.allocated_all, 6);
    if (r->result.measured) {
        json_round(j, "busy", r->stats.busy, 6);
        json_round(j, "busy_of_allocated", r->result.busy / r->result.used, 6);
        json_round(j, "busy_to_end", r->stats.busy_all, 6);
        json_spent(j, r);
        json_round(j, "away_s", r->stats.away, 3);
        json_int(j, "warned", (int64_t)r->result.warned);
        json_int(j, "reclaimed", (int64_t)r->result.reclaimed);
        json_int(j, "joined", (int64_t)r->result.joined);
    }
    json_round(j, "end_s", (double)r->result.end_ms / 1e3, 3);
    json_int(j, "preemptions", (int64_t)r->result.preemptions);
    sim_show_elastic_json(r, j);
    sim_show_data_json(r, j);
    json_int(j, "impossible", (int64_t)r->result.impossible);
    json_int(j, "events", (int64_t)r->result.events);
    json_int(j, "passes", (int64_t)r->result.passes);
    json_int(j, "gang_starts", (int64_t)r->result.leaves.gangs);
    json_int(j, "gang_starts_on_several_leaves", (int64_t)r->result.leaves.apart);
    json_int(j, "gang_leaves", (int64_t)r->result.leaves.leaves);
    sim_show_tiers_json(report, r, j);
    if (report->failing)
        json_losses(j, &r->result.losses);
    json_end(j);
}

static void json_then(const struct sim_report *r, struct json *j)
{
    if (!r->then)
        return;
    json_object(j, "then");
    json_string(j, "what_if", r->what_if);
    json_int(j, "nodes", (int64_t)r->then_pool->n_nodes);
    json_int(j, "devices", r->then_pool->devices);
    json_array(j, "policies");
    for (size_t i = 0; i < r->n_runs; i++)
        json_run(r, &r->then[i], j);
    json_end(j);
    json_end(j);
}

void sim_show_json(const struct sim_report *r, struct str *out)
{
    struct json j = JSON_INIT(out);

    json_object(&j, NULL);
    json_string(&j, "schema", "brim.sim.v1");
    json_object(&j, "trace");
    json_string(&j, "file", r->trace);
    json_string(&j, "kind", r->notes->kind);
    json_int(&j, "jobs", (int64_t)r->work->n_jobs);
    json_int(&j, "bad", (int64_t)r->notes->bad);
    json_int(&j, "skipped", (int64_t)r->notes->skipped);
    json_array(&j, "notes");
    for (size_t i = 0; i < r->notes->bad && i < TRACE_NOTES; i++)
        json_string(&j, NULL, r->notes->text[i]);
    json_end(&j);
    json_end(&j);
    json_int(&j, "nodes", (int64_t)r->pool->n_nodes);
    json_int(&j, "devices", r->pool->devices);
    json_array(&j, "policies");
    for (size_t i = 0; i < r->n_runs; i++)
        if (r->load)
            json_packed(r, &r->runs[i], &j);
        else
            json_run(r, &r->runs[i], &j);
    json_end(&j);
    if (r->load)
        json_int(&j, "load_percent", (int64_t)r->load);
    sim_show_changes_json(r, &j);
    json_then(r, &j);
    sim_show_needs_json(r, &j);
    json_end(&j);
}
