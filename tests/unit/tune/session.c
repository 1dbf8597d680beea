/* The course of an optimisation, driven by simulated jobs: one that waits for its loader, one that
 * nothing helps, ones that break; what is undone, and what is told. */
#include "tune/session.h"

#include <errno.h>

#include "knobs_ini.h"
#include "noise.h"
#include "oom_arena.h"
#include "tap.h"

enum { STEPS_MOST = 20000 };

/* A job whose loader takes 163 ms for a batch, whose model takes 15.6 ms (the 10 ms/sample job of
 * the prototype), on CPUs that carry 'cpus' workers. */
struct job {
    struct noise noise;
    double fetch_s, compute_s, cpus, cpu_share;
    int workers, dud; /* dud: a knob that changes nothing */
    int breaks_at;    /* workers with which it fails; -1 */
    bool sticks;      /* reverting fails */
    bool hangs;       /* switches are never done */
    bool dud_first;   /* the other knob is offered first */
    unsigned decays;  /* step from which workers cost instead; 0: never */
    unsigned steps, switches, failures, on_trial;
    struct knobs knobs;
    struct session session;
    struct profile profile;
};

static double job_step_s(const struct job *j, int workers)
{
    double step = workers ? fmax(j->compute_s, j->fetch_s / workers) : j->compute_s + j->fetch_s;

    if (j->decays && j->steps >= j->decays && workers)
        return 2 * (j->compute_s + j->fetch_s);
    return fmax(step, (j->cpu_share * j->fetch_s + j->compute_s) / j->cpus);
}

static double job_best_s(const struct job *j)
{
    double best = (double)INFINITY;

    for (int w = 0; w <= 64; w++)
        best = fmin(best, job_step_s(j, w));
    return best;
}

static struct job job_start(uint64_t seed)
{
    struct job j = { .noise = noise_start(seed, true),
                     .fetch_s = 0.163,
                     .compute_s = 0.0156,
                     .cpus = 2,
                     .cpu_share = 0.01,
                     .breaks_at = -1 };
    struct err e;

    j.noise.trend = 0;
    if (knobs_load(&j.knobs, "k", data_knobs_ini, data_knobs_ini_len, &e) < 0)
        abort();
    session_init(&j.session, NULL);
    return j;
}

static void job_end(struct job *j)
{
    knobs_done(&j->knobs);
    profile_done(&j->profile);
}

/* What propose() would: workers by Little's law, and a knob that does nothing. */
static struct session_command job_offer(struct job *j)
{
    char text[4][16];
    struct candidate list[4];
    size_t n = 0;
    double want = ceil(1.15 * j->fetch_s / j->compute_s);

    snprintf(text[0], sizeof(text[0]), "%.0f", fmin(64, want));
    snprintf(text[1], sizeof(text[1]), "%d", j->workers);
    if (want > j->workers && j->fetch_s > 0.01 * j->compute_s)
        list[n++] = (struct candidate){ knobs_find(&j->knobs, "loader.workers"), text[0], text[1],
                                        5, "fetching takes long" };
    list[n++] = (struct candidate){ knobs_find(&j->knobs, "loader.readahead"), "8", "0", 1.1,
                                    "files are small" };
    list[n++] = (struct candidate){ knobs_find(&j->knobs, "precision.autocast"), "bf16", "none",
                                    1.5, "tensor cores are idle" };
    list[n++] = (struct candidate){ knobs_find(&j->knobs, "malloc.arenas"), "2", NULL, 1.1,
                                    "arenas" };
    if (j->dud_first && n == 4) {
        struct candidate first = list[0];

        list[0] = list[1];
        list[1] = first;
    }
    return session_offer(&j->session, list, n);
}

/* Carry a command out; the event that follows at once. */
static bool job_switch(struct job *j, const struct session_command *c, struct session_event *e)
{
    j->switches++;
    *e = (struct session_event){ .kind = SESSION_SWITCHED };
    if (j->hangs)
        return false;
    if (!strcmp(c->knob, "loader.workers")) {
        int workers = (int)strtol(c->value, NULL, 10);

        if (workers == j->breaks_at || (j->sticks && c->what == SESSION_REVERT)) {
            *e = (struct session_event){ .kind = SESSION_FAILED, .why = "no memory for workers" };
            j->failures++;
            return true;
        }
        j->workers = workers;
    } else {
        j->dud = (int)strtol(c->value, NULL, 10);
    }
    return true;
}

