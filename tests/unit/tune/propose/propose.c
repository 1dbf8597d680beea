/* Proposals from verdicts over made runs: the knob that fits the cause, values that the machine
 * carries, no word no numeric knob, nothing for a healthy job, every allocation failing once. */
#include "tune/propose/propose.h"

#include <errno.h>

#include "oom_arena.h"
#include "proposed.h"
#include "tap.h"

enum { SEEDS = 20 };

/* ---- the cause and the knob ---- */

static const struct {
    enum cause cause;
    const char *knob;
    bool numeric;
} fits[] = {
    { CAUSE_LOADER_WAITS, "loader.workers", false },
    { CAUSE_FEW_WORKERS, "loader.workers", false },
    { CAUSE_MANY_WORKERS, "loader.workers", false },
    { CAUSE_STORAGE_LATENCY, "loader.readahead", false },
    { CAUSE_SMALL_FILES, "loader.readahead", false },
    { CAUSE_PAGEABLE_COPY, "loader.pin", false },
    { CAUSE_CPU_THREADS, "threads.intra", false },
    { CAUSE_CPU_SPINNING, "threads.waiting", false },
    { CAUSE_BLAS, "blas.library", false },
    { CAUSE_NUMA, "cpu.binding", false },
    { CAUSE_SMALL_BATCH, "torch.compile", true },
};

static bool is_ranked(const struct proposals *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (!p->list[i].why || !*p->list[i].why || !(p->list[i].gain >= 1.02) ||
            (i && p->list[i].gain > p->list[i - 1].gain))
            return false;
    return true;
}

static void test_fits(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(fits); i++) {
        int hits = 0, first = 0, ranked = 0, unasked = 0;

        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct made m = made_like(fits[i].cause, seed);
            struct proposed p;

            made_note(&m, "process", "torch 2.4.0, threads 8, between ops 1, blas generic");
            open_made(&p, &m);
            again(&p);
            for (size_t k = 0; k < p.out.count; k++)
                unasked += p.out.list[k].knob->risk != KNOB_SAFE;
            ranked += is_ranked(&p.out);
            p.about.numeric = fits[i].numeric;
            again(&p);
            hits += allowed(&p, fits[i].knob) != NULL;
            first += p.out.count && !strcmp(p.out.list[0].knob->name, fits[i].knob);
            close_made(&p);
        }
        ok(hits >= SEEDS * 9 / 10, "%s: %s is proposed in %d of %d, first in %d",
           cause_name(fits[i].cause), fits[i].knob, hits, SEEDS, first);
        is_int(unasked, 0, "a numeric setting is never proposed without the word");
        is_int(ranked, SEEDS, "proposals are ranked and have reasons");
    }
}

static void test_healthy(void)
{
    int none = 0, said = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct made m = made_like(CAUSE_NONE, seed);
        struct proposed p;

        made_note(&m, "loader.workers", "4");
        m.s[RUN_WORKERS] = 4 * (double)m.ranks;
        open_made(&p, &m);
        again(&p);
        none += p.out.count == 0;
        said += p.out.sentence && strstr(p.out.sentence, "promises 2 %") != NULL;
        close_made(&p);
    }
    ok(none >= SEEDS * 9 / 10, "%d of %d healthy runs have nothing to try", none, SEEDS);
    is_int(said, none, "a healthy run's sentence names the gain that nothing promises");
}

/* ---- communication ---- */

/* Two ranks that wait for each other half of their time. */
static void open_sending(struct proposed *p, struct made *m, const char *group)
{
    m->ranks = 2;
    m->step_s = 0.2;
    for (int s = 0; s < BRIM_STAGES; s++)
        m->share[s] = 0;
    m->share[BRIM_STAGE_BACKWARD] = 0.5;
    m->share[BRIM_STAGE_COMMUNICATION] = 0.5;
    m->collective_b = 100e6;
    m->collective_s = 0.12;
    made_note(m, "group", group);
    open_made(p, m);
    for (size_t i = 0; i < p->run.n_ranks; i++)
        p->run.ranks[i].total = (struct step){ .number = 10,
                                               .collective_b = 1e9,
                                               .collective_s = 1.2 };
}

