/* Configurations of models in which one field says something else or is gone: what is read, where
 * that is not what was read before, or what is said. What was told of one file is not told again.
 *
 *     t_plan_shape_values FOLDER FILE */
#include <glob.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file.h"
#include "golden.h"
#include "plan/shape/config.h"

enum { ROOM = 4 << 20, FILE_MAX = 64 << 10, KNOWN = 1 << 17, WORDS = 64 };

/* ---- what a shape is ---- */

#define NUMBER(name) \
    { \
#name, offsetof(struct shape, name), false \
    }
#define FLAG(name) \
    { \
#name, offsetof(struct shape, name), true \
    }

static const struct {
    const char *name;
    size_t at;
    bool flag;
} fields[] = { NUMBER(layers),
               NUMBER(hidden),
               NUMBER(heads),
               NUMBER(kv_heads),
               NUMBER(head_dim),
               NUMBER(ffn),
               NUMBER(vocab),
               NUMBER(positions),
               NUMBER(extra_positions),
               FLAG(gated),
               FLAG(tied),
               FLAG(learned_positions),
               FLAG(biases),
               FLAG(qkv_biases),
               FLAG(out_biases),
               FLAG(mlp_biases),
               FLAG(head_bias),
               FLAG(norm_biases),
               FLAG(embedding_norm),
               FLAG(dropout),
               FLAG(parallel),
               FLAG(sinks),
               NUMBER(norms),
               NUMBER(qk_norms),
               NUMBER(attention),
               NUMBER(q_rank),
               NUMBER(kv_rank),
               NUMBER(rope_dim),
               NUMBER(nope_dim),
               NUMBER(v_dim),
               NUMBER(window),
               NUMBER(full_every),
               NUMBER(experts),
               NUMBER(active),
               NUMBER(expert_ffn),
               NUMBER(shared),
               NUMBER(shared_ffn),
               FLAG(shared_gate),
               FLAG(router_biases),
               NUMBER(groups),
               NUMBER(active_groups),
               NUMBER(dense_first),
               NUMBER(expert_every),
               NUMBER(further_layers),
               FLAG(part) };

static int field_of(const struct shape *s, size_t i)
{
    const char *at = (const char *)s + fields[i].at;
    int number;

    if (fields[i].flag)
        return *at != 0;
    memcpy(&number, at, sizeof(number));
    return number;
}

/* What is not as it was. */
static void tell(const struct shape *s, const struct shape *was, struct str *out)
{
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
        if (field_of(s, i) != field_of(was, i))
            str_addf(out, " %s=%d", fields[i].name, field_of(s, i));
    if (s->counted < was->counted || s->counted > was->counted)
        str_addf(out, " counted=%.0f", s->counted);
    if (s->counted_active < was->counted_active || s->counted_active > was->counted_active)
        str_addf(out, " counted_active=%.0f", s->counted_active);
    if (strcmp(s->lacks ? s->lacks : "", was->lacks ? was->lacks : "") != 0)
        str_addf(out, " lacks '%s'", s->lacks ? s->lacks : "");
    if (strcmp(s->name, was->name) != 0)
        str_addf(out, " is %s", s->name);
}

/* ---- one change ---- */

struct sweep {
    const char *text, *key;
    int key_len;
    bool adds; /* a field, rather than changing one: which are not known is for fields.c */
    struct shape was;
    struct str *out, values, told; /* told: of the last values of a field */
    uint64_t known[KNOWN];         /* hashes of what was told */
};

/* Whether it was not told yet. */
static bool is_new(struct sweep *w, const char *line)
{
    uint64_t hash = 14695981039346656037ULL;
    size_t at;

    for (; *line; line++)
        hash = (hash ^ (unsigned char)*line) * 1099511628211ULL;
    hash |= 1;
    for (at = hash % KNOWN; w->known[at] && w->known[at] != hash; at = (at + 1) % KNOWN)
        ;
    if (w->known[at])
        return false;
    w->known[at] = hash;
    return true;
}

/* What was told of the last values of a field, and these. */
static void end_group(struct sweep *w)
{
    CLEANUP(str_done) struct str line = STR_INIT(FILE_MAX);

    str_addf(&line, "%.*s %s:%s", w->key_len, w->key, str_text(&w->values), str_text(&w->told));
    if (w->told.len && strcmp(str_text(&w->told), " not known") && is_new(w, str_text(&line)))
        str_addf(w->out, "%s\n", str_text(&line));
    str_reset(&w->values);
    str_reset(&w->told);
}

