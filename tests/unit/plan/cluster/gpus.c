#include "plan/cluster/gpus.h"

#include <errno.h>
#include <math.h>

#include "gpus_csv.h"
#include "oom_arena.h"
#include "tap.h"

static int load(struct gpus *g, const char *text, struct err *e)
{
    return gpus_load(g, text, strlen(text), e);
}

static bool near(double got, double want)
{
    return fabs(got - want) <= 1e-9 * want;
}

/* The proper name of what is called so; "?" when nothing is. */
static const char *called(const struct gpus *g, const char *name)
{
    const struct gpu_row *row = NULL;

    return gpus_find(g, name, &row, NULL) == 0 ? row->gpu.name : "?";
}

static void test_row(void)
{
    CLEANUP(gpus_done) struct gpus g = { .n_rows = 0 };
    const struct gpu_row *r;
    struct err e = { "" };

    is_int(load(&g,
                "name,aliases,vendor,bf16_tflops,nvfp4_tflops,memory_gb,memory_gbs,link_gbs,"
                "link_gpus,pcie_gbs,tdp_w,sms,node,node_gpus,node_nics,node_nic_gbps,more\n"
                "X1,X-1 Xone,Maker,989.5,,80,3350,450,8,63,700,132,Box 1,8,4,400,?\n"
                "X2,,,,,,,,,,,,,,,,\n",
                &e),
           0, "gpus_load reads a table: %s", e.text);
    is_int((long long)g.n_rows, 2, "the table has its two rows");
    r = &g.rows[0];
    ok(near(r->gpu.flops[PLAN_BF16], 989.5e12) && isnan(r->gpu.flops[PLAN_NVFP4]),
       "a GPU has its speed, and a blank speed is absent");
    ok(near(r->gpu.memory_b, 80e9) && near(r->gpu.memory_rate, 3350e9),
       "a GPU has the size and rate of its memory");
    ok(near(r->gpu.link_rate, 450e9) && r->gpu.domain == 8 && near(r->pcie_rate, 63e9),
       "a GPU has the rates of links and PCIe and its domain");
    ok(r->gpu.sms == 132 && near(r->gpu.tdp_w, 700) && !strcmp(r->vendor, "Maker"),
       "a GPU has its SMs, power and vendor");
    ok(!strcmp(r->node, "Box 1") && r->node_gpus == 8 && r->node_nics == 4,
       "a GPU has its vendor's node");
    ok(near(r->node_nic_rate, 50e9), "Gbit/s of a port become bytes a second");
    ok(isnan(r->gpu.gemm_best[PLAN_BF16]) && isnan(r->gpu.launch_s),
       "nothing is fitted in a table of GPUs");
    r = &g.rows[1];
    ok(isnan(r->gpu.flops[PLAN_BF16]) && isnan(r->gpu.memory_b) && isnan(r->pcie_rate),
       "blank figures of a GPU are absent");
    ok(r->gpu.domain == 1 && r->gpu.sms == 0 && !r->node,
       "a GPU with blank counts is alone in its domain");
    is_str(called(&g, "x_one"), "X1", "a GPU is found without case, '-' and '_'");
}

static void test_fit(void)
{
    static const char fitted[] =
        "name,gemm_best_bf16,gemm_k0_bf16,gemm_t0_us,memory_best,attention_best,launch_us\n"
        "x-1,0.85,128,2,0.9,0.5,\n";
    CLEANUP(gpus_done) struct gpus g = { .n_rows = 0 };
    struct gpu *x = NULL;
    struct err e = { "" };

    is_int(load(&g, "name\nX1\nX2\n", &e), 0, "gpus_load reads two GPUs to be fitted");
    is_int(gpus_fit(&g, "f.csv", fitted, strlen(fitted), &e), 0,
           "gpus_fit reads what was fitted: %s", e.text);
    x = &g.rows[0].gpu;
    ok(near(x->gemm_best[PLAN_BF16], 0.85) && isnan(x->gemm_best[PLAN_FP8]),
       "gpus_fit sets the best share of a precision");
    ok(near(x->gemm_k0[PLAN_BF16], 128) && near(x->gemm_t0_s, 2e-6),
       "gpus_fit sets k0 and t0 of products");
    ok(near(x->memory_best, 0.9) && near(x->attention_best, 0.5) && isnan(x->launch_s),
       "gpus_fit sets the best of memory and attention, not a blank");
    ok(isnan(g.rows[1].gpu.memory_best), "gpus_fit leaves another GPU alone");
    is_int(gpus_fit(&g, "f.csv", "name\nX3\n", 8, &e), -EINVAL, "gpus_fit refuses an unknown GPU");
    is_str(e.text, "f.csv:2: unknown GPU 'X3'", "the error names the line and the unknown GPU");
    is_int(gpus_fit(&g, "f.csv", "name,launch_us\nX1,-1\n", 21, &e), -EINVAL,
           "gpus_fit refuses a figure below 0");
    is_str(e.text, "f.csv:2: '-1' is no launch_us",
           "the error names the line, the figure and its column");
}

