#include "plan/measured/rows.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "plan/cluster/cluster_read.h"
#include "plan/cluster/constants.h"
#include "plan/measured/rows_choose.h"
#include "plan/measured/rows_columns.h"
#include "plan/measured/rows_words.h"
#include "plan/model/gemm.h"
#include "plan/model/step.h"

struct reader {
    const struct row_tables *tables;
    struct row_fields f;
};

PRINTF(2, 3)
static void refuse(struct plan_row *row, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(row->reason, sizeof(row->reason), fmt, ap);
    va_end(ap);
}

/* ---- GPUs ---- */

/* Hopper and what came after it. */
static bool is_new(const struct gpu *g)
{
    return g->flops[PLAN_FP8] > 0 && g->memory_rate > 2e12;
}

/* A degree of a layout; beyond what any has it is none. */
static int degree(const struct row_fields *f, enum row_column c)
{
    int n = row_int(f, c, 1);

    return n <= 1 << 14 ? n : 1;
}

/* tp x pp x cp. */
static int64_t split_of(const struct row_fields *f)
{
    return (int64_t)degree(f, COL_TP) * degree(f, COL_PP) * degree(f, COL_CP);
}

/* GPUs; of their product where the number is not stated. 0: neither is. */
static int count_gpus(const struct row_fields *f)
{
    int gpus = row_int(f, COL_N_GPUS, 0);
    int64_t all = split_of(f) * degree(f, COL_DP);

    if (gpus || !row_int(f, COL_DP, 0))
        return gpus;
    return all <= 1 << 28 ? (int)all : 0;
}

/* Bytes a second of a node; 0: neither stated nor known of the vendor's. */
static double node_rate(const struct reader *r, const char *gpu, int per_node)
{
    double rate = r->tables->node_rate;

    if (!(rate > 0))
        rate = words_network(row_text(&r->f, COL_NOTES), gpu, per_node);
    return rate > 0 ? rate : words_network(row_text(&r->f, COL_SOURCE), gpu, per_node);
}

/* A lower limit of power: it grows with the cube of the clock. */
static void limit_power(struct gpu *g, double power_w)
{
    double share = cbrt(power_w / g->tdp_w);

    if (!(share > 0.5 && share < 1))
        return;
    for (int p = 0; p < PLAN_PRECISIONS; p++)
        g->gemm_sustained[p] *= share;
    g->attention_best *= share;
}

