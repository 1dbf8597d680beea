#include <errno.h>
#include <math.h>
#include <string.h>

#include "gpus_csv.h"
#include "models_csv.h"
#include "oom_arena.h"
#include "plan/measured/prediction_error.h"
#include "plan/measured/rows.h"
#include "plan/measured/rows_words.h"
#include "plan/model/step.h"
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

/* The only row of a table; false when it is left out. */
static bool one_row(const struct tables *t, const char *text, struct arena *a, struct plan_row *ret)
{
    struct plan_row *r = NULL;
    size_t n = 0;

    if (read_rows(t, text, a, &r, &n, NULL) < 0 || n != 1)
        return false;
    *ret = r[0];
    if (r[0].reason[0])
        printf("# %s\n", r[0].reason);
    return !r[0].reason[0];
}

static void test_row(const struct tables *t)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct plan_row *r = NULL;
    size_t n = 0;

    is_int(read_rows(t, HEAD GPT, &a, &r, &n, NULL), 0, "rows_read reads a table of one row");
    is_int((long long)n, 1, "the table has one row");
    is_str(r[0].reason, "", "the row can be modelled");
    is_int(r[0].layout.dp, 2, "a row's dp follows from its GPUs");
    is_int(r[0].job.shape.ffn, 4096, "a row's ffn is four times its hidden size");
    is_int(r[0].job.shape.vocab, 50432, "a row's vocabulary is GPT-2's, padded for tp 2");
    ok(r[0].job.attention == ATTENTION_PLAIN && r[0].job.shape.dropout,
       "a row of 2021 has plain attention and dropout");
    ok(r[0].time_s == .5 && isnan(r[0].memory_b),
       "a row has its time, and its blank memory is absent");
}

/* Who trained, from words beside the row. */
static void test_engines(const struct tables *t)
{
    static const struct {
        const char *zero, *notes;
        enum plan_engine engine;
        int stage;
        bool overlap;
    } rows[] = {
        { "", "Megatron-LM", ENGINE_MEGATRON, 0, false },
        { "", "Megatron-DeepSpeed", ENGINE_DEEPSPEED, 0, false },
        { "", "ZeRO-1 via DeepSpeed", ENGINE_DEEPSPEED, 1, false },
        { "3", "ZeRO-3", ENGINE_DEEPSPEED, 3, true },
        { "3", "FSDP2", ENGINE_TORCH, 3, true },
        { "fsdp", "", ENGINE_TORCH, 3, true },
        { "3", "Megatron's FSDP", ENGINE_MEGATRON, 3, true },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        struct plan_row *r = NULL;
        char text[512];
        size_t n = 0;

        snprintf(text, sizeof(text),
                 HEAD "GPT,24,1024,16,1024,A100,8,1,1,8,1,16,full,%s,fp16,.5,,%s\n", rows[i].zero,
                 rows[i].notes);
        ok(read_rows(t, text, &a, &r, &n, NULL) == 0 && n == 1 && !r[0].reason[0] &&
               r[0].job.engine == rows[i].engine && r[0].layout.zero == rows[i].stage &&
               r[0].layout.overlap_dp == rows[i].overlap,
           "a row with zero '%s' and notes '%s' has its engine and stage", rows[i].zero,
           rows[i].notes);
    }
}

