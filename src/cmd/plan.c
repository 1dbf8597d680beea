/* brim plan: predicts what training takes. */
#include "cmd/plan.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "gpus_csv.h"
#include "models_csv.h"
#include "plan_constants_csv.h"

enum { OPERANDS_MAX = 64, CONSTANTS_MAX = 1 << 20 };

static const char *const precisions[] = { "fp16", "bf16", "fp8", "mxfp8", "nvfp4", NULL };

static const struct opt opts[] = {
    { OPT_FLAG, 'j', "json", offsetof(struct plan_opts, json), NULL, "print JSON", NULL },
    { OPT_FLAG, 'r', "rows", offsetof(struct plan_opts, rows), NULL,
      "eval: print every row, not only what they come to", NULL },
    { OPT_UINT, 0, "node-gbps", offsetof(struct plan_opts, node_gbps), "N",
      "eval: rate of a node's network cards together, in Gbit/s", NULL },
    { OPT_STRING, 0, "constants", offsetof(struct plan_opts, constants), "FILE",
      "fitted figures in place of the program's own", NULL },
    { OPT_STRING, 'c', "cluster", offsetof(struct plan_opts, cluster), "SPEC",
      "64x8xH100-SXM, an INI file, a recording, or this", NULL },
    { OPT_STRING, 0, "seq", offsetof(struct plan_opts, seq), "N", "tokens of a sequence", NULL },
    { OPT_STRING, 'b', "batch", offsetof(struct plan_opts, batch), "N", "sequences of a step",
      NULL },
    { OPT_STRING, 0, "batch-tokens", offsetof(struct plan_opts, batch_tokens), "N",
      "tokens of a step: 4M, 4Mi", NULL },
    { OPT_CHOICE, 0, "precision", offsetof(struct plan_opts, precision), "P",
      "of matrix products, bf16 if not said", precisions },
    { OPT_STRING, 0, "tokens", offsetof(struct plan_opts, tokens), "N",
      "to train on: 300B, 15T, 20x the parameters", NULL },
    { OPT_STRING, 0, "price", offsetof(struct plan_opts, price), "N", "of a GPU for an hour",
      NULL },
    { OPT_LIST, 0, "pin", offsetof(struct plan_opts, pins), "X=N,...",
      "settle parts of the layout: tp=8, recompute=full", NULL },
    { OPT_UINT, 'k', "best", offsetof(struct plan_opts, best), "N",
      "train: how many layouts to show, 5 if not said", NULL },
    { OPT_FLAG, 0, "explain", offsetof(struct plan_opts, explain), NULL,
      "train: where each ms and GB goes, and what that rests on", NULL },
    { OPT_LIST, 0, "compare", offsetof(struct plan_opts, compares), "LAYOUT",
      "train: part by part, with further ones: tp=8,pp=4", NULL },
    { OPT_STRING, 0, "why", offsetof(struct plan_opts, why), "LAYOUT",
      "train: why this layout is not the one", NULL },
    { OPT_FLAG, 0, "fewer", offsetof(struct plan_opts, fewer), NULL,
      "train: layouts that leave GPUs idle too", NULL },
    { OPT_FLAG, 0, "pareto", offsetof(struct plan_opts, pareto), NULL,
      "train: all that nothing beats in time, memory and GPUs", NULL },
    { OPT_STRING, 0, "svg", offsetof(struct plan_opts, svg), "FILE",
      "train: draw memory by stage and the step", NULL },
    { OPT_STRING, 0, "emit", offsetof(struct plan_opts, emit), "TARGET",
      "train: the fastest that a program can do, in its words: megatron", NULL },
    { OPT_UINT, 0, "threads", offsetof(struct plan_opts, threads), "N",
      "train: one for each core if not said", NULL },
    { OPT_STRING, 0, "gpus", offsetof(struct plan_opts, gpus), "N", "checkpoint: GPUs of the job",
      NULL },
    { OPT_STRING, 0, "storage", offsetof(struct plan_opts, storage), "RATE",
      "checkpoint: what the storage writes, such as 100GB/s", NULL },
    { OPT_STRING, 0, "state", offsetof(struct plan_opts, state), "SIZE",
      "checkpoint: what is saved, in place of a model: 2TB", NULL },
    { OPT_STRING, 0, "mtbf-node", offsetof(struct plan_opts, mtbf_node), "TIME",
      "checkpoint: between failures of one node, such as 50d", NULL },
    { OPT_STRING, 0, "failures", offsetof(struct plan_opts, failures), "NAME",
      "checkpoint: a published rate: Llama-3-405B, RSC-1, OPT-175B", NULL },
    { OPT_STRING, 0, "restart", offsetof(struct plan_opts, restart), "TIME",
      "checkpoint: from a failure until training goes on, 10m if not said", NULL },
    { OPT_FLAG, 0, "async", offsetof(struct plan_opts, async), NULL,
      "checkpoint: saves are written while training goes on", NULL },
    { OPT_STRING, 0, "stall", offsetof(struct plan_opts, stall), "TIME",
      "checkpoint: what an asynchronous save makes training wait", NULL },
    { OPT_STRING, 0, "every", offsetof(struct plan_opts, every), "TIME",
      "checkpoint: compare with saves in this interval", NULL },
    { .kind = OPT_END },
};

