#include <errno.h>
#include <math.h>
#include <string.h>

#include "gpus_csv.h"
#include "models_csv.h"
#include "oom_arena.h"
#include "plan/rows.h"
#include "plan/score.h"
#include "tap.h"

#define HEAD \
    "model,layers,hidden,heads,seq,gpu,n_gpus,tp,pp,dp,micro_batch,global_batch,recompute,zero_" \
    "stage,precision,iter_time_s,mem_gb,notes\n"
#define GPT "GPT,24,1024,16,1024,A100,8,2,2,2,1,16,full,,fp16,0.5,,\n"

struct tables {
    struct gpus gpus;
    struct models models;
};

static int load(struct tables *t, struct err *e)
{
    int rc = gpus_load(&t->gpus, (const char *)data_gpus_csv, data_gpus_csv_len, e);

    return rc < 0 ? rc
                  : models_load(&t->models, (const char *)data_models_csv, data_models_csv_len, e);
}

static int read_rows(const struct tables *t, const char *text, struct arena *a,
                     struct plan_row **rows, size_t *n, struct err *e)
{
    const struct row_tables tables = { &t->gpus, &t->models, 0 };
    struct plan_rows got = { .arena = a };
    int rc = rows_read(text, strlen(text), &tables, &got, e);

    *rows = got.list;
    *n = got.n;
    return rc;
}

static void test_row(const struct tables *t)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct plan_row *r = NULL;
    size_t n = 0;

    is_int(read_rows(t, HEAD GPT, &a, &r, &n, NULL), 0, "a table");
    is_int((long long)n, 1, "of one row");
    is_str(r[0].reason, "", "that can be modelled");
    is_int(r[0].layout.dp, 2, "dp follows from the GPUs");
    is_int(r[0].job.shape.ffn, 4096, "ffn: 4 hidden");
    is_int(r[0].job.shape.vocab, 50432, "GPT-2's vocabulary, padded for tp 2");
    ok(r[0].job.attention == ATTENTION_PLAIN && r[0].job.shape.dropout, "as stacks of 2021 did");
    ok(r[0].time_s == .5 && isnan(r[0].memory_b), "a time, no memory");
}

static void reason(const struct tables *t, const char *text, const char *want)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct plan_row *r = NULL;
    size_t n = 0;

    is_int(read_rows(t, text, &a, &r, &n, NULL), 0, "read: %s", want);
    is_str(n == 1 ? r[0].reason : "", want, "the reason");
}

static void test_reasons(const struct tables *t)
{
    reason(t, HEAD "GPT,24,1024,16,1024,A1000,8,2,2,2,1,16,full,,fp16,0.5,,\n",
           "unknown GPU 'A1000' (did you mean A100?)");
    reason(t, HEAD "GPT,24,1024,16,1024,A100,8,2,2,2,1,,full,,fp16,0.5,,\n",
           "the global batch is not stated");
    reason(t, HEAD "Nobody-7B,,,,1024,A100,8,2,2,2,1,16,full,,fp16,0.5,,\n",
           "the shape of Nobody-7B is not stated");
    reason(t, HEAD "GPT,24,1024,16,1024,A100,8,2,2,2,3,16,full,,fp16,0.5,,\n",
           "batch 16 does not divide by dp 2 x micro-batch 3");
    reason(t, HEAD "GPT,24,1024,16,1024,A100,8,2,2,2,1,16,full,,fp16,,,\n",
           "neither time nor memory was measured");
    reason(t, HEAD "GPT,24,1024,16,1024,A100,8,1,1,8,1,16,selective,3,bf16,1,,\n",
           "which layers FSDP recomputes is not stated");
    reason(t, HEAD "GPT,24,1024,16,1024,A100,8,2,2,2,1,16,full,,fp64,0.5,,\n",
           "precision 'fp64' is not known");
}

static void test_network(const struct tables *t)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct plan_row *r = NULL;
    size_t n = 0;

    is_int(read_rows(t,
                     HEAD "GPT,24,1024,16,1024,H100,16,2,2,4,1,16,full,,bf16,0.5,,\"A100 400Gb/s, "
                          "H100 800Gb/s per node\"\n",
                     &a, &r, &n, NULL),
           0, "a row that states its network");
    ok(fabs(r[0].cluster.nics * r[0].cluster.nic_rate - 100e9) < 1, "800 Gbit/s, its own");
}

static void test_table_errors(const struct tables *t)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct plan_row *r = NULL;
    struct err e = { .text = "" };
    size_t n = 0;

    is_int(read_rows(t, "a,b\n1,2\n", &a, &r, &n, &e), -EINVAL, "another table");
    is_str(e.text, "the first line must name the columns gpu, n_gpus and global_batch",
           "the sentence");
    is_int(read_rows(t, HEAD "\"GPT,24\n", &a, &r, &n, &e), -EINVAL, "a quote that is not closed");
    is_str(e.text, "line 2: no row of a table", "the line");
    is_int(read_rows(t, "", &a, &r, &n, &e), -EINVAL, "nothing");
}

static void test_score(void)
{
    struct score_pair p[] = { { 1, 10, 11 }, { 1, 20, 10 }, { 1, 40, 44 }, { 2, 5, 5 } };
    struct score s = score_make(p, 4);

    ok(fabs(s.mean - (.1 + .5 + .1 + 0) / 4) < 1e-12, "mean of absolute errors");
    ok(fabs(s.median - .1) < 1e-12 && fabs(s.max - .5) < 1e-12, "median and largest");
    ok(fabs(s.bias - (.1 - .5 + .1) / 4) < 1e-12, "bias");
    is_int((long long)s.sweeps, 1, "a sweep has two rows or more");
    ok(fabs(s.regret - 1) < 1e-12, "the one of 20 was chosen, 10 was the best");
    ok(fabs(s.tau - 1 / 3.) < 1e-12, "two of three pairs in order");
    ok(isnan(score_make(p, 0).mean), "nothing to say of nothing");
}

static void test_oom(const struct tables *t)
{
    bool failed;

    oom_restart();
    do {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        struct plan_row *r = NULL;
        size_t n = 0;
        int rc;

        oom_next();
        rc = read_rows(t, HEAD GPT, &a, &r, &n, NULL);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM && !r : rc == 0, "allocation %d", oom_at);
    } while (failed);
}

int main(void)
{
    struct tables t = { .gpus = { .n_rows = 0 } };

    is_int(load(&t, NULL), 0, "the tables");
    test_row(&t);
    test_reasons(&t);
    test_network(&t);
    test_table_errors(&t);
    test_score();
    test_oom(&t);
    models_done(&t.models);
    gpus_done(&t.gpus);
    return done();
}
