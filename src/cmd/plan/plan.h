/* brim plan: its options and subcommands. */
#ifndef BRIM_CMD_PLAN_PLAN_H
#define BRIM_CMD_PLAN_PLAN_H
#include "cmd/common/cmd.h"

enum { PLAN_BATCH_MAX = 1 << 28 }; /* sequences of a step */

struct plan_opts {
    bool rows;
    const char *json;      /* where it goes, as cmd_print() has it; NULL: text */
    const char *constants; /* a file in place of the program's own; NULL: none */
    uint64_t node_gbps;    /* of the network cards of a node; 0: as the rows say */
    /* What is to be planned (cmd/plan/job.h reads them); NULL: not said. */
    const char *cluster, *batch_tokens, *precision, *tokens, *price, *finetune;
    uint64_t seq, batch; /* 0: not said */
    struct opt_list pins;
    /* train */
    bool explain, fewer, pareto;
    uint64_t best, threads;   /* 0 threads: one for each core */
    struct opt_list compares; /* layouts */
    const char *why, *svg, *emit;
    /* checkpoint: as they were given; NULL: not said. */
    uint64_t gpus; /* 0: not said */
    const char *storage, *state, *mtbf_node, *failures, *restart, *stall, *every;
    bool async;
};

struct plan_command {
    const char *name, *args, *summary;
    /* operands: those behind the name. As struct cmd's. */
    int (*run)(const struct app *app, const struct plan_opts *o, char **operands, struct err *e);
};

extern const struct plan_command plan_eval;
extern const struct plan_command plan_train;
extern const struct plan_command plan_memory;
extern const struct plan_command plan_checkpoint;
extern const struct plan_command plan_emit;
extern const struct plan_command plan_models;
extern const struct plan_command plan_gpus;

#endif