/* Notes that deny overlap: a stack of today hides nothing then; of one kind, only that. */
static void test_no_overlap(const struct tables *t)
{
    static const struct {
        const char *notes;
        bool hides;
    } rows[] = {
        { "", true },
        { "overlap", true },
        { "no overlap", false },
        { "measured without overlap; 8 GPUs", false },
        { "no communication overlap", false },
        { "no overlapping", false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        struct plan_row r;
        char text[512];

        snprintf(text, sizeof(text),
                 HEAD "Llama-3-8B,,,,4096,B200,8,2,2,2,1,16,none,1,bf16,.5,,Megatron-LM; %s\n",
                 rows[i].notes);
        ok(one_row(t, text, &a, &r) && r.layout.overlap_dp == rows[i].hides &&
               r.layout.overlap_tp == rows[i].hides && r.layout.overlap_pp == rows[i].hides,
           "a row with '%s' hides %s", rows[i].notes, rows[i].hides ? "collectives" : "nothing");
        is_str(r.understood[ROW_ENGINE],
               rows[i].hides ? "Megatron-LM: 'Megatron LM' in notes"
                             : "Megatron-LM, which overlaps nothing: in notes",
               "the row with '%s' says what was understood of its engine", rows[i].notes);
    }
}

/* In what FSDP sums gradients: 16 bits alone, as most programs with it, 32 in a pipeline. */
static void test_gradients(const struct tables *t)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct plan_row r;

    ok(one_row(t, HEAD "GPT,24,1024,16,1024,A100,8,1,1,8,1,16,full,3,bf16,.5,,FSDP\n", &a, &r) &&
           r.job.gradient_b == 2,
       "FSDP without a pipeline sums gradients in 16 bits");
    ok(one_row(t, HEAD "GPT,24,1024,16,1024,A100,8,1,4,2,1,16,full,3,bf16,.5,,FSDP\n", &a, &r) &&
           r.job.gradient_b == 4,
       "FSDP in a pipeline sums gradients in 32 bits");
}

/* torch.compile: as stated, or what a program's own measurements are made with. */
static void test_compiled(const struct tables *t)
{
    static const struct {
        const char *zero, *notes;
        bool fused;
    } rows[] = {
        { "3", "FSDP", false },
        { "3", "FSDP with torch.compile", true },
        { "3", "fms-fsdp", true },
        { "3", "fms-fsdp 2024-10", true },
        { "3", "fms-fsdp compile=False", false },
        { "1", "Megatron-LM", true },
        { "1", "InternEvo", false },
        { "1", "MaxText", true },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        struct plan_row r;
        char text[512];

        snprintf(text, sizeof(text),
                 HEAD "Llama-2-7B,,,,4096,A100,8,1,1,8,1,16,full,%s,bf16,.5,,%s\n", rows[i].zero,
                 rows[i].notes);
        ok(one_row(t, text, &a, &r) && r.job.fused == rows[i].fused, "a row with '%s' is %sfused",
           rows[i].notes, rows[i].fused ? "" : "not ");
    }
}

#define SAID_HEAD \
    "model,layers,hidden,heads,seq,gpu,n_gpus,tp,pp,dp,micro_batch,global_batch,recompute,seq_" \
    "parallel,zero_stage,iter_time_s,network,engine,source,notes\n"