static void job_obey(struct job *j, struct session_command c)
{
    struct session_event e;

    while (c.what == SESSION_ASK || c.what == SESSION_APPLY || c.what == SESSION_REVERT) {
        if (c.what == SESSION_ASK) {
            c = job_offer(j);
            continue;
        }
        if (!job_switch(j, &c, &e))
            return;
        c = session_event(&j->session, &e);
    }
}

static void job_run(struct job *j)
{
    while (j->session.phase != PHASE_OVER && j->steps < STEPS_MOST) {
        struct session_event e = { .kind = SESSION_STEP };

        e.seconds = job_step_s(j, j->workers) * noise_next(&j->noise);
        j->steps++;
        job_obey(j, session_event(&j->session, &e));
    }
}

static const struct session_entry nothing = { .outcome = SESSION_LEFT };

/* What the session has noted of a knob; nothing, without a name and a note, where it has not. */
static const struct session_entry *entry(const struct job *j, const char *knob)
{
    for (unsigned i = 0; i < j->session.n_entries; i++)
        if (!strcmp(j->session.entries[i].knob, knob))
            return &j->session.entries[i];
    return &nothing;
}

static void test_finds(void)
{
    int good = 0, neutral = 0, n = 20;
    double steps = 0;

    for (int i = 0; i < n; i++) {
        struct job j = job_start((uint64_t)i + 1);

        job_run(&j);
        good += job_best_s(&j) / job_step_s(&j, j.workers) >= 0.85;
        neutral += j.dud == 0;
        steps += j.steps;
        job_end(&j);
    }
    ok(good == n, "%d of %d reach 85 %% of the best static setting", good, n);
    ok(neutral >= n - 1, "%d of %d leave the knob that changes nothing", neutral, n);
    ok(steps / n <= 2500, "sessions end in %.0f steps on average", steps / n);
}

static void test_tells(void)
{
    struct job j = job_start(3);
    const struct session_entry *k;
    struct err e = { "" };

    job_run(&j);
    k = entry(&j, "loader.workers");
    ok(k->outcome == SESSION_ADOPTED && k->effect.gain > 5 && k->effect.low > 0,
       "workers are adopted, %+.1f", k->effect.gain);
    k = entry(&j, "precision.autocast");
    ok(*k->knob && k->outcome == SESSION_LEFT, "autocast is not tried");
    is_str(k->note, "it changes numbers: --allow numeric",
           "the note names the word that autocast wants");
    k = entry(&j, "malloc.arenas");
    is_str(k->note, "it takes effect with a restart",
           "the note names that arenas take effect with a restart");
    k = entry(&j, "loader.readahead");
    ok(k->outcome == SESSION_REJECTED || k->outcome == SESSION_UNDECIDED,
       "reading ahead is not adopted");
    is_int(profile_init(&j.profile, "n", "k", "m", "v"), 0, "a profile is made for what won");
    is_int(session_profile(&j.session, "2026-11-21", &j.profile, &e), 0, "takes what won");
    ok(j.profile.count == 1 && !strcmp(j.profile.settings[0].value, "13") &&
           j.profile.settings[0].gain > 5 && j.profile.settings[0].steps > 0,
       "the profile has the workers alone, with gain and steps");
    job_end(&j);
}

static void test_once(void)
{
    struct job j = job_start(3);
    int tried = 0;

    j.dud_first = true;
    job_run(&j);
    for (unsigned i = 0; i < j.session.n_entries; i++)
        tried += !strcmp(j.session.entries[i].knob, "loader.readahead");
    is_int(tried, 1, "what was rejected is not tried again when it is offered again");
    is_int(j.workers, 13, "the next candidate is adopted after one that is rejected");
    job_end(&j);
}

static void test_neutral(void)
{
    struct job j = job_start(1);

    j.fetch_s = 0.0001;
    j.workers = 2;
    job_run(&j);
    ok(j.workers == 2 && j.dud == 0, "a job that only computes is left alone");
    ok(j.session.phase == PHASE_OVER && j.steps < 2000,
       "the session of a job that only computes ends after %u steps: %s", j.steps,
       j.session.reason);
    job_end(&j);
}

