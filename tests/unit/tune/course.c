/* Whole courses of trials, races, guards and sessions, on steps that a seed makes: each change of
 * what they want, and what they come to. When they are right is in tune.c, session.c and stats.c;
 * here nothing of it changes unseen.
 *
 *     t_tune_course FILE */
#include <math.h>

#include "base/str.h"
#include "golden.h"
#include "knobs_ini.h"
#include "noise.h"
#include "tap.h"
#include "tune/session.h"
#include "tune/trial/race.h"

enum { ROOM = 4 << 20, SESSIONS = 120, STEPS_MOST = 6000, OFFERS = 9 };

static struct str out = STR_INIT(ROOM);

/* ---- chance, without functions whose last digit depends on the machine ---- */

static unsigned below(struct noise *n, unsigned most)
{
    return (unsigned)(noise_even(n) * most);
}

#define PICK(n, ...) \
    ((const double[]){ \
        __VA_ARGS__ }[below(n, (unsigned)(sizeof((double[]){ __VA_ARGS__ }) / sizeof(double)))])

/* What a step's time is multiplied with: some tenths, and three times as long now and then. */
static double even_noise(struct noise *n, double wide)
{
    double x = -1.5;

    for (int i = 0; i < 3; i++)
        x += noise_even(n);
    return (1 + wide * x) * (below(n, 100) == 0 ? 3 : 1);
}

static void add_effect(struct trial_effect e)
{
    str_addf(&out, "%.3g (%.3g to %.3g)", e.gain, e.low, e.high);
}

/* ---- trials ---- */

static const char *const verdicts[] = { "runs", "accept", "reject", "undecided" };

static void add_trial(struct noise *n)
{
    struct trial_plan plan = trial_plan_usual(1 + below(n, 5));
    double a_s = PICK(n, 0.001, 0.01, 0.1, 2), times = PICK(n, 0.2, 0.6, 0.9, 0.97, 1, 1.1, 2),
           wide = PICK(n, 0.001, 0.05, 0.2), drift = PICK(n, 0, 0, 0.001);
    struct trial t;
    bool want = false;
    unsigned i;

    plan.at_once = below(n, 2);
    plan.promise = PICK(n, (double)NAN, 0, 0.1, 1, 5);
    plan.hurry = PICK(n, 0, 1.5, 3);
    plan.block = below(n, 3) ? plan.block : below(n, 20);
    plan.pairs = below(n, 2) ? plan.pairs : 2 + below(n, 8);
    plan.block_s = below(n, 3) ? plan.block_s : 0;
    trial_init(&t, &plan);
    if (below(n, 3) == 0)
        trial_begun(&t, (const double[]){ a_s, a_s * 1.01, a_s * 0.98 }, 3);
    str_addf(&out, "trial %g s, times %g, spread %g, promise %g, hurry %g:", a_s, times, wide,
             plan.promise, plan.hurry);
    for (i = 0; t.verdict == TRIAL_RUNS && i < 20000; i++) {
        bool b = trial_want(&t);
        double seconds;

        if (b != want && t.blocks < 12)
            str_addf(&out, " %c%u", b ? 'B' : 'A', t.steps);
        want = b;
        b = below(n, 40) ? b : !b;
        seconds = a_s * (b ? times : 1) * (1 + drift * i) * even_noise(n, wide);
        if (below(n, 60) == 0)
            seconds = PICK(n, 0, (double)NAN, -1, (double)INFINITY);
        trial_steps(&t, b, seconds, below(n, 5) ? 1 : 3);
    }
    str_addf(&out, " %s in %u of %u, %u blocks, ", verdicts[t.verdict], t.steps, i, t.blocks);
    add_effect(trial_effect(&t));
    str_add(&out, " so far ");
    add_effect(trial_so_far(&t));
    str_addf(&out, "%s%s\n", t.at_once ? ", at once" : "", t.hurried ? ", hurried" : "");
}

/* ---- races and guards ---- */

