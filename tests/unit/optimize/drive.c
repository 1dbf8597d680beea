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
    is_int(sim_start(&s, false), 0, "%u ranks", ranks);
    sim_run(&s, 0);
    sim_run(&s, 500);
    sim_end(&s, 0, &r);
    k = sim_entry(&r, "loader.workers");
    ok(k && k->outcome == SESSION_ADOPTED && s.workers >= 11, "%d workers are kept", s.workers);
    ok(k && k->effect.low > 0 && k->effect.high < 5, "the last one for %+.2f to %+.2f",
       k->effect.low, k->effect.high);
    ok(drive_steps_per_s(&r.after) > 7 * drive_steps_per_s(&r.before), "%.1f steps/s, then %.1f",
       drive_steps_per_s(&r.before), drive_steps_per_s(&r.after));
    ok(fabs(drive_samples_per_s(&r.after) / drive_steps_per_s(&r.after) - 16 * ranks) < 0.01,
       "samples are those of all ranks");
    ok(r.before.resident_b == 1e9 && r.after.resident_b > 2e9, "memory before and after");
    ok(r.before.pss_b == 0.5e9 && r.after.pss_b > 0.6e9 && r.after.pss_b < 1e9,
       "and what is shared counted once");
    ok(isnan(r.after.device_b) && k && isnan(k->device_b), "of no devices");
    ok(k && k->memory_b > 1e7 && k->memory_b < 2e8, "the last workers take %.0f MB",
       k ? k->memory_b / 1e6 : 0);
    is_int((long long)r.ranks, ranks, "all were steered");
    ok(strstr(s.said, "trying loader.workers=") && strstr(s.said, "times as fast"), "it is told");
    ok(strstr(s.said, "2 of ") && strstr(s.said, "trials changed something: no setting is left"),
       "and how it ended");
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
    is_int(sim_start(&s, false), 0, "a job with a profile");
    sim_run(&s, 0);
    sim_end(&s, 0, &r);
    k = &r.session->entries[0];
    ok(r.session->n_entries && !strcmp(k->value, "12") && k->outcome == SESSION_ADOPTED,
       "has its setting tried first");
    is_str(k->why, "the profile has it: 21 times as fast", "since it is there");
    ok(k->effect.gain > 5 && k->effect.gain < 15, "and measured: %.2f", k->effect.gain);
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
    is_int(sim_start(&s, false), 0, "a job whose memory is read seldom");
    sim_run(&s, 0);
    sim_run(&s, 500);
    sim_end(&s, 0, &r);
    ok(r.before.pss_b == 0.5e9 && r.after.pss_b > 0.6e9 && r.after.pss_b < 1e9,
       "is known all the same: %.2f GB", r.after.pss_b / 1e9);
    k = &r.session->entries[0];
    ok(k->memory_b > 5e7 && k->memory_b < 5e8, "and what a setting takes: %.0f MB",
       k->memory_b / 1e6);
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
    is_int(sim_start(&s, false), 0, "a job whose memory is read before it trains");
    sim_run(&s, 0);
    sim_run(&s, 500);
    sim_end(&s, 0, &r);
    k = &r.session->entries[0];
    ok(r.before.pss_b == 0.5e9 && isnan(r.after.pss_b), "is known then, and not later");
    ok(k->outcome == SESSION_ADOPTED && isnan(k->memory_b), "nor what its workers take");
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
    is_int(sim_start(&s, false), 0, "a job that waits for 97 %% of the time");
    sim_run(&s, 0);
    sim_end(&s, 0, &r);
    k = &r.session->entries[0];
    ok(r.session->n_entries && k->outcome == SESSION_ADOPTED && k->at_step <= 300 && k->at_s < 60,
       "has %s workers after %u steps and %.0f s, %.1f times as fast", k->value, k->at_step,
       k->at_s, 1 + k->effect.gain);
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
    is_int(sim_start(&s, false), 0, "a job with four workers");
    sim_note(&s, 0, "loader.workers=4");
    sim_run(&s, 0);
    sim_end(&s, 0, &r);
    k = sim_entry(&r, "loader.workers");
    ok(k && k->outcome == SESSION_ADOPTED && s.workers >= 10, "gets %d", s.workers);
    ok(k && k->effect.gain > 1.1 && k->effect.gain < 2.2, "for what they gain in the mean: %.2f",
       k ? k->effect.gain : 0);
    sim_done(&s);
}