static void test_what_is_there(void)
{
    struct made m = made_like(CAUSE_COMMUNICATION, 4);
    struct proposed p;

    made_note(&m, "note.7", "ddp: bucket 50, view yes, static no, hook own");
    open_sending(&p, &m, "backend nccl, world 2");
    p.about.numeric = true;
    again(&p);
    ok(allowed(&p, "ddp.bucket") && !strcmp(allowed(&p, "ddp.bucket")->before, "50"),
       "the buckets of before are those of the job's notes");
    ok(!allowed(&p, "ddp.view") && !allowed(&p, "ddp.hook"),
       "views are there, and a hook of the job's own");
    close_made(&p);
}

static void test_communication(void)
{
    struct made m = made_like(CAUSE_COMMUNICATION, 4);
    struct proposed p;

    open_sending(&p, &m, "backend nccl, world 2");
    again(&p);
    ok(allowed(&p, "ddp.bucket") && strtol(allowed(&p, "ddp.bucket")->value, NULL, 10) < 25,
       "smaller buckets leave less behind: %s MiB",
       allowed(&p, "ddp.bucket") ? allowed(&p, "ddp.bucket")->value : "none");
    ok(!allowed(&p, "ddp.hook") && barred(&p, "ddp.hook"),
       "compression of gradients needs the word");
    ok(allowed(&p, "nccl.channels") && allowed(&p, "nccl.algorithm"),
       "NCCL's channels and algorithm are proposed");
    p.about.exact = true;
    again(&p);
    ok(allowed(&p, "nccl.channels") && !allowed(&p, "nccl.algorithm"),
       "NCCL's algorithm is not proposed where results have to be exact");
    p.about.numeric = true;
    again(&p);
    ok(allowed(&p, "ddp.hook") && !barred(&p, "ddp.hook"), "with it, it is proposed");
    close_made(&p);
}

/* A job of FSDP's, DeepSpeed's or its own exchange: DDP's settings would change nothing. */
static void test_without_ddp(void)
{
    struct made m = made_like(CAUSE_COMMUNICATION, 4);
    struct proposed p;

    made_note(&m, "note.7", "ddp: used no");
    open_sending(&p, &m, "backend nccl, world 2");
    p.about.numeric = true;
    again(&p);
    ok(!allowed(&p, "ddp.bucket") && !allowed(&p, "ddp.hook") && !allowed(&p, "ddp.view"),
       "a job without DDP is proposed none of its settings");
    ok(allowed(&p, "nccl.channels"), "NCCL's settings are proposed without DDP");
    ok(strstr(p.verdict.items[0].action, "FSDP") && !strstr(p.verdict.items[0].action, "DDP("),
       "the advice without DDP is about other ways: %s", p.verdict.items[0].action);
    close_made(&p);
}

/* What DDP sends is seen by nobody: its gradients and the waiting tell. */
static void test_gradients(void)
{
    struct made m = made_like(CAUSE_COMMUNICATION, 4);
    struct proposed p;

    made_note(&m, "note.7", "ddp: bucket 25, view no, static no, hook none");
    made_note(&m, "note.8", "gradients: bytes 100000000");
    made_note(&m, "note.9", "batch: accumulation 1");
    made_note(&m, "process", "torch 2.4.0, threads 8");
    open_sending(&p, &m, "backend gloo, world 2");
    for (size_t i = 0; i < p.run.n_ranks; i++)
        p.run.ranks[i].total = (struct step){ .number = 10 };
    p.about.numeric = true;
    again(&p);
    ok(allowed(&p, "ddp.hook") && !strcmp(allowed(&p, "ddp.hook")->value, "fp16"),
       "gloo is offered the half precision that it sends");
    ok(allowed(&p, "ddp.bucket") != NULL, "other buckets are proposed with gloo");
    ok(allowed(&p, "batch.accumulation") && !strcmp(allowed(&p, "batch.accumulation")->value, "2"),
       "communication half as often is proposed");
    p.about.numeric = false;
    again(&p);
    ok(!allowed(&p, "batch.accumulation") && barred(&p, "batch.accumulation"),
       "communication half as often needs the word");
    close_made(&p);
}