/* What is understood of a row, and why. */
static void test_understood(const struct tables *t)
{
    static const struct {
        const char *row; /* from recompute on */
        enum row_topic topic;
        const char *text;
    } rows[] = {
        { "full,,,1,,,,", ROW_ENGINE, "Megatron-LM: nothing says otherwise" },
        { "full,,,1,,DeepSpeed,,", ROW_ENGINE, "DeepSpeed: its column says DeepSpeed" },
        { "full,,,1,,,,twice as fast as DeepSpeed", ROW_ENGINE,
          "Megatron-LM: nothing says otherwise" },
        { "full,,,1,,,a blog about DeepSpeed,", ROW_ENGINE, "Megatron-LM: nothing says otherwise" },
        { "full,,,1,,,microsoft/DeepSpeed README.md,", ROW_ENGINE,
          "DeepSpeed: measured by microsoft/DeepSpeed" },
        { "full,,,1,,InternEvo,,", ROW_ENGINE, "InternEvo is modelled as Megatron-LM" },
        { "full,,,1,,Foo,,", ROW_ENGINE, "'Foo' is not known; taken: Megatron-LM" },
        { "full,,,1,,,pytorch/torchtitan,", ROW_ZERO, "3: not stated, as of its time" },
        { "full,,FULL_SHARD,1,,,,", ROW_ZERO, "3: stated" },
        { "full,,,1,,,,distributed optimizer", ROW_ZERO, "1: in notes" },
        { "full,,partly,1,,,,", ROW_ZERO, "'partly' is not understood; taken: 0" },
        { "full,yes,,1,,,,", ROW_SEQ_PARALLEL, "yes: stated" },
        { "full,maybe,,1,,,,", ROW_SEQ_PARALLEL, "'maybe' is not understood; taken: no" },
        { "full,,,1,,,,", ROW_SEQ_PARALLEL, "no: not stated, as of its time" },
        { "full,,,1,,,,", ROW_RECOMPUTE, "full: stated" },
        { "every third,,,1,,,,", ROW_RECOMPUTE,
          "'every third' is not understood; as if not stated" },
        { "full,,,1,4x100Gb,,,", ROW_NETWORK, "400 Gbit/s a node: '4x100Gb' in its column" },
        { "full,,,1,,,over 800Gb/s a node,", ROW_NETWORK,
          "800 Gbit/s a node: '800Gb/s a node' in source" },
        { "full,,,1,,,,RoCE", ROW_NETWORK,
          "'RoCE' is not understood; taken: 8 ports of 200 Gbit/s a node, as in DGX A100" },
        { "full,,,1,tin cans,,,", ROW_NETWORK,
          "'tin cans' is not understood; taken: 8 ports of 200 Gbit/s a node, as in DGX A100" },
        { "full,,,1,,,,", ROW_NETWORK, "8 ports of 200 Gbit/s a node, as in DGX A100: not stated" },
        { "full,,,1,,,,", ROW_SPLIT, "stated" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        struct plan_row r = { .line = 0 };
        char text[600];

        snprintf(text, sizeof(text), SAID_HEAD "GPT,24,1024,16,1024,A100,16,2,1,8,1,16,%s\n",
                 rows[i].row);
        ok(one_row(t, text, &a, &r), "a row is modelled that ends in '%s'", rows[i].row);
        is_str(r.understood[rows[i].topic], rows[i].text, "the %s of the row is understood as %s",
               row_topic_name(rows[i].topic), rows[i].text);
    }
}

/* MegaScale, and what its authors compare it with. */
static void test_megascale(const struct tables *t)
{
    static const struct {
        const char *model, *notes;
        bool overlaps;
    } rows[] = { { "GPT", "MegaScale", true },
                 { "MegaScale 175B", "", true },
                 { "GPT", "Megatron-LM rows of MegaScale", false },
                 { "GPT", "MegaScale's baseline", false },
                 { "GPT", "", false } };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        struct plan_row *r = NULL;
        char text[512];
        size_t n = 0;

        snprintf(text, sizeof(text), HEAD "%s,24,1024,16,2048,A100,8,2,2,2,1,16,,,bf16,.5,,%s\n",
                 rows[i].model, rows[i].notes);
        ok(read_rows(t, text, &a, &r, &n, NULL) == 0 && n == 1 && !r[0].reason[0] &&
               r[0].layout.overlap_dp == rows[i].overlaps &&
               r[0].job.shape.parallel == rows[i].overlaps &&
               (r[0].job.attention == ATTENTION_FLASH) == rows[i].overlaps,
           "the model '%s' with notes '%s' is MegaScale exactly if it says so", rows[i].model,
           rows[i].notes);
    }
}

/* A few layers of a model that begins with dense ones. */
static void test_slice(const struct tables *t)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct plan_row *r = NULL;
    size_t n = 0;

    is_int(read_rows(t, HEAD "DeepSeek-V3,2,,,4096,H100,8,1,1,8,1,64,,1,bf16,.5,,\n", &a, &r, &n,
                     NULL),
           0, "rows_read takes two layers of DeepSeek-V3");
    ok(n == 1 && !r[0].reason[0] && r[0].job.shape.layers == 2 && r[0].job.shape.dense_first == 1,
       "one of two layers of DeepSeek-V3 has experts");
}

