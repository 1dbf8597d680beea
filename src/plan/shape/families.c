#include "plan/shape/families_private.h"

#include <errno.h>
#include <string.h>

#include "plan/shape/config.h"

static int read_mixtral(const struct shape_file *c, struct shape *s)
{
    int rc = shape_read_experts(c, "num_local_experts", s);

    return rc < 0 ? rc : shape_read_window(c, s);
}

static int read_qwen2_moe(const struct shape_file *c, struct shape *s)
{
    int rc = shape_read_experts(c, "num_experts", s);

    if (rc == 0)
        rc = shape_need_one(c, "shared_expert_intermediate_size", &s->shared_ffn);
    s->shared = s->shared_ffn > 0;
    s->shared_gate = s->shared > 0;
    if (rc == 0)
        rc = shape_get_bool(c, "qkv_bias", &s->qkv_biases);
    return rc < 0 ? rc : shape_read_qwen_window(c, s);
}

static int read_qwen3(const struct shape_file *c, struct shape *s)
{
    s->qk_norms = 2 * MIN(s->head_dim, 1000000);
    shape_get(c, "use_qk_norm"); /* always */
    return shape_read_qwen_window(c, s);
}

static int read_qwen3_moe(const struct shape_file *c, struct shape *s)
{
    int rc = read_qwen3(c, s);

    return rc < 0 ? rc : shape_read_experts(c, "num_experts", s);
}

static int read_deepseek(const struct shape_file *c, struct shape *s)
{
    int rc = shape_read_latent(c, s);

    if (rc == 0)
        rc = shape_read_further(c, "num_nextn_predict_layers", s);
    return rc == 0 && shape_get(c, "n_routed_experts") ? shape_read_shared_experts(c, s) : rc;
}

/* Both look at all tokens in every second layer. */
static int read_every_second(const struct shape_file *c, struct shape *s)
{
    int rc = shape_read_window(c, s);

    s->full_every = s->window ? 2 : 0;
    return rc;
}

static int read_gpt_oss(const struct shape_file *c, struct shape *s)
{
    int rc = read_every_second(c, s);

    return rc < 0 ? rc : shape_read_experts(c, "num_local_experts", s);
}

static int read_gpt_neox(const struct shape_file *c, struct shape *s)
{
    bool attention = true;
    int rc = shape_get_bool(c, "use_parallel_residual", &s->parallel);

    if (rc == 0)
        rc = shape_get_bool(c, "attention_bias", &attention);
    s->biases = s->qkv_biases = s->out_biases = attention;
    return rc;
}

static int read_opt(const struct shape_file *c, struct shape *s)
{
    int width = s->hidden;
    int rc = shape_get_one(c, "word_embed_proj_dim", &width);
    bool before = true, weights = true;

    if (rc >= 0 && width != s->hidden)
        return err_set(c->e, -EINVAL,
                       "%s: word_embed_proj_dim %d is not hidden_size %d: embeddings of another "
                       "width are not known",
                       c->file, width, s->hidden);
    if (rc >= 0)
        rc = shape_get_bool(c, "do_layer_norm_before", &before);
    if (rc >= 0)
        rc = shape_get_bool(c, "layer_norm_elementwise_affine", &weights);
    if (rc >= 0 && !(before && weights))
        return shape_bad(c,
                         "do_layer_norm_before or layer_norm_elementwise_affine is false: layers "
                         "of that kind are not known");
    return rc < 0 ? rc : shape_get_bool(c, "enable_bias", &s->biases);
}

/* Of falcon-7b the file names 71 key-value heads, but multi_query wins. */
static int read_falcon(const struct shape_file *c, struct shape *s)
{
    bool grouped = false, multi_query = true;
    int rc = shape_get_bool(c, "new_decoder_architecture", &grouped), norms = 0;

    if (rc == 0)
        rc = shape_get_bool(c, "multi_query", &multi_query);
    if (rc == 0)
        rc = shape_get_bool(c, "parallel_attn", &s->parallel);
    if (rc == 0)
        rc = shape_get_bool(c, "bias", &s->biases);
    if (rc == 0)
        rc = shape_get_one(c, "num_ln_in_parallel_attn", &norms);
    if (rc < 0)
        return rc;
    norms = norms ? norms : grouped ? 2 : 1;
    s->norms = s->parallel && norms != 2 ? 1 : 2;
    if (grouped)
        s->parallel = true;
    else
        s->kv_heads = multi_query ? 1 : s->heads;
    return 0;
}