/* The text with other words from begin to end. */
static void change(struct sweep *w, const char *begin, const char *end, const char *by,
                   const char *what)
{
    CLEANUP(str_done) struct str text = STR_INIT(2 * FILE_MAX), told = STR_INIT(FILE_MAX);
    struct shape s = { .layers = 0 };
    struct err e = { "" };

    str_add_n(&text, w->text, (size_t)(begin - w->text));
    str_addf(&text, "%s%s", by, end);
    if (shape_from_config(&s, "config.json", str_text(&text), text.len, &e) != 0)
        str_addf(&told, " %s",
                 w->adds && strstr(e.text, " is not known of ") ? "not known" : e.text);
    else
        tell(&s, &w->was, &told);
    if (strcmp(str_text(&told), str_text(&w->told)) != 0)
        end_group(w);
    str_addf(&w->values, "%s%s", w->values.len ? ", " : "", what);
    if (!w->told.len)
        str_add(&w->told, str_text(&told));
}

/* ---- each field of a file ---- */

/* Behind a value: a word, a number, a list, an object. */
static const char *value_end(const char *at)
{
    int depth = 0;

    if (*at == '"')
        return strchr(at + 1, '"') + 1;
    if (*at != '{' && *at != '[')
        return at + strcspn(at, ",}]\n");
    do {
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        at++;
    } while (depth > 0);
    return at;
}

static void change_value(struct sweep *w, const char *key, size_t len, const char *begin)
{
    static const char *const values[] = { "null",  "0",     "1",       "2",          "7",
                                          "-1",    "0.5",   "true",    "false",      "\"\"",
                                          "10000", "10001", "1000000", "2147483647", "2147483648",
                                          "\"x\"", "[]",    "[1]",     "{}" };
    const char *end = value_end(begin), *first = begin + 1 + strspn(begin + 1, " \n");
    char what[WORDS];

    w->key = key;
    w->key_len = (int)len;
    change(w, key - 1, end, "\"_\": null", "is gone");
    for (size_t i = 0; i < ARRAY_SIZE(values); i++)
        change(w, begin, end, values[i], values[i]);
    for (int i = 0; i < 2; i++) { /* as many as there are layers, and one more */
        snprintf(what, sizeof(what), "%d", w->was.layers + i);
        change(w, begin, end, what, what);
    }
    for (size_t i = 0; *begin == '[' && *first != ']' && i < ARRAY_SIZE(values); i++) {
        snprintf(what, sizeof(what), "[%s ..", values[i]);
        change(w, first, value_end(first), values[i], what);
    }
    end_group(w);
}

/* Fields that some family has, beside those that the file has. */
static const char *const more[] = {
    "architectures",
    "multi_latent_attention",
    "is_hybrid_model",
    "_name_or_path",
    "add_bias_linear",
    "attention_bias",
    "attention_chunk_size",
    "attention_dropout",
    "attention_head_dim",
    "attention_k_eq_v",
    "attn_config",
    "attn_layer_offset",
    "attn_layer_period",
    "attn_output_gate",
    "attn_pdrop",
    "attn_type",
    "bias",
    "conv_kernel",
    "d_model",
    "decoder_sparse_step",
    "do_layer_norm_before",
    "dropout",
    "embd_pdrop",
    "enable_bias",
    "enable_moe_block",
    "expansion_ratio",
    "expert_layer_offset",
    "expert_layer_period",
    "experts_per_token",
    "ffn_dim",
    "ffn_hidden_size",
    "first_k_dense_replace",
    "full_attention_interval",
    "global_head_dim",
    "head_dim",
    "hidden_dropout",
    "hidden_dropout_prob",
    "hidden_size",
    "hidden_size_per_layer_input",
    "hybrid_override_pattern",
    "index_head_dim",
    "index_n_heads",
    "index_skip_topk_offset",
    "index_topk_freq",
    "index_topk_pattern",
    "indexer_types",
    "interleave_moe_layer_step",
    "intermediate_size",
    "intermediate_size_mlp",
    "kv_channels",
    "kv_lora_rank",
    "kv_n_heads",
    "layer_norm_elementwise_affine",
    "layer_types",
    "layers_block_type",
    "linear_attn_config",
    "linear_conv_kernel_dim",
    "linear_head_dim",
    "linear_key_head_dim",
    "linear_num_heads",
    "linear_num_key_heads",
    "linear_num_value_heads",
    "linear_value_head_dim",
    "low_precision_rmsnorm",
    "mamba_conv_bias",
    "mamba_d_conv",
    "mamba_d_state",
    "mamba_dt_rank",
    "mamba_expand",
    "mamba_head_dim",
    "mamba_n_groups",
    "mamba_num_heads",
    "mamba_proj_bias",
    "max_position_embeddings",
    "max_seq_len",
    "max_sequence_length",
    "max_window_layers",
    "mlp_bias",
    "mlp_layer_types",
    "mlp_only_layers",
    "model_max_length",
    "moe_ffn_hidden_size",
    "moe_intermediate_size",
    "moe_latent_size",
    "moe_layer_freq",
    "moe_layers",
    "moe_router_topk",
    "moe_shared_expert_intermediate_size",
    "mtp_num_hidden_layers",
    "multi_query",
    "multiquery_attention",
    "n_ctx",
    "n_embd",
    "n_embed",
    "n_group",
    "n_groups",
    "n_head",
    "n_head_kv",
    "n_heads",
    "n_inner",
    "n_layer",
    "n_layers",
    "n_positions",
    "n_routed_experts",
    "n_shared_experts",
    "new_decoder_architecture",
    "no_bias",
    "no_rope_layer_interval",
    "norm_type",
    "normalization",
    "num_attention_heads",
    "num_experts",
    "num_experts_per_tok",
    "num_experts_per_token",
    "num_global_key_value_heads",
    "num_heads",
    "num_hidden_layers",
    "num_key_value_heads",
    "num_kv_heads",
    "num_kv_shared_layers",
    "num_layers",
    "num_ln_in_parallel_attn",
    "num_local_experts",
    "num_moe_experts",
    "num_mtp_layers",
    "num_mtp_modules",
    "num_nextn_predict_layers",
    "num_query_groups",
    "num_shared_experts",
    "padded_vocab_size",
    "parallel_attn",
    "per_layer_config",
    "position_embedding_type",
    "q_lora_rank",
    "qk_ln",
    "qk_nope_head_dim",
    "qk_rope_head_dim",
    "qkv_bias",
    "resid_dropout",
    "resid_pdrop",
    "seq_length",
    "shared_expert_intermediate_size",
    "short_conv_kernel_size",
    "sliding_window",
    "sliding_window_pattern",
    "ssm_state_size",
    "swiglu",
    "tie_word_embeddings",
    "top_k_experts",
    "topk_group",
    "topk_method",
    "untie_embeddings_and_output_weights",
    "use_bias",
    "use_conv_bias",
    "use_double_wide_mlp",
    "use_mtp",
    "use_parallel_residual",
    "use_qk_norm",
    "use_routing_bias",
    "use_sliding_window",
    "v_head_dim",
    "vocab_size",
    "vocab_size_per_layer_input",
    "word_embed_proj_dim",
};

