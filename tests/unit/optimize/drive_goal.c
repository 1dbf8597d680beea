/* What a step costs, by what the user wants, and the limit of power, which is no setting of the job
 * (sim_job.h). */
#include "sim_job.h"
#include "tap.h"

/* Steps become some seven times as fast; what a worker draws decides what that costs. */
static void test_goal(struct goal g, double worker_watts, bool pays, const char *name)
{
    struct sim s;
    struct drive_report r;
    const struct session_entry *k;
    double watts, gain;

    sim_init(&s, 5);
    s.goal = g;
    s.watts = 300;
    s.worker_watts = worker_watts;
    is_int(sim_start(&s, false), 0, "the drive for %s starts at %.0f W a worker", name,
           worker_watts);
    sim_run(&s, 0);
    sim_run(&s, 500);
    sim_end(&s, 0, &r);
    k = sim_entry(&r, "loader.workers");
    ok(k && (k->outcome == SESSION_ADOPTED) == pays, "workers are %s for %s at %.0f W each",
       pays ? "kept" : "not kept", name, worker_watts);
    is_int(s.workers > 0, pays, "workers are in force exactly if they pay for %s at %.0f W each",
           name, worker_watts);
    watts = drive_watts(&r.before);
    ok(!g.gpus || fabs(watts - 300) < 1, "the power before is 300 W where GPUs count: %.0f W",
       watts);
    if (!k || !pays)
        goto out;
    gain = goal_price(&g, 1 / drive_steps_per_s(&r.before), watts) /
           goal_price(&g, 1 / drive_steps_per_s(&r.after), drive_watts(&r.after));
    ok(gain > 1.5, "a step costs at most two thirds of before: a %.1fth", gain);
out:
    sim_done(&s);
}

static void test_goals(void)
{
    const struct goal energy = { .kind = GOAL_ENERGY, .gpus = true };
    const struct goal hours = { .kind = GOAL_COST, .price_hour = 4 };
    const struct goal both = { GOAL_COST, 0.1, 0.3, true, false };
    const struct run_moment none = { .seconds = 1 };

    test_goal(energy, 10, true, "energy");
    test_goal(energy, 1000, false, "energy");
    test_goal(hours, 1000, true, "the price of an hour");
    test_goal(both, 10, true, "the price of hours and energy");
    test_goal(both, 1000, false, "the price of hours and energy");
    ok(goal_price(&energy, 2, 300) == 600, "the energy goal's price is in joules");
    ok(fabs(goal_price(&both, 3600, 1000) - 0.4) < 1e-12,
       "the price counts an hour and a kWh in it");
    ok(goal_price(&hours, 900, (double)NAN) == 1,
       "the price of a quarter of an hour needs no power");
    ok(isnan(goal_watts(&energy, &none)) && isnan(goal_watts(&hours, &none)),
       "goal_watts is not known where no power is");
    ok(!goal_needs_power(&hours) && goal_needs_power(&both) && goal_needs_power(&energy),
       "goal_needs_power is false for the price of hours alone");
}

/* 690 W of 700: a lower limit, which costs nothing, much, or may not be set. */
static void test_limit(double slows, bool denies, bool pays)
{
    const struct goal energy = { .kind = GOAL_ENERGY, .gpus = true };
    struct sim s;
    struct drive_report r;
    const struct session_entry *k;

    sim_init(&s, 5);
    s.goal = energy;
    s.fetch_s = 0.0001;
    s.watts = 690;
    s.limit = SIM_LIMIT_W;
    s.slows = slows;
    s.denies = denies;
    s.gpu = true;
    is_int(sim_start(&s, false), 0, "the drive with a limit that slows by %g starts", slows);
    sim_run(&s, 0);
    sim_run(&s, 500);
    sim_end(&s, 0, &r);
    k = &r.session->entries[0];
    while (k->outcome == SESSION_LEFT && k < &r.session->entries[r.session->n_entries - 1])
        k++;
    is_str(k->knob, "power.limit", "the limit of power is tried");
    is_str(k->before, "700", "the limit in force is the value before");
    ok((k->outcome == SESSION_ADOPTED) == pays, "the limit is adopted exactly if it pays: %s: %s",
       session_outcome_name(k->outcome), k->note);
    ok(pays ? s.limit < SIM_LIMIT_W : s.limit == SIM_LIMIT_W,
       "the limit is lower exactly if it pays: %g W at the end", s.limit);
    ok(denies || fabs(k->speed - (1 / (1 + slows * 0.2) - 1)) < 0.02,
       "the entry has the speed under a limit that was set: %g", k->speed);
    is_int(s.requests, 0, "the job is asked for nothing under a limit of power");
    if (denies)
        is_str(k->note, "power.limit is for root alone",
               "the note says that the limit is for root alone");
    sim_done(&s);
}