static void test_others(void)
{
    static const char declared[] =
        "[knob.readers]\nflag = --readers\nvalues = 0,2,4\n"
        "[knob.checkpoint.interval]\nflag = --save-every\nvalues = 518..519\n";
    struct made m = waiting();
    struct proposed p;
    struct err e;

    m.share[BRIM_STAGE_WAIT] = 0;
    m.share[BRIM_STAGE_BACKWARD] = 0.8;
    m.share[BRIM_STAGE_CHECKPOINT] = 0.2;
    made_note(&m, "checkpoint.interval", "60");
    made_note(&m, "checkpoint.seconds", "12");
    open_made(&p, &m);
    p.about.mtbf_s = 11160;
    again(&p);
    ok(!allowed(&p, "checkpoint.interval"), "nobody but the job can set how often it saves");
    ok(knobs_declare(&p.knobs, "j", declared, strlen(declared), &e) == 0,
       "knobs_declare takes what the job declares");
    again(&p);
    ok(allowed(&p, "checkpoint.interval") &&
           !strcmp(allowed(&p, "checkpoint.interval")->value, "518"),
       "the interval of checkpoints is Young's");
    ok(p.out.count == 5 && p.out.list[4].knob->declared && isnan(p.out.list[4].gain),
       "declared settings of which nothing is known come last");
    is_str(p.out.sentence, "5 settings are worth a trial",
           "the sentence counts the settings that are worth a trial");
    p.verdict.step_s = (double)NAN;
    again(&p);
    is_str(p.out.sentence, "no steps were seen, so nothing can be compared",
           "the sentence names that no steps were seen");
    close_made(&p);
}

/* Of a long range the first values are tried, whether the job's file or the user names it. */
static void test_long_range(void)
{
    static const char declared[] = "[knob.readers]\nflag = --readers\nvalues = 3..40\n"
                                   "[knob.rows]\nflag = --rows\nvalues = 1..65536 x2\n";
    struct made m = waiting();
    struct proposed p;
    struct err e;
    size_t n[2] = { 0, 0 };
    bool last = false, beyond = false;

    open_made(&p, &m);
    ok(knobs_declare(&p.knobs, "j", declared, strlen(declared), &e) == 0,
       "knobs_declare takes long ranges");
    for (int named = 0; named < 2; named++) {
        p.about.named = named ? (const char *const[]){ "readers", "rows", NULL } : NULL;
        again(&p);
        for (size_t i = 0; i < p.out.count; i++) {
            const struct candidate *c = &p.out.list[i];

            n[named] += c->knob->declared;
            last = last || !strcmp(c->value, "18") || !strcmp(c->value, "32768");
            beyond = beyond || !strcmp(c->value, "19") || !strcmp(c->value, "65536");
        }
        is_int((long long)n[named], 32, "16 values of each of two ranges are tried, way %d", named);
    }
    ok(last && !beyond, "the sixteenth value of a range is tried, and the next one is not");
    close_made(&p);
}

/* The limit of power: where joules count, and for an operator alone. */
static void test_power(void)
{
    struct made m = waiting();
    struct proposed p;
    const struct candidate *c;

    m.s[RUN_GPUS] = 2;
    m.s[RUN_GPU_POWER] = 0.95;
    m.s[RUN_GPU_WATTS] = 1330;
    open_made(&p, &m);
    again(&p);
    ok(!barred(&p, "power.limit") && !allowed(&p, "power.limit"),
       "where time counts it is not named");
    p.about.energy = true;
    again(&p);
    c = barred(&p, "power.limit");
    ok(c && !allowed(&p, "power.limit"), "where joules count it needs a word");
    ok(c && labs(strtol(c->before, NULL, 10) - 700) < 5 &&
           labs(strtol(c->value, NULL, 10) - 560) < 5,
       "the limit of power goes from %s W to %s", c ? c->before : "no", c ? c->value : "nothing");
    close_made(&p);
    m.s[RUN_GPU_POWER] = 0.5;
    open_made(&p, &m);
    p.about.energy = true;
    again(&p);
    ok(!barred(&p, "power.limit"), "devices far from their limit draw what they need");
    ok(!barred(&p, "clock.limit"), "a clock that nobody tells is not locked");
    close_made(&p);
}

