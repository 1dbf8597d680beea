#include "cmd/plan/job.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "cmd/plan/model.h"
#include "devices_csv.h"
#include "plan/cluster/cluster_read.h"
#include "plan/cluster/constants.h"
#include "plan/cluster/from_machine.h"
#include "plan/layout/usual.h"
#include "probe/recording.h"
#include "probe/recording_load.h"

enum { CONFIG_MAX = 8 << 20, PATH_LONGEST = 4096, SEQ_USUAL = 4096, WORD_MAX = 32, NOTE_MAX = 256 };
static const int64_t patience_ns = 10 * NS_PER_S;
static const double tokens_max = 1e18;

PRINTF(2, 3)
static void note(struct plan_ask *a, const char *fmt, ...)
{
    size_t n = strlen(a->notes);
    char text[NOTE_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    snprintf(a->notes + n, sizeof(a->notes) - n, "%s%s", n > 0 ? "; " : "", text);
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && !strcmp(text + n - m, end);
}

/* ---- the cluster ---- */

static int read_machine(const char *path, struct plan_ask *a, struct err *e)
{
    CLEANUP(catalogue_done) struct catalogue c = { .n_products = 0 };
    CLEANUP(machine_done) struct machine m = { .n_nodes = 0 };
    CLEANUP(node_freep) struct node *n = NULL;
    struct probe p = { .catalogue = &c, .patience_ns = patience_ns };
    int rc = catalogue_load(&c, data_devices_csv, data_devices_csv_len, e);

    if (rc == 0 && path)
        rc = recording_load(&p, path, &m, e);
    else if (rc == 0)
        rc = recording_live(&p, &n, e);
    if (rc == 0 && n) {
        if (machine_add(&m, n) < 0)
            return err_nomem(e);
        n = NULL;
    }
    if (rc == 0)
        rc = cluster_from_machine(&a->cluster, &a->known.gpus, &c, &m, e);
    return rc;
}

static int read_cluster(const struct plan_opts *o, struct plan_ask *a, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(CONFIG_MAX);
    const char *spec = o->cluster;
    struct stat st;
    int rc;

    if (!spec || !*spec)
        return err_usage(e, "say what it runs on: --cluster=64x8xH100-SXM, a file, or this");
    if (!strcmp(spec, "this"))
        return read_machine(NULL, a, e);
    if (ends_with(spec, ".ini")) {
        rc = file_read(spec, &text, e);
        return rc < 0 ? rc
                      : cluster_from_ini(&a->cluster, &a->known.gpus, spec, str_text(&text),
                                         text.len, e);
    }
    if (*spec == '/' || *spec == '.' || stat(spec, &st) == 0)
        return read_machine(spec, a, e);
    rc = err_usage_of(cluster_from_spec(&a->cluster, &a->known.gpus, spec, e));
    return rc == ERR_USAGE ? err_context(e, rc, "--") : rc; /* its text starts with "cluster" */
}

/* What the model needs of a GPU beyond what a cluster does. */
static int check_gpu(const struct plan_opts *o, struct plan_ask *a, struct err *e)
{
    struct gpu *g = &a->cluster.gpu;
    enum plan_precision want = PLAN_BF16;
    bool has;

    for (int p = 0; o->precision && p < PLAN_PRECISIONS; p++)
        if (!strcmp(o->precision, plan_precision_name((enum plan_precision)p)))
            want = (enum plan_precision)p;
    has = g->flops[want] > 0;
    if (!has && !o->precision && g->flops[PLAN_FP16] > 0) {
        want = PLAN_FP16;
        has = true;
        note(a, "fp16: %s has no bf16", g->name);
    }
    if (!has)
        return err_usage(e, "%s does not compute in %s: give another --precision", g->name,
                         plan_precision_name(want));
    if (!(g->flops[PLAN_BF16] > 0 || g->flops[PLAN_FP16] > 0))
        return err_set(e, -EINVAL, "%s has no 16-bit floats, which training needs", g->name);
    a->job.precision = want;
    if (!o->precision && want == PLAN_BF16)
        note(a, "products in bf16");
    if (!(g->gemm_best[want] > 0))
        note(a, "%s: not all figures were measured, some are those of the GPU most like it",
             g->name);
    else if (g->rates == RATES_KERNELS)
        note(a,
             "%s: rates of products that others published, of which a step keeps as much as on "
             "the GPU most like it; links and memory as there",
             g->name);
    gpu_assume(g);
    if (a->cluster.power_w > 0 && a->cluster.power_w < g->tdp_w) {
        gpu_limit(g, a->cluster.power_w);
        note(a, "%.0f W a GPU instead of %.0f: its clock falls with the cube root",
             a->cluster.power_w, g->tdp_w);
    }
    return 0;
}

/* What the shape leaves out of the model. */
static void note_model(struct plan_ask *a)
{
    const struct shape *s = &a->job.shape;

    if (s->part)
        note(a, "the part of the model for text");
    if (s->further_layers > 0)
        note(a, "without its %d layer%s for multi-token prediction", s->further_layers,
             s->further_layers > 1 ? "s" : "");
}

/* Attention and what lies between the products. */
static void add_kernels(const struct plan_job *job, struct str *out)
{
    static const char *const attention[] = {
        [ATTENTION_PLAIN] = "attention with its scores in memory",
        [ATTENTION_FLASH] = "fused attention of before 2024",
        [ATTENTION_SECOND] = "FlashAttention-2",
        [ATTENTION_FIRST] = "Triton's first fused attention",
        [ATTENTION_THIRD] = "fused attention",
    };
    static const char *const own[] = { "Megatron-LM", "PyTorch", "DeepSpeed" };

    str_add(out, attention[job->attention]);
    if (!job->fused)
        str_addf(out, ", other kernels of %s one by one", own[job->engine]);
    else if (job->engine == ENGINE_TORCH)
        str_add(out, " and kernels as torch.compile fuses them");
    else
        str_addf(out, " and kernels as in %s", own[job->engine]);
}

/* What is beside the compute: as pinned, else as usual. */
static void add_hidden(const struct plan_ask *a, struct str *out)
{
    const struct plan_job *job = &a->job;
    const struct pins *p = &a->pins;
    bool tp = pins_has(p, PIN_OVERLAP_TP) ? p->layout.overlap_tp
                                          : usual_hides_tp(job, gpu_is_new(&a->cluster.gpu));
    bool dp = pins_has(p, PIN_OVERLAP_DP) ? p->layout.overlap_dp : usual_hides_dp(job, 3, true);
    bool pp = pins_has(p, PIN_OVERLAP_PP) ? p->layout.overlap_pp : usual_hides_pp(true);

    if (!tp && !dp)
        str_add(out, ", no collectives beside the compute");
    else
        str_addf(out, ", collectives of %s%s beside the compute",
                 tp && dp ? "tensor and data parallelism"
                 : tp     ? "tensor parallelism"
                          : "data parallelism",
                 dp && !usual_hides_dp(job, 1, true) ? " with ZeRO-3" : "");
    if (pp)
        str_add(out, ", and sends of stages with chunks");
}

/* What the model takes the program to do: brim plan eval takes the same for a row of its time
 * (plan/layout/usual.h). What is pinned is not assumed, but stands in the same sentence. */
static void note_program(struct plan_ask *a)
{
    CLEANUP(str_done) struct str words = STR_INIT(NOTE_MAX);
    const struct plan_job *job = &a->job;

    if (job->tune.kind != FINETUNE_NONE) {
        finetune_text(&job->tune, &words);
        note(a, "%s", str_text(&words));
    }
    if (job->tune.kind == FINETUNE_LORA) {
        note(a, "fused attention, other kernels of PyTorch one by one");
        return;
    }
    str_reset(&words);
    add_kernels(job, &words);
    str_addf(&words, ", gradients of %d bits, moments of %d", 8 * job->gradient_b,
             8 * job->moment_b);
    add_hidden(a, &words);
    note(a, "%s", str_text(&words));
    if (job->shape.experts && job->imbalance == 1)
        note(a, "experts with even loads");
    note(a, "%s, %s", job->graphs ? "CUDA graphs" : "no CUDA graphs",
         job->fused_loss ? "the loss in pieces" : "the loss of all logits at once");
}

/* As the engine computes; then what was pinned. */
static void set_job(struct plan_ask *a)
{
    const struct pins *p = &a->pins;
    /* PyTorch and DeepSpeed are planned with ZeRO-3 where nobody says otherwise. */
    bool sharded = (!pins_has(p, PIN_ZERO) || p->layout.zero == 3) &&
                   (!pins_has(p, PIN_PP) || p->layout.pp == 1);

    if (pins_has(p, PIN_ENGINE))
        a->job.engine = p->job.engine;
    usual_job(&a->job, a->job.engine, USUAL_TODAY, sharded);
}

/* What is trained of the model. */
static int read_finetune(const struct plan_opts *o, struct plan_ask *a, struct err *e)
{
    struct finetune *f = &a->job.tune;
    int rc;

    if (!o->finetune)
        return 0;
    rc = finetune_read(f, o->finetune, e);
    if (rc == 0)
        rc = finetune_check(f, &a->job.shape, e);
    if (rc < 0)
        return err_context(e, err_usage_of(rc), "--finetune: ");
    /* Optimizers of 8 bits step weights of 16 bits, whose gradients are as wide. */
    a->job.gradient_b = f->kind == FINETUNE_FULL && f->optimizer != FINETUNE_ADAMW ? 2 : 4;
    return 0;
}

/* ---- numbers ---- */

/* "300B", "1.5T", "4Mi", "123"; 'x' as the unit sets *times instead. */
static int read_amount(const char *option, const char *text, double *ret, bool *times,
                       struct err *e)
{
    static const struct {
        const char *end;
        double unit;
    } units[] = { { "Ki", 1 << 10 }, { "Mi", 1 << 20 }, { "Gi", 1 << 30 }, { "K", 1e3 },
                  { "k", 1e3 },      { "M", 1e6 },      { "G", 1e9 },      { "B", 1e9 },
                  { "T", 1e12 },     { "x", 1 },        { "", 1 } };
    char word[WORD_MAX];
    size_t len = strlen(text), i = 0;
    double value;

    while (!ends_with(text, units[i].end))
        i++;
    len -= strlen(units[i].end);
    memcpy(word, text, MIN(len, sizeof(word) - 1));
    word[MIN(len, sizeof(word) - 1)] = '\0';
    if (len >= sizeof(word) || parse_double(word, &value) < 0 || !(value > 0) ||
        value * units[i].unit > tokens_max || (*units[i].end == 'x' && !times))
        return err_usage(e, "--%s is a number of tokens above 0, such as %s, not '%.40s'", option,
                         times ? "300B, 1.5T or 20x the parameters" : "4M or 4Mi", text);
    if (times)
        *times = *units[i].end == 'x';
    *ret = value * units[i].unit;
    return 0;
}

static int read_seq(const struct plan_opts *o, struct plan_ask *a, struct err *e)
{
    const struct shape *s = &a->job.shape;

    if (!o->seq) {
        a->job.seq = s->positions > 0 ? MIN(s->positions, SEQ_USUAL) : SEQ_USUAL;
        note(a, "sequences of %d tokens", a->job.seq);
    } else {
        a->job.seq = (int)o->seq;
    }
    if (s->learned_positions && s->positions > 0 && a->job.seq > s->positions)
        return err_usage(e,
                         "--seq=%d: the model has %d positions, and longer sequences do not go "
                         "into it",
                         a->job.seq, s->positions);
    if (s->positions > 0 && a->job.seq > s->positions)
        note(a, "the model was made for %d positions", s->positions);
    return 0;
}

/* Whole, and so that it has many divisors: 0 to 2 % off. */
static double round_batch(double n)
{
    double unit = 1;

    while (unit * 64 <= n)
        unit *= 2;
    return round(n / unit) * unit;
}

static int read_batch(const struct plan_opts *o, struct plan_ask *a, struct err *e)
{
    double n = 0;
    int rc;

    if (o->batch && o->batch_tokens)
        return err_usage(e, "--batch and --batch-tokens say the same: give one of them");
    if (!o->batch && !o->batch_tokens)
        return err_usage(e, "say what a step takes: --batch=SEQUENCES or "
                            "--batch-tokens=4M");
    if (o->batch) {
        a->job.global_batch = (int)o->batch;
        return 0;
    }
    rc = read_amount("batch-tokens", o->batch_tokens, &n, NULL, e);
    if (rc)
        return rc;
    n = round_batch(n / a->job.seq);
    if (n < 1 || n > PLAN_BATCH_MAX)
        return err_usage(e, "--batch-tokens=%.40s is %s sequences of %d tokens", o->batch_tokens,
                         n < 1 ? "less than one of the" : "too many", a->job.seq);
    a->job.global_batch = (int)n;
    note(a, "a step of %d sequences", a->job.global_batch);
    return 0;
}

static int read_rest(const struct plan_opts *o, struct plan_ask *a, struct err *e)
{
    bool times = false;
    int rc = 0;

    a->tokens = (double)NAN;
    if (o->tokens)
        rc = read_amount("tokens", o->tokens, &a->tokens, &times, e);
    if (times)
        a->tokens *= a->parameters;
    if (rc == 0 && o->price) {
        rc = parse_double(o->price, &a->cluster.price);
        if (rc < 0 || !(a->cluster.price >= 0 && a->cluster.price <= CLUSTER_PRICE_MOST))
            rc = err_usage(e, "--price is that of a GPU for an hour, from 0 to %d, not '%.40s'",
                           CLUSTER_PRICE_MOST, o->price);
    }
    return rc;
}

static int read_pins(const struct plan_opts *o, struct plan_ask *a, struct err *e)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < o->pins.n; i++) {
        rc = err_usage_of(pins_read(&a->pins, o->pins.items[i], e));
        if (rc < 0)
            err_context(e, rc, "--pin: ");
    }
    return rc;
}

