#include "plan/cluster/gpus.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plan/shape/table.h"

static const char table_name[] = "gpus.csv";

static const char *const precisions[PLAN_PRECISIONS] = {
    [PLAN_FP16] = "fp16",
    [PLAN_BF16] = "bf16",
    [PLAN_FP8] = "fp8",
    [PLAN_FP8_ROWS] = "fp8_rows",
    [PLAN_FP8_BLOCKS] = "fp8_blocks",
    [PLAN_MXFP8] = "mxfp8",
    [PLAN_NVFP4] = "nvfp4",
};

const char *plan_precision_name(enum plan_precision p)
{
    return precisions[p];
}

static const char *const rates[] = {
    [RATES_LIKE] = "like",
    [RATES_KERNELS] = "kernels",
    [RATES_OPERATIONS] = "operations",
    [RATES_RUNS] = "runs",
};

const char *plan_rates_name(enum plan_rates r)
{
    return rates[r];
}

/* A column for each precision: prefix and suffix around its name. */
static int read_precisions(const struct table_row *row, const char *prefix, const char *suffix,
                           double unit, double ret[PLAN_PRECISIONS], struct err *e)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < PLAN_PRECISIONS; i++) {
        char column[32];

        snprintf(column, sizeof(column), "%s%s%s", prefix, precisions[i], suffix);
        rc = table_number(row, column, unit, &ret[i], e);
    }
    return rc;
}

static int read_fitted(const struct table_row *row, struct gpu *g, struct err *e)
{
    int rc = read_precisions(row, "gemm_best_", "", 1, g->gemm_best, e);

    if (rc == 0)
        rc = read_precisions(row, "gemm_k0_", "", 1, g->gemm_k0, e);
    if (rc == 0)
        rc = read_precisions(row, "gemm_sustained_", "", 1, g->gemm_sustained, e);
    if (rc == 0)
        rc = table_number(row, "gemm_t0_us", 1e-6, &g->gemm_t0_s, e);
    if (rc == 0)
        rc = table_number(row, "memory_best", 1, &g->memory_best, e);
    if (rc == 0)
        rc = table_number(row, "attention_best", 1, &g->attention_best, e);
    if (rc == 0)
        rc = table_number(row, "attention_first", 1, &g->attention_first, e);
    if (rc == 0)
        rc = table_number(row, "attention_back", 1, &g->attention_back, e);
    if (rc == 0)
        rc = table_number(row, "attention_third", 1, &g->attention_third, e);
    if (rc == 0)
        rc = table_number(row, "attention_half", 1, &g->attention_half, e);
    if (rc == 0)
        rc = table_number(row, "launch_us", 1e-6, &g->launch_s, e);
    if (rc == 0)
        rc = table_number(row, "link_best", 1, &g->link_best, e);
    if (rc == 0)
        rc = table_number(row, "link_few", 1, &g->link_few, e);
    if (rc == 0)
        rc = table_number(row, "link_fill_us", 1e-6, &g->link_fill_s, e);
    if (rc == 0)
        rc = table_number(row, "spread", 1, &g->spread, e);
    return rc;
}

static int read_rates(const struct table_row *row, enum plan_rates *ret, struct err *e)
{
    const char *text = table_text(row, "rates");

    for (size_t i = RATES_KERNELS; i < ARRAY_SIZE(rates); i++)
        if (strcmp(text, rates[i]) == 0) {
            *ret = (enum plan_rates)i;
            return 0;
        }
    if (*text)
        return err_set(e, -EINVAL, "%s:%d: rates are from runs, operations or kernels, not '%.40s'",
                       row->file, row->csv.line, text);
    *ret = RATES_RUNS;
    return 0;
}

static int read_figures(const struct table_row *row, struct gpu_row *r, struct err *e)
{
    struct gpu *g = &r->gpu;
    int rc = read_precisions(row, "", "_tflops", 1e12, g->flops, e);

    /* The same units multiply them: other scales make the products slower, not the peak. */
    g->flops[PLAN_FP8_ROWS] = g->flops[PLAN_FP8_BLOCKS] = g->flops[PLAN_FP8];
    if (rc == 0)
        rc = table_number(row, "memory_gb", 1e9, &r->sold_b, e);
    if (rc == 0)
        rc = table_number(row, "usable_gib", 1 << 30, &r->usable_b, e);
    g->memory_b = isnan(r->usable_b) ? r->sold_b : r->usable_b;
    if (rc == 0)
        rc = table_number(row, "memory_gbs", 1e9, &g->memory_rate, e);
    if (rc == 0)
        rc = table_number(row, "link_gbs", 1e9, &g->link_rate, e);
    if (rc == 0)
        rc = table_whole(row, "link_gpus", &g->domain, e);
    if (rc == 0)
        rc = table_whole(row, "sms", &g->sms, e);
    if (rc == 0)
        rc = table_number(row, "tdp_w", 1, &g->tdp_w, e);
    if (rc == 0)
        rc = table_number(row, "pcie_gbs", 1e9, &r->pcie_rate, e);
    return rc;
}

static int read_node(struct gpus *g, const struct table_row *row, struct gpu_row *r, struct err *e)
{
    const char *node = table_text(row, "node");
    int rc = table_whole(row, "node_gpus", &r->node_gpus, e);

    if (rc == 0)
        rc = table_whole(row, "node_nics", &r->node_nics, e);
    if (rc == 0) /* Gbit/s to bytes */
        rc = table_number(row, "node_nic_gbps", 1e9 / 8, &r->node_nic_rate, e);
    if (rc < 0 || !*node)
        return rc;
    if (!r->node_gpus || !r->node_nics || !(r->node_nic_rate > 0))
        return err_set(e, -EINVAL, "%s:%d: a node needs node_gpus, node_nics and node_nic_gbps",
                       row->file, row->csv.line);
    r->node = arena_strdup(&g->arena, node);
    return r->node ? 0 : err_nomem(e);
}

