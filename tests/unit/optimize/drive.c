/* Jobs that are optimised while they run, simulated (sim_job.h). What is found, what is undone,
 * what is told. */
#include "brim/ring.h"
#include "oom.h"
#include "optimize/drive/drive_private.h"
#include "sim_job.h"
#include "tap.h"

/* ---- what is found ---- */

static void test_finds(unsigned ranks)
{
    struct sim s;
    struct drive_report r;
    const struct session_entry *k;

    sim_init(&s, 3);
    s.ranks = ranks;
    is_int(sim_start(&s, false), 0, "the drive of a job with %u ranks starts", ranks);
    sim_run(&s, 0);
    sim_run(&s, 500);
    sim_end(&s, 0, &r);
    k = sim_entry(&r, "loader.workers");
    ok(k && k->outcome == SESSION_ADOPTED && s.workers >= 11, "at least 11 workers are adopted: %d",
       s.workers);
    ok(k && k->effect.low > 0 && k->effect.high < 5,
       "the last value's gain lies from %+.2f to %+.2f", k->effect.low, k->effect.high);
    ok(drive_steps_per_s(&r.after) > 7 * drive_steps_per_s(&r.before),
       "the job gets 7 times as fast: %.1f steps/s, then %.1f", drive_steps_per_s(&r.before),
       drive_steps_per_s(&r.after));
    ok(fabs(drive_samples_per_s(&r.after) / drive_steps_per_s(&r.after) - 16 * ranks) < 0.01,
       "samples of a step are those of all ranks");
    ok(r.before.resident_b == 1e9 && r.after.resident_b > 2e9,
       "the report has the resident memory before and after");
    ok(r.before.pss_b == 0.5e9 && r.after.pss_b > 0.6e9 && r.after.pss_b < 1e9,
       "the report counts shared memory once, before and after");
    ok(isnan(r.after.device_b) && k && isnan(k->device_b),
       "device memory is not known without devices");
    ok(k && k->memory_b > 1e7 && k->memory_b < 2e8, "the last workers take %.0f MB",
       k ? k->memory_b / 1e6 : 0);
    is_int((long long)r.ranks, ranks, "the report counts all ranks");
    ok(strstr(s.said, "trying loader.workers=") && strstr(s.said, "times as fast"),
       "the trial's begin and gain are told");
    ok(strstr(s.said, "2 of ") && strstr(s.said, "trials changed something: no setting is left"),
       "the session's trials and end are told");
    sim_done(&s);
}

/* What is stored with the run: each trial with its time, and rates before and after. */
static void test_record(void)
{
    const struct run_tuning *t = NULL;
    const struct observe_pilot *p;
    unsigned version = 0, was;
    struct drive_report r;
    bool in_trial = false;
    struct sim s;

    sim_init(&s, 3);
    is_int(sim_start(&s, false), 0, "the drive of a job that is recorded starts");
    p = drive_pilot(s.drive);
    ok(!p->tried(p->arg, &version), "nothing is recorded before ranks make steps");
    for (int i = 0; i < 4000 && !in_trial; i++) {
        sim_run(&s, 1);
        t = p->tried(p->arg, &version);
        in_trial = t && t->n_trials == 1 && t->trials[0].end == RUN_TRIAL_RUNS;
    }
    ok(in_trial && t->trials[0].begin_ns > 0 && !t->trials[0].end_ns,
       "the trial that goes on is recorded with its begin");
    was = version;
    sim_run(&s, 0);
    sim_run(&s, 500);
    t = p->tried(p->arg, &version);
    ok(version > was, "the record's version grows with what is told");
    sim_end(&s, 0, &r);
    t = p->tried(p->arg, &version);
    ok(t && t->n_trials >= 2 && t->goal == RUN_GOAL_THROUGHPUT, "the record has all trials");
    for (size_t i = 0; t && i < t->n_trials; i++)
        ok(t->trials[i].begin_ns > 0 && t->trials[i].end_ns > t->trials[i].begin_ns &&
               (i == 0 || t->trials[i].begin_ns >= t->trials[i - 1].end_ns),
           "trial %zu begins behind the one before and ends", i);
    ok(t && t->after.steps_per_s > 7 * t->before.steps_per_s && isnan(t->after.price),
       "the record has steps a second before and after");
    ok(t && !strcmp(run_tuning_kept(t, "loader.workers"), sim_entry(&r, "loader.workers")->value),
       "the record has the workers that were kept");
    sim_done(&s);
}