/* The locked clock: where joules count, and devices draw less than 70 % of their limit. */
static void test_clock(void)
{
    struct made m = waiting();
    struct proposed p;
    const struct candidate *c;

    m.s[RUN_GPUS] = 2;
    m.s[RUN_GPU_POWER] = 0.69;
    m.s[RUN_GPU_WATTS] = 966;
    made_note(&m, "clock.limit", "1980");
    open_made(&p, &m);
    p.about.privileged = true;
    again(&p);
    ok(!allowed(&p, "clock.limit"), "where time counts no clock is locked");
    p.about.energy = true;
    again(&p);
    c = allowed(&p, "clock.limit");
    ok(c && !strcmp(c->before, "1980") && !strcmp(c->value, "1584"),
       "the clock goes from %s MHz to %s", c ? c->before : "no", c ? c->value : "nothing");
    p.about.privileged = false;
    again(&p);
    ok(barred(&p, "clock.limit") && !allowed(&p, "clock.limit"), "a locked clock needs a word");
    close_made(&p);
    m.s[RUN_GPU_POWER] = 0.7;
    m.s[RUN_GPU_WATTS] = 980;
    open_made(&p, &m);
    p.about.energy = p.about.privileged = true;
    again(&p);
    ok(!allowed(&p, "clock.limit"), "devices near their limit get a lower one, and no lock");
    close_made(&p);
    /* An operator's cap of 300 W holds their clocks down: whether they are locked, too, nobody can
     * tell, and a lower limit takes the clocks down as a lock would. */
    m.s[RUN_GPU_POWER] = 0.98;
    m.s[RUN_GPU_WATTS] = 588;
    m.s[RUN_GPU_CAPPED] = 0.9;
    m.s[RUN_GPU_CLOCK] = 0.7;
    open_made(&p, &m);
    p.about.energy = p.about.privileged = true;
    again(&p);
    c = allowed(&p, "power.limit");
    ok(c && labs(strtol(c->value, NULL, 10) - 240) < 5, "devices under a cap get a lower one: %s W",
       c ? c->value : "no");
    ok(!allowed(&p, "clock.limit"), "devices under a cap get no lock");
    m.s[RUN_GPU_POWER] = 0.5;
    m.s[RUN_GPU_CAPPED] = 0;
    m.s[RUN_GPU_CLOCK] = 1;
    close_made(&p);
    open_made(&p, &m);
    p.about.energy = p.about.privileged = true;
    again(&p);
    ok(allowed(&p, "clock.limit"), "devices that draw far less than their cap get a lock");
    close_made(&p);
}

/* What the machine has set, which is known where an operator allows it. */
static void test_machine(void)
{
    struct made m = waiting();
    struct proposed p;
    const struct candidate *c;

    made_note(&m, "cpu.governor", "powersave");
    open_made(&p, &m);
    again(&p);
    c = barred(&p, "cpu.governor");
    ok(c && !strcmp(c->value, "performance"), "a governor that saves needs a word");
    ok(!barred(&p, "disk.readahead"), "what is not known is not named");
    p.about.privileged = true;
    again(&p);
    ok(allowed(&p, "cpu.governor"), "with it, it is tried");
    p.about.energy = true;
    again(&p);
    ok(!allowed(&p, "cpu.governor"), "a governor is not tried where joules count");
    close_made(&p);
}