static void add_race(struct noise *n)
{
    struct race_plan plan = race_plan_usual();
    unsigned settings = 1 + below(n, 9);
    double times[RACE_MOST], wide = PICK(n, 0.001, 0.01, 0.1);
    struct race r;

    plan.rounds = (unsigned)PICK(n, 0, 2, 3, 8, 40);
    race_init(&r, settings, below(n, 3) ? NULL : &plan);
    for (unsigned i = 0; i < RACE_MOST; i++)
        times[i] = PICK(n, 0.5, 0.9, 0.95, 0.99, 1, 1, 1.1, 1.5);
    str_addf(&out, "race of %u, spread %g:", settings, wide);
    for (int want, runs = 0; (want = race_want(&r)) >= 0 && runs < 400; runs++) {
        str_addf(&out, " %d", want);
        race_run(&r, below(n, 30) ? times[want] * even_noise(n, wide)
                                  : PICK(n, 0, (double)NAN, -1, (double)INFINITY));
    }
    str_addf(&out, " wins %u after %u rounds:", r.winner, r.round);
    for (unsigned i = 0; i < r.n; i++) {
        str_addf(&out, " %d%s", (int)(times[i] * 100), r.in[i] ? " " : " out ");
        add_effect(race_effect(&r, i));
    }
    str_add(&out, "\n");
}

static void add_guard(struct noise *n)
{
    struct recheck_plan plan = recheck_plan_usual();
    double wide = PICK(n, 0.001, 0.05, 0.2), later = PICK(n, 1, 1, 1.05, 1.3, 3);
    double old = PICK(n, 0.9, 1, 1.005, 1.03, 1.2, 5), step_s = PICK(n, 0.01, 0.1, 1);
    double expected;
    unsigned checks = 0, from = below(n, 3000);
    struct recheck g;

    plan.every = (unsigned)PICK(n, 5, 20, 100);
    plan.rest = PICK(n, 2, 30);
    plan.block = (unsigned)PICK(n, 0, 3, 10);
    expected = PICK(n, (double)NAN, step_s, step_s * 0.8);
    recheck_init(&g, expected, below(n, 2) ? &plan : NULL);
    str_addf(&out, "guard of %g s, old %g, later %g:", step_s, old, later);
    for (unsigned i = 0; i < 6000 && g.verdict == GUARD_KEEP; i++) {
        bool with = recheck_want(&g);
        double seconds;

        with = below(n, 50) ? with : !with;
        seconds = step_s * (with ? 1 : old) * (i > from ? later : 1) * even_noise(n, wide);
        if (below(n, 80) == 0)
            seconds = PICK(n, 0, (double)NAN, -1, (double)INFINITY);
        recheck_steps(&g, with, seconds, 1 + below(n, 2));
        if (g.checks != checks)
            str_addf(&out, " %s%u", g.alarmed ? "alarm " : "", i);
        checks = g.checks;
    }
    str_addf(&out, " %s after %u checks, sum %.3g, %u blocks, ", g.verdict ? "rolled back" : "kept",
             g.checks, g.sum, g.blocks);
    add_effect(trial_effect(&g.check));
    str_add(&out, "\n");
}

/* ---- sessions ---- */

static const struct {
    const char *knob, *value, *before;
} settings[OFFERS] = {
    { "loader.workers", "8", "0" },   { "loader.prefetch", "4", "2" },
    { "loader.readahead", "4", "0" }, { "precision.autocast", "bf16", "none" },
    { "malloc.arenas", "2", "8" },    { "power.limit", "300", "400" },
    { "torch.compile", "yes", "no" }, { "ddp.bucket", "50", "25" },
    { "loader.workers", "4", NULL },
};

struct course {
    struct noise noise;
    struct session s;
    struct knobs knobs;
    double step_s, wide, times[OFFERS], gains[OFFERS];
    bool offered[OFFERS];
    int in_force; /* of settings[]; -1: none */
    bool always_late, hangs;
    unsigned breaks; /* one of so many switches fails; 0: none */
    unsigned step, at[4];
    double now_s;
};

static int setting_of(const char *knob, const char *value)
{
    for (int i = 0; i < OFFERS; i++)
        if (!strcmp(settings[i].knob, knob) && !strcmp(settings[i].value, value))
            return i;
    return -1;
}

static struct session_command offer(struct course *c)
{
    struct candidate list[OFFERS];
    size_t n = 0;

