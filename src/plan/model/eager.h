/* Norms and rotary positions of PyTorch's own code, where nothing fuses them: each operation is a
 * kernel that reads and writes memory. */
#ifndef BRIM_PLAN_MODEL_EAGER_H
#define BRIM_PLAN_MODEL_EAGER_H
#include <stdbool.h>

#include "plan/layout/layout.h"

/* Bytes that one number takes to memory and back. */
struct eager_bytes {
    double forward, backward;
};

/* Whether a job has them: PyTorch without torch.compile, and a model of Llama's kind, whose RMSNorm
 * and rotary positions are written in Python (LayerNorm is one kernel everywhere). */
bool eager_is(const struct plan_job *job);

/* Of RMSNorm: to 32 bits, the square, its mean, the product with its root, back to 16 bits, the
 * product with the weight. */
struct eager_bytes eager_norm(void);

/* Of rotary positions, of a number of queries or keys: to 32 bits, the product, back to 16 bits. */
struct eager_bytes eager_rotary(void);

/* Bytes that RMSNorm keeps of a number for the backward pass, beside its input and its result: its
 * input in 32 bits, and its result before the weight. */
double eager_norm_kept(void);

#endif
