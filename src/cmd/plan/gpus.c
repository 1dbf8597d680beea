/* brim plan gpus: the GPUs that are known by name, and what they can do. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "cmd/plan/known.h"

enum { OUTPUT_MAX = 4 << 20, FIGURE = 16 };

/* A figure in a unit of its own; "?" for one that no source confirms. */
static const char *figure(double value, double unit, char buf[FIGURE])
{
    if (isnan(value))
        return "?";
    snprintf(buf, FIGURE, "%.4g", value / unit);
    return buf;
}

static double best_16(const struct gpu *g)
{
    return isnan(g->flops[PLAN_BF16]) ? g->flops[PLAN_FP16] : g->flops[PLAN_BF16];
}

/* Timed, in operations or in whole steps. */
static bool is_measured(const struct gpu *g)
{
    return g->rates >= RATES_OPERATIONS;
}

static const char *figures(const struct gpu *g)
{
    return g->rates == RATES_LIKE ? "nominal" : plan_rates_name(g->rates);
}

/* ---- text ---- */

static void add_head(struct str *out)
{
    str_addf(out, "%-24s %-6s %7s %7s %6s %6s %5s %6s %6s %5s  %s\n", "GPU", "vendor", "16 bits",
             "FP8", "memory", "usable", "GB/s", "links", "joined", "W", "figures");
    str_addf(out, "%-24s %-6s %7s %7s %6s %6s %5s %6s %6s\n", "", "", "TFLOP/s", "TFLOP/s", "GB",
             "GB", "", "GB/s", "GPUs");
}

static void add_row(struct str *out, const struct gpu_row *r)
{
    const struct gpu *g = &r->gpu;
    char b[7][FIGURE], joined[FIGURE] = "-";

    if (g->domain > 1)
        snprintf(joined, sizeof(joined), "%d", g->domain);
    str_addf(out, "%-24s %-6s %7s %7s %6s %6s %5s %6s %6s %5s  %s\n", g->name, r->vendor,
             figure(best_16(g), 1e12, b[0]), figure(g->flops[PLAN_FP8], 1e12, b[1]),
             figure(r->sold_b, 1e9, b[2]), figure(r->usable_b, 1e9, b[6]),
             figure(g->memory_rate, 1e9, b[3]),
             g->domain > 1 ? figure(g->link_rate, 1e9, b[4]) : "-", joined,
             figure(g->tdp_w, 1, b[5]), figures(g));
}

/* notes: what is to be known of a row beside its figures, of the few that were asked for. */
static void add_text(struct str *out, const struct gpu_row *rows, size_t n, bool notes)
{
    add_head(out);
    for (size_t i = 0; i < n; i++)
        add_row(out, &rows[i]);
    for (size_t i = 0; notes && i < n; i++) {
        str_addf(out, "  %s: figures from %s in data/gpus.csv", rows[i].gpu.name, rows[i].source);
        str_addf(out, "%s%s\n", *rows[i].notes ? "; " : "", rows[i].notes);
        if (*rows[i].fitted)
            str_addf(out, "  %s: rates from %s\n", rows[i].gpu.name, rows[i].fitted);
    }
}

/* ---- JSON ---- */

static void json_row(struct json *j, const struct gpu_row *r)
{
    const struct gpu *g = &r->gpu;

    json_object(j, NULL);
    json_string(j, "name", g->name);
    json_string(j, "vendor", r->vendor);
    json_object(j, "flops");
    for (int p = 0; p < PLAN_PRECISIONS; p++) {
        if (p == PLAN_FP8_ROWS || p == PLAN_FP8_BLOCKS) /* the peak is that of fp8 */
            continue;
        json_number(j, plan_precision_name((enum plan_precision)p), g->flops[p], 6);
    }
    json_end(j);
    json_number(j, "memory_b", r->sold_b, 6);
    json_number(j, "usable_b", r->usable_b, 6);
    json_number(j, "memory_b_s", g->memory_rate, 6);
    json_number(j, "link_b_s", g->link_rate, 6);
    json_int(j, "link_gpus", g->domain);
    json_number(j, "pcie_b_s", r->pcie_rate, 6);
    json_number(j, "tdp_w", g->tdp_w, 6);
    json_bool(j, "measured", is_measured(g));
    json_string(j, "rates", g->rates == RATES_LIKE ? NULL : plan_rates_name(g->rates));
    json_string(j, "rates_from", *r->fitted ? r->fitted : NULL);
    json_string(j, "source", r->source);
    json_string(j, "notes", *r->notes ? r->notes : NULL);
    json_string(j, "node", r->node);
    if (r->node) {
        json_int(j, "node_gpus", r->node_gpus);
        json_int(j, "node_nics", r->node_nics);
        json_number(j, "node_nic_b_s", r->node_nic_rate, 6);
    }
    json_end(j);
}

/* ---- the command ---- */

/* What was named, or all. */
static int collect(const struct gpus *known, char **names, struct arena *a, struct gpu_row **ret,
                   size_t *n, struct err *e)
{
    for (size_t i = 0; !names[0] && i < known->n_rows; i++) {
        struct gpu_row *row = ARENA_PUSH(a, ret, n);

        if (!row)
            return err_nomem(e);
        *row = known->rows[i];
    }
    for (; names[0]; names++) {
        const struct gpu_row *found = NULL;
        struct gpu_row *row = ARENA_PUSH(a, ret, n);
        int rc = row ? err_usage_of(gpus_find(known, *names, &found, e)) : err_nomem(e);

        if (rc)
            return rc;
        if (found)
            *row = *found;
    }
    return 0;
}

static void add_json(struct str *out, const struct gpu_row *rows, size_t n)
{
    struct json j = JSON_INIT(out);

    json_object(&j, NULL);
    json_string(&j, "schema", "brim.plan.gpus.v1");
    json_array(&j, "gpus");
    for (size_t i = 0; i < n; i++)
        json_row(&j, &rows[i]);
    json_end(&j);
    json_end(&j);
}

static int run(const struct app *app, const struct plan_opts *o, char **operands, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct plan_known known = { .models = { .n_rows = 0 } };
    struct gpu_row *rows = NULL;
    size_t n = 0;
    int rc = plan_known_load(o, &known, e);

    (void)app;
    if (rc == 0)
        rc = collect(&known.gpus, operands, &a, &rows, &n, e);
    if (rc == 0 && o->json) {
        add_json(&out, rows, n);
    } else if (rc == 0) {
        add_text(&out, rows, n, operands[0] != NULL);
    }
    plan_known_done(&known);
    return rc ? rc : cmd_print(&out, o->json, e);
}

const struct plan_command plan_gpus = {
    .name = "gpus",
    .args = "[GPU...]",
    .summary = "which GPUs are known, and what they can do",
    .run = run,
};
