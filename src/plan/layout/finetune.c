#include "plan/layout/finetune.h"

#include <errno.h>
#include <string.h>

#include "base/opt.h"
#include "base/parse.h"

enum { WORD_MAX = 80, RANK_MAX = 4096, RANK_USUAL = 16 };
static const double dropout_usual = .05;

static const char *const kinds[] = { "full", "lora", "qlora", NULL };
static const char *const keys[] = { "rank",    "modules", "weights", "optimizer",
                                    "program", "frozen",  "dropout", NULL };
static const char *const modules[] = {
    "q", "k", "v", "qkv", "o", "gate", "up", "down", "head", NULL
};
static const char *const weights[] = { "bf16", "nf4", "nf4-dq", "int4", NULL };
static const char *const optimizers[] = { "adamw", "adamw8bit", "paged8bit", "sgd", NULL };
static const char *const programs[] = { "transformers", "deepspeed", "litgpt", NULL };

/* Sets of modules with names of their own. */
static const struct {
    const char *name;
    unsigned bits;
} sets[] = {
    { "all", FINETUNE_ALL },
    { "attention", FINETUNE_Q | FINETUNE_K | FINETUNE_V | FINETUNE_O },
    { "mlp", FINETUNE_GATE | FINETUNE_UP | FINETUNE_DOWN },
};

/* ---- reading ---- */

static int find(const char *what, const char *word, const char *const *words, int *ret,
                struct err *e)
{
    for (int i = 0; words[i]; i++)
        if (!strcmp(words[i], word)) {
            *ret = i;
            return 0;
        }
    opt_unknown(what, word, words, e);
    return -EINVAL;
}

static int read_module(const char *word, unsigned *bits, struct err *e)
{
    int at = 0, rc;

    for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
        if (!strcmp(sets[i].name, word)) {
            *bits |= sets[i].bits;
            return 0;
        }
    rc = find("matrix", word, modules, &at, e);
    if (rc == 0)
        *bits |= 1U << at;
    return rc;
}

static int read_modules(struct finetune *f, const char *text, struct err *e)
{
    unsigned bits = 0;

    while (*text) {
        size_t len = strcspn(text, "+");
        char word[WORD_MAX];
        int rc;

        memcpy(word, text, len); /* shorter than the text, which is a word */
        word[len] = '\0';
        rc = read_module(word, &bits, e);
        if (rc < 0)
            return rc;
        text += len + (text[len] == '+');
    }
    if (!bits)
        return err_set(e, -EINVAL, "modules are names of matrices: q+v, or all");
    if ((bits & FINETUNE_QKV) && (bits & (FINETUNE_Q | FINETUNE_K | FINETUNE_V)))
        return err_set(e, -EINVAL, "modules: qkv is one matrix of q, k and v: give it or them");
    f->modules = bits;
    return 0;
}

static int read_count(const char *name, const char *text, int low, int high, int *ret,
                      struct err *e)
{
    uint64_t value;

    if (parse_u64(text, &value) < 0 || value < (uint64_t)low || value > (uint64_t)high)
        return err_set(e, -EINVAL, "%s is a whole number from %d to %d, not '%s'", name, low, high,
                       text);
    *ret = (int)value;
    return 0;
}

static int set_key(struct finetune *f, int key, const char *text, struct err *e)
{
    int at = 0, rc;

    switch (key) {
    case 0:
        return read_count("rank", text, 1, RANK_MAX, &f->rank, e);
    case 1:
        return read_modules(f, text, e);
    case 2:
        rc = find("kind of weights", text, weights, &at, e);
        f->weights = (enum finetune_weights)at;
        return rc;
    case 3:
        rc = find("optimizer", text, optimizers, &at, e);
        f->optimizer = (enum finetune_optimizer)at;
        return rc;
    case 4:
        rc = find("program", text, programs, &at, e);
        f->program = (enum finetune_program)at;
        return rc;
    case 5:
        return read_count("frozen", text, 0, SHAPE_LAYERS_MAX, &f->frozen, e);
    default:
        if (parse_double(text, &f->dropout) < 0 || f->dropout < 0 || f->dropout >= 1)
            return err_set(e, -EINVAL, "dropout is a share from 0 to below 1, not '%s'", text);
        return 0;
    }
}

static int read_word(struct finetune *f, char *word, bool first, unsigned *given, struct err *e)
{
    char *equals = strchr(word, '=');
    int at = 0, rc;

    if (first) {
        rc = find("kind of fine-tuning", word, kinds, &at, e);
        f->kind = at == 0 ? FINETUNE_FULL : FINETUNE_LORA;
        f->weights = at == 2 ? FINETUNE_NF4_DQ : FINETUNE_BF16;
        return rc;
    }
    if (!equals)
        return err_set(e, -EINVAL, "'%s': write it as lora,rank=16,modules=q+v", word);
    *equals = '\0';
    rc = find("part of fine-tuning", word, keys, &at, e);
    if (rc < 0)
        return rc;
    if (*given >> at & 1)
        return err_set(e, -EINVAL, "%s stands twice", word);
    *given |= 1U << at;
    return set_key(f, at, equals + 1, e);
}

/* What has no meaning without adapters. */
static int check_words(const struct finetune *f, unsigned given, struct err *e)
{
    static const unsigned of_adapters = 1U << 0 | 1U << 1 | 1U << 2 | 1U << 4 | 1U << 6;

    for (int i = 0; f->kind == FINETUNE_FULL && keys[i]; i++)
        if (given & of_adapters & 1U << i)
            return err_set(e, -EINVAL, "%s is of adapters: give lora or qlora in place of full",
                           keys[i]);
    return 0;
}

