#include "plan/shape/shape.h"

#include <errno.h>
#include <stddef.h>

/* The largest public model has some 2e12 parameters; beyond this a number is mistyped. */
static const double parameters_max = 1e15;

/* What a field may be, of any model. */
static const struct limit {
    const char *name;
    size_t offset;
    int low, high;
} limits[] = {
    { "layers", offsetof(struct shape, layers), 1, SHAPE_LAYERS_MAX },
    { "hidden", offsetof(struct shape, hidden), 1, 1000000 },
    { "heads", offsetof(struct shape, heads), 1, 100000 },
    { "kv_heads", offsetof(struct shape, kv_heads), 1, 100000 },
    { "head_dim", offsetof(struct shape, head_dim), 1, 100000 },
    { "ffn", offsetof(struct shape, ffn), 0, 10000000 },
    { "vocab", offsetof(struct shape, vocab), 1, 100000000 },
    { "positions", offsetof(struct shape, positions), 0, 1000000000 },
    { "extra_positions", offsetof(struct shape, extra_positions), 0, 1000000 },
    { "norms", offsetof(struct shape, norms), 0, 16 },
    { "qk_norms", offsetof(struct shape, qk_norms), 0, 10000000 },
    { "window", offsetof(struct shape, window), 0, 1000000000 },
    { "full_every", offsetof(struct shape, full_every), 0, 10000 },
};

static const struct limit latent_limits[] = {
    { "q_rank", offsetof(struct shape, q_rank), 0, 1000000 },
    { "kv_rank", offsetof(struct shape, kv_rank), 1, 1000000 },
    { "rope_dim", offsetof(struct shape, rope_dim), 0, 100000 },
    { "nope_dim", offsetof(struct shape, nope_dim), 1, 100000 },
    { "v_dim", offsetof(struct shape, v_dim), 1, 100000 },
};

static const struct limit expert_limits[] = {
    { "experts", offsetof(struct shape, experts), 1, 100000 },
    { "active", offsetof(struct shape, active), 1, 100000 },
    { "expert_ffn", offsetof(struct shape, expert_ffn), 1, 10000000 },
    { "shared", offsetof(struct shape, shared), 0, 1000 },
    { "shared_ffn", offsetof(struct shape, shared_ffn), 0, 10000000 },
    { "dense_first", offsetof(struct shape, dense_first), 0, 10000 },
    { "expert_every", offsetof(struct shape, expert_every), 0, 10000 },
};

static int check_limits(const struct shape *s, const struct limit *l, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        int value = *(const int *)(const void *)((const char *)s + l[i].offset);

        if (value < l[i].low || value > l[i].high)
            return err_set(e, -EINVAL, "%s is %d: it must be %d to %d", l[i].name, value, l[i].low,
                           l[i].high);
    }
    return 0;
}

static int expert_layers(const struct shape *s)
{
    return s->experts ? (s->layers - s->dense_first) / (s->expert_every > 1 ? s->expert_every : 1)
                      : 0;
}

static int check_experts(const struct shape *s, struct err *e)
{
    int rc = check_limits(s, expert_limits, ARRAY_SIZE(expert_limits), e);

    if (rc < 0)
        return rc;
    if (s->active > s->experts)
        return err_set(e, -EINVAL, "%d experts take a token, but there are only %d", s->active,
                       s->experts);
    if (s->dense_first > s->layers)
        return err_set(e, -EINVAL, "dense_first is %d, but there are only %d layers",
                       s->dense_first, s->layers);
    if (s->shared && !s->shared_ffn)
        return err_set(e, -EINVAL, "there are %d shared experts, but shared_ffn is 0", s->shared);
    return 0;
}

int shape_check(const struct shape *s, struct err *e)
{
    int rc = check_limits(s, limits, ARRAY_SIZE(limits), e);
    double total;

    if (rc == 0 && s->attention == SHAPE_LATENT)
        rc = check_limits(s, latent_limits, ARRAY_SIZE(latent_limits), e);
    if (rc == 0 && s->experts)
        rc = check_experts(s, e);
    if (rc < 0)
        return rc;
    if (s->heads % s->kv_heads != 0)
        return err_set(e, -EINVAL, "%d heads do not divide by %d key-value heads", s->heads,
                       s->kv_heads);
    if (s->learned_positions && !s->positions)
        return err_set(e, -EINVAL, "the positions are learned, but their number is not known");
    if (!s->ffn && expert_layers(s) < s->layers)
        return err_set(e, -EINVAL, "ffn is 0, but there are layers with a dense MLP");
    total = shape_count(s).total;
    if (total > parameters_max)
        return err_set(e, -EINVAL, "the shape has %.3g parameters: one of its numbers is wrong",
                       total);
    return 0;
}