    for (int i = 0; i < OFFERS; i++) {
        const struct knob *k = knobs_find(&c->knobs, settings[i].knob);

        if (!k || !c->offered[i] || below(&c->noise, 12) == 0)
            continue;
        list[n++] = (struct candidate){ .knob = k,
                                        .value = settings[i].value,
                                        .before = settings[i].before,
                                        .gain = c->gains[i],
                                        .why = "it may help" };
        if (i == 0 && below(&c->noise, 2))
            list[n - 1].also = knobs_find(&c->knobs, "loader.persistent");
    }
    if (n && below(&c->noise, 4) == 0)
        session_leave(&c->s, &list[n - 1], "the driver will not");
    return session_offer(&c->s, list, n);
}

static const char *const commands[] = { "go on", "ask", "apply", "revert", "finish" };

static void add_command(const struct course *c, struct session_command d)
{
    str_addf(&out, "  %u %s", c->step, commands[d.what]);
    if (d.knob)
        str_addf(&out, " %s=%s", d.knob, d.value);
    if (d.also)
        str_addf(&out, " and %s=%s", d.also, d.also_value);
    str_add(&out, d.what == SESSION_FINISH ? "" : "\n");
}

/* Carry commands out, and tell what comes of it. */
static void obey(struct course *c, struct session_command d)
{
    while (d.what != SESSION_GO_ON) {
        struct session_event e = { .kind = SESSION_SWITCHED };

        add_command(c, d);
        if (d.what == SESSION_FINISH)
            return;
        if (d.what == SESSION_ASK) {
            d = offer(c);
            continue;
        }
        if (c->hangs || (c->always_late && below(&c->noise, 2)))
            return;
        if (c->breaks && below(&c->noise, c->breaks) == 0) {
            e = (struct session_event){ .kind = SESSION_FAILED,
                                        .why = below(&c->noise, 2) ? "no memory" : NULL };
        } else {
            int i = setting_of(d.knob, d.value);

            c->in_force = d.what == SESSION_APPLY ? i : -1;
        }
        d = session_event(&c->s, &e);
    }
}

/* What happens beside the steps, once each. */
static void happen(struct course *c)
{
    static const struct session_event events[] = {
        { .kind = SESSION_STOP, .why = "the user stops it" },
        { .kind = SESSION_ENDED, .why = "the job ended" },
        { .kind = SESSION_FAILED, .why = NULL },
        { .kind = SESSION_SWITCHED },
    };

    for (size_t i = 0; i < ARRAY_SIZE(events); i++)
        if (c->step == c->at[i])
            obey(c, session_event(&c->s, &events[i]));
    if (c->always_late && c->s.switching && below(&c->noise, 5) == 0) {
        c->in_force = c->s.switching_to ? setting_of(c->s.offers[0].knob, c->s.offers[0].value)
                                        : -1;
        obey(c, session_event(&c->s, &events[3]));
    }
}

static void add_session(const struct course *c)
{
    const struct session *s = &c->s;

    str_addf(&out, ": %s; %u steps, %u trials\n", s->reason ? s->reason : "not over", s->steps,
             s->trials);
    for (unsigned i = 0; i < s->n_entries; i++) {
        const struct session_entry *k = &s->entries[i];

        str_addf(&out, "   %s=%s before %s %s %s%s%s: ", k->knob, k->value, k->before, k->also,
                 session_outcome_name(k->outcome), k->promising ? ", promising" : "",
                 k->refused ? ", refused" : "");
        add_effect(k->effect);
        str_addf(&out, " in %u '%s' %s\n", k->steps, k->note, k->why);
    }
}

static void add_profile(const struct course *c)
{
    CLEANUP(profile_done) struct profile p = { .count = 0 };
    struct err e = { "" };

    if (profile_init(&p, "n", "k", "m", "v") < 0 ||
        session_profile(&c->s, "2026-11-21", &p, &e) < 0)
        abort();
    for (size_t i = 0; i < p.count + p.n_memos; i++) {
        const struct profile_setting *x = i < p.count ? &p.settings[i] : &p.memos[i - p.count];

        str_addf(&out, "   profile %d %s=%s (%s) %.3g %.3g %.3g in %llu, %s %s\n", (int)x->kind,
                 x->knob, x->value, x->before ? x->before : "-", x->gain, x->low, x->high,
                 (unsigned long long)x->steps, x->date ? x->date : "-", x->why ? x->why : "-");
    }
}

