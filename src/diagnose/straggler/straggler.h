/* What-if on traces of operations of a pipeline-parallel training job: how fast would it be if all
 * operations of a kind took equally long, and who is to blame for the difference? The method and
 * the measures S, M_W and M_S are those of "Understanding Stragglers in Large Model Training Using
 * What-if Analysis" (OSDI'25). */
#ifndef BRIM_DIAGNOSE_STRAGGLER_STRAGGLER_H
#define BRIM_DIAGNOSE_STRAGGLER_STRAGGLER_H
#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"

enum op_type {
    OP_FORWARD,
    OP_BACKWARD,
    OP_FORWARD_SEND,
    OP_FORWARD_RECV,
    OP_BACKWARD_SEND,
    OP_BACKWARD_RECV,
    OP_PARAMS_GATHER,
    OP_GRADS_SCATTER,
    OP_LAYERNORM_REDUCE,
    OP_EMBEDDING_REDUCE,
    OP_CLIP,
    OP_OPTIMIZER,
    OP_GC,
    OP_TYPES
};

/* "forward-compute": as traces name it. */
const char *op_type_name(enum op_type t);

enum { TRACE_STAGES_MAX = 256, TRACE_RANKS_MAX = 16384, TRACE_STEPS_MAX = 65536 };

/* Where a stage's operations of a type are: seq 0 is op 'first'. */
struct op_range {
    unsigned first, count;
};

/* All operations: every step has the same ones, n_ops on each of n_dp data-parallel ranks. Cells
 * lie by step, then operation, then rank. */
struct op_trace {
    struct arena arena;
    unsigned n_dp, n_stages, n_steps, n_ops;
    struct op_range (*ranges)[OP_TYPES]; /* of each stage */
    struct op_info {
        enum op_type type;
        unsigned stage, seq;
    } * ops;
    double *begin, *seconds; /* of each cell */
};

/* Read a trace: tab-separated lines with dp_rank, stage, rank, step, optype, start_ts, duration,
 * seq_id, mc, mb_id and gmc, named by the first line. 0, -ENOMEM, or -EINVAL with "FILE:LINE: why";
 * interleaved schedules (mc above 0) are -ENOTSUP. */
int op_trace_load(struct op_trace *ret, const char *file, const char *text, size_t len,
                  struct err *e) CHECK_RESULT;
void op_trace_done(struct op_trace *t);

static inline size_t op_trace_cells(const struct op_trace *t)
{
    return (size_t)t->n_steps * t->n_ops * t->n_dp;
}

enum straggler_class {
    STRAGGLER_NONE,
    STRAGGLER_WORKER, /* few workers (a rank and stage) are slow */
    STRAGGLER_STAGE,  /* the last stage has more to do than the others */
    STRAGGLER_LENGTHS /* samples of unequal length: another one is slow each time */,
    STRAGGLER_SPREAD /* none of these */
};

struct straggler {
    double slowdown; /* S: mean time of a step to that with equal operations */
    double actual_s, ideal_s;
    double worker;      /* M_W: share of the loss that the slowest 3 % of workers explain; NaN */
    double stage;       /* M_S: the same of the last stage; NaN */
    double correlation; /* of forward and backward times of the same micro-batch; NaN */
    enum straggler_class class;
    unsigned worst_dp, worst_stage;    /* the slowest worker */
    double by_type[OP_TYPES];          /* slowdown with only these as they were */
    double by_stage[TRACE_STAGES_MAX]; /* likewise, n_stages of them */
    double *by_dp;                     /* n_dp of them, in the trace's arena */
};

/* The class that follows from its slowdown, worker, stage and correlation. */
enum straggler_class straggler_classify(const struct straggler *r);

/* 0, -ENOMEM, or -EINVAL when the operations cannot be put in an order. */
int straggler_judge(struct op_trace *t, struct straggler *ret, struct err *e) CHECK_RESULT;

#endif