/* A setting of a profile is the first to be tried, and the proof is a new one. */
static void test_won(void)
{
    struct profile_setting setting = { .knob = "loader.workers", .value = "12", .gain = 20 };
    const struct profile won = { .settings = &setting, .count = 1 };
    const struct session_entry *k;
    struct drive_report r;
    struct sim s;

    sim_init(&s, 3);
    s.won = &won;
    is_int(sim_start(&s, false), 0, "the drive of a job with a profile starts");
    sim_run(&s, 0);
    sim_end(&s, 0, &r);
    k = &r.session->entries[0];
    ok(r.session->n_entries && !strcmp(k->value, "12") && k->outcome == SESSION_ADOPTED,
       "the setting of the profile is tried first and adopted");
    is_str(k->why, "the profile has it: 21 times as fast",
           "the reason names the gain in the profile");
    ok(k->effect.gain > 5 && k->effect.gain < 15,
       "the gain of the profile's setting is measured anew: %.2f", k->effect.gain);
    sim_done(&s);
}

/* With many processes memory is read once in minutes, and when that is asked for. */
static void test_rare(void)
{
    struct drive_report r;
    const struct session_entry *k;
    struct sim s;

    sim_init(&s, 3);
    s.rare = true;
    is_int(sim_start(&s, false), 0, "the drive of a job whose memory is read seldom starts");
    sim_run(&s, 0);
    sim_run(&s, 500);
    sim_end(&s, 0, &r);
    ok(r.before.pss_b == 0.5e9 && r.after.pss_b > 0.6e9 && r.after.pss_b < 1e9,
       "memory that is read seldom is known at the end: %.2f GB", r.after.pss_b / 1e9);
    k = &r.session->entries[0];
    ok(k->memory_b > 5e7 && k->memory_b < 5e8,
       "memory that a setting takes is known though read seldom: %.0f MB", k->memory_b / 1e6);
    sim_done(&s);
}

/* What was read before there were workers is nothing that they have, and of each process by itself
 * nothing that can be compared with it. */
static void test_once(void)
{
    struct drive_report r;
    const struct session_entry *k;
    struct sim s;

    sim_init(&s, 3);
    s.once = true;
    s.fetch_s = 0.3;
    is_int(sim_start(&s, false), 0,
           "the drive of a job whose memory is read before it trains starts");
    sim_run(&s, 0);
    sim_run(&s, 500);
    sim_end(&s, 0, &r);
    k = &r.session->entries[0];
    ok(r.before.pss_b == 0.5e9 && isnan(r.after.pss_b),
       "memory is known before the trials and not after");
    ok(k->outcome == SESSION_ADOPTED && isnan(k->memory_b),
       "memory that workers take is not known from one reading");
    sim_done(&s);
}

/* A setting that makes steps ten times as fast is decided in as many steps as those of before. */
static void test_soon(void)
{
    struct drive_report r;
    const struct session_entry *k;
    struct sim s;

    sim_init(&s, 3);
    s.compute_s = 0.004;
    is_int(sim_start(&s, false), 0, "the drive of a job that waits for 97 %% of the time starts");
    sim_run(&s, 0);
    sim_end(&s, 0, &r);
    k = &r.session->entries[0];
    ok(r.session->n_entries && k->outcome == SESSION_ADOPTED && k->at_step <= 300 && k->at_s < 60,
       "%s workers are adopted after %u steps and %.0f s, %.1f times as fast", k->value, k->at_step,
       k->at_s, 1 + k->effect.gain);
    sim_done(&s);
}

/* A job in a time namespace, or with a clock of its own, is seen and made faster as any other. */
static void test_behind(void)
{
    struct drive_report r;
    const struct session_entry *k;
    struct sim s;

    sim_init(&s, 3);
    s.now_ns = INT64_C(1000000000000);
    s.behind_ns = INT64_C(900000000000);
    is_int(sim_start(&s, false), 0, "the drive of a job whose clock is 15 minutes behind starts");
    sim_run(&s, 0);
    sim_end(&s, 0, &r);
    k = sim_entry(&r, "loader.workers");
    ok(k && k->outcome == SESSION_ADOPTED, "workers are adopted with a clock that is behind");
    sim_done(&s);
}