/* A matrix, with a bias for each of its outputs. */
static double linear(double in, double out, bool bias)
{
    return in * out + (bias ? out : 0);
}

static double norm(const struct shape *s)
{
    return s->norm_biases ? 2.0 * s->hidden : s->hidden;
}

static double count_latent(const struct shape *s, bool qkv, bool out)
{
    double queries = (double)s->heads * ((double)s->nope_dim + s->rope_dim);
    double keys_values = (double)s->heads * ((double)s->nope_dim + s->v_dim);
    double n = linear(s->hidden, (double)s->kv_rank + s->rope_dim, qkv) + s->kv_rank * keys_values;

    if (s->q_rank)
        n += linear(s->hidden, s->q_rank, qkv) + s->q_rank * queries;
    else
        n += s->hidden * queries;
    return n + linear((double)s->heads * s->v_dim, s->hidden, out);
}

static double count_attention(const struct shape *s)
{
    double queries = (double)s->heads * s->head_dim, keys = (double)s->kv_heads * s->head_dim;
    bool qkv = s->biases || s->qkv_biases, out = s->biases || s->out_biases;
    double sinks = s->sinks ? s->heads : 0;

    if (s->attention == SHAPE_LATENT)
        return count_latent(s, qkv, out) + sinks;
    return linear(s->hidden, queries + 2 * keys, qkv) + linear(queries, s->hidden, out) + sinks;
}

static double count_norms(const struct shape *s)
{
    int norms = s->norms ? s->norms : s->parallel ? 1 : 2;
    double latent = s->attention == SHAPE_LATENT ? (double)s->q_rank + s->kv_rank : 0;

    return norms * norm(s) + s->qk_norms + latent;
}

static double count_mlp(const struct shape *s, int ffn)
{
    bool bias = s->biases || s->mlp_biases;

    return (s->gated ? 2 : 1) * linear(s->hidden, ffn, bias) + linear(ffn, s->hidden, bias);
}

static double count_embedding(const struct shape *s)
{
    double rows = s->vocab;

    if (s->learned_positions)
        rows += (double)s->positions + s->extra_positions;
    return rows * s->hidden + (s->embedding_norm ? norm(s) : 0);
}

struct shape_params shape_count(const struct shape *s)
{
    struct shape_params p = {
        .embedding = count_embedding(s),
        .head = (s->tied ? 0 : (double)s->vocab * s->hidden) + (s->head_bias ? s->vocab : 0),
        .final_norm = norm(s),
        .attention = count_attention(s),
        .norms = count_norms(s),
        .expert_layers = expert_layers(s),
    };

    p.dense_layers = s->layers - p.expert_layers;
    p.mlp = s->ffn ? count_mlp(s, s->ffn) : 0;
    p.total = p.embedding + p.head + p.final_norm + s->layers * (p.attention + p.norms) +
              p.dense_layers * p.mlp;
    if (s->experts) {
        p.router = linear(s->hidden, s->experts, s->router_biases);
        p.expert = count_mlp(s, s->expert_ffn);
        p.shared = s->shared_ffn ? count_mlp(s, s->shared_ffn) : 0;
        p.shared += s->shared_gate ? s->hidden : 0;
        p.total += p.expert_layers * (p.router + s->experts * p.expert + p.shared);
    }
    p.active = p.total - p.expert_layers * (s->experts - s->active) * p.expert;
    if (s->counted > 0) {
        p.total = s->counted;
        p.active = s->counted_active;
    }
    return p;
}

int shape_can_plan(const struct shape *s, struct err *e)
{
    if (!s->lacks)
        return 0;
    return err_set(e, -ENOTSUP,
                   "%s has %s, whose memory and time are not modelled; what is known: it has %.0f "
                   "parameters, of which a token takes %.0f",
                   s->name, s->lacks, shape_count(s).total, shape_count(s).active);
}
