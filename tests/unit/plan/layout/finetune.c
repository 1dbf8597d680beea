#include "plan/layout/finetune.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

static const struct shape llama = { .layers = 32,
                                    .hidden = 4096,
                                    .heads = 32,
                                    .kv_heads = 8,
                                    .head_dim = 128,
                                    .ffn = 14336,
                                    .vocab = 128256,
                                    .gated = true };

static bool refuses(const char *text, const char *why)
{
    struct finetune f = { .rank = -1 };
    struct err e = { .text = "" };

    return finetune_read(&f, text, &e) == -EINVAL && strstr(e.text, why) && f.rank == -1;
}

static void test_words(void)
{
    struct finetune f;

    ok(finetune_read(&f, "lora", NULL) == 0 && f.kind == FINETUNE_LORA && f.rank == 16 &&
           f.modules == FINETUNE_ALL && f.weights == FINETUNE_BF16,
       "lora has a rank of 16 on all matrices");
    ok(finetune_read(&f, "qlora", NULL) == 0 && f.weights == FINETUNE_NF4_DQ &&
           f.program == FINETUNE_TRANSFORMERS && f.optimizer == FINETUNE_ADAMW,
       "qlora has 4 bits with double quantization");
    ok(finetune_read(&f,
                     "qlora,rank=64,modules=q+v+head,weights=int4,optimizer=paged8bit,"
                     "program=litgpt,frozen=3,dropout=0",
                     NULL) == 0 &&
           f.rank == 64 && f.modules == (FINETUNE_Q | FINETUNE_V | FINETUNE_HEAD) &&
           f.weights == FINETUNE_INT4 && f.optimizer == FINETUNE_PAGED_8BIT &&
           f.program == FINETUNE_LITGPT && f.frozen == 3 && f.dropout == 0,
       "each word sets its own part");
    ok(finetune_read(&f, "full,optimizer=adamw8bit,frozen=8", NULL) == 0 &&
           f.kind == FINETUNE_FULL && f.frozen == 8,
       "full takes an optimizer and frozen layers");
    ok(finetune_read(&f, "lora,modules=mlp+attention", NULL) == 0 && f.modules == FINETUNE_ALL,
       "mlp and attention are all matrices of a layer");
}

static void test_refusals(void)
{
    ok(refuses("lorra", "did you mean 'lora'"), "a misspelt kind has its neighbour named");
    ok(refuses("", "there are full, lora, qlora"), "an empty text has the kinds named");
    ok(refuses("lora,rnak=8", "did you mean 'rank'"), "a misspelt part has its neighbour named");
    ok(refuses("lora,8", "write it as"), "a word without = is refused");
    ok(refuses("lora,rank=0", "from 1 to 4096") && refuses("lora,rank=4097", "from 1 to 4096"),
       "a rank lies between 1 and 4096");
    ok(refuses("lora,rank=8,rank=8", "stands twice"), "a part stands once");
    ok(refuses("lora,modules=", "names of matrices") && refuses("lora,modules=q+x", "matrix 'x'"),
       "modules are known matrices");
    ok(refuses("lora,modules=q+qkv", "one matrix of q, k and v"), "qkv excludes q, k and v");
    ok(refuses("full,rank=8", "is of adapters"), "full has no rank");
    ok(refuses("lora,dropout=1", "below 1"), "dropout is less than 1");
    ok(refuses("lora,modules=qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq"
               "qqqqqqqqqqqqqqqqqqqqqqqqq",
               "too long"),
       "a word has an end");
}

