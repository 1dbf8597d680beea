/* Gemma 3 and 4, the parts for text. */
#include <errno.h>
#include <stdio.h>

#include "plan/shape/families_private.h"

enum { WINDOW_PATTERN = 6 }; /* five layers with a window, then one without */

int shape_read_gemma3(const struct shape_file *c, struct shape *s)
{
    int rc = shape_read_window(c, s);

    s->qk_norms = 2 * MIN(s->head_dim, 1000000);
    return rc < 0 ? rc : shape_read_full_layers(c, "sliding_window_pattern", WINDOW_PATTERN, s);
}

/* ---- Gemma 4 ---- */

/* What the fields of struct shape do not tell. */
struct gemma4 {
    const struct json_value *kinds; /* NULL: by the pattern */
    int full_dim, full_keys;        /* of layers that look at all tokens */
    int borrowed; /* the last layers, which take keys and values of one before them */
    int per_layer, per_layer_vocab;
    bool key_is_value, wide, experts;
};

static bool is_full(const struct gemma4 *g, int layer, int layers)
{
    if (layer == layers - 1)
        return true;
    return g->kinds ? shape_is_kind(g->kinds, (size_t)layer, "full_attention", "full_attention")
                    : (layer + 1) % WINDOW_PATTERN == 0;
}

/* per_layer_config, as newer programs save it: what layers without a window differ in, by their
 * number. Known is that it is the same in all of them. */
static int read_layer_fields(const struct shape_file *c, const struct shape *s, struct gemma4 *g)
{
    const struct json_value *all = shape_get(c, "per_layer_config");
    size_t full = 0;

    for (int i = 0; all && i < s->layers; i++) {
        char name[16];
        struct shape_file layer = { .file = c->file, .e = c->e };
        int dim = 0, keys = s->kv_heads;

        if (!is_full(g, i, s->layers))
            continue;
        snprintf(name, sizeof(name), "%d", i);
        layer.root = json_get(all, name);
        if (!layer.root)
            return shape_bad_value(c, all, "an object with each layer that looks at all tokens");
        if (shape_need_one(&layer, "head_dim", &dim) < 0 ||
            shape_get_one(&layer, "num_key_value_heads", &keys) < 0)
            return -EINVAL;
        if (full++ > 0 && (dim != g->full_dim || keys != g->full_keys))
            return shape_bad_value(c, layer.root, "as the layers before it: others are not known");
        g->full_dim = dim;
        g->full_keys = keys;
    }
    return all && all->n_items != full
               ? shape_bad_value(c, all,
                                 "an object with no other layers than those that look at "
                                 "all tokens")
               : 0;
}

static int read_gemma4(const struct shape_file *c, struct shape *s, struct gemma4 *g)
{
    int rc = shape_get_kinds(c, "layer_types", s->layers, &g->kinds);

    if (rc >= 0)
        rc = shape_get_one(c, "global_head_dim", &g->full_dim);
    if (rc >= 0)
        rc = shape_get_one(c, "num_kv_shared_layers", &g->borrowed);
    if (rc >= 0)
        rc = shape_get_one(c, "hidden_size_per_layer_input", &g->per_layer);
    if (rc >= 0)
        rc = shape_get_one(c, "vocab_size_per_layer_input", &g->per_layer_vocab);
    if (rc >= 0)
        rc = shape_get_bool(c, "attention_k_eq_v", &g->key_is_value);
    if (rc >= 0)
        rc = shape_get_bool(c, "use_double_wide_mlp", &g->wide);
    if (rc >= 0)
        rc = shape_get_bool(c, "enable_moe_block", &g->experts);
    g->full_keys = s->kv_heads;
    if (rc >= 0) /* read in any case, so that it is a known field */
        rc = shape_get_one(c, "num_global_key_value_heads", &g->full_keys);
    if (!g->key_is_value)
        g->full_keys = s->kv_heads;
    return rc < 0 ? rc : read_layer_fields(c, s, g);
}

static int read_gemma4_experts(const struct shape_file *c, bool enabled, struct shape *s)
{
    static const char *const unused[] = { "num_experts", "top_k_experts", "moe_intermediate_size" };
    int rc;

    if (!enabled) {
        shape_pass_over(c, unused, ARRAY_SIZE(unused));
        return 0;
    }
    rc = shape_need_one(c, "num_experts", &s->experts);

    if (rc == 0)
        rc = shape_need_one(c, "top_k_experts", &s->active);
    return rc < 0 ? rc : shape_need_one(c, "moe_intermediate_size", &s->expert_ffn);
}

static double linear(double in, double out, bool bias)
{
    return in * out + (bias ? out : 0);
}

static double count_gemma4_layer(const struct shape *s, const struct gemma4 *g, int layer)
{
    bool full = is_full(g, layer, s->layers), borrows = layer >= s->layers - g->borrowed;
    double dim = full ? g->full_dim : s->head_dim, keys = (full ? g->full_keys : s->kv_heads) * dim;
    double ffn = g->wide && borrows ? 2.0 * s->ffn : s->ffn, queries = s->heads * dim;
    double n = linear(s->hidden, queries, s->qkv_biases) +
               linear(queries, s->hidden, s->out_biases);

    n += dim; /* the norm of queries; values have one without weights */
    if (!borrows)
        n += dim + (full && g->key_is_value ? 1 : 2) * linear(s->hidden, keys, s->qkv_biases);
    n += 3 * ffn * s->hidden + 4.0 * s->hidden + 1; /* norms, and the layer's scale */
    if (g->per_layer)
        n += 2.0 * s->hidden * g->per_layer + s->hidden;
    return n;
}

/* Beside the MLP: the router with a scale of its input and of each expert, three norms, experts. */
static double count_gemma4_experts(const struct shape *s, int experts)
{
    return (double)s->hidden * s->experts + s->hidden + s->experts + 3.0 * s->hidden +
           3.0 * experts * s->hidden * s->expert_ffn;
}

int shape_read_gemma4(const struct shape_file *c, struct shape *s)
{
    struct gemma4 g = { .full_dim = 512, .per_layer = 256, .per_layer_vocab = 262144 };
    int rc = read_gemma4(c, s, &g);

    if (rc == 0)
        rc = shape_read_window(c, s);
    if (rc == 0)
        rc = read_gemma4_experts(c, g.experts, s);
    if (rc < 0)
        return rc;
    if (g.borrowed > s->layers)
        return shape_bad(c, "num_kv_shared_layers is more than there are layers");
    s->full_every = WINDOW_PATTERN;
    s->counted = (s->tied ? 1.0 : 2.0) * s->vocab * s->hidden + s->hidden;
    if (g.per_layer) { /* a table of all layers, and the way into it */
        double width = (double)s->layers * g.per_layer;

        s->counted += (g.per_layer_vocab + (double)s->hidden) * width + g.per_layer;
    }
    for (int i = 0; i < s->layers; i++)
        s->counted += count_gemma4_layer(s, &g, i);
    s->counted_active = s->counted;
    if (g.experts) {
        s->counted += s->layers * count_gemma4_experts(s, s->experts);
        s->counted_active += s->layers * count_gemma4_experts(s, s->active);
    }
    s->lacks = "layers of different widths";
    return 0;
}
