#include "plan/shape_config.h"

#include <errno.h>
#include <string.h>

#include "base/json_read.h"
#include "base/str.h"

struct config {
    const char *file;
    const struct json_value *root;
    struct err *e;
};

/* ---- fields ---- */

enum { NAMES = 7 };
enum { NAMES_USUAL, NAMES_GPT2, NAMES_MPT };

/* Names of one thing in the files of different families, the usual one first, then GPT-2's and
 * MPT's. All are taken everywhere: transformers renamed some over time. */
static const char *const layers_names[NAMES] = { "num_hidden_layers", "n_layer", "n_layers",
                                                 "num_layers" };
static const char *const hidden_names[NAMES] = { "hidden_size", "n_embd", "d_model", "n_embed" };
static const char *const heads_names[NAMES] = { "num_attention_heads", "n_head", "n_heads",
                                                "num_heads" };
static const char *const positions_names[NAMES] = {
    "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "n_ctx",
    "max_sequence_length"
};
static const char *const ffn_names[NAMES] = { "intermediate_size", "ffn_dim", "n_inner",
                                              "ffn_hidden_size" };
static const char *const kv_names[NAMES] = { "num_key_value_heads", "num_kv_heads", "n_head_kv",
                                             "num_query_groups" };
static const char *const head_dim_names[NAMES] = { "head_dim", "kv_channels" };
static const char *const vocab_names[NAMES] = { "vocab_size", "padded_vocab_size" };
static const char *const experts_names[NAMES] = { "num_experts", "num_local_experts",
                                                  "n_routed_experts", "num_moe_experts" };
static const char *const active_names[NAMES] = { "num_experts_per_tok", "experts_per_token",
                                                 "moe_router_topk" };
static const char *const expert_ffn_names[NAMES] = { "moe_intermediate_size",
                                                     "moe_ffn_hidden_size" };
static const char *const every_names[NAMES] = { "decoder_sparse_step", "moe_layer_freq" };

static int bad_value(const struct config *c, const struct json_value *v, const char *wanted)
{
    return err_set(c->e, -EINVAL, "%s:%d:%d: %s must be %s", c->file, v->line, v->column, v->key,
                   wanted);
}

static int bad(const struct config *c, const char *what)
{
    return err_set(c->e, -EINVAL, "%s: %s", c->file, what);
}

/* The member of that name; null is as good as none. */
static const struct json_value *get(const struct config *c, const char *name)
{
    const struct json_value *v = json_get(c->root, name);

    return v && v->kind != JSON_NULL ? v : NULL;
}

static int to_int(const struct config *c, const struct json_value *v, int *ret)
{
    if (v->kind != JSON_NUMBER || !v->is_whole || v->whole < 0 || v->whole > INT32_MAX)
        return bad_value(c, v, "a whole number from 0 to 2147483647");
    *ret = (int)v->whole;
    return 0;
}

/* 1 and the number under one of its names, 0 when it has none, -EINVAL. */
static int get_int(const struct config *c, const char *const *any, int *ret)
{
    for (size_t i = 0; i < NAMES && any[i]; i++) {
        const struct json_value *v = get(c, any[i]);
        int rc = v ? to_int(c, v, ret) : 0;

        if (v)
            return rc < 0 ? rc : 1;
    }
    return 0;
}

/* The same, where there must be one: the sentence asks for it under the name 'asked'. */
static int need_int(const struct config *c, const char *const *any, const char *asked, int *ret)
{
    int rc = get_int(c, any, ret);

    if (rc == 0)
        return err_set(c->e, -EINVAL, "%s: %s is missing", c->file, asked);
    return MIN(rc, 0);
}

static int get_one(const struct config *c, const char *name, int *ret)
{
    const char *const one[NAMES] = { name };

    return get_int(c, one, ret);
}

static int need_one(const struct config *c, const char *name, int *ret)
{
    const char *const one[NAMES] = { name };

    return need_int(c, one, name, ret);
}

/* Left as it is when the file does not say. */
static int get_bool(const struct config *c, const char *name, bool *ret)
{
    const struct json_value *v = get(c, name);

    if (!v)
        return 0;
    if (v->kind != JSON_BOOL)
        return bad_value(c, v, "true or false");
    *ret = v->boolean;
    return 0;
}

static bool is_text(const struct config *c, const char *name, const char *text)
{
    const struct json_value *v = get(c, name);

    return v && v->kind == JSON_STRING && !strcmp(v->text, text);
}

/* ---- what families have beside the rest ---- */

static int read_window(const struct config *c, struct shape *s)
{
    int rc = get_one(c, "sliding_window", &s->window);

    return rc < 0 ? rc : 0;
}

