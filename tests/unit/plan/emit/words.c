/* What each target writes of each part of a layout and of a job, or why it refuses: a whole text
 * for each pair of a target and a model, and what other pins change in it. Then each model of the
 * table, by the word that a target has for it.
 *
 *     t_plan_emit_words FILE */
#include "base/str.h"
#include "emitted.h"
#include "golden.h"
#include "new_lines.h"
#include "plan/cluster/gpus.h"

enum { ROOM = 1 << 20 };

static const char *const parts[] = {
    "tp=2",
    "tp=2,sp=no",
    "tp=2,sp=no,overlap_tp=yes",
    "tp=2,overlap_tp=no",
    "tp=2,overlap_tp=yes,fused=no",
    "tp=2,zero=3",
    "tp=2,zero=3,sp=no",
    "sp=yes",
    "pp=2",
    "pp=3",
    "pp=2,zero=2",
    "pp=2,zero=3",
    "pp=2,vpp=2",
    "pp=4,vpp=2",
    "pp=2,vpp=2,overlap_pp=no",
    "pp=4,vpp=2,overlap_pp=no",
    "pp=2,overlap_pp=yes",
    "overlap_pp=yes",
    "pp=2,schedule=gpipe",
    "pp=2,vpp=2,schedule=gpipe",
    "pp=2,schedule=zero-bubble",
    "schedule=gpipe",
    "stages=ends",
    "pp=2,stages=ends",
    "pp=2,stages=0+2",
    "pp=4,stages=1+3",
    "pp=4,vpp=2,stages=1+3",
    "pp=2,vpp=2,stages=2+2",
    "pp=8,vpp=4,stages=1+1",
    "cp=2",
    "cp=2,zero=0",
    "cp=2,context=ulysses",
    "cp=2,context=gather",
    "cp=2,shard=3",
    "context=gather",
    "ep=2",
    "etp=2",
    "ep=2,tp=2",
    "tp=2,etp=2",
    "ep=2,tp=2,etp=2",
    "ep=2,tp=4,etp=2",
    "ep=4,cp=2",
    "ep=8,tp=2,cp=2",
    "ep=8,zero=3,shard=4",
    "ep=2,overlap_ep=yes",
    "ep=2,overlap_ep=yes,recompute=norms",
    "ep=2,overlap_ep=yes,recompute=mlp",
    "ep=2,overlap_ep=yes,pp=2",
    "ep=2,overlap_ep=yes,pp=2,vpp=2",
    "overlap_ep=yes",
    "dp=1",
    "dp=2",
    "dp=8",
    "dp=8,overlap_dp=no",
    "micro_batch=2",
    "zero=0",
    "zero=0,tp=2",
    "zero=0,pp=2",
    "zero=1",
    "zero=1,dp=1",
    "zero=2",
    "zero=3",
    "zero=0,shard=4",
    "zero=1,shard=4",
    "zero=2,shard=4",
    "zero=3,shard=4",
    "overlap_dp=no",
    "overlap_dp=no,dp=1",
    "overlap_dp=no,zero=0",
    "overlap_dp=yes,zero=0",
    "overlap_dp=yes,zero=0,dp=1",
    "offload=yes",
    "offload=yes,zero=0",
    "offload=yes,zero=2",
    "moment_bytes=2",
    "moment_bytes=2,zero=0",
    "moment_bytes=2,offload=yes",
    "recompute=selective",
    "recompute=norms",
    "recompute=mlp",
    "recompute=full",
    "attention=plain",
    "attention=second",
    "attention=first",
    "attention=third",
    "engine=megatron",
    "engine=torch",
    "engine=deepspeed",
    "gradient_bytes=2",
    "gradient_bytes=2,zero=0",
    "fused=no",
    "graphs=yes",
    "graphs=yes,recompute=full",
    "fused_loss=yes",
};

/* What the second of two lists of pins says goes before the first. */
static int complete(const char *base, const char *part, const struct plan_job *job,
                    const struct cluster *c, struct made *ret, struct err *e)
{
    struct pins pins = { .fixed = 0 }, more = { .fixed = 0 };
    int rc = pins_read(&pins, base, e);

    if (rc == 0)
        rc = pins_read(&more, part, e);
    if (rc < 0)
        return rc;
    pins_set_layout(&more, &pins.layout);
    pins.fixed |= more.fixed;
    ret->job = *job;
    ret->cluster = *c;
    pins_set_job(&pins, &ret->job);
    pins_set_job(&more, &ret->job);
    return pins_complete(&pins, &ret->job, &ret->cluster, &ret->l, e);
}

/* The text without its comment of the layout, which is that of layout_words(). */
static void write_text(int target, const char *base, const char *part, const struct plan_job *job,
                       const struct cluster *c, struct str *out)
{
    CLEANUP(str_done) struct str text = STR_INIT(TEXT);
    struct made x;
    struct err e = { "" };

    str_reset(out);
    if (complete(base, part, job, c, &x, &e) < 0 || text_of(target, &x, &text, &e) < 0) {
        str_addf(out, "! %s\n", e.text);
        return;
    }
    for (const char *at = str_text(&text); *at; at += strcspn(at, "\n") + 1)
        if (strncmp(at, "# tp=", 5) != 0)
            str_add_n(out, at, strcspn(at, "\n") + 1);
}

