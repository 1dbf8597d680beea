/* Who trained and how, of columns and of whole phrases in the notes; where neither says it, what
 * stacks of the time did. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "plan/cluster/constants.h"
#include "plan/layout/usual.h"
#include "plan/measured/rows_date.h"
#include "plan/measured/rows_phrases.h"
#include "plan/measured/rows_private.h"

enum program {
    PROGRAM_NONE = -1,
    PROGRAM_MEGASCALE = ENGINE_DEEPSPEED + 1,
    PROGRAM_OTHER,
    PROGRAM_XLA, /* other ones, whose compiler fuses */
};

struct named {
    const char *name;
    int program;
    int since; /* of a repository, a month before which it has measured nothing; 0: not known */
};

/* Longer names come before their beginnings. */
static const struct named programs[] = {
    { "Megatron DeepSpeed", ENGINE_DEEPSPEED },
    { "DeepSpeed", ENGINE_DEEPSPEED },
    { "MegaScale", PROGRAM_MEGASCALE },
    { "Megatron LM", ENGINE_MEGATRON },
    { "Megatron Core", ENGINE_MEGATRON },
    { "Megatron Bridge", ENGINE_MEGATRON },
    { "Megatron", ENGINE_MEGATRON },
    { "NeMo Automodel", ENGINE_TORCH },
    { "NeMo", ENGINE_MEGATRON },
    { "torchtitan", ENGINE_TORCH },
    { "llm foundry", ENGINE_TORCH },
    { "Composer", ENGINE_TORCH },
    { "fms fsdp", ENGINE_TORCH },
    { "torchtune", ENGINE_TORCH },
    { "PyTorch", ENGINE_TORCH },
    { "FSDP", ENGINE_TORCH },
    { "InternEvo", PROGRAM_OTHER },
    { "Colossal AI", PROGRAM_OTHER },
    { "nanotron", PROGRAM_OTHER },
    { "JAX", PROGRAM_XLA },
    { "MaxText", PROGRAM_XLA },
    { "Paxml", PROGRAM_XLA },
};

/* Repositories of programs, whose own measurements were made with them. */
static const struct named repositories[] = {
    { "NVIDIA/Megatron-LM", ENGINE_MEGATRON },
    { "NVIDIA/NeMo", ENGINE_MEGATRON },
    { "NVIDIA/NeMo-Framework-Launcher", ENGINE_MEGATRON },
    { "NVIDIA-NeMo/Megatron-Bridge", ENGINE_MEGATRON, ROW_MONTH(2025, 1) },
    { "NVIDIA-NeMo/Automodel", ENGINE_TORCH, ROW_MONTH(2025, 1) },
    { "yanring/Megatron-MoE-ModelZoo", ENGINE_MEGATRON, ROW_MONTH(2025, 1) },
    { "microsoft/DeepSpeed", ENGINE_DEEPSPEED },
    { "deepspeedai/DeepSpeed", ENGINE_DEEPSPEED },
    { "microsoft/Megatron-DeepSpeed", ENGINE_DEEPSPEED },
    { "deepspeedai/Megatron-DeepSpeed", ENGINE_DEEPSPEED },
    { "bigscience-workshop/Megatron-DeepSpeed", ENGINE_DEEPSPEED },
    { "bigscience-workshop/bigscience", ENGINE_DEEPSPEED },
    { "pytorch/torchtitan", ENGINE_TORCH },
    { "mosaicml/llm-foundry", ENGINE_TORCH },
    { "foundation-model-stack/fms-fsdp", ENGINE_TORCH },
};

static const char *const names[] = { "Megatron-LM", "PyTorch", "DeepSpeed" };