/* Four workers that do not keep up: most steps wait for nothing, and one in four for all. */
static void test_bursts(void)
{
    struct sim s;
    struct drive_report r;
    const struct session_entry *k;

    sim_init(&s, 5);
    s.workers = 4;
    is_int(sim_start(&s, false), 0, "the drive of a job with four workers starts");
    sim_note(&s, 0, "loader.workers=4");
    sim_run(&s, 0);
    sim_end(&s, 0, &r);
    k = sim_entry(&r, "loader.workers");
    ok(k && k->outcome == SESSION_ADOPTED && s.workers >= 10, "at least 10 workers are adopted: %d",
       s.workers);
    ok(k && k->effect.gain > 1.1 && k->effect.gain < 2.2,
       "the gain is that in the mean of all steps: %.2f", k ? k->effect.gain : 0);
    sim_done(&s);
}

static void test_nothing(void)
{
    struct sim s;
    struct drive_report r;

    sim_init(&s, 1);
    s.fetch_s = 0.0001;
    is_int(sim_start(&s, false), 0, "the drive of a job that only computes starts");
    sim_run(&s, 0);
    sim_end(&s, 0, &r);
    ok(r.session->phase == PHASE_OVER && s.requests == 0,
       "a job that only computes is asked for nothing");
    ok(strstr(s.said, "nothing worth changing: no setting"),
       "the report says that nothing is worth changing: %s", s.said);
    sim_done(&s);
}

/* ---- what goes wrong ---- */

static void test_refusals(void)
{
    for (int both = 0; both < 2; both++) {
        struct sim s;
        struct drive_report r;
        const struct session_entry *k;

        sim_init(&s, 2);
        s.ranks = 2;
        s.refuses[1] = true;
        s.refuses[0] = both;
        is_int(sim_start(&s, false), 0, "the drive starts where %s",
               both ? "both refuse" : "one of two refuses");
        sim_run(&s, 0);
        sim_end(&s, 0, &r);
        k = sim_entry(&r, "loader.workers");
        ok(k && k->outcome == SESSION_BROKE && s.workers == 0,
           "no rank keeps a setting that one of them refused");
        is_str(k ? k->note : "", "it is iterable", "the entry has the reason of the refusal");
        is_str(r.session->reason, "no setting is left that promises enough",
               "a session goes on after a refusal");
        is_int(s.requests, both ? 1 : 2,
               "only the rank that obeyed is asked to take the setting back");
        sim_done(&s);
    }
}

static void test_silence(void)
{
    struct sim s;
    struct drive_report r;

    sim_init(&s, 2);
    s.silent = true;
    is_int(sim_start(&s, false), 0, "the drive of a job that does not listen starts");
    sim_run(&s, 0);
    sim_end(&s, 0, &r);
    is_str(r.session->reason, "the job does not listen to brim",
           "a job that does not listen ends the session");
    sim_done(&s);

    sim_init(&s, 2);
    s.hangs = true;
    is_int(sim_start(&s, false), 0, "the drive of a job that hangs starts");
    sim_run(&s, 0);
    sim_end(&s, 1, &r);
    ok(strstr(s.said, "the job has made no mark for 60 s"),
       "a job that makes no mark for 60 s is told of");
    sim_done(&s);
}

/* The shim takes workers back that were kept, for want of memory: fewer stay, more are refused. */
static void test_memory(void)
{
    for (unsigned left = 0; left < 8; left += 4) {
        struct sim s;
        struct drive_report r;
        const struct session_entry *k = NULL;
        unsigned refused = 0;
        char word[120];

        sim_init(&s, 2);
        is_int(sim_start(&s, false), 0, "the drive of a job starts whose memory runs low");
        sim_run(&s, 0);
        snprintf(
            word, sizeof(word),
            "loader 1: workers %u, prefetch 2 in force, for memory ran low with 12 workers: so",
            left);
        sim_note(&s, 0, word);
        sim_run(&s, 50);
        sim_end(&s, 0, &r);
        for (unsigned i = 0; i < r.session->n_entries; i++) {
            const struct session_entry *e = &r.session->entries[i];

            refused += e->refused && !strcmp(e->note, "memory ran low with 12 workers: so");
            k = e->outcome == SESSION_ADOPTED && !strcmp(e->knob, "loader.workers") ? e : k;
        }
        ok(refused > 0, "what memory did not carry is refused, with %u left", left);
        is_str(k ? k->value : "none", left ? "4" : "none", "what memory carries stays kept");
        sim_done(&s);
    }
}

