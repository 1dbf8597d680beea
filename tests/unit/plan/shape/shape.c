#include "plan/shape/shape.h"

#include <errno.h>
#include <stddef.h>

#include "tap.h"

static const struct shape llama = { .layers = 32,
                                    .hidden = 4096,
                                    .heads = 32,
                                    .kv_heads = 8,
                                    .head_dim = 128,
                                    .ffn = 14336,
                                    .vocab = 128256,
                                    .gated = true };

static const struct shape gpt2 = { .layers = 12,
                                   .hidden = 768,
                                   .heads = 12,
                                   .kv_heads = 12,
                                   .head_dim = 64,
                                   .ffn = 3072,
                                   .vocab = 50257,
                                   .positions = 1024,
                                   .tied = true,
                                   .learned_positions = true,
                                   .biases = true,
                                   .norm_biases = true };

static const struct shape mixtral = { .layers = 32,
                                      .hidden = 4096,
                                      .heads = 32,
                                      .kv_heads = 8,
                                      .head_dim = 128,
                                      .vocab = 32000,
                                      .gated = true,
                                      .experts = 8,
                                      .active = 2,
                                      .expert_ffn = 14336 };

static const struct shape latent = { .layers = 61,
                                     .hidden = 7168,
                                     .heads = 128,
                                     .kv_heads = 128,
                                     .head_dim = 192,
                                     .ffn = 18432,
                                     .vocab = 129280,
                                     .gated = true,
                                     .attention = SHAPE_LATENT,
                                     .q_rank = 1536,
                                     .kv_rank = 512,
                                     .rope_dim = 64,
                                     .nope_dim = 128,
                                     .v_dim = 128,
                                     .experts = 256,
                                     .active = 8,
                                     .expert_ffn = 2048,
                                     .shared = 1,
                                     .shared_ffn = 2048,
                                     .router_biases = true,
                                     .dense_first = 3 };

static bool is(double got, double want)
{
    return got >= want && got <= want;
}

/* By hand, from the sizes of the matrices. */
static void test_parts(void)
{
    struct shape_params p = shape_count(&llama);

    ok(is(p.embedding, 128256.0 * 4096) && is(p.head, 128256.0 * 4096),
       "the embedding and the head of Llama are counted");
    ok(is(p.attention, 4096.0 * (4096 + 1024 + 1024 + 4096)),
       "attention with grouped heads is counted");
    ok(is(p.mlp, 3 * 4096.0 * 14336) && is(p.norms, 2 * 4096) && is(p.final_norm, 4096),
       "the MLP and the norms of Llama are counted");
    ok(is(p.dense_layers, 32) && is(p.expert_layers, 0) && is(p.active, p.total),
       "all layers of Llama are dense and active");
    p = shape_count(&gpt2);
    ok(is(p.embedding, 768.0 * (50257 + 1024)) && is(p.head, 0),
       "learned positions are counted, a tied head is not");
    ok(is(p.attention, 4 * 768.0 * 768 + 4 * 768), "biases of attention are counted");
    ok(is(p.mlp, 2 * 768.0 * 3072 + 3072 + 768), "biases of an MLP are counted");
    ok(is(p.norms, 4 * 768) && is(p.final_norm, 2 * 768), "biases of norms are counted");
    p = shape_count(&mixtral);
    ok(is(p.router, 4096 * 8) && is(p.expert, 3 * 4096.0 * 14336) && is(p.mlp, 0),
       "a router and an expert are counted, a dense MLP is not");
    ok(is(p.total - p.active, 32 * 6 * p.expert), "six of eight experts do not take a token");
    p = shape_count(&latent);
    ok(is(p.attention, 7168.0 * 1536 + 1536.0 * 128 * 192 + 7168.0 * 576 + 512.0 * 128 * 256 +
                           128.0 * 128 * 7168),
       "latent attention is counted");
    ok(is(p.norms, 2 * 7168 + 1536 + 512), "norms of latent attention are counted");
    ok(is(p.dense_layers, 3) && is(p.expert_layers, 58),
       "3 dense layers stand before 58 with experts");
    ok(is(p.router, 7168 * 256 + 256), "a router with biases is counted");
}

