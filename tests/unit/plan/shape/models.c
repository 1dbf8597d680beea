#include "plan/shape/models.h"

#include <errno.h>
#include <math.h>

#include "models_csv.h"
#include "oom_arena.h"
#include "tap.h"

static int load(struct models *m, const char *text, struct err *e)
{
    return models_load(m, text, strlen(text), e);
}

static const char *called(const struct models *m, const char *name)
{
    const struct model_row *row = NULL;

    return models_find(m, name, &row, NULL) == 0 ? row->shape.name : "?";
}

#define HEADER \
    "name,aliases,layers,hidden,heads,kv_heads,head_dim,ffn,vocab,traits,kv_rank," \
    "nope_dim,v_dim,parameters\n"

static void test_row(void)
{
    CLEANUP(models_done) struct models m = { .n_rows = 0 };
    const struct shape *s;
    struct err e = { "" };

    is_int(load(&m,
                HEADER "A-1B,a1 Mini,2,64,4,,,256,100,gated  tied,,,,1234\n"
                       "B,,2,64,4,2,32,256,100,,8,16,16,\n",
                &e),
           0, "models_load reads a table: %s", e.text);
    s = &m.rows[0].shape;
    ok(s->layers == 2 && s->hidden == 64 && s->ffn == 256 && s->vocab == 100,
       "a model has its layers, hidden size, ffn and vocabulary");
    ok(s->kv_heads == 4 && s->head_dim == 16 && s->gated && s->tied && !s->biases,
       "a model has its heads and traits");
    ok(s->attention == SHAPE_HEADS && m.rows[0].parameters > 1233.9,
       "a model has its attention and published parameters");
    s = &m.rows[1].shape;
    ok(s->kv_heads == 2 && s->head_dim == 32 && s->attention == SHAPE_LATENT,
       "a model with a kv_rank has latent attention");
    ok(isnan(m.rows[1].parameters), "a blank number of parameters is absent");
    is_str(called(&m, "org/a_1b"), "A-1B", "a model is found with an owner and '_'");
    is_str(called(&m, "mini"), "A-1B", "a model is found by another name");
}

static void test_refused(void)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        { HEADER "A,,2,64,4,,,256,100,round\n", "models.csv:2: unknown trait 'round'" },
        { HEADER "A,,2,64,4,3,,256,100\n",
          "models.csv:2: A: 4 heads do not divide by 3 key-value heads" },
        { HEADER "A,,2,65,4,,,256,100\n",
          "models.csv:2: A: head_dim is 0: it must be 1 to 100000" },
        { HEADER "A,,2,64,4,,,256,100\na\n", "models.csv:3: a has a name that another model has" },
        { HEADER "A,,two\n", "models.csv:2: 'two' is no layers" },
        { HEADER "a/b,,2\n", "models.csv:2: a model needs a name, of 95 letters at most, without "
                             "blanks and '/'" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(models_done) struct models m = { .n_rows = 0 };
        struct err e = { "" };

        is_int(load(&m, cases[i].text, &e), -EINVAL, "models_load refuses: %s", cases[i].said);
        is_str(e.text, cases[i].said, "models_load says: %s", cases[i].said);
    }
}

/* Parameters as many as others counted, to the last one. */
static void test_counts(const struct models *m)
{
    size_t counted = 0;

    for (size_t i = 0; i < m->n_rows; i++) {
        const struct model_row *r = &m->rows[i];

        if (isnan(r->parameters))
            continue;
        counted++;
        is_int((long long)shape_count(&r->shape).total, (long long)r->parameters,
               "shape_count has the published parameters of %s", r->shape.name);
    }
    ok(counted > 70, "more than 70 models are compared: %zu", counted);
}

