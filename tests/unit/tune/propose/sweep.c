/* What is proposed when one thing that is known is another: a note, a signal, a share of the step,
 * a cause, what the loader needs. The verdict is made by hand, so that only proposals are seen.
 *
 *     t_tune_propose_sweep FILE */
#include <math.h>
#include <stddef.h>

#include "base/str.h"
#include "golden.h"
#include "knobs_ini.h"
#include "new_lines.h"
#include "tune/propose/propose.h"

enum { ROOM = 8 << 20, NOTES = 40, STEPS = 400, ITEMS = 16, RANKS = 2 };

static const double factors[] = { 0, 0.1, 0.5, 0.9, 1.1, 2, 10, (double)NAN };

struct known {
    const char *name;
    double value;
};

/* Numbers that a job tells. */
static const struct known numbers[] = {
    { "loader.workers", 4 },       { "loader.batch", 16 },      { "loader.batch_bytes", 1e6 },
    { "loader.prefetch", 2 },      { "loader.epoch", 40 },      { "loader.readahead", 0 },
    { "threads.intra", 8 },        { "process.threads", 8 },    { "ddp.bucket", 25 },
    { "gradients.bytes", 4e8 },    { "batch.accumulation", 1 }, { "group.world", 16 },
    { "checkpoint.interval", 60 }, { "checkpoint.seconds", 5 }, { "power.limit", 400 },
    { "clock.limit", 1980 },       { "disk.readahead", 128 },
};

/* Words that it tells, and the other one. */
static const struct {
    const char *name, *is, *other;
} words[] = {
    { "loader.kind", "map", "iterable" }, { "loader.persistent", "no", "yes" },
    { "process.torch", "2.4.0", NULL },   { "process.blas", "reference", "openblas" },
    { "group.backend", "nccl", "gloo" },  { "ddp.view", "no", "yes" },
    { "ddp.used", "yes", "no" },          { "ddp.hook", NULL, "bf16" },
    { "torch.compile", "no", "yes" },     { "precision.autocast", "none", "bf16" },
    { "precision.tf32", "no", "yes" },    { "cpu.governor", "powersave", "performance" },
};

static const struct {
    enum run_signal signal;
    double value;
} signals[] = {
    { RUN_CPUS, 16 },          { RUN_JOB_CPU_LIMIT, 12 },     { RUN_GPUS, 2 },
    { RUN_GPU_MEMORY, 0.4 },   { RUN_GPU_MEMORY_USED, 64e9 }, { RUN_GPU_TENSOR_ACTIVE, 0.2 },
    { RUN_GPU_BUSY, 0.9 },     { RUN_GPU_WATTS, 600 },        { RUN_GPU_POWER, 0.6 },
    { RUN_DISK_BUSY, 0.5 },    { RUN_WORKER_CPU, 1 },         { RUN_MEMORY_AVAILABLE, 4e9 },
    { RUN_JOB_RESIDENT, 9e9 }, { RUN_JOB_PROCESSES, 9 },
};

static const struct {
    unsigned stage;
    double share;
} shares[] = {
    { BRIM_STAGE_WAIT, 0.3 },
    { BRIM_STAGE_COMMUNICATION, 0.2 },
    { BRIM_STAGE_BACKWARD, 0.25 },
    { BRIM_STAGE_CHECKPOINT, 0.08 },
};

#define NEED(member, value) \
    { \
        offsetof(struct loader_need, member), value \
    }
static const struct {
    size_t at;
    double value;
} needs[] = {
    NEED(workers, 4),    NEED(wait, 0.3),    NEED(starting, 0.02), NEED(on_cpu, 0.6),
    NEED(queued, 0.2),   NEED(margin, 1.15), NEED(cpus, 12),       NEED(memory_b, 8e9),
    NEED(worker_b, 4e8), NEED(batch_b, 1e6), NEED(epoch, 40),
};

#define ABOUT(member, value) \
    { \
        offsetof(struct propose_about, member), value \
    }
static const struct {
    size_t at;
    double value;
} abouts[] = { ABOUT(least_gain, 0.02), ABOUT(shm_free_b, 1e8), ABOUT(mtbf_s, 7200) };

/* Causes that bring proposals. */
static const enum cause causes[] = {
    CAUSE_CPU_THREADS,
    CAUSE_CPU_SPINNING,
    CAUSE_BLAS,
    CAUSE_NUMA,
    CAUSE_SMALL_BATCH,
    CAUSE_MANY_WORKERS,
    CAUSE_SMALL_FILES,
    CAUSE_STORAGE_LATENCY,
    CAUSE_PAGEABLE_COPY,
    CAUSE_MEMORY_PRESSURE,
    CAUSE_LOADER_CPU,
    CAUSE_FEW_WORKERS,
    CAUSE_SLOW_RANK,
    CAUSE_IMBALANCE,
    CAUSE_STORAGE_BANDWIDTH,
};

