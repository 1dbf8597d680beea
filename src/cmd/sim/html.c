#include "cmd/sim/html.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/file.h"
#include "cmd/sim/beside.h"
#include "render/report/sim_page.h"
#include "sim/stats/timeline.h"

enum { GROUP_ROWS = 40, NOTES = 64, RATES = 4 };

/* What goes onto the page, and dies with it. */
struct page {
    const struct sim_report *r;
    struct arena *a;
    struct sim_page page;
    bool due;    /* some job has a deadline */
    bool failed; /* out of memory */
};

PRINTF(2, 3)
static const char *cell(struct page *p, const char *fmt, ...)
{
    char text[400];
    const char *copy;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    copy = arena_strdup(p->a, text);
    p->failed |= !copy;
    return copy ? copy : "";
}

/* Its name, and whether it is told what nobody knows. */
static const char *called(struct page *p, const struct sim_run *r)
{
    return sim_show_is_oracle(r) ? cell(p, "%s (true lengths)", r->policy.name) : r->policy.name;
}

static const char *span(struct page *p, double s)
{
    return cell(p, "%s", quantity_span(s).text);
}

static const char *amount(struct page *p, double n, int decimals)
{
    return isnan(n) ? "not known" : cell(p, "%.*f", decimals, n);
}

static const char *share(struct page *p, double n)
{
    return isnan(n) ? "not known" : cell(p, "%.1f %%", n * 100);
}

/* ---- tables ---- */

/* The last column is for traces with deadlines. */
static const char *const group_head[] = { "",        "jobs",     "completion",   "p90",
                                          "p99",     "wait",     "p90",          "p99",
                                          "longest", "slowdown", "device-hours", "deadlines met" };

static const char *deadlines(struct page *p, const struct sim_group *g)
{
    return g->due ? cell(p, "%zu of %zu", g->met, g->due) : "none";
}

static void group_cells(struct page *p, const struct sim_group *g, const char **out)
{
    *out++ = g->name;
    *out++ = cell(p, "%zu", g->jobs);
    *out++ = span(p, g->completion);
    *out++ = span(p, g->completion_p90);
    *out++ = span(p, g->completion_p99);
    *out++ = span(p, g->wait);
    *out++ = span(p, g->wait_p90);
    *out++ = span(p, g->wait_p99);
    *out++ = span(p, g->wait_max);
    *out++ = cell(p, "%.2f", g->slowdown);
    *out++ = cell(p, "%.0f", g->device_hours);
    if (p->due)
        *out = deadlines(p, g);
}

static void make_groups(struct page *p, const struct sim_breakdown *b, struct sim_page_table *ret)
{
    size_t columns = ARRAY_SIZE(group_head) - !p->due, rows = MIN(b->n, (size_t)GROUP_ROWS);
    const char **cells = arena_alloc(p->a, (rows + 1) * columns * sizeof(*cells));

    p->failed |= !cells;
    if (!cells)
        return;
    for (size_t i = 0; i < rows; i++)
        group_cells(p, &b->groups[i], cells + i * columns);
    ret->caption = cell(p, "By %s%s", b->by,
                        rows < b->n ? cell(p, ": the first %zu of %zu", rows, b->n) : "");
    ret->head = group_head;
    ret->n_columns = columns;
    ret->cells = cells;
    ret->n_rows = rows;
}

enum { ALL_COLUMNS = 22 };

static const char *const all_head[] = { "policy",     "jobs",        "completion",  "p90",
                                        "p99",        "wait",        "p90",         "p99",
                                        "longest",    "slowdown",    "fairness",    "allocated",
                                        "fragmented", "preemptions", "thrown back", "done again",
                                        "kWh",        "dollars idle" };

static void all_cells(struct page *p, const struct sim_run *r, const char **out)
{
    struct sim_group g = r->stats.all;

    g.name = called(p, r);
    group_cells(p, &g, out); /* its last cells are written over */
    out += 10;
    *out++ = amount(p, r->stats.fairness, 3);
    *out++ = share(p, r->stats.allocated);
    *out++ = share(p, r->stats.fragmented);
    *out++ = cell(p, "%llu", (unsigned long long)r->result.preemptions);
    *out++ = cell(p, "%llu", (unsigned long long)r->result.losses.jobs);
    *out++ = cell(p, "%.0f h", r->result.losses.redone / 3600e3);
    *out++ = amount(p, r->money.kwh, 0);
    *out++ = amount(p, r->money.usd_idle, 0);
    if (sim_show_any_elastic(p->r->runs, p->r->n_runs))
        *out++ = cell(p, "%llu",
                      (unsigned long long)r->result.resizes.to_more + r->result.resizes.to_fewer);
    if (p->due) {
        *out++ = deadlines(p, &g);
        *out++ = span(p, g.tardiness);
    }
    if (sim_show_any_data(p->r->runs, p->r->n_runs))
        *out = cell(p, "%llu of %llu", (unsigned long long)r->result.data.away,
                    (unsigned long long)r->result.data.starts);
}