static void test_breaks(void)
{
    struct job j = job_start(1);
    const struct session_entry *k;

    j.breaks_at = 13;
    job_run(&j);
    k = entry(&j, "loader.workers");
    ok(j.workers == 0 && k->outcome == SESSION_BROKE, "a candidate that breaks is undone");
    is_str(k->note, "no memory for workers", "the note names why the candidate broke");
    ok(entry(&j, "loader.readahead")->outcome != SESSION_LEFT,
       "the next candidate is tried after one that breaks");
    job_end(&j);

    j = job_start(1);
    j.breaks_at = 13;
    j.sticks = true;
    job_run(&j);
    is_str(j.session.reason, "a setting could not be taken back", "what cannot be undone ends it");
    ok(j.session.phase == PHASE_OVER && j.failures == 2,
       "the session ends after one more attempt to undo");
    job_end(&j);

    j = job_start(1);
    j.hangs = true;
    job_run(&j);
    is_str(j.session.reason, "a setting could not be taken back",
           "a switch that hangs ends the session");
    is_str(entry(&j, "loader.workers")->note, "the switch was never done",
           "the note names that the switch was never done");
    is_int((int)j.switches, 2, "a switch that hangs is undone once");
    job_end(&j);
}

static void test_decay(void)
{
    struct job j = job_start(2);

    j.decays = 300;
    job_run(&j);
    ok(entry(&j, "loader.workers")->outcome == SESSION_ROLLED_BACK && j.workers == 0,
       "a setting that stops paying is rolled back");
    is_int(profile_init(&j.profile, "n", "k", "m", "v"), 0, "a profile is made for what stays");
    is_int(session_profile(&j.session, NULL, &j.profile, NULL), 0,
           "session_profile makes a profile without a winner");
    is_int((long long)j.profile.count, 0, "the profile of a setting that was rolled back is empty");
    job_end(&j);
}

static void test_slow_canary(void)
{
    struct job j = job_start(2);

    j.decays = 1;
    j.fetch_s = 0.05;
    j.compute_s = 0.03;
    j.session.plan.canary_slow = 1.5;
    job_run(&j);
    is_str(entry(&j, "loader.workers")->note, "its first steps were far slower", "canaries end it");
    is_int(j.workers, 0, "a setting whose first steps are slow is undone");
    job_end(&j);
}

/* Whatever is going on when a budget ends, nothing that was not adopted stays. */
static void test_budgets(void)
{
    int left = 0, overrun = 0;

    for (unsigned most = 0; most < 600; most += 7) {
        struct job j = job_start(4);

        j.session.plan.steps = most;
        job_run(&j);
        left += (j.workers != 0) != (entry(&j, "loader.workers")->outcome == SESSION_ADOPTED);
        overrun += j.steps > most + 380; /* the guard's 300, a look at the old setting, a switch */
        left += j.dud != 0;
        job_end(&j);
    }
    is_int(left, 0, "nothing stays that was not adopted");
    is_int(overrun, 0, "the session ends soon after its budget");
}

static void test_time(void)
{
    struct session s;
    struct session_event e = { .kind = SESSION_TICK, .seconds = 100 };

    session_init(&s, NULL);
    s.plan.seconds = 60;
    is_int(session_event(&s, &e).what, SESSION_GO_ON, "time begins with the first tick");
    e.seconds = 159;
    is_int(session_event(&s, &e).what, SESSION_GO_ON, "a session goes on before its time is over");
    e.seconds = 161;
    is_int(session_event(&s, &e).what, SESSION_FINISH, "the time is over");
    is_int(session_event(&s, &e).what, SESSION_FINISH, "a session that is over stays over");
    is_str(s.reason, "the budget is used up", "the reason names the budget");
    session_init(&s, NULL);
    e = (struct session_event){ .kind = SESSION_FAILED, .why = "x" };
    is_int(session_event(&s, &e).what, SESSION_FINISH, "a job that fails by itself ends it");
    is_int(session_offer(&s, NULL, 0).what, SESSION_FINISH, "whatever is offered then");
}