int finetune_read(struct finetune *ret, const char *text, struct err *e)
{
    struct finetune f = { .rank = RANK_USUAL, .modules = FINETUNE_ALL, .dropout = dropout_usual };
    unsigned given = 0;
    bool first = true;
    int rc = 0;

    do {
        size_t len = strcspn(text, ",");
        char word[WORD_MAX];

        if (len >= sizeof(word))
            return err_set(e, -EINVAL, "'%.60s' is too long for a word", text);
        memcpy(word, text, len);
        word[len] = '\0';
        rc = read_word(&f, word, first, &given, e);
        if (rc < 0)
            return rc;
        first = false;
        text += len;
    } while (*text++ == ',');
    rc = check_words(&f, given, e);
    if (rc == 0)
        *ret = f;
    return rc;
}

/* ---- the shape ---- */

int finetune_check(const struct finetune *f, const struct shape *s, struct err *e)
{
    if (f->kind == FINETUNE_NONE)
        return 0;
    if (f->frozen >= s->layers)
        return err_set(e, -EINVAL, "frozen=%d leaves nothing to train of %d layers", f->frozen,
                       s->layers);
    if (f->frozen && s->experts)
        return err_set(e, -EINVAL, "frozen layers of a model with experts are not modelled");
    if (f->kind == FINETUNE_FULL)
        return 0;
    if (s->experts)
        return err_set(e, -EINVAL,
                       "adapters beside experts are not modelled: no measured run of them was "
                       "found");
    if (s->attention == SHAPE_LATENT)
        return err_set(e, -EINVAL,
                       "adapters beside latent attention are not modelled: no measured run of "
                       "them was found");
    if (f->modules == FINETUNE_GATE && !s->gated)
        return err_set(e, -EINVAL, "modules=gate: the MLPs of this model have no gate");
    return 0;
}

struct finetune_matrix finetune_matrix_of(const struct shape *s, int module)
{
    double h = s->hidden, q = (double)s->heads * s->head_dim,
           kv = (double)s->kv_heads * s->head_dim;

    switch (1 << module) {
    case FINETUNE_Q:
        return (struct finetune_matrix){ h, q };
    case FINETUNE_K:
    case FINETUNE_V:
        return (struct finetune_matrix){ h, kv };
    case FINETUNE_QKV:
        return (struct finetune_matrix){ h, q + 2 * kv };
    case FINETUNE_O:
        return (struct finetune_matrix){ q, h };
    case FINETUNE_GATE:
        return s->gated ? (struct finetune_matrix){ h, s->ffn } : (struct finetune_matrix){ 0, 0 };
    case FINETUNE_UP:
        return (struct finetune_matrix){ h, s->ffn };
    case FINETUNE_DOWN:
        return (struct finetune_matrix){ s->ffn, h };
    case FINETUNE_HEAD:
        return (struct finetune_matrix){ h, s->vocab };
    default:
        return (struct finetune_matrix){ 0, 0 };
    }
}

static double adapters(const struct finetune *f, const struct shape *s, unsigned of)
{
    double n = 0;

    for (int i = 0; i < FINETUNE_MODULES; i++)
        if (f->modules & of & 1U << i) {
            struct finetune_matrix m = finetune_matrix_of(s, i);

            n += f->rank * (m.in + m.out);
        }
    return n;
}

double finetune_adapter(const struct finetune *f, const struct shape *s)
{
    return adapters(f, s, ~(unsigned)FINETUNE_HEAD);
}

double finetune_head_adapter(const struct finetune *f, const struct shape *s)
{
    return adapters(f, s, FINETUNE_HEAD);
}

double finetune_weight_b(enum finetune_weights w)
{
    static const double bytes[] = {
        [FINETUNE_BF16] = 2,
        [FINETUNE_NF4] = .5 + 4. / 64,
        [FINETUNE_NF4_DQ] = .5 + 1. / 64 + 4. / 64 / 256,
        [FINETUNE_INT4] = .5 + 2.5 / 128,
    };

    return bytes[w];
}

/* ---- words ---- */

static void add_modules(unsigned bits, struct str *out)
{
    const char *sep = "";

    if ((bits & FINETUNE_ALL) == FINETUNE_ALL) {
        str_add(out, "all matrices of the layers");
        bits &= ~(unsigned)FINETUNE_ALL;
        sep = " and ";
    }
    for (int i = 0; i < FINETUNE_MODULES; i++)
        if (bits >> i & 1) {
            str_addf(out, "%s%s", sep, modules[i]);
            sep = "+";
        }
}

void finetune_text(const struct finetune *f, struct str *out)
{
    static const char *const by[] = { "Transformers with PEFT", "Transformers with DeepSpeed",
                                      "LitGPT" };
    static const char *const step[] = { "AdamW", "AdamW in 8 bits", "paged AdamW in 8 bits",
                                        "SGD" };

    if (f->kind == FINETUNE_FULL) {
        str_add(out, "all weights are trained");
    } else {
        str_addf(out, "LoRA of rank %d on ", f->rank);
        add_modules(f->modules, out);
        if (f->weights != FINETUNE_BF16)
            str_addf(out, " beside weights of 4 bits (%s)", weights[f->weights]);
    }
    if (f->frozen)
        str_addf(out, ", but for the first %d layers", f->frozen);
    str_addf(out, ", %s", step[f->optimizer]);
    if (f->kind == FINETUNE_LORA)
        str_addf(out, ", as %s", by[f->program]);
}