static void reason(const struct tables *t, const char *text, const char *want)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct plan_row *r = NULL;
    size_t n = 0;

    is_int(read_rows(t, text, &a, &r, &n, NULL), 0,
           "rows_read reads a row that cannot be modelled: %s", want);
    is_str(n == 1 ? r[0].reason : "", want, "the row's reason is: %s", want);
}

static void test_reasons(const struct tables *t)
{
    reason(t, HEAD "GPT,24,1024,16,1024,H1000,8,2,2,2,1,16,full,,fp16,0.5,,\n",
           "unknown GPU 'H1000' (did you mean H100?)");
    reason(t, HEAD "GPT,24,1024,16,1024,A100,8,2,2,2,1,,full,,fp16,0.5,,\n",
           "the global batch is not stated");
    reason(t, HEAD "Nobody-7B,,,,1024,A100,8,2,2,2,1,16,full,,fp16,0.5,,\n",
           "the shape of Nobody-7B is not stated");
    reason(t, HEAD "GPT,24,1024,16,1024,A100,8,2,2,2,3,16,full,,fp16,0.5,,\n",
           "batch 16 does not divide by dp 2 x micro-batch 3");
    reason(t, HEAD "GPT,24,1024,16,1024,A100,8,2,2,2,1,16,full,,fp16,,,\n",
           "neither time nor memory was measured");
    reason(t, HEAD "GPT,24,1024,16,1024,A100,8,2,2,2,1,16,full,,fp64,0.5,,\n",
           "precision 'fp64' is not known");
    reason(t, HEAD "GPT,24,1024,16,1024,A100,8,2,2,2,1,16,full,,fp16,0.5,,LoRA\n",
           "only adapters are trained (LoRA)");
    reason(t, HEAD "GPT-QLoRA,24,1024,16,1024,A100,8,2,2,2,1,16,full,,fp16,0.5,,\n",
           "only adapters are trained (LoRA)");
    reason(t, HEAD "GPT,24,1024,16,1024,A100,8,2,2,2,1,16,full,,fp16,0.5,,an exploration\n", "");
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
           0, "rows_read reads a row that states its network");
    ok(fabs(r[0].cluster.nics * r[0].cluster.nic_rate - 100e9) < 1,
       "a row's network is that of its own GPU, 800 Gbit/s");
    is_int(read_rows(t,
                     SAID_HEAD "GPT,24,1024,16,1024,H100,16,2,2,4,1,16,full,,,0.5,InfiniBand,,,"
                               "800Gb/s per node\n",
                     &a, &r, &n, NULL),
           0, "rows_read reads a row whose column names a network without a rate");
    ok(fabs(r[0].cluster.nics * r[0].cluster.nic_rate - 100e9) < 1,
       "the rate is then that of the notes, 800 Gbit/s: %g",
       r[0].cluster.nics * r[0].cluster.nic_rate);
}

