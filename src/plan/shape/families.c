#include "plan/shape/families.h"

#include <errno.h>
#include <string.h>

#include "plan/shape/config.h"

static const char *const experts_names[SHAPE_NAMES] = { "num_experts", "num_local_experts",
                                                        "n_routed_experts", "num_moe_experts" };
static const char *const active_names[SHAPE_NAMES] = { "num_experts_per_tok", "experts_per_token",
                                                       "moe_router_topk" };
static const char *const expert_ffn_names[SHAPE_NAMES] = { "moe_intermediate_size",
                                                           "moe_ffn_hidden_size" };
static const char *const every_names[SHAPE_NAMES] = { "decoder_sparse_step", "moe_layer_freq" };

static int read_window(const struct shape_file *c, struct shape *s)
{
    int rc = shape_get_one(c, "sliding_window", &s->window);

    return rc < 0 ? rc : 0;
}

/* Qwen's files tell a window that is not in use, and from which layer on it would be. */
static int read_qwen_window(const struct shape_file *c, struct shape *s)
{
    bool use = false;
    int first = s->layers;
    int rc = shape_get_bool(c, "use_sliding_window", &use);

    if (rc == 0)
        rc = shape_get_one(c, "max_window_layers", &first);
    return rc >= 0 && use && first == 0 ? read_window(c, s) : MIN(rc, 0);
}

/* mlp_only_layers: numbers of layers without experts, here only some at the beginning. */
static int read_dense_layers(const struct shape_file *c, struct shape *s)
{
    const struct json_value *v = shape_get(c, "mlp_only_layers");

    if (!v)
        return 0;
    if (v->kind != JSON_ARRAY)
        return shape_bad_value(c, v, "an array of layers");
    for (size_t i = 0; i < v->n_items; i++)
        if (!v->items[i].is_whole || v->items[i].whole != (int64_t)i)
            return shape_bad_value(c, v, "the first layers, such as [0, 1]: others are not known");
    s->dense_first = (int)MIN(v->n_items, (size_t)INT32_MAX);
    return 0;
}

/* Experts under the names of any family; expert_ffn as that of a dense MLP where it has none. */
static int read_experts(const struct shape_file *c, const char *asked, struct shape *s)
{
    int rc = shape_need_int(c, experts_names, asked, &s->experts);

    if (rc == 0)
        rc = shape_need_int(c, active_names, active_names[0], &s->active);
    s->expert_ffn = s->ffn;
    if (rc == 0)
        rc = shape_get_int(c, expert_ffn_names, &s->expert_ffn);
    if (rc >= 0)
        rc = shape_get_int(c, every_names, &s->expert_every);
    if (rc >= 0)
        rc = read_dense_layers(c, s);
    return MIN(rc, 0);
}

static int read_mixtral(const struct shape_file *c, struct shape *s)
{
    int rc = read_experts(c, "num_local_experts", s);

    return rc < 0 ? rc : read_window(c, s);
}

static int read_qwen2_moe(const struct shape_file *c, struct shape *s)
{
    int rc = read_experts(c, "num_experts", s);

    if (rc == 0)
        rc = shape_need_one(c, "shared_expert_intermediate_size", &s->shared_ffn);
    s->shared = s->shared_ffn > 0;
    s->shared_gate = s->shared > 0;
    return rc < 0 ? rc : read_qwen_window(c, s);
}

static int read_qwen3(const struct shape_file *c, struct shape *s)
{
    s->qk_norms = 2 * MIN(s->head_dim, 1000000);
    return read_qwen_window(c, s);
}

static int read_qwen3_moe(const struct shape_file *c, struct shape *s)
{
    int rc = read_qwen3(c, s);

    return rc < 0 ? rc : read_experts(c, "num_experts", s);
}

static int read_deepseek_experts(const struct shape_file *c, struct shape *s)
{
    int rc = read_experts(c, "n_routed_experts", s);

    if (rc == 0)
        rc = shape_get_one(c, "n_shared_experts", &s->shared);
    if (rc >= 0)
        rc = shape_get_one(c, "first_k_dense_replace", &s->dense_first);
    if (rc < 0)
        return rc;
    if (__builtin_mul_overflow(s->shared, s->expert_ffn, &s->shared_ffn))
        return shape_bad(c, "n_shared_experts times moe_intermediate_size is too large");
    s->router_biases = shape_is_text(c, "topk_method", "noaux_tc");
    return 0;
}

