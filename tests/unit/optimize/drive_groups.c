/* What a drive counts: steps in groups and those that are left out, moments of power, time and
 * memory of each state, and how all of it is stored. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "optimize/drive/drive_private.h"
#include "tap.h"

#define NIL ((double)NAN) /* not known */

#define S NS_PER_S

static const double nan_value = (double)NAN;

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : fabs(a - b) < 1e-9;
}

static void say(void *arg, const char *sentence)
{
    (void)arg;
    (void)sentence;
}

static struct drive *new_drive(const struct goal *goal)
{
    static const struct knobs none;
    const struct drive_config c = {
        .knobs = &none, .plan = drive_plan(60, goal), .goal = *goal, .say = say
    };
    struct drive *d;

    if (drive_new(&d, &c) < 0)
        abort();
    d->state = DRIVE_RUNS;
    return d;
}

static void set_offer(struct session *s, const char *knob, const char *value, const char *before)
{
    s->n_offers = 1;
    snprintf(s->offers[0].knob, sizeof(s->offers[0].knob), "%s", knob);
    snprintf(s->offers[0].value, sizeof(s->offers[0].value), "%s", value);
    snprintf(s->offers[0].before, sizeof(s->offers[0].before), "%s", before);
}

/* How many steps make a group, and how many after a change are left out. */
static void test_groups(void)
{
    static const struct {
        const char *knob, *value, *before; /* knob: NULL where nothing is on trial */
        bool in_force;
        double workers, prefetch, epoch;
        unsigned group, settle;
    } cases[] = {
        { NULL, "", "", false, NIL, NIL, NIL, 1, 0 },
        { NULL, "", "", false, 0, NIL, NIL, 1, 0 },
        { NULL, "", "", false, 1, NIL, NIL, 1, 0 },
        { NULL, "", "", false, 2, NIL, NIL, 2, 0 },
        { NULL, "", "", false, 200, NIL, NIL, 64, 0 },
        { NULL, "", "", false, 4, NIL, 3, 4, 0 },
        { NULL, "", "", false, 4, NIL, 10, 10, 0 },
        { NULL, "", "", false, 4, NIL, 64, 64, 0 },
        { NULL, "", "", false, 4, NIL, 65, 4, 0 },
        { "loader.workers", "8", "2", false, 2, NIL, NIL, 8, 16 },
        { "loader.workers", "8", "2", true, 2, NIL, NIL, 8, 4 },
        { "loader.workers", "8", "2", true, 2, 3, NIL, 8, 6 },
        { "loader.workers", "8", "2", true, 2, 0, NIL, 8, 4 },
        { "loader.workers", "8", "2", false, 2, 1, NIL, 8, 8 },
        { "loader.workers", "8", "2", false, 2, NIL, 5, 8, 5 },
        { "loader.workers", "8", "2", false, 2, NIL, 0, 8, 16 },
        { "loader.workers", "8", "2", false, 2, NIL, 0.5, 8, 0 },
        { "loader.workers", "8", "0", false, 0, NIL, NIL, 1, 16 },
        { "loader.workers", "8", "0", true, 0, NIL, NIL, 8, 0 },
        { "loader.workers", "8", "1", false, 1, NIL, NIL, 8, 16 },
        { "loader.workers", "0", "3", true, 3, NIL, NIL, 3, 6 },
        { "loader.workers", "1000", "2", false, 2, NIL, NIL, 64, 256 },
        { "loader.prefetch", "8", "2", false, 3, NIL, NIL, 3, 6 },
        { "loader.prefetch", "8", "2", false, NIL, NIL, NIL, 1, 0 },
        { "loader.prefetch", "8", "2", true, NIL, NIL, NIL, 1, 0 },
        { "precision.autocast", "bf16", "none", true, 3, NIL, NIL, 3, 0 },
        { "precision.autocast", "bf16", "none", false, 0, NIL, NIL, 1, 0 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct drive *d = new_drive(&(const struct goal){ .kind = GOAL_THROUGHPUT });
        const char *knob = cases[i].knob ? cases[i].knob : "";

        d->workers = cases[i].workers;
        d->prefetch = cases[i].prefetch;
        d->epoch = cases[i].epoch;
        set_offer(&d->session, knob, cases[i].value, cases[i].before);
        d->session.n_offers = cases[i].knob ? 1 : 0;
        d->session.phase = PHASE_CANARY;
        d->session.in_force = cases[i].in_force;
        d->n = 3;
        d->group_s = d->power.joules = d->power.seconds = 1;
        drive_begin_group(d);
        is_int(d->group, cases[i].group, "case %zu '%s': a group has so many steps", i, knob);
        is_int(drive_settle(d), cases[i].settle, "case %zu '%s': so many steps settle", i, knob);
        ok(!d->n && same(d->group_s, 0) && same(d->power.joules, 0) && same(d->power.seconds, 0),
           "case %zu: a new group has nothing yet", i);
        drive_free(d);
    }
}

/* Which setting it is about: of the trial, or of the watch after the session. */
static void test_subject(void)
{
    static const struct {
        const char *what;
        enum drive_state state;
        enum session_phase phase;
        bool watch;
        unsigned group;
    } cases[] = {
        { "while the job is looked at", DRIVE_RUNS, PHASE_OBSERVE, true, 5 },
        { "while candidates are asked for", DRIVE_RUNS, PHASE_ASK, false, 5 },
        { "in a canary", DRIVE_RUNS, PHASE_CANARY, true, 8 },
        { "in a trial", DRIVE_RUNS, PHASE_TRIAL, false, 8 },
        { "after the session, with a watch", DRIVE_AFTER, PHASE_OVER, true, 9 },
        { "after the session, without a watch", DRIVE_AFTER, PHASE_OVER, false, 5 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct drive *d = new_drive(&(const struct goal){ .kind = GOAL_THROUGHPUT });

        d->workers = 5;
        d->state = cases[i].state;
        d->session.phase = cases[i].phase;
        set_offer(&d->session, "loader.workers", "8", "2");
        d->session.n_entries = 1;
        d->session.entries[0] = (struct session_entry){ .knob = "loader.workers",
                                                        .value = "9",
                                                        .before = "3" };
        d->watch.on = cases[i].watch;
        drive_begin_group(d);
        is_int(d->group, cases[i].group, "a group has the steps of its workers %s", cases[i].what);
        is_int(drive_settle(d), cases[i].group == 5 ? 0 : 2 * cases[i].group,
               "a change leaves out what is ready %s", cases[i].what);
        drive_free(d);
    }
}

static void test_switched_now(void)
{
    struct drive *d = new_drive(&(const struct goal){ .kind = GOAL_THROUGHPUT });

    d->w.now_ns = 9 * S;
    drive_switched_now(d);
    is_int(d->since_ns / S, 9, "without members a setting is in force now");
    is_int(d->settle, 2, "two steps have some of both settings");
    d->join.ranks[0].in = true;
    d->join.ranks[0].seen = 1;
    d->join.ranks[0].newest_ns = 7 * S;
    drive_switched_now(d);
    is_int(d->since_ns / S, 7, "by the clock of a job that is behind it is in force as well");
    drive_free(d);
}

/* ---- power ---- */

static struct run_moment moment(double watts)
{
    struct run_moment m = { .monotonic_ns = 5 * S, .seconds = 1 };

    for (int i = 0; i < RUN_SIGNALS; i++)
        m.values[i] = nan_value;
    m.values[RUN_GPU_WATTS] = watts;
    return m;
}

static void group(struct drive *d, unsigned n, double seconds)
{
    d->n = n;
    d->group_s = seconds;
}

static void test_power(void)
{
    const struct goal goal = { .kind = GOAL_ENERGY, .gpus = true };
    struct drive *d = new_drive(&goal);
    const struct run_moment m300 = moment(300), m150 = moment(150), m100 = moment(100);
    double seconds = 0;

    group(d, 4, 2);
    ok(drive_end_moment(d, &m300, &seconds) && same(seconds, 1),
       "a first moment costs the seconds that it takes: %g", seconds);
    ok(d->n == 0 && same(d->power.seconds, 0), "a moment that was told begins a new group");
    group(d, 4, 2);
    ok(drive_end_moment(d, &m150, &seconds) && same(seconds, 0.5),
       "half the power costs half the seconds: %g", seconds);
    ok(!drive_end_moment(d, &m300, &seconds) && same(d->power.seconds, 1),
       "a moment without a step goes on");
    group(d, 4, 2);
    ok(drive_end_moment(d, &m100, &seconds) && same(seconds, 200.0 / 300),
       "two moments cost the mean of both: %g", seconds);
    ok(isnan(drive_speed(d)), "without the setting alone no speed is known");
    d->session.in_force = true;
    group(d, 12, 3);
    ok(drive_end_moment(d, &m300, &seconds) && same(drive_speed(d), 1),
       "a setting with twice the steps in a second is twice as fast: %g", drive_speed(d));
    memset(&d->power.pace[0], 0, sizeof(d->power.pace[0]));
    ok(isnan(drive_speed(d)), "with the setting alone no speed is known");
    drive_free(d);

    d = new_drive(&(const struct goal){ .kind = GOAL_THROUGHPUT, .gpus = true });
    group(d, 4, 2);
    ok(!drive_end_moment(d, &m300, &seconds) && d->n == 4,
       "moments end no group where power does not count");
    drive_free(d);
}

/* Moments that had not all of what is in force. */
static void test_mixed(void)
{
    static const struct {
        const char *what;
        double watts;
        bool open, switching;
        unsigned settle;
        int64_t since_s;
        bool counts;
    } cases[] = {
        { "with all of it", 300, false, false, 0, 4, true },
        { "whose power is not known", NIL, false, false, 0, 0, false },
        { "while the job is asked", 300, true, false, 0, 0, false },
        { "while a setting comes into force", 300, false, true, 0, 0, false },
        { "while steps settle", 300, false, false, 1, 0, false },
        { "that began before", 300, false, false, 0, 5, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct drive *d = new_drive(&(const struct goal){ .kind = GOAL_ENERGY, .gpus = true });
        const struct run_moment m = moment(cases[i].watts);
        double seconds = 0;

        d->order.open = cases[i].open;
        d->session.switching = cases[i].switching;
        d->settle = cases[i].settle;
        d->since_ns = cases[i].since_s * S;
        group(d, 4, 2);
        ok(drive_end_moment(d, &m, &seconds) == cases[i].counts && !d->n,
           "a moment %s counts or begins a new group", cases[i].what);
        ok(same(d->power.pace[0].steps, cases[i].counts ? 4 : 0),
           "steps of a moment %s tell the pace or do not", cases[i].what);
        drive_free(d);
    }
}

static void test_plan(void)
{
    const struct session_plan usual = session_plan_usual();
    struct session_plan p = drive_plan(60, &(const struct goal){ .kind = GOAL_ENERGY });

    ok(p.observe == 10 && p.canary == 4 && p.guard == 30 && same(p.canary_slow, 20) &&
           p.chance == 1,
       "a plan for power is one of seconds");
    ok(same(p.seconds, 60) && p.goal == GOAL_ENERGY && p.steps == UINT32_MAX,
       "a plan has its seconds and its goal, and no end of steps");
    p = drive_plan(60, &(const struct goal){ .kind = GOAL_COST, .price_hour = 2 });
    ok(p.observe == usual.observe && p.guard == usual.guard && !p.chance && p.goal == GOAL_COST,
       "a plan for hours of machines is the usual one");
}

/* ---- time and memory ---- */

static void test_rates(void)
{
    const struct drive_stretch some = {
        .steps = 10, .seconds = 4, .samples = 40, .joules = 600, .powered_s = 3
    };
    const struct drive_stretch *none = &drive_stretch_none;

    ok(same(drive_steps_per_s(&some), 2.5) && same(drive_samples_per_s(&some), 10) &&
           same(drive_watts(&some), 200),
       "a stretch has its rates");
    ok(isnan(drive_steps_per_s(none)) && isnan(drive_samples_per_s(none)) &&
           isnan(drive_watts(none)),
       "a stretch of nothing has no rates");
}

/* Whether the job runs with the best that is known. */
static void test_at_best(void)
{
    static const struct {
        bool open;
        enum drive_state state;
        enum session_phase phase;
        bool in_force, watch, watched;
        bool best;
    } cases[] = {
        { true, DRIVE_AFTER, PHASE_OVER, false, false, false, false },
        { false, DRIVE_AFTER, PHASE_OVER, false, false, false, true },
        { false, DRIVE_AFTER, PHASE_OVER, false, true, false, false },
        { false, DRIVE_AFTER, PHASE_OVER, false, true, true, true },
        { false, DRIVE_RUNS, PHASE_OBSERVE, true, false, false, true },
        { false, DRIVE_RUNS, PHASE_ASK, true, false, false, true },
        { false, DRIVE_RUNS, PHASE_CANARY, true, false, false, false },
        { false, DRIVE_RUNS, PHASE_TRIAL, true, false, false, false },
        { false, DRIVE_RUNS, PHASE_TRIAL, false, false, false, true },
        { false, DRIVE_RUNS, PHASE_ADOPT, true, false, false, true },
        { false, DRIVE_RUNS, PHASE_ADOPT, false, false, false, false },
        { false, DRIVE_RUNS, PHASE_GUARD, true, false, false, true },
        { false, DRIVE_RUNS, PHASE_GUARD, false, false, false, false },
        { false, DRIVE_RUNS, PHASE_UNDO, true, false, false, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct drive *d = new_drive(&(const struct goal){ .kind = GOAL_THROUGHPUT });
        const struct join_step s = { .number = 5, .seconds = 2, .samples = 8 };

        d->order.open = cases[i].open;
        d->state = cases[i].state;
        d->session.phase = cases[i].phase;
        d->session.in_force = cases[i].in_force;
        d->watch.on = cases[i].watch;
        d->watch.in_force = cases[i].watched;
        ok(drive_at_best(d) == cases[i].best, "case %zu is at its best or is not", i);
        drive_count_step(d, &s);
        ok(same(d->before.steps, 1), "case %zu: before the first change each step counts", i);
        d->asked = true;
        drive_count_step(d, &s);
        ok(same(d->after.steps, cases[i].best) && same(d->before.steps, 1),
           "case %zu: after a change the best counts alone", i);
        drive_free(d);
    }
}

static void test_count_step(void)
{
    struct drive *d = new_drive(&(const struct goal){ .kind = GOAL_THROUGHPUT });

    drive_count_step(d, &(const struct join_step){ .number = 4, .seconds = 2, .samples = 8 });
    ok(same(d->before.steps, 0), "the first five steps are no measure");
    drive_count_step(d, &(const struct join_step){ .number = 5, .seconds = 2, .samples = NIL });
    ok(same(d->before.steps, 1) && same(d->before.seconds, 2) && isnan(d->before.samples),
       "the sixth step is the first that counts");
    drive_count_step(d, &(const struct join_step){ .number = 6, .seconds = 3, .samples = 8 });
    drive_count_step(d, &(const struct join_step){ .number = 7, .seconds = 1, .samples = NIL });
    drive_count_step(d, &(const struct join_step){ .number = 8, .seconds = 1, .samples = 4 });
    ok(same(d->before.seconds, 7) && same(d->before.samples, 12), "time and samples are summed");
    d->asked = true;
    d->settle = 1;
    drive_count_step(d, &(const struct join_step){ .number = 9, .seconds = 1, .samples = 4 });
    ok(same(d->after.steps, 0) && same(d->before.steps, 4), "a step that settles counts nowhere");
    drive_free(d);
}

/* A moment's memory and power, in a state of the drive. */
static void test_moments(void)
{
    static const struct {
        const char *what;
        bool asked;
        enum session_phase phase;
        int64_t since_s;
        double processes;
        bool memory, power, shared; /* what is taken over; shared: memory that counts once */
    } cases[] = {
        { "before any change", false, PHASE_OBSERVE, 4, 3, true, true, true },
        { "that began before the change", true, PHASE_OBSERVE, 5, 3, true, false, true },
        { "that ended before the change", true, PHASE_OBSERVE, 6, 3, false, false, false },
        { "with another number of processes", true, PHASE_OBSERVE, 0, 4, true, true, false },
        { "with fewer processes", true, PHASE_OBSERVE, 0, 2, true, true, false },
        { "of a trial without its setting", true, PHASE_TRIAL, 0, 3, false, true, false },
        { "of a canary without its setting", true, PHASE_CANARY, 0, 3, false, true, false },
        { "of a trial that nothing was asked for", false, PHASE_TRIAL, 0, 3, true, true, true },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct drive *d = new_drive(&(const struct goal){ .kind = GOAL_THROUGHPUT, .gpus = true });
        struct run_moment m = moment(300);
        const struct run r = { .moments = &m, .n_moments = 1 };
        const struct drive_stretch *to = cases[i].asked ? &d->after : &d->before;

        m.values[RUN_JOB_RESIDENT] = 7;
        m.values[RUN_GPU_MEMORY_USED] = 8;
        m.values[RUN_JOB_PROCESSES] = cases[i].processes;
        m.seconds = 1;
        d->memory.pss_b = 6;
        d->memory.processes = 3;
        d->asked = cases[i].asked;
        d->session.phase = cases[i].phase;
        d->since_ns = cases[i].since_s * S;
        d->w.run = &r;
        for (int twice = 0; twice < 2; twice++)
            drive_add_moment(d);
        ok(same(to->resident_b, cases[i].memory ? 7 : nan_value) &&
               same(to->device_b, cases[i].memory ? 8 : nan_value),
           "a moment %s tells the memory or does not", cases[i].what);
        ok(same(to->pss_b, cases[i].shared ? 6 : nan_value),
           "a moment %s tells memory that is shared or does not", cases[i].what);
        ok(d->memory.asked == (cases[i].memory && !cases[i].shared),
           "memory is to be read again where a moment %s does not tell it", cases[i].what);
        ok(same(to->joules, cases[i].power ? 300 : 0) && same(to->powered_s, cases[i].power),
           "a moment %s is counted once with its power or is not", cases[i].what);
        drive_free(d);
    }
}

static void test_see_memory(void)
{
    struct drive *d = new_drive(&(const struct goal){ .kind = GOAL_THROUGHPUT });
    struct run_moment m = moment(300);
    struct run r = { .moments = &m };

    d->w.run = &r;
    d->memory.asked = true;
    drive_see_memory(d);
    ok(d->memory.asked && same(d->memory.pss_b, 0), "without a moment no memory is seen");
    r.n_moments = 1;
    drive_see_memory(d);
    ok(d->memory.asked && same(d->memory.pss_b, 0), "a moment without memory is passed over");
    m.values[RUN_JOB_PSS] = 5;
    m.values[RUN_JOB_PROCESSES] = 2;
    drive_see_memory(d);
    ok(!d->memory.asked && same(d->memory.pss_b, 5) && same(d->memory.processes, 2),
       "memory that was read is not asked for any more");
    drive_free(d);
}

/* What a setting takes, by what is known before it and with it. */
static void test_weigh(void)
{
    static const struct {
        double pss_before, pss, steps, want, device;
        unsigned last;
    } cases[] = {
        { 10, 13, 1, 3, 6, 0 },
        { NIL, NIL, 1, 50, 6, 0 },
        { 10, NIL, 1, NIL, 6, 0 },
        { NIL, 13, 1, NIL, 6, 0 },
        { 10, 13, 0, NIL, NIL, 0 },
        { 10, 13, 1, NIL, NIL, 1 },
        { 10, 13, 1, NIL, NIL, SESSION_ENTRIES },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct drive *d = new_drive(&(const struct goal){ .kind = GOAL_THROUGHPUT });
        struct session_entry *k = &d->session.entries[0];

        d->session.n_entries = 1;
        d->last = cases[i].last;
        k->memory_b = k->device_b = nan_value;
        d->without = (struct drive_stretch){ .resident_b = 100,
                                             .pss_b = cases[i].pss_before,
                                             .device_b = 1 };
        d->after = (struct drive_stretch){
            .steps = cases[i].steps, .resident_b = 150, .pss_b = cases[i].pss, .device_b = 7
        };
        drive_weigh(d);
        ok(same(k->memory_b, cases[i].want) && same(k->device_b, cases[i].device),
           "case %zu: a setting takes %g and %g of devices", i, k->memory_b, k->device_b);
        drive_free(d);
    }
}

/* What is in force as settings are kept, and do not last. */
static void test_kept(void)
{
    struct drive *d = new_drive(&(const struct goal){ .kind = GOAL_THROUGHPUT });
    struct session *s = &d->session;

    s->n_entries = 2;
    s->entries[0] = (struct session_entry){
        .knob = "loader.workers", .value = "8", .before = "2", .outcome = SESSION_ADOPTED
    };
    s->entries[1] = (struct session_entry){ .knob = "x", .outcome = SESSION_REJECTED };
    d->before.steps = 100;
    d->after.steps = 7;
    drive_kept(d);
    ok(d->kept == 1 && same(d->workers, 8), "workers that were kept are in force");
    ok(same(d->after.steps, 0) && d->last == SESSION_ENTRIES,
       "one that was kept before others ended is not weighed");
    s->entries[1].outcome = SESSION_ADOPTED;
    d->after.steps = 9;
    drive_kept(d);
    ok(d->kept == 2 && d->last == 1 && same(d->without.steps, 9),
       "a second setting is weighed against the first");
    d->after.steps = 5;
    drive_kept(d);
    ok(same(d->after.steps, 5), "as long as the same is kept steps are counted on");
    s->entries[0].outcome = SESSION_ROLLED_BACK;
    drive_kept(d);
    ok(d->kept == 1 && same(d->workers, 2) && d->last == SESSION_ENTRIES,
       "workers that do not last are those of before");
    s->entries[0].outcome = s->entries[1].outcome = SESSION_REJECTED;
    drive_kept(d);
    s->entries[1].outcome = SESSION_ADOPTED;
    drive_kept(d);
    ok(d->last == 1 && same(d->without.steps, 100), "a first setting is weighed against before");
    drive_free(d);
}

/* ---- what is stored ---- */

static void test_record(void)
{
    static const struct {
        enum session_outcome outcome;
        enum run_trial_end end;
    } ends[] = {
        { SESSION_ADOPTED, RUN_TRIAL_ADOPTED },         { SESSION_REJECTED, RUN_TRIAL_REJECTED },
        { SESSION_UNDECIDED, RUN_TRIAL_UNDECIDED },     { SESSION_BROKE, RUN_TRIAL_FAILED },
        { SESSION_ROLLED_BACK, RUN_TRIAL_ROLLED_BACK },
    };
    struct drive *d = new_drive(&(const struct goal){ .kind = GOAL_ENERGY, .gpus = true });
    const struct run_tuning *t;
    struct session *s = &d->session;

    ok(!drive_record(d), "without members nothing is stored");
    d->join.members = 1;
    d->state = DRIVE_WAITS;
    ok(!drive_record(d), "while members are waited for nothing is stored");
    d->state = DRIVE_RUNS;
    d->before = (struct drive_stretch){
        .steps = 10, .seconds = 5, .samples = 20, .joules = 600, .powered_s = 3
    };
    d->after = (struct drive_stretch){ .steps = 20, .seconds = 5, .joules = 300, .powered_s = 3 };
    s->entries[0] = (struct session_entry){ .knob = "left", .outcome = SESSION_LEFT };
    for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
        s->entries[i + 1] = (struct session_entry){ .knob = "k",
                                                    .value = "v",
                                                    .outcome = ends[i].outcome,
                                                    .effect = { 0.5, 0.4, (double)INFINITY },
                                                    .speed = 3,
                                                    .steps = 4,
                                                    .starts = 5,
                                                    .begin_ns = 6,
                                                    .end_ns = 7 };
    snprintf(s->entries[2].note, sizeof(s->entries[2].note), "so");
    snprintf(s->entries[2].also, sizeof(s->entries[2].also), "w");
    snprintf(s->entries[2].before, sizeof(s->entries[2].before), "b");
    s->entries[3].effect.gain = nan_value;
    s->n_entries = 1 + ARRAY_SIZE(ends);
    t = drive_record(d);
    ok(t && t->n_trials == ARRAY_SIZE(ends) && t->goal == RUN_GOAL_ENERGY,
       "what was tried is stored with its goal");
    ok(same(t->before.steps_per_s, 2) && same(t->before.samples_per_s, 4) &&
           same(t->before.price, 100) && same(t->after.price, 25),
       "rates and price before and after are stored: %g, %g", t->before.price, t->after.price);
    for (size_t i = 0; i < t->n_trials; i++)
        ok(t->trials[i].end == ends[i].end && t->trials[i].steps == 4 && t->trials[i].starts == 5 &&
               t->trials[i].begin_ns == 6 && t->trials[i].end_ns == 7 &&
               same(t->trials[i].speed, 3),
           "trial %zu is stored with its end", i);
    ok(!t->trials[0].note && !t->trials[0].also && !t->trials[0].before,
       "texts that are empty are none");
    ok(t->trials[1].note && t->trials[1].also && t->trials[1].before, "texts are stored");
    ok(same(t->trials[0].low, 0.4) && isnan(t->trials[0].high),
       "a bound that is none is not known");
    ok(isnan(t->trials[2].low), "without a gain no bound is known");
    d->c.goal.kind = GOAL_THROUGHPUT;
    t = drive_record(d);
    ok(isnan(t->before.price), "without another goal than speed there is no price");
    is_int((long long)t->n_trials, ARRAY_SIZE(ends), "trials are stored once");
    s->entries[0].outcome = SESSION_BROKE;
    is_int((long long)drive_record(d)->n_trials, 1 + ARRAY_SIZE(ends),
           "the first entry is stored where it was tried");
    drive_free(d);
}

/* The setting that is on trial is stored too. */
static void test_record_now(void)
{
    static const struct {
        enum drive_state state;
        enum session_phase phase;
        bool ended, offered, stored;
    } cases[] = {
        { DRIVE_RUNS, PHASE_CANARY, false, true, true },
        { DRIVE_RUNS, PHASE_TRIAL, false, true, true },
        { DRIVE_RUNS, PHASE_GUARD, false, true, false },
        { DRIVE_RUNS, PHASE_TRIAL, true, true, false },
        { DRIVE_RUNS, PHASE_TRIAL, false, false, false },
        { DRIVE_AFTER, PHASE_TRIAL, false, true, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct drive *d = new_drive(&(const struct goal){ .kind = GOAL_THROUGHPUT });
        const struct observe_pilot *p = drive_pilot(d);
        const struct run_tuning *t;
        char text[80];

        d->join.members = 1;
        d->state = cases[i].state;
        d->session.phase = cases[i].phase;
        d->ended = cases[i].ended;
        d->steps = 12;
        d->begun = 5;
        d->begun_ns = 8;
        set_offer(&d->session, "k", "v", i ? "b" : "");
        d->session.n_offers = cases[i].offered;
        t = drive_record(d);
        is_int((long long)t->n_trials, cases[i].stored, "case %zu: a trial is stored or is not", i);
        if (cases[i].stored)
            ok(t->trials[0].end == RUN_TRIAL_RUNS && t->trials[0].steps == 7 &&
                   t->trials[0].begin_ns == 8 && isnan(t->trials[0].gain) &&
                   !!t->trials[0].before == (i > 0),
               "case %zu: the trial has its begin and steps", i);
        p->tries(p->arg, text, sizeof(text));
        is_str(text,
               cases[i].state != DRIVE_RUNS || !cases[i].offered ? ""
               : i                                               ? "k=v instead of b"
                                                                 : "k=v",
               "case %zu: what is tried is told", i);
        drive_free(d);
    }
}

int main(void)
{
    test_groups();
    test_subject();
    test_switched_now();
    test_power();
    test_mixed();
    test_plan();
    test_rates();
    test_at_best();
    test_count_step();
    test_moments();
    test_see_memory();
    test_weigh();
    test_kept();
    test_record();
    test_record_now();
    return done();
}
