/* Layers that say what they have each for themselves: those of Gemma 4, as newer programs save it,
 * and kinds of layers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "plan/shape/config.h"
#include "tap.h"

/* Three layers, of which the last two look at all tokens. */
#define GEMMA \
    "{\"model_type\": \"gemma4_text\", \"num_hidden_layers\": 3, \"hidden_size\": 64, " \
    "\"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"head_dim\": 16, " \
    "\"intermediate_size\": 128, \"vocab_size\": 1000, \"max_position_embeddings\": 512, " \
    "\"sliding_window\": 128, \"hidden_size_per_layer_input\": 0, \"global_head_dim\": 16, " \
    "\"layer_types\": [\"sliding_attention\", \"full_attention\", \"full_attention\"]"

static int from_text(const char *fields, struct shape *ret, struct err *e)
{
    char text[1024];

    snprintf(text, sizeof(text), "%s%s}", GEMMA, fields);
    return shape_from_config(ret, "config.json", text, strlen(text), e);
}

static void test_layers(void)
{
    static const struct {
        const char *fields;
        double more; /* parameters than without these fields */
    } rows[] = {
        { "{\"1\": {\"head_dim\": 16}, \"2\": {\"head_dim\": 16}}", 0 },
        { "{\"1\": {\"head_dim\": 32}, \"2\": {\"head_dim\": 32}}",
          2 * (2 * 64 * 4 * 16 + 2 * 16 + 2 * 64 * 2 * 16) },
        { "{\"1\": {\"head_dim\": 16, \"num_key_value_heads\": 1}, "
          "\"2\": {\"head_dim\": 16, \"num_key_value_heads\": 1}}",
          -2 * (2 * 64 * 16) },
    };
    struct shape usual, s;
    struct err e = { "" };

    is_int(from_text("", &usual, &e), 0, "layers without fields of their own are read: %s", e.text);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char text[400];

        snprintf(text, sizeof(text), ", \"per_layer_config\": %s", rows[i].fields);
        is_int(from_text(text, &s, &e), 0, "layers with %s are read: %s", rows[i].fields, e.text);
        is_int((long long)(s.counted - usual.counted), (long long)rows[i].more,
               "parameters of layers with %s are counted", rows[i].fields);
    }
}

