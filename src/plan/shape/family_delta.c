/* Families with linear attention by the delta rule in most layers. */
#include <errno.h>

#include "plan/shape/families_private.h"

/* A layer of s is counted as if it had its attention; so many of them have one of other_size. */
static void count_mixed(struct shape *s, double own, double own_layers, double other_size)
{
    const struct shape_params p = shape_count(s);
    double rest = s->layers * (own - p.attention) - (s->layers - own_layers) * (own - other_size);

    s->counted = p.total + rest;
    s->counted_active = p.active + rest;
    s->lacks = "linear attention in some layers";
}

/* ---- Qwen3-Next, Qwen3.5: gated DeltaNet ---- */

struct delta {
    int key_heads, key_dim, value_heads, value_dim, kernel, every;
};

static int read_delta(const struct shape_file *c, struct delta *d)
{
    int rc = shape_need_one(c, "linear_num_key_heads", &d->key_heads);

    if (rc == 0)
        rc = shape_need_one(c, "linear_key_head_dim", &d->key_dim);
    if (rc == 0)
        rc = shape_need_one(c, "linear_num_value_heads", &d->value_heads);
    if (rc == 0)
        rc = shape_need_one(c, "linear_value_head_dim", &d->value_dim);
    if (rc == 0)
        rc = shape_need_one(c, "linear_conv_kernel_dim", &d->kernel);
    if (rc == 0)
        rc = MIN(shape_get_one(c, "full_attention_interval", &d->every), 0);
    return rc;
}

static double count_delta(const struct shape *s, const struct delta *d)
{
    double keys = (double)d->key_heads * d->key_dim;
    double values = (double)d->value_heads * d->value_dim;
    double mixed = 2 * keys + values;

    /* Into queries, keys, values, their gate, and two numbers of each head; the convolution; a
     * bias and a decay of each head; the norm of a head; out. */
    return s->hidden * (mixed + values + 2.0 * d->value_heads) + mixed * d->kernel +
           2.0 * d->value_heads + d->value_dim + values * s->hidden;
}

static int count_full(const struct shape_file *c, const struct shape *s, int every, int *ret)
{
    const struct json_value *kinds;
    int rc = shape_get_kinds(c, "layer_types", s->layers, &kinds);

    *ret = 0;
    for (int i = 0; rc >= 0 && i < s->layers; i++)
        *ret += rc == 1 ? shape_is_kind(kinds, (size_t)i, "full_attention", "attention")
                        : every > 0 && (i + 1) % every == 0;
    return MIN(rc, 0);
}

static int read_gated_experts(const struct shape_file *c, struct shape *s)
{
    int rc = shape_read_experts(c, "num_experts", s);

    if (rc == 0)
        rc = shape_need_one(c, "shared_expert_intermediate_size", &s->shared_ffn);
    s->shared = s->shared_ffn > 0;
    s->shared_gate = s->shared > 0;
    return rc;
}

int shape_read_qwen3_5(const struct shape_file *c, struct shape *s)
{
    struct delta d = { .every = 4 };
    int rc = read_delta(c, &d), full = 0;
    bool gated = true;
    double queries = (double)s->heads * s->head_dim, gate;

    if (rc == 0)
        rc = count_full(c, s, d.every, &full);
    if (rc == 0)
        rc = shape_get_bool(c, "attn_output_gate", &gated);
    if (rc == 0 && !gated)
        return shape_bad(c, "attn_output_gate is false: the family is not known without");
    if (rc == 0 && shape_get(c, "num_experts"))
        rc = read_gated_experts(c, s);
    if (rc == 0)
        rc = shape_read_further(c, "mtp_num_hidden_layers", s);
    if (rc < 0)
        return rc;
    /* Queries come with a gate, and with norms of queries and keys. */
    gate = s->hidden * queries + (s->qkv_biases ? queries : 0) + 2.0 * s->head_dim;
    count_mixed(s, shape_count(s).attention + gate, full, count_delta(s, &d));
    return 0;
}

/* ---- Kimi Linear: Kimi Delta Attention beside latent attention ---- */

struct kda {
    int heads, dim, kernel, full;
};

/* full_attn_layers and kda_layers count from 1, and each layer is in one of them. */
static int read_kda_layers(const struct shape_file *inner, const struct shape *s, int *full)
{
    const struct json_value *f = shape_get(inner, "full_attn_layers");
    const struct json_value *k = shape_get(inner, "kda_layers");

    if (!f || !k)
        return shape_bad(inner, "linear_attn_config lacks full_attn_layers or kda_layers");
    if (f->kind != JSON_ARRAY || k->kind != JSON_ARRAY ||
        f->n_items + k->n_items != (size_t)s->layers)
        return shape_bad_value(inner, f, "an array that has all layers together with kda_layers");
    *full = (int)f->n_items;
    return 0;
}

static int read_kda(const struct shape_file *c, const struct shape *s, struct kda *k)
{
    static const char *const unused[] = { "linear_num_heads", "linear_head_dim",
                                          "linear_conv_kernel_dim", "layer_types" };
    const struct json_value *v = shape_get(c, "linear_attn_config");
    const struct shape_file inner = { .file = c->file, .root = v, .e = c->e };
    int rc;

    if (!v) {
        rc = shape_need_one(c, "linear_num_heads", &k->heads);
        if (rc == 0)
            rc = shape_need_one(c, "linear_head_dim", &k->dim);
        if (rc == 0)
            rc = shape_need_one(c, "linear_conv_kernel_dim", &k->kernel);
        if (rc == 0 && !shape_get(c, "layer_types"))
            return shape_bad(c, "layer_types is missing");
        return rc < 0 ? rc : count_full(c, s, 0, &k->full);
    }
    shape_pass_over(c, unused, ARRAY_SIZE(unused)); /* written beside it */
    rc = shape_need_one(&inner, "num_heads", &k->heads);
    if (rc == 0)
        rc = shape_need_one(&inner, "head_dim", &k->dim);
    if (rc == 0)
        rc = shape_need_one(&inner, "short_conv_kernel_size", &k->kernel);
    return rc < 0 ? rc : read_kda_layers(&inner, s, &k->full);
}

static double count_kda(const struct shape *s, const struct kda *k)
{
    double width = (double)k->heads * k->dim;
    double low_rank = (double)s->hidden * k->dim + k->dim * width;

    /* Queries, keys, values and their convolutions; the gates of forgetting and of what comes out,
     * both of low rank; a bias, a decay and a weight of each head; the norm of a head; out. */
    return 3 * (s->hidden * width + width * k->kernel) + 2 * low_rank + width + k->heads +
           (double)s->hidden * k->heads + k->dim + width * s->hidden;
}

int shape_read_kimi_linear(const struct shape_file *c, struct shape *s)
{
    struct kda k = { .heads = 0 };
    int rc = shape_check_untied(c, s);

    if (rc == 0)
        rc = shape_read_latent(c, s);
    if (rc == 0)
        rc = read_kda(c, s, &k);
    if (rc == 0)
        rc = shape_read_shared_experts(c, s);
    if (rc == 0)
        rc = shape_read_further(c, "num_nextn_predict_layers", s);
    if (rc < 0)
        return rc;
    /* The norms of latent attention go with it. */
    count_mixed(s, shape_count(s).attention, k.full, count_kda(s, &k) - s->q_rank - s->kv_rank);
    return 0;
}