/* Qwen's files tell a window that is not in use, and from which layer on it would be. */
static int read_qwen_window(const struct config *c, struct shape *s)
{
    bool use = false;
    int first = s->layers;
    int rc = get_bool(c, "use_sliding_window", &use);

    if (rc == 0)
        rc = get_one(c, "max_window_layers", &first);
    return rc >= 0 && use && first == 0 ? read_window(c, s) : MIN(rc, 0);
}

/* mlp_only_layers: numbers of layers without experts, here only some at the beginning. */
static int read_dense_layers(const struct config *c, struct shape *s)
{
    const struct json_value *v = get(c, "mlp_only_layers");

    if (!v)
        return 0;
    if (v->kind != JSON_ARRAY)
        return bad_value(c, v, "an array of layers");
    for (size_t i = 0; i < v->n_items; i++)
        if (!v->items[i].is_whole || v->items[i].whole != (int64_t)i)
            return bad_value(c, v, "the first layers, such as [0, 1]: others are not known");
    s->dense_first = (int)MIN(v->n_items, (size_t)INT32_MAX);
    return 0;
}

/* Experts under the names of any family; expert_ffn as that of a dense MLP where it has none. */
static int read_experts(const struct config *c, const char *asked, struct shape *s)
{
    int rc = need_int(c, experts_names, asked, &s->experts);

    if (rc == 0)
        rc = need_int(c, active_names, active_names[0], &s->active);
    s->expert_ffn = s->ffn;
    if (rc == 0)
        rc = get_int(c, expert_ffn_names, &s->expert_ffn);
    if (rc >= 0)
        rc = get_int(c, every_names, &s->expert_every);
    if (rc >= 0)
        rc = read_dense_layers(c, s);
    return MIN(rc, 0);
}

static int read_mixtral(const struct config *c, struct shape *s)
{
    int rc = read_experts(c, "num_local_experts", s);

    return rc < 0 ? rc : read_window(c, s);
}

static int read_qwen2_moe(const struct config *c, struct shape *s)
{
    int rc = read_experts(c, "num_experts", s);

    if (rc == 0)
        rc = need_one(c, "shared_expert_intermediate_size", &s->shared_ffn);
    s->shared = s->shared_ffn > 0;
    s->shared_gate = s->shared > 0;
    return rc < 0 ? rc : read_qwen_window(c, s);
}

static int read_qwen3(const struct config *c, struct shape *s)
{
    s->qk_norms = 2 * MIN(s->head_dim, 1000000);
    return read_qwen_window(c, s);
}

static int read_qwen3_moe(const struct config *c, struct shape *s)
{
    int rc = read_qwen3(c, s);

    return rc < 0 ? rc : read_experts(c, "num_experts", s);
}

static int read_deepseek_experts(const struct config *c, struct shape *s)
{
    int rc = read_experts(c, "n_routed_experts", s);

    if (rc == 0)
        rc = get_one(c, "n_shared_experts", &s->shared);
    if (rc >= 0)
        rc = get_one(c, "first_k_dense_replace", &s->dense_first);
    if (rc < 0)
        return rc;
    if (__builtin_mul_overflow(s->shared, s->expert_ffn, &s->shared_ffn))
        return bad(c, "n_shared_experts times moe_intermediate_size is too large");
    s->router_biases = is_text(c, "topk_method", "noaux_tc");
    return 0;
}

static int read_deepseek(const struct config *c, struct shape *s)
{
    int rc = need_one(c, "kv_lora_rank", &s->kv_rank);

    s->attention = SHAPE_LATENT;
    if (rc == 0)
        rc = get_one(c, "q_lora_rank", &s->q_rank);
    if (rc >= 0)
        rc = need_one(c, "qk_rope_head_dim", &s->rope_dim);
    if (rc == 0)
        rc = need_one(c, "qk_nope_head_dim", &s->nope_dim);
    if (rc == 0)
        rc = need_one(c, "v_head_dim", &s->v_dim);
    if (rc < 0)
        return rc;
    if (__builtin_add_overflow(s->rope_dim, s->nope_dim, &s->head_dim))
        return bad(c, "qk_rope_head_dim and qk_nope_head_dim are too large");
    s->kv_heads = s->heads;
    return get(c, "n_routed_experts") ? read_deepseek_experts(c, s) : 0;
}

/* Both look at all tokens in every second layer. */
static int read_every_second(const struct config *c, struct shape *s)
{
    int rc = read_window(c, s);

    s->full_every = s->window ? 2 : 0;
    return rc;
}

