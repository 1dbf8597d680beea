/* PyTorch's FSDP2 under torchrun: a Python module that divides a model as the layout says. */
#include <errno.h>

#include "plan/emit/emit_private.h"

static int check_job(const struct plan_job *job, struct err *e)
{
    const struct emit_limit limits[] = {
        { job->precision != PLAN_BF16 && job->precision != PLAN_FP16, "this precision",
          "FSDP2 itself has bf16 and fp16" },
        { !emit_is_usual(job->attention), "attention other than flash", "your model decides that" },
        { job->graphs, "graphs", "FSDP2 has none" },
        { job->fused_loss, "fused_loss", "your program decides that" },
    };

    return emit_check(&emit_fsdp, limits, ARRAY_SIZE(limits), e);
}

static int check(const struct emit *x, struct err *e)
{
    const struct layout *l = x->l;
    const struct emit_limit limits[] = {
        { l->tp > 1, "tp", "which layers to divide depends on your model's names" },
        { l->pp > 1, "pp", "stages depend on your model's names" },
        { l->cp > 1, "cp", "your training loop must divide the sequences" },
        { l->ep > 1 || l->etp > 1, "ep and etp", "which layers to divide depends on your model" },
        { l->zero < 2, "zero=0 and zero=1", "FSDP2 divides gradients too: take zero=2 or zero=3" },
        { l->recompute == RECOMPUTE_SELECTIVE, "recompute=selective",
          "which parts depends on your model: take none or full" },
        { !l->overlap_dp && l->dp > 1, "overlap_dp=no", "FSDP2 always overlaps" },
    };
    int rc = emit_check(&emit_fsdp, limits, ARRAY_SIZE(limits), e);

    return rc < 0 ? rc : check_job(x->job, e);
}

static void add_shard(const struct emit *x, struct str *out)
{
    const struct layout *l = x->l;
    int shard = l->shard > 0 ? l->shard : l->dp;

    str_add(out,
            "def shard(model, layers):\n"
            "    \"\"\"Divide a model; layers: the ModuleList of its transformer layers.\"\"\"\n");
    if (shard < l->dp)
        str_addf(out,
                 "    mesh = init_device_mesh(\n        \"cuda\", (%d, %d), "
                 "mesh_dim_names=(\"replicate\", \"shard\")\n    )\n",
                 l->dp / shard, shard);
    else
        str_addf(out, "    mesh = init_device_mesh(\"cuda\", (%d,), mesh_dim_names=(\"shard\",))\n",
                 shard);
    str_addf(out,
             "    policy = MixedPrecisionPolicy(\n"
             "        param_dtype=torch.%s, reduce_dtype=torch.%s\n    )\n"
             "    for i, layer in enumerate(layers):\n",
             x->job->precision == PLAN_FP16 ? "float16" : "bfloat16",
             x->job->gradient_b == 4          ? "float32"
             : x->job->precision == PLAN_FP16 ? "float16"
                                              : "bfloat16");
    if (l->recompute == RECOMPUTE_FULL)
        str_add(out, "        layer = checkpoint_wrapper(layer)\n");
    if (x->job->fused)
        str_add(out, "        layer.compile()\n");
    str_addf(out,
             "        layers[i] = fully_shard(\n"
             "            layer, mesh=mesh, mp_policy=policy, reshard_after_forward=%s\n"
             "        )\n"
             "    return fully_shard(\n"
             "        model, mesh=mesh, mp_policy=policy, reshard_after_forward=%s\n    )\n",
             emit_upper(l->zero == 3), emit_upper(l->zero == 3));
}

static void add_file(const struct emit *x, struct str *out)
{
    str_addf(out,
             "import torch\nfrom torch.distributed.device_mesh import init_device_mesh\n"
             "from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard\n%s\n"
             "SEQUENCE = %d  # tokens\nMICRO_BATCH = %d  # sequences of a GPU in one pass\n"
             "GLOBAL_BATCH = %d  # sequences of a step\n"
             "ACCUMULATE = %d  # passes of a step: model.set_requires_gradient_sync() in the last\n"
             "\n\n",
             x->l->recompute == RECOMPUTE_FULL
                 ? "from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (\n"
                   "    checkpoint_wrapper,\n)\n"
                 : "",
             x->job->seq, x->l->micro_batch, x->job->global_batch,
             layout_micro_batches(x->l, x->job));
    add_shard(x, out);
}

static void add_command(const struct emit *x, struct str *out)
{
    (void)x;
    str_add(out, "\"${PROGRAM:-train.py}\"");
}

const struct emit_ops emit_fsdp = {
    .name = "torchrun-fsdp",
    .version = "PyTorch 2.6",
    .engine = ENGINE_TORCH,
    .check = check,
    .file = "fsdp_layout.py",
    .file_alone = true,
    .add_file = add_file,
    .add_command = add_command,
};
