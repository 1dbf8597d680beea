/* brim plan: predicts what training takes. */
#include "cmd/plan/plan.h"

#include <string.h>

#include "plan/search/search.h"

enum { OPERANDS_MAX = 64 };

static const char *const precisions[] = { "fp16",       "bf16",  "fp8",   "fp8_rows",
                                          "fp8_blocks", "mxfp8", "nvfp4", NULL };

#define AT(member) offsetof(struct plan_opts, member)

static const struct opt opts[] = {
    CMD_JSON(AT(json)),
    { OPT_FLAG, 'r', "rows", AT(rows), NULL, "eval: print every row, not only what they come to" },
    { OPT_UINT, 0, "node-gbps", AT(node_gbps), "N", "eval: rate of a node's network cards together",
      .unit = "Gbit/s" },
    { OPT_STRING, 0, "constants", AT(constants), "FILE",
      "train, eval, gpus: fitted figures in place of the program's own" },
    { OPT_STRING, 'c', "cluster", AT(cluster), "SPEC",
      "train, memory, checkpoint, emit: 64x8xH100-SXM, an INI file, a recording, or this" },
    { OPT_UINT, 0, "seq", AT(seq), "N", "train, memory, emit: tokens of a sequence", .least = 1,
      .most = 1 << 27 },
    { OPT_UINT, 'b', "batch", AT(batch), "N", "train, memory, emit: sequences of a step",
      .least = 1, .most = PLAN_BATCH_MAX },
    { OPT_STRING, 0, "batch-tokens", AT(batch_tokens), "N",
      "train, memory, emit: tokens of a step, 4M, 4Mi" },
    { OPT_CHOICE, 0, "precision", AT(precision), "P",
      "train, memory, emit: of matrix products, bf16 if not said", .choices = precisions },
    { OPT_STRING, 0, "finetune", AT(finetune), "KIND",
      "train, memory: lora, qlora or full; qlora,rank=16,modules=q+v" },
    { OPT_STRING, 0, "tokens", AT(tokens), "N",
      "train: tokens to train on, 300B, 15T, 20x the parameters" },
    { OPT_STRING, 0, "price", AT(price), "N", "train: of a GPU for an hour" },
    { OPT_LIST, 0, "pin", AT(pins), "X=N,...",
      "train, memory, emit: settle parts of the layout: tp=8, recompute=full" },
    { OPT_UINT, 'k', "best", AT(best), "N", "train: how many layouts to show, 5 if not said",
      .least = 1, .most = SEARCH_BEST_MAX },
    { OPT_FLAG, 0, "explain", AT(explain), NULL,
      "train: where each ms and GB goes, and what that rests on" },
    { OPT_LIST, 0, "compare", AT(compares), "LAYOUT",
      "train: part by part, with further ones: tp=8,pp=4" },
    { OPT_STRING, 0, "why", AT(why), "LAYOUT", "train: why this layout is not the one" },
    { OPT_FLAG, 0, "fewer", AT(fewer), NULL, "train: layouts that leave GPUs idle too" },
    { OPT_FLAG, 0, "pareto", AT(pareto), NULL,
      "train: all that nothing beats in time, memory and GPUs" },
    { OPT_STRING, 0, "svg", AT(svg), "FILE", "train: draw memory by stage and the step",
      .file = OPT_PAGE },
    { OPT_STRING, 0, "emit", AT(emit), "TARGET",
      "train: the fastest that a program can do, in its words: megatron" },
    { OPT_UINT, 0, "threads", AT(threads), "N", "train: one for each core if not said" },
    { OPT_UINT, 0, "gpus", AT(gpus), "N", "checkpoint: GPUs of the job", .least = 1,
      .most = 1 << 24 },
    { OPT_STRING, 0, "storage", AT(storage), "RATE",
      "checkpoint: what the storage writes, such as 100GB/s" },
    { OPT_STRING, 0, "state", AT(state), "SIZE",
      "checkpoint: what is saved, in place of a model: 2TB" },
    { OPT_STRING, 0, "mtbf-node", AT(mtbf_node), "TIME",
      "checkpoint: between failures of one node, such as 50d" },
    { OPT_STRING, 0, "failures", AT(failures), "NAME",
      "checkpoint: a published rate: Llama-3-405B, RSC-1, OPT-175B" },
    { OPT_STRING, 0, "restart", AT(restart), "TIME",
      "checkpoint: from a failure until training goes on, 10m if not said" },
    { OPT_FLAG, 0, "async", AT(async), NULL,
      "checkpoint: saves are written while training goes on" },
    { OPT_STRING, 0, "stall", AT(stall), "TIME",
      "checkpoint: what an asynchronous save makes training wait" },
    { OPT_STRING, 0, "every", AT(every), "TIME",
      "checkpoint: compare with saves in this interval" },
    { .kind = OPT_END },
};

