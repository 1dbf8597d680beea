/* No field of a layout or a job is lost: it shows in the text of a target, or is refused by it. */
#include <errno.h>

#include "emitted.h"

/* The text without comments, where the layout stands in any case. */
static void strip(const struct str *text, struct str *out)
{
    const char *s = str_text(text);

    str_reset(out);
    while (*s) {
        size_t n = strcspn(s, "\n") + 1;

        if (*s != '#' || !strncmp(s, "#SBATCH", 7))
            str_add_n(out, s, MIN(n, strlen(s)));
        s += MIN(n, strlen(s));
    }
}

static void set_tp(struct made *x)
{
    x->l.tp *= 2;
    x->l.dp /= 2;
}

static void set_pp(struct made *x)
{
    x->l.pp *= 2;
    x->l.dp /= 2;
}

static void set_vpp(struct made *x)
{
    x->l.vpp *= 2;
}

static void set_cp(struct made *x)
{
    x->l.cp *= 2;
    x->l.dp /= 2;
}

static void set_ep(struct made *x)
{
    x->l.ep *= 2;
}

static void set_etp(struct made *x)
{
    x->l.etp *= 2;
}

static void set_dp(struct made *x)
{
    x->l.dp /= 2;
}

static void set_context(struct made *x)
{
    x->l.context = x->l.context == CONTEXT_RING ? CONTEXT_GATHER : CONTEXT_RING;
}

static void set_ulysses(struct made *x)
{
    x->l.context = x->l.context == CONTEXT_ULYSSES ? CONTEXT_RING : CONTEXT_ULYSSES;
}

static void set_micro_batch(struct made *x)
{
    x->l.micro_batch *= 2;
}

static void set_selective(struct made *x)
{
    x->l.recompute = RECOMPUTE_SELECTIVE;
}

static void set_norms(struct made *x)
{
    x->l.recompute = RECOMPUTE_NORMS;
}

static void set_mlp(struct made *x)
{
    x->l.recompute = RECOMPUTE_MLP;
}

static void set_overlap_ep(struct made *x)
{
    x->l.overlap_ep = !x->l.overlap_ep;
}

static void set_offload(struct made *x)
{
    x->l.offload = !x->l.offload;
}

static void set_moment_b(struct made *x)
{
    x->job.moment_b = x->job.moment_b == 2 ? 4 : 2;
}

static void set_full(struct made *x)
{
    x->l.recompute = x->l.recompute == RECOMPUTE_FULL ? RECOMPUTE_NONE : RECOMPUTE_FULL;
}

static void set_zero(struct made *x)
{
    x->l.zero = (x->l.zero + 1) % 4;
}

static void set_zero2(struct made *x)
{
    x->l.zero = (x->l.zero + 2) % 4;
}

static void set_shard(struct made *x)
{
    x->l.shard = x->l.dp * x->l.cp / 2;
}

static void set_seq_parallel(struct made *x)
{
    x->l.seq_parallel = !x->l.seq_parallel;
    x->l.overlap_tp = false;
}

static void set_gpipe(struct made *x)
{
    x->l.schedule = SCHEDULE_GPIPE;
}

static void set_zero_bubble(struct made *x)
{
    x->l.schedule = SCHEDULE_ZERO_BUBBLE;
}

static void set_stages(struct made *x)
{
    x->l.less = stage_split_is(&x->l.less, &stages_even) ? stages_ends : stages_even;
}

static void set_overlap_dp(struct made *x)
{
    x->l.overlap_dp = !x->l.overlap_dp;
}

static void set_overlap_tp(struct made *x)
{
    x->l.overlap_tp = !x->l.overlap_tp;
}

static void set_overlap_pp(struct made *x)
{
    x->l.overlap_pp = !x->l.overlap_pp;
}

static void set_precision(struct made *x)
{
    x->job.precision = PLAN_FP8;
}

static void set_fp8_rows(struct made *x)
{
    x->job.precision = PLAN_FP8_ROWS;
}

static void set_fp8_blocks(struct made *x)
{
    x->job.precision = PLAN_FP8_BLOCKS;
}

static void set_mxfp8(struct made *x)
{
    x->job.precision = PLAN_MXFP8;
}

static void set_nvfp4(struct made *x)
{
    x->job.precision = PLAN_NVFP4;
}

static void set_fp16(struct made *x)
{
    x->job.precision = PLAN_FP16;
}

static void set_gradient_b(struct made *x)
{
    x->job.gradient_b = 6 - x->job.gradient_b;
}

static void set_plain(struct made *x)
{
    x->job.attention = ATTENTION_PLAIN;
}

static void set_first(struct made *x)
{
    x->job.attention = ATTENTION_FIRST;
}

static void set_fused(struct made *x)
{
    x->job.fused = !x->job.fused;
}

static void set_graphs(struct made *x)
{
    x->job.graphs = true;
}

static void set_fused_loss(struct made *x)
{
    x->job.fused_loss = true;
}

static void set_batch(struct made *x)
{
    x->job.global_batch *= 2;
}

static void set_seq(struct made *x)
{
    x->job.seq *= 2;
}