/* Which causes are there: all but the first and the last ones of some jobs. */
struct job {
    const char *name;
    unsigned causes; /* bits */
    bool energy;
    double collective_s; /* of a step; 0: the job tells none */
};

static const struct job jobs[] = {
    { "a job that loads and exchanges", 0x0000, false, 0.03 },
    { "a job of which only waiting is seen", 0x0c00, false, 0 },
    { "a job with many causes", 0x4fff & ~0x0020u, false, 0 },
    { "a job with too many workers", 0x0020, true, 0.3 },
    { "a job with a slow rank", 0x1000, true, 0.3 },
};

struct world {
    struct knobs knobs;
    double numbers[ARRAY_SIZE(numbers)], signals[ARRAY_SIZE(signals)];
    double shares[ARRAY_SIZE(shares)], needs[ARRAY_SIZE(needs)], abouts[ARRAY_SIZE(abouts)];
    const char *words[ARRAY_SIZE(words)];
    unsigned causes;
    bool stream;
};

static void reset(struct world *w, const struct job *job)
{
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        w->numbers[i] = numbers[i].value;
    for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
        w->signals[i] = signals[i].value;
    for (size_t i = 0; i < ARRAY_SIZE(shares); i++)
        w->shares[i] = shares[i].share;
    for (size_t i = 0; i < ARRAY_SIZE(needs); i++)
        w->needs[i] = needs[i].value;
    for (size_t i = 0; i < ARRAY_SIZE(abouts); i++)
        w->abouts[i] = abouts[i].value;
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        w->words[i] = words[i].is;
    w->causes = job->causes;
    w->stream = false;
}

static void add_list(struct str *out, const char *what, const struct candidate *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        str_addf(out, "%s %s %s -> %s x%.3f%s%s: %s\n", what, list[i].knob->name,
                 list[i].before ? list[i].before : "?", list[i].value, list[i].gain,
                 list[i].also ? " with " : "", list[i].also ? list[i].also->name : "", list[i].why);
}

static size_t make_notes(const struct world *w, struct run_note *notes, char (*texts)[32])
{
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        if (isnan(w->numbers[i]))
            continue;
        snprintf(texts[i], sizeof(texts[i]), "%.15g", w->numbers[i]);
        notes[n++] = (struct run_note){ numbers[i].name, texts[i] };
    }
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (w->words[i])
            notes[n++] = (struct run_note){ words[i].name, w->words[i] };
    return n;
}

static void make_verdict(const struct world *w, struct verdict *v, struct verdict_item *items)
{
    *v = (struct verdict){ .items = items, .step_s = 0.2 };
    for (size_t i = 0; i < ARRAY_SIZE(shares); i++)
        v->share[shares[i].stage] = w->shares[i];
    for (size_t i = 0; i < ARRAY_SIZE(causes); i++)
        if (w->causes >> i & 1)
            items[v->count++] = (struct verdict_item){
                .cause = causes[i], .share = 0.2, .gain = 1.25, .sentence = "it waits for files"
            };
    v->loader = (struct loader_need){ .shm_b = (double)NAN, .refused = (double)NAN };
    for (size_t i = 0; i < ARRAY_SIZE(needs); i++)
        memcpy((char *)&v->loader + needs[i].at, &w->needs[i], sizeof(w->needs[i]));
    v->loader.stream = w->stream;
}

/* Steps that are waited for now and then. */
static void make_steps(struct step *steps)
{
    for (size_t i = 0; i < STEPS; i++) {
        steps[i] = (struct step){ .number = i };
        steps[i].host_s[BRIM_STAGE_WAIT] = i % 40 == 7 ? 1.5 : 0.02;
    }
}

