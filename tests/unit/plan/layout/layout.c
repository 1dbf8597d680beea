/* Which layouts can be: each rule from both sides, with what is said of those that cannot; and how
 * layers lie on stages and chunks. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "plan/layout/pins.h"
#include "tap.h"

static struct plan_job dense(void)
{
    return (struct plan_job){ .shape = { .layers = 32,
                                         .hidden = 1536,
                                         .heads = 24,
                                         .kv_heads = 8,
                                         .head_dim = 64,
                                         .ffn = 4096,
                                         .vocab = 32000 },
                              .seq = 4096,
                              .global_batch = 64,
                              .precision = PLAN_BF16 };
}

static struct plan_job experts(void)
{
    struct plan_job job = dense();

    job.shape.experts = 8;
    job.shape.active = 2;
    job.shape.expert_ffn = 1024;
    return job;
}

static struct plan_job tuned(const char *words)
{
    struct plan_job job = dense();

    ok(finetune_read(&job.tune, words, NULL) == 0, "the words '%s' are read", words);
    return job;
}

static struct plan_job short_sequence(void)
{
    struct plan_job job = dense();

    job.seq = 4;
    return job;
}

static struct plan_job narrow(void)
{
    struct plan_job job = dense();

    job.shape.ffn = 4100;
    return job;
}

static const struct cluster cluster = { .nodes = 8, .per_node = 8, .domain = 8 };

struct rule {
    const char *words, *said; /* said: "" where the layout can be */
};

static void check(const char *name, const struct plan_job *job, const struct rule *rules, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct pins pins = { .fixed = 0 };
        struct err e = { "" };
        struct layout l;
        int rc = pins_read(&pins, rules[i].words, &e);

        if (rc == 0)
            rc = pins_complete(&pins, job, &cluster, &l, &e);
        is_int(rc, *rules[i].said ? -EINVAL : 0, "%s: %s %s", name, rules[i].words,
               *rules[i].said ? "cannot be" : "can be");
        is_str(e.text, rules[i].said, "%s: what is said of %s", name, rules[i].words);
    }
}

static void test_shapes(void)
{
    static const struct rule of_dense[] = {
        { "tp=5", "24 heads do not divide by tp 5" },
        { "tp=8", "" },
        { "tp=4", "" },
        { "tp=24,dp=1,micro_batch=1,sp=no", "ffn 4096 does not divide by tp 24" },
        { "tp=12", "8 key-value heads and tp 12: neither divides the other" },
        { "cp=3", "4096 tokens do not divide by 2 x cp 3" },
        { "cp=2", "" },
        { "tp=8,cp=2,context=ulysses",
          "Ulysses needs heads for tp x cp: 24 do not divide by 8 x 2" },
        { "tp=4,cp=2,context=ulysses", "" },
        { "tp=8,cp=1,context=ulysses", "" },
        { "tp=8,cp=2,context=ring", "" },
        { "ep=2", "ep 2, but the model has no experts" },
        { "etp=4", "ep 4, but the model has no experts" },
    };
    static const struct rule of_short[] = {
        { "tp=4,sp=yes", "" },
        { "tp=8,sp=yes", "4 tokens do not divide by tp 8 for sequence parallelism" },
        { "tp=8,sp=no", "" },
        { "tp=4,cp=2,sp=yes", "2 tokens do not divide by tp 4 for sequence parallelism" },
        { "cp=2", "" },
        { "cp=4", "4 tokens do not divide by 2 x cp 4" },
    };
    static const struct rule of_narrow[] = {
        { "tp=4", "" },
        { "tp=8", "ffn 4100 does not divide by tp 8" },
    };
    static const struct rule of_experts[] = {
        { "ep=8", "" },
        { "ep=3", "8 experts do not divide by ep 3" },
        { "ep=2,etp=4", "" },
        { "etp=3", "ffn 1024 of an expert does not divide by etp 3" },
        { "ep=8,etp=8", "" },
        { "ep=8,etp=16", "tp x cp x dp 64 does not divide by ep 8 x etp 16" },
        { "ep=8,dp=4", "tp x cp x dp 4 does not divide by ep 8 x etp 1" },
        { "ep=8,dp=4,tp=2", "" },
        { "ep=8,dp=4,cp=2", "" },
        { "ep=8,dp=4,pp=2", "tp x cp x dp 4 does not divide by ep 8 x etp 1" },
    };
    const struct plan_job jobs[] = { dense(), short_sequence(), narrow(), experts() };

    check("dense", &jobs[0], of_dense, ARRAY_SIZE(of_dense));
    check("short", &jobs[1], of_short, ARRAY_SIZE(of_short));
    check("narrow", &jobs[2], of_narrow, ARRAY_SIZE(of_narrow));
    check("experts", &jobs[3], of_experts, ARRAY_SIZE(of_experts));
}