static void test_nothing(void)
{
    struct sim s;
    struct drive_report r;

    sim_init(&s, 1);
    s.fetch_s = 0.0001;
    is_int(sim_start(&s, false), 0, "a job that only computes");
    sim_run(&s, 0);
    sim_end(&s, 0, &r);
    ok(r.session->phase == PHASE_OVER && s.requests == 0, "is not touched");
    ok(strstr(s.said, "nothing worth changing: no setting"), "and it is said: %s", s.said);
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
        is_int(sim_start(&s, false), 0, "%s", both ? "both refuse" : "one of two refuses");
        sim_run(&s, 0);
        sim_end(&s, 0, &r);
        k = sim_entry(&r, "loader.workers");
        ok(k && k->outcome == SESSION_BROKE && s.workers == 0, "none is changed");
        is_str(k ? k->note : "", "it is iterable", "the reason is told");
        is_str(r.session->reason, "no setting is left that promises enough", "all is well");
        is_int(s.requests, both ? 1 : 2, "what was done is asked back, and nothing else");
        sim_done(&s);
    }
}

static void test_silence(void)
{
    struct sim s;
    struct drive_report r;

    sim_init(&s, 2);
    s.silent = true;
    is_int(sim_start(&s, false), 0, "a job that does not listen");
    sim_run(&s, 0);
    sim_end(&s, 0, &r);
    is_str(r.session->reason, "the job does not listen to brim", "is left");
    sim_done(&s);

    sim_init(&s, 2);
    s.hangs = true;
    is_int(sim_start(&s, false), 0, "one that hangs");
    sim_run(&s, 0);
    sim_end(&s, 1, &r);
    ok(strstr(s.said, "the job has made no mark for 60 s"), "is told of");
    sim_done(&s);
}

static void test_death(void)
{
    struct sim s;
    struct drive_report r;
    const struct session_entry *k;

    sim_init(&s, 2);
    s.dies_at = 1;
    is_int(sim_start(&s, false), 0, "a job that dies");
    sim_run(&s, 5000);
    sim_end(&s, 3, &r);
    k = sim_entry(&r, "loader.workers");
    ok(k && k->outcome == SESSION_BROKE, "blames the setting");
    is_str(k ? k->note : "", "the job died (exit status 3) while it was tried", "as it was");
    sim_done(&s);

    sim_init(&s, 2);
    is_int(sim_start(&s, false), 0, "a job that is interrupted");
    while (!s.requests)
        sim_run(&s, 1);
    sim_run(&s, 30);
    sim_end(&s, 130, &r);
    k = sim_entry(&r, "loader.workers");
    ok(k && k->outcome == SESSION_UNDECIDED, "does not");
    sim_done(&s);
}

static void test_restart(void)
{
    struct sim s;
    struct drive_report r;

    sim_init(&s, 2);
    s.restarts_at = 20;
    is_int(sim_start(&s, false), 0, "processes that end before anything was tried");
    sim_run(&s, 0);
    sim_end(&s, 0, &r);
    ok(sim_entry(&r, "loader.workers") &&
           sim_entry(&r, "loader.workers")->outcome == SESSION_ADOPTED,
       "have others optimised");
    sim_done(&s);

    sim_init(&s, 2);
    s.restarts_at = 90;
    is_int(sim_start(&s, false), 0, "in mid-trial");
    sim_run(&s, 1500);
    sim_end(&s, 0, &r);
    is_str(r.session->reason, "other processes go on with the job", "they end it");
    sim_done(&s);
}

/* ---- afterwards ---- */