static void tell(const struct world *w, const struct job *job, struct str *out)
{
    static struct step steps[STEPS];
    char texts[ARRAY_SIZE(numbers)][32];
    struct run_note notes[NOTES];
    struct verdict_item items[ITEMS];
    struct run_rank ranks[RANKS] = { { .steps = steps, .n_steps = STEPS }, { .rank = 1 } };
    struct run_moment moment = { .seconds = 1 };
    struct run r = { .ranks = ranks, .n_ranks = RANKS, .moments = &moment, .n_moments = 1 };
    struct verdict v;
    struct propose_about about = { .run = &r,
                                   .verdict = &v,
                                   .knobs = &w->knobs,
                                   .numeric = true,
                                   .privileged = true,
                                   .energy = job->energy };
    struct proposals p;

    make_steps(steps);
    ranks[0].notes = ranks[1].notes = notes;
    ranks[0].n_notes = ranks[1].n_notes = make_notes(w, notes, texts);
    for (size_t i = 0; job->collective_s > 0 && i < RANKS; i++)
        ranks[i].total = (struct step){ .number = 100,
                                        .collective_b = 100 * 7.5e8,
                                        .collective_s = 100 * job->collective_s };
    for (int s = 0; s < RUN_SIGNALS; s++)
        moment.values[s] = (double)NAN;
    for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
        moment.values[signals[i].signal] = w->signals[i];
    for (size_t i = 0; i < ARRAY_SIZE(abouts); i++)
        memcpy((char *)&about + abouts[i].at, &w->abouts[i], sizeof(w->abouts[i]));
    make_verdict(w, &v, items);
    if (propose(&p, &about) < 0)
        abort();
    str_addf(out, "%s\n", p.sentence);
    add_list(out, "try", p.list, p.count);
    add_list(out, "barred", p.barred, p.n_barred);
    proposals_done(&p);
}

/* What is other now, under a name; nothing where that changes nothing. */
static void compare(const struct world *w, const struct job *job, const struct str *before,
                    const char *what, struct str *out)
{
    CLEANUP(str_done) struct str now = STR_INIT(ROOM);

    tell(w, job, &now);
    if (strcmp(str_text(&now), str_text(before)) == 0)
        return;
    str_addf(out, " %s\n", what);
    new_lines(out, str_text(&now), str_text(before));
}

/* Each of these numbers times each factor; one that is 0 is set to it instead. */
static void vary(struct world *w, const struct job *job, const struct str *before, double *values,
                 size_t n, const char *(*name)(size_t i), struct str *out)
{
    char what[64];

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < ARRAY_SIZE(factors); k++) {
            double was = values[i];

            values[i] = was > 0 ? was * factors[k] : factors[k];
            snprintf(what, sizeof(what), "%s x %g", name(i), factors[k]);
            compare(w, job, before, what, out);
            values[i] = was;
        }
}

static const char *number_name(size_t i)
{
    return numbers[i].name;
}

static const char *signal_name(size_t i)
{
    return run_signal_name(signals[i].signal);
}

static const char *share_name(size_t i)
{
    return step_stage_name(shares[i].stage);
}

static const char *need_name(size_t i)
{
    static const char *const names[ARRAY_SIZE(needs)] = {
        "need.workers", "need.wait",   "need.starting", "need.on_cpu", "need.queued", "need.margin",
        "need.cpus",    "need.memory", "need.worker",   "need.batch",  "need.epoch",
    };

    return names[i];
}

static const char *about_name(size_t i)
{
    static const char *const names[ARRAY_SIZE(abouts)] = { "least gain", "/dev/shm", "mtbf" };

    return names[i];
}

static void sweep(struct world *w, const struct job *job, struct str *out)
{
    CLEANUP(str_done) struct str before = STR_INIT(ROOM);

    reset(w, job);
    tell(w, job, &before);
    str_addf(out, "%s\n%s", job->name, str_text(&before));
    vary(w, job, &before, w->numbers, ARRAY_SIZE(numbers), number_name, out);
    vary(w, job, &before, w->signals, ARRAY_SIZE(signals), signal_name, out);
    vary(w, job, &before, w->shares, ARRAY_SIZE(shares), share_name, out);
    vary(w, job, &before, w->needs, ARRAY_SIZE(needs), need_name, out);
    vary(w, job, &before, w->abouts, ARRAY_SIZE(abouts), about_name, out);
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        w->words[i] = words[i].other;
        compare(w, job, &before, words[i].name, out);
        w->words[i] = words[i].is;
    }
    for (size_t i = 0; i < ARRAY_SIZE(causes); i++) {
        w->causes ^= 1u << i;
        compare(w, job, &before, cause_name(causes[i]), out);
        w->causes ^= 1u << i;
    }
    w->stream = true;
    compare(w, job, &before, "stream", out);
}

int main(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);
    struct world w;
    struct err e = { "" };

    if (argc != 2 || knobs_load(&w.knobs, "k", data_knobs_ini, data_knobs_ini_len, &e) < 0) {
        printf("Bail out! FILE %s\n", e.text);
        return 1;
    }
    for (size_t i = 0; i < ARRAY_SIZE(jobs); i++)
        sweep(&w, &jobs[i], &out);
    is_int(str_error(&out), 0, "all proposals have room");
    golden(argv[1], str_text(&out));
    knobs_done(&w.knobs);
    return done();
}