/* ---- all ---- */

void plan_ask_done(struct plan_ask *a)
{
    plan_known_done(&a->known);
}

int plan_ask_read(const struct plan_opts *o, const char *model, struct plan_ask *ret, struct err *e)
{
    int rc = plan_known_load(o, &ret->known, e);

    if (rc == 0)
        rc = plan_model_read(&ret->known, model, &ret->job.shape, e);
    if (rc == 0 && !ret->count_only && shape_can_plan(&ret->job.shape, e) < 0)
        rc = err_context(e, -ENOTSUP, "%s: ", model);
    if (rc == 0)
        rc = read_cluster(o, ret, e);
    if (rc)
        return rc;
    ret->parameters = shape_count(&ret->job.shape).total;
    note_model(ret);
    if (*ret->cluster.assumed)
        note(ret, "%s", ret->cluster.assumed);
    rc = check_gpu(o, ret, e);
    if (rc == 0)
        rc = read_pins(o, ret, e);
    if (rc)
        return rc;
    set_job(ret);
    rc = read_finetune(o, ret, e);
    pins_set_job(&ret->pins, &ret->job);
    if (rc == 0)
        note_program(ret);
    if (rc == 0)
        rc = read_seq(o, ret, e);
    if (rc == 0)
        rc = read_batch(o, ret, e);
    return rc ? rc : read_rest(o, ret, e);
}
