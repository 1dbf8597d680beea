#include "plan/measured/rows_columns.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "base/parse.h"

/* The first name of a column is what docs/plan-model.md lists. What people call GB of a GPU's
 * memory is what nvidia-smi and PyTorch count: 2^30 bytes. */
static const struct alias {
    const char *name;
    enum row_column column;
    double unit; /* 0: a number is worth what it says */
} aliases[] = {
    { "model", COL_MODEL },
    { "model_name", COL_MODEL },
    { "layers", COL_LAYERS },
    { "num_layers", COL_LAYERS },
    { "n_layers", COL_LAYERS },
    { "hidden", COL_HIDDEN },
    { "hidden_size", COL_HIDDEN },
    { "d_model", COL_HIDDEN },
    { "heads", COL_HEADS },
    { "num_heads", COL_HEADS },
    { "n_heads", COL_HEADS },
    { "num_attention_heads", COL_HEADS },
    { "kv_heads", COL_KV_HEADS },
    { "num_query_groups", COL_KV_HEADS },
    { "num_key_value_heads", COL_KV_HEADS },
    { "ffn", COL_FFN },
    { "ffn_hidden_size", COL_FFN },
    { "intermediate_size", COL_FFN },
    { "seq", COL_SEQ },
    { "seq_len", COL_SEQ },
    { "seq_length", COL_SEQ },
    { "sequence_length", COL_SEQ },
    { "vocab", COL_VOCAB },
    { "vocab_size", COL_VOCAB },
    { "gpu", COL_GPU },
    { "gpu_type", COL_GPU },
    { "gpu_name", COL_GPU },
    { "accelerator", COL_GPU },
    { "n_gpus", COL_N_GPUS },
    { "num_gpus", COL_N_GPUS },
    { "gpus", COL_N_GPUS },
    { "gpu_count", COL_N_GPUS },
    { "world_size", COL_N_GPUS },
    { "tp", COL_TP },
    { "tensor_parallel", COL_TP },
    { "tensor_parallel_size", COL_TP },
    { "pp", COL_PP },
    { "pipeline_parallel", COL_PP },
    { "pipeline_parallel_size", COL_PP },
    { "cp", COL_CP },
    { "context_parallel", COL_CP },
    { "context_parallel_size", COL_CP },
    { "ep", COL_EP },
    { "expert_parallel", COL_EP },
    { "expert_parallel_size", COL_EP },
    { "etp", COL_ETP },
    { "vpp", COL_VPP },
    { "vp", COL_VPP },
    { "virtual_pipeline", COL_VPP },
    { "dp", COL_DP },
    { "data_parallel", COL_DP },
    { "shard", COL_SHARD },
    { "micro_batch", COL_MICRO },
    { "micro_batch_size", COL_MICRO },
    { "mbs", COL_MICRO },
    { "local_batch", COL_MICRO },
    { "local_batch_size", COL_MICRO },
    { "global_batch", COL_BATCH },
    { "global_batch_size", COL_BATCH },
    { "gbs", COL_BATCH },
    { "batch", COL_BATCH },
    { "batch_size", COL_BATCH },
    { "recompute", COL_RECOMPUTE },
    { "activation_checkpointing", COL_RECOMPUTE },
    { "activation_recompute", COL_RECOMPUTE },
    { "ac", COL_RECOMPUTE },
    { "seq_parallel", COL_SP },
    { "sequence_parallel", COL_SP },
    { "sp", COL_SP },
    { "zero_stage", COL_ZERO },
    { "zero", COL_ZERO },
    { "precision", COL_PRECISION },
    { "dtype", COL_PRECISION },
    { "measured_tflops_per_gpu", COL_TFLOPS, 1e12 },
    { "tflops_per_gpu", COL_TFLOPS, 1e12 },
    { "tflops_gpu", COL_TFLOPS, 1e12 },
    { "tflops", COL_TFLOPS, 1e12 },
    { "mfu", COL_MFU },
    { "iter_time_s", COL_TIME },
    { "step_time_s", COL_TIME },
    { "time_s", COL_TIME },
    { "iter_time_ms", COL_TIME, 1e-3 },
    { "step_time_ms", COL_TIME, 1e-3 },
    { "tokens_per_s_per_gpu", COL_TOKENS },
    { "tokens_per_sec_per_gpu", COL_TOKENS },
    { "tps_per_gpu", COL_TOKENS },
    { "tokens_s_gpu", COL_TOKENS },
    { "tgs", COL_TOKENS },
    { "tokens_per_s", COL_TOKENS_ALL },
    { "tokens_per_sec", COL_TOKENS_ALL },
    { "mem_gb", COL_MEM, 1 << 30 },
    { "memory_gb", COL_MEM, 1 << 30 },
    { "peak_memory_gb", COL_MEM, 1 << 30 },
    { "mem_gib", COL_MEM, 1 << 30 },
    { "memory_gib", COL_MEM, 1 << 30 },
    { "peak_memory_gib", COL_MEM, 1 << 30 },
    { "network", COL_NETWORK },
    { "interconnect", COL_NETWORK },
    { "fabric", COL_NETWORK },
    { "nics", COL_NETWORK },
    { "node_gbps", COL_NODE_RATE, 1e9 / 8 },
    { "network_gbps", COL_NODE_RATE, 1e9 / 8 },
    { "engine", COL_ENGINE },
    { "framework", COL_ENGINE },
    { "trainer", COL_ENGINE },
    { "software", COL_ENGINE },
    { "stack", COL_ENGINE },
    { "methods", COL_METHODS },
    { "features", COL_METHODS },
    { "options", COL_METHODS },
    { "task", COL_METHODS },
    { "peft", COL_METHODS },
    { "date", COL_DATE },
    { "measured_on", COL_DATE },
    { "source", COL_SOURCE },
    { "notes", COL_NOTES },
};

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Whether a header is that name: case, blanks, '-' and '_' make no difference. */
static bool is_name(const char *header, const char *name)
{
    static const char filler[] = " -_/().";

    for (;; header++, name++) {
        header += strspn(header, filler);
        name += strspn(name, filler);
        if (lower(*header) != *name)
            return false;
        if (!*name)
            return true;
    }
}

