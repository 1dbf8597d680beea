/* Layers of Gemma 4 that say what they have each for themselves, as newer programs save it. */
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

int main(void)
{
    test_layers();
    test_refused();
    return done();
}