static void add_target(int target, const char *model, const char *base, const struct models *m,
                       struct str *out)
{
    static const enum plan_precision precisions[] = { PLAN_FP16,       PLAN_FP8,   PLAN_FP8_ROWS,
                                                      PLAN_FP8_BLOCKS, PLAN_MXFP8, PLAN_NVFP4 };
    static const char *const bytes[] = { "", "gradient_bytes=2", "zero=0",
                                         "zero=0,gradient_bytes=2" };
    CLEANUP(str_done) struct str usual = STR_INIT(TEXT), now = STR_INIT(TEXT);
    const struct made x = make(m, model, 3, 96, base);
    struct plan_job job = x.job;

    write_text(target, base, "", &x.job, &x.cluster, &usual);
    str_addf(out, "$ %s %s %s\n%s", target_names[target], model, base, str_text(&usual));
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        write_text(target, base, parts[i], &x.job, &x.cluster, &now);
        str_addf(out, "%s %s, %s:\n", target_names[target], model, parts[i]);
        new_lines(out, str_text(&now), str_text(&usual));
    }
    for (int all = 0; all < 2; all++) {
        write_text(target | EMIT_SBATCH, base, all ? "" : "dp=1", &x.job, &x.cluster, &now);
        str_addf(out, "%s %s, sbatch on %s:\n", target_names[target], model,
                 all ? "all nodes" : "a part of one");
        new_lines(out, str_text(&now), str_text(&usual));
    }
    for (size_t i = 0; i < ARRAY_SIZE(precisions); i++)
        for (size_t k = 0; k < ARRAY_SIZE(bytes); k++) {
            job.precision = precisions[i];
            write_text(target, base, bytes[k], &job, &x.cluster, &now);
            str_addf(out, "%s %s, %s %s:\n", target_names[target], model,
                     plan_precision_name(precisions[i]), bytes[k]);
            new_lines(out, str_text(&now), str_text(&usual));
        }
}

/* The word that a target has for each model, beside what it writes for one. */
static void add_models(int target, const char *model, const char *base, const struct models *m,
                       struct str *out)
{
    CLEANUP(str_done) struct str usual = STR_INIT(TEXT), now = STR_INIT(TEXT);
    const struct made x = make(m, model, 1, 32, base);
    struct plan_job job = x.job;

    write_text(target, base, "", &x.job, &x.cluster, &usual);
    for (size_t i = 0; i < m->n_rows; i++) {
        job.shape = m->rows[i].shape;
        write_text(target, base, "", &job, &x.cluster, &now);
        str_addf(out, "%s %s:\n", target_names[target], job.shape.name);
        new_lines(out, str_text(&now), str_text(&usual));
    }
}

/* A shape that nobody named, as one from a file may be. */
static void add_unnamed(int target, const char *base, const struct models *m, struct str *out)
{
    CLEANUP(str_done) struct str usual = STR_INIT(TEXT), now = STR_INIT(TEXT);
    struct made x = make(m, "Llama-3.1-8B", 1, 32, base);

    write_text(target, base, "", &x.job, &x.cluster, &usual);
    x.job.shape.name[0] = '\0';
    write_text(target, base, "", &x.job, &x.cluster, &now);
    str_addf(out, "%s%s without a name:\n", target & EMIT_SBATCH ? "sbatch " : "",
             target_names[target % EMIT_SBATCH]);
    new_lines(out, str_text(&now), str_text(&usual));
}

int main(int argc, char **argv)
{
    static const struct {
        int target;
        const char *model, *base;
    } all[] = {
        { EMIT_MEGATRON, "Llama-3.1-8B", "" },
        { EMIT_MEGATRON, "Mixtral-8x7B", "" },
        { EMIT_MEGATRON, "DeepSeek-V3", "ep=4" },
        { EMIT_TORCHTITAN, "Llama-3.1-8B", "zero=3" },
        { EMIT_TORCHTITAN, "DeepSeek-V2-Lite", "zero=3" },
        { EMIT_TORCHTITAN, "Qwen3-4B", "zero=2" },
        { EMIT_DEEPSPEED, "Llama-3.1-8B", "sp=no" },
        { EMIT_DEEPSPEED, "Mixtral-8x7B", "sp=no,zero=3" },
        { EMIT_NEMO, "Llama-3.1-8B", "" },
        { EMIT_NEMO, "Mixtral-8x7B", "" },
        { EMIT_FSDP, "Llama-3.1-8B", "zero=3" },
        { EMIT_FSDP, "Mixtral-8x7B", "zero=2" },
    };
    CLEANUP(models_done) struct models m = { .n_rows = 0 };
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);

    if (argc != 2) {
        printf("Bail out! FILE\n");
        return 1;
    }
    models_of_emit(&m);
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        add_target(all[i].target, all[i].model, all[i].base, &m, &out);
    add_models(EMIT_MEGATRON, "Llama-3.1-8B", "", &m, &out);
    add_models(EMIT_NEMO, "Llama-3.1-8B", "", &m, &out);
    add_models(EMIT_TORCHTITAN, "Llama-3.1-8B", "zero=3", &m, &out);
    add_unnamed(EMIT_SBATCH | EMIT_MEGATRON, "", &m, &out);
    for (int target = 0; target < EMIT_TARGETS; target++)
        add_unnamed(target, "zero=3,sp=no", &m, &out);
    is_int(str_error(&out), 0, "all texts have room");
    golden(argv[1], str_text(&out));
    return done();
}