static int read_gpt_oss(const struct config *c, struct shape *s)
{
    int rc = read_every_second(c, s);

    return rc < 0 ? rc : read_experts(c, "num_local_experts", s);
}

static int read_gpt_neox(const struct config *c, struct shape *s)
{
    bool attention = true;
    int rc = get_bool(c, "use_parallel_residual", &s->parallel);

    if (rc == 0)
        rc = get_bool(c, "attention_bias", &attention);
    s->biases = s->qkv_biases = s->out_biases = attention;
    return rc;
}

static int read_opt(const struct config *c, struct shape *s)
{
    int width = s->hidden;
    int rc = get_one(c, "word_embed_proj_dim", &width);

    if (rc >= 0 && width != s->hidden)
        return err_set(c->e, -EINVAL,
                       "%s: word_embed_proj_dim %d is not hidden_size %d: embeddings of another "
                       "width are not known",
                       c->file, width, s->hidden);
    return rc < 0 ? rc : get_bool(c, "enable_bias", &s->biases);
}

/* Of falcon-7b the file names 71 key-value heads, but multi_query wins. */
static int read_falcon(const struct config *c, struct shape *s)
{
    bool grouped = false, multi_query = true;
    int rc = get_bool(c, "new_decoder_architecture", &grouped), norms = 2;

    if (rc == 0)
        rc = get_bool(c, "multi_query", &multi_query);
    if (rc == 0)
        rc = get_bool(c, "parallel_attn", &s->parallel);
    if (rc == 0)
        rc = get_bool(c, "bias", &s->biases);
    if (rc == 0)
        rc = get_one(c, "num_ln_in_parallel_attn", &norms);
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

static int read_mpt(const struct config *c, struct shape *s)
{
    const struct json_value *attention = get(c, "attn_config");
    struct config inner = { .file = c->file, .root = attention, .e = c->e };
    bool no_bias = false, alibi = false;
    int ratio = 4;
    int rc = get_one(c, "expansion_ratio", &ratio);

    if (rc >= 0)
        rc = get_bool(c, "no_bias", &no_bias);
    if (rc == 0 && attention)
        rc = get_bool(&inner, "alibi", &alibi);
    if (rc == 0 && attention)
        rc = get_one(&inner, "kv_n_heads", &s->kv_heads);
    if (rc < 0)
        return rc;
    if (__builtin_mul_overflow(s->hidden, ratio, &s->ffn))
        return bad(c, "d_model times expansion_ratio is too large");
    s->biases = s->norm_biases = !no_bias;
    s->learned_positions = !alibi;
    return 0;
}

/* A plain GPT, and what trainers such as Megatron let it differ in. */
static int read_plain(const struct config *c, struct shape *s)
{
    bool untied = false;
    int rc = get_bool(c, "swiglu", &s->gated);

    if (rc == 0)
        rc = get_bool(c, "add_bias_linear", &s->biases);
    if (rc == 0)
        rc = get_bool(c, "untie_embeddings_and_output_weights", &untied);
    if (rc < 0)
        return rc;
    s->tied = s->tied && !untied;
    s->norm_biases = !is_text(c, "normalization", "RMSNorm");
    s->learned_positions = s->positions && !is_text(c, "position_embedding_type", "rope") &&
                           !is_text(c, "position_embedding_type", "alibi");
    return get(c, "num_experts") || get(c, "num_moe_experts") ? read_experts(c, "num_experts", s)
                                                              : 0;
}

/* ---- families ---- */

/* The name in ffn_names of the width of an MLP; or four times hidden, unless the file says it. */
enum { FFN_USUAL = 0, FFN_OPT = 1, FFN_FOURFOLD = -1 };

static const struct family {
    const char *name; /* model_type */
    int ffn;
    int names; /* what the sentence about a missing field calls it */
    int (*more)(const struct config *c, struct shape *s); /* NULL: nothing */
    struct shape start;                                   /* what the file leaves out */
} families[] = {
    { "llama", FFN_USUAL, NAMES_USUAL, NULL, { .gated = true } },
    { "mistral", FFN_USUAL, NAMES_USUAL, read_window, { .gated = true } },
    { "mixtral", FFN_USUAL, NAMES_USUAL, read_mixtral, { .gated = true } },
    { "qwen2", FFN_USUAL, NAMES_USUAL, read_qwen_window, { .gated = true, .qkv_biases = true } },
    { "qwen2_moe", FFN_USUAL, NAMES_USUAL, read_qwen2_moe, { .gated = true, .qkv_biases = true } },
    { "qwen3", FFN_USUAL, NAMES_USUAL, read_qwen3, { .gated = true } },
    { "qwen3_moe", FFN_USUAL, NAMES_USUAL, read_qwen3_moe, { .gated = true } },
    { "gemma", FFN_USUAL, NAMES_USUAL, NULL, { .gated = true, .tied = true } },
    { "gemma2",
      FFN_USUAL,
      NAMES_USUAL,
      read_every_second,
      { .gated = true, .tied = true, .norms = 4 } },
    { "gpt2",
      FFN_FOURFOLD,
      NAMES_GPT2,
      NULL,
      { .tied = true,
        .learned_positions = true,
        .biases = true,
        .norm_biases = true,
        .dropout = true } },
    { "gpt_neox",
      FFN_USUAL,
      NAMES_USUAL,
      read_gpt_neox,
      { .mlp_biases = true, .norm_biases = true, .parallel = true, .norms = 2 } },
    { "gptj",
      FFN_FOURFOLD,
      NAMES_GPT2,
      NULL,
      { .mlp_biases = true, .norm_biases = true, .head_bias = true, .parallel = true } },
    { "opt",
      FFN_OPT,
      NAMES_USUAL,
      read_opt,
      { .tied = true,
        .learned_positions = true,
        .extra_positions = 2,
        .biases = true,
        .norm_biases = true,
        .dropout = true } },
    { "bloom",
      FFN_FOURFOLD,
      NAMES_USUAL,
      NULL,
      { .tied = true, .biases = true, .norm_biases = true, .embedding_norm = true } },
    { "falcon",
      FFN_FOURFOLD,
      NAMES_USUAL,
      read_falcon,
      { .tied = true, .norm_biases = true, .parallel = true } },
    { "phi",
      FFN_FOURFOLD,
      NAMES_USUAL,
      NULL,
      { .biases = true, .norm_biases = true, .head_bias = true, .parallel = true } },
    { "phi3", FFN_USUAL, NAMES_USUAL, read_window, { .gated = true } },
    { "mpt", FFN_FOURFOLD, NAMES_MPT, read_mpt, { .tied = true } },
    { "gpt_oss",
      FFN_USUAL,
      NAMES_USUAL,
      read_gpt_oss,
      { .gated = true,
        .qkv_biases = true,
        .out_biases = true,
        .mlp_biases = true,
        .sinks = true,
        .router_biases = true } },
    { "deepseek_v2", FFN_USUAL, NAMES_USUAL, read_deepseek, { .gated = true } },
    { "deepseek_v3", FFN_USUAL, NAMES_USUAL, read_deepseek, { .gated = true } },
    { "kimi_k2", FFN_USUAL, NAMES_USUAL, read_deepseek, { .gated = true } },
};

static const struct family plain = { "gpt",
                                     FFN_FOURFOLD,
                                     NAMES_USUAL,
                                     read_plain,
                                     { .tied = true, .biases = true, .norm_biases = true } };

const char *shape_family(size_t i)
{
    return i < ARRAY_SIZE(families) ? families[i].name : NULL;
}

static const struct family *find_family(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(families); i++)
        if (!strcmp(families[i].name, name))
            return &families[i];
    return NULL;
}

