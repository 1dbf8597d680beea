/* The planner's tables, column by column: what each reader makes of a row in which one field says
 * something else, and of rows that do not go together.
 *
 *     t_plan_tables FILE */
#include <string.h>

#include "base/str.h"
#include "golden.h"
#include "plan/cluster/curves.h"
#include "plan/cluster/failures.h"
#include "plan/cluster/gpus.h"
#include "plan/cluster/prices.h"
#include "plan/shape/models.h"
#include "tap.h"

enum { ROOM = 1 << 20, TEXT = 8192, COLUMNS = 64 };

static struct str out = STR_INIT(ROOM);

/* ---- what is read ---- */

static void add_gpu(const struct gpu *g)
{
    str_addf(&out, "%s %g %g %g %d %d %g", g->name, g->memory_b, g->memory_rate, g->link_rate,
             g->domain, g->sms, g->tdp_w);
    for (int p = 0; p < PLAN_PRECISIONS; p++)
        str_addf(&out, " %g/%g/%g/%g", g->flops[p], g->gemm_best[p], g->gemm_k0[p],
                 g->gemm_sustained[p]);
    str_addf(&out, " %g %g %g %g %g %g %g %g %g %g %g", g->gemm_t0_s, g->memory_best,
             g->attention_best, g->attention_first, g->attention_back, g->attention_half,
             g->launch_s, g->link_best, g->link_few, g->link_fill_s, g->spread);
}

static int read_gpus(const char *text, struct err *e)
{
    CLEANUP(gpus_done) struct gpus g = { .n_rows = 0 };
    int rc = gpus_load(&g, text, strlen(text), e);

    for (size_t i = 0; i < g.n_rows; i++) {
        const struct gpu_row *r = &g.rows[i];

        str_addf(&out, " [%s ", r->vendor);
        add_gpu(&r->gpu);
        str_addf(&out, " %g %s %d %d %g]", r->pcie_rate, r->node ? r->node : "-", r->node_gpus,
                 r->node_nics, r->node_nic_rate);
    }
    return rc;
}

static int read_fitted(const char *text, struct err *e)
{
    static const char known[] = "name,aliases,bf16_tflops\nX1,X-1,100\nX2,,200\n";
    CLEANUP(gpus_done) struct gpus g = { .n_rows = 0 };
    int rc = gpus_load(&g, known, strlen(known), e);

    if (rc == 0)
        rc = gpus_fit(&g, "fit.csv", text, strlen(text), e);
    for (size_t i = 0; rc == 0 && i < g.n_rows; i++) {
        str_add(&out, " [");
        add_gpu(&g.rows[i].gpu);
        str_add(&out, "]");
    }
    return rc;
}

static int read_models(const char *text, struct err *e)
{
    CLEANUP(models_done) struct models m = { .n_rows = 0 };
    int rc = models_load(&m, text, strlen(text), e);

    for (size_t i = 0; i < m.n_rows; i++) {
        const struct shape *s = &m.rows[i].shape;

        str_addf(&out, " [%s %g: %d %d %d %d %d %d %d %d %d %d %d %d %d, %d %d %d %d %d %d, ",
                 s->name, m.rows[i].parameters, s->layers, s->hidden, s->heads, s->kv_heads,
                 s->head_dim, s->ffn, s->vocab, s->positions, s->extra_positions, s->norms,
                 s->qk_norms, s->window, s->full_every, (int)s->attention, s->q_rank, s->kv_rank,
                 s->rope_dim, s->nope_dim, s->v_dim);
        str_addf(&out, "%d %d %d %d %d %d %d, %d%d%d%d%d%d%d%d%d%d%d%d%d%d%d, %.0f]", s->experts,
                 s->active, s->expert_ffn, s->shared, s->shared_ffn, s->dense_first,
                 s->expert_every, s->gated, s->tied, s->learned_positions, s->biases, s->qkv_biases,
                 s->out_biases, s->mlp_biases, s->head_bias, s->norm_biases, s->embedding_norm,
                 s->dropout, s->parallel, s->sinks, s->shared_gate, s->router_biases,
                 shape_count(s).total);
    }
    return rc;
}

static int read_failures(const char *text, struct err *e)
{
    CLEANUP(failures_done) struct failures f = { .n_rows = 0 };
    int rc = failures_load(&f, text, strlen(text), e);

    for (size_t i = 0; i < f.n_rows; i++)
        str_addf(&out, " [%s %s %d %g '%s' '%s']", f.rows[i].name, f.rows[i].gpu,
                 f.rows[i].node_gpus, f.rows[i].node_mtbf_s, f.rows[i].source, f.rows[i].notes);
    return rc;
}