static void test_other_names(const struct tables *t)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct plan_row r = { .line = 0 };
    double power;

    ok(one_row(t,
               "Model,Num Layers,hidden_size,num_attention_heads,seq_length,GPU Type,num_gpus,TP,"
               "PP,MBS,GBS,dtype,Tokens/s/GPU,mem_gib\n"
               "GPT,24,1024,16,1024,8xA100-SXM4 (80GB),8,2,2,1,16,bfloat16,\"1,024\",10\n",
               &a, &r),
       "columns under other names are read");
    ok(fabs(r.time_s - 2) < 1e-12, "a rate of 1,024 tokens a second and GPU makes 2 s a step");
    ok(r.memory_b == 10.0 * (1 << 30), "memory in the column mem_gib is in GiB");
    ok(one_row(t, HEAD "Llama-3.1-8B,,,,8192,H100-96GB 500W,8,1,1,8,2,16,selective,3,bf16,1,80,\n",
               &a, &r),
       "a row may have a GPU with other memory and power");
    ok(r.cluster.gpu.memory_b == 96e9, "the memory in the GPU's name is the cluster's");
    ok(r.memory_b == 80.0 * (1 << 30), "memory of nvidia-smi in GB is in GiB");
    power = r.cluster.gpu.gemm_sustained[PLAN_BF16];
    ok(one_row(t, HEAD "Llama-3.1-8B,,,,8192,H100,8,1,1,8,2,16,selective,3,bf16,1,,\n", &a, &r) &&
           fabs(power / r.cluster.gpu.gemm_sustained[PLAN_BF16] - cbrt(500 / 700.)) < 1e-6,
       "the clock falls with the cube root of the power in the name");
    ok(r.job.again == .5 && r.job.attention == ATTENTION_SECOND,
       "selective recompute with FSDP is PyTorch's");
}

static void test_precisions(void)
{
    is_int(words_precision("amp_bf16"), PLAN_BF16, "words_precision knows amp_bf16");
    is_int(words_precision("FP8-MX"), PLAN_MXFP8, "words_precision knows FP8-MX");
    is_int(words_precision("FP8 (current scaling)"), PLAN_FP8,
           "words_precision knows FP8 with a note");
    is_int(words_precision("float8 rowwise"), PLAN_FP8_ROWS,
           "words_precision knows scales of rows");
    is_int(words_precision("fp8_blocks"), PLAN_FP8_BLOCKS, "words_precision knows fp8_blocks");
    is_int(words_precision("FP8 subchannel"), PLAN_FP8_BLOCKS,
           "words_precision knows NeMo's word for blocks");
    is_int(words_precision("mxfp8 blocks"), PLAN_MXFP8, "words_precision knows blocks of MXFP8");
    is_int(words_precision("NVFP4"), PLAN_NVFP4, "words_precision knows NVFP4");
    is_int(words_precision("int8"), -1, "words_precision does not know int8");
}

/* Scales of 8 bits that the notes state, or the model's own; what is denied, or of 16 bits, is
 * none. */
