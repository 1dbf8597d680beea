/* What the readers of families share. All return 0, or -EINVAL with a sentence. */
#ifndef BRIM_PLAN_SHAPE_FAMILIES_PRIVATE_H
#define BRIM_PLAN_SHAPE_FAMILIES_PRIVATE_H
#include "plan/shape/families.h"

/* ---- parts that several have (family_parts.c) ---- */

/* sliding_window, in all layers; the same where use_sliding_window switches it on (Qwen). */
int shape_read_window(const struct shape_file *c, struct shape *s) CHECK_RESULT;
int shape_read_qwen_window(const struct shape_file *c, struct shape *s) CHECK_RESULT;

/* Experts under the names of any family; expert_ffn as that of a dense MLP where it has none.
 * asked: what a file without them is asked for. */
int shape_read_experts(const struct shape_file *c, const char *asked, struct shape *s) CHECK_RESULT;

/* DeepSeek's: experts that all tokens take beside others, behind layers with a dense MLP. */
int shape_read_shared_experts(const struct shape_file *c, struct shape *s) CHECK_RESULT;

/* The ranks and dimensions of latent attention. */
int shape_read_latent(const struct shape_file *c, struct shape *s) CHECK_RESULT;

/* Refuses a head that is the embedding, in families of which transformers keeps both all the same,
 * and the model's own code does not. */
int shape_check_untied(const struct shape_file *c, const struct shape *s) CHECK_RESULT;

/* Layers for multi-token prediction, by the name that a family has for them. */
int shape_read_further(const struct shape_file *c, const char *name, struct shape *s) CHECK_RESULT;

/* Which layers look at all tokens, where the others have a window: sets full_every. name: of the
 * field that says each how-manieth does; usual: when none says. */
int shape_read_full_layers(const struct shape_file *c, const char *name, int usual, struct shape *s)
    CHECK_RESULT;

/* ---- families with a file of their own; NULL never ---- */

/* family_moe.c */
int shape_read_llama4(const struct shape_file *c, struct shape *s) CHECK_RESULT;
int shape_read_glm4_moe(const struct shape_file *c, struct shape *s) CHECK_RESULT;
int shape_read_minimax_m2(const struct shape_file *c, struct shape *s) CHECK_RESULT;
int shape_read_indexed(const struct shape_file *c, struct shape *s) CHECK_RESULT;

/* family_gemma.c */
int shape_read_gemma3(const struct shape_file *c, struct shape *s) CHECK_RESULT;
int shape_read_gemma4(const struct shape_file *c, struct shape *s) CHECK_RESULT;

/* family_delta.c: linear attention by the delta rule in most layers */
int shape_read_qwen3_5(const struct shape_file *c, struct shape *s) CHECK_RESULT;
int shape_read_kimi_linear(const struct shape_file *c, struct shape *s) CHECK_RESULT;

/* family_mamba.c: state spaces in most layers */
int shape_read_jamba(const struct shape_file *c, struct shape *s) CHECK_RESULT;
int shape_read_nemotron_h(const struct shape_file *c, struct shape *s) CHECK_RESULT;

#endif