static int read_prices(const char *text, struct err *e)
{
    CLEANUP(prices_done) struct prices p = { .n_rows = 0 };
    int rc = prices_load(&p, text, strlen(text), e);

    for (size_t i = 0; i < p.n_rows; i++)
        str_addf(&out, " [%s %g %s %s %g%s]", p.rows[i].name, p.rows[i].usd_per_hour,
                 p.rows[i].source, p.rows[i].date, p.rows[i].idle_w,
                 prices_find(&p, p.rows[i].name) == &p.rows[i] ? "" : " not found");
    return rc;
}

static int read_curves(const char *text, struct err *e)
{
    static const char *const names[] = { "X1", "x2", "X3" };
    CLEANUP(curves_done) struct curves c = { .n_rows = 0 };
    int rc = curves_load(&c, text, strlen(text), e);

    for (size_t i = 0; i < c.n_rows; i++)
        str_addf(&out, " [%s %g %g]", c.rows[i].name, c.rows[i].limit_w, c.rows[i].speed);
    for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(names); i++) {
        size_t n = 0;
        const struct curve_row *r = curves_find(&c, names[i], &n);

        str_addf(&out, " %s from %d, %zu", names[i], r ? (int)(r - c.rows) : -1, n);
    }
    return rc;
}

/* ---- one field after the other ---- */

static const struct table {
    const char *name;
    int (*read)(const char *text, struct err *e);
    const char *header, *row, *next; /* next: another row, below it */
} tables[] = {
    { "gpus", read_gpus,
      "name,aliases,vendor,fp16_tflops,bf16_tflops,fp8_tflops,mxfp8_tflops,nvfp4_tflops,memory_gb,"
      "usable_gib,"
      "memory_gbs,link_gbs,link_gpus,sms,tdp_w,pcie_gbs,node,node_gpus,node_nics,node_nic_gbps",
      "X1,X-1,Maker,10,20,30,40,50,80,79,3000,450,8,132,700,63,Box,8,4,400", "X2,x-two" },
    { "fitted", read_fitted,
      "name,gemm_best_fp16,gemm_best_bf16,gemm_best_fp8,gemm_best_mxfp8,gemm_best_nvfp4,gemm_k0_"
      "fp16,gemm_k0_bf16,gemm_k0_fp8,gemm_k0_mxfp8,gemm_k0_nvfp4,gemm_sustained_fp16,gemm_"
      "sustained_bf16,gemm_sustained_fp8,gemm_sustained_mxfp8,gemm_sustained_nvfp4,gemm_t0_us,"
      "memory_best,attention_best,attention_first,attention_back,attention_half,launch_us,link_"
      "best,link_few,link_fill_us,spread",
      "X1,.1,.2,.3,.4,.5,1,2,3,4,5,.11,.12,.13,.14,.15,6,.7,.8,.9,.91,92,93,.94,.95,96", "X2" },
    { "models", read_models,
      "name,aliases,layers,hidden,heads,kv_heads,head_dim,ffn,vocab,positions,extra_positions,"
      "norms,qk_norms,window,full_every,q_rank,kv_rank,rope_dim,nope_dim,v_dim,experts,active,"
      "expert_ffn,shared,shared_ffn,dense_first,expert_every,traits,parameters",
      "X1,X-1,4,64,8,2,8,128,1000,512,2,2,16,64,2,24,16,4,8,8,8,2,32,1,32,1,1,gated tied,1000",
      "X2,x-two,2,64,4,,,256,100,,,,,,,,,,,,,,,,,,,," },
    { "failures", read_failures,
      "name,aliases,gpu,node_gpus,gpus,days,failures,per_1000_node_days,source,notes",
      "X1,X-1,H100,8,1024,50,100,,src,a note", "X2,x-two,A100,4,,,,6.5,," },
    { "prices", read_prices, "name,usd_per_hour,source,date,idle_w,idle_source",
      "X1,2.5,lambda,2026-01-01,50,x", "X2,,,,," },
    { "curves", read_curves, "name,limit_w,speed,source", "X1,300,1,s", "X1,200,0.9,s" },
};

static const char *const values[] = {
    "",  "0",     "1",          "3",          "0.5", "2.5", "-1",
    "x", "1e999", "2147483647", "2147483648", "X2",  "a b", "X-1"
};

static void ask(const struct table *t, const char *what, const char *text)
{
    struct err e = { "" };
    int rc;

    str_addf(&out, "%s:", what);
    rc = t->read(text, &e);
    str_addf(&out, " %d%s%s\n", rc, *e.text ? " " : "", e.text);
}