/* A job that is killed (signal 9) in a trial has not had the memory for it, for all one knows. */
static void test_killed(void)
{
    struct sim s;
    struct drive_report r;
    const struct session_entry *k;

    sim_init(&s, 2);
    s.dies_at = 1;
    is_int(sim_start(&s, false), 0, "the drive of a job that is killed starts");
    sim_run(&s, 5000);
    sim_end(&s, 137, &r);
    k = sim_entry(&r, "loader.workers");
    ok(k && k->refused, "what a job was killed with is refused");
    sim_done(&s);
}

static void test_death(void)
{
    struct sim s;
    struct drive_report r;
    const struct session_entry *k;

    sim_init(&s, 2);
    s.dies_at = 1;
    is_int(sim_start(&s, false), 0, "the drive of a job that dies starts");
    sim_run(&s, 5000);
    sim_end(&s, 3, &r);
    k = sim_entry(&r, "loader.workers");
    ok(k && k->outcome == SESSION_BROKE, "a job that dies in a trial breaks the setting");
    ok(k && !k->refused, "a job that ends with a status of its own refuses nothing");
    is_str(k ? k->note : "", "the job died (exit status 3) while it was tried",
           "the note has the exit status of the job that died");
    sim_done(&s);

    sim_init(&s, 2);
    is_int(sim_start(&s, false), 0, "the drive of a job that is interrupted starts");
    while (!s.requests)
        sim_run(&s, 1);
    sim_run(&s, 30);
    sim_end(&s, 130, &r);
    k = sim_entry(&r, "loader.workers");
    ok(k && k->outcome == SESSION_UNDECIDED,
       "a job that is interrupted leaves the setting undecided");
    sim_done(&s);
}

static void test_restart(void)
{
    struct sim s;
    struct drive_report r;

    sim_init(&s, 2);
    s.restarts_at = 20;
    is_int(sim_start(&s, false), 0, "the drive of a job whose first processes end starts");
    sim_run(&s, 0);
    sim_end(&s, 0, &r);
    ok(sim_entry(&r, "loader.workers") &&
           sim_entry(&r, "loader.workers")->outcome == SESSION_ADOPTED,
       "processes that follow before any trial are optimised");
    sim_done(&s);

    sim_init(&s, 2);
    s.restarts_at = 90;
    is_int(sim_start(&s, false), 0, "the drive of a job whose processes end in a trial starts");
    sim_run(&s, 1500);
    sim_end(&s, 0, &r);
    is_str(r.session->reason, "other processes go on with the job",
           "processes that follow in a trial end the session");
    sim_done(&s);
}

/* ---- afterwards ---- */

static void test_guard(void)
{
    struct sim s;
    struct drive_report r;

    sim_init(&s, 2);
    is_int(sim_start(&s, false), 0, "the drive of a job whose gain will decay starts");
    sim_run(&s, 0);
    ok(s.workers > 10, "more than 10 workers are in force after the trials");
    s.decays_at = s.steps + 2000;
    sim_run(&s, 2000);
    ok(s.workers > 10 || s.requests > 0, "workers that still pay stay or are compared");
    sim_run(&s, 4000);
    sim_end(&s, 0, &r);
    ok(s.workers == 0 && sim_entry(&r, "loader.workers")->outcome == SESSION_ROLLED_BACK &&
           r.session->entries[0].outcome == SESSION_ROLLED_BACK,
       "workers that stop paying are rolled back, all of them");
    ok(strstr(s.said, "it did not last"), "the report says that the gain did not last");
    sim_done(&s);
}