static int read_cluster(const struct reader *r, struct plan_row *row)
{
    const char *name = row_text(&r->f, COL_GPU);
    struct cluster *c = &row->cluster;
    int gpus = count_gpus(&r->f);
    const struct gpu_row *g = NULL;
    struct cluster_wish wish;
    struct err e = { .text = "" };
    double node, power_w;

    cluster_wish_init(&wish);
    if (words_gpu(r->tables->gpus, name, &g, &wish.memory_b, &power_w, &e) < 0) {
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
    wish.gpu = g;
    wish.c.per_node = MIN(g->node_gpus > 0 ? g->node_gpus : g->gpu.domain > 8 ? 4 : 8, gpus);
    wish.c.nodes = (gpus + wish.c.per_node - 1) / wish.c.per_node;
    node = node_rate(r, name, wish.c.per_node);
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
    limit_power(&c->gpu, isnan(power_w) ? words_power(row_text(&r->f, COL_NOTES)) : power_w);
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

/* A model of the table, with what the row states in place of its own (fewer layers, say). */
static bool known_shape(const struct reader *r, struct shape *s)
{
    const struct model_row *known = NULL;
    int hidden = row_int(&r->f, COL_HIDDEN, 0);

    if (models_find(r->tables->models, row_text(&r->f, COL_MODEL), &known, NULL) < 0 ||
        (hidden && hidden != known->shape.hidden))
        return false;
    *s = known->shape;
    s->layers = row_int(&r->f, COL_LAYERS, s->layers);
    s->dense_first = MIN(s->dense_first, s->layers - (s->layers > 1)); /* of a slice */
    s->heads = row_int(&r->f, COL_HEADS, s->heads);
    if (s->heads != known->shape.heads) {
        s->head_dim = s->hidden / s->heads;
        s->kv_heads = MIN(s->kv_heads, s->heads);
    }
    s->vocab = row_int(&r->f, COL_VOCAB, s->vocab);
    if (s->attention == SHAPE_HEADS && known->shape.kv_heads == known->shape.heads)
        s->kv_heads = s->heads;
    if (s->attention == SHAPE_HEADS)
        s->kv_heads = row_int(&r->f, COL_KV_HEADS, s->kv_heads);
    if (!s->experts)
        s->ffn = row_int(&r->f, COL_FFN, s->ffn);
    return true;
}

static int read_shape(const struct reader *r, struct plan_row *row)
{
    const char *model = row_text(&r->f, COL_MODEL);
    struct shape *s = &row->job.shape;
    bool mpt = strncasecmp(model, "mpt", 3) == 0, gated = is_gated_family(model);
    struct err e = { .text = "" };

    if (!known_shape(r, s)) {
        s->layers = row_int(&r->f, COL_LAYERS, 0);
        s->hidden = row_int(&r->f, COL_HIDDEN, 0);
        s->heads = row_int(&r->f, COL_HEADS, 0);
        if (!s->layers || !s->hidden || !s->heads) {
            refuse(row, "the shape of %.60s is not stated", model);
            return -EINVAL;
        }
        snprintf(s->name, sizeof(s->name), "%s", model);
        s->kv_heads = row_int(&r->f, COL_KV_HEADS, s->heads);
        s->head_dim = s->hidden / s->heads;
        s->ffn = row_int(&r->f, COL_FFN, 4 * s->hidden);
        s->vocab = row_int(&r->f, COL_VOCAB, 0);
        s->gated = gated;
        s->tied = !gated;
        s->learned_positions = !gated && !mpt;
        s->biases = s->norm_biases = !gated && !mpt;
        s->qkv_biases = s->biases;
    }
    s->positions = row->job.seq;
    if (!s->vocab) {
        /* GPT-2's, which Megatron pads where it divides it. */
        int tp = degree(&r->f, COL_TP), unit = 128 * tp;

        s->vocab = tp > 1 ? (50257 + unit - 1) / unit * unit : 50257;
    }
    if (shape_check(s, &e) < 0) {
        refuse(row, "%.120s", e.text);
        return -EINVAL;
    }
    return 0;
}

/* ---- job and layout ---- */

static int read_precision(const struct reader *r, struct plan_row *row)
{
    const char *text = row_text(&r->f, COL_PRECISION);
    int p = words_precision(text);

    if (p < 0 && *text) {
        refuse(row, "precision '%.40s' is not known", text);
        return -EINVAL;
    }
    row->job.precision = p < 0 ? PLAN_BF16 : (enum plan_precision)p;
    return 0;
}

static int read_layout(const struct reader *r, struct plan_row *row)
{
    struct layout *l = &row->layout;
    int gpus = count_gpus(&r->f);
    int64_t split = split_of(&r->f);

    l->tp = degree(&r->f, COL_TP);
    l->pp = degree(&r->f, COL_PP);
    l->vpp = degree(&r->f, COL_VPP);
    l->cp = degree(&r->f, COL_CP);
    l->ep = row->job.shape.experts ? degree(&r->f, COL_EP) : 1;
    l->etp = row->job.shape.experts ? degree(&r->f, COL_ETP) : 1;
    if (gpus % split) {
        refuse(row, "%d GPUs do not divide by tp %d x pp %d x cp %d", gpus, l->tp, l->pp, l->cp);
        return -EINVAL;
    }
    l->dp = (int)(gpus / split);
    l->micro_batch = degree(&r->f, COL_MICRO);
    if (row->job.shape.layers % l->pp)
        l->stages = STAGES_ENDS;
    return 0;
}

/* Sequences of a step; those of one micro-batch for each replica when only that is stated. */
static int read_batch(const struct reader *r, struct plan_row *row)
{
    bool stated = row_int(&r->f, COL_MICRO, 0) > 0;

    row->job.global_batch = row_int(&r->f, COL_BATCH, 0);
    if (!row->job.global_batch && row->layout.pp == 1 && stated && row->layout.dp <= 1 << 16)
        row->job.global_batch = row->layout.micro_batch * row->layout.dp;
    if (row->job.global_batch)
        return 0;
    refuse(row, "the global batch is not stated");
    return -EINVAL;
}

/* The number behind "HFU=" in the notes, in the unit of mfu; NaN: none. */
static double stated_hfu(const struct row_fields *f)
{
    const char *at = strcasestr(row_text(f, COL_NOTES), "HFU");
    double x = 0, unit = 1;

    if (!at)
        return (double)NAN;
    for (at += 3 + strspn(at + 3, "= :"); *at >= '0' && *at <= '9'; at++)
        x = 10 * x + (*at - '0');
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9'; at++)
            x += (*at - '0') * (unit /= 10);
    return x > 0 ? x : (double)NAN;
}

static void read_recompute(const struct reader *r, struct plan_row *row)
{
    static const char *const all[] = { "full", "true", "yes", "1" };
    const char *text = row_text(&r->f, COL_RECOMPUTE);
    double hfu = stated_hfu(&r->f), mfu = row_number(&r->f, COL_MFU);

    row->layout.recompute = RECOMPUTE_NONE;
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        if (!strncasecmp(text, all[i], strlen(all[i])))
            row->layout.recompute = RECOMPUTE_FULL;
    if (!strncasecmp(text, "selective", 9) || !strncasecmp(text, "op", 2))
        row->layout.recompute = RECOMPUTE_SELECTIVE;
    /* Modules, as Megatron-LM names them. */
    if (strcasestr(text, "norm"))
        row->layout.recompute = RECOMPUTE_NORMS;
    if (strcasestr(text, "mlp") || strcasestr(text, "moe"))
        row->layout.recompute = RECOMPUTE_MLP;
    if (row->layout.recompute != RECOMPUTE_SELECTIVE || row->layout.zero != 3)
        return;
    /* FSDP's: every other product, or every few layers; what was repeated shows in the FLOPs. */
    row->job.again = 0.5;
    if (hfu >= mfu)
        row->job.again = fmin(3 * (hfu / mfu - 1), 1);
}

/* DeepSpeed has no interleaved pipeline, and "1F1B" alone says that it is none. */
static bool may_interleave(const struct row_fields *f)
{
    static const char *const without[] = { "deepspeed", "bigscience", "bloom", "non-interleaved" };

    for (size_t i = 0; i < ARRAY_SIZE(without); i++)
        if (row_mentions(f, without[i]))
            return false;
    return row_mentions(f, "interleaved") || !row_mentions(f, "1f1b");
}

/* Whether DeepSpeed trains, which is called ZeRO where PyTorch's is called FSDP. */
static bool is_deepspeed(const struct row_fields *f, int zero)
{
    static const char *const words[] = { "deepspeed", "bigscience", "bloom" };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (row_mentions(f, words[i]))
            return true;
    return zero == 3 && row_mentions(f, "zero-3");
}

static int stated_zero(const struct row_fields *f, int otherwise)
{
    double zero = row_number(f, COL_ZERO);

    if (zero >= 0 && zero <= 3)
        return (int)zero;
    if (row_says(f, COL_ZERO, "fsdp") || row_says(f, COL_ZERO, "hsdp"))
        return 3;
    return row_says(f, COL_NOTES, "zero-1") ? 1 : row_says(f, COL_NOTES, "zero-3") ? 3 : otherwise;
}

static bool row_is_out(const struct row_fields *f)
{
    return row_says_oom(f, COL_NOTES) || row_says_oom(f, COL_TIME) || row_says_oom(f, COL_MEM);
}

/* MegaScale as its authors run it (arXiv 2402.15627): attention and MLP beside each other, and all
 * collectives beside the compute; not the Megatron-LM that they compare it with. */
static bool is_megascale(const struct row_fields *f)
{
    bool named = row_says(f, COL_MODEL, "megascale") || row_says(f, COL_NOTES, "megascale");

    return named && !row_says(f, COL_MODEL, "megatron") && !row_says(f, COL_NOTES, "megatron") &&
           !row_says(f, COL_NOTES, "baseline");
}

/* What stacks of the time did, where the table does not say. */
static void set_defaults(const struct reader *r, struct plan_row *row)
{
    struct layout *l = &row->layout;
    struct plan_job *job = &row->job;
    bool fresh = is_new(&row->cluster.gpu), gated = job->shape.gated, fsdp, torch, lean, deep;
    double sp = row_number(&r->f, COL_SP);

    l->zero = stated_zero(&r->f, fresh ? 1 : 0);
    deep = is_deepspeed(&r->f, l->zero);
    fsdp = l->zero == 3 && !deep;
    /* PyTorch's own; Megatron's, with its kernels, goes with experts or is named. */
    torch = fsdp && l->ep == 1 && !row_mentions(&r->f, "megatron");
    job->engine = deep ? ENGINE_DEEPSPEED : torch ? ENGINE_TORCH : ENGINE_MEGATRON;
    l->shard = row_int(&r->f, COL_SHARD, 0);
    if (!l->shard && fsdp && row_mentions(&r->f, "HSDP"))
        l->shard = MIN(row->cluster.per_node, l->dp * l->cp);
    l->seq_parallel = sp >= 0 ? sp > 0 && l->tp > 1 : fresh && l->tp > 1;
    /* DeepSpeed's overlap_comm is off below ZeRO-3 if nobody says otherwise. */
    l->overlap_dp = deep ? l->zero == 3 : fresh || gated || l->zero >= 2;
    l->overlap_tp = fresh && l->seq_parallel && (!fsdp || row_mentions(&r->f, "async"));
    l->overlap_ep = row_mentions(&r->f, "1f1b overlap") || row_mentions(&r->f, "ep overlap") ||
                    row_mentions(&r->f, "dualpipe");
    l->overlap_pp = fresh;
    if (is_megascale(&r->f)) {
        job->shape.parallel = true;
        l->overlap_dp = l->overlap_pp = true;
        l->overlap_tp = l->seq_parallel;
    }
    if (l->pp > 1 && (row_mentions(&r->f, "dualpipe") || row_mentions(&r->f, "zero-bubble") ||
                      row_mentions(&r->f, "zero bubble")))
        l->schedule = SCHEDULE_ZERO_BUBBLE;
    lean = fresh || gated || job->seq > 2048 || row_mentions(&r->f, "flash") || is_megascale(&r->f);
    job->attention = torch ? ATTENTION_SECOND : lean ? ATTENTION_FLASH : ATTENTION_PLAIN;
    /* MPT's positions are biases of the scores, which its kernels of 2023 were written for. */
    if (!strncasecmp(row->name, "mpt", 3))
        job->attention = ATTENTION_FIRST;
    job->fused = ((fresh || gated) && !torch) || row_mentions(&r->f, "compile");
    job->fused_loss = false;
    /* PyTorch's: 16 bits, 32, their log-softmax and its gradient; MPT's is fused, in place. */
    job->logit_b = !torch ? 0 : row_mentions(&r->f, "compile") ? 12 : 14;
    if (job->attention == ATTENTION_FIRST)
        job->logit_b = 4;
    job->graphs = row_mentions(&r->f, "cuda graph");
    job->gradient_b = l->zero == 3 || job->precision == PLAN_FP16 ? 2 : 4;
    job->imbalance = 1;
    job->shape.dropout = !gated && job->attention == ATTENTION_PLAIN;
}

/* ---- what was measured ---- */

static void read_measured(const struct reader *r, struct plan_row *row)
{
    const struct row_fields *f = &r->f;
    double gpus = layout_gpus(&row->layout), tokens;
    double rate = row_number(f, COL_TOKENS), flops = row_number(f, COL_TFLOPS);
    double mfu = row_number(f, COL_MFU);

    tokens = (double)row->job.seq * row->job.global_batch;
    row->time_s = row_number(f, COL_TIME);
    row->memory_b = row_number(f, COL_MEM);
    row->out = row_is_out(f);
    row->reserved = row_says(f, COL_NOTES, "reserved") || row_mentions(f, "torchtitan");
    row->peak_only = row->reserved || row_says(f, COL_NOTES, "alloc");
    if (!(rate > 0))
        rate = row_number(f, COL_TOKENS_ALL) / gpus;
    if (!(row->time_s > 0) && rate > 0)
        row->time_s = tokens / rate / gpus;
    row->counted = row->time_s > 0 ? flops * row->time_s * gpus : (double)NAN;
    if (row->time_s > 0)
        return;
    if (!(flops > 0))
        flops = (mfu > 1 ? mfu / 100 : mfu) * gemm_peak(&row->cluster.gpu, PLAN_BF16);
    row->from_flops = flops > 0;
    row->time_s = flops > 0 ? plan_step_flops(&row->job) / flops / gpus : (double)NAN;
}

static uint64_t hash(const char *text)
{
    uint64_t h = 0xcbf29ce484222325;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3;
    return h ? h : 1;
}

/* Whether a source counts the half of attention that a causal mask leaves: as the rows say that
 * have both a time and a rate. */
static bool counts_half(const struct plan_row *rows, size_t n, uint64_t source)
{
    int votes = 0;

    for (size_t i = 0; i < n; i++) {
        const struct plan_row *r = &rows[i];
        double all, half;

        if (r->source != source || r->reason[0] || !(r->counted > 0))
            continue;
        all = plan_step_flops(&r->job);
        half = all - plan_step_attention_flops(&r->job) / 2;
        if (r->counted < 0.9 * half || r->counted > 1.1 * all)
            continue;
        votes += r->counted * r->counted < all * half ? 1 : -1;
    }
    return votes > 0;
}

static void count_flops(struct plan_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!rows[i].reason[0] && rows[i].from_flops && counts_half(rows, n, rows[i].source))
            rows[i].time_s *= 1 - plan_step_attention_flops(&rows[i].job) / 2 /
                                      plan_step_flops(&rows[i].job);
}

/* By what was asked, not by how it was laid out. */
static void name_sweep(const struct reader *r, struct plan_row *row)
{
    static const enum row_column same[] = { COL_MODEL, COL_LAYERS, COL_HIDDEN,
                                            COL_HEADS, COL_GPU,    COL_N_GPUS,
                                            COL_SEQ,   COL_BATCH,  COL_PRECISION };
    char key[400] = "";
    size_t len = 0;

    for (size_t i = 0; i < ARRAY_SIZE(same) && len < sizeof(key); i++)
        len += (size_t)snprintf(key + len, sizeof(key) - len, "%.60s|", row_text(&r->f, same[i]));
    row->sweep = hash(key);
}

static int choose(const struct reader *r, struct plan_row *row)
{
    const struct row_fields *f = &r->f;
    bool blank = !*row_text(f, COL_TP) && !*row_text(f, COL_PP) && !*row_text(f, COL_DP);
    struct row_free free = { .micro_batch = !*row_text(f, COL_MICRO), .tp = blank };
    struct err e = { .text = "" };

    free.pp = !*row_text(f, COL_PP) && !*row_text(f, COL_DP) && row->layout.zero < 3;
    free.vpp = !*row_text(f, COL_VPP) && (row->layout.pp > 1 || free.pp) &&
               is_new(&row->cluster.gpu) && may_interleave(f);
    free.tp = free.tp && row->layout.zero < 3;
    free.ep = row->job.shape.experts && !*row_text(f, COL_EP);
    free.recompute = !*row_text(f, COL_RECOMPUTE) && !row_is_out(f);
    if (row_choose(&row->job, &row->cluster, &free, &row->layout, &e) < 0) {
        refuse(row, "%s", e.text);
        return -EINVAL;
    }
    if (row->layout.vpp == 1)
        row->layout.overlap_pp = false;
    return 0;
}

static void read_row(const struct reader *r, struct plan_row *row)
{
    struct err e = { .text = "" };

    row->line = r->f.csv.line;
    row->time_s = row->memory_b = row->counted = (double)NAN;
    row->source = hash(row_text(&r->f, COL_SOURCE));
    snprintf(row->name, sizeof(row->name), "%s", row_text(&r->f, COL_MODEL));
    name_sweep(r, row);
    row->job.seq = row_int(&r->f, COL_SEQ, 2048);
    if (read_cluster(r, row) < 0 || read_shape(r, row) < 0 || read_precision(r, row) < 0 ||
        read_layout(r, row) < 0 || read_batch(r, row) < 0)
        return;
    set_defaults(r, row);
    read_recompute(r, row);
    if (row_mentions(&r->f, "lora")) {
        refuse(row, "only adapters are trained (LoRA)");
        return;
    }
    if (choose(r, row) < 0)
        return;
    if (layout_check(&row->layout, &row->job, &row->cluster, &e) < 0) {
        refuse(row, "%s", e.text);
        return;
    }
    read_measured(r, row);
    if (!(row->time_s > 0) && !(row->memory_b > 0) && !row->out)
        refuse(row, "neither time nor memory was measured");
}

int rows_read(const char *text, size_t len, const struct row_tables *tables, struct plan_rows *ret,
              struct err *e)
{
    struct reader r = { .tables = tables };
    struct plan_row *rows = NULL;
    size_t count = 0;
    int rc;

    csv_init(&r.f.csv, text, len);
    rc = csv_next(&r.f.csv);
    if (rc < 0)
        return err_set(e, -EINVAL, "line %d: no row of a table", r.f.csv.line);
    row_columns_find(&r.f);
    if (rc == 0 || r.f.at[COL_GPU] < 0 || (r.f.at[COL_N_GPUS] < 0 && r.f.at[COL_DP] < 0) ||
        (r.f.at[COL_BATCH] < 0 && r.f.at[COL_MICRO] < 0))
        return err_set(e, -EINVAL,
                       "the first line must name the columns gpu, n_gpus and "
                       "global_batch");
    while ((rc = csv_next(&r.f.csv)) > 0) {
        struct plan_row *row = ARENA_PUSH(ret->arena, &rows, &count);

        if (!row)
            return err_nomem(e);
        read_row(&r, row);
    }
    if (rc < 0)
        return err_set(e, -EINVAL, "line %d: no row of a table", r.f.csv.line);
    count_flops(rows, count);
    ret->list = rows;
    ret->n = count;
    return 0;
}