static void test_guard(void)
{
    struct sim s;
    struct drive_report r;

    sim_init(&s, 2);
    is_int(sim_start(&s, false), 0, "what was kept");
    sim_run(&s, 0);
    ok(s.workers > 10, "is in force");
    s.decays_at = s.steps + 2000;
    sim_run(&s, 2000);
    ok(s.workers > 10 || s.requests > 0, "and compared now and then");
    sim_run(&s, 4000);
    sim_end(&s, 0, &r);
    ok(s.workers == 0 && sim_entry(&r, "loader.workers")->outcome == SESSION_ROLLED_BACK &&
           r.session->entries[0].outcome == SESSION_ROLLED_BACK,
       "what stops paying goes, all of it");
    ok(strstr(s.said, "it did not last"), "and that is told");
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
    is_int(sim_start(&s, true), 0, "two settings that were kept");
    sim_run(&s, 0);
    sim_run(&s, 600);
    ok(s.workers == 12 && s.half, "are workers and half precision");
    s.decays_at = s.steps;
    sim_run(&s, 3000);
    sim_end(&s, 0, &r);
    half = sim_entry(&r, "precision.autocast");
    workers = sim_entry(&r, "loader.workers");
    ok(half && half->outcome == SESSION_ADOPTED && s.half, "of which one pays still");
    ok(workers && workers->outcome == SESSION_ROLLED_BACK && s.workers == 0,
       "and the other one, which is why steps are slow, is looked at next: %s",
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
    is_int(sim_start(&s, false), 0, "workers that were kept");
    sim_run(&s, 0);
    sim_run(&s, 500);
    ok(s.drive->kept == 2 && s.workers > 10, "and more of them: %d", s.workers);
    s.compute_s = 0.03;
    for (int i = 0; i < 4000; i++) {
        sim_run(&s, 1);
        looked = looked || (s.drive->watch.guard.checking && s.drive->watch.guard.alarmed);
        again = again || s.drive->watch.doubtful;
    }
    sim_end(&s, 0, &r);
    ok(looked, "are looked at when steps get slower");
    ok(!again && sim_entry(&r, "loader.workers")->outcome == SESSION_ADOPTED, "once");
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
    is_int(sim_start(&s, false), 0, "two jobs in one");
    for (unsigned i = 0; i < s.ranks; i++)
        ((struct brim_ring_header *)(void *)s.map[i])->world = 1;
    sim_run(&s, 200);
    sim_end(&s, 0, &r);
    is_str(r.off ? r.off : "", "2 processes train on their own: the job is only observed",
           "are not taken for one");
    sim_done(&s);
}

/* A process that trains for a moment and ends: the ones that come later are waited for as ever. */
static void test_short(void)
{
    struct drive_report r;
    struct sim s;

    sim_init(&s, 2);
    s.fetch_s = 0.001;
    s.compute_s = 0.01;
    is_int(sim_start(&s, false), 0, "a process");
    sim_run(&s, 8);
    ok(s.drive->first_ns > 0 && s.drive->state == DRIVE_WAITS, "that trains");
    ((struct brim_ring_header *)(void *)s.map[0])->closed = 1;
    sim_run(&s, 1);
    is_int(s.drive->first_ns, 0, "and ends is forgotten");
    sim_end(&s, 0, &r);
    sim_done(&s);
}

static void test_stop(void)
{
    struct sim s;
    struct drive_report r;

    sim_init(&s, 2);
    is_int(sim_start(&s, false), 0, "the user stops it");
    while (!s.workers)
        sim_run(&s, 1);
    sim_run(&s, 20);
    drive_pilot(s.drive)->stop(s.drive);
    sim_run(&s, 200);
    sim_end(&s, 0, &r);
    ok(s.workers == 0 && r.session->phase == PHASE_OVER, "what was on trial is taken back");
    is_str(r.session->reason, "it was stopped", "why");
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
        is_int(sim_start(&s, true), 0, "half precision that %s", hurts ? "hurts" : "helps");
        sim_run(&s, 0);
        sim_run(&s, 1000);
        sim_end(&s, 0, &r);
        k = sim_entry(&r, "precision.autocast");
        ok(k && k->outcome == (hurts ? SESSION_BROKE : SESSION_ADOPTED) && s.half == !hurts,
           "is %s", k ? session_outcome_name(k->outcome) : "not tried");
        if (hurts)
            ok(k && strstr(k->note, "the loss"), "for %s", k ? k->note : "?");
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
    is_int(sim_start(&s, false), 0, "without a word");
    sim_run(&s, 0);
    sim_end(&s, 0, &r);
    k = sim_entry(&r, "precision.autocast");
    is_str(k ? k->note : "", "it changes numbers: --allow numeric", "it is left");
    ok(k && k->outcome == SESSION_LEFT && !s.half && !s.requests, "and not tried");
    sim_done(&s);

    sim_init(&s, 4);
    s.fetch_s = 0.0001;
    s.gpu = s.losses = true;
    is_int(sim_start(&s, true), 0, "without a loss");
    s.losses = false;
    sim_run(&s, 0);
    sim_end(&s, 0, &r);
    k = sim_entry(&r, "precision.autocast");
    is_str(k ? k->note : "", "the job tells no loss that could be compared", "it is left, too");
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
    ok(wrong == 0, "%d of %d allocations that failed left something behind", wrong, rounds);
}

int main(void)
{
    test_finds(1);
    test_finds(2);
    test_won();
    test_soon();
    test_rare();
    test_once();
    test_bursts();
    test_nothing();
    test_refusals();
    test_silence();
    test_death();
    test_restart();
    test_guard();
    test_suspects();
    test_replaced();
    test_two_jobs();
    test_short();
    test_stop();
    test_numeric();
    test_numeric_needs();
    test_oom();
    return done();
}