static const struct plan_opts defaults = { .json = NULL };

static const struct plan_command *const commands[] = { &plan_train, &plan_memory, &plan_checkpoint,
                                                       &plan_emit,  &plan_eval,   &plan_models,
                                                       &plan_gpus };

static const struct cmd_sub subs[] = {
    { "train",
      "MODEL --cluster=SPEC --batch=N",
      "search the layout with the shortest step",
      { "plan train Llama-3.1-8B --cluster=8xH100-SXM --batch=128",
        "plan train Llama-3.1-70B --cluster=8x8xH100-SXM --batch=1024 --explain" },
      CMD_MODELS },
    { "memory",
      "MODEL...",
      "what a layout takes of each GPU, and the fewest GPUs that a model fits on",
      { "plan memory Llama-3.1-70B --cluster=8xH100-SXM --pin=tp=8",
        "plan memory Llama-3.1-8B --cluster=1xRTX-4090 --finetune=qlora --seq=2048" },
      CMD_MODELS },
    { "checkpoint",
      "[MODEL]",
      "how often to save so that failures cost least",
      { "plan checkpoint --gpus=1024 --storage=100GB/s --state=2TB",
        "plan checkpoint Llama-3.1-70B --gpus=512 --storage=50GB/s --async" },
      CMD_MODELS },
    { "emit",
      "TARGET MODEL --cluster=SPEC --batch=N",
      "a layout as flags and files of a program that trains",
      { "plan emit megatron Llama-3.1-8B --cluster=8xH100-SXM --batch=128",
        "plan emit sbatch+torchtitan Llama-3.1-8B --cluster=2x8xH100-SXM --batch=256" },
      CMD_MODELS },
    { "eval",
      "FILE...",
      "compare predictions with tables of measured runs",
      { "plan eval measured.csv", "plan eval measured.csv --rows --node-gbps=3200" } },
    { "models",
      "[MODEL...]",
      "which models are known, and how many parameters one has",
      { "plan models", "plan models Llama-3.1-8B config.json" },
      CMD_MODELS },
    { "gpus",
      "[GPU...]",
      "which GPUs are known, and what they can do",
      { "plan gpus", "plan gpus H100 MI300X --json" },
      CMD_GPUS },
    { .name = NULL },
};

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    const char *names[ARRAY_SIZE(commands) + 1] = { NULL };

    if (!operands[0])
        return err_usage(e, "say what to do: brim plan train MODEL, brim plan memory MODEL, ...");
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
        if (!strcmp(commands[i]->name, operands[0]))
            return commands[i]->run(app, values, operands + 1, e);
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
        names[i] = commands[i]->name;
    return opt_unknown("subcommand", operands[0], names, e);
}

const struct cmd cmd_plan = {
    .name = "plan",
    .args =
        "train MODEL | memory MODEL... | checkpoint [MODEL] | emit TARGET MODEL | eval FILE... | "
        "models [MODEL...] | gpus [GPU...]",
    .summary = "predict time and memory of training runs",
    .about =
        "train searches all layouts of a model on a cluster for the one with the shortest step.\n"
        "memory says what a layout takes of each GPU, by parts, and on how few GPUs a model fits;\n"
        "its exit status is 1 where one does not fit the cluster, or any number of GPUs.\n"
        "checkpoint says how often to save so that failures cost least.\n"
        "emit writes a layout as flags and files of a program that trains: megatron, torchtitan,\n"
        "deepspeed, nemo, torchrun-fsdp, and sbatch+ before one of them for Slurm.\n"
        "eval predicts every row of tables of measured runs and says how far it is off: errors of\n"
        "time and memory, and whether it puts competing layouts in the order that was measured.\n"
        "models and gpus list what is known by name; of a config.json models says how many "
        "parameters\n"
        "the model has.",
    .subs = subs,
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct plan_opts),
    .max_operands = OPERANDS_MAX,
    .run = run,
};