/* Steps get slower, since another setting than the one that is looked at does not pay any more. */
static void test_suspects(void)
{
    struct profile_setting setting = { .knob = "loader.workers", .value = "12", .gain = 20 };
    const struct profile won = { .settings = &setting, .count = 1 };
    const struct session_entry *half, *workers;
    struct drive_report r;
    struct sim s;

    sim_init(&s, 5);
    s.compute_s = 0.06;
    s.gpu = s.losses = true;
    s.won = &won;
    is_int(sim_start(&s, true), 0, "the drive of a job with two settings starts");
    sim_run(&s, 0);
    sim_run(&s, 600);
    ok(s.workers == 12 && s.half, "12 workers and half precision are in force");
    s.decays_at = s.steps;
    sim_run(&s, 3000);
    sim_end(&s, 0, &r);
    half = sim_entry(&r, "precision.autocast");
    workers = sim_entry(&r, "loader.workers");
    ok(half && half->outcome == SESSION_ADOPTED && s.half,
       "half precision, which still pays, stays");
    ok(workers && workers->outcome == SESSION_ROLLED_BACK && s.workers == 0,
       "workers, which do not pay any more, are rolled back: %s",
       workers ? session_outcome_name(workers->outcome) : "not tried");
    sim_done(&s);
}

/* Of a knob that was set twice the first value is not in force any more: there is nothing else to
 * look at when the second one holds. */
static void test_replaced(void)
{
    struct profile_setting setting = { .knob = "loader.workers", .value = "4", .gain = 4 };
    const struct profile won = { .settings = &setting, .count = 1 };
    bool looked = false, again = false;
    struct drive_report r;
    struct sim s;

    sim_init(&s, 2);
    s.won = &won;
    is_int(sim_start(&s, false), 0, "the drive of a job with workers in its profile starts");
    sim_run(&s, 0);
    sim_run(&s, 500);
    ok(s.drive->kept == 2 && s.workers > 10, "a second value of the knob is adopted: %d workers",
       s.workers);
    s.compute_s = 0.03;
    for (int i = 0; i < 4000; i++) {
        sim_run(&s, 1);
        looked = looked || (s.drive->watch.guard.checking && s.drive->watch.guard.alarmed);
        again = again || s.drive->watch.doubtful;
    }
    sim_end(&s, 0, &r);
    ok(looked, "workers are compared when steps get slower");
    ok(!again && sim_entry(&r, "loader.workers")->outcome == SESSION_ADOPTED,
       "workers are compared once and stay adopted");
    sim_done(&s);
}

/* Two processes that train on their own; the second one begins a moment later. */
static void test_two_jobs(void)
{
    struct drive_report r;
    struct sim s;

    sim_init(&s, 2);
    s.ranks = 2;
    s.late = 4;
    s.fetch_s = 0.001;
    s.compute_s = 0.01;
    is_int(sim_start(&s, false), 0, "the drive of two jobs in one starts");
    for (unsigned i = 0; i < s.ranks; i++)
        ((struct brim_ring_header *)(void *)s.map[i])->world = 1;
    sim_run(&s, 200);
    sim_end(&s, 0, &r);
    is_str(r.off ? r.off : "", "2 processes train on their own: the job is only observed",
           "two processes that train on their own are only observed");
    sim_done(&s);
}

/* A process that trains for a moment and ends: the ones that come later are waited for as ever. */
/* What remains is that of the settings that are in force, and not of the few steps since a trial
 * took its own back. */
static void test_end_in_trial(void)
{
    struct drive_report r;
    struct sim s;

    sim_init(&s, 2);
    is_int(sim_start(&s, false), 0, "the drive of a job that ends in a trial starts");
    while (s.drive->session.phase != PHASE_TRIAL || !s.drive->session.in_force)
        sim_run(&s, 1);
    while (s.drive->session.in_force || !drive_at_best(s.drive))
        sim_run(&s, 1);
    is_int(s.drive->session.phase, PHASE_TRIAL, "a trial takes its setting back in between");
    sim_end(&s, 0, &r);
    ok(r.remains && r.remains->count && !r.remains->too_few,
       "what remains of a job that ends in a trial is what limited it before");
    sim_done(&s);

    sim_init(&s, 2);
    is_int(sim_start(&s, false), 0, "the drive of a job that ends at once starts");
    while (!s.drive->join.members)
        sim_run(&s, 1);
    sim_end(&s, 0, &r);
    ok(!r.remains || !r.remains->too_few,
       "of a job that ends before it can be judged nothing remains");
    sim_done(&s);
}

