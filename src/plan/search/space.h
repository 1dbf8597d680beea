/* The layouts that a search tries: all that layout_check() passes and that a program could be asked
 * for, each once. Besides what is pinned:
 *
 *   GPUs       all of the cluster, or with 'fewer' any number up to it
 *   groups     of tp, of tp x cp and of ep x etp do not lie across the edge of a node
 *   etp        divides tp
 *   context    ring, Ulysses and gather where cp > 1
 *   recompute  selective only where attention is plain: elsewhere it is none; norms and mlp with
 *              experts, as modules of Megatron-LM
 *   overlap_ep of two micro-batches, with no more recompute than norms; in a pipeline with chunks
 *              (Megatron-LM) and without (DualPipe)
 *   stages     those of splits_of(): even, ends, and what balances the stages
 *   vpp        such that all chunks have as many layers, but for the first and the last, which may
 *              have fewer by what the stages have
 *   shard      every divisor of dp x cp
 *   zero       2 without a pipeline, and where a step has one micro-batch: with more, programs sum
 *              whole gradients in a pipeline (ZeRO-1)
 *   sequence parallelism with and without where tp > 1; with experts with it: programs refuse to
 *              do without
 *   other overlaps as is usual (layout_usual_overlaps()); schedule: 1F1B; pinned to "any", those
 *              with and without it, and all schedules; offload likewise */
#ifndef BRIM_PLAN_SEARCH_SPACE_H
#define BRIM_PLAN_SEARCH_SPACE_H
#include "plan/layout/pins.h"
#include "plan/search/splits.h"

enum { AXIS_MAX = 1536 };

struct axis {
    int n;
    int values[AXIS_MAX]; /* rising */
};

struct space {
    const struct plan_job *job;
    const struct cluster *cluster;
    const struct pins *pins;
    bool fewer;
    int gpus; /* of the cluster */
    struct axis tp, cp, ep, micro_batch, batch;
    int head_low, head_high; /* splits_range() */
};

/* job, cluster and pins (NULL: none) must outlive it. */
void space_init(struct space *s, const struct plan_job *job, const struct cluster *c,
                const struct pins *pins, bool fewer);

/* Whether a layout is one of them. */
bool space_has(const struct space *s, const struct layout *l);

/* Call fn with every choice of tp, cp, ep, etp and micro_batch, sequence parallelism where it may
 * be, which takes least memory, all else 1 or 0.
 * Returns of fn: whether to go on to larger micro-batches of these. */
typedef bool space_cell_fn(void *ctx, const struct layout *l);
void space_each_cell(const struct space *s, space_cell_fn *fn, void *ctx);

/* With sequence parallelism and without, the contexts and the overlaps of tp and ep, and the
 * recomputes of a cell: how many, and which. What takes least memory comes first. */
enum { SPACE_KINDS = 24, SPACE_RECOMPUTES = 5 };
int space_kinds(const struct space *s, const struct layout *cell, struct layout ret[SPACE_KINDS]);
int space_recomputes(const struct space *s, enum recompute ret[SPACE_RECOMPUTES]);

/* How the layers may lie on pp stages: what is pinned, or splits_of(). */
void space_splits(const struct space *s, int pp, struct splits *ret);

/* Call fn with every pp, dp and split over stages that goes with a cell, of one chunk, with 1F1B
 * and ZeRO-0: layouts that layout_check() passes. Of one pp those with more replicas come first. */
enum space_next {
    SPACE_ON,
    SPACE_SKIP,    /* ask: not this pp and dp */
    SPACE_NEXT_PP, /* nor fewer replicas of this pp */
    SPACE_STOP
};
typedef enum space_next space_block_fn(void *ctx, const struct layout *l);
struct space_visit {
    double least;        /* of pp x dp */
    space_block_fn *ask; /* before a pp and dp are checked at all; NULL: nobody */
    space_block_fn *fn;
    void *ctx;
};
void space_each_block(const struct space *s, const struct layout *cell,
                      const struct space_visit *v);

/* What is left to choose of a block: each of the first list goes with each of the second. */
struct chunking {
    int vpp;
    enum schedule schedule;
    bool overlap_pp;
};
struct sharding {
    int zero, shard;
    bool overlap_dp, offload;
};
struct chunkings {
    int n;
    struct chunking list[AXIS_MAX];
};
struct shardings {
    int n;
    struct sharding list[AXIS_MAX];
};
void space_chunkings(const struct space *s, const struct layout *block, struct chunkings *ret);
void space_shardings(const struct space *s, const struct layout *block, struct shardings *ret);

/* Set in a layout what was chosen. */
void chunking_set(struct layout *l, const struct chunking *c);
void sharding_set(struct layout *l, const struct sharding *s);

/* How many layouts there are. Takes long with 'fewer'. */
double space_count(const struct space *s);

#endif
