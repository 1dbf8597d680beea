#include "plan/emit/emit.h"

#include <errno.h>
#include <string.h>

#include "base/opt.h"
#include "plan/emit/emit_private.h"
#include "plan/layout/pins.h"

static const char batch_name[] = "sbatch";

static const struct emit_ops *const targets[EMIT_TARGETS] = {
    [EMIT_MEGATRON] = &emit_megatron,   [EMIT_TORCHTITAN] = &emit_torchtitan,
    [EMIT_DEEPSPEED] = &emit_deepspeed, [EMIT_NEMO] = &emit_nemo,
    [EMIT_FSDP] = &emit_fsdp,
};

/* ---- names ---- */

static const char *name_at(const void *ctx, size_t i)
{
    (void)ctx;
    return i < EMIT_TARGETS ? targets[i]->name : batch_name;
}

int emit_find(const char *name, enum emit_target *ret, struct err *e)
{
    size_t batch = strlen(batch_name);
    const char *inner = name, *near;
    int flags = 0;

    if (!strncmp(name, batch_name, batch) && (!name[batch] || name[batch] == '+')) {
        flags = EMIT_SBATCH;
        inner = name[batch] ? name + batch + 1 : targets[EMIT_MEGATRON]->name;
    }
    for (int i = 0; i < EMIT_TARGETS; i++)
        if (!strcmp(targets[i]->name, inner)) {
            *ret = (enum emit_target)(i | flags);
            return 0;
        }
    near = opt_nearest(inner, EMIT_TARGETS + 1, name_at, NULL);
    if (near)
        return err_set(e, -EINVAL, "'%.40s' is no program to write for (did you mean %s?)", name,
                       near);
    return err_set(e, -EINVAL,
                   "'%.40s' is no program to write for: there are megatron, torchtitan, deepspeed, "
                   "nemo, torchrun-fsdp, and sbatch+ before one of them",
                   name);
}

/* ---- checks for all ---- */