/* Counted by others: see config.c for the sources and more of them. */
static void test_totals(void)
{
    ok(is(shape_count(&llama).total, 8030261248), "Llama 3.1 8B has 8,030,261,248 parameters");
    ok(is(shape_count(&gpt2).total, 124439808), "GPT-2 has 124,439,808 parameters");
    ok(is(shape_count(&mixtral).total, 46702792704), "Mixtral 8x7B has 46,702,792,704 parameters");
    ok(is(shape_count(&latent).total, 671026419200), "DeepSeek-V3 has 671,026,419,200 parameters");
    ok(is(shape_count(&latent).active, 37552297472),
       "DeepSeek-V3 has 37,552,297,472 active parameters");
}

static void test_rare_parts(void)
{
    struct shape s = llama;
    double attention = shape_count(&llama).attention;

    s.qkv_biases = true;
    ok(is(shape_count(&s).attention, attention + 4096 + 2048),
       "biases of queries, keys and values are counted");
    s.out_biases = s.sinks = true;
    ok(is(shape_count(&s).attention, attention + 4096 + 2048 + 4096 + 32),
       "biases of the way out and sinks are counted");
    s.mlp_biases = s.head_bias = true;
    ok(is(shape_count(&s).mlp, 3 * 4096.0 * 14336 + 2 * 14336 + 4096),
       "biases of a gated MLP are counted");
    ok(is(shape_count(&s).head, 128256.0 * 4096 + 128256), "the bias of the head is counted");
    s.parallel = true;
    ok(is(shape_count(&s).norms, 4096), "attention and MLP side by side have one norm");
    s.norms = 4;
    s.qk_norms = 256;
    ok(is(shape_count(&s).norms, 4 * 4096 + 256), "as many norms are counted as are said");
    s.embedding_norm = true;
    ok(is(shape_count(&s).embedding, 128256.0 * 4096 + 4096),
       "a norm behind the embedding is counted");
    s = latent;
    s.q_rank = 0;
    s.biases = true;
    ok(is(shape_count(&s).attention,
          7168.0 * 128 * 192 + 7168.0 * 576 + 576 + 512.0 * 128 * 256 + 128.0 * 128 * 7168 + 7168),
       "latent attention with biases and no rank of queries is counted");
    s = mixtral;
    s.expert_every = 4;
    s.ffn = 14336;
    s.shared = 2;
    s.shared_ffn = 1000;
    s.shared_gate = true;
    ok(is(shape_count(&s).expert_layers, 8) && is(shape_count(&s).dense_layers, 24),
       "experts stand in every fourth layer");
    ok(is(shape_count(&s).shared, 3 * 4096.0 * 1000 + 4096),
       "shared experts behind a gate are counted");
}

/* A good shape with one number, at that place in it, that is not. */
static void refused(const struct shape *good, size_t offset, int value, const char *sentence)
{
    struct shape s = *good;
    struct err e = { "" };

    *(int *)(void *)((char *)&s + offset) = value;
    is_int(shape_check(&s, &e), -EINVAL, "shape_check refuses: %s", sentence);
    is_str(e.text, sentence, "shape_check says: %s", sentence);
}
#define AT(field) offsetof(struct shape, field)

static void test_check(void)
{
    static const struct shape *const good[] = { &llama, &gpt2, &mixtral, &latent };
    struct shape large = llama;
    struct err e = { "" };

    for (size_t i = 0; i < ARRAY_SIZE(good); i++)
        is_int(shape_check(good[i], &e), 0, "shape_check takes a shape that can be: %s", e.text);
    refused(&llama, AT(layers), 0, "layers is 0: it must be 1 to 10000");
    refused(&llama, AT(hidden), -1, "hidden is -1: it must be 1 to 1000000");
    refused(&llama, AT(vocab), 2000000000, "vocab is 2000000000: it must be 1 to 100000000");
    refused(&llama, AT(kv_heads), 7, "32 heads do not divide by 7 key-value heads");
    refused(&llama, AT(kv_heads), 64, "32 heads do not divide by 64 key-value heads");
    refused(&llama, AT(ffn), 0, "ffn is 0, but there are layers with a dense MLP");
    refused(&gpt2, AT(positions), 0, "the positions are learned, but their number is not known");
    refused(&mixtral, AT(active), 9, "9 experts take a token, but there are only 8");
    refused(&mixtral, AT(expert_ffn), 0, "expert_ffn is 0: it must be 1 to 10000000");
    refused(&mixtral, AT(dense_first), 33, "dense_first is 33, but there are only 32 layers");
    refused(&mixtral, AT(dense_first), 1, "ffn is 0, but there are layers with a dense MLP");
    refused(&latent, AT(shared_ffn), 0, "there are 1 shared experts, but shared_ffn is 0");
    refused(&latent, AT(kv_rank), 0, "kv_rank is 0: it must be 1 to 1000000");
    large.hidden = 1000000;
    large.layers = 100;
    refused(&large, AT(ffn), 10000000,
            "the shape has 3e+15 parameters: one of its numbers is wrong");
}