/* Devices that are nearly full, and a host that is short of memory: with what that gives back. */
static void test_memory(void)
{
    struct made m = waiting();
    struct proposed p;
    const struct candidate *c;

    m.notes[0][1] = "loader 1: workers 8, batch 16, prefetch 2, pin no, kind map";
    m.s[RUN_GPUS] = 1;
    made_note(&m, "process.torch", "2.4.0");
    m.s[RUN_GPU_MEMORY] = 0.95;
    m.s[RUN_GPU_MEMORY_USED] = 76e9;
    open_made(&p, &m);
    again(&p);
    c = barred(&p, "batch.size");
    ok(c && !strcmp(c->value, "8") && strstr(c->why, "up to 38 GB"),
       "half the batch is named for want of memory: %s", c ? c->why : "");
    c = allowed(&p, "model.recompute");
    ok(c && strstr(c->why, "up to 76 GB"), "the reason for recomputing names the memory: %s",
       c ? c->why : "");
    close_made(&p);
    m.s[RUN_GPU_MEMORY] = 0.5;
    m.s[RUN_MEMORY_PRESSURE] = 0.5;
    m.s[RUN_JOB_RESIDENT] = 9e9;
    m.s[RUN_JOB_PROCESSES] = 9;
    open_made(&p, &m);
    again(&p);
    ok(!barred(&p, "batch.size") && !allowed(&p, "model.recompute"), "with room none is named");
    c = allowed(&p, "loader.workers");
    ok(c && !strcmp(c->value, "4") && strstr(c->why, "4 workers less give back up to 4.0 GB"),
       "fewer workers are proposed for want of memory: %s", c ? c->why : "");
    close_made(&p);
}

/* What the user names is tried whatever it promises; words need to fit. */
static void test_named(void)
{
    static const char *const named[] = { "malloc.library", "threads.openmp=3", "nccl.buffer",
                                         NULL };
    struct made m = waiting();
    struct proposed p;
    struct err e = { "" };

    made_note(&m, "process.openmp", "yes");
    open_made(&p, &m);
    is_int(propose_check(&p.knobs, "malloc.library", &e), 0,
           "propose_check takes a knob by its name");
    is_int(propose_check(&p.knobs, "threads.openmp=3", &e), 0,
           "propose_check takes a knob with a value");
    is_int(propose_check(&p.knobs, "threads.openmp", &e), -EINVAL, "one that needs a value");
    is_str(e.text, "threads.openmp takes 1 to 256: name one, threads.openmp=256",
           "the error names the values that the knob takes");
    is_int(propose_check(&p.knobs, "malloc.library=x", &e), -EINVAL,
           "propose_check refuses a value that the knob has not");
    is_int(propose_check(&p.knobs, "maloc.library", &e), -EINVAL,
           "propose_check refuses a knob that does not exist");
    is_str(e.text, "there is no knob 'maloc.library' (did you mean malloc.library?)",
           "the error names the nearest knob");
    p.about.named = named;
    again(&p);
    ok(allowed(&p, "malloc.library") && allowed(&p, "threads.openmp"), "both are tried");
    ok(!allowed(&p, "nccl.buffer"), "what the job has no use for is not");
    ok(isnan(p.out.list[p.out.count - 1].gain),
       "what the user names comes behind what promises something");
    close_made(&p);
}

/* ---- what won before ---- */

/* What was promising comes first; what is refused does not come, nor does more of it. */
static void test_remembered(void)
{
    struct made m = waiting();
    struct profile_setting memos[] = {
        { .knob = "loader.workers",
          .value = "7",
          .gain = 3.6,
          .low = 1.1,
          .high = 8.8,
          .steps = 70,
          .kind = PROFILE_CANDIDATE },
        { .knob = "loader.persistent", .value = "yes", .gain = 3.6, .kind = PROFILE_CANDIDATE },
        { .knob = "loader.workers", .value = "8", .gain = (double)NAN, .kind = PROFILE_REFUSED },
    };
    const struct profile won = { .memos = memos, .n_memos = ARRAY_SIZE(memos) };
    struct proposed p;

    open_made(&p, &m);
    p.about.won = &won;
    again(&p);
    is_str(p.out.list[0].value, "7", "what was promising when the job ended is tried first");
    is_str(p.out.list[0].why,
           "the profile has it as promising: 4.6 times as fast (2.1 to 9.8) in 70 steps, not yet "
           "sure",
           "the reason has what a candidate showed");
    ok(p.out.list[0].also != NULL, "a candidate brings along what was tried with it");
    is_str(p.out.list[1].value, "4", "models propose half of what is refused at most");
    memos[2].value = "7";
    again(&p);
    is_str(p.out.list[0].value, "3", "a candidate that is refused is not tried");
    p.about.named = (const char *const[]){ "loader.workers=9", NULL };
    again(&p);
    is_int((long long)p.out.count, 2, "the user may name what is refused");
    close_made(&p);
}

