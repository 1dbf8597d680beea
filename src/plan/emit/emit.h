/* A layout in the words of the programs that train: their flags and files, as they take them. */
#ifndef BRIM_PLAN_EMIT_EMIT_H
#define BRIM_PLAN_EMIT_EMIT_H
#include "base/str.h"
#include "plan/layout/layout.h"

enum emit_target {
    EMIT_MEGATRON,
    EMIT_TORCHTITAN,
    EMIT_DEEPSPEED,
    EMIT_NEMO,
    EMIT_FSDP,
    EMIT_TARGETS,
    EMIT_SBATCH = 1 << 8 /* with one of them: a batch script for Slurm that starts it */
};

/* "megatron", "torchtitan", "deepspeed", "nemo", "torchrun-fsdp"; "sbatch+" before one of them;
 * "sbatch" is sbatch+megatron. -EINVAL with a sentence that names the nearest. */
int emit_find(const char *name, enum emit_target *ret, struct err *e) CHECK_RESULT;

/* Append the text. The layout is checked first. What the target has no words for is refused:
 * -EINVAL with one sentence that names the field and why ("torchtitan 0.2 cannot express
 * schedule=gpipe: ..."); nothing is left out silently. -ENOMEM. */
int emit_text(enum emit_target target, const struct plan_job *job, const struct cluster *c,
              const struct layout *l, struct str *out, struct err *e) CHECK_RESULT;

#endif