/* A power that goes up and down between 650 and 250 W, 530 in the mean, looked at once a moment. */
static const struct session_entry *try_wave(struct sim *s, double wave_s, unsigned n, double spares,
                                            struct drive_report *r)
{
    sim_init(s, 5 + n);
    s->goal = (struct goal){ .kind = GOAL_ENERGY, .gpus = true, .looks = true };
    s->fetch_s = 0.0001;
    s->compute_s = 0.25;
    s->watts = 650;
    s->low_watts = 250;
    s->duty = 0.7;
    s->wave_s = wave_s;
    s->phase = n / 8.0;
    s->limit = SIM_LIMIT_W;
    s->spares = spares;
    s->gpu = true;
    if (sim_start(s, false) < 0)
        return NULL;
    sim_run(s, 0);
    sim_end(s, 0, r);
    return sim_entry(r, "power.limit");
}

/* The first that was tried of a knob. */
static const struct session_entry *first_of(const struct drive_report *r, const char *knob)
{
    for (unsigned i = 0; i < r->session->n_entries; i++)
        if (!strcmp(r->session->entries[i].knob, knob))
            return &r->session->entries[i];
    return NULL;
}

/* A limit that changes nothing is kept in none of 20, whatever the period and the phase; one that
 * takes 10 % off is kept. tests/unit/tune/wild.c has hundreds of trials alone. */
static void test_wave(void)
{
    static const double waves_s[] = { 1, 2.05, 7, 60 };
    int tried = 0, kept = 0, found = 0;
    struct drive_report r;
    struct sim s;

    for (size_t w = 0; w < ARRAY_SIZE(waves_s); w++)
        for (unsigned n = 0, each = 0; n < 20 && each < 5; n++) {
            const struct session_entry *k = try_wave(&s, waves_s[w], n, 0, &r);

            /* None is proposed where the first looks all see the low power. */
            each += k != NULL;
            tried += k != NULL;
            kept += k && k->outcome == SESSION_ADOPTED;
            sim_done(&s);
        }
    is_int(tried, 20, "a limit is tried in 20 runs with a square wave of power");
    is_int(kept, 0, "a limit that changes nothing is kept in none of 20");
    for (size_t w = 0; w < ARRAY_SIZE(waves_s); w++) {
        const struct session_entry *k = try_wave(&s, waves_s[w], 1, 0.1, &r);

        k = k ? first_of(&r, "power.limit") : NULL;
        printf("# %g s: %s, %+.3f (%+.3f to %+.3f)\n", waves_s[w],
               k ? session_outcome_name(k->outcome) : "-", k ? k->effect.gain : 0,
               k ? k->effect.low : 0, k ? k->effect.high : 0);
        found += k && k->outcome == SESSION_ADOPTED;
        sim_done(&s);
    }
    ok(found >= 3, "a limit that takes 10 %% off is kept in %d of 4 runs", found);
}

int main(void)
{
    test_goals();
    test_limit(0.1, false, true);
    test_limit(3, false, false);
    test_limit(0.1, true, false);
    test_wave();
    return done();
}
