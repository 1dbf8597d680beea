/* brim plan eval: predictions against tables of measured runs. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "cmd/plan/known.h"
#include "cmd/plan/understood.h"
#include "plan/measured/prediction_error.h"
#include "plan/measured/rows.h"
#include "plan/model/step.h"

enum { FILE_MAX = 64 << 20, OUTPUT_MAX = 64 << 20, REASONS = 32 };

struct predicted {
    struct plan_step step;
    struct memory memory;
    double fastest_s, slowest_s; /* of the settings that could have been used */
};

struct table {
    const char *path;
    struct arena arena;
    struct plan_row *rows;
    struct predicted *predicted;
    size_t n, modelled;
    struct prediction_error time, memory;
    struct prediction_error nearer, middle; /* of time, from ranges; all rows count */
    size_t ranges, inside;                  /* rows with a range, and those measured inside */
    size_t out, out_seen; /* rows that ran out of memory, and those predicted to */
    size_t ran, ran_out;  /* rows that ran, and those predicted not to fit */
};

static void table_done(struct table *t)
{
    arena_done(&t->arena);
}

static void price(const struct plan_row *r, const struct layout *l, struct plan_step *step,
                  struct memory *memory)
{
    struct plan_tables tables;

    plan_tables_make(&r->job, &r->cluster, l, &tables);
    plan_step_make(&r->job, &r->cluster, l, &tables, step);
    memory_make(&r->job, l, &tables.bytes, memory);
}

static void predict(const struct plan_row *r, struct predicted *p)
{
    struct plan_step step;
    struct memory memory;

    price(r, &r->layout, &p->step, &p->memory);
    price(r, &r->fastest, &step, &memory);
    p->fastest_s = fmin(step.time_s, p->step.time_s);
    price(r, &r->slowest, &step, &memory);
    p->slowest_s = fmax(step.time_s, p->step.time_s);
}

/* The end of the range that is nearer to what was measured. */
static double nearer_end(const struct predicted *p, double measured)
{
    return fabs(p->fastest_s - measured) < fabs(p->slowest_s - measured) ? p->fastest_s
                                                                         : p->slowest_s;
}

static double memory_of(const struct plan_row *r, const struct predicted *p)
{
    if (r->reserved)
        return p->memory.tensors + p->memory.gaps;
    return r->peak_only ? p->memory.tensors : p->memory.total;
}

static bool is_fit(const struct plan_row *r, const struct predicted *p)
{
    return p->memory.total <= r->cluster.gpu.memory_b;
}

static void judge_fit(struct table *t, const struct plan_row *r, const struct predicted *p)
{
    bool fits = is_fit(r, p);

    t->out += r->out;
    t->out_seen += r->out && !fits;
    t->ran += !r->out;
    t->ran_out += !r->out && !fits;
}

/* What a table's rows are judged by. */
struct pairs {
    struct prediction_pair *time, *nearer, *middle, *memory;
    size_t n_time, n_memory;
};

static int pairs_make(struct arena *a, size_t n, struct pairs *ret)
{
    struct prediction_pair *all = arena_alloc(a, 4 * n * sizeof(*all));

    if (!all)
        return -ENOMEM;
    *ret = (struct pairs){ all, all + n, all + 2 * n, all + 3 * n, 0, 0 };
    return 0;
}

static void judge_row(struct table *t, const struct plan_row *r, const struct predicted *p,
                      struct pairs *to)
{
    judge_fit(t, r, p);
    if (r->time_s > 0) {
        size_t i = to->n_time++;

        to->time[i] = (struct prediction_pair){ r->sweep, r->time_s, p->step.time_s };
        to->nearer[i] = (struct prediction_pair){ 0, r->time_s, nearer_end(p, r->time_s) };
        to->middle[i] = (struct prediction_pair){ 0, r->time_s, (p->fastest_s + p->slowest_s) / 2 };
        if (p->slowest_s > p->fastest_s) {
            t->ranges++;
            t->inside += r->time_s >= p->fastest_s && r->time_s <= p->slowest_s;
        }
    }
    if (r->memory_b > 0)
        to->memory[to->n_memory++] = (struct prediction_pair){ 0, r->memory_b, memory_of(r, p) };
}

static int judge(struct table *t, struct err *e)
{
    struct pairs pairs;

    t->predicted = arena_alloc(&t->arena, t->n * sizeof(*t->predicted));
    if (!t->predicted || pairs_make(&t->arena, t->n, &pairs) < 0)
        return err_nomem(e);
    for (size_t i = 0; i < t->n; i++) {
        if (t->rows[i].reason[0])
            continue;
        t->modelled++;
        predict(&t->rows[i], &t->predicted[i]);
        judge_row(t, &t->rows[i], &t->predicted[i], &pairs);
    }
    t->time = prediction_error_make(pairs.time, pairs.n_time);
    t->nearer = prediction_error_make(pairs.nearer, pairs.n_time);
    t->middle = prediction_error_make(pairs.middle, pairs.n_time);
    t->memory = prediction_error_make(pairs.memory, pairs.n_memory);
    return 0;
}

