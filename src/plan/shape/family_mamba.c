/* Families with state spaces in most layers. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "plan/shape/families_private.h"

static double linear(double in, double out, bool bias)
{
    return in * out + (bias ? out : 0);
}

/* ---- Jamba: Mamba, an attention layer of so many, experts in each second ---- */

struct jamba {
    int state, kernel, expand, rank;
    int attention_every, attention_at, expert_every, expert_at;
    bool conv_bias, biases;
};

static int read_rank(const struct shape_file *c, const struct shape *s, int *ret)
{
    *ret = (int)(((int64_t)s->hidden + 15) / 16);
    return !shape_get(c, "mamba_dt_rank") || shape_is_text(c, "mamba_dt_rank", "auto")
               ? 0
               : shape_need_one(c, "mamba_dt_rank", ret);
}

static int read_jamba(const struct shape_file *c, const struct shape *s, struct jamba *m)
{
    const struct {
        const char *name;
        int *ret;
    } needed[] = {
        { "mamba_d_state", &m->state },
        { "mamba_d_conv", &m->kernel },
        { "mamba_expand", &m->expand },
        { "attn_layer_period", &m->attention_every },
        { "attn_layer_offset", &m->attention_at },
        { "expert_layer_period", &m->expert_every },
        { "expert_layer_offset", &m->expert_at },
    };
    int rc = read_rank(c, s, &m->rank);

    for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(needed); i++)
        rc = shape_need_one(c, needed[i].name, needed[i].ret);
    if (rc == 0)
        rc = shape_get_bool(c, "mamba_conv_bias", &m->conv_bias);
    if (rc == 0)
        rc = shape_get_bool(c, "mamba_proj_bias", &m->biases);
    if (rc == 0 && (!m->attention_every || !m->expert_every))
        return shape_bad(c, "attn_layer_period and expert_layer_period must be above 0");
    return rc;
}

static double count_mamba(const struct shape *s, const struct jamba *m)
{
    double width = (double)m->expand * s->hidden;

    /* In with a gate, the convolution, the step with its bias and the state's ways in and out, the
     * decay of each state, the way past the state, three norms, out. */
    return linear(s->hidden, 2 * width, m->biases) +
           width * (m->kernel + (m->conv_bias ? 1.0 : 0)) + width * (m->rank + 2.0 * m->state) +
           linear(m->rank, width, true) + width * m->state + width + m->rank + 2.0 * m->state +
           linear(width, s->hidden, m->biases);
}

int shape_read_jamba(const struct shape_file *c, struct shape *s)
{
    struct jamba m = { .conv_bias = true };
    int rc = read_jamba(c, s, &m), attention = 0, experts = 0;
    struct shape_params p;

    if (rc == 0)
        rc = shape_read_experts(c, "num_experts", s);
    if (rc < 0)
        return rc;
    for (int i = 0; i < s->layers; i++) {
        attention += i % m.attention_every == m.attention_at;
        experts += s->experts > 1 && i % m.expert_every == m.expert_at;
    }
    p = shape_count(s);
    s->counted = p.embedding + p.head + p.final_norm + s->layers * p.norms +
                 attention * p.attention + (s->layers - attention) * count_mamba(s, &m) +
                 (s->layers - experts) * p.mlp + experts * (p.router + s->experts * p.expert);
    s->counted_active = s->counted - (double)experts * (s->experts - s->active) * p.expert;
    s->lacks = "Mamba layers";
    return 0;
}

/* ---- Nemotron-H: each layer is one of Mamba-2, attention, an MLP, experts ---- */

struct nemotron_h {
    int heads, dim, groups, state, kernel;
    int experts, active, expert_ffn, shared_ffn, latent;
    bool conv_bias, biases, mlp_biases;
    int mamba, attention, mlp, moe; /* layers of each kind */
};

static const char *const groups_names[SHAPE_NAMES] = { "n_groups", "mamba_n_groups" };
static const char *const kernel_names[SHAPE_NAMES] = { "conv_kernel", "mamba_d_conv" };
static const char *const head_names[SHAPE_NAMES] = { "mamba_num_heads" };

static int read_pattern(const struct shape_file *c, const struct json_value *v,
                        const struct shape *s, struct nemotron_h *n)
{
    if (v->kind != JSON_STRING || strlen(v->text) != (size_t)s->layers)
        return err_set(c->e, -EINVAL, "%s:%d:%d: %s must be a text of %d letters M, *, - and E",
                       c->file, v->line, v->column, v->key, s->layers);
    for (const char *at = v->text; *at; at++) {
        int *kind = *at == 'M'   ? &n->mamba
                    : *at == '*' ? &n->attention
                    : *at == '-' ? &n->mlp
                    : *at == 'E' ? &n->moe
                                 : NULL;

        if (!kind)
            return shape_bad_value(c, v, "of the letters M, *, - and E");
        (*kind)++;
    }
    return 0;
}