static void test_scales(const struct tables *t)
{
    static const struct {
        const char *model, *precision, *notes;
        enum plan_precision p;
    } rows[] = {
        { "Llama-3-8B", "fp8", "", PLAN_FP8 },
        { "Llama-3-8B", "fp8", "float8; rowwise", PLAN_FP8_ROWS },
        { "Llama-3-8B", "fp8", "blockwise scales", PLAN_FP8_BLOCKS },
        { "Llama-3-8B", "fp8", "not rowwise", PLAN_FP8 },
        { "Llama-3-8B", "bf16", "rowwise", PLAN_BF16 },
        { "DeepSeek-V3", "fp8", "", PLAN_FP8_BLOCKS },
        { "DeepSeek-V3", "bf16", "", PLAN_BF16 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        struct plan_row *r = NULL;
        char text[512];
        size_t n;

        snprintf(text, sizeof(text),
                 "model,seq,gpu,n_gpus,micro_batch,global_batch,precision,iter_time_s,notes\n"
                 "%s,4096,H800,2048,1,2048,%s,9,%s\n",
                 rows[i].model, rows[i].precision, rows[i].notes);
        is_int(read_rows(t, text, &a, &r, &n, NULL), 0, "rows_read reads %s with '%s'",
               rows[i].model, rows[i].notes);
        is_int(r->job.precision, rows[i].p, "the precision of %s in %s with '%s' is %s",
               rows[i].model, rows[i].precision, rows[i].notes, plan_precision_name(rows[i].p));
    }
}

/* Half of attention counted or all of it, as the first row shows; 24 layers of 1,024. */
static void test_counting(const struct tables *t)
{
    static const char head[] = "model,layers,hidden,heads,seq,gpu,n_gpus,micro_batch,global_batch,"
                               "iter_time_s,tflops,source\n";
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct plan_row *r = NULL;
    double all, half, times[2];
    size_t n = 0;

    for (int i = 0; i < 2; i++) {
        char text[600];

        snprintf(text, sizeof(text), "%sGPT,24,1024,16,8192,H100,1,1,1,1,1,x\n", head);
        is_int(read_rows(t, text, &a, &r, &n, NULL), 0,
               "rows_read reads a time and a rate, round %d", i);
        all = plan_step_flops(&r[0].job);
        half = all - plan_step_attention_flops(&r[0].job) / 2;
        snprintf(text, sizeof(text),
                 "%sGPT,24,1024,16,8192,H100,1,1,1,1,%.6f,x\nGPT,24,1024,16,8192,H100,1,1,1,,1,x\n"
                 "GPT,24,1024,16,8192,H100,1,1,1,,1,y\n"
                 "GPT,24,1024,16,8192,H1000,1,1,1,1,%.6f,x\n",
                 head, (i ? half : all) / 1e12, (i ? all : half) / 1e12);
        is_int(read_rows(t, text, &a, &r, &n, NULL), 0,
               "rows_read reads a row with a rate alone, round %d", i);
        times[i] = n == 4 ? r[1].time_s : 0;
        ok(n == 4 && fabs(r[2].time_s * 1e12 / all - 1) < 1e-6,
           "a rate of another source counts all of attention, round %d", i);
    }
    ok(fabs(times[0] * 1e12 / all - 1) < 1e-6,
       "a rate counts all of attention where the first row does");
    ok(fabs(times[1] * 1e12 / half - 1) < 1e-6,
       "a rate counts half of attention where the first row does");
}

/* A time is made of tokens/s, of FLOP/s or of a share of the peak; not of one that is 0. */
static void test_rates(const struct tables *t)
{
    static const char head[] = "model,layers,hidden,heads,seq,gpu,n_gpus,micro_batch,global_batch,"
                               "iter_time_s,tokens_per_s_per_gpu,tokens_per_s,tflops,mfu,source\n";
    static const struct {
        const char *rates;
        bool known, from_flops;
    } rows[] = {
        { ",,,", false, false },    { "0,0,0,0", false, false }, { "1000,,,", true, false },
        { ",1000,,", true, false }, { ",,100,", true, true },    { ",,0,", false, false },
        { ",,,0.4", true, true },   { ",,,40", true, true },     { ",,,0", false, false },
        { ",,0,0.4", true, true },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        struct plan_row *r = NULL;
        char text[600];
        size_t n = 0;

        snprintf(text, sizeof(text), "%sGPT,24,1024,16,8192,H100,1,1,1,,%s,x\n", head,
                 rows[i].rates);
        is_int(read_rows(t, text, &a, &r, &n, NULL), 0, "rows_read reads the rates %s",
               rows[i].rates);
        ok(n == 1 && isfinite(r[0].time_s) == rows[i].known && isnan(r[0].time_s) == !rows[i].known,
           "the rates %s make a time or none: %g", rows[i].rates, n ? r[0].time_s : -1);
        ok(n == 1 && r[0].from_flops == rows[i].from_flops,
           "a time of the rates %s is known to be of FLOPs or not", rows[i].rates);
    }
}

static void test_out(const struct tables *t)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct plan_row r = { .line = 0 };

    ok(one_row(t, HEAD "GPT,24,1024,16,1024,A100,8,2,2,2,1,16,full,,fp16,,,OOM\n", &a, &r) &&
           r.out && isnan(r.time_s),
       "a row that ran out of memory is marked as one");
    ok(one_row(t, HEAD "GPT,24,1024,16,1024,A100,8,2,2,2,1,16,full,,fp16,1,,BLOOM\n", &a, &r) &&
           !r.out,
       "BLOOM in the notes does not mean out of memory");
}

