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
    double unit;
} aliases[] = {
    { "model", COL_MODEL, 1 },
    { "model_name", COL_MODEL, 1 },
    { "layers", COL_LAYERS, 1 },
    { "num_layers", COL_LAYERS, 1 },
    { "n_layers", COL_LAYERS, 1 },
    { "hidden", COL_HIDDEN, 1 },
    { "hidden_size", COL_HIDDEN, 1 },
    { "d_model", COL_HIDDEN, 1 },
    { "heads", COL_HEADS, 1 },
    { "num_heads", COL_HEADS, 1 },
    { "n_heads", COL_HEADS, 1 },
    { "num_attention_heads", COL_HEADS, 1 },
    { "kv_heads", COL_KV_HEADS, 1 },
    { "num_query_groups", COL_KV_HEADS, 1 },
    { "num_key_value_heads", COL_KV_HEADS, 1 },
    { "ffn", COL_FFN, 1 },
    { "ffn_hidden_size", COL_FFN, 1 },
    { "intermediate_size", COL_FFN, 1 },
    { "seq", COL_SEQ, 1 },
    { "seq_len", COL_SEQ, 1 },
    { "seq_length", COL_SEQ, 1 },
    { "sequence_length", COL_SEQ, 1 },
    { "vocab", COL_VOCAB, 1 },
    { "vocab_size", COL_VOCAB, 1 },
    { "gpu", COL_GPU, 1 },
    { "gpu_type", COL_GPU, 1 },
    { "gpu_name", COL_GPU, 1 },
    { "accelerator", COL_GPU, 1 },
    { "n_gpus", COL_N_GPUS, 1 },
    { "num_gpus", COL_N_GPUS, 1 },
    { "gpus", COL_N_GPUS, 1 },
    { "gpu_count", COL_N_GPUS, 1 },
    { "world_size", COL_N_GPUS, 1 },
    { "tp", COL_TP, 1 },
    { "tensor_parallel", COL_TP, 1 },
    { "tensor_parallel_size", COL_TP, 1 },
    { "pp", COL_PP, 1 },
    { "pipeline_parallel", COL_PP, 1 },
    { "pipeline_parallel_size", COL_PP, 1 },
    { "cp", COL_CP, 1 },
    { "context_parallel", COL_CP, 1 },
    { "context_parallel_size", COL_CP, 1 },
    { "ep", COL_EP, 1 },
    { "expert_parallel", COL_EP, 1 },
    { "expert_parallel_size", COL_EP, 1 },
    { "etp", COL_ETP, 1 },
    { "vpp", COL_VPP, 1 },
    { "vp", COL_VPP, 1 },
    { "virtual_pipeline", COL_VPP, 1 },
    { "dp", COL_DP, 1 },
    { "data_parallel", COL_DP, 1 },
    { "shard", COL_SHARD, 1 },
    { "micro_batch", COL_MICRO, 1 },
    { "micro_batch_size", COL_MICRO, 1 },
    { "mbs", COL_MICRO, 1 },
    { "local_batch", COL_MICRO, 1 },
    { "local_batch_size", COL_MICRO, 1 },
    { "global_batch", COL_BATCH, 1 },
    { "global_batch_size", COL_BATCH, 1 },
    { "gbs", COL_BATCH, 1 },
    { "batch", COL_BATCH, 1 },
    { "batch_size", COL_BATCH, 1 },
    { "recompute", COL_RECOMPUTE, 1 },
    { "activation_checkpointing", COL_RECOMPUTE, 1 },
    { "activation_recompute", COL_RECOMPUTE, 1 },
    { "ac", COL_RECOMPUTE, 1 },
    { "seq_parallel", COL_SP, 1 },
    { "sequence_parallel", COL_SP, 1 },
    { "sp", COL_SP, 1 },
    { "zero_stage", COL_ZERO, 1 },
    { "zero", COL_ZERO, 1 },
    { "precision", COL_PRECISION, 1 },
    { "dtype", COL_PRECISION, 1 },
    { "measured_tflops_per_gpu", COL_TFLOPS, 1e12 },
    { "tflops_per_gpu", COL_TFLOPS, 1e12 },
    { "tflops_gpu", COL_TFLOPS, 1e12 },
    { "tflops", COL_TFLOPS, 1e12 },
    { "mfu", COL_MFU, 1 },
    { "iter_time_s", COL_TIME, 1 },
    { "step_time_s", COL_TIME, 1 },
    { "time_s", COL_TIME, 1 },
    { "iter_time_ms", COL_TIME, 1e-3 },
    { "step_time_ms", COL_TIME, 1e-3 },
    { "tokens_per_s_per_gpu", COL_TOKENS, 1 },
    { "tokens_per_sec_per_gpu", COL_TOKENS, 1 },
    { "tps_per_gpu", COL_TOKENS, 1 },
    { "tokens_s_gpu", COL_TOKENS, 1 },
    { "tgs", COL_TOKENS, 1 },
    { "tokens_per_s", COL_TOKENS_ALL, 1 },
    { "tokens_per_sec", COL_TOKENS_ALL, 1 },
    { "mem_gb", COL_MEM, 1 << 30 },
    { "memory_gb", COL_MEM, 1 << 30 },
    { "peak_memory_gb", COL_MEM, 1 << 30 },
    { "mem_gib", COL_MEM, 1 << 30 },
    { "memory_gib", COL_MEM, 1 << 30 },
    { "peak_memory_gib", COL_MEM, 1 << 30 },
    { "network", COL_NETWORK, 1 },
    { "interconnect", COL_NETWORK, 1 },
    { "fabric", COL_NETWORK, 1 },
    { "nics", COL_NETWORK, 1 },
    { "node_gbps", COL_NODE_RATE, 1e9 / 8 },
    { "network_gbps", COL_NODE_RATE, 1e9 / 8 },
    { "engine", COL_ENGINE, 1 },
    { "framework", COL_ENGINE, 1 },
    { "trainer", COL_ENGINE, 1 },
    { "software", COL_ENGINE, 1 },
    { "stack", COL_ENGINE, 1 },
    { "methods", COL_METHODS, 1 },
    { "features", COL_METHODS, 1 },
    { "options", COL_METHODS, 1 },
    { "task", COL_METHODS, 1 },
    { "peft", COL_METHODS, 1 },
    { "date", COL_DATE, 1 },
    { "measured_on", COL_DATE, 1 },
    { "source", COL_SOURCE, 1 },
    { "notes", COL_NOTES, 1 },
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
                f->unit[aliases[i].column] = aliases[i].unit;
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