static void test_pipelines(void)
{
    static const struct rule rules[] = {
        { "pp=32,dp=1", "" },
        { "pp=33,dp=1", "32 layers leave none for stage 32 of 33" },
        { "pp=16,dp=1,stages=1+0", "" },
        { "pp=16,dp=1,stages=3+0", "32 layers leave none for stage 0 of 16" },
        { "pp=16,dp=1,stages=0+3", "32 layers leave none for stage 15 of 16" },
        { "pp=2,dp=1,stages=30+0", "" },
        { "pp=2,dp=1,stages=32+0", "32 layers leave none for stage 0 of 2" },
        { "pp=2,dp=1,stages=0+32", "32 layers leave none for stage 1 of 2" },
        { "dp=3", "batch 64 does not divide by dp 3 x micro-batch 1" },
        { "dp=8,micro_batch=16", "batch 64 does not divide by dp 8 x micro-batch 16" },
        { "dp=8,micro_batch=8", "" },
        { "vpp=2,dp=1", "vpp 2 needs a pipeline with the 1F1B schedule" },
        { "pp=2,vpp=2,dp=1", "" },
        { "pp=2,vpp=2,dp=1,schedule=gpipe", "vpp 2 needs a pipeline with the 1F1B schedule" },
        { "pp=2,vpp=2,dp=1,schedule=zero-bubble", "vpp 2 needs a pipeline with the 1F1B schedule" },
        { "pp=2,dp=1,schedule=gpipe", "" },
        { "pp=2,vpp=16,dp=1", "" },
        { "pp=2,vpp=17,dp=1", "32 layers are too few for pp 2 x vpp 17" },
        { "pp=2,vpp=17,dp=1,stages=ends", "" },
        { "pp=2,vpp=16,dp=1,stages=3+0", "the first chunk cannot have 3 layers fewer than the "
                                         "others: with pp 2 x vpp 16 they have "
                                         "no more than 2" },
        { "pp=2,vpp=16,dp=1,stages=0+3",
          "the last chunk cannot have 3 layers fewer than the others: with pp 2 x vpp 16 they have "
          "no more than 2" },
        { "pp=4,vpp=2,dp=16", "" },
        { "pp=4,vpp=2,dp=8,micro_batch=4", "2 micro-batches do not divide by pp 4, as vpp needs" },
        { "pp=4,dp=8,micro_batch=4", "" },
        { "tp=8,pp=8,dp=1", "" },
        { "tp=8,pp=8,dp=2", "tp 8 x pp 8 x cp 1 x dp 2 is more than the 64 GPUs" },
        { "tp=8,pp=2,cp=4,dp=2", "tp 8 x pp 2 x cp 4 x dp 2 is more than the 64 GPUs" },
        { "dp=8,shard=4", "" },
        { "dp=8,shard=8", "" },
        { "dp=8,shard=3", "dp x cp 8 does not divide by groups of 3 that share states" },
        { "dp=8,shard=16", "dp x cp 8 does not divide by groups of 16 that share states" },
        { "dp=8,cp=2,shard=16", "" },
    };
    const struct plan_job job = dense();

    check("pipelines", &job, rules, ARRAY_SIZE(rules));
}

static void test_tuned(void)
{
    static const char whole[] = "fine-tuning is modelled on whole models, divided by ZeRO alone: "
                                "tp, pp and cp are 1";
    static const char two[] = "with adapters, recompute is none or full (gradient checkpointing)";
    static const struct rule of_lora[] = {
        { "dp=8", "" },
        { "tp=2", whole },
        { "pp=2", whole },
        { "cp=2", whole },
        { "recompute=none", "" },
        { "recompute=selective", two },
        { "recompute=norms", two },
        { "recompute=mlp", two },
        { "recompute=full", "" },
    };
    static const struct rule of_full[] = {
        { "tp=2", whole },
        { "recompute=selective", "" },
        { "recompute=full", "" },
    };
    const struct plan_job lora = tuned("lora"), full = tuned("full");

    check("adapters", &lora, of_lora, ARRAY_SIZE(of_lora));
    check("all weights", &full, of_full, ARRAY_SIZE(of_full));
}

/* Numbers that no words have. */
static void test_sizes(void)
{
    static const struct {
        const char *name;
        size_t at;
    } sizes[] = {
        { "tp", offsetof(struct layout, tp) },
        { "pp", offsetof(struct layout, pp) },
        { "vpp", offsetof(struct layout, vpp) },
        { "cp", offsetof(struct layout, cp) },
        { "ep", offsetof(struct layout, ep) },
        { "etp", offsetof(struct layout, etp) },
        { "dp", offsetof(struct layout, dp) },
        { "micro-batch", offsetof(struct layout, micro_batch) },
    };
    static const int values[] = { INT_MIN, -1, 0, 1, 1 << 20, (1 << 20) + 1, INT_MAX };
    const struct plan_job job = dense();
    const struct layout good = {
        .tp = 1, .pp = 1, .vpp = 1, .cp = 1, .ep = 1, .etp = 1, .dp = 1, .micro_batch = 1
    };
    struct layout l;
    char text[80];

    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
        for (size_t k = 0; k < ARRAY_SIZE(values); k++) {
            bool beyond = values[k] < 1 || values[k] > 1 << 20;
            struct err e = { "" };

            l = good;
            memcpy((char *)&l + sizes[i].at, &values[k], sizeof(values[k]));
            snprintf(text, sizeof(text), "%s is %d: it must be 1 to 1048576", sizes[i].name,
                     values[k]);
            ok(layout_check(&l, &job, &cluster, &e) == (values[k] == 1 ? 0 : -EINVAL) &&
                   (strcmp(e.text, text) == 0) == beyond,
               "%s of %d is beyond all layouts or not", sizes[i].name, values[k]);
        }
    for (int zero = -1; zero <= 4; zero++) {
        struct err e = { "" };

        l = good;
        l.zero = zero;
        is_int(layout_check(&l, &job, &cluster, &e), zero < 0 || zero > 3 ? -EINVAL : 0,
               "there is a ZeRO-%d or not: %s", zero, e.text);
    }
    l = good;
    l.shard = -1;
    is_int(layout_check(&l, &job, &cluster, NULL), -EINVAL, "no group has less than one GPU");
}

int main(void)
{
    test_shapes();
    test_pipelines();
    test_tuned();
    test_sizes();
    return done();
}