/* Sizes that papers and names state in billions. */
static void test_rounded(const struct models *m)
{
    static const struct {
        const char *name;
        double total, active;
    } stated[] = {
        { "GPT-1.7B", 1.7, 1.7 },
        { "GPT-3.6B", 3.6, 3.6 },
        { "GPT-7.5B", 7.5, 7.5 },
        { "GPT-18.4B", 18.4, 18.4 },
        { "GPT-22B", 22, 22 },
        { "GPT-39.1B", 39.1, 39.1 },
        { "GPT-76.1B", 76.1, 76.1 },
        { "GPT-145.6B", 145.6, 145.6 },
        { "GPT-3", 175, 175 },
        { "GPT-310.1B", 310.1, 310.1 },
        { "GPT-530B", 529.6, 529.6 },
        { "GPT-1T", 1008, 1008 },
        { "Nemotron-4-15B", 15.7, 15.7 },
        { "Nemotron-4-340B", 341, 341 },
        { "Falcon-180B", 180, 180 },
        { "OPT-175B", 175, 175 },
        { "Grok-1", 314, 86 },
        { "Llama-4-Maverick", 400, 17 },
        { "Llama-4-Scout", 108, 17 },
        { "DeepSeek-V3", 671, 37 },
        { "Mixtral-8x7B", 46.7, 12.9 },
        { "Kimi-K2", 1026, 32.6 },
        { "Qwen3-30B", 30.5, 3.3 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(stated); i++) {
        const struct model_row *r = NULL;
        struct shape_params p = { .total = 0 };

        if (models_find(m, stated[i].name, &r, NULL) == 0)
            p = shape_count(&r->shape);
        ok(fabs(p.total / 1e9 - stated[i].total) < 0.03 * stated[i].total,
           "%s has the stated size: %.1f B", stated[i].name, p.total / 1e9);
        ok(fabs(p.active / 1e9 - stated[i].active) < 0.03 * stated[i].active,
           "%s has the stated active size: %.1f B", stated[i].name, p.active / 1e9);
    }
}

static void test_table(void)
{
    static const struct {
        const char *name, *said;
    } misses[] = {
        { "Lama-3.1-8B", "unknown model 'Lama-3.1-8B' (did you mean Llama-3.1-8B?)" },
        { "meta-llama/Llama-3.1-9B", "unknown model 'meta-llama/Llama-3.1-9B' (did you mean "
                                     "Llama-3.1-8B?)" },
        { "x", "unknown model 'x' (brim plan models lists them)" },
    };
    CLEANUP(models_done) struct models m = { .n_rows = 0 };
    const struct model_row *r = NULL;
    struct err e = { "" };

    is_int(models_load(&m, data_models_csv, data_models_csv_len, &e), 0,
           "models_load reads models.csv: %s", e.text);
    ok(m.n_rows > 100, "models.csv has more than 100 rows: %zu", m.n_rows);
    test_counts(&m);
    test_rounded(&m);
    is_str(called(&m, "llama-3.1-8b"), "Llama-3.1-8B", "a model is found in small letters");
    is_str(called(&m, "meta-llama/Meta-Llama-3.1-405B"), "Llama-3.1-405B",
           "a model is found by its repository");
    is_str(called(&m, "deepseek-ai/DeepSeek-R1"), "DeepSeek-V3",
           "a name finds a model of the same shape");
    is_str(called(&m, "gpt2"), "GPT-2", "a model is found without its dash");
    for (size_t i = 0; i < ARRAY_SIZE(misses); i++) {
        is_int(models_find(&m, misses[i].name, &r, &e), -EINVAL, "models_find refuses %s",
               misses[i].name);
        is_str(e.text, misses[i].said, "models_find says: %s", misses[i].said);
    }
}

static void test_oom(void)
{
    bool failed;

    oom_restart();
    do {
        struct models m = { .n_rows = 0 };
        struct err e = { "" };
        int rc;

        oom_next();
        rc = load(&m, HEADER "A,b c,2,64,4,,,256,100,gated,,,,10\n", &e);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM && e.text[0] : rc == 0,
           "models_load with allocation %d failing returns %d", oom_at, rc);
        models_done(&m);
    } while (failed);
}

int main(void)
{
    test_row();
    test_refused();
    test_table();
    test_oom();
    return done();
}