static struct course make(unsigned seed)
{
    struct course c = { .noise = noise_start(seed, false), .in_force = -1 };
    struct session_plan plan = session_plan_usual();
    struct noise *n = &c.noise;
    struct err e;

    if (knobs_load(&c.knobs, "k", data_knobs_ini, data_knobs_ini_len, &e) < 0)
        abort();
    plan.goal = below(n, 3) ? GOAL_THROUGHPUT : GOAL_ENERGY;
    plan.observe = (unsigned)PICK(n, 0, 10, 30, 600);
    plan.canary = (unsigned)PICK(n, 0, 8, 8, 8);
    plan.guard = (unsigned)PICK(n, 50, 300, 300);
    plan.switch_most = (unsigned)PICK(n, 20, 200);
    plan.switch_s = PICK(n, 0.1, 2);
    plan.trials = (unsigned)PICK(n, 0, 1, 3, 5, 20);
    plan.steps = (unsigned)PICK(n, 200, 1000, 5000);
    plan.seconds = PICK(n, (double)NAN, (double)NAN, 20, 200);
    plan.numeric = below(n, 2);
    plan.privileged = below(n, 2);
    session_init(&c.s, below(n, 5) ? &plan : NULL);
    c.step_s = PICK(n, 0.002, 0.1, 0.1, 1);
    c.wide = PICK(n, 0.001, 0.05, 0.1);
    for (int i = 0; i < OFFERS; i++)
        c.times[i] = PICK(n, 0.2, 0.5, 0.9, 0.97, 1, 1.05, 1.5, 4);
    for (int i = 0; i < OFFERS; i++) {
        c.offered[i] = below(n, 4);
        c.gains[i] = PICK(n, (double)NAN, 1, 1.1, 2, 6);
    }
    c.breaks = (unsigned)PICK(n, 0, 0, 3, 8);
    c.hangs = below(n, 12) == 0;
    c.always_late = below(n, 4) == 0;
    for (size_t i = 0; i < ARRAY_SIZE(c.at); i++)
        c.at[i] = below(n, 5) ? 0 : 1 + below(n, 700);
    return c;
}

static void add_course(unsigned seed)
{
    struct course c = make(seed);

    str_addf(&out, "session %u\n", seed);
    while (c.s.phase != PHASE_OVER && c.step < STEPS_MOST) {
        struct session_event e = { .kind = SESSION_STEP }, tick = { .kind = SESSION_TICK };
        unsigned skips = session_skips(&c.s);

        c.step++;
        e.seconds = c.step_s * (c.in_force < 0 ? 1 : c.times[c.in_force]) *
                    even_noise(&c.noise, c.wide);
        if (below(&c.noise, 100) == 0)
            e.seconds = PICK(&c.noise, 0, (double)NAN, -1, (double)INFINITY);
        e.steps = skips || below(&c.noise, 3) ? below(&c.noise, 2) : 4;
        c.now_s += c.step_s;
        tick.seconds = c.now_s;
        happen(&c);
        obey(&c, session_event(&c.s, &tick));
        obey(&c, session_event(&c.s, &e));
    }
    add_session(&c);
    add_profile(&c);
    knobs_done(&c.knobs);
}

int main(int argc, char **argv)
{
    struct noise n = noise_start(11, false);

    if (argc != 2) {
        printf("Bail out! FILE\n");
        return 1;
    }
    for (int i = 0; i < 150; i++)
        add_trial(&n);
    for (int i = 0; i < 80; i++)
        add_race(&n);
    for (int i = 0; i < 80; i++)
        add_guard(&n);
    for (unsigned i = 0; i < SESSIONS; i++)
        add_course(i + 1);
    is_int(str_error(&out), 0, "all courses have room");
    golden(argv[1], str_text(&out));
    str_done(&out);
    return done();
}
