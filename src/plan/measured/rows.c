#include "plan/measured/rows.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "plan/cluster/constants.h"
#include "plan/measured/rows_choose.h"
#include "plan/measured/rows_phrases.h"
#include "plan/measured/rows_private.h"
#include "plan/measured/rows_words.h"
#include "plan/model/gemm.h"
#include "plan/model/step.h"

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
static bool known_shape(const struct row_reader *r, struct shape *s)
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

/* False, as of all parts of a row below: the row is refused. */
static bool read_shape(const struct row_reader *r, struct plan_row *row)
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
            row_refuse(row, "the shape of %.60s is not stated", model);
            return false;
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
    }
    s->positions = row->job.seq;
    if (!s->vocab) {
        /* GPT-2's, which Megatron pads where it divides it. */
        int tp = row_degree(&r->f, COL_TP), unit = 128 * tp;

        s->vocab = tp > 1 ? (50257 + unit - 1) / unit * unit : 50257;
    }
    if (shape_check(s, &e) < 0) {
        row_refuse(row, "%.120s", e.text);
        return false;
    }
    return true;
}

/* ---- job and layout ---- */

/* The scales of 8 bits as notes or the column of methods state them, as DeepSeek-V3 has them (arXiv
 * 2412.19437, section 3.3), or one for each tensor. */
static int scales_of(const struct row_reader *r, const struct plan_row *row)
{
    static const char *const rows[] = { "rowwise", "row wise" };
    static const char *const blocks[] = { "blockwise", "block wise", "block scaling",
                                          "subchannel" };
    static const enum row_column columns[] = { COL_NOTES, COL_METHODS };

    for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
        const char *text = row_text(&r->f, columns[i]);

        if (row_phrases(text, rows, ARRAY_SIZE(rows)))
            return PLAN_FP8_ROWS;
        if (row_phrases(text, blocks, ARRAY_SIZE(blocks)))
            return PLAN_FP8_BLOCKS;
    }
    return row_phrase(row->name, "DeepSeek V3") ? PLAN_FP8_BLOCKS : PLAN_FP8;
}

static bool read_precision(const struct row_reader *r, struct plan_row *row)
{
    const char *text = row_text(&r->f, COL_PRECISION);
    int p = words_precision(text);

    if (p == PLAN_FP8)
        p = scales_of(r, row);

    if (p < 0 && *text) {
        row_refuse(row, "precision '%.40s' is not known", text);
        return false;
    }
    row->job.precision = p < 0 ? PLAN_BF16 : (enum plan_precision)p;
    row_understand(row, ROW_PRECISION, "%s: %s", plan_precision_name(row->job.precision),
                   p < 0 ? "not stated" : "stated");
    return true;
}

static bool read_layout(const struct row_reader *r, struct plan_row *row)
{
    struct layout *l = &row->layout;
    int gpus = row_gpus(&r->f);
    int64_t split = row_split(&r->f);

    l->tp = row_degree(&r->f, COL_TP);
    l->pp = row_degree(&r->f, COL_PP);
    l->vpp = row_degree(&r->f, COL_VPP);
    l->cp = row_degree(&r->f, COL_CP);
    l->ep = row->job.shape.experts ? row_degree(&r->f, COL_EP) : 1;
    l->etp = row->job.shape.experts ? row_degree(&r->f, COL_ETP) : 1;
    if (gpus % split) {
        row_refuse(row, "%d GPUs do not divide by tp %d x pp %d x cp %d", gpus, l->tp, l->pp,
                   l->cp);
        return false;
    }
    l->dp = (int)(gpus / split);
    l->micro_batch = row_degree(&r->f, COL_MICRO);
    if (row->job.shape.layers % l->pp)
        l->less = stages_ends;
    return true;
}

/* Sequences of a step; those of one micro-batch for each replica when only that is stated. */
static bool read_batch(const struct row_reader *r, struct plan_row *row)
{
    bool stated = row_int(&r->f, COL_MICRO, 0) > 0;

    row->job.global_batch = row_int(&r->f, COL_BATCH, 0);
    if (!row->job.global_batch && row->layout.pp == 1 && stated && row->layout.dp <= 1 << 16)
        row->job.global_batch = row->layout.micro_batch * row->layout.dp;
    if (row->job.global_batch)
        return true;
    row_refuse(row, "the global batch is not stated");
    return false;
}