static void test_shapes(void)
{
    struct shape moe = llama, latent = llama, plain = llama;
    struct finetune f;
    struct err e;

    ok(finetune_read(&f, "lora,frozen=31", NULL) == 0 && finetune_check(&f, &llama, &e) == 0,
       "one layer of 32 may be left to train");
    ok(finetune_read(&f, "lora,frozen=32", NULL) == 0 &&
           finetune_check(&f, &llama, &e) == -EINVAL && strstr(e.text, "leaves nothing"),
       "a layer must be left to train");
    moe.experts = 8;
    ok(finetune_read(&f, "lora", NULL) == 0 && finetune_check(&f, &moe, &e) == -EINVAL &&
           strstr(e.text, "experts"),
       "adapters beside experts are refused");
    ok(finetune_read(&f, "full", NULL) == 0 && finetune_check(&f, &moe, &e) == 0,
       "all weights of a model with experts may be trained");
    ok(finetune_read(&f, "full,frozen=1", NULL) == 0 && finetune_check(&f, &moe, &e) == -EINVAL,
       "frozen layers with experts are refused");
    latent.attention = SHAPE_LATENT;
    ok(finetune_read(&f, "lora", NULL) == 0 && finetune_check(&f, &latent, &e) == -EINVAL &&
           strstr(e.text, "latent"),
       "adapters beside latent attention are refused");
    plain.gated = false;
    ok(finetune_read(&f, "lora,modules=gate", NULL) == 0 &&
           finetune_check(&f, &plain, &e) == -EINVAL,
       "a gate must be there to have an adapter");
}

/* Llama-2-7B with rank 8 on q and v has 4,194,304 trained weights (LitGPT, torchtune); Llama-3-8B
 * with rank 16 on all linear layers 41,943,040 (PEFT). */
static void test_counts(void)
{
    struct shape llama2 = llama;
    struct finetune f;

    llama2.kv_heads = 32;
    llama2.ffn = 11008;
    ok(finetune_read(&f, "lora,rank=8,modules=q+v", NULL) == 0 &&
           32 * finetune_adapter(&f, &llama2) == 4194304,
       "adapters of Llama-2-7B are counted as LitGPT counts them");
    ok(finetune_read(&f, "lora", NULL) == 0 && 32 * finetune_adapter(&f, &llama) == 41943040,
       "adapters of Llama-3-8B are counted as PEFT counts them");
    ok(finetune_read(&f, "lora,rank=2,modules=q+head", NULL) == 0 &&
           finetune_adapter(&f, &llama) == 2 * 8192 &&
           finetune_head_adapter(&f, &llama) == 2 * (4096 + 128256),
       "the head's adapter is counted once, not in each layer");
    ok(finetune_weight_b(FINETUNE_NF4) == .5625 && finetune_weight_b(FINETUNE_BF16) == 2,
       "4 bits have 32 more for each 64 weights");
}

static void test_text(void)
{
    CLEANUP(str_done) struct str s = STR_INIT(400), t = STR_INIT(400);
    struct finetune f;

    ok(finetune_read(&f, "qlora,modules=all+head,frozen=4", NULL) == 0, "the words are read");
    finetune_text(&f, &s);
    is_str(str_text(&s),
           "LoRA of rank 16 on all matrices of the layers and head beside weights of 4 "
           "bits (nf4-dq), but for the first 4 layers, AdamW, as Transformers with PEFT",
           "adapters are told in words");
    ok(finetune_read(&f, "lora,rank=8,modules=q+v,program=litgpt,optimizer=sgd", NULL) == 0,
       "other words are read");
    finetune_text(&f, &t);
    is_str(str_text(&t), "LoRA of rank 8 on q+v, SGD, as LitGPT", "few modules are told by name");
}

/* A word has 79 letters at most. */
static void test_long_words(void)
{
    struct finetune f;
    char text[120];

    for (size_t n = 79; n <= 80; n++) {
        struct err e = { "" };

        memset(text, 'a', n);
        text[n] = '\0';
        is_int(finetune_read(&f, text, &e), -EINVAL, "a word of %zu letters is no kind", n);
        is_int(strstr(e.text, "is too long for a word") != NULL, n > 79,
               "a word of %zu letters is too long or not: %s", n, e.text);
    }
}

int main(void)
{
    test_long_words();
    test_words();
    test_refusals();
    test_shapes();
    test_counts();
    test_text();
    return done();
}