/* What some pages have besides. */
static size_t all_columns(struct page *p, const char **head)
{
    size_t n = ARRAY_SIZE(all_head);

    memcpy(head, all_head, sizeof(all_head));
    if (sim_show_any_elastic(p->r->runs, p->r->n_runs))
        head[n++] = "resized";
    if (p->due) {
        head[n++] = "deadlines met";
        head[n++] = "tardiness";
    }
    if (sim_show_any_data(p->r->runs, p->r->n_runs))
        head[n++] = "starts away from data";
    return n;
}

static void make_all(struct page *p)
{
    const char **head = arena_alloc(p->a, ALL_COLUMNS * sizeof(*head));
    const char **cells = arena_alloc(p->a, p->r->n_runs * ALL_COLUMNS * sizeof(*cells));
    size_t columns;

    p->failed |= !cells || !head;
    if (!cells || !head)
        return;
    columns = all_columns(p, head);
    for (size_t i = 0; i < p->r->n_runs; i++)
        all_cells(p, &p->r->runs[i], cells + i * columns);
    p->page.all = (struct sim_page_table){
        .caption = cell(p, "%zu policies on the same jobs", p->r->n_runs),
        .head = head,
        .cells = cells,
        .n_columns = columns,
        .n_rows = p->r->n_runs,
    };
}

/* ---- bars ---- */

static void make_row(struct page *p, size_t i, size_t columns, struct sim_page_bar_row *ret)
{
    const char **values = arena_alloc(p->a, columns * sizeof(*values));
    double *shares = arena_alloc(p->a, columns * sizeof(*shares));
    struct sim_beside b;

    p->failed |= !values || !shares;
    if (!values || !shares)
        return;
    sim_beside_row(p->r, i, &b);
    for (size_t k = 0; k < columns; k++) {
        shares[k] = b.shares[k];
        values[k] = isnan(b.shares[k]) ? "not known" : cell(p, "%s", b.values[k].text);
    }
    *ret = (struct sim_page_bar_row){
        .name = b.then ? cell(p, "with %s", p->r->what_if) : called(p, b.run),
        .oracle = sim_show_is_oracle(b.run),
        .then = b.then,
        .shares = shares,
        .values = values,
    };
}

static void make_bars(struct page *p)
{
    size_t n = sim_beside_rows(p->r), columns = sim_beside_columns(p->r);
    struct sim_page_bar_row *rows = arena_alloc(p->a, n * sizeof(*rows));
    const char **head = arena_alloc(p->a, columns * sizeof(*head));

    p->failed |= !rows || !head;
    if (!rows || !head)
        return;
    for (size_t i = 0; i < columns; i++)
        head[i] = sim_beside_head(i);
    for (size_t i = 0; i < n; i++)
        make_row(p, i, columns, &rows[i]);
    p->page.bars = (struct sim_page_bars){
        .head = head,
        .n_columns = columns,
        .rows = rows,
        .n_rows = n,
        .then = p->r->then ? cell(p, "with %s", p->r->what_if) : NULL,
    };
}

/* ---- texts ---- */

/* One note for each line of a text, as far as there is room. */
static void add_lines(struct page *p, const struct str *text, size_t most, const char **notes,
                      size_t *n)
{
    const char *line = str_text(text);

    p->failed |= str_error(text) != 0;
    for (size_t end = MIN(*n + most, (size_t)NOTES); *n < end && *line;) {
        size_t len = strcspn(line, "\n");

        if (len > 0)
            notes[(*n)++] = cell(p, "%.*s", (int)len, line);
        line += len + (line[len] != 0);
    }
}

/* What comes of it: the sentence of the command, and for one policy how it is. */
static const char *sentence(struct page *p)
{
    const struct sim_run *first = &p->r->runs[0];
    CLEANUP(str_done) struct str best = STR_INIT(4 << 10);

    sim_show_best(p->r->runs, p->r->n_runs, &best);
    p->failed |= str_error(&best) != 0;
    if (best.len > 0)
        return cell(p, "%.*s", (int)strcspn(str_text(&best), "\n"), str_text(&best));
    return cell(
        p, "Under %s a job takes %s from submission to end in the mean, of which it waits %s",
        called(p, first), span(p, first->stats.all.completion), span(p, first->stats.all.wait));
}

/* What engines and other nodes make of it. */
static void add_answers(struct page *p, const char **notes, size_t *n)
{
    CLEANUP(str_done) struct str text = STR_INIT(64 << 10);

    sim_show_engine(p->r, &text);
    if (p->r->then)
        str_addf(&text, "With %s there are %zu nodes with %lld devices:\n", p->r->what_if,
                 p->r->then_pool->n_nodes, (long long)p->r->then_pool->devices);
    for (size_t i = 0; p->r->then && i < p->r->n_runs; i++)
        sim_show_change(&p->r->runs[i], &p->r->then[i], &text);
    sim_show_needs_lines(p->r, &text);
    add_lines(p, &text, NOTES / 2, notes, n);
}