static bool row_is_out(const struct row_fields *f)
{
    return row_says_oom(f, COL_NOTES) || row_says_oom(f, COL_TIME) || row_says_oom(f, COL_MEM);
}

/* ---- what was measured ---- */

/* torchtitan prints what PyTorch reserved. */
static bool is_torchtitan(const struct row_fields *f)
{
    return strncasecmp(row_text(f, COL_SOURCE), "pytorch/torchtitan", 18) == 0 ||
           row_names_program(row_text(f, COL_ENGINE), "torchtitan") ||
           row_names_program(row_text(f, COL_NOTES), "torchtitan");
}

static void read_measured(const struct row_reader *r, struct plan_row *row)
{
    static const char *const allocated[] = { "alloc", "allocated", "allocator", "allocation" };
    const struct row_fields *f = &r->f;
    double gpus = layout_gpus(&row->layout), tokens;
    double rate = row_number(f, COL_TOKENS), flops = row_number(f, COL_TFLOPS);
    double mfu = row_number(f, COL_MFU);

    tokens = (double)row->job.seq * row->job.global_batch;
    row->time_s = row_number(f, COL_TIME);
    row->memory_b = row_number(f, COL_MEM);
    row->out = row_is_out(f);
    row->reserved = row_phrase(row_text(f, COL_NOTES), "reserved") || is_torchtitan(f);
    row->peak_only = row->reserved ||
                     row_phrases(row_text(f, COL_NOTES), allocated, ARRAY_SIZE(allocated));
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
    row->time_s = row->from_flops ? plan_step_flops(&row->job) / flops / gpus : (double)NAN;
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
static void name_sweep(const struct row_reader *r, struct plan_row *row)
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

/* Which degrees nobody stated. */
static void say_split(struct plan_row *row, const struct row_free *f)
{
    const struct {
        bool free;
        const char *name;
    } fields[] = { { f->tp, "tp" },
                   { f->pp, "pp" },
                   { f->ep, "ep" },
                   { f->vpp, "vpp" },
                   { f->micro_batch, "micro-batch" } };
    char list[64] = "";
    size_t len = 0;

    for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
        if (fields[i].free)
            len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", len ? ", " : "",
                                    fields[i].name);
    if (len)
        row_understand(row, ROW_SPLIT, "%s: not stated, the fastest that fits", list);
    else
        row_understand(row, ROW_SPLIT, "stated");
}

/* Whether words of the row were not understood: these stay what is said of the topic. */
static bool is_refused(const struct plan_row *row, enum row_topic topic)
{
    return row->understood[topic][0] == '\'';
}

/* What could have been used of settings that nobody stated. */
static void say_settings(struct plan_row *row, const struct row_free *f)
{
    static const char *const levels[] = { "none", "selective", "norms", "mlp", "full" };
    const struct layout *l = &row->layout, *a = &row->fastest, *b = &row->slowest;

    if (l->tp == 1 && !is_refused(row, ROW_SEQ_PARALLEL))
        row_understand(row, ROW_SEQ_PARALLEL, "no: tp is 1");
    else if (f->seq_parallel && !is_refused(row, ROW_SEQ_PARALLEL))
        row_understand(row, ROW_SEQ_PARALLEL, "%s: not stated, could be either",
                       l->seq_parallel ? "yes" : "no");
    if (f->zero && !is_refused(row, ROW_ZERO))
        row_understand(row, ROW_ZERO, "%d: not stated, could be 0 or 1", l->zero);
    if (!f->recompute || is_refused(row, ROW_RECOMPUTE))
        return;
    if (a->recompute != b->recompute)
        row_understand(row, ROW_RECOMPUTE, "%s: not stated, could be %s to %s",
                       levels[l->recompute], levels[MIN(a->recompute, b->recompute)],
                       levels[MAX(a->recompute, b->recompute)]);
    else
        row_understand(row, ROW_RECOMPUTE, "%s: not stated", levels[l->recompute]);
}