/* ---- text ---- */

static void add_score(struct str *out, const char *what, const struct prediction_error *s)
{
    if (s->n)
        str_addf(
            out,
            "  %-7s %4zu rows   error: mean %.2f %%, median %.2f %%, max %.1f %%, bias %+.2f %%\n",
            what, s->n, 100 * s->mean, 100 * s->median, 100 * s->max, 100 * s->bias);
}

/* Reasons with how often each was given, in the order of their first row. */
static void add_reasons(struct str *out, const struct table *t)
{
    const char *seen[REASONS];
    size_t count[REASONS] = { 0 }, n = 0, j;

    for (size_t i = 0; i < t->n; i++) {
        if (!t->rows[i].reason[0])
            continue;
        for (j = 0; j < n && strcmp(seen[j], t->rows[i].reason) != 0;)
            j++;
        if (j == REASONS)
            continue;
        if (j == n)
            seen[n++] = t->rows[i].reason;
        count[j]++;
    }
    for (size_t i = 0; i < n; i++)
        str_addf(out, "  left out %4zu rows   %s\n", count[i], seen[i]);
}

static void add_row(struct str *out, const struct plan_row *r, const struct predicted *p)
{
    const struct layout *l = &r->layout;

    str_addf(out,
             "  line %d: %s, %d x %s, tp %d pp %d vpp %d cp %d ep %d dp %d, micro-batch %d of %d: ",
             r->line, r->name, layout_gpus(l), r->cluster.gpu.name, l->tp, l->pp, l->vpp, l->cp,
             l->ep, l->dp, l->micro_batch, r->job.global_batch);
    if (r->time_s > 0)
        str_addf(out, "%.4g s, measured %.4g s (%+.1f %%)", p->step.time_s, r->time_s,
                 100 * (p->step.time_s / r->time_s - 1));
    if (r->time_s > 0 && p->slowest_s > p->fastest_s)
        str_addf(out, ", could be %.4g to %.4g s", p->fastest_s, p->slowest_s);
    if (r->memory_b > 0)
        str_addf(out, "  %.1f GB, measured %.1f GB", memory_of(r, p) / 1e9, r->memory_b / 1e9);
    if (r->out)
        str_addf(out, "  %.1f GB of %.1f GB, ran out of memory", p->memory.total / 1e9,
                 r->cluster.gpu.memory_b / 1e9);
    str_add_char(out, '\n');
}

static void add_text(struct str *out, const struct table *t, const struct plan_opts *o)
{
    str_addf(out, "%s: %zu of %zu rows\n", t->path, t->modelled, t->n);
    for (size_t i = 0; o->rows && i < t->n; i++)
        if (!t->rows[i].reason[0])
            add_row(out, &t->rows[i], &t->predicted[i]);
    add_score(out, "time", &t->time);
    if (t->ranges)
        str_addf(
            out,
            "  range   %4zu rows   error of all %zu: from the nearer end mean %.2f %%, from the "
            "middle mean %.2f %%; %zu measured inside\n",
            t->ranges, t->time.n, 100 * t->nearer.mean, 100 * t->middle.mean, t->inside);
    if (t->time.sweeps)
        str_addf(
            out,
            "  ranking %4zu sweeps error: regret mean %.2f %%, worst %.1f %%, Kendall tau %.2f\n",
            t->time.sweeps, 100 * t->time.regret, 100 * t->time.worst_regret, t->time.tau);
    add_score(out, "memory", &t->memory);
    if (t->out)
        str_addf(out, "  out of memory %4zu rows, %zu predicted\n", t->out, t->out_seen);
    if (t->ran_out)
        str_addf(out, "  ran        %4zu rows, %zu predicted not to fit\n", t->ran, t->ran_out);
    add_reasons(out, t);
    understood_add_text(out, t->rows, t->n);
}

/* ---- JSON ---- */

static void json_score(struct json *j, const char *key, const struct prediction_error *s)
{
    json_object(j, key);
    json_int(j, "rows", (int64_t)s->n);
    json_number(j, "mean", s->mean, 5);
    json_number(j, "median", s->median, 5);
    json_number(j, "max", s->max, 5);
    json_number(j, "bias", s->bias, 5);
    json_int(j, "sweeps", (int64_t)s->sweeps);
    json_number(j, "regret", s->regret, 5);
    json_number(j, "worst_regret", s->worst_regret, 5);
    json_number(j, "tau", s->tau, 5);
    json_end(j);
}