/* What says something of a part that there is not. */
static int check_meaning(const struct layout *l, struct err *e)
{
    const struct {
        bool broken;
        const char *field, *part;
    } rules[] = {
        { l->tp == 1 && l->seq_parallel, "seq_parallel", "tp above 1" },
        { l->overlap_tp && !l->seq_parallel, "overlap_tp", "seq_parallel" },
        { l->pp == 1 && l->overlap_pp, "overlap_pp", "pp above 1" },
        { l->pp == 1 && l->schedule != SCHEDULE_1F1B, "a schedule", "pp above 1" },
        { l->pp == 1 && !stage_split_is(&l->less, &stages_even), "stages", "pp above 1" },
        { l->cp == 1 && l->context != CONTEXT_RING, "context", "cp above 1" },
        { l->shard > 0 && l->zero == 0, "shard", "zero 1, 2 or 3" },
        { l->ep == 1 && l->overlap_ep, "overlap_ep", "ep above 1" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
        if (rules[i].broken)
            return err_set(e, -EINVAL, "%s says nothing without %s: leave it out", rules[i].field,
                           rules[i].part);
    return 0;
}

/* What only some programs have. */
static int check_abilities(const struct emit_ops *ops, const struct emit *x, struct err *e)
{
    const struct layout *l = x->l;
    enum plan_engine engine = x->job->engine;
    const struct emit_limit limits[] = {
        { l->recompute == RECOMPUTE_NORMS && !ops->modules, "recompute=norms",
          "it has no such parts: take none or full" },
        { l->recompute == RECOMPUTE_MLP && !ops->modules, "recompute=mlp",
          "it has no such parts: take none or full" },
        { l->overlap_ep && !ops->overlap_ep, "overlap_ep", "its experts wait for their tokens" },
        { x->job->moment_b == 2 && !ops->moments, "moment_bytes=2", "its moments have 32 bits" },
        { l->offload && !ops->offload, "offload", "it has no optimizer in the host's memory" },
        { engine != ENGINE_MEGATRON && engine != ops->engine, "this engine",
          "it is another program" },
    };

    return emit_check(ops, limits, ARRAY_SIZE(limits), e);
}

static int set_launch(struct emit *x, struct err *e)
{
    int gpus = layout_gpus(x->l);

    x->per_node = MIN(gpus, x->cluster->per_node);
    x->nodes = gpus / x->per_node;
    if (gpus % x->per_node)
        return err_set(e, -EINVAL, "%d GPUs are no whole nodes of %d: a job takes whole nodes",
                       gpus, x->per_node);
    return 0;
}

/* ---- text ---- */

static void add_comment(const struct emit_ops *ops, const struct emit *x, struct str *out)
{
    str_addf(out, "# %s, by brim plan\n# %s on %d x %s, %d sequences of %d tokens\n# ",
             ops->version, *x->job->shape.name ? x->job->shape.name : "model", layout_gpus(x->l),
             x->cluster->gpu.name, x->job->global_batch, x->job->seq);
    layout_words(x->l, out);
    str_add_char(out, '\n');
}

static void add_launch(const struct emit_ops *ops, const struct emit *x, const char *before,
                       struct str *out)
{
    str_addf(out,
             "%storchrun --nnodes %d --nproc-per-node %d --node-rank \"${NODE_RANK:-0}\" \\\n"
             "%s    --master-addr \"${MASTER_ADDR:-localhost}\" --master-port "
             "\"${MASTER_PORT:-29500}\" \\\n%s    ",
             before, x->nodes, x->per_node, before, before);
    ops->add_command(x, out);
    str_add(out, " \"$@\"\n");
}

static void add_file_here(const struct emit_ops *ops, const struct emit *x, struct str *out)
{
    if (!ops->file)
        return;
    str_addf(out, "cat > %s <<'END'\n", ops->file);
    ops->add_file(x, out);
    str_add(out, "END\n");
}

static void add_script(const struct emit_ops *ops, const struct emit *x, struct str *out)
{
    str_add(out, "#!/bin/bash\n");
    add_comment(ops, x, out);
    if (x->nodes > 1)
        str_addf(out,
                 "# Start it on each node with NODE_RANK 0 to %d and MASTER_ADDR, the first.\n",
                 x->nodes - 1);
    str_add(out, "set -eu\n");
    add_file_here(ops, x, out);
    if (ops->add_setup)
        ops->add_setup(x, out);
    add_launch(ops, x, "", out);
}

static void add_file_alone(const struct emit_ops *ops, const struct emit *x, struct str *out)
{
    add_comment(ops, x, out);
    str_addf(out, "# As %s, started on each node:\n", ops->file);
    add_launch(ops, x, "#   ", out);
    str_add_char(out, '\n');
    ops->add_file(x, out);
}

static void add_batch(const struct emit_ops *ops, const struct emit *x, struct str *out)
{
    str_addf(out,
             "#!/bin/bash\n#SBATCH --job-name=%s\n#SBATCH --nodes=%d\n"
             "#SBATCH --ntasks-per-node=1\n#SBATCH --gpus-per-node=%d\n",
             *x->job->shape.name ? x->job->shape.name : "train", x->nodes, x->per_node);
    if (x->per_node == x->cluster->per_node)
        str_add(out, "#SBATCH --exclusive\n");
    str_add(out, "#SBATCH --output=%x-%j.out\n");
    add_comment(ops, x, out);
    str_add(out, "set -eu\n"
                 "MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n");
    add_file_here(ops, x, out);
    if (ops->add_setup)
        ops->add_setup(x, out);
    str_addf(
        out,
        "srun --kill-on-bad-exit=1 --cpu-bind=none \\\n"
        "    torchrun --nnodes %d --nproc-per-node %d --rdzv-backend c10d \\\n"
        "    --rdzv-id \"$SLURM_JOB_ID\" --rdzv-endpoint \"$MASTER_ADDR:${MASTER_PORT:-29500}\" "
        "\\\n    ",
        x->nodes, x->per_node);
    ops->add_command(x, out);
    str_add(out, " \"$@\"\n");
}

int emit_text(enum emit_target target, const struct plan_job *job, const struct cluster *c,
              const struct layout *l, struct str *out, struct err *e)
{
    const struct emit_ops *ops = targets[(unsigned)target & (EMIT_SBATCH - 1U)];
    struct emit x = { .job = job, .cluster = c, .l = l };
    int rc = layout_check(l, job, c, e);

    if (rc == 0)
        rc = check_meaning(l, e);
    if (rc == 0)
        rc = set_launch(&x, e);
    if (rc == 0)
        rc = check_abilities(ops, &x, e);
    if (rc == 0)
        rc = ops->check(&x, e);
    if (rc < 0)
        return rc;
    if ((unsigned)target & EMIT_SBATCH)
        add_batch(ops, &x, out);
    else if (ops->file_alone)
        add_file_alone(ops, &x, out);
    else
        add_script(ops, &x, out);
    rc = str_error(out);
    return rc == -ENOMEM ? err_nomem(e) : rc < 0 ? err_set(e, rc, "the text is too long") : 0;
}