/* Degrees, and settings that the notes do not state. */
static bool choose(const struct row_reader *r, struct plan_row *row, struct row_free *free)
{
    const struct row_fields *f = &r->f;
    bool blank = !*row_text(f, COL_TP) && !*row_text(f, COL_PP) && !*row_text(f, COL_DP);
    struct err e = { .text = "" };
    struct row_range range;

    free->micro_batch = !*row_text(f, COL_MICRO);
    free->pp = !*row_text(f, COL_PP) && !*row_text(f, COL_DP) && row->layout.zero < 3;
    free->vpp = !*row_text(f, COL_VPP) && (row->layout.pp > 1 || free->pp) &&
                gpu_is_new(&row->cluster.gpu) && row_may_interleave(r, row);
    free->tp = blank && row->layout.zero < 3;
    free->ep = row->job.shape.experts && !*row_text(f, COL_EP);
    if (row_is_out(f)) /* what did not fit is what is stated */
        free->recompute = free->zero = free->seq_parallel = free->vpp = false;
    if (row_choose(&row->job, &row->cluster, free, &row->layout, &range, &e) < 0) {
        row_refuse(row, "%s", e.text);
        return false;
    }
    row->layout = range.likely;
    row->fastest = range.fastest;
    row->slowest = range.slowest;
    for (int i = 0; i < 3; i++) {
        struct layout *l = i == 0 ? &row->layout : i == 1 ? &row->fastest : &row->slowest;

        l->seq_parallel = l->seq_parallel && l->tp > 1;
        l->overlap_tp = l->overlap_tp && l->tp > 1;
        l->overlap_pp = l->overlap_pp && l->vpp > 1;
    }
    say_split(row, free);
    say_settings(row, free);
    return true;
}

/* Adapters beside frozen weights. */
static bool trains_adapters(const struct row_fields *f)
{
    static const char *const words[] = { "LoRA", "QLoRA", "DoRA" };
    static const enum row_column places[] = { COL_NOTES, COL_MODEL, COL_METHODS };

    for (size_t i = 0; i < ARRAY_SIZE(places); i++)
        if (row_phrases(row_text(f, places[i]), words, ARRAY_SIZE(words)))
            return true;
    return false;
}

static void read_row(const struct row_reader *r, struct plan_row *row)
{
    struct row_free free = { .tp = false };
    struct err e = { .text = "" };

    row->line = r->f.csv.line;
    row->time_s = row->memory_b = row->counted = (double)NAN;
    row->source = hash(row_text(&r->f, COL_SOURCE));
    snprintf(row->name, sizeof(row->name), "%s", row_text(&r->f, COL_MODEL));
    name_sweep(r, row);
    row->job.seq = row_int(&r->f, COL_SEQ, 2048);
    if (!row_read_cluster(r, row) || !read_shape(r, row) || !read_precision(r, row) ||
        !read_layout(r, row) || !read_batch(r, row))
        return;
    row_read_engine(r, row, &free);
    if (trains_adapters(&r->f)) {
        row_refuse(row, "only adapters are trained (LoRA)");
        return;
    }
    free.recompute = !row_read_recompute(r, row);
    if (!choose(r, row, &free))
        return;
    if (layout_check(&row->layout, &row->job, &row->cluster, &e) < 0) {
        row_refuse(row, "%s", e.text);
        return;
    }
    read_measured(r, row);
    if (!(row->time_s > 0) && !(row->memory_b > 0) && !row->out)
        row_refuse(row, "neither time nor memory was measured");
}

int rows_read(const char *text, size_t len, const struct row_tables *tables, struct plan_rows *ret,
              struct err *e)
{
    struct row_reader r = { .tables = tables };
    struct plan_row *rows = NULL;
    size_t count = 0;
    int rc;

    csv_init(&r.f.csv, text, len);
    rc = csv_next(&r.f.csv);
    if (rc < 0)
        return err_set(e, -EINVAL, "line %d: no row of a table", r.f.csv.line);
    row_columns_find(&r.f);
    if (r.f.at[COL_GPU] < 0 || (r.f.at[COL_N_GPUS] < 0 && r.f.at[COL_DP] < 0) ||
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
