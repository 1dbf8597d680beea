#include "plan/model/eager.h"

#include <stddef.h>

#include "base/compiler.h"

/* Bytes that a kernel reads and writes of a number. */
struct kernel {
    double reads, writes;
};

/* torchtitan/models/norms.py and llama's model.py, as autograd runs them. */
static const struct kernel norm_forward[] = {
    { 2, 4 }, /* to 32 bits */
    { 4, 4 }, /* square */
    { 4, 0 }, /* mean */
    { 4, 4 }, /* times the root's inverse */
    { 4, 2 }, /* to 16 bits */
    { 2, 2 }, /* times the weight */
};
static const struct kernel norm_backward[] = {
    { 2, 2 }, /* the weight's product: of its input */
    { 4, 2 }, /* of the weight, */
    { 2, 0 }, /* summed over rows */
    { 2, 4 }, /* to 32 bits */
    { 4, 4 }, /* the root's product: of its input */
    { 8, 4 }, /* of the root, */
    { 4, 0 }, /* summed over columns */
    { 4, 4 }, /* of the square: twice its input, */
    { 4, 4 }, /* times the mean's gradient */
    { 8, 4 }, /* both gradients of the input */
    { 4, 2 }, /* to 16 bits */
};
/* As complex numbers; the backward pass is the same with the conjugate. */
static const struct kernel rotary[] = {
    { 2, 4 },
    { 4, 4 },
    { 4, 2 },
};

static double bytes_of(const struct kernel *k, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += k[i].reads + k[i].writes;
    return sum;
}

bool eager_is(const struct plan_job *job)
{
    return job->engine == ENGINE_TORCH && !job->fused && job->shape.gated &&
           !job->shape.norm_biases;
}

struct eager_bytes eager_norm(void)
{
    return (struct eager_bytes){ bytes_of(norm_forward, ARRAY_SIZE(norm_forward)),
                                 bytes_of(norm_backward, ARRAY_SIZE(norm_backward)) };
}

struct eager_bytes eager_rotary(void)
{
    double once = bytes_of(rotary, ARRAY_SIZE(rotary));

    return (struct eager_bytes){ once, once };
}

double eager_norm_kept(void)
{
    return 4 + 2;
}
