/* Families with experts in layers that are alike but for them. */
#include <errno.h>

#include "plan/shape/families_private.h"

/* ---- Llama 4 ---- */

/* moe_layers says which ones have experts; interleave_moe_layer_step says the same more briefly. */
static int check_moe_layers(const struct shape_file *c, const struct shape *s)
{
    const struct json_value *v = shape_get(c, "moe_layers");
    int step = MAX(s->expert_every, 1), last = step - 1;

    if (!v)
        return 0;
    if (v->kind != JSON_ARRAY || v->n_items != (size_t)(s->layers / step))
        return shape_bad_value(c, v, "the layers that interleave_moe_layer_step tells");
    for (size_t i = 0; i < v->n_items; i++, last += step)
        if (!v->items[i].is_whole || v->items[i].whole != last)
            return shape_bad_value(c, v, "the layers that interleave_moe_layer_step tells");
    return 0;
}

int shape_read_llama4(const struct shape_file *c, struct shape *s)
{
    int rc = shape_read_experts(c, "num_local_experts", s), full = 4;

    shape_get(c, "use_qk_norm"); /* norms without weights */
    s->shared = 1;
    s->expert_ffn = s->shared_ffn = s->ffn;
    if (rc == 0)
        rc = shape_need_one(c, "intermediate_size_mlp", &s->ffn);
    if (rc == 0)
        rc = MIN(shape_get_one(c, "interleave_moe_layer_step", &s->expert_every), 0);
    if (rc == 0)
        rc = check_moe_layers(c, s);
    if (rc == 0) /* chunks that attention does not leave */
        rc = MIN(shape_get_one(c, "attention_chunk_size", &s->window), 0);
    if (rc == 0)
        rc = MIN(shape_get_one(c, "no_rope_layer_interval", &full), 0);
    return rc < 0 ? rc : shape_read_full_layers(c, "no_rope_layer_interval", full, s);
}

/* ---- GLM-4.5 and later ---- */

int shape_read_glm4_moe(const struct shape_file *c, struct shape *s)
{
    bool norms = false;
    int rc = shape_get_bool(c, "use_qk_norm", &norms);

    s->out_biases = false; /* attention_bias is of queries, keys and values alone */
    s->qk_norms = norms ? 2 * MIN(s->head_dim, 1000000) : 0;
    if (rc == 0)
        rc = shape_read_shared_experts(c, s);
    if (rc == 0)
        rc = shape_read_further(c, "num_nextn_predict_layers", s);
    return rc < 0 ? rc : shape_read_further(c, "num_mtp_layers", s);
}

/* ---- MiniMax-M2 ---- */

int shape_read_minimax_m2(const struct shape_file *c, struct shape *s)
{
    bool norms = true, further = true;
    int rc = shape_read_experts(c, "num_local_experts", s);

    if (rc == 0)
        rc = shape_get_bool(c, "use_routing_bias", &s->router_biases);
    if (rc == 0)
        rc = shape_get_bool(c, "use_qk_norm", &norms);
    if (rc == 0)
        rc = shape_read_further(c, "num_mtp_modules", s);
    if (rc == 0)
        rc = shape_get_bool(c, "use_mtp", &further);
    if (rc < 0)
        return rc;
    if (!norms)
        return shape_bad(c, "use_qk_norm is false: MiniMax-M2 is not known without");
    /* Over all heads at once. */
    if (__builtin_add_overflow(s->heads, s->kv_heads, &s->qk_norms) ||
        __builtin_mul_overflow(s->qk_norms, s->head_dim, &s->qk_norms))
        return shape_bad(c, "the heads times head_dim are too large");
    s->further_layers = further ? s->further_layers : 0;
    s->ffn = 0; /* intermediate_size is that of an expert */
    return 0;
}

/* ---- DeepSeek-V3.2, GLM-5: latent attention to tokens that an index picks ---- */

/* How many layers have an index of their own. */
static int read_indexes(const struct shape_file *c, int layers, int *ret)
{
    const struct json_value *kinds;
    int every = 1, offset = 2;
    int rc = shape_get_kinds(c, "indexer_types", layers, &kinds);
    bool said = rc == 1;

    if (rc >= 0)
        rc = shape_get_one(c, "index_topk_freq", &every);
    if (rc >= 0)
        rc = shape_get_one(c, "index_skip_topk_offset", &offset);
    if (rc < 0)
        return rc;
    if (shape_get(c, "index_topk_pattern") && !said)
        return shape_bad(c, "index_topk_pattern is not known: indexer_types is");
    *ret = 0;
    for (int i = 0; i < layers; i++)
        *ret += said ? shape_is_kind(kinds, (size_t)i, "full", "full")
                     : MAX((int64_t)i - offset + 1, 0) % MAX(every, 1) == 0;
    return 0;
}

int shape_read_indexed(const struct shape_file *c, struct shape *s)
{
    int rc = shape_read_latent(c, s), heads = 0, dim = 0, indexes = 0;
    struct shape_params p;
    double index;

    if (rc == 0)
        rc = shape_need_one(c, "index_n_heads", &heads);
    if (rc == 0)
        rc = shape_need_one(c, "index_head_dim", &dim);
    if (rc == 0)
        rc = read_indexes(c, s->layers, &indexes);
    if (rc == 0)
        rc = shape_read_shared_experts(c, s);
    if (rc == 0)
        rc = shape_read_further(c, "num_nextn_predict_layers", s);
    if (rc < 0)
        return rc;
    if (!s->q_rank)
        return shape_bad(c, "q_lora_rank is missing, which the index reads from");
    /* Queries from q_rank, a key for all heads with its LayerNorm, a weight of each head. */
    index = (double)s->q_rank * heads * dim + (double)s->hidden * dim + 2.0 * dim +
            (double)s->hidden * heads;
    p = shape_count(s);
    s->counted = p.total + indexes * index;
    s->counted_active = p.active + indexes * index;
    s->lacks = "attention to tokens that an index picks";
    return 0;
}