static void test_won(void)
{
    struct made m = waiting();
    struct profile_setting settings[] = {
        { .knob = "threads.intra", .value = "2", .before = "64", .gain = (double)NAN },
        { .knob = "loader.workers", .value = "9", .gain = 3, .date = "2026-11-21" },
        { .knob = "precision.autocast", .value = "bf16", .before = "none", .gain = 1 },
        { .knob = "loader.prefetch", .value = "4", .gain = 1 },
        { .knob = "no.such", .value = "4", .gain = 1 },
        { .knob = "loader.readahead", .value = "3", .before = "0", .gain = 1 },
    };
    const struct profile won = { .settings = settings, .count = ARRAY_SIZE(settings) };
    const struct candidate *c;
    struct proposed p;

    made_note(&m, "process", "torch 2.4.0, threads 8, between ops 1, blas generic");
    open_made(&p, &m);
    p.about.won = &won;
    again(&p);
    c = p.out.list;
    ok(p.out.count >= 3 && !strcmp(c[0].knob->name, "loader.workers") && !strcmp(c[0].value, "9"),
       "what gained most is the first");
    is_str(c[0].why, "the profile has it: 4 times as fast on 2026-11-21",
           "the reason names what the profile gained, and when");
    is_str(c[0].before, "0", "from what the job has now");
    is_str(c[1].knob->name, "threads.intra", "settings without a gain come behind those with one");
    is_str(c[1].why, "the profile has it", "the reason of a setting without a gain is the profile");
    is_str(c[1].before, "8", "from what this process has, not the one of the profile");
    ok(!strcmp(c[2].knob->name, "loader.workers") && !strcmp(c[2].value, "5"),
       "what models propose comes behind the profile");
    ok(p.out.n_barred && !strcmp(p.out.barred[0].knob->name, "precision.autocast"),
       "a numeric setting of the profile needs the word");
    is_str(p.out.n_barred ? p.out.barred[0].before : "", "none", "from what the profile tells");
    ok(!allowed(&p, "loader.prefetch"), "what does not fit the job is left out");
    ok(!allowed(&p, "loader.readahead"), "a value that does not exist is not proposed");
    settings[1].value = "0";
    again(&p);
    is_str(allowed(&p, "loader.workers")->value, "5",
           "a value that the job has already is not proposed");
    settings[2].before = "";
    settings[0].gain = 0.001;
    again(&p);
    ok(p.out.n_barred && !p.out.barred[0].before, "nothing is gone back to that is no value");
    is_str(p.out.list[0].knob->name, "threads.intra", "what gained next to nothing is tried");
    close_made(&p);
}

static void test_takes(void)
{
    struct made m = waiting();
    const struct candidate *c;
    struct proposed p;

    m.notes[0][1] = "loader 1: workers 0, batch 16, batch_bytes 2000000, kind map";
    made_note(&m, "process", "torch 2.4.0, threads 8");
    open_made(&p, &m);
    again(&p);
    c = allowed(&p, "loader.workers");
    ok(c && strstr(c->why, "carry them, with some 72 MB of memory"),
       "five workers of 14.5 MB are proposed: %s", c ? c->why : "");
    close_made(&p);
}

static void test_oom(void)
{
    struct made m = waiting();
    struct proposed p;
    bool failed;

    m.notes[0][1] = "loader 1: workers 4, batch 16, prefetch 2, pin no, kind map";
    open_made(&p, &m);
    oom_restart();
    do {
        int rc;

        proposals_done(&p.out);
        oom_next();
        rc = propose(&p.out, &p.about);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM && !p.out.list : rc == 0,
           "propose with allocation %d failing returns %d", oom_at, rc);
    } while (failed);
    ok(p.out.count > 0, "there were some");
    close_made(&p);
}

int main(void)
{
    test_fits();
    test_healthy();
    test_communication();
    test_without_ddp();
    test_gradients();
    test_what_is_there();
    test_others();
    test_long_range();
    test_power();
    test_clock();
    test_machine();
    test_memory();
    test_named();
    test_won();
    test_remembered();
    test_takes();
    test_oom();
    return done();
}