static int read_names(struct gpus *g, const struct table_row *row, struct gpu *gpu, struct err *e)
{
    const char *name = table_text(row, "name");
    int rc = 0;

    if (!*name || strlen(name) >= sizeof(gpu->name) || strchr(name, ' '))
        return err_set(e, -EINVAL,
                       "%s:%d: a GPU needs a name, of 47 letters at most, without blanks",
                       row->file, row->csv.line);
    snprintf(gpu->name, sizeof(gpu->name), "%s", name);
    rc = names_add(&g->names, &g->arena, name, g->n_rows - 1);
    if (rc == 0)
        rc = names_add(&g->names, &g->arena, table_text(row, "aliases"), g->n_rows - 1);
    if (rc == -EEXIST)
        return err_set(e, -EINVAL, "%s:%d: %s has a name that another GPU has", row->file,
                       row->csv.line, name);
    return rc < 0 ? err_nomem(e) : 0;
}

/* Every figure absent. */
static void set_absent(struct gpu_row *r)
{
    struct gpu *g = &r->gpu;

    for (int i = 0; i < PLAN_PRECISIONS; i++)
        g->flops[i] = g->gemm_best[i] = g->gemm_k0[i] = g->gemm_sustained[i] = (double)NAN;
    g->memory_b = g->memory_rate = g->link_rate = g->tdp_w = (double)NAN;
    g->gemm_t0_s = g->memory_best = g->launch_s = (double)NAN;
    g->attention_best = g->attention_first = g->attention_half = (double)NAN;
    g->attention_back = g->attention_third = (double)NAN;
    g->link_best = g->link_few = g->link_fill_s = (double)NAN;
    g->spread = (double)NAN;
    g->domain = 1;
    r->sold_b = r->usable_b = r->pcie_rate = r->node_nic_rate = (double)NAN;
}

static int add_row(void *ctx, const struct table_row *row, struct err *e)
{
    struct gpus *g = ctx;
    struct gpu_row *r = ARENA_PUSH(&g->arena, &g->rows, &g->n_rows);
    int rc;

    if (!r)
        return err_nomem(e);
    set_absent(r);
    r->vendor = arena_strdup(&g->arena, table_text(row, "vendor"));
    r->source = arena_strdup(&g->arena, table_text(row, "source"));
    r->notes = arena_strdup(&g->arena, table_text(row, "notes"));
    r->fitted = "";
    if (!r->vendor || !r->source || !r->notes)
        return err_nomem(e);
    rc = read_names(g, row, &r->gpu, e);
    if (rc == 0)
        rc = read_figures(row, r, e);
    if (rc == 0)
        rc = read_node(g, row, r, e);
    if (rc == 0)
        rc = read_fitted(row, &r->gpu, e);
    r->gpu.domain = MAX(r->gpu.domain, 1);
    return rc;
}

int gpus_load(struct gpus *ret, const char *text, size_t len, struct err *e)
{
    struct gpus g = { .n_rows = 0 };
    int rc = table_read(table_name, text, len, add_row, &g, e);

    if (rc < 0) {
        gpus_done(&g);
        return rc;
    }
    *ret = g;
    return 0;
}

void gpus_done(struct gpus *g)
{
    arena_done(&g->arena);
    *g = (struct gpus){ .n_rows = 0 };
}

struct fitting {
    struct gpus *g;
    size_t rows;
};

static int fit_row(void *ctx, const struct table_row *row, struct err *e)
{
    struct fitting *f = ctx;
    struct gpus *g = f->g;
    const char *name = table_text(row, "name");
    char near[NAMES_NEAR];
    struct gpu_row *r;
    size_t i;
    int rc;

    f->rows++;
    if (!*name)
        return err_set(e, -EINVAL, "%s:%d: no GPU is named: fitted figures have a column 'name'",
                       row->file, row->csv.line);
    if (!names_find(&g->names, name, &i))
        return err_set(e, -EINVAL, "%s:%d: unknown GPU '%.60s'%s", row->file, row->csv.line, name,
                       names_near(&g->names, name, near));
    r = &g->rows[i];
    r->fitted = arena_strdup(&g->arena, table_text(row, "rows"));
    if (!r->fitted)
        return err_nomem(e);
    rc = read_fitted(row, &r->gpu, e);
    return rc < 0 ? rc : read_rates(row, &r->gpu.rates, e);
}

int gpus_fit(struct gpus *g, const char *file, const char *text, size_t len, struct err *e)
{
    struct fitting f = { .g = g };
    int rc = table_read(file, text, len, fit_row, &f, e);

    if (rc == 0 && f.rows == 0)
        return err_set(e, -EINVAL,
                       "%s: there is no row of a GPU in it: see data/plan_constants.csv", file);
    return rc;
}

int gpus_find(const struct gpus *g, const char *name, const struct gpu_row **ret, struct err *e)
{
    char near[NAMES_NEAR];
    const char *hint;
    size_t i;

    if (!names_find(&g->names, name, &i)) {
        hint = names_near(&g->names, name, near);
        return err_set(e, -EINVAL, "unknown GPU '%.60s'%s", name,
                       *hint ? hint : " (brim plan gpus lists them)");
    }
    *ret = &g->rows[i];
    return 0;
}