static void test_refused(void)
{
    static const struct {
        const char *fields, *said;
    } rows[] = {
        { "{}", "an object with each layer that looks at all tokens" },
        { "{\"1\": {\"head_dim\": 16}}", "an object with each layer that looks at all tokens" },
        { "{\"0\": {\"head_dim\": 16}, \"1\": {\"head_dim\": 16}, \"2\": {\"head_dim\": 16}}",
          "an object with no other layers than those that look at all tokens" },
        { "{\"1\": {\"head_dim\": 16}, \"2\": {\"head_dim\": 32}}",
          "as the layers before it: others are not known" },
        { "{\"1\": {\"head_dim\": 16}, \"2\": {\"head_dim\": 16, \"num_key_value_heads\": 1}}",
          "as the layers before it: others are not known" },
        { "{\"1\": {}, \"2\": {\"head_dim\": 16}}", "head_dim" },
        { "{\"1\": {\"head_dim\": \"x\"}, \"2\": {\"head_dim\": 16}}",
          "head_dim must be a whole number" },
        { "{\"1\": {\"head_dim\": 16, \"num_key_value_heads\": \"x\"}, \"2\": {\"head_dim\": 16}}",
          "num_key_value_heads must be a whole number" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char text[400];
        struct shape s;
        struct err e = { "" };

        snprintf(text, sizeof(text), ", \"per_layer_config\": %s", rows[i].fields);
        is_int(from_text(text, &s, &e), -EINVAL, "layers with %s are refused", rows[i].fields);
        ok(strstr(e.text, rows[i].said) != NULL, "the error of layers with %s is: %s",
           rows[i].fields, e.text);
    }
}

/* Without kinds, each sixth layer and the last one looks at all tokens. */
static void test_pattern(void)
{
    static const char text[] =
        "{\"model_type\": \"gemma4_text\", \"num_hidden_layers\": 3, \"hidden_size\": 64, "
        "\"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"head_dim\": 16, "
        "\"intermediate_size\": 128, \"vocab_size\": 1000, \"max_position_embeddings\": 512, "
        "\"sliding_window\": 128, \"hidden_size_per_layer_input\": 0, \"global_head_dim\": %d}";
    struct shape narrow, wide;
    char one[600], other[600];

    snprintf(one, sizeof(one), text, 16);
    snprintf(other, sizeof(other), text, 32);
    is_int(shape_from_config(&narrow, "f", one, strlen(one), NULL), 0,
           "layers without kinds are read");
    is_int(shape_from_config(&wide, "f", other, strlen(other), NULL), 0,
           "layers without kinds and with wider heads are read");
    is_int((long long)(wide.counted - narrow.counted), 2 * 64 * 4 * 16 + 2 * 16 + 2 * 64 * 2 * 16,
           "the last layer has the wider heads");
}

/* Which layers have experts. */
static void test_kinds(void)
{
    static const struct {
        const char *kinds;
        int dense; /* -1: refused */
    } rows[] = {
        { "\"sparse\", \"sparse\", \"sparse\"", 0 }, { "\"dense\", \"sparse\", \"sparse\"", 1 },
        { "\"dense\", \"dense\", \"sparse\"", 2 },   { "\"dense\", \"dense\", \"dense\"", 3 },
        { "\"dense\", \"sparse\", \"dense\"", -1 },  { "\"sparse\", \"sparse\", \"dense\"", -1 },
        { "\"dense\", \"sparse\", \"other\"", -1 },  { "\"dense\", \"sparse\"", -1 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char text[900];
        struct shape s = { .dense_first = -1 };
        struct err e = { "" };

        snprintf(text, sizeof(text),
                 "{\"model_type\": \"deepseek_v3\", \"num_hidden_layers\": 3, "
                 "\"hidden_size\": 64, \"num_attention_heads\": 4, \"kv_lora_rank\": 16, "
                 "\"q_lora_rank\": 16, \"qk_rope_head_dim\": 8, \"qk_nope_head_dim\": 8, "
                 "\"v_head_dim\": 8, \"intermediate_size\": 128, \"vocab_size\": 1000, "
                 "\"max_position_embeddings\": 512, \"n_routed_experts\": 4, "
                 "\"num_experts_per_tok\": 2, \"moe_intermediate_size\": 32, "
                 "\"n_shared_experts\": 1, \"mlp_layer_types\": [%s]}",
                 rows[i].kinds);
        is_int(shape_from_config(&s, "f", text, strlen(text), &e), rows[i].dense < 0 ? -EINVAL : 0,
               "kinds %s are read or refused: %s", rows[i].kinds, e.text);
        if (rows[i].dense >= 0)
            is_int(s.dense_first, rows[i].dense, "kinds %s have so many dense layers first",
                   rows[i].kinds);
    }
}

/* With the names that a program writes for groups and for the kernel's width. */
static int nemotron_as(const char *groups, const char *kernel, const char *kinds, struct shape *ret,
                       struct err *e)
{
    char text[1200];

    snprintf(text, sizeof(text),
             "{\"model_type\": \"nemotron_h\", \"num_hidden_layers\": 4, "
             "\"hidden_size\": 64, \"num_attention_heads\": 4, \"num_key_value_heads\": 2, "
             "\"head_dim\": 16, \"intermediate_size\": 128, \"vocab_size\": 1000, "
             "\"max_position_embeddings\": 512, \"tie_word_embeddings\": false, "
             "\"n_routed_experts\": 8, \"num_experts_per_tok\": 2, "
             "\"moe_intermediate_size\": 32, \"moe_shared_expert_intermediate_size\": 48, "
             "\"mamba_num_heads\": 4, \"mamba_head_dim\": 32, \"%s\": 2, "
             "\"ssm_state_size\": 16, \"%s\": 4, %s}",
             groups, kernel, kinds);
    return shape_from_config(ret, "f", text, strlen(text), e);
}

static int nemotron(const char *kinds, struct shape *ret, struct err *e)
{
    return nemotron_as("n_groups", "conv_kernel", kinds, ret, e);
}

static void test_other_names(void)
{
    static const char kinds[] = "\"hybrid_override_pattern\": \"M*-E\"";
    struct shape usual, other;
    struct err e = { "" };

    is_int(nemotron(kinds, &usual, &e), 0, "groups and kernels have their usual names: %s", e.text);
    is_int(nemotron_as("mamba_n_groups", "mamba_d_conv", kinds, &other, &e), 0,
           "groups and kernels have other names: %s", e.text);
    ok(usual.counted > 0 && usual.counted == other.counted,
       "parameters are as many whatever groups and kernels are called");
}

/* Nemotron-H has its layers as letters or as words. */
static void test_letters(void)
{
    static const struct {
        const char *letters, *words;
    } rows[] = {
        { "M*-E", "\"mamba\", \"attention\", \"mlp\", \"moe\"" },
        { "MMM*", "\"mamba\", \"mamba\", \"mamba\", \"attention\"" },
        { "*--M", "\"attention\", \"mlp\", \"mlp\", \"mamba\"" },
        { "EEM-", "\"moe\", \"moe\", \"mamba\", \"mlp\"" },
        { "E*-*", "\"moe\", \"full_attention\", \"mlp\", \"attention\"" },
    };
    static const char *const refused[] = {
        "\"hybrid_override_pattern\": \"MMM\"",
        "\"hybrid_override_pattern\": \"MMMX\"",
        "\"layers_block_type\": [\"mamba\", \"mamba\", \"mamba\", \"other\"]",
        "\"layers_block_type\": [\"mamba\", \"mamba\", \"mamba\"]",
        "\"x\": 1",
    };
    double counted[ARRAY_SIZE(rows)];
    struct shape s;
    struct err e = { "" };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char letters[100], words[200];
        double before = 0;

        snprintf(letters, sizeof(letters), "\"hybrid_override_pattern\": \"%s\"", rows[i].letters);
        snprintf(words, sizeof(words), "\"layers_block_type\": [%s]", rows[i].words);
        is_int(nemotron(letters, &s, &e), 0, "layers %s are read: %s", rows[i].letters, e.text);
        counted[i] = s.counted;
        before = s.counted_active;
        is_int(nemotron(words, &s, &e), 0, "layers %s are read: %s", rows[i].words, e.text);
        ok(s.counted == counted[i] && s.counted_active == before && s.counted > 0,
           "layers %s have as many parameters in words: %.0f", rows[i].letters, s.counted);
        for (size_t k = 0; k < i; k++)
            ok(counted[k] != counted[i], "layers %s have other parameters than %s", rows[i].letters,
               rows[k].letters);
    }
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
        is_int(nemotron(refused[i], &s, &e), -EINVAL, "kinds %s are refused", refused[i]);
}

int main(void)
{
    test_other_names();
    test_letters();
    test_layers();
    test_refused();
    test_pattern();
    test_kinds();
    return done();
}