/* Whether a shape is refused because that number is beyond its own limits. */
static bool is_beyond(const struct shape *good, const char *name, size_t offset, int value)
{
    struct shape s = *good;
    struct err e = { "" };
    char text[80];

    *(int *)(void *)((char *)&s + offset) = value;
    snprintf(text, sizeof(text), "%s is %d: it must be ", name, value);
    return shape_check(&s, &e) == -EINVAL && strncmp(e.text, text, strlen(text)) == 0;
}

#define LIMITS(shape, field, low, high) \
    { \
        shape, #field, AT(field), low, high \
    }

static void test_limits(void)
{
    static const struct {
        const struct shape *good;
        const char *name;
        size_t offset;
        int low, high;
    } rows[] = {
        LIMITS(&llama, layers, 1, 10000),
        LIMITS(&llama, hidden, 1, 1000000),
        LIMITS(&llama, heads, 1, 100000),
        LIMITS(&llama, kv_heads, 1, 100000),
        LIMITS(&llama, head_dim, 1, 100000),
        LIMITS(&llama, ffn, 0, 10000000),
        LIMITS(&llama, vocab, 1, 100000000),
        LIMITS(&llama, positions, 0, 1000000000),
        LIMITS(&llama, extra_positions, 0, 1000000),
        LIMITS(&llama, norms, 0, 16),
        LIMITS(&llama, qk_norms, 0, 10000000),
        LIMITS(&llama, window, 0, 1000000000),
        LIMITS(&llama, full_every, 0, 10000),
        LIMITS(&latent, q_rank, 0, 1000000),
        LIMITS(&latent, kv_rank, 1, 1000000),
        LIMITS(&latent, rope_dim, 0, 100000),
        LIMITS(&latent, nope_dim, 1, 100000),
        LIMITS(&latent, v_dim, 1, 100000),
        LIMITS(&mixtral, active, 1, 100000),
        LIMITS(&mixtral, expert_ffn, 1, 10000000),
        LIMITS(&mixtral, shared, 0, 1000),
        LIMITS(&mixtral, shared_ffn, 0, 10000000),
        LIMITS(&mixtral, dense_first, 0, 10000),
        LIMITS(&mixtral, expert_every, 0, 10000),
    };
    struct shape large = llama;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct shape *good = rows[i].good;
        size_t at = rows[i].offset;

        ok(is_beyond(good, rows[i].name, at, rows[i].low - 1) &&
               !is_beyond(good, rows[i].name, at, rows[i].low),
           "%s is %d or more", rows[i].name, rows[i].low);
        ok(is_beyond(good, rows[i].name, at, rows[i].high + 1) &&
               !is_beyond(good, rows[i].name, at, rows[i].high),
           "%s is %d or less", rows[i].name, rows[i].high);
    }
    ok(is_beyond(&mixtral, "experts", AT(experts), 100001) &&
           !is_beyond(&mixtral, "experts", AT(experts), 100000),
       "there are 100,000 experts or less");
    large.hidden = 1000000;
    large.ffn = 10000000;
    large.layers = 33;
    is_int(shape_check(&large, NULL), 0, "a shape of less than 1e15 parameters can be");
    large.layers = 34;
    is_int(shape_check(&large, NULL), -EINVAL, "a shape of more than 1e15 parameters is mistyped");
    large = mixtral;
    large.active = large.experts;
    is_int(shape_check(&large, NULL), 0, "all experts may take a token");
    large.dense_first = large.layers;
    large.ffn = 1024;
    is_int(shape_check(&large, NULL), 0, "all layers may come before those with experts");
}

int main(void)
{
    test_parts();
    test_totals();
    test_rare_parts();
    test_check();
    test_limits();
    return done();
}