static int read_mpt(const struct shape_file *c, struct shape *s)
{
    const struct json_value *attention = shape_get(c, "attn_config");
    struct shape_file inner = { .file = c->file, .root = attention, .e = c->e };
    bool no_bias = false, alibi = false, norms = false;
    int ratio = 4;
    int rc = shape_get_one(c, "expansion_ratio", &ratio);

    if (rc >= 0)
        rc = shape_get_bool(c, "no_bias", &no_bias);
    if (rc == 0 && attention)
        rc = shape_get_bool(&inner, "alibi", &alibi);
    if (rc == 0 && attention)
        rc = shape_get_bool(&inner, "qk_ln", &norms);
    if (rc == 0 && shape_is_text(&inner, "attn_type", "multiquery_attention"))
        s->kv_heads = 1;
    if (rc == 0 && attention)
        rc = shape_get_one(&inner, "kv_n_heads", &s->kv_heads);
    if (rc < 0)
        return rc;
    if (norms)
        return shape_bad(c, "qk_ln is true: norms of queries and keys are not known of mpt");
    if (__builtin_mul_overflow(s->hidden, ratio, &s->ffn))
        return shape_bad(c, "d_model times expansion_ratio is too large");
    s->biases = !no_bias;
    s->norm_biases = !no_bias && !shape_is_text(c, "norm_type", "rmsnorm") &&
                     !shape_is_text(c, "norm_type", "low_precision_rmsnorm");
    s->learned_positions = !alibi;
    return 0;
}

/* A plain GPT, and what trainers such as Megatron let it differ in. */
static int read_plain(const struct shape_file *c, struct shape *s)
{
    bool untied = false;
    int rc = shape_get_bool(c, "swiglu", &s->gated);

    if (rc == 0)
        rc = shape_get_bool(c, "add_bias_linear", &s->biases);
    if (rc == 0)
        rc = shape_get_bool(c, "untie_embeddings_and_output_weights", &untied);
    if (rc < 0)
        return rc;
    s->tied = s->tied && !untied;
    s->norm_biases = !shape_is_text(c, "normalization", "RMSNorm");
    s->learned_positions = s->positions && !shape_is_text(c, "position_embedding_type", "rope") &&
                           !shape_is_text(c, "position_embedding_type", "alibi");
    return shape_get(c, "num_experts") || shape_get(c, "num_moe_experts")
               ? shape_read_experts(c, "num_experts", s)
               : 0;
}

/* ---- families ---- */

