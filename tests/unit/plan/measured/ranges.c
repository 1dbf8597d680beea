/* What rows of measurements do not say: defaults of their time, or a range. */
#include <math.h>
#include <string.h>

#include "gpus_csv.h"
#include "models_csv.h"
#include "plan/measured/rows.h"
#include "plan/measured/rows_date.h"
#include "plan/model/step.h"
#include "tap.h"

#define HEAD \
    "model,seq,gpu,n_gpus,tp,pp,dp,micro_batch,global_batch,recompute,seq_parallel,zero_stage," \
    "precision,iter_time_s,network,source,notes\n"

struct tables {
    struct gpus gpus;
    struct models models;
};

static int load(struct tables *t)
{
    int rc = gpus_load(&t->gpus, (const char *)data_gpus_csv, data_gpus_csv_len, NULL);

    return rc < 0
               ? rc
               : models_load(&t->models, (const char *)data_models_csv, data_models_csv_len, NULL);
}

/* The only row of a table with that head and text; false when it is left out. */
static bool read_with(const struct tables *t, const char *head, const char *row,
                      struct plan_row *ret)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const struct row_tables tables = { &t->gpus, &t->models, 0 };
    struct plan_rows got = { .arena = &a };
    char text[600];

    snprintf(text, sizeof(text), "%s%s\n", head, row);
    if (rows_read(text, strlen(text), &tables, &got, NULL) != 0 || got.n != 1)
        return false;
    *ret = got.list[0];
    if (ret->reason[0])
        printf("# %s\n", ret->reason);
    return !ret->reason[0];
}

static bool read_row(const struct tables *t, const char *row, struct plan_row *ret)
{
    return read_with(t, HEAD, row, ret);
}

static bool read_gpt(const struct tables *t, const char *row, struct plan_row *ret)
{
    return read_with(t,
                     "model,layers,hidden,heads,seq,gpu,n_gpus,tp,pp,vpp,dp,micro_batch,"
                     "global_batch,recompute,seq_parallel,zero_stage,precision,iter_time_s,"
                     "network,source,notes\n",
                     row, ret);
}

static double time_of(const struct plan_row *r, const struct layout *l)
{
    struct plan_tables tables;
    struct plan_step step;

    plan_tables_make(&r->job, &r->cluster, l, &tables);
    plan_step_make(&r->job, &r->cluster, l, &tables, &step);
    return step.time_s;
}

static bool has_range(const struct plan_row *r)
{
    return time_of(r, &r->slowest) > time_of(r, &r->fastest);
}

static void test_settings(const struct tables *t)
{
    struct plan_row r;

    ok(read_row(t, "Llama-3.1-8B,4096,H100,16,2,1,8,1,256,none,,,bf16,20,,,", &r) && has_range(&r),
       "a row of Hopper without sequence parallelism and ZeRO has a range");
    ok(r.layout.seq_parallel && r.layout.zero == 1 && r.fastest.seq_parallel &&
           !r.slowest.seq_parallel,
       "the likely layout of such a row has both, and the slowest lacks sequence parallelism");
    ok(read_row(t, "Llama-3.1-8B,4096,H100,16,2,1,8,1,256,none,1,1,bf16,20,,,", &r) &&
           !has_range(&r),
       "a row that states its settings has no range");
    ok(read_row(t, "Llama-3.1-8B,4096,H100,16,2,1,8,1,256,none,,,bf16,20,,,DeepSpeed", &r) &&
           r.layout.zero == 0 && !r.layout.seq_parallel && !has_range(&r),
       "a row of DeepSpeed has that program's own defaults");
    ok(read_row(t,
                "Llama-3.1-8B,4096,H100,16,2,1,8,1,256,none,,,bf16,20,,,\"overlap grad-reduce + "
                "param-gather + TP comm overlap on\"",
                &r) &&
           r.layout.seq_parallel && r.layout.zero == 1 && !has_range(&r),
       "overlaps that need ZeRO-1 and sequence parallelism state both");
}