static void add_field(struct sweep *w, const char *name)
{
    static const char *const values[] = { "1", "true", "\"x\"", "[1, 2]" };
    const char *at = strchr(w->text, '{') + 1;
    char key[WORDS + 8], text[2 * WORDS];

    snprintf(key, sizeof(key), "\"%s\":", name);
    if (strstr(w->text, key))
        return;
    w->key = name;
    w->key_len = (int)strlen(name);
    for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
        snprintf(text, sizeof(text), "%s %s, ", key, values[i]);
        change(w, at, at, text, values[i]);
    }
    end_group(w);
}

static void sweep_file(struct sweep *w, const char *path)
{
    CLEANUP(str_done) struct str text = STR_INIT(FILE_MAX);
    struct err e = { "" };

    if (file_read(path, &text, &e) != 0 ||
        shape_from_config(&w->was, "config.json", str_text(&text), text.len, &e) != 0) {
        printf("# %s: %s\n", path, e.text);
        return;
    }
    w->text = str_text(&text);
    w->adds = false;
    str_addf(w->out, "== %s\n", strrchr(path, '/') + 1);
    for (const char *at = strstr(w->text, "\": "); at; at = strstr(at + 1, "\": ")) {
        const char *key = at;

        while (key[-1] != '"')
            key--;
        change_value(w, key, (size_t)(at - key), at + 3);
    }
    w->adds = true;
    str_addf(w->out, "== more in %s\n", strrchr(path, '/') + 1);
    for (size_t i = 0; i < ARRAY_SIZE(more); i++)
        add_field(w, more[i]);
}

int main(int argc, char **argv)
{
    static const char *const folders[] = { "", "/recent" };
    static struct sweep w;
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);
    size_t n = 0;

    if (argc < 3)
        return 1;
    w.out = &out;
    w.values = w.told = (struct str)STR_INIT(FILE_MAX);
    for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
        char pattern[512];
        glob_t found = { .gl_pathc = 0 };

        snprintf(pattern, sizeof(pattern), "%s%s/*.json", argv[1], folders[i]);
        if (glob(pattern, 0, NULL, &found) != 0)
            continue;
        for (size_t k = 0; k < found.gl_pathc; k++)
            sweep_file(&w, found.gl_pathv[k]);
        n += found.gl_pathc;
        globfree(&found);
    }
    str_done(&w.values);
    str_done(&w.told);
    ok(n > 50, "the folder has configurations: %zu", n);
    is_int(str_error(&out), 0, "the text of all configurations has room");
    golden(argv[2], str_text(&out));
    return done();
}