static const struct shape_family families[] = {
    { "llama", SHAPE_FFN_USUAL, SHAPE_NAMES_USUAL, NULL, { .gated = true } },
    { "mistral", SHAPE_FFN_USUAL, SHAPE_NAMES_USUAL, shape_read_window, { .gated = true } },
    { "mixtral", SHAPE_FFN_USUAL, SHAPE_NAMES_USUAL, read_mixtral, { .gated = true } },
    { "qwen2",
      SHAPE_FFN_USUAL,
      SHAPE_NAMES_USUAL,
      shape_read_qwen_window,
      { .gated = true, .qkv_biases = true } },
    { "qwen2_moe",
      SHAPE_FFN_USUAL,
      SHAPE_NAMES_USUAL,
      read_qwen2_moe,
      { .gated = true, .qkv_biases = true } },
    { "qwen3", SHAPE_FFN_USUAL, SHAPE_NAMES_USUAL, read_qwen3, { .gated = true } },
    { "qwen3_moe", SHAPE_FFN_USUAL, SHAPE_NAMES_USUAL, read_qwen3_moe, { .gated = true } },
    { "gemma", SHAPE_FFN_USUAL, SHAPE_NAMES_USUAL, NULL, { .gated = true, .tied = true } },
    { "gemma2",
      SHAPE_FFN_USUAL,
      SHAPE_NAMES_USUAL,
      read_every_second,
      { .gated = true, .tied = true, .norms = 4 } },
    { "gpt2",
      SHAPE_FFN_FOURFOLD,
      SHAPE_NAMES_GPT2,
      NULL,
      { .tied = true,
        .learned_positions = true,
        .biases = true,
        .norm_biases = true,
        .dropout = true } },
    { "gpt_neox",
      SHAPE_FFN_USUAL,
      SHAPE_NAMES_USUAL,
      read_gpt_neox,
      { .mlp_biases = true, .norm_biases = true, .parallel = true, .norms = 2 } },
    { "gptj",
      SHAPE_FFN_FOURFOLD,
      SHAPE_NAMES_GPT2,
      NULL,
      { .mlp_biases = true, .norm_biases = true, .head_bias = true, .parallel = true } },
    { "opt",
      SHAPE_FFN_OPT,
      SHAPE_NAMES_USUAL,
      read_opt,
      { .tied = true,
        .learned_positions = true,
        .extra_positions = 2,
        .biases = true,
        .norm_biases = true,
        .dropout = true } },
    { "bloom",
      SHAPE_FFN_FOURFOLD,
      SHAPE_NAMES_USUAL,
      NULL,
      { .tied = true, .biases = true, .norm_biases = true, .embedding_norm = true } },
    { "falcon",
      SHAPE_FFN_FOURFOLD,
      SHAPE_NAMES_USUAL,
      read_falcon,
      { .tied = true, .norm_biases = true, .parallel = true } },
    { "phi",
      SHAPE_FFN_FOURFOLD,
      SHAPE_NAMES_USUAL,
      NULL,
      { .biases = true, .norm_biases = true, .head_bias = true, .parallel = true } },
    { "phi3", SHAPE_FFN_USUAL, SHAPE_NAMES_USUAL, shape_read_window, { .gated = true } },
    { "mpt", SHAPE_FFN_FOURFOLD, SHAPE_NAMES_MPT, read_mpt, { .tied = true } },
    { "gpt_oss",
      SHAPE_FFN_USUAL,
      SHAPE_NAMES_USUAL,
      read_gpt_oss,
      { .gated = true,
        .qkv_biases = true,
        .out_biases = true,
        .mlp_biases = true,
        .sinks = true,
        .router_biases = true } },
    { "deepseek_v2",
      SHAPE_FFN_USUAL,
      SHAPE_NAMES_USUAL,
      read_deepseek,
      { .gated = true, .head_dim = 1 } },
    { "deepseek_v3",
      SHAPE_FFN_USUAL,
      SHAPE_NAMES_USUAL,
      read_deepseek,
      { .gated = true, .router_biases = true, .head_dim = 1 } },
    { "kimi_k2",
      SHAPE_FFN_USUAL,
      SHAPE_NAMES_USUAL,
      read_deepseek,
      { .gated = true, .router_biases = true, .head_dim = 1 } },
    { "deepseek_v32",
      SHAPE_FFN_USUAL,
      SHAPE_NAMES_USUAL,
      shape_read_indexed,
      { .gated = true, .router_biases = true, .head_dim = 1 } },
    { "glm_moe_dsa",
      SHAPE_FFN_USUAL,
      SHAPE_NAMES_USUAL,
      shape_read_indexed,
      { .gated = true, .router_biases = true, .head_dim = 1 } },
    { "glm4_moe",
      SHAPE_FFN_USUAL,
      SHAPE_NAMES_USUAL,
      shape_read_glm4_moe,
      { .gated = true, .router_biases = true } },
    { "minimax_m2",
      SHAPE_FFN_USUAL,
      SHAPE_NAMES_USUAL,
      shape_read_minimax_m2,
      { .gated = true, .router_biases = true } },
    { "llama4_text",
      SHAPE_FFN_USUAL,
      SHAPE_NAMES_USUAL,
      shape_read_llama4,
      { .gated = true, .window = 8192, .expert_every = 1 } },
    { "gemma3_text",
      SHAPE_FFN_USUAL,
      SHAPE_NAMES_USUAL,
      shape_read_gemma3,
      { .gated = true,
        .tied = true,
        .norms = 4,
        .heads = 8,
        .kv_heads = 4,
        .head_dim = 256,
        .vocab = 262208,
        .positions = 131072,
        .window = 4096 } },
    { "gemma4_text",
      SHAPE_FFN_USUAL,
      SHAPE_NAMES_USUAL,
      shape_read_gemma4,
      { .gated = true,
        .tied = true,
        .norms = 4,
        .heads = 8,
        .kv_heads = 4,
        .head_dim = 256,
        .vocab = 262144,
        .positions = 131072,
        .window = 512 } },
    { "qwen3_vl_text", SHAPE_FFN_USUAL, SHAPE_NAMES_USUAL, read_qwen3, { .gated = true } },
    { "qwen3_vl_moe_text", SHAPE_FFN_USUAL, SHAPE_NAMES_USUAL, read_qwen3_moe, { .gated = true } },
    { "qwen3_next", SHAPE_FFN_MAYBE, SHAPE_NAMES_USUAL, shape_read_qwen3_5, { .gated = true } },
    { "qwen3_5_text", SHAPE_FFN_USUAL, SHAPE_NAMES_USUAL, shape_read_qwen3_5, { .gated = true } },
    { "qwen3_5_moe_text",
      SHAPE_FFN_MAYBE,
      SHAPE_NAMES_USUAL,
      shape_read_qwen3_5,
      { .gated = true } },
    { "kimi_linear",
      SHAPE_FFN_USUAL,
      SHAPE_NAMES_USUAL,
      shape_read_kimi_linear,
      { .gated = true, .router_biases = true, .head_dim = 1 } },
    { "jamba", SHAPE_FFN_USUAL, SHAPE_NAMES_USUAL, shape_read_jamba, { .gated = true } },
    { "nemotron_h", SHAPE_FFN_MAYBE, SHAPE_NAMES_USUAL, shape_read_nemotron_h, { .norms = 1 } },
};

static const struct shape_family plain = { "gpt",
                                           SHAPE_FFN_FOURFOLD,
                                           SHAPE_NAMES_USUAL,
                                           read_plain,
                                           { .tied = true, .biases = true, .norm_biases = true } };

const char *shape_family(size_t i)
{
    return i < ARRAY_SIZE(families) ? families[i].name : NULL;
}

const struct shape_family *shape_family_named(const char *name)
{
    if (!name)
        return &plain;
    for (size_t i = 0; i < ARRAY_SIZE(families); i++)
        if (!strcmp(families[i].name, name))
            return &families[i];
    return NULL;
}