static const struct plan_opts defaults = { .json = false };

static const struct plan_command *const commands[] = { &plan_train, &plan_memory, &plan_checkpoint,
                                                       &plan_emit, &plan_eval };

void plan_known_done(struct plan_known *k)
{
    gpus_done(&k->gpus);
    models_done(&k->models);
}

static int fit(const struct plan_opts *o, struct gpus *g, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(CONSTANTS_MAX);
    int rc;

    if (!o->constants)
        return gpus_fit(g, "plan_constants.csv", (const char *)data_plan_constants_csv,
                        data_plan_constants_csv_len, e);
    rc = file_read(o->constants, &text, e);
    return rc < 0 ? rc : gpus_fit(g, o->constants, str_text(&text), text.len, e);
}

int plan_known_load(const struct plan_opts *o, struct plan_known *ret, struct err *e)
{
    int rc = gpus_load(&ret->gpus, (const char *)data_gpus_csv, data_gpus_csv_len, e);

    if (rc == 0)
        rc = models_load(&ret->models, (const char *)data_models_csv, data_models_csv_len, e);
    return rc < 0 ? rc : fit(o, &ret->gpus, e);
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    if (!operands[0]) {
        err_set(e, -EINVAL, "say what to do: brim plan train MODEL, brim plan memory MODEL, ...");
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
        if (!strcmp(commands[i]->name, operands[0]))
            return commands[i]->run(app, values, operands + 1, e);
    err_set(e, -EINVAL,
            "'%.40s' is nothing that brim plan does: train, memory, checkpoint, emit, eval",
            operands[0]);
    return EXIT_USAGE;
}

const struct cmd cmd_plan = {
    .name = "plan",
    .args = "train MODEL | memory MODEL... | checkpoint [MODEL] | emit TARGET MODEL | eval FILE...",
    .summary = "predict time and memory of training runs",
    .about =
        "train searches all layouts of a model on a cluster for the one with the shortest step.\n"
        "memory says what a layout takes of each GPU, by parts, and on how few GPUs a model fits.\n"
        "checkpoint says how often to save so that failures cost least.\n"
        "emit writes a layout as flags and files of a program that trains: megatron, torchtitan,\n"
        "deepspeed, nemo, torchrun-fsdp, and sbatch+ before one of them for Slurm.\n"
        "eval predicts every row of tables of measured runs and says how far it is off: errors of\n"
        "time and memory, and whether it puts competing layouts in the order that was measured.",
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct plan_opts),
    .max_operands = OPERANDS_MAX,
    .run = run,
};
