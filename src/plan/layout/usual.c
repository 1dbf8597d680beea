#include "plan/layout/usual.h"

/* Bytes of a logit in PyTorch's loss: 16 bits, 32, their log-softmax and its gradient; compiled it
 * keeps less. */
static const double torch_logit_b = 14, compiled_logit_b = 12;

/* Tokens beyond which no stack keeps the scores of attention in memory. */
enum { PLAIN_LONGEST = 2048 };

static enum plan_attention usual_attention(const struct plan_job *job, enum plan_engine kernels,
                                           enum usual_time time)
{
    if (kernels == ENGINE_TORCH)
        return ATTENTION_SECOND;
    if (time == USUAL_TODAY)
        return ATTENTION_THIRD;
    return time == USUAL_FUSED || job->seq > PLAIN_LONGEST ? ATTENTION_FLASH : ATTENTION_PLAIN;
}

void usual_job(struct plan_job *job, enum plan_engine kernels, enum usual_time time, bool sharded)
{
    /* Megatron-LM sums those of bf16 in 32 bits, those of fp16 as they are (its arguments.py). */
    bool narrow = job->precision == PLAN_FP16 || (sharded && job->engine != ENGINE_MEGATRON);

    job->attention = usual_attention(job, kernels, time);
    job->fused = time != USUAL_PLAIN && kernels != ENGINE_TORCH;
    job->fused_loss = job->graphs = false;
    job->logit_b = kernels == ENGINE_TORCH ? torch_logit_b : 0;
    job->gradient_b = narrow ? 2 : 4;
    job->moment_b = 4;
    job->imbalance = 1;
}

void usual_compiled(struct plan_job *job, enum plan_engine kernels)
{
    job->fused = true;
    job->logit_b = kernels == ENGINE_TORCH ? compiled_logit_b : 0;
}

bool usual_hides_dp(const struct plan_job *job, int zero, bool current)
{
    /* DeepSpeed's overlap_comm is off below ZeRO-3. */
    return job->engine == ENGINE_DEEPSPEED ? zero == 3 : current || zero >= 2;
}

bool usual_hides_tp(const struct plan_job *job, bool fresh)
{
    /* PyTorch's asynchronous tensor parallelism has to be asked for. */
    return fresh && job->engine != ENGINE_TORCH;
}

bool usual_hides_pp(bool current)
{
    return current;
}
