#include "plan/rows.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/csv.h"
#include "base/parse.h"
#include "plan/cluster_read.h"
#include "plan/fitted.h"
#include "plan/gemm.h"
#include "plan/step.h"

enum column {
    COL_MODEL,
    COL_PARAMS,
    COL_LAYERS,
    COL_HIDDEN,
    COL_HEADS,
    COL_KV_HEADS,
    COL_FFN,
    COL_SEQ,
    COL_VOCAB,
    COL_GPU,
    COL_N_GPUS,
    COL_TP,
    COL_PP,
    COL_CP,
    COL_EP,
    COL_VPP,
    COL_DP,
    COL_MICRO,
    COL_BATCH,
    COL_RECOMPUTE,
    COL_SP,
    COL_ZERO,
    COL_PRECISION,
    COL_TFLOPS,
    COL_MFU,
    COL_TIME,
    COL_TOKENS,
    COL_MEM,
    COL_SOURCE,
    COL_NOTES,
    COLUMNS
};

static const char *const columns[COLUMNS] = {
    "model",        "params",      "layers",
    "hidden",       "heads",       "kv_heads",
    "ffn",          "seq",         "vocab",
    "gpu",          "n_gpus",      "tp",
    "pp",           "cp",          "ep",
    "vpp",          "dp",          "micro_batch",
    "global_batch", "recompute",   "seq_parallel",
    "zero_stage",   "precision",   "measured_tflops_per_gpu",
    "mfu",          "iter_time_s", "tokens_per_s_per_gpu",
    "mem_gb",       "source",      "notes",
};

struct reader {
    const struct row_tables *tables;
    int at[COLUMNS]; /* field of a column, -1: the table lacks it */
    struct csv csv;
};

static const char *text_of(const struct reader *r, enum column c)
{
    int i = r->at[c];

    return i >= 0 && (size_t)i < r->csv.n_fields ? r->csv.fields[i] : "";
}

/* NaN: blank or no number. */
static double number_of(const struct reader *r, enum column c)
{
    double x;

    return parse_double(text_of(r, c), &x) < 0 ? (double)NAN : x;
}

static int int_of(const struct reader *r, enum column c, int otherwise)
{
    double x = number_of(r, c);

    return x >= 1 && x <= 1 << 28 ? (int)x : otherwise;
}

static bool says(const struct reader *r, enum column c, const char *word)
{
    return strcasestr(text_of(r, c), word) != NULL;
}

PRINTF(2, 3)
static void refuse(struct plan_row *row, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(row->reason, sizeof(row->reason), fmt, ap);
    va_end(ap);
}

/* ---- GPUs ---- */

/* Letters and digits in front, as "A100" of "a100_80gb" and "A100-SXM-80GB". */
static size_t family_len(const char *name)
{
    size_t n = 0;

    while (isalnum((unsigned char)name[n]))
        n++;
    return n;
}

/* Hopper and what came after it. */
static bool is_new(const struct gpu *g)
{
    return g->flops[PLAN_FP8] > 0 && g->memory_rate > 2e12;
}

/* "800Gb/s", "1600 Gbps": bytes a second of a node, 0: not stated. Where rates of several GPUs are
 * stated, the one behind the name of this one's. */
static double stated_rate(const struct reader *r, const char *gpu)
{
    static const enum column where[] = { COL_NOTES, COL_SOURCE };

    for (size_t i = 0; i < ARRAY_SIZE(where); i++) {
        const char *text = text_of(r, where[i]), *at, *own = NULL;
        double rate = 0;
        int digits = 0;

        if (family_len(gpu) > 0 && family_len(gpu) < 16) {
            char family[20];

            snprintf(family, sizeof(family), "%.*s ", (int)family_len(gpu), gpu);
            for (own = strcasestr(text, family);
                 own && !isdigit((unsigned char)own[strlen(family)]);)
                own = strcasestr(own + 1, family);
        }
        at = own ? own : text;
        for (at = strcasestr(at, "Gb"); at; at = strcasestr(at + 1, "Gb")) {
            const char *p = at;
            double scale = 1;

            if (strncmp(at, "Gb/s", 4) != 0 && strncmp(at, "Gbps", 4) != 0)
                continue;
            while (p > text && p[-1] == ' ')
                p--;
            for (; p > text && isdigit((unsigned char)p[-1]); p--, scale *= 10, digits++)
                rate += (p[-1] - '0') * scale;
            if (digits)
                return rate * 1e9 / 8;
        }
    }
    return 0;
}

