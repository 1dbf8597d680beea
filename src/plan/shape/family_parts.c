#include <errno.h>
#include <stdint.h>

#include "plan/shape/families_private.h"

static const char *const experts_names[SHAPE_NAMES] = { "num_experts", "num_local_experts",
                                                        "n_routed_experts", "num_moe_experts" };
static const char *const active_names[SHAPE_NAMES] = { "num_experts_per_tok", "experts_per_token",
                                                       "moe_router_topk", "num_experts_per_token" };
static const char *const expert_ffn_names[SHAPE_NAMES] = { "moe_intermediate_size",
                                                           "moe_ffn_hidden_size" };
static const char *const every_names[SHAPE_NAMES] = { "decoder_sparse_step", "moe_layer_freq" };
static const char *const shared_names[SHAPE_NAMES] = { "n_shared_experts", "num_shared_experts" };

int shape_read_window(const struct shape_file *c, struct shape *s)
{
    int rc = shape_get_one(c, "sliding_window", &s->window);

    return rc < 0 ? rc : 0;
}

/* Qwen's files tell a window that is not in use, and from which layer on it would be. */
int shape_read_qwen_window(const struct shape_file *c, struct shape *s)
{
    bool use = false;
    int first = s->layers, unused = 0;
    int rc = shape_get_bool(c, "use_sliding_window", &use);

    if (rc == 0)
        rc = shape_get_one(c, "max_window_layers", &first);
    if (rc < 0)
        return rc;
    return use && first == 0 ? shape_read_window(c, s)
                             : MIN(shape_get_one(c, "sliding_window", &unused), 0);
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
    if (v->n_items > 0 && s->expert_every > 1)
        return shape_bad_value(c, v, "empty where only each second or later layer has experts");
    s->dense_first = (int)MIN(v->n_items, (size_t)INT32_MAX);
    return 0;
}

int shape_read_experts(const struct shape_file *c, const char *asked, struct shape *s)
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

/* mlp_layer_types: which layers have a dense MLP, here only some at the beginning. */
static int read_dense_kinds(const struct shape_file *c, struct shape *s)
{
    const struct json_value *kinds;
    int rc = shape_get_kinds(c, "mlp_layer_types", s->layers, &kinds), dense = 0;

    if (rc != 1)
        return rc;
    while (dense < s->layers && shape_is_kind(kinds, (size_t)dense, "dense", "dense"))
        dense++;
    for (int i = dense; i < s->layers; i++)
        if (!shape_is_kind(kinds, (size_t)i, "sparse", "sparse"))
            return shape_bad_value(c, kinds,
                                   "'dense' of the first layers and 'sparse' of the rest");
    s->dense_first = dense;
    return 0;
}

int shape_read_shared_experts(const struct shape_file *c, struct shape *s)
{
    int rc = shape_read_experts(c, "n_routed_experts", s);

    if (rc == 0)
        rc = shape_get_int(c, shared_names, &s->shared);
    if (rc >= 0)
        rc = shape_get_one(c, "first_k_dense_replace", &s->dense_first);
    if (rc >= 0)
        rc = shape_get_one(c, "n_group", &s->groups);
    if (rc >= 0)
        rc = shape_get_one(c, "topk_group", &s->active_groups);
    if (rc >= 0)
        rc = read_dense_kinds(c, s);
    if (rc < 0)
        return rc;
    if (s->expert_every > 1)
        return shape_bad(c, "moe_layer_freq above 1 is not known");
    if (__builtin_mul_overflow(s->shared, s->expert_ffn, &s->shared_ffn))
        return shape_bad(c, "the shared experts times moe_intermediate_size are too large");
    if (shape_get(c, "topk_method")) /* DeepSeek-V3 and those like it always have them */
        s->router_biases = shape_is_text(c, "topk_method", "noaux_tc");
    return 0;
}

int shape_read_latent(const struct shape_file *c, struct shape *s)
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
    return 0;
}

int shape_check_untied(const struct shape_file *c, const struct shape *s)
{
    return s->tied ? shape_bad(c, "tie_word_embeddings is true, which programs read differently in "
                                  "this family: whether the head counts is not known")
                   : 0;
}

int shape_read_further(const struct shape_file *c, const char *name, struct shape *s)
{
    return MIN(shape_get_one(c, name, &s->further_layers), 0);
}

int shape_read_full_layers(const struct shape_file *c, const char *name, int usual, struct shape *s)
{
    const struct json_value *kinds;
    int rc = shape_get_kinds(c, "layer_types", s->layers, &kinds), full = 0, every = usual;

    if (rc >= 0 && shape_get_one(c, name, &every) < 0)
        rc = -EINVAL;
    if (rc == 1)
        for (size_t i = 0; i < kinds->n_items; i++)
            full += shape_is_kind(kinds, i, "full_attention", "attention");
    if (rc < 0)
        return rc;
    s->full_every = rc == 0 ? every : full ? (s->layers + full / 2) / full : 0;
    if (s->window == 0 || s->full_every == 1) /* all look at all */
        s->window = s->full_every = 0;
    return 0;
}