static const struct {
    const char *field;
    void (*set)(struct made *x);
} variants[] = {
    { "tp", set_tp },
    { "pp", set_pp },
    { "vpp", set_vpp },
    { "cp", set_cp },
    { "ep", set_ep },
    { "etp", set_etp },
    { "dp", set_dp },
    { "context", set_context },
    { "context=ulysses", set_ulysses },
    { "micro_batch", set_micro_batch },
    { "recompute=selective", set_selective },
    { "recompute=norms", set_norms },
    { "recompute=mlp", set_mlp },
    { "recompute=full", set_full },
    { "overlap_ep", set_overlap_ep },
    { "offload", set_offload },
    { "zero", set_zero },
    { "zero by two", set_zero2 },
    { "shard", set_shard },
    { "seq_parallel", set_seq_parallel },
    { "schedule=gpipe", set_gpipe },
    { "schedule=zero-bubble", set_zero_bubble },
    { "stages", set_stages },
    { "overlap_dp", set_overlap_dp },
    { "overlap_tp", set_overlap_tp },
    { "overlap_pp", set_overlap_pp },
    { "fp8", set_precision },
    { "fp8_rows", set_fp8_rows },
    { "fp8_blocks", set_fp8_blocks },
    { "mxfp8", set_mxfp8 },
    { "nvfp4", set_nvfp4 },
    { "fp16", set_fp16 },
    { "gradient_bytes", set_gradient_b },
    { "moment_bytes", set_moment_b },
    { "attention=plain", set_plain },
    { "attention=first", set_first },
    { "fused", set_fused },
    { "graphs", set_graphs },
    { "fused_loss", set_fused_loss },
    { "batch", set_batch },
    { "seq", set_seq },
};

/* How often a field appeared in a text of a target, and how often it was refused. */
struct tally {
    int shown, refused, lost;
};

static void vary(int target, const struct made *base, struct tally *tally)
{
    CLEANUP(str_done) struct str text = STR_INIT(TEXT);
    CLEANUP(str_done) struct str was = STR_INIT(TEXT);
    CLEANUP(str_done) struct str now = STR_INIT(TEXT);

    if (text_of(target, base, &text, NULL) < 0)
        return;
    strip(&text, &was);
    for (size_t i = 0; i < ARRAY_SIZE(variants); i++) {
        struct made x = *base;
        struct err e = { "" };
        int rc;

        variants[i].set(&x);
        /* Sequences are the business of a program that DeepSpeed runs: a comment says how long. */
        if (target == EMIT_DEEPSPEED && x.job.seq != base->job.seq)
            continue;
        rc = text_of(target, &x, &text, &e);
        strip(&text, &now);
        if (rc == -EINVAL && e.text[0]) {
            tally->refused++;
        } else if (rc == 0 && strcmp(str_text(&was), str_text(&now)) != 0) {
            tally->shown++;
        } else {
            tally->lost++;
            ok(false, "%s shows the field %s or refuses it", target_names[target],
               variants[i].field);
        }
    }
}

static void test_no_field_is_lost(const struct models *m)
{
    static const struct {
        const char *model, *pins;
    } bases[] = {
        { "Llama-3.1-8B", "" },
        { "Llama-3.1-8B", "zero=0" },
        { "Llama-3.1-8B", "zero=2,gradient_bytes=2" },
        { "Llama-3.1-8B", "zero=3,gradient_bytes=2" },
        { "Llama-3.1-8B", "zero=2" },
        { "Llama-3.1-8B", "zero=3,shard=8" },
        { "Llama-3.1-8B", "tp=4,zero=3,overlap_tp=no" },
        { "Llama-3.1-8B", "tp=2,zero=1,seq_parallel=no" },
        { "Llama-3.1-8B", "tp=4,zero=3,recompute=full" },
        { "Llama-3.1-70B", "tp=4,pp=4,vpp=2,cp=2" },
        { "Llama-3.1-70B", "tp=4,pp=4,vpp=2,cp=2,zero=3" },
        { "Llama-3.1-70B", "tp=4,pp=4,zero=3" },
        { "Llama-3.1-70B", "tp=2,pp=2,cp=4,context=ulysses" },
        { "Llama-3.1-405B", "tp=8,pp=8,stages=ends" },
        { "Mixtral-8x7B", "tp=2,pp=2,ep=4,etp=2" },
        { "DeepSeek-V3", "tp=2,pp=8,ep=16,stages=ends" },
        { "DeepSeek-V3", "tp=4,ep=16,zero=3" },
        { "GPT-3-175B", "tp=8,pp=8" },
    };

    for (int target = 0; target < EMIT_TARGETS; target++) {
        struct tally tally = { .lost = 0 };

        for (size_t i = 0; i < ARRAY_SIZE(bases); i++) {
            struct made x = make(m, bases[i].model, 32, 1024, bases[i].pins);

            vary(target, &x, &tally);
        }
        ok(tally.shown > 10 && !tally.lost, "%s: %d changes show, %d are refused, %d are lost",
           target_names[target], tally.shown, tally.refused, tally.lost);
    }
}

int main(void)
{
    CLEANUP(models_done) struct models m = { .n_rows = 0 };

    models_of_emit(&m);
    test_no_field_is_lost(&m);
    return done();
}