static void test_short(void)
{
    struct drive_report r;
    struct sim s;

    sim_init(&s, 2);
    s.fetch_s = 0.001;
    s.compute_s = 0.01;
    is_int(sim_start(&s, false), 0, "the drive of a process that ends soon starts");
    sim_run(&s, 8);
    ok(s.drive->first_ns > 0 && s.drive->state == DRIVE_WAITS, "a process that trains is noticed");
    ((struct brim_ring_header *)(void *)s.map[0])->closed = 1;
    sim_run(&s, 1);
    is_int(s.drive->first_ns, 0, "a process that ends is forgotten");
    sim_end(&s, 0, &r);
    sim_done(&s);
}

static void test_stop(void)
{
    struct sim s;
    struct drive_report r;

    sim_init(&s, 2);
    is_int(sim_start(&s, false), 0, "the drive of a job that the user stops starts");
    while (!s.workers)
        sim_run(&s, 1);
    sim_run(&s, 20);
    drive_pilot(s.drive)->stop(s.drive);
    sim_run(&s, 200);
    sim_end(&s, 0, &r);
    ok(s.workers == 0 && r.session->phase == PHASE_OVER,
       "a setting on trial is taken back when the user stops");
    is_str(r.session->reason, "it was stopped", "the reason says that the session was stopped");
    sim_done(&s);
}

/* ---- numbers ---- */

static void test_numeric(void)
{
    for (int hurts = 0; hurts < 2; hurts++) {
        struct sim s;
        struct drive_report r;
        const struct session_entry *k;

        sim_init(&s, 4);
        s.fetch_s = 0.0001;
        s.gpu = s.losses = true;
        s.hurts = hurts;
        is_int(sim_start(&s, true), 0, "the drive of a job that half precision %s starts",
               hurts ? "hurts" : "helps");
        sim_run(&s, 0);
        sim_run(&s, 1000);
        sim_end(&s, 0, &r);
        k = sim_entry(&r, "precision.autocast");
        ok(k && k->outcome == (hurts ? SESSION_BROKE : SESSION_ADOPTED) && s.half == !hurts,
           "half precision is in force only if the loss allows it: %s",
           k ? session_outcome_name(k->outcome) : "not tried");
        if (hurts)
            ok(k && strstr(k->note, "the loss"),
               "the note of a setting that hurts names the loss: %s", k ? k->note : "?");
        sim_done(&s);
    }
}

static void test_numeric_needs(void)
{
    struct sim s;
    struct drive_report r;
    const struct session_entry *k;

    sim_init(&s, 4);
    s.fetch_s = 0.0001;
    s.gpu = s.losses = true;
    is_int(sim_start(&s, false), 0, "the drive of a job starts without --allow numeric");
    sim_run(&s, 0);
    sim_end(&s, 0, &r);
    k = sim_entry(&r, "precision.autocast");
    is_str(k ? k->note : "", "it changes numbers: --allow numeric",
           "the note names --allow numeric");
    ok(k && k->outcome == SESSION_LEFT && !s.half && !s.requests,
       "half precision is not tried without --allow numeric");
    sim_done(&s);

    sim_init(&s, 4);
    s.fetch_s = 0.0001;
    s.gpu = s.losses = true;
    is_int(sim_start(&s, true), 0, "the drive of a job without losses starts");
    s.losses = false;
    sim_run(&s, 0);
    sim_end(&s, 0, &r);
    k = sim_entry(&r, "precision.autocast");
    is_str(k ? k->note : "", "the job tells no loss that could be compared",
           "half precision is not tried without a loss to compare");
    sim_done(&s);
}

/* ---- without memory ---- */

/* Whether so many workers are what was kept, or what was there. */
static bool is_kept(const struct drive_report *r, int workers)
{
    for (unsigned i = 0; i < r->session->n_entries && workers; i++)
        if (r->session->entries[i].outcome == SESSION_ADOPTED &&
            strtol(r->session->entries[i].value, NULL, 10) == workers)
            return true;
    return !workers;
}

