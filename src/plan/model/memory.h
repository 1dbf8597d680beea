/* Memory that a layout takes on the GPU that needs most. */
#ifndef BRIM_PLAN_MODEL_MEMORY_H
#define BRIM_PLAN_MODEL_MEMORY_H
#include "plan/layout/layout.h"

/* Bytes of one GPU. */
struct memory {
    double weights, gradients, states; /* states: master weights and both moments */
    double gathered;    /* ZeRO-2 and 3: of the blocks at work; DeepSpeed: its buckets */
    double activations; /* kept for the backward pass, with what a layer works in */
    double logits;
    double tensors;  /* the sum of the above: what the allocator hands out at its peak */
    double overhead; /* the sum of the following */
    double context, communicators, gaps; /* of CUDA, of NCCL; lost in fragments */
    double total;
    int stage; /* of the pipeline, where this is */
};

/* What a layer and the ends take in one micro-batch, and their parameters on one GPU: made once for
 * all layouts of one cell. */
struct layer_bytes {
    double kept_dense, kept_expert; /* for the backward pass, after recompute */
    double work;                    /* besides, of the layer that is recomputed */
    double embedding, head;         /* kept by the first stage, and by the last without logits */
    double logits;
    double dense_params, expert_params; /* of a layer, on one GPU, without single experts */
    double own_experts;                 /* parameters of a GPU's experts in a layer */
    double embedding_params, head_params, final_norm;
    double expert_share; /* of the layers behind dense_first, those with experts */
};

void layer_bytes(const struct plan_job *job, const struct layout *l, struct layer_bytes *ret);

/* Activations of one layer in bytes, on one GPU, without recompute or with what it leaves. */
double memory_layer(const struct plan_job *job, const struct layout *l, bool experts,
                    enum recompute recompute);

/* Micro-batches that a stage keeps at the same time, in units of its layers. */
double memory_in_flight(const struct layout *l, int micro_batches, int stage);

/* Layers with and without experts of a stage. */
void memory_stage_layers(const struct plan_job *job, const struct layout *l, int stage,
                         double *dense, double *experts);

/* Parameters of a stage on one GPU: *own are those of experts, divided over other replicas. */
double memory_stage_params(const struct plan_job *job, const struct layout *l,
                           const struct layer_bytes *b, int stage, double *own);

/* The same, of a stage of which memory_stage_layers() is known. */
double memory_layers_params(const struct plan_job *job, const struct layout *l,
                            const struct layer_bytes *b, int stage, double dense, double experts);

/* Of one communicator: what several replicas need more than one, all else the same. */
double memory_communicator(void);

/* What the last stage takes at least, however many stages and replicas there are. */
double memory_floor(const struct layer_bytes *b);

/* One stage of the pipeline. */
void memory_stage(const struct plan_job *job, const struct layout *l, const struct layer_bytes *b,
                  int stage, struct memory *m);

/* The stage that takes most. */
void memory_make(const struct plan_job *job, const struct layout *l, const struct layer_bytes *b,
                 struct memory *ret);

#endif
