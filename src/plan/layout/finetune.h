/* Fine-tuning in words, "qlora,rank=16,modules=q+v": what of a model is trained, how the rest is
 * kept, and by which program. */
#ifndef BRIM_PLAN_LAYOUT_FINETUNE_H
#define BRIM_PLAN_LAYOUT_FINETUNE_H
#include "base/str.h"
#include "plan/shape/shape.h"

enum finetune_kind {
    FINETUNE_NONE, /* no fine-tuning: all weights, as the rest of the job says */
    FINETUNE_FULL, /* all weights behind the frozen layers */
    FINETUNE_LORA, /* adapters of a low rank beside frozen weights */
};

/* Matrices with an adapter; QKV is one adapter for a matrix of all three. */
enum {
    FINETUNE_Q = 1 << 0,
    FINETUNE_K = 1 << 1,
    FINETUNE_V = 1 << 2,
    FINETUNE_QKV = 1 << 3,
    FINETUNE_O = 1 << 4,
    FINETUNE_GATE = 1 << 5,
    FINETUNE_UP = 1 << 6,
    FINETUNE_DOWN = 1 << 7,
    FINETUNE_HEAD = 1 << 8,
    FINETUNE_MODULES = 9,
    FINETUNE_ALL = FINETUNE_Q | FINETUNE_K | FINETUNE_V | FINETUNE_O | FINETUNE_GATE | FINETUNE_UP |
                   FINETUNE_DOWN /* of the layers */
};

/* How frozen matrices are kept. */
enum finetune_weights {
    FINETUNE_BF16,
    FINETUNE_NF4,    /* bitsandbytes: 4 bits, and 32 bits for each 64 */
    FINETUNE_NF4_DQ, /* the same with double quantization: 8 bits for each 64 */
    FINETUNE_INT4,   /* GPTQ: 4 bits, and 20 bits for each 128 */
};

enum finetune_optimizer {
    FINETUNE_ADAMW,      /* moments as wide as the trained weights */
    FINETUNE_ADAMW_8BIT, /* bitsandbytes: moments of 8 bits, no weights of 32 bits */
    FINETUNE_PAGED_8BIT, /* the same, in memory that goes to the host when the GPU is full */
    FINETUNE_SGD,        /* no moments */
};

/* Whose kernels run, and what they keep. */
enum finetune_program {
    FINETUNE_TRANSFORMERS, /* Transformers' trainer with PEFT: adapters of 32 bits, autocast */
    FINETUNE_DEEPSPEED,    /* the same with DeepSpeed: 16 bits throughout */
    FINETUNE_LITGPT,       /* LitGPT, bf16-true */
};

struct finetune {
    enum finetune_kind kind;
    int rank;
    unsigned modules; /* FINETUNE_Q, ... */
    enum finetune_weights weights;
    enum finetune_optimizer optimizer;
    enum finetune_program program;
    int frozen;     /* the first layers, which neither are trained nor have adapters */
    double dropout; /* before the adapters */
};

/* -EINVAL with a sentence: "unknown word 'lorra' (did you mean 'lora'?)". */
int finetune_read(struct finetune *ret, const char *text, struct err *e) CHECK_RESULT;

/* -EINVAL with a sentence for a shape that the model of fine-tuning does not cover. */
int finetune_check(const struct finetune *f, const struct shape *s, struct err *e) CHECK_RESULT;

/* "LoRA of rank 16 on q+v beside weights of 4 bits (nf4-dq), AdamW, as Transformers with PEFT". */
void finetune_text(const struct finetune *f, struct str *out);

/* Inputs and outputs of a matrix with an adapter, by the number of its bit; 0 and 0 where the shape
 * has no such matrix. */
struct finetune_matrix {
    double in, out;
};
struct finetune_matrix finetune_matrix_of(const struct shape *s, int module);

/* Weights of the adapters of one layer, or of the head. */
double finetune_adapter(const struct finetune *f, const struct shape *s);
double finetune_head_adapter(const struct finetune *f, const struct shape *s);

/* Bytes of a weight in a frozen matrix. */
double finetune_weight_b(enum finetune_weights w);

#endif