/* Each allocation of a whole session fails once: the job goes on, and has only what was kept. */
static void test_oom(void)
{
    int wrong = 0, rounds = 0;
    bool failed;

    oom_restart();
    do {
        struct sim s;
        struct drive_report r;

        sim_init(&s, 3);
        oom_next();
        if (sim_start(&s, false) == 0) {
            sim_run(&s, 700);
            drive_pilot(s.drive)->stop(s.drive);
            sim_run(&s, 600);
            sim_end(&s, 0, &r);
            wrong += !is_kept(&r, s.workers);
        }
        failed = oom_end();
        rounds++;
        sim_done(&s);
        oom_at += oom_at / 16; /* all of the first ones, then some */
    } while (failed);
    ok(wrong == 0, "no failed allocation leaves a setting behind: %d of %d do", wrong, rounds);
}

static bool is_on_trial(const struct sim *s)
{
    struct drive_report r;

    drive_tell(s->drive, &r);
    return r.session->phase == PHASE_TRIAL && s->workers > 0;
}

/* A rank's host is out of reach: what was on trial goes, and nothing else is tried. */
static void test_parted(void)
{
    const struct ring_event gone = { .kind = RING_GONE, .ring = 1 };
    struct drive_report r;
    unsigned requests;
    struct sim s;

    sim_init(&s, 23);
    s.ranks = 2;
    is_int(sim_start(&s, false), 0, "sim_start begins with two ranks");
    for (int i = 0; i < 5000 && !is_on_trial(&s); i++)
        sim_run(&s, 1);
    ok(is_on_trial(&s), "workers are on trial");
    drive_pilot(s.drive)->event(s.drive, &gone);
    sim_run(&s, 200);
    ok(!strcmp(s.control->text, "loader.workers=0"), "workers on trial are taken back: %s",
       s.control->text);
    is_int((long long)s.control->at_step, 0, "each rank that is left goes back by itself");
    requests = (unsigned)s.control->number;
    sim_run(&s, 3000);
    is_int((long long)s.control->number, requests, "nothing is asked of a job that is torn apart");
    ok(strstr(s.said, "ranks on another host are out of reach"), "the user is told why");
    sim_end(&s, 0, &r);
    ok(!sim_entry(&r, "loader.workers") ||
           sim_entry(&r, "loader.workers")->outcome != SESSION_ADOPTED,
       "a trial that was torn apart keeps nothing");
    sim_done(&s);
}

static void test_may(void)
{
    const struct observe_pilot *p;
    struct sim s;

    sim_init(&s, 24);
    is_int(sim_start(&s, false), 0, "sim_start begins without leave for numbers");
    p = drive_pilot(s.drive);
    ok(p->may(s.drive, "loader.workers=5"), "a loader's setting may be asked for by another host");
    ok(!p->may(s.drive, "loader.workers=5;sh=1"), "a setting that nobody knows may not, with one");
    ok(!p->may(s.drive, "autocast=bf16"), "a setting that changes numbers needs the user's leave");
    sim_end(&s, 0, &(struct drive_report){ .off = NULL });
    sim_done(&s);
    sim_init(&s, 24);
    is_int(sim_start(&s, true), 0, "sim_start begins with leave for numbers");
    ok(drive_pilot(s.drive)->may(s.drive, "autocast=bf16"),
       "a setting that changes numbers may be asked for with leave");
    sim_end(&s, 0, &(struct drive_report){ .off = NULL });
    sim_done(&s);
}

int main(void)
{
    test_parted();
    test_may();
    test_finds(1);
    test_finds(2);
    test_record();
    test_won();
    test_soon();
    test_behind();
    test_rare();
    test_once();
    test_bursts();
    test_nothing();
    test_refusals();
    test_silence();
    test_death();
    test_memory();
    test_killed();
    test_restart();
    test_guard();
    test_suspects();
    test_replaced();
    test_two_jobs();
    test_end_in_trial();
    test_short();
    test_stop();
    test_numeric();
    test_numeric_needs();
    test_oom();
    return done();
}