static void test_time(const struct tables *t)
{
    struct plan_row r;

    ok(read_row(t, "Llama-3.1-8B,1024,A100,16,2,1,8,1,256,none,,,bf16,20,,,", &r) &&
           !r.layout.seq_parallel && !r.fastest.seq_parallel && !r.slowest.seq_parallel,
       "a row of A100 without a date has no sequence parallelism");
    ok(read_row(t, "Llama-3.1-8B,1024,A100,16,2,1,8,1,256,none,,,bf16,20,,arXiv 2104.04473,", &r) &&
           !r.fastest.seq_parallel && !r.slowest.seq_parallel,
       "a row of 2021 has no sequence parallelism");
    ok(read_row(t, "Llama-3.1-8B,1024,A100,16,2,1,8,1,256,none,,,bf16,20,,arXiv 2305.01234,", &r) &&
           r.fastest.seq_parallel != r.slowest.seq_parallel,
       "a row of 2023 may have sequence parallelism or not");
}

/* Over 50 Gbit/s, gathers of weights decide: a micro-batch of 4 with all recomputed is faster than
 * one of 1 without. */
static void test_levels(const struct tables *t)
{
    struct plan_row none, full, blank;

    ok(read_row(t, "Llama-3.1-8B,8192,A100,16,1,1,16,,256,none,,3,bf16,20,50Gb/s,,", &none) &&
           read_row(t, "Llama-3.1-8B,8192,A100,16,1,1,16,,256,full,,3,bf16,20,50Gb/s,,", &full) &&
           read_row(t, "Llama-3.1-8B,8192,A100,16,1,1,16,,256,,,3,bf16,20,50Gb/s,,", &blank),
       "rows without a micro-batch are modelled");
    ok(full.layout.micro_batch > none.layout.micro_batch &&
           time_of(&full, &full.layout) < time_of(&none, &none.layout),
       "recompute makes room for a micro-batch that is faster");
    ok(blank.layout.recompute == RECOMPUTE_FULL &&
           blank.layout.micro_batch == full.layout.micro_batch,
       "the fastest that fits is one with recompute, though one without fits");
    ok(blank.fastest.recompute == RECOMPUTE_FULL && blank.slowest.recompute == RECOMPUTE_NONE,
       "the range ends with the layout that does not recompute");
    is_str(blank.understood[ROW_RECOMPUTE], "full: not stated, could be none to full",
           "what is understood of recompute names the range");
}

/* All is stated but recompute, and the layout does not fit without. */
static void test_what_fits(const struct tables *t)
{
    struct plan_row r;

    ok(read_row(t, "Llama-3.1-70B,8192,H100,64,8,1,8,4,256,,1,1,bf16,20,,,", &r) &&
           r.layout.recompute == RECOMPUTE_FULL,
       "a layout that fits with recompute alone is one with recompute");
    ok(read_row(t, "Llama-3.1-70B,8192,H100,64,8,1,8,4,256,none,1,1,bf16,20,,,", &r) &&
           r.layout.recompute == RECOMPUTE_NONE,
       "a layout that is stated not to recompute does not");
    ok(read_row(t,
                "Llama-3.1-70B,8192,H100,64,8,1,8,4,256,,1,1,bf16,20,,,activation offloading "
                "required",
                &r) &&
           r.layout.recompute == RECOMPUTE_NONE,
       "what is in the host's memory need not be recomputed");
    ok(read_row(t, "Llama-3.1-70B,8192,H100,64,8,1,8,4,256,,1,1,bf16,,,,OOM", &r) &&
           r.layout.recompute == RECOMPUTE_NONE,
       "a row that ran out of memory is taken as it is stated");
    ok(read_row(t, "Llama-3.1-70B,8192,H100,32,8,4,1,4,256,none,1,1,bf16,,,,OOM", &r) &&
           r.layout.vpp == 1,
       "a pipeline that ran out of memory is modelled though its chunks are not stated");
}

/* 175B with tp 8 and pp 8 on A100-80GB, of 2024: without ZeRO-1 it does not fit. */
#define GPT_175B(head, tail) \
    head ",96,12288,96,2048,A100,1024,8,8,6,16,1,768,,,,bf16,12,,arXiv 2402.15627," tail