static void add_fields(const struct table *t)
{
    char header[TEXT], text[TEXT], what[160], *columns[COLUMNS], *fields[COLUMNS], row[TEXT];
    char *rest = header, *word;
    size_t n = 0, k = 0;

    snprintf(header, sizeof(header), "%s", t->header);
    snprintf(row, sizeof(row), "%s", t->row);
    while ((word = strsep(&rest, ",")) && n < COLUMNS)
        columns[n++] = word;
    for (rest = row; (word = strsep(&rest, ",")) && k < n;)
        fields[k++] = word;
    for (size_t c = 0; c < n; c++)
        for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
            int len = snprintf(text, sizeof(text), "%s\n", t->header);

            for (size_t i = 0; i < n; i++)
                len += snprintf(text + len, sizeof(text) - (size_t)len, "%s%c",
                                i == c  ? values[v]
                                : i < k ? fields[i]
                                        : "",
                                i + 1 < n ? ',' : '\n');
            snprintf(text + len, sizeof(text) - (size_t)len, "%s\n", t->next);
            snprintf(what, sizeof(what), "%s %s=%s", t->name, columns[c], values[v]);
            ask(t, what, text);
        }
}

/* A table whose rows are these. */
static void add_rows(const struct table *t)
{
    static const char *const traits[] = {
        "learned_positions", "biases",  "qkv_biases", "out_biases",  "mlp_biases",
        "head_bias",         "dropout", "parallel",   "sinks",       "shared_gate",
        "router_biases",     "gated",   "tied",       "norm_biases", "embedding_norm"
    };
    static const char *const shapes[] = { "4,64,8,3",        "4,64,6,2",     "4,63,8,2",
                                          "0,64,8,2",        "10000,64,8,2", "10001,64,8,2",
                                          "4,64,0",          "4,64,8,2,16",  "1,1048576,8,2",
                                          "4,2000000000,8,2" };
    static const size_t lengths[] = { 46, 47, 48, 94, 95, 96 };
    char text[TEXT], name[128];

    snprintf(text, sizeof(text), "%s\n%s\n%s\n", t->header, t->row, t->row);
    ask(t, "a row stands twice", text);
    snprintf(text, sizeof(text), "%s\n%s\n\"x\n", t->header, t->row);
    ask(t, "a quote is not closed", text);
    ask(t, "a header is not closed", "\"x\n");
    ask(t, "nothing", "");
    snprintf(text, sizeof(text), "%s\n", t->header);
    ask(t, "a header alone", text);
    for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
        memset(name, 'a', lengths[i]);
        name[lengths[i]] = '\0';
        snprintf(text, sizeof(text), "%s\n%s%s\n", t->header, name, strchr(t->row, ','));
        ask(t, name, text);
    }
    for (size_t i = 0; i < ARRAY_SIZE(traits) && !strcmp(t->name, "models"); i++) {
        snprintf(text, sizeof(text),
                 "name,layers,hidden,heads,ffn,vocab,positions,traits\n"
                 "X,2,64,4,128,100,64, %s \n",
                 traits[i]);
        ask(t, traits[i], text);
    }
    for (size_t i = 0; i < ARRAY_SIZE(shapes) && !strcmp(t->name, "models"); i++) {
        snprintf(text, sizeof(text),
                 "name,ffn,vocab,layers,hidden,heads,kv_heads,head_dim\nX,128,100,%s\n", shapes[i]);
        ask(t, shapes[i], text);
    }
}

/* Limits of power: how rows go with each other. */
static void add_curves(const struct table *t)
{
    static const char *const rows[] = {
        "X1,300,1\nX1,300,0.9\n",
        "X1,300,1\nX1,200,1\n",
        "X1,300,0.9\n",
        "X1,300,1.1\n",
        "X1,300,1\nX2,400,1\nX2,100,0.5\n",
        "X1,300,1\nX2,200,0.9\n",
        "X1,300,1\nx2,400,1\nX1,200,1\n",
        "X1,0,1\n",
        "X1,300,1\nX1,200,0\n",
        "X1,,1\n",
        "X1,300,\n",
        "X1,300,1\nX1,400,0.9\n",
    };
    char text[TEXT];

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        snprintf(text, sizeof(text), "name,limit_w,speed\n%s", rows[i]);
        ask(t, "rows of limits", text);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        printf("Bail out! FILE\n");
        return 1;
    }
    for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
        add_fields(&tables[i]);
        add_rows(&tables[i]);
    }
    add_curves(&tables[ARRAY_SIZE(tables) - 1]);
    is_int(str_error(&out), 0, "all rows have room");
    golden(argv[1], str_text(&out));
    str_done(&out);
    return done();
}
