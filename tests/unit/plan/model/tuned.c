/* Fine-tuning in figures: what each word of it changes in the memory of a GPU and in a step, for
 * shapes and layouts that differ in one thing; and what the words are read as.
 *
 *     t_plan_model_tuned FILE */
#include <math.h>

#include "base/str.h"
#include "golden.h"
#include "plan/cluster/constants.h"
#include "plan/model/finetune_memory.h"
#include "plan/model/step.h"
#include "tap.h"

enum { ROOM = 1 << 20 };

static const char *const words[] = {
    "full",
    "full,optimizer=adamw8bit",
    "full,optimizer=paged8bit",
    "full,optimizer=sgd",
    "full,frozen=2",
    "lora",
    "lora,rank=1",
    "lora,rank=4096",
    "lora,modules=q",
    "lora,modules=k",
    "lora,modules=v",
    "lora,modules=q+k+v",
    "lora,modules=qkv",
    "lora,modules=o",
    "lora,modules=gate",
    "lora,modules=up",
    "lora,modules=gate+up",
    "lora,modules=down",
    "lora,modules=head",
    "lora,modules=attention",
    "lora,modules=mlp",
    "lora,modules=all+head",
    "lora,dropout=0",
    "lora,dropout=0,modules=q+k+v",
    "lora,dropout=0,modules=gate+up",
    "lora,dropout=0.5",
    "lora,frozen=2",
    "lora,frozen=3",
    "lora,frozen=4",
    "lora,weights=nf4",
    "lora,weights=nf4-dq",
    "lora,weights=int4",
    "lora,optimizer=adamw8bit",
    "lora,optimizer=paged8bit",
    "lora,optimizer=sgd",
    "lora,program=deepspeed",
    "lora,program=deepspeed,dropout=0",
    "lora,program=deepspeed,optimizer=adamw8bit",
    "lora,program=litgpt",
    "lora,program=litgpt,dropout=0",
    "lora,program=litgpt,modules=k",
    "lora,program=litgpt,weights=nf4",
    "qlora",
    "qlora,dropout=0",
    "qlora,modules=q+v",
    "qlora,program=litgpt",
    "qlora,program=litgpt,modules=head",
    "qlora,program=deepspeed",
};

static struct plan_job usual(void)
{
    return (struct plan_job){ .shape = { .layers = 4,
                                         .hidden = 1024,
                                         .heads = 16,
                                         .kv_heads = 4,
                                         .head_dim = 64,
                                         .ffn = 2816,
                                         .vocab = 32000,
                                         .gated = true },
                              .seq = 512,
                              .global_batch = 16,
                              .precision = PLAN_BF16,
                              .attention = ATTENTION_FLASH,
                              .gradient_b = 4,
                              .imbalance = 1 };
}

static struct layout one(void)
{
    return (struct layout){
        .tp = 1, .pp = 1, .vpp = 1, .cp = 1, .ep = 1, .etp = 1, .dp = 4, .micro_batch = 2
    };
}

static struct cluster make_cluster(void)
{
    struct cluster c = { .nodes = 1,
                         .per_node = 4,
                         .domain = 4,
                         .link_rate = 300e9,
                         .nics = 1,
                         .nic_rate = 50e9,
                         .oversubscribed = 1 };

    c.gpu.flops[PLAN_FP16] = c.gpu.flops[PLAN_BF16] = 312e12;
    c.gpu.memory_b = 40e9;
    c.gpu.memory_rate = 1.6e12;
    c.gpu.sms = 108;
    c.gpu.domain = 8;
    c.gpu.link_rate = c.link_rate;
    gpu_assume(&c.gpu);
    return c;
}

static void add_figures(const struct plan_job *job, const struct layout *l, struct str *out)
{
    const struct cluster c = make_cluster();
    struct plan_tables t;
    struct plan_step step;
    struct memory m;

    plan_tables_make(job, &c, l, &t);
    plan_step_make(job, &c, l, &t, &step);
    memory_make(job, l, &t.bytes, &m);
    str_addf(out, " %.6g+%.6g+%.6g+%.6g+%.6g+%.6g+%.6g MB, trained %.6g M;", m.weights / 1e6,
             m.gradients / 1e6, m.states / 1e6, m.gathered / 1e6, m.activations / 1e6,
             m.logits / 1e6, m.context / 1e6,
             finetune_trained(job, shape_count(&job->shape).total) / 1e6);
    for (int p = 0; p < PARTS; p++)
        if (step.part[p] > 0)
            str_addf(out, " %s %.5g", step_part_name((enum step_part)p), step.part[p] * 1e3);
    str_add(out, " ms\n");
}

/* One thing that is other than usual. */
static void change(struct plan_job *job, struct layout *l, int which)
{
    struct shape *s = &job->shape;

    switch (which) {
    case 1:
        s->kv_heads = s->heads;
        break;
    case 2:
        s->gated = false;
        s->norm_biases = s->biases = s->qkv_biases = true;
        break;
    case 3:
        s->parallel = true;
        s->norms = 1;
        break;
    case 4:
        s->parallel = true;
        s->norms = 2;
        break;
    case 5:
        s->norms = 4;
        s->tied = true;
        break;
    case 6:
        job->attention = ATTENTION_PLAIN;
        break;
    case 7:
        job->fused_loss = job->fused = true;
        break;
    case 8:
        l->recompute = RECOMPUTE_FULL;
        break;
    case 9:
        l->zero = 1;
        break;
    case 10:
        l->zero = 2;
        break;
    case 11:
        l->zero = 3;
        break;
    case 12:
        l->zero = 3;
        l->shard = 2;
        break;
    case 13:
        l->zero = 1;
        l->offload = true;
        break;
    case 14:
        job->gradient_b = 2;
        break;
    case 15:
        s->experts = 4;
        s->active = 2;
        s->expert_ffn = 512;
        break;
    case 16:
        s->attention = SHAPE_LATENT;
        s->kv_rank = 128;
        s->rope_dim = s->nope_dim = 32;
        s->v_dim = 64;
        break;
    default:
        break;
    }
}

static void add_all(struct str *out)
{
    static const char *const changes[] = {
        "usual",
        "as many keys as heads",
        "biases, no gate",
        "attention and MLP beside each other, one norm",
        "attention and MLP beside each other, two norms",
        "four norms, tied",
        "plain attention",
        "fused",
        "full recompute",
        "ZeRO-1",
        "ZeRO-2",
        "ZeRO-3",
        "ZeRO-3 in groups",
        "offloaded",
        "gradients of 16 bits",
        "experts",
        "latent attention",
    };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        struct finetune f;
        struct err e = { "" };

        str_addf(out, "%s: ", words[i]);
        if (finetune_read(&f, words[i], &e) < 0) {
            str_addf(out, "%s\n", e.text);
            continue;
        }
        finetune_text(&f, out);
        str_add(out, "\n");
        for (size_t k = 0; k < ARRAY_SIZE(changes); k++) {
            struct plan_job job = usual();
            struct layout l = one();

            job.tune = f;
            change(&job, &l, (int)k);
            if (finetune_check(&f, &job.shape, &e) < 0) {
                str_addf(out, "  %s: %s\n", changes[k], e.text);
                continue;
            }
            str_addf(out, "  %s:", changes[k]);
            add_figures(&job, &l, out);
        }
    }
}

int main(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);

    if (argc != 2) {
        printf("Bail out! FILE\n");
        return 1;
    }
    add_all(&out);
    is_int(str_error(&out), 0, "all figures have room");
    golden(argv[1], str_text(&out));
    return done();
}