static int read_cluster(const struct reader *r, struct plan_row *row)
{
    const char *name = text_of(r, COL_GPU);
    struct cluster *c = &row->cluster;
    int gpus = int_of(r, COL_N_GPUS, 0);
    const struct gpu_row *g = NULL;
    struct cluster_wish wish;
    struct err e = { .text = "" };
    double node;

    if (gpus_find(r->tables->gpus, name, &g, &e) < 0) {
        refuse(row, "%.120s", e.text);
        return -EINVAL;
    }
    if (!gpus || !(g->gpu.sms > 0) ||
        !(g->gpu.flops[PLAN_BF16] > 0 || g->gpu.flops[PLAN_FP16] > 0)) {
        refuse(row,
               gpus ? "%s: how it multiplies matrices is not known"
                    : "the number of %s is not stated",
               name);
        return -EINVAL;
    }
    cluster_wish_init(&wish);
    wish.gpu = g;
    wish.c.per_node = MIN(g->node_gpus > 0 ? g->node_gpus : g->gpu.domain > 8 ? 4 : 8, gpus);
    wish.c.nodes = (gpus + wish.c.per_node - 1) / wish.c.per_node;
    node = r->tables->node_rate > 0 ? r->tables->node_rate : stated_rate(r, name);
    if (!(node > 0) && !g->node_nics) /* 400 Gbit/s for a GPU from Hopper on, 200 before */
        node = wish.c.per_node * (is_new(&g->gpu) ? 50e9 : 25e9);
    if (node > 0) {
        wish.nics_said = true;
        wish.c.nics = wish.c.per_node;
        wish.c.nic_rate = node / wish.c.nics;
    }
    if (cluster_settle(c, &wish, &e) < 0) {
        refuse(row, "%.120s", e.text);
        return -EINVAL;
    }
    gpu_assume(&c->gpu);
    return 0;
}

/* ---- the shape ---- */

/* Families with gated MLPs, RMSNorm, rotary positions, a head of its own and no biases. */
static bool is_gated_family(const char *model)
{
    static const char *const names[] = { "llama",    "mistral", "mixtral", "qwen",     "intern",
                                         "deepseek", "gemma",   "grok",    "baichuan", "yi-" };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strcasestr(model, names[i]))
            return true;
    return false;
}

static int read_shape(const struct reader *r, struct plan_row *row)
{
    const char *model = text_of(r, COL_MODEL);
    struct shape *s = &row->job.shape;
    bool mpt = strncasecmp(model, "mpt", 3) == 0, gated = is_gated_family(model);

    s->layers = int_of(r, COL_LAYERS, 0);
    s->hidden = int_of(r, COL_HIDDEN, 0);
    s->heads = int_of(r, COL_HEADS, 0);
    if (!s->layers || !s->hidden || !s->heads) {
        const struct model_row *known = NULL;

        if (models_find(r->tables->models, model, &known, NULL) == 0) {
            *s = known->shape;
            return 0;
        }
        refuse(row, "the shape of %.60s is not stated", model);
        return -EINVAL;
    }
    snprintf(s->name, sizeof(s->name), "%s", model);
    s->kv_heads = int_of(r, COL_KV_HEADS, s->heads);
    s->head_dim = s->hidden / s->heads;
    s->ffn = int_of(r, COL_FFN, 4 * s->hidden);
    s->vocab = int_of(r, COL_VOCAB, 0);
    if (!s->vocab) {
        /* GPT-2's, which Megatron pads where it divides it. */
        int tp = int_of(r, COL_TP, 1), unit = 128 * tp;

        s->vocab = tp > 1 ? (50257 + unit - 1) / unit * unit : 50257;
    }
    s->positions = row->job.seq;
    s->gated = gated;
    s->tied = !gated;
    s->learned_positions = !gated && !mpt;
    s->biases = s->norm_biases = !gated && !mpt;
    s->qkv_biases = s->biases;
    return 0;
}

/* ---- job and layout ---- */