static void json_layout(struct json *j, const struct layout *l)
{
    json_object(j, "layout");
    json_int(j, "tp", l->tp);
    json_int(j, "pp", l->pp);
    json_int(j, "vpp", l->vpp);
    json_int(j, "cp", l->cp);
    json_int(j, "ep", l->ep);
    json_int(j, "dp", l->dp);
    json_int(j, "micro_batch", l->micro_batch);
    json_int(j, "zero", l->zero);
    json_end(j);
}

static void json_row(struct json *j, const struct plan_row *r, const struct predicted *p)
{
    char sweep[20];

    json_object(j, NULL);
    json_int(j, "line", r->line);
    json_string(j, "model", r->name);
    if (r->reason[0]) {
        json_string(j, "left_out", r->reason);
        json_end(j);
        return;
    }
    snprintf(sweep, sizeof(sweep), "%016" PRIx64, r->sweep);
    json_string(j, "sweep", sweep);
    json_string(j, "gpu", r->cluster.gpu.name);
    json_layout(j, &r->layout);
    json_number(j, "time_s", p->step.time_s, 6);
    json_number(j, "fastest_s", p->fastest_s, 6);
    json_number(j, "slowest_s", p->slowest_s, 6);
    json_number(j, "measured_s", r->time_s, 6);
    json_number(j, "memory_b", memory_of(r, p), 6);
    json_number(j, "measured_b", r->memory_b, 6);
    json_bool(j, "from_flops", r->from_flops);
    json_bool(j, "out_of_memory", r->out);
    json_bool(j, "fits", is_fit(r, p));
    json_object(j, "parts_s");
    for (int i = 0; i < PARTS; i++)
        json_number(j, step_part_name((enum step_part)i), p->step.part[i], 5);
    json_end(j);
    json_end(j);
}

static void json_table(struct json *j, const struct table *t)
{
    json_object(j, NULL);
    json_string(j, "file", t->path);
    json_int(j, "rows", (int64_t)t->n);
    json_int(j, "modelled", (int64_t)t->modelled);
    json_score(j, "time", &t->time);
    json_score(j, "time_from_nearer_end", &t->nearer);
    json_score(j, "time_from_middle", &t->middle);
    json_score(j, "memory", &t->memory);
    json_object(j, "fit");
    json_int(j, "out_of_memory", (int64_t)t->out);
    json_int(j, "out_of_memory_predicted", (int64_t)t->out_seen);
    json_int(j, "ran", (int64_t)t->ran);
    json_int(j, "ran_predicted_out", (int64_t)t->ran_out);
    json_end(j);
    understood_add_json(j, t->rows, t->n);
    json_array(j, "predictions");
    for (size_t i = 0; i < t->n; i++)
        json_row(j, &t->rows[i], &t->predicted[i]);
    json_end(j);
    json_end(j);
}

/* ---- the command ---- */

static int read_table(const char *path, const struct row_tables *tables, struct table *t,
                      struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(FILE_MAX);
    struct plan_rows rows = { .arena = &t->arena };
    int rc = file_read(path, &text, e);

    t->path = path;
    if (rc < 0)
        return rc;
    rc = rows_read(str_text(&text), text.len, tables, &rows, e);
    t->rows = rows.list;
    t->n = rows.n;
    return rc < 0 ? err_context(e, rc, "%s: ", path) : judge(t, e);
}

static int run(const struct app *app, const struct plan_opts *o, char **operands, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    CLEANUP(plan_known_done) struct plan_known known = { .gpus = { .n_rows = 0 } };
    struct row_tables tables = { &known.gpus, &known.models, (double)o->node_gbps * 1e9 / 8 };
    struct json j = JSON_INIT(&out);
    int rc;

    (void)app;
    if (!operands[0])
        return err_usage(e, "name a table of measured runs: brim plan eval FILE.csv");
    rc = plan_known_load(o, &known, e);
    if (o->json) {
        json_object(&j, NULL);
        json_string(&j, "schema", "brim.plan.eval.v1");
        json_array(&j, "tables");
    }
    for (; rc == 0 && *operands; operands++) {
        CLEANUP(table_done) struct table t = { .n = 0 };

        rc = read_table(*operands, &tables, &t, e);
        if (rc == 0 && o->json)
            json_table(&j, &t);
        else if (rc == 0)
            add_text(&out, &t, o);
    }
    if (rc < 0)
        return rc;
    if (o->json) {
        json_end(&j);
        json_end(&j);
    }
    return cmd_print(&out, o->json, e);
}

const struct plan_command plan_eval = {
    "eval",
    "FILE...",
    "compare predictions with tables of measured runs",
    run,
};