/* Whether notes or the column of methods state one of the phrases. */
#define STATES(f, ...) \
    states(f, (const char *const[]){ __VA_ARGS__ }, \
           sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static bool states(const struct row_fields *f, const char *const *phrases, size_t n)
{
    return row_phrases(row_text(f, COL_NOTES), phrases, n) ||
           row_phrases(row_text(f, COL_METHODS), phrases, n);
}

/* ---- the program ---- */

static const struct named *program_in(const char *text)
{
    for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
        if (row_names_program(text, programs[i].name))
            return &programs[i];
    return NULL;
}

/* The repository that the source begins with. */
static const struct named *repository_of(const char *source)
{
    for (size_t i = 0; i < ARRAY_SIZE(repositories); i++) {
        size_t n = strlen(repositories[i].name);

        if (strncasecmp(source, repositories[i].name, n) == 0 &&
            !isalnum((unsigned char)source[n]) && !strchr("-_", source[n] ? source[n] : ' '))
            return &repositories[i];
    }
    return NULL;
}

/* What is named, in the order in which places are believed; *why says where. */
static const struct named *find_program(const struct row_fields *f, char *why, size_t size)
{
    const struct named *p = program_in(row_text(f, COL_ENGINE));
    bool weak;

    if (p) {
        snprintf(why, size, "its column says %.30s", row_text(f, COL_ENGINE));
        return p;
    }
    p = program_in(row_text(f, COL_NOTES));
    /* A method, and a library, that other programs have too. */
    weak = p && (strcmp(p->name, "FSDP") == 0 || strcmp(p->name, "PyTorch") == 0);
    if (p && !weak) {
        snprintf(why, size, "'%s' in notes", p->name);
        return p;
    }
    p = repository_of(row_text(f, COL_SOURCE));
    if (p)
        snprintf(why, size, "measured by %s", p->name);
    return p;
}

/* MegaScale as its authors run it (arXiv 2402.15627): attention and MLP beside each other, and all
 * collectives beside the compute; not the Megatron-LM that they compare it with. */
static bool is_megascale(const struct row_fields *f, const struct named *found)
{
    const char *model = row_text(f, COL_MODEL), *notes = row_text(f, COL_NOTES);

    if (!row_phrase(model, "MegaScale") && !(found && found->program == PROGRAM_MEGASCALE))
        return false;
    return !row_phrase(model, "Megatron") && !row_phrase(notes, "Megatron") &&
           !row_phrase(notes, "Megatron LM") && !row_phrase(notes, "baseline");
}

/* ---- ZeRO ---- */

/* The stage that a text states in a phrase; -1: none. */
static int zero_phrase(const char *text)
{
    static const struct {
        const char *phrase;
        int stage;
    } words[] = {
        { "zero 0", 0 },
        { "zero 1", 1 },
        { "zero 2", 2 },
        { "zero 3", 3 },
        { "stage 0", 0 },
        { "stage 1", 1 },
        { "stage 2", 2 },
        { "stage 3", 3 },
        { "full shard", 3 },
        { "hybrid shard", 3 },
        { "shard grad op", 2 },
        { "no shard", 0 },
        { "DDP", 0 },
        { "distributed optimizer", 1 },
        { "dist opt", 1 },
        { "param gather", 1 }, /* which none but the distributed optimizer has */
        { "FSDP", 3 },
        { "HSDP", 3 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (row_phrase(text, words[i].phrase))
            return words[i].stage;
    return -1;
}

/* The stage in a field of its own; -1: blank, -2: not understood. */
static int zero_field(const struct row_fields *f)
{
    double number = row_number(f, COL_ZERO);
    const char *text = row_text(f, COL_ZERO);
    int said = row_yes_no(text), stage = zero_phrase(text);

    if (number >= 0 && number <= 3)
        return (int)number;
    return stage >= 0 ? stage : said == -1 ? -1 : said == 0 ? 0 : -2;
}

static int default_zero(enum plan_engine engine, bool fresh)
{
    if (engine == ENGINE_TORCH)
        return 3;
    return engine == ENGINE_MEGATRON && fresh ? 1 : 0;
}

/* Whether the stage is stated. */
static bool read_zero(const struct row_fields *f, bool fresh, const struct named *found,
                      struct plan_row *row)
{
    const char *text = row_text(f, COL_ZERO);
    int in_column = zero_field(f);
    int in_notes = in_column < 0 ? zero_phrase(row_text(f, COL_NOTES)) : -1;
    int otherwise = default_zero(found && found->program <= ENGINE_DEEPSPEED
                                     ? (enum plan_engine)found->program
                                     : ENGINE_MEGATRON,
                                 fresh);

    row->layout.zero = in_column >= 0 ? in_column : in_notes >= 0 ? in_notes : otherwise;
    if (in_column >= 0)
        row_understand(row, ROW_ZERO, "%d: stated", in_column);
    else if (in_notes >= 0)
        row_understand(row, ROW_ZERO, "%d: in notes", in_notes);
    else if (in_column == -2)
        row_understand(row, ROW_ZERO, "'%.40s' is not understood; taken: %d", text, otherwise);
    else
        row_understand(row, ROW_ZERO, "%d: not stated, as of its time", otherwise);
    return in_column >= 0 || in_notes >= 0;
}

/* ---- the engine ---- */

static void set_engine(const struct row_fields *f, const struct named *found, const char *why,
                       struct plan_row *row)
{
    struct plan_job *job = &row->job;
    const char *text = row_text(f, COL_ENGINE);
    bool stated = found && found->program <= ENGINE_DEEPSPEED;

    if (stated) {
        job->engine = (enum plan_engine)found->program;
        row_understand(row, ROW_ENGINE, "%s: %s", names[job->engine], why);
        return;
    }
    /* DeepSpeed calls it ZeRO where PyTorch calls it FSDP, whose experts are not modelled. */
    if (row->layout.zero == 3 && STATES(f, "zero 3")) {
        job->engine = ENGINE_DEEPSPEED;
        row_understand(row, ROW_ENGINE, "DeepSpeed: ZeRO-3 in notes");
    } else if (row_phrase(row->name, "BLOOM") && row->layout.zero < 3) {
        job->engine = ENGINE_DEEPSPEED;
        row_understand(row, ROW_ENGINE, "DeepSpeed: BLOOM was trained with it");
    } else if (row->layout.zero == 3 && row->layout.ep == 1) {
        job->engine = ENGINE_TORCH;
        row_understand(row, ROW_ENGINE, "PyTorch: weights are sharded");
    } else {
        job->engine = ENGINE_MEGATRON;
        if (found)
            row_understand(row, ROW_ENGINE, "%s is modelled as Megatron-LM", found->name);
        else if (*text)
            row_understand(row, ROW_ENGINE, "'%.40s' is not known; taken: Megatron-LM", text);
        else
            row_understand(row, ROW_ENGINE, "Megatron-LM: nothing says otherwise");
    }
}

/* Whether it is stated. */
static bool read_parallel(const struct row_fields *f, bool fresh, bool megascale,
                          struct plan_row *row)
{
    struct layout *l = &row->layout;
    const char *text = row_text(f, COL_SP);
    int said = row_yes_no(text);
    bool sp = said > 0;
    const char *why = said >= 0 ? "stated" : NULL;

    /* Megatron-LM's overlap of tensor parallelism needs it. */
    if (!why &&
        STATES(f, "sequence parallel", "sequence parallelism", "tp comm overlap", "tp overlap")) {
        sp = true;
        why = "in notes";
    } else if (!why && megascale) {
        sp = true;
        why = "its paper's overlap is built on it";
    }
    l->seq_parallel = why ? sp : fresh && row->job.engine != ENGINE_DEEPSPEED;
    if (said == -2)
        row_understand(row, ROW_SEQ_PARALLEL, "'%.40s' is not understood; taken: %s", text,
                       l->seq_parallel ? "yes" : "no");
    else
        row_understand(row, ROW_SEQ_PARALLEL, "%s: %s", l->seq_parallel ? "yes" : "no",
                       why ? why : "not stated, as of its time");
    return why != NULL;
}

/* When the row was measured. */
static int month_of(const struct row_fields *f)
{
    int month = row_month(row_text(f, COL_DATE));

    return month != ROW_MONTH_UNKNOWN ? month : row_month(row_text(f, COL_SOURCE));
}

/* Notes that deny all overlap at once. */
static bool denies_overlap(const struct row_fields *f)
{
    return STATES(f, "no overlap", "no overlapping", "without overlap", "without overlapping",
                  "no comm overlap", "no communication overlap", "no overlap of communication");
}

/* What is done beside the compute. */
static void set_overlaps(const struct row_fields *f, bool fresh, bool megascale,
                         struct plan_row *row, bool *hides_tp)
{
    struct layout *l = &row->layout;
    bool current = fresh || row->job.shape.gated;

    l->overlap_dp = usual_hides_dp(&row->job, l->zero, current);
    *hides_tp = usual_hides_tp(&row->job, fresh) ||
                (fresh &&
                 STATES(f, "async tp", "async tensor parallel", "async tensor parallelism"));
    l->overlap_ep = STATES(f, "1f1b overlap", "ep overlap", "a2a overlap", "DualPipe");
    l->overlap_pp = usual_hides_pp(current);
    if (megascale) {
        row->job.shape.parallel = true;
        l->overlap_dp = l->overlap_pp = *hides_tp = true;
    }
    l->overlap_tp = *hides_tp && l->seq_parallel;
    if (denies_overlap(f)) {
        l->overlap_dp = l->overlap_ep = l->overlap_pp = l->overlap_tp = *hides_tp = false;
        row_understand(row, ROW_ENGINE, "%s, which overlaps nothing: in notes",
                       names[row->job.engine]);
    }
    if (l->pp > 1 && STATES(f, "DualPipe", "zero bubble"))
        l->schedule = SCHEDULE_ZERO_BUBBLE;
}

/* Whether torch.compile fuses what lies between the products: as stated, or with programs that have
 * had it for all of their measurements since a month. */
static bool is_compiled(const struct row_fields *f, const struct named *found)
{
    /* Its table of 4,550 tokens/s is with it, that of 3,700 without (pytorch.org/blog,
     * maximizing-training-throughput, September 2024). */
    static const int fms_fsdp_since = ROW_MONTH(2024, 9);
    int month = month_of(f);

    if (STATES(f, "compile", "torch compile", "torch.compile"))
        return true;
    if (!found || strcasestr(row_text(f, COL_NOTES), "compile") ||
        strcasestr(row_text(f, COL_METHODS), "compile"))
        return false;
    return (strcmp(found->name, "fms fsdp") == 0 || strstr(found->name, "/fms-fsdp")) &&
           (month == ROW_MONTH_UNKNOWN || month >= fms_fsdp_since);
}

/* Whether fused attention is that whose backward pass is made for Hopper: stated, or of its time; a
 * row on a new GPU without date and source is of today. FlashAttention-3 is of July 2024, and so
 * are cuDNN's kernels of the same speed. */
static bool has_third(const struct row_fields *f, bool fresh, const struct named *found)
{
    int month = month_of(f);

    if (month == ROW_MONTH_UNKNOWN && found)
        month = found->since;
    if (month == ROW_MONTH_UNKNOWN && !*row_text(f, COL_SOURCE) && fresh)
        return true;
    return month >= ROW_MONTH(2024, 8) || STATES(f, "FA3", "flash attention 3", "flash attn 3");
}

static void set_kernels(const struct row_fields *f, bool fresh, bool megascale,
                        const struct named *found, struct plan_row *row)
{
    bool compiled = is_compiled(f, found), other = found && found->program == PROGRAM_OTHER;
    struct plan_job *job = &row->job;
    /* With experts come Transformer Engine's kernels. */
    enum plan_engine kernels = row->layout.ep == 1 ? job->engine : ENGINE_MEGATRON;
    bool flash = megascale || STATES(f, "flash", "flash attention", "flash attn", "FA2", "FA3");
    bool sharded = row->layout.zero == 3 && row->layout.pp == 1, gated = job->shape.gated;
    enum usual_time time = has_third(f, fresh, found) ? USUAL_TODAY
                           : fresh || gated           ? USUAL_FUSED
                                                      : USUAL_PLAIN;

    usual_job(job, kernels, time, sharded);
    if (flash && job->attention == ATTENTION_PLAIN)
        job->attention = ATTENTION_FLASH;
    if (other)
        job->fused = false;
    if (compiled)
        usual_compiled(job, kernels);
    /* MPT's positions are biases of the scores, which its kernels of 2023 were written for; its
     * loss is fused, in place. */
    if (!strncasecmp(row->name, "mpt", 3)) {
        job->attention = ATTENTION_FIRST;
        job->logit_b = 4;
    }
    job->graphs = STATES(f, "cuda graph", "cuda graphs");
    job->shape.dropout = !gated && job->attention == ATTENTION_PLAIN;
}

/* Which settings nobody stated and Megatron-LM had at the time: sequence parallelism came with
 * arXiv 2205.05198, the distributed optimizer in the same spring. Other engines have one default.
 */
static void find_open(const struct row_fields *f, bool fresh, const struct plan_row *row,
                      struct row_free *open)
{
    bool there = fresh || month_of(f) >= ROW_MONTH(2022, 5);

    open->zero = open->zero && there && row->job.engine == ENGINE_MEGATRON;
    open->seq_parallel = open->seq_parallel && there && row->job.engine == ENGINE_MEGATRON;
}

void row_read_engine(const struct row_reader *r, struct plan_row *row, struct row_free *open)
{
    const struct row_fields *f = &r->f;
    struct layout *l = &row->layout;
    bool fresh = gpu_is_new(&row->cluster.gpu), megascale;
    char why[64] = "";
    const struct named *found = find_program(f, why, sizeof(why));

    open->zero = !read_zero(f, fresh, found, row);
    set_engine(f, found, why, row);
    megascale = is_megascale(f, found);
    if (megascale)
        row_understand(row, ROW_ENGINE, "MegaScale: named");
    l->shard = row_int(f, COL_SHARD, 0);
    if (!l->shard && l->zero == 3 && row->job.engine != ENGINE_DEEPSPEED &&
        (STATES(f, "HSDP", "hybrid shard") || row_phrase(row_text(f, COL_ZERO), "HSDP") ||
         row_phrase(row_text(f, COL_ZERO), "hybrid shard")))
        l->shard = MIN(row->cluster.per_node, l->dp * l->cp);
    open->seq_parallel = !read_parallel(f, fresh, megascale, row);
    find_open(f, fresh, row, open);
    set_overlaps(f, fresh, megascale, row, &open->overlap_tp);
    set_kernels(f, fresh, megascale, found, row);
}

/* DeepSpeed has no interleaved pipeline, and "1F1B" alone says that it is none. */
bool row_may_interleave(const struct row_reader *r, const struct plan_row *row)
{
    if (row->job.engine == ENGINE_DEEPSPEED)
        return false;
    return STATES(&r->f, "interleaved", "interleaving", "1f1b overlap") ||
           (!STATES(&r->f, "1f1b") && !strcasestr(row_text(&r->f, COL_NOTES), "non-interleaved"));
}

/* ---- recompute ---- */

/* The number behind "HFU=" in the notes, in the unit of mfu; NaN: none. */
static double stated_hfu(const struct row_fields *f)
{
    const char *at = strcasestr(row_text(f, COL_NOTES), "HFU");
    double x = 0, unit = 1;

    if (!at)
        return (double)NAN;
    for (at += 3 + strspn(at + 3, "= :"); *at >= '0' && *at <= '9'; at++)
        x = 10 * x + (*at - '0');
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9'; at++)
            x += (*at - '0') * (unit /= 10);
    return x > 0 ? x : (double)NAN;
}

/* A level as the field states it; -1: blank, -2: not understood. */
static int recompute_in(const char *text)
{
    static const char *const part[] = { "selective", "op", "attention", "core attn", "attn" };
    int said = row_yes_no(text);

    if (said == -1)
        return -1;
    if (said >= 0)
        return said ? RECOMPUTE_FULL : RECOMPUTE_NONE;
    if (strcasestr(text, "mlp") || strcasestr(text, "moe"))
        return RECOMPUTE_MLP; /* modules, as Megatron-LM names them */
    if (strcasestr(text, "norm"))
        return RECOMPUTE_NORMS;
    for (size_t i = 0; i < ARRAY_SIZE(part); i++)
        if (strncasecmp(text, part[i], strlen(part[i])) == 0)
            return RECOMPUTE_SELECTIVE;
    if (row_phrase(text, "full") || row_phrase(text, "all") || row_phrase(text, "uniform") ||
        row_phrase(text, "block"))
        return RECOMPUTE_FULL;
    return row_phrase(text, "selective") ? RECOMPUTE_SELECTIVE : -2;
}

bool row_read_recompute(const struct row_reader *r, struct plan_row *row)
{
    const char *text = row_text(&r->f, COL_RECOMPUTE);
    double hfu = stated_hfu(&r->f), mfu = row_number(&r->f, COL_MFU);
    int level = recompute_in(text);

    row->layout.recompute = level >= 0 ? (enum recompute)level : RECOMPUTE_NONE;
    if (level == -2)
        row_understand(row, ROW_RECOMPUTE, "'%.40s' is not understood; as if not stated", text);
    else if (level >= 0)
        row_understand(row, ROW_RECOMPUTE, "%.40s: stated", text);
    else if (STATES(&r->f, "activation offloading", "activation offload"))
        level = RECOMPUTE_NONE; /* what would be recomputed is in the host's memory */
    if (level < 0 && level != -2)
        row_understand(row, ROW_RECOMPUTE, "none: not stated");
    else if (!*text)
        row_understand(row, ROW_RECOMPUTE, "none: activations are offloaded");
    if (row->layout.recompute != RECOMPUTE_SELECTIVE || row->layout.zero != 3)
        return level >= 0;
    /* FSDP's: every other product, or every few layers; what was repeated shows in the FLOPs. */
    row->job.again = 0.5;
    if (hfu >= mfu)
        row->job.again = fmin(3 * (hfu / mfu - 1), 1);
    return level >= 0;
}