static void make_texts(struct page *p)
{
    const struct sim_run *first = &p->r->runs[0];
    const char **notes = arena_alloc(p->a, NOTES * sizeof(*notes));
    CLEANUP(str_done) struct str about = STR_INIT(64 << 10);
    size_t n = 0;

    p->failed |= !notes;
    if (!notes)
        return;
    p->page.title = cell(p, "%s", file_input_name(p->r->trace));
    p->page.sentence = sentence(p);
    add_answers(p, notes, &n);
    notes[n++] = cell(p, "%zu job%s (%s) on %zu node%s with %lld device%s: %.60s",
                      p->r->work->n_jobs, str_plural(p->r->work->n_jobs), p->r->notes->kind,
                      p->r->pool->n_nodes, str_plural(p->r->pool->n_nodes),
                      (long long)p->r->pool->devices, str_plural(p->r->pool->devices), p->r->nodes);
    if (p->r->notes->bad)
        notes[n++] = cell(p, "%zu row%s of the trace left out", p->r->notes->bad,
                          str_plural(p->r->notes->bad));
    if (first->result.impossible)
        notes[n++] = cell(p, "%zu job%s left out: more is needed than there is",
                          first->result.impossible, str_plural(first->result.impossible));
    if (p->r->failing && *p->r->failing->about)
        notes[n++] = cell(p, "%s", p->r->failing->about);
    device_prices_about(p->r->rates, &about);
    add_lines(p, &about, RATES, notes, &n);
    p->page.about = cell(p,
                         "Completion is from submission to end, wait the time without devices, "
                         "slowdown completion by length; fairness is Jain's index of the slowdowns "
                         "of %s; allocated, fragmented, energy and money count up to the last "
                         "submission.%s",
                         p->r->runs[0].stats.fairness_of,
                         p->due ? " A job that ended by its deadline has met it; tardiness is the "
                                  "mean time after deadlines, 0 in time."
                                : "");
    p->page.notes = notes;
    p->page.n_notes = n;
}

/* ---- pictures ---- */

static int find_end(const struct sim_report *r, int64_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < r->n_runs; i++) {
        int64_t end;

        if (timeline_end(&end, &r->runs[i].result, r->work) < 0)
            return -ENOMEM;
        *ret = MAX(*ret, end);
    }
    return 0;
}

static void make_policy(struct page *p, const struct timeline_groups *g, const struct sim_run *r,
                        int64_t end_ms, struct sim_page_policy *ret)
{
    struct timeline *t = arena_alloc(p->a, sizeof(*t));
    const double **groups = arena_alloc(p->a, TIMELINE_GROUPS * sizeof(*groups));
    const struct sim_stats *s = &r->stats;

    p->failed |= !t || !groups;
    if (!t || !groups)
        return;
    timeline_make(t, &r->result, p->r->work, g, end_ms);
    for (size_t i = 0; i < TIMELINE_GROUPS; i++)
        groups[i] = t->group[i];
    *ret = (struct sim_page_policy){ called(p, r), t->used, t->waiting, groups, { NULL } };
    make_groups(p, s->teams.n > 1 ? &s->teams : s->users.n > 1 ? &s->users : &s->main, &ret->by);
}

static int make_policies(struct page *p, struct timeline_groups *g, struct err *e)
{
    struct sim_page_policy *policies = arena_alloc(p->a, p->r->n_runs * sizeof(*policies));
    int64_t end_ms;

    if (timeline_groups_make(g, p->r->work, e) < 0 || !policies || find_end(p->r, &end_ms) < 0)
        return err_nomem(e);
    for (size_t i = 0; i < p->r->n_runs; i++)
        make_policy(p, g, &p->r->runs[i], end_ms, &policies[i]);
    p->page.policies = policies;
    p->page.n = p->r->n_runs;
    p->page.groups_by = g->by;
    p->page.group_names = g->names;
    p->page.n_groups = g->n;
    p->page.columns = TIMELINE_COLUMNS;
    p->page.seconds = (double)end_ms / 1e3;
    p->page.devices = (double)p->r->pool->devices;
    return 0;
}

int sim_html(const struct sim_report *r, struct str *out, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct page p = { .r = r, .a = &a, .due = sim_show_any_due(r->runs, r->n_runs) };
    struct timeline_groups g = { .n = 0 };
    int rc;

    make_texts(&p);
    make_bars(&p);
    make_all(&p);
    rc = make_policies(&p, &g, e);
    if (rc == 0 && p.failed)
        rc = err_nomem(e);
    if (rc == 0)
        sim_page_html(&p.page, out);
    timeline_groups_done(&g);
    return rc;
}