void row_columns_find(struct row_fields *f)
{
    for (int c = 0; c < ROW_COLUMNS; c++)
        f->at[c] = -1;
    /* Backwards, so that of several names the one that is listed first stays. */
    for (size_t i = ARRAY_SIZE(aliases); i-- > 0;)
        for (size_t j = 0; j < f->csv.n_fields; j++)
            if (is_name(f->csv.fields[j], aliases[i].name)) {
                f->at[aliases[i].column] = (int)j;
                f->unit[aliases[i].column] = aliases[i].unit > 0 ? aliases[i].unit : 1;
            }
}

const char *row_text(const struct row_fields *f, enum row_column c)
{
    int i = f->at[c];
    const char *text = i >= 0 && (size_t)i < f->csv.n_fields ? f->csv.fields[i] : "";

    return text + strspn(text, " ");
}

double row_number(const struct row_fields *f, enum row_column c)
{
    const char *text = row_text(f, c);
    char plain[40];
    size_t n = 0;
    double x;

    for (; *text && n + 1 < sizeof(plain); text++)
        if (*text != ',' && *text != ' ')
            plain[n++] = *text;
    plain[n] = '\0';
    return *text || parse_double(plain, &x) < 0 ? (double)NAN : x * f->unit[c];
}

int row_int(const struct row_fields *f, enum row_column c, int otherwise)
{
    double x = row_number(f, c);

    return x >= 1 && x <= 1 << 28 ? (int)x : otherwise;
}

bool row_says(const struct row_fields *f, enum row_column c, const char *word)
{
    return strcasestr(row_text(f, c), word) != NULL;
}

bool row_says_oom(const struct row_fields *f, enum row_column c)
{
    const char *text = row_text(f, c);

    for (const char *at = strcasestr(text, "oom"); at; at = strcasestr(at + 1, "oom"))
        if ((at == text || !isalpha((unsigned char)at[-1])) && !isalpha((unsigned char)at[3]))
            return true;
    return row_says(f, c, "out of memory");
}