static int read_deepseek(const struct shape_file *c, struct shape *s)
{
    int rc = shape_need_one(c, "kv_lora_rank", &s->kv_rank);

    s->attention = SHAPE_LATENT;
    if (rc == 0)
        rc = shape_get_one(c, "q_lora_rank", &s->q_rank);
    if (rc >= 0)
        rc = shape_need_one(c, "qk_rope_head_dim", &s->rope_dim);
    if (rc == 0)
        rc = shape_need_one(c, "qk_nope_head_dim", &s->nope_dim);
    if (rc == 0)
        rc = shape_need_one(c, "v_head_dim", &s->v_dim);
    if (rc < 0)
        return rc;
    if (__builtin_add_overflow(s->rope_dim, s->nope_dim, &s->head_dim))
        return shape_bad(c, "qk_rope_head_dim and qk_nope_head_dim are too large");
    s->kv_heads = s->heads;
    return shape_get(c, "n_routed_experts") ? read_deepseek_experts(c, s) : 0;
}

/* Both look at all tokens in every second layer. */
static int read_every_second(const struct shape_file *c, struct shape *s)
{
    int rc = read_window(c, s);

    s->full_every = s->window ? 2 : 0;
    return rc;
}

static int read_gpt_oss(const struct shape_file *c, struct shape *s)
{
    int rc = read_every_second(c, s);

    return rc < 0 ? rc : read_experts(c, "num_local_experts", s);
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

    if (rc >= 0 && width != s->hidden)
        return err_set(c->e, -EINVAL,
                       "%s: word_embed_proj_dim %d is not hidden_size %d: embeddings of another "
                       "width are not known",
                       c->file, width, s->hidden);
    return rc < 0 ? rc : shape_get_bool(c, "enable_bias", &s->biases);
}

/* Of falcon-7b the file names 71 key-value heads, but multi_query wins. */
static int read_falcon(const struct shape_file *c, struct shape *s)
{
    bool grouped = false, multi_query = true;
    int rc = shape_get_bool(c, "new_decoder_architecture", &grouped), norms = 2;

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
    if (grouped) {
        s->parallel = true;
        s->norms = norms;
    } else {
        s->kv_heads = multi_query ? 1 : s->heads;
    }
    return 0;
}

static int read_mpt(const struct shape_file *c, struct shape *s)
{
    const struct json_value *attention = shape_get(c, "attn_config");
    struct shape_file inner = { .file = c->file, .root = attention, .e = c->e };
    bool no_bias = false, alibi = false;
    int ratio = 4;
    int rc = shape_get_one(c, "expansion_ratio", &ratio);

    if (rc >= 0)
        rc = shape_get_bool(c, "no_bias", &no_bias);
    if (rc == 0 && attention)
        rc = shape_get_bool(&inner, "alibi", &alibi);
    if (rc == 0 && attention)
        rc = shape_get_one(&inner, "kv_n_heads", &s->kv_heads);
    if (rc < 0)
        return rc;
    if (__builtin_mul_overflow(s->hidden, ratio, &s->ffn))
        return shape_bad(c, "d_model times expansion_ratio is too large");
    s->biases = s->norm_biases = !no_bias;
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
               ? read_experts(c, "num_experts", s)
               : 0;
}

/* ---- families ---- */

static const struct shape_family families[] = {
    { "llama", SHAPE_FFN_USUAL, SHAPE_NAMES_USUAL, NULL, { .gated = true } },
    { "mistral", SHAPE_FFN_USUAL, SHAPE_NAMES_USUAL, read_window, { .gated = true } },
    { "mixtral", SHAPE_FFN_USUAL, SHAPE_NAMES_USUAL, read_mixtral, { .gated = true } },
    { "qwen2",
      SHAPE_FFN_USUAL,
      SHAPE_NAMES_USUAL,
      read_qwen_window,
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
    { "phi3", SHAPE_FFN_USUAL, SHAPE_NAMES_USUAL, read_window, { .gated = true } },
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
    { "deepseek_v2", SHAPE_FFN_USUAL, SHAPE_NAMES_USUAL, read_deepseek, { .gated = true } },
    { "deepseek_v3", SHAPE_FFN_USUAL, SHAPE_NAMES_USUAL, read_deepseek, { .gated = true } },
    { "kimi_k2", SHAPE_FFN_USUAL, SHAPE_NAMES_USUAL, read_deepseek, { .gated = true } },
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