static int read_precision(const struct reader *r, struct plan_row *row)
{
    static const struct {
        const char *word;
        enum plan_precision p;
    } words[] = {
        { "nvfp4", PLAN_NVFP4 }, { "fp4", PLAN_NVFP4 },  { "mxfp8", PLAN_MXFP8 },
        { "fp8", PLAN_FP8 },     { "float8", PLAN_FP8 }, { "bf16", PLAN_BF16 },
        { "fp16", PLAN_FP16 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (says(r, COL_PRECISION, words[i].word)) {
            row->job.precision = words[i].p;
            return 0;
        }
    row->job.precision = PLAN_BF16;
    if (*text_of(r, COL_PRECISION)) {
        refuse(row, "precision '%.40s' is not known", text_of(r, COL_PRECISION));
        return -EINVAL;
    }
    return 0;
}

static int read_layout(const struct reader *r, struct plan_row *row)
{
    struct layout *l = &row->layout;
    int gpus = int_of(r, COL_N_GPUS, 0), split;

    l->tp = int_of(r, COL_TP, 1);
    l->pp = int_of(r, COL_PP, 1);
    l->vpp = int_of(r, COL_VPP, 1);
    l->cp = int_of(r, COL_CP, 1);
    l->ep = int_of(r, COL_EP, 1);
    l->etp = 1;
    split = l->tp * l->pp * l->cp;
    if (gpus % split) {
        refuse(row, "%d GPUs do not divide by tp %d x pp %d x cp %d", gpus, l->tp, l->pp, l->cp);
        return -EINVAL;
    }
    l->dp = gpus / split;
    l->micro_batch = int_of(r, COL_MICRO, 1);
    if (row->job.shape.layers % l->pp)
        l->stages = STAGES_ENDS;
    return 0;
}

static int read_recompute(const struct reader *r, struct plan_row *row)
{
    const char *text = text_of(r, COL_RECOMPUTE);

    row->layout.recompute = RECOMPUTE_NONE;
    if (!strncasecmp(text, "full", 4))
        row->layout.recompute = RECOMPUTE_FULL;
    else if (!strncasecmp(text, "selective", 9))
        row->layout.recompute = RECOMPUTE_SELECTIVE;
    if (row->layout.recompute == RECOMPUTE_SELECTIVE && row->layout.zero == 3) {
        refuse(row, "which layers FSDP recomputes is not stated");
        return -EINVAL;
    }
    return 0;
}

/* What stacks of the time did, where the table does not say. */
static void set_defaults(const struct reader *r, struct plan_row *row)
{
    struct layout *l = &row->layout;
    struct plan_job *job = &row->job;
    bool fresh = is_new(&row->cluster.gpu), fsdp;
    double zero = number_of(r, COL_ZERO), sp = number_of(r, COL_SP);

    l->zero = zero >= 0 && zero <= 3 ? (int)zero : fresh ? 1 : 0;
    fsdp = l->zero == 3;
    l->seq_parallel = sp >= 0 ? sp > 0 && l->tp > 1 : fresh && l->tp > 1;
    l->overlap_dp = fresh || l->zero >= 2;
    l->overlap_tp = fresh && l->seq_parallel;
    l->overlap_pp = fresh && l->vpp > 1;
    job->attention = fresh || fsdp || job->seq > 2048 ? ATTENTION_FLASH : ATTENTION_PLAIN;
    /* MPT's positions are biases of the scores, which its kernels of 2023 were written for. */
    if (!strncasecmp(row->name, "mpt", 3))
        job->attention = ATTENTION_FIRST;
    job->fused = fresh && !fsdp;
    job->fused_loss = false;
    job->graphs = false;
    job->gradient_b = fsdp || job->precision == PLAN_FP16 ? 2 : 4;
    job->imbalance = 1;
    if (!job->shape.gated && job->attention == ATTENTION_PLAIN)
        job->shape.dropout = true;
}

/* ---- what was measured ---- */

static void read_measured(const struct reader *r, struct plan_row *row)
{
    double gpus = int_of(r, COL_N_GPUS, 0), tokens = (double)row->job.seq * row->job.global_batch;
    double rate = number_of(r, COL_TOKENS), flops = number_of(r, COL_TFLOPS) * 1e12;
    double mfu = number_of(r, COL_MFU);

    row->time_s = number_of(r, COL_TIME);
    row->memory_b = number_of(r, COL_MEM) * 1e9;
    row->peak_only = says(r, COL_NOTES, "alloc");
    if (!(row->time_s > 0) && rate > 0)
        row->time_s = tokens / rate / gpus;
    if (row->time_s > 0)
        return;
    if (!(flops > 0))
        flops = mfu / 100 * gemm_peak(&row->cluster.gpu, PLAN_BF16);
    row->from_flops = flops > 0;
    row->time_s = flops > 0 ? step_flops(&row->job) / flops / gpus : (double)NAN;
}

/* Who publishes a time has tuned what he does not state: the fastest that fits is taken. */
static void choose(const struct reader *r, struct plan_row *row)
{
    static const int micro[] = { 1, 2, 4, 8, 16 }, chunks[] = { 1, 2, 3, 4, 5, 6, 8, 10, 12 };
    bool free_micro = !*text_of(r, COL_MICRO);
    bool free_vpp = !*text_of(r, COL_VPP) && row->layout.pp > 1 && is_new(&row->cluster.gpu);
    struct layout best = row->layout, try;
    double least = (double)INFINITY;

    if (!free_micro && !free_vpp)
        return;
    for (size_t i = 0; i < (free_micro ? ARRAY_SIZE(micro) : 1); i++)
        for (size_t j = 0; j < (free_vpp ? ARRAY_SIZE(chunks) : 1); j++) {
            struct plan_tables tables;
            struct memory memory;
            struct step step;

            try = row->layout;
            try.micro_batch = free_micro ? micro[i] : try.micro_batch;
            try.vpp = free_vpp ? chunks[j] : try.vpp;
            try.overlap_pp = try.vpp > 1;
            if (layout_check(&try, &row->job, &row->cluster, NULL) < 0)
                continue;
            plan_tables_make(&row->job, &row->cluster, &try, &tables);
            memory_make(&row->job, &try, &tables.bytes, &memory);
            step_make(&row->job, &row->cluster, &try, &tables, &step);
            if (memory.total <= row->cluster.gpu.memory_b && step.time_s < least) {
                least = step.time_s;
                best = try;
            }
        }
    if (isinf(least))
        refuse(row, "the layout is not stated, and what is stated does not fit");
    row->layout = best;
}

static uint64_t hash(const char *text)
{
    uint64_t h = 0xcbf29ce484222325;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3;
    return h ? h : 1;
}

/* By what was asked, not by how it was laid out. */
static void name_sweep(const struct reader *r, struct plan_row *row)
{
    static const enum column same[] = { COL_MODEL,  COL_LAYERS, COL_HIDDEN, COL_HEADS,    COL_GPU,
                                        COL_N_GPUS, COL_SEQ,    COL_BATCH,  COL_PRECISION };
    char key[400] = "";
    size_t len = 0;

    for (size_t i = 0; i < ARRAY_SIZE(same) && len < sizeof(key); i++)
        len += (size_t)snprintf(key + len, sizeof(key) - len, "%.60s|", text_of(r, same[i]));
    row->sweep = hash(key);
}

static void read_row(const struct reader *r, struct plan_row *row)
{
    struct err e = { .text = "" };

    row->line = r->csv.line;
    row->time_s = row->memory_b = (double)NAN;
    snprintf(row->name, sizeof(row->name), "%s", text_of(r, COL_MODEL));
    name_sweep(r, row);
    row->job.seq = int_of(r, COL_SEQ, 2048);
    row->job.global_batch = int_of(r, COL_BATCH, 0);
    if (read_cluster(r, row) < 0 || read_shape(r, row) < 0 || read_precision(r, row) < 0 ||
        read_layout(r, row) < 0)
        return;
    if (!row->job.global_batch) {
        refuse(row, "the global batch is not stated");
        return;
    }
    set_defaults(r, row);
    if (read_recompute(r, row) < 0)
        return;
    choose(r, row);
    if (row->reason[0])
        return;
    if (layout_check(&row->layout, &row->job, &row->cluster, &e) < 0) {
        refuse(row, "%s", e.text);
        return;
    }
    read_measured(r, row);
    if (!(row->time_s > 0) && !(row->memory_b > 0))
        refuse(row, "neither time nor memory was measured");
}

int rows_read(const char *text, size_t len, const struct row_tables *tables, struct plan_rows *ret,
              struct err *e)
{
    struct reader r = { .tables = tables };
    struct plan_row *rows = NULL;
    size_t count = 0;
    int rc;

    csv_init(&r.csv, text, len);
    rc = csv_next(&r.csv);
    if (rc < 0)
        return err_set(e, -EINVAL, "line %d: no row of a table", r.csv.line);
    for (int c = 0; c < COLUMNS; c++) {
        r.at[c] = -1;
        for (size_t i = 0; rc > 0 && i < r.csv.n_fields; i++)
            if (!strcmp(r.csv.fields[i], columns[c]))
                r.at[c] = (int)i;
    }
    if (r.at[COL_GPU] < 0 || r.at[COL_N_GPUS] < 0 || r.at[COL_BATCH] < 0)
        return err_set(e, -EINVAL,
                       "the first line must name the columns gpu, n_gpus and "
                       "global_batch");
    while ((rc = csv_next(&r.csv)) > 0) {
        struct plan_row *row = ARENA_PUSH(ret->arena, &rows, &count);

        if (!row)
            return err_nomem(e);
        read_row(&r, row);
    }
    if (rc < 0)
        return err_set(e, -EINVAL, "line %d: no row of a table", r.csv.line);
    ret->list = rows;
    ret->n = count;
    return 0;
}