static const struct session_event stop = { .kind = SESSION_STOP, .why = "the user wants so" };
static const struct session_event ended = { .kind = SESSION_ENDED, .why = "the job ended" };

/* Whenever the user has enough, nothing that was not adopted stays; and when the job ends nothing
 * more is asked of it. */
/* Whether an undecided entry is a candidate with finite bounds about its gain. */
static bool is_remembered(struct job *j, const struct session_entry *k)
{
    CLEANUP(profile_done) struct profile p = { .count = 0 };
    const struct profile_setting *m;

    if (profile_init(&p, "n", "k", "m", "v") < 0 ||
        session_profile(&j->session, "2026-11-25", &p, NULL) < 0)
        abort();
    m = profile_memo(&p, PROFILE_CANDIDATE, k->knob);
    return k->outcome == SESSION_UNDECIDED && m && !p.count && m->low < m->gain &&
           m->gain < m->high && isfinite(m->high);
}

static void test_stop(void)
{
    int left = 0, wrong = 0, promising = 0;

    for (unsigned at = 1; at < 600; at += 11) {
        struct job j = job_start(4);
        const struct session_entry *k;

        while (j.steps < at && j.session.phase != PHASE_OVER) {
            struct session_event e = { .kind = SESSION_STEP };

            e.seconds = job_step_s(&j, j.workers) * noise_next(&j.noise);
            j.steps++;
            job_obey(&j, session_event(&j.session, &e));
        }
        if (j.session.phase == PHASE_OVER) {
            job_end(&j);
            break;
        }
        job_obey(&j, session_event(&j.session, at % 2 ? &stop : &ended));
        if (at % 2)
            job_run(&j);
        k = entry(&j, "loader.workers");
        left += at % 2 && (j.workers != 0) != (k->outcome == SESSION_ADOPTED);
        wrong += j.session.phase != PHASE_OVER ||
                 strcmp(j.session.reason, at % 2 ? stop.why : ended.why) != 0;
        wrong += k->outcome == SESSION_UNDECIDED && strcmp(k->note, j.session.reason) != 0;
        promising += is_remembered(&j, k);
        job_end(&j);
    }
    is_int(left, 0, "nothing stays that was not adopted when it is stopped");
    is_int(wrong, 0, "the reason is told");
    ok(promising > 0, "what looked well when the job ended is a candidate of the profile: %d",
       promising);
}

static void test_leave(void)
{
    struct job j = job_start(1);
    const struct candidate c = { knobs_find(&j.knobs, "precision.autocast"), "bf16", "none", 1.5,
                                 "tensor cores are idle" };

    session_leave(&j.session, &c, "the job tells no loss");
    session_leave(&j.session, &c, "the job tells no loss");
    is_int((int)j.session.n_entries, 1, "what a driver leaves is written down once");
    is_str(j.session.entries[0].note, "the job tells no loss",
           "the note names why the driver left the candidate");
    is_int(j.session.entries[0].outcome, SESSION_LEFT,
           "a candidate that the driver leaves is noted as left");
    job_end(&j);
}

/* What goes with a setting comes and goes with it, and stays while a trial goes to and fro. */
static void test_also(void)
{
    struct job j = job_start(1);
    const struct candidate c = { knobs_find(&j.knobs, "loader.workers"),   "4", "0", 5, "why",
                                 knobs_find(&j.knobs, "loader.persistent") };
    const struct session_event switched = { .kind = SESSION_SWITCHED };
    struct session_command d = { .what = SESSION_GO_ON };
    int kept = 0, gone = 0;

    j.session.phase = PHASE_ASK;
    j.session.observed_s = 0.1;
    d = session_offer(&j.session, &c, 1);
    ok(d.what == SESSION_APPLY && d.also && !strcmp(d.also, "loader.persistent") &&
           !strcmp(d.also_value, "yes"),
       "a setting is applied with what goes along");
    for (int i = 0; i < 1000 && !gone; i++) {
        if (d.what == SESSION_REVERT) {
            gone += d.also && !strcmp(d.also_value, "no") && j.session.phase == PHASE_UNDO;
            kept += !d.also && j.session.phase == PHASE_TRIAL;
        }
        d = d.what == SESSION_APPLY || d.what == SESSION_REVERT
                ? session_event(&j.session, &switched)
                : session_event(&j.session,
                                &(const struct session_event){ .kind = SESSION_STEP,
                                                               .seconds = 0.1 + 0.001 * (i % 7) });
    }
    ok(kept > 0, "blocks without a setting leave what goes along: %d of them", kept);
    is_int(gone, 1, "a setting that loses takes along what went with it");
    is_str(j.session.entries[0].also, "loader.persistent", "an entry names what went along");
    j.session.entries[0].outcome = SESSION_ADOPTED;
    if (profile_init(&j.profile, "n", "k", "m", "v") < 0 ||
        session_profile(&j.session, "2026-11-25", &j.profile, NULL) < 0)
        abort();
    ok(j.profile.count == 2 && !strcmp(j.profile.settings[1].knob, "loader.persistent") &&
           !strcmp(j.profile.settings[1].value, "yes"),
       "a profile has both settings");
    job_end(&j);
}

