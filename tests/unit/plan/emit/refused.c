/* What a target cannot express: layouts, shapes. */
#include <errno.h>

#include "emitted.h"

static void test_refused(const struct models *m)
{
    static const struct {
        int target;
        const char *model, *pins, *said;
    } cases[] = {
        { EMIT_MEGATRON, "Mixtral-8x7B", "tp=2,seq_parallel=no",
          "Megatron-LM core_v0.15 cannot express seq_parallel=no with experts: it refuses to train "
          "so" },
        { EMIT_MEGATRON, "Llama-3.1-8B", "pp=2,schedule=gpipe",
          "Megatron-LM core_v0.15 cannot express schedule=gpipe: its pipelines are 1F1B" },
        { EMIT_MEGATRON, "BLOOM-176B", "tp=8",
          "Megatron-LM core_v0.15 cannot express the norm behind the embedding: there is no flag "
          "for it" },
        { EMIT_TORCHTITAN, "Llama-3.1-8B", "zero=1",
          "torchtitan 0.2 cannot express zero=1: FSDP2 divides gradients too: take 2 or 3" },
        { EMIT_TORCHTITAN, "Qwen3-4B", "pp=2,zero=3",
          "torchtitan 0.2 cannot express pp with a head that is the embedding: its stages share no "
          "weights" },
        { EMIT_TORCHTITAN, "Mixtral-8x7B", "zero=3",
          "torchtitan 0.2 cannot express Mixtral-8x7B: it has Llama 3, Qwen3 and DeepSeek V2 and "
          "V3 in some sizes" },
        { EMIT_DEEPSPEED, "Llama-3.1-8B", "pp=2",
          "DeepSpeed 0.18 cannot express pp: its pipelines are made in your program "
          "(PipelineModule)" },
        { EMIT_NEMO, "Llama-3.1-8B", "zero=3",
          "NeMo 2.4 cannot express zero=2 and zero=3: brim writes zero 0 and 1 for it" },
        { EMIT_FSDP, "Llama-3.1-8B", "tp=2,zero=3",
          "PyTorch 2.6 cannot express tp: which layers to divide depends on your model's names" },
        { EMIT_MEGATRON, "Llama-3.1-8B", "shard=4,zero=0",
          "shard says nothing without zero 1, 2 or 3: leave it out" },
        { EMIT_MEGATRON, "Llama-3.1-8B", "dp=9,micro_batch=1",
          "9 GPUs are no whole nodes of 8: a job takes whole nodes" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str out = STR_INIT(TEXT);
        struct made x = make(m, cases[i].model, 4, 288, cases[i].pins);
        struct err e = { "" };

        is_int(text_of(cases[i].target, &x, &out, &e), -EINVAL, "emit_text refuses: %s",
               cases[i].said);
        is_str(e.text, cases[i].said, "emit_text says: %s", cases[i].said);
        ok(!*str_text(&out), "nothing is written after: %s", cases[i].said);
    }
}

#define SHAPE(name, change) \
    static void name(struct shape *s) \
    { \
        change; \
    }
SHAPE(parallel, s->parallel = true)
SHAPE(sinks, s->sinks = true)
SHAPE(shared_gate, s->shared_gate = true)
SHAPE(extra_position, s->extra_positions = 1)
SHAPE(out_biases, s->out_biases = true)
SHAPE(mlp_biases, s->mlp_biases = true)
SHAPE(head_bias, s->head_bias = true)
SHAPE(all_biases, s->biases = s->out_biases = true)
SHAPE(two_norms, s->norms = 2)
SHAPE(three_norms, s->norms = 3)
SHAPE(norms_by_head, s->qk_norms = 2 * s->head_dim)
SHAPE(norms_of_all, s->qk_norms = 2 * s->head_dim * s->heads)
SHAPE(dense_first, s->dense_first = 1)
SHAPE(every_second, s->expert_every = 2)
SHAPE(dense_and_second, s->dense_first = 1; s->expert_every = 2)

/* Shapes that Megatron-LM has no flags for, and those beside them that it has. */
static void test_shapes(const struct models *m)
{
    static const struct {
        const char *model;
        void (*change)(struct shape *s);
        const char *said; /* NULL: it is written */
    } cases[] = {
        { "Llama-3.1-8B", parallel, "attention and MLP beside each other" },
        { "Mixtral-8x7B", sinks, "attention sinks beside biases of experts" },
        { "Mixtral-8x7B", shared_gate, "the gate of shared experts" },
        { "Llama-3.1-8B", extra_position, "rows of the position table beyond the positions" },
        { "Llama-3.1-8B", out_biases, "biases in some linear layers" },
        { "Llama-3.1-8B", mlp_biases, "biases in some linear layers" },
        { "Llama-3.1-8B", head_bias, "biases in some linear layers" },
        { "Llama-3.1-8B", all_biases, NULL },
        { "Llama-3.1-8B", two_norms, NULL },
        { "Llama-3.1-8B", three_norms, "more than two norms in a layer" },
        { "Llama-3.1-8B", norms_by_head, NULL },
        { "Llama-3.1-8B", norms_of_all, "norms over all queries and keys" },
        { "Mixtral-8x7B", dense_first, NULL },
        { "Mixtral-8x7B", every_second, NULL },
        { "Mixtral-8x7B", dense_and_second,
          "dense layers first and every few layers beside experts" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str out = STR_INIT(TEXT);
        struct made x = make(m, cases[i].model, 4, 288, "tp=2");
        struct err e = { "" };
        int rc;

        cases[i].change(&x.job.shape);
        rc = text_of(EMIT_MEGATRON, &x, &out, &e);
        ok(cases[i].said ? rc == -EINVAL && strstr(e.text, cases[i].said) : rc == 0,
           "shape %zu of %s is %s by Megatron-LM: %s", i, cases[i].model,
           cases[i].said ? "refused" : "taken", e.text);
    }
}

int main(void)
{
    CLEANUP(models_done) struct models m = { .n_rows = 0 };

    models_of_emit(&m);
    test_refused(&m);
    test_shapes(&m);
    return done();
}