static void test_nearest(const struct tables *t)
{
    struct plan_row r;

    ok(read_gpt(t, GPT_175B("GPT-175B", "Megatron-LM"), &r) && r.layout.zero == 1 &&
           !r.layout.seq_parallel && r.layout.recompute == RECOMPUTE_NONE,
       "a row that does not fit by default has ZeRO-1, and no other setting changes");
    ok(r.fastest.seq_parallel && !r.slowest.seq_parallel,
       "the range of such a row has sequence parallelism at its fast end");
    ok(read_gpt(t, GPT_175B("GPT-175B", "MegaScale"), &r) && r.layout.seq_parallel,
       "MegaScale has sequence parallelism");
    is_str(r.understood[ROW_SEQ_PARALLEL], "yes: its paper's overlap is built on it",
           "what is understood names why MegaScale has sequence parallelism");
}

static void test_months(void)
{
    is_int(row_month("2024-07"), ROW_MONTH(2024, 7), "2024-07 is a month");
    is_int(row_month("r0.8.0, 2024-07-12"), ROW_MONTH(2024, 7), "a day lies in its month");
    is_int(row_month("(arXiv 2205.05198) Table 5"), ROW_MONTH(2022, 5), "an arXiv number has one");
    is_int(row_month("arXiv 1404.5997"), ROW_MONTH(2014, 4), "older arXiv numbers have one");
    is_int(row_month("arXiv 1404.00000"), ROW_MONTH(2014, 4), "an arXiv number may be 0");
    is_int(row_month("2024/07"), ROW_MONTH_UNKNOWN, "a month stands behind a hyphen");
    is_int(row_month("arXiv 1404.599"), ROW_MONTH_UNKNOWN, "three digits are no arXiv number");
    is_int(row_month("arXiv 2205.051980"), ROW_MONTH_UNKNOWN, "six digits are no arXiv number");
    is_int(row_month("arXiv 2205-05198"), ROW_MONTH_UNKNOWN, "an arXiv number has a dot");
    is_int(row_month("arXiv 205.05198"), ROW_MONTH_UNKNOWN, "an arXiv number begins with four");
    is_int(row_month("arXiv:0905.0519"), ROW_MONTH_UNKNOWN, "no row is of 2009");
    is_int(row_month("2024-13"), ROW_MONTH_UNKNOWN, "a year has twelve months");
    is_int(row_month("2024-12"), ROW_MONTH(2024, 12), "December is a month");
    is_int(row_month("2024-01"), ROW_MONTH(2024, 1), "January is a month");
    is_int(row_month("2024-00"), ROW_MONTH_UNKNOWN, "a month has a number from 1 on");
    is_int(row_month("2012-01"), ROW_MONTH(2012, 1), "a row may be of 2012");
    is_int(row_month("2011-12"), ROW_MONTH_UNKNOWN, "no row is of 2011");
    is_int(row_month("2099-12"), ROW_MONTH(2099, 12), "a row may be of 2099");
    is_int(row_month("2100-01"), ROW_MONTH_UNKNOWN, "no row is of 2100");
    is_int(row_month("12024-07 and 512-1024"), ROW_MONTH_UNKNOWN, "other numbers are no month");
    is_int(row_month(""), ROW_MONTH_UNKNOWN, "nothing is no month");
    is_int(row_month("NVIDIA/NeMo docs (24.03.01)"), ROW_MONTH(2024, 3), "NeMo 24.03 has a month");
    is_int(row_month("NeMo 25.12"), ROW_MONTH(2025, 12), "NeMo 25.12 is of December 2025");
    is_int(row_month("NeMo @22.01"), ROW_MONTH(2022, 1), "NeMo 22.01 is of January 2022");
    is_int(row_month("NeMo 21.12, 25.13, 25.1, 125.10 and 2"), ROW_MONTH_UNKNOWN,
           "other numbers beside NeMo are no month");
    is_int(row_month("Megatron 24.03"), ROW_MONTH_UNKNOWN, "versions of others are no month");
}

int main(void)
{
    struct tables t = { .gpus = { .n_rows = 0 } };

    is_int(load(&t), 0, "the tables of GPUs and models are read");
    test_settings(&t);
    test_time(&t);
    test_levels(&t);
    test_what_fits(&t);
    test_nearest(&t);
    test_months();
    models_done(&t.models);
    gpus_done(&t.gpus);
    return done();
}