static int unknown_family(const struct config *c, const struct json_value *v)
{
    CLEANUP(str_done) struct str known = STR_INIT(1024);

    for (size_t i = 0; i < ARRAY_SIZE(families); i++)
        str_addf(&known, "%s%s", i ? ", " : "", families[i].name);
    if (str_error(&known))
        return err_nomem(c->e);
    return err_set(c->e, -EINVAL,
                   "%s:%d:%d: model_type '%.40s' is not known (known are %s); without model_type "
                   "the file is read as a plain GPT",
                   c->file, v->line, v->column, v->text, str_text(&known));
}

/* The family, and the part of the file that describes the shape. */
static int choose_family(struct config *c, const struct family **ret)
{
    const struct json_value *type = get(c, "model_type"), *part = get(c, "text_config");

    *ret = &plain;
    if (type && type->kind != JSON_STRING)
        return bad_value(c, type, "a string");
    if (type && !find_family(type->text) && part && part->kind == JSON_OBJECT) {
        const struct json_value *inner = json_get(part, "model_type");

        if (inner && inner->kind == JSON_STRING) {
            c->root = part;
            type = inner;
        }
    }
    if (!type)
        return 0;
    *ret = find_family(type->text);
    return *ret ? 0 : unknown_family(c, type);
}

/* ---- what all have ---- */