/* Before the next of several candidates is tried it is asked for again: what the job does not need
 * any more is left, what it needs has the value of before that it has now. */
static void test_asks_again(void)
{
    struct job j = job_start(1);
    const struct candidate list[] = {
        { knobs_find(&j.knobs, "loader.workers"), "4", "0", 5, "why", NULL },
        { knobs_find(&j.knobs, "loader.prefetch"), "8", "2", 1.5, "why", NULL },
        { knobs_find(&j.knobs, "loader.readahead"), "8", "0", 1.2, "why", NULL },
    };
    const struct candidate then[] = {
        { knobs_find(&j.knobs, "loader.readahead"), "16", "1", 1.2, "why now", NULL },
        { knobs_find(&j.knobs, "loader.pin"), "yes", "no", 1.2, "why now", NULL },
    };
    const struct session_event switched = { .kind = SESSION_SWITCHED };
    struct session_command d;
    int asked = 0;

    j.session.phase = PHASE_ASK;
    j.session.observed_s = 0.1;
    d = session_offer(&j.session, list, 3);
    for (int i = 0; i < 4000 && d.what != SESSION_FINISH && !(asked && d.what == SESSION_APPLY);
         i++) {
        if (d.what == SESSION_ASK) {
            asked++;
            d = session_offer(&j.session, then, 2);
        } else if (d.what == SESSION_APPLY || d.what == SESSION_REVERT) {
            d = session_event(&j.session, &switched);
        } else {
            d = session_event(&j.session,
                              &(const struct session_event){ .kind = SESSION_STEP,
                                                             .seconds = 0.1 + 0.001 * (i % 7) });
        }
    }
    is_int(asked, 1, "a trial that is done asks again before the next one");
    ok(d.what == SESSION_APPLY && !strcmp(d.knob, "loader.readahead") && !strcmp(d.value, "8"),
       "the next one that the job still needs is tried, with its first value");
    is_str(j.session.offers[0].before, "1",
           "an offer has the value of before that is in force now");
    is_int((int)j.session.n_offers, 1, "what is offered anew is not added to the others");
    ok(j.session.n_entries == 2 && j.session.entries[1].outcome == SESSION_LEFT &&
           !strcmp(j.session.entries[1].knob, "loader.prefetch"),
       "what the job does not need any more is left");
    is_str(j.session.entries[1].note, "the job does not need it any more",
           "the entry says why it was left");
    job_end(&j);
}

static void test_oom(void)
{
    struct job j = job_start(3);
    bool failed;

    job_run(&j);
    oom_restart();
    do {
        struct profile p = { .count = 0 };
        int rc;

        oom_next();
        rc = profile_init(&p, "n", "k", "m", "v");
        if (rc == 0)
            rc = session_profile(&j.session, "2026-11-21", &p, NULL);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc == 0,
           "session_profile with allocation %d failing returns %d", oom_at, rc);
        profile_done(&p);
    } while (failed);
    job_end(&j);
}

int main(void)
{
    test_finds();
    test_tells();
    test_once();
    test_neutral();
    test_breaks();
    test_decay();
    test_slow_canary();
    test_budgets();
    test_time();
    test_stop();
    test_leave();
    test_also();
    test_asks_again();
    test_oom();
    return done();
}
