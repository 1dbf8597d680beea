/* All proposals, whole: for a run of each cause, with all that a job may tell and without, under
 * each word of the user; and on either side of what a signal has to be.
 *
 *     t_tune_propose_all FILE */
#include "base/str.h"
#include "diagnose/verdict/judge.h"
#include "golden.h"
#include "knobs_ini.h"
#include "run_made.h"
#include "tune/propose/propose.h"

enum { ROOM = 4 << 20, SEEDS = 3, NOTES = 16 };

static const struct run_note tells[] = {
    { "note.0",
      "loader 1: workers 2, batch 16, batch_bytes 1000000, prefetch 2, pin no, kind map" },
    { "note.1", "process: torch 2.4.0, threads 8, between ops 1, blas reference" },
    { "note.2", "ddp: bucket 25, view no, static no, hook none" },
    { "note.3", "gradients: bytes 100000000" },
    { "note.4", "batch: accumulation 1" },
    { "note.5", "group: backend nccl, world 16" },
    { "checkpoint.interval", "60" },
    { "checkpoint.seconds", "5" },
    { "power.limit", "400" },
    { "clock.limit", "1980" },
    { "disk.readahead", "128" },
    { "cpu.governor", "powersave" },
};

/* The words that a user may give. */
static const struct {
    const char *name;
    bool numeric, privileged, energy, exact;
    double shm_free_b, mtbf_s;
} words[] = {
    { "no word", false, false, false, false, (double)NAN, (double)NAN },
    { "numeric", true, true, false, false, 40e6, 86400 },
    { "energy", false, true, true, true, 1e9, 3600 },
};

static struct str out = STR_INIT(ROOM);

static void add_list(const char *what, const struct candidate *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        str_addf(&out, "  %s %s %s -> %s x%.3f: %s\n", what, list[i].knob->name,
                 list[i].before ? list[i].before : "?", list[i].value, list[i].gain, list[i].why);
}

static void add_proposals(const struct run *r, const struct knobs *knobs, size_t word)
{
    CLEANUP(verdict_done) struct verdict v = { .count = 0 };
    struct propose_about about = { .run = r,
                                   .verdict = &v,
                                   .knobs = knobs,
                                   .numeric = words[word].numeric,
                                   .privileged = words[word].privileged,
                                   .energy = words[word].energy,
                                   .exact = words[word].exact,
                                   .least_gain = 0.02,
                                   .shm_free_b = words[word].shm_free_b,
                                   .mtbf_s = words[word].mtbf_s };
    struct proposals p;

    if (judge_run(r, NULL, &v) != 0 || propose(&p, &about) < 0)
        abort();
    str_addf(&out, " %s: %s\n", words[word].name, p.sentence ? p.sentence : "-");
    add_list("try", p.list, p.count);
    add_list("barred", p.barred, p.n_barred);
    proposals_done(&p);
}

/* What a rank tells, behind what it told already. */
static void tell(struct run *r, struct run_note *notes, bool more)
{
    struct run_rank *k = &r->ranks[0];
    size_t n = 0;

    for (size_t i = 0; more && i < ARRAY_SIZE(tells); i++)
        notes[n++] = tells[i];
    for (size_t i = 0; i < k->n_notes && n < NOTES; i++)
        notes[n++] = k->notes[i];
    for (size_t i = 0; i < r->n_ranks; i++) {
        r->ranks[i].notes = notes;
        r->ranks[i].n_notes = n;
    }
}

static struct made quiet(enum cause cause, uint64_t seed)
{
    struct made m = made_like(cause, seed);

    m.noise = 0;
    m.steps = m.steps > 80 && !m.pause_every ? 80 : m.steps;
    for (int s = 0; s < RUN_SIGNALS; s++)
        m.wild[s] = 0;
    return m;
}

static void add_run(struct made *m, const struct knobs *knobs, bool more)
{
    CLEANUP(run_done) struct run r = { .id = NULL };
    struct run_note notes[NOTES];

    made_build(m, &r);
    tell(&r, notes, more);
    for (size_t w = 0; w < ARRAY_SIZE(words); w++)
        add_proposals(&r, knobs, w);
}

static void add_causes(const struct knobs *knobs)
{
    for (enum cause c = CAUSE_NONE; c < CAUSE_UNKNOWN; c++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct made m = quiet(c, seed);

            str_addf(&out, "%s %d\n", cause_name(c), (int)seed);
            add_run(&m, knobs, seed % 2);
        }
}

/* Signals near what they have to be. */
static void add_edges(const struct knobs *knobs)
{
    static const struct {
        enum cause cause;
        enum run_signal signal;
        double values[4];
    } edges[] = {
        { CAUSE_SMALL_BATCH, RUN_GPU_MEMORY, { 0.44, 0.449, 0.451, 0.6 } },
        { CAUSE_NONE, RUN_GPU_TENSOR_ACTIVE, { 0.1, 0.299, 0.301, 0.5 } },
        { CAUSE_THERMAL, RUN_GPU_BUSY, { 0.79, 0.801, 0.9, 1 } },
        { CAUSE_POWER_CAP, RUN_GPU_WATTS, { 279, 281, 400, 600 } },
        { CAUSE_STORAGE_LATENCY, RUN_DISK_BUSY, { 0.5, 0.899, 0.901, 1 } },
        { CAUSE_STORAGE_BANDWIDTH, RUN_CPUS, { 1, 2, 8, 256 } },
        { CAUSE_LOADER_WAITS, RUN_MEMORY_AVAILABLE, { 1e8, 1e9, 2e9, 1e11 } },
        { CAUSE_FEW_WORKERS, RUN_WORKER_CPU, { 0.05, 0.3, 0.6, 1 } },
        { CAUSE_LOADER_CPU, RUN_CPU_BUSY, { 0.1, 0.5, 0.9, 1 } },
        { CAUSE_MANY_WORKERS, RUN_JOB_CPU, { 1, 4, 8, 32 } },
        { CAUSE_COMMUNICATION, RUN_NET_LOAD, { 0.1, 0.5, 0.9, 1 } },
        { CAUSE_MEMORY_PRESSURE, RUN_JOB_MEMORY, { 1e9, 4e9, 2e10, 6e10 } },
        { CAUSE_MEMORY_UNUSED, RUN_GPU_MEMORY, { 0.1, 0.3, 0.5, 0.9 } },
    };

    for (size_t i = 0; i < ARRAY_SIZE(edges); i++)
        for (size_t k = 0; k < ARRAY_SIZE(edges[i].values); k++) {
            struct made m = quiet(edges[i].cause, 1);

            m.s[RUN_GPUS] = isnan(m.s[RUN_GPUS]) ? (double)NAN : 1;
            m.s[edges[i].signal] = edges[i].values[k];
            str_addf(&out, "%s, %s %g\n", cause_name(edges[i].cause),
                     run_signal_name(edges[i].signal), edges[i].values[k]);
            add_run(&m, knobs, true);
        }
}

int main(int argc, char **argv)
{
    struct knobs knobs;
    struct err e = { "" };

    if (argc != 2 || knobs_load(&knobs, "k", data_knobs_ini, data_knobs_ini_len, &e) < 0) {
        printf("Bail out! FILE %s\n", e.text);
        return 1;
    }
    add_causes(&knobs);
    add_edges(&knobs);
    is_int(str_error(&out), 0, "all proposals have room");
    golden(argv[1], str_text(&out));
    str_done(&out);
    knobs_done(&knobs);
    return done();
}