static int read_kinds(const struct shape_file *c, const struct shape *s, struct nemotron_h *n)
{
    const struct json_value *v = shape_get(c, "hybrid_override_pattern"), *kinds;
    int rc = shape_get_kinds(c, "layers_block_type", s->layers, &kinds);

    if (rc == 0)
        rc = shape_get_kinds(c, "layer_types", s->layers, &kinds);
    if (rc < 0)
        return rc;
    if (rc == 0 && !v)
        return shape_bad(c, "hybrid_override_pattern and layers_block_type are missing");
    if (rc == 0)
        return read_pattern(c, v, s, n);
    for (size_t i = 0; i < kinds->n_items; i++) {
        n->mamba += shape_is_kind(kinds, i, "mamba", "linear_attention");
        n->attention += shape_is_kind(kinds, i, "attention", "full_attention");
        n->mlp += shape_is_kind(kinds, i, "mlp", "mlp");
        n->moe += shape_is_kind(kinds, i, "moe", "moe");
    }
    if (n->mamba + n->attention + n->mlp + n->moe != s->layers)
        return shape_bad_value(c, kinds, "of mamba, attention, mlp and moe");
    return 0;
}

static int read_mamba2(const struct shape_file *c, struct nemotron_h *n)
{
    int rc = shape_need_int(c, head_names, head_names[0], &n->heads);

    if (rc == 0)
        rc = shape_need_one(c, "mamba_head_dim", &n->dim);
    if (rc == 0)
        rc = shape_need_int(c, groups_names, groups_names[0], &n->groups);
    if (rc == 0)
        rc = shape_need_one(c, "ssm_state_size", &n->state);
    if (rc == 0)
        rc = shape_need_int(c, kernel_names, kernel_names[0], &n->kernel);
    if (rc == 0)
        rc = shape_get_bool(c, "use_conv_bias", &n->conv_bias);
    if (rc == 0)
        rc = shape_get_bool(c, "use_bias", &n->biases);
    return rc < 0 ? rc : shape_get_bool(c, "mlp_bias", &n->mlp_biases);
}

static int read_moe(const struct shape_file *c, struct nemotron_h *n)
{
    static const char *const fields[] = { "n_routed_experts",
                                          "num_experts_per_tok",
                                          "moe_intermediate_size",
                                          "moe_shared_expert_intermediate_size",
                                          "n_shared_experts", /* together as wide as that */
                                          "moe_latent_size" };
    int rc;

    shape_pass_over(c, fields, ARRAY_SIZE(fields));
    if (!n->moe)
        return 0;
    rc = shape_need_one(c, "n_routed_experts", &n->experts);
    if (rc == 0)
        rc = shape_need_one(c, "num_experts_per_tok", &n->active);
    if (rc == 0)
        rc = shape_need_one(c, "moe_intermediate_size", &n->expert_ffn);
    if (rc == 0)
        rc = shape_need_one(c, "moe_shared_expert_intermediate_size", &n->shared_ffn);
    return rc < 0 ? rc : MIN(shape_get_one(c, "moe_latent_size", &n->latent), 0);
}

static double count_mamba2(const struct shape *s, const struct nemotron_h *n)
{
    double width = (double)n->heads * n->dim, mixed = width + 2.0 * n->groups * n->state;

    /* In with a gate and a step of each head, the convolution, three numbers of each head, the
     * norm, out. */
    return linear(s->hidden, width + mixed + n->heads, n->biases) +
           mixed * (n->kernel + (n->conv_bias ? 1.0 : 0)) + 3.0 * n->heads + width +
           linear(width, s->hidden, n->biases);
}

/* A layer of experts, so many of them: two matrices each, maybe behind a narrower way in. */
static double count_moe(const struct shape *s, const struct nemotron_h *n, int experts)
{
    double width = n->latent ? n->latent : s->hidden;
    double ways = n->latent ? linear(s->hidden, n->latent, n->mlp_biases) +
                                  linear(n->latent, s->hidden, n->mlp_biases)
                            : 0;

    return ways + 2.0 * experts * width * n->expert_ffn + linear(s->hidden, n->experts, true) +
           linear(s->hidden, n->shared_ffn, n->mlp_biases) +
           linear(n->shared_ffn, s->hidden, n->mlp_biases);
}

int shape_read_nemotron_h(const struct shape_file *c, struct shape *s)
{
    struct nemotron_h n = { .conv_bias = true };
    int rc = shape_check_untied(c, s);
    double queries = (double)s->heads * s->head_dim, keys = (double)s->kv_heads * s->head_dim, rest;

    if (rc == 0)
        rc = read_kinds(c, s, &n);
    if (rc == 0)
        rc = read_mamba2(c, &n);
    if (rc == 0)
        rc = read_moe(c, &n);
    if (rc == 0)
        rc = shape_read_further(c, "num_nextn_predict_layers", s);
    if (rc < 0)
        return rc;
    if (n.active > n.experts)
        return shape_bad(c, "num_experts_per_tok is more than n_routed_experts");
    rest = (s->tied ? 1.0 : 2.0) * s->vocab * s->hidden + (s->layers + 1.0) * s->hidden +
           n.mamba * count_mamba2(s, &n) + n.attention * 2.0 * s->hidden * (queries + keys) +
           n.mlp *
               (linear(s->hidden, s->ffn, n.mlp_biases) + linear(s->ffn, s->hidden, n.mlp_biases));
    s->counted = rest + n.moe * count_moe(s, &n, n.experts);
    s->counted_active = rest + n.moe * count_moe(s, &n, n.active);
    s->lacks = n.mamba ? "Mamba-2 layers" : "layers that are each a half of the usual ones";
    return 0;
}