static void test_table_errors(const struct tables *t)
{
    static const struct {
        const char *text;
        int rc;
    } heads[] = {
        { "gpu,n_gpus,global_batch", 0 },
        { "gpu,dp,micro_batch", 0 },
        { "n_gpus,global_batch", -EINVAL },
        { "gpu,global_batch", -EINVAL },
        { "gpu,n_gpus", -EINVAL },
        { "model,tp", -EINVAL },
        { "dp,n_gpus,micro_batch", -EINVAL },
    };
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct plan_row *r = NULL;
    struct err e = { .text = "" };
    size_t n = 0;

    is_int(read_rows(t, "a,b\n1,2\n", &a, &r, &n, &e), -EINVAL,
           "rows_read refuses a table without its columns");
    is_str(e.text, "the first line must name the columns gpu, n_gpus and global_batch",
           "the error names the columns that the first line lacks");
    is_int(read_rows(t, HEAD "\"GPT,24\n", &a, &r, &n, &e), -EINVAL,
           "rows_read refuses a quote that is not closed");
    is_str(e.text, "line 2: no row of a table", "the error names the line that is no row");
    is_int(read_rows(t, "", &a, &r, &n, &e), -EINVAL, "rows_read refuses an empty text");
    for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
        is_int(read_rows(t, heads[i].text, &a, &r, &n, &e), heads[i].rc,
               "rows_read %s a table with the columns %s", heads[i].rc ? "refuses" : "takes",
               heads[i].text);
    is_int(read_rows(t, "gpu,\"n_gpus\n", &a, &r, &n, &e), -EINVAL,
           "rows_read refuses a quote of the first line that is not closed");
    is_str(e.text, "line 1: no row of a table", "the error names the first line that is no row");
}

static void test_score(void)
{
    struct prediction_pair p[] = { { 1, 10, 11 }, { 1, 20, 10 }, { 1, 40, 44 }, { 2, 5, 5 } };
    struct prediction_error s = prediction_error_make(p, 4);

    ok(fabs(s.mean - (.1 + .5 + .1 + 0) / 4) < 1e-12, "the mean error is that of absolute errors");
    ok(fabs(s.median - .1) < 1e-12 && fabs(s.max - .5) < 1e-12,
       "the median and the largest error are known");
    ok(fabs(s.bias - (.1 - .5 + .1) / 4) < 1e-12, "the bias is the mean of signed errors");
    is_int((long long)s.sweeps, 1, "a sweep has two rows or more");
    ok(fabs(s.regret - 1) < 1e-12, "the regret is that of choosing 20 where 10 was the best");
    ok(fabs(s.tau - 1 / 3.) < 1e-12, "tau counts two of three pairs in order");
    ok(isnan(prediction_error_make(p, 0).mean), "no pairs have no mean error");
    s = prediction_error_make(p, 1);
    ok(isnan(s.regret) && isnan(s.worst_regret) && isnan(s.tau) && isfinite(s.mean),
       "a pair alone has an error and no regret");
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
        ok(failed ? rc == -ENOMEM && !r : rc == 0,
           "rows_read returns -ENOMEM where allocation %d fails", oom_at);
    } while (failed);
}

int main(void)
{
    struct tables t = { .gpus = { .n_rows = 0 } };

    is_int(load(&t, NULL), 0, "the tables of GPUs and models are read");
    test_row(&t);
    test_engines(&t);
    test_no_overlap(&t);
    test_gradients(&t);
    test_compiled(&t);
    test_understood(&t);
    test_megascale(&t);
    test_slice(&t);
    test_reasons(&t);
    test_network(&t);
    test_other_names(&t);
    test_precisions();
    test_scales(&t);
    test_counting(&t);
    test_rates(&t);
    test_out(&t);
    test_table_errors(&t);
    test_score();
    test_oom(&t);
    models_done(&t.models);
    gpus_done(&t.gpus);
    return done();
}