static int read_ffn(const struct config *c, const struct family *f, struct shape *s)
{
    if (f->ffn != FFN_FOURFOLD)
        return need_int(c, ffn_names, ffn_names[f->ffn], &s->ffn);
    if (__builtin_mul_overflow(s->hidden, 4, &s->ffn))
        return bad(c, "four times the hidden size is too large");
    return MIN(get_int(c, ffn_names, &s->ffn), 0);
}

static int read_heads(const struct config *c, const struct family *f, struct shape *s)
{
    int rc = need_int(c, heads_names, heads_names[f->names], &s->heads);

    s->kv_heads = s->heads;
    if (rc == 0)
        rc = get_int(c, kv_names, &s->kv_heads);
    if (rc >= 0)
        rc = get_int(c, head_dim_names, &s->head_dim);
    if (rc != 0)
        return MIN(rc, 0);
    if (s->heads == 0 || s->hidden % s->heads != 0)
        return err_set(c->e, -EINVAL, "%s: the hidden size %d does not divide by %d heads", c->file,
                       s->hidden, s->heads);
    s->head_dim = s->hidden / s->heads;
    return 0;
}

static int read_sizes(const struct config *c, const struct family *f, struct shape *s)
{
    int rc = need_int(c, layers_names, layers_names[f->names], &s->layers);

    if (rc == 0)
        rc = need_int(c, hidden_names, hidden_names[f->names], &s->hidden);
    if (rc == 0)
        rc = read_heads(c, f, s);
    if (rc == 0)
        rc = read_ffn(c, f, s);
    if (rc == 0)
        rc = need_int(c, vocab_names, vocab_names[0], &s->vocab);
    if (rc == 0)
        rc = s->learned_positions
                 ? need_int(c, positions_names, positions_names[f->names], &s->positions)
                 : get_int(c, positions_names, &s->positions);
    return MIN(rc, 0);
}

static int read_dropout(const struct config *c, struct shape *s)
{
    static const char *const rates[] = { "resid_pdrop",         "attn_pdrop",
                                         "embd_pdrop",          "dropout",
                                         "attention_dropout",   "hidden_dropout",
                                         "hidden_dropout_prob", "resid_dropout" };
    bool said = false, some = false;

    for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
        const struct json_value *v = get(c, rates[i]);

        if (!v)
            continue;
        if (v->kind != JSON_NUMBER)
            return bad_value(c, v, "a number");
        said = true;
        some = some || v->number > 0;
    }
    s->dropout = said ? some : s->dropout;
    return 0;
}

static int read_traits(const struct config *c, struct shape *s)
{
    bool attention = false;
    int rc = get_bool(c, "tie_word_embeddings", &s->tied);

    if (rc == 0)
        rc = get_bool(c, "attention_bias", &attention);
    if (rc == 0)
        rc = get_bool(c, "mlp_bias", &s->mlp_biases);
    s->qkv_biases = s->qkv_biases || attention;
    s->out_biases = s->out_biases || attention;
    return rc < 0 ? rc : read_dropout(c, s);
}

/* The last part of where the model came from, or the family; only letters that a terminal shows. */
static void set_name(const struct config *c, const struct family *f, struct shape *s)
{
    const struct json_value *v = get(c, "_name_or_path");
    const char *name = v && v->kind == JSON_STRING ? v->text : "";
    const char *slash = strrchr(name, '/');
    size_t n = 0;

    name = slash ? slash + 1 : name;
    name = *name ? name : f->name;
    for (; *name && n < sizeof(s->name) - 1; name++)
        s->name[n++] = (char)(*name >= ' ' && *name <= '~' ? *name : '?');
    s->name[n] = '\0';
}

static int read_shape(struct config *c, struct shape *s)
{
    const struct family *f;
    int rc;

    if (c->root->kind != JSON_OBJECT)
        return bad(c, "this is no object with the fields of a model");
    rc = choose_family(c, &f);
    if (rc < 0)
        return rc;
    *s = f->start;
    set_name(c, f, s);
    rc = read_sizes(c, f, s);
    if (rc == 0)
        rc = read_traits(c, s);
    if (rc == 0 && f->more)
        rc = f->more(c, s);
    if (rc < 0)
        return MIN(rc, 0);
    rc = shape_check(s, c->e);
    return rc < 0 ? err_context(c->e, rc, "%s: ", c->file) : 0;
}

int shape_from_config(struct shape *ret, const char *file, const char *text, size_t len,
                      struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct config c = { .file = file, .e = e };
    struct shape s;
    int rc = json_read(&c.root, &a, file, text, len, e);

    if (rc == 0)
        rc = read_shape(&c, &s);
    if (rc < 0)
        return rc;
    *ret = s;
    return 0;
}