/* Where rates are from: what a table says, runs where it says nothing, and which they are. */
static void test_rates(void)
{
    static const char fitted[] =
        "name,gemm_best_bf16,rates,rows\n"
        "X1,0.8,kernels,a bf16 600\nX2,0.8,operations,\nX3,0.8,,3 of mine\n";
    static const char wrong[] = "name,rates\nX1,guesses\n";
    CLEANUP(gpus_done) struct gpus g = { .n_rows = 0 };
    struct err e = { "" };

    is_int(load(&g, "name\nX1\nX2\nX3\nX4\n", &e), 0, "gpus_load reads four GPUs");
    is_int(gpus_fit(&g, "f.csv", fitted, strlen(fitted), &e), 0, "gpus_fit reads rates: %s",
           e.text);
    is_int(g.rows[0].gpu.rates, RATES_KERNELS, "rates of the first GPU are of published kernels");
    is_str(g.rows[0].fitted, "a bf16 600", "the first GPU has the rows that its rates are from");
    is_int(g.rows[1].gpu.rates, RATES_OPERATIONS, "rates of the second are of timed operations");
    is_int(g.rows[2].gpu.rates, RATES_RUNS, "rates that a table says nothing of are of runs");
    is_int(g.rows[3].gpu.rates, RATES_LIKE, "a GPU that is in no table has those of its like");
    is_str(g.rows[3].fitted, "", "a GPU that is in no table has no rows");
    is_int(gpus_fit(&g, "f.csv", wrong, strlen(wrong), &e), -EINVAL, "gpus_fit refuses a word");
    is_str(e.text, "f.csv:2: rates are from runs, operations or kernels, not 'guesses'",
           "the error names the line, the words there are and the one that is none");
}

static void test_refused(void)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        { "name,sms\nX1,many\n", "gpus.csv:2: 'many' is no sms" },
        { "name,sms\nX1,3000000000\n", "gpus.csv:2: '3000000000' is no sms" },
        { "name,memory_gb\nX1,1e308\n", "gpus.csv:2: '1e308' is no memory_gb" },
        { "name\nX1\n\nx-1\n", "gpus.csv:4: x-1 has a name that another GPU has" },
        { "name,aliases\nX1,\nX2,Y X_1\n", "gpus.csv:3: X2 has a name that another GPU has" },
        { "vendor\nMaker\n",
          "gpus.csv:2: a GPU needs a name, of 47 letters at most, without blanks" },
        { "name,node\nX1,Box\n",
          "gpus.csv:2: a node needs node_gpus, node_nics and node_nic_gbps" },
        { "name\n\"X1\n", "gpus.csv:2: the row cannot be read" },
        { "\"name\n", "gpus.csv:1: the row cannot be read" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(gpus_done) struct gpus g = { .n_rows = 0 };
        struct err e = { "" };

        is_int(load(&g, cases[i].text, &e), -EINVAL, "gpus_load refuses: %s", cases[i].said);
        is_str(e.text, cases[i].said, "gpus_load says: %s", cases[i].said);
    }
}

static void test_table(void)
{
    static const struct {
        const char *name, *proper;
    } names[] = {
        { "H100", "H100-SXM5-80GB" },
        { "H100-SXM", "H100-SXM5-80GB" },
        { "h100_80gb", "H100-SXM5-80GB" },
        { "NVIDIA H100 80GB HBM3", "H100-SXM5-80GB" },
        { "A100", "A100-SXM4-80GB" },
        { "A100-SXM-80GB", "A100-SXM4-80GB" },
        { "a100_40gb", "A100-SXM4-40GB" },
        { "NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB" },
        { "b200", "B200-SXM" },
        { "GB200", "GB200-NVL72" },
        { "V100", "V100-SXM2-32GB" },
        { "MI300X", "MI300X" },
        { "H10", "?" },
        { "", "?" },
    };
    static const struct {
        const char *name, *said;
    } misses[] = {
        { "H10", "unknown GPU 'H10' (did you mean H100?)" },
        { "K80", "unknown GPU 'K80' (brim plan gpus lists them)" },
        { "MI999-Something", "unknown GPU 'MI999-Something' (there is MI250X-GCD, MI250-GCD, "
                             "MI300A, MI300X, MI325X)" },
    };
    CLEANUP(gpus_done) struct gpus g = { .n_rows = 0 };
    const struct gpu_row *row = NULL;
    struct err e = { "" };

    is_int(gpus_load(&g, data_gpus_csv, data_gpus_csv_len, &e), 0, "gpus_load reads gpus.csv: %s",
           e.text);
    ok(g.n_rows > 30, "gpus.csv has more than 30 rows: %zu", g.n_rows);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        is_str(called(&g, names[i].name), names[i].proper, "gpus_find knows what '%s' is",
               names[i].name);
    for (size_t i = 0; i < ARRAY_SIZE(misses); i++) {
        is_int(gpus_find(&g, misses[i].name, &row, &e), -EINVAL, "gpus_find refuses %s",
               misses[i].name);
        is_str(e.text, misses[i].said, "gpus_find says: %s", misses[i].said);
    }
    is_str(plan_precision_name(PLAN_MXFP8), "mxfp8", "the name of PLAN_MXFP8 is 'mxfp8'");
}

static void test_oom(void)
{
    static const char text[] = "name,aliases,vendor,node,node_gpus,node_nics,node_nic_gbps,sms\n"
                               "X1,A B,Maker,Box,8,8,400,1\nX2,C D E F G H I J,,,,,,\n";
    bool failed;

    oom_restart();
    do {
        struct gpus g = { .n_rows = 0 };
        struct err e = { "" };
        int rc;

        oom_next();
        rc = load(&g, text, &e);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM && e.text[0] : rc == 0,
           "gpus_load with allocation %d failing returns %d", oom_at, rc);
        gpus_done(&g);
    } while (failed);
}

int main(void)
{
    test_row();
    test_fit();
    test_rates();
    test_refused();
    test_table();
    test_oom();
    return done();
}
