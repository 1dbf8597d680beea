/* Whole courses of `brim optimize`: simulated jobs (sim_job.h) of many kinds with what is said of
 * them and what the report has, and contests of settings that need a restart. What of it is right
 * is in the tests beside; here nothing changes unseen.
 *
 *     t_optimize_course FILE */
#include "base/str.h"
#include "golden.h"
#include "optimize/restart_race.h"
#include "sim_job.h"
#include "tap.h"

enum { ROOM = 4 << 20, JOBS = 40, CONTESTS = 60 };

static struct str out = STR_INIT(ROOM);

static unsigned below(struct noise *n, unsigned most)
{
    return (unsigned)(noise_even(n) * most);
}

#define PICK(n, ...) \
    ((const double[]){ \
        __VA_ARGS__ }[below(n, (unsigned)(sizeof((double[]){ __VA_ARGS__ }) / sizeof(double)))])

static void add_entry(const struct session_entry *k)
{
    str_addf(&out,
             "   %s=%s before %s %s: %s%s%s %.3g (%.3g to %.3g) in %u, %u starts, memory %.3g, "
             "%.3g, speed %.3g, at %u '%s' %s\n",
             k->knob, k->value, k->before, k->also, session_outcome_name(k->outcome),
             k->promising ? ", promising" : "", k->refused ? ", refused" : "", k->effect.gain,
             k->effect.low, k->effect.high, k->steps, k->starts, k->memory_b, k->device_b, k->speed,
             k->at_step, k->note, k->why);
}

/* ---- jobs ---- */

static void add_stretch(const char *name, const struct drive_stretch *s)
{
    str_addf(&out,
             "   %s: %.0f steps, %.4g s, %.4g samples, %.3g %.3g %.3g B, %.4g J in %.4g s, %.4g W, "
             "%.4g steps/s, %.4g samples/s\n",
             name, s->steps, s->seconds, s->samples, s->resident_b, s->pss_b, s->device_b,
             s->joules, s->powered_s, drive_watts(s), drive_steps_per_s(s), drive_samples_per_s(s));
}

static void add_report(const struct sim *s, const struct drive_report *r)
{
    str_addf(&out, "%s", s->said);
    str_addf(&out, "   %s; %s; %zu ranks, %llu steps, '%s', start %.3g s, step %.3g s, %u asked\n",
             r->off ? r->off : "-", r->session->reason ? r->session->reason : "not over", r->ranks,
             (unsigned long long)r->steps, r->nothing, r->start_s, r->step_s, s->requests);
    for (unsigned i = 0; i < r->session->n_entries; i++)
        add_entry(&r->session->entries[i]);
    for (size_t i = 0; r->race && i < r->race->count; i++)
        str_addf(&out, "   to race: %s=%s %.3g %s\n", r->race->list[i].knob->name,
                 r->race->list[i].value, r->race->list[i].gain, r->race->list[i].why);
    for (size_t i = 0; r->remains && i < r->remains->count; i++)
        str_addf(&out, "   remains: %s\n", r->remains->items[i].sentence);
    add_stretch("before", &r->before);
    add_stretch("after", &r->after);
}

/* A job of one kind, with one or two things that are out of the usual. */
static void add_job(unsigned seed)
{
    struct noise n = noise_start(seed + 500, false);
    struct drive_report r;
    struct sim s;
    unsigned odd = seed % 20;
    uint64_t more = (uint64_t)PICK(&n, 0, 0, 0, 150, 700);

    sim_init(&s, seed);
    s.fetch_s = PICK(&n, 0.0001, 0.02, 0.05, 0.163, 0.163);
    s.compute_s = PICK(&n, 0.004, 0.0156, 0.05);
    s.ranks = 1 + below(&n, 2);
    s.workers = (int)PICK(&n, 0, 0, 0, 4);
    s.gpu = below(&n, 2);
    s.watts = PICK(&n, 0, 300);
    s.worker_watts = PICK(&n, 10, 1000);
    s.goal = (struct goal){ .kind = below(&n, 3) || !(s.watts > 0) ? GOAL_THROUGHPUT : GOAL_ENERGY,
                            .gpus = true };
    s.saves = odd == 1;
    s.rare = odd == 2;
    s.once = odd == 3;
    s.late = odd == 4 ? 60 : 0;
    s.may_restart = odd == 5 || odd == 6 ? 8 : 0;
    s.refuses[0] = odd == 7;
    s.refuses[1] = odd == 8;
    s.silent = odd == 9;
    s.losses = odd == 10 || odd == 11;
    s.hurts = odd == 11;
    s.hangs = odd == 12;
    s.decays_at = odd == 13 ? 900 : 0;
    s.dies_at = odd == 14 ? 1 : odd == 15 ? 400 : 0;
    s.restarts_at = odd == 16 ? 300 : 0;
    s.observe = odd == 17 ? 100 : 0;
    s.limit = odd == 18 ? SIM_LIMIT_W : 0;
    s.slows = PICK(&n, 0.1, 3);
    str_addf(&out, "job %u: fetch %g, compute %g, %u ranks, %d workers, odd %u\n", seed, s.fetch_s,
             s.compute_s, s.ranks, s.workers, odd);
    is_int(sim_start(&s, below(&n, 2) || s.losses), 0, "the drive of job %u starts", seed);
    if (s.workers)
        for (unsigned i = 0; i < s.ranks; i++)
            sim_note(&s, i, "loader.workers=4");
    sim_run(&s, more);
    if (!more)
        sim_run(&s, 300);
    sim_end(&s, odd == 15 ? 137 : 0, &r);
    add_report(&s, &r);
    sim_done(&s);
}

/* ---- contests ---- */

static const struct knob knobs[] = {
    { .name = "blas.library", .risk = KNOB_SAFE }, { .name = "ddp.hook", .risk = KNOB_NUMERIC },
    { .name = "ddp.bucket", .risk = KNOB_SAFE },   { .name = "malloc.library", .risk = KNOB_SAFE },
    { .name = "blas.library", .risk = KNOB_SAFE },
};

/* One heat of a setting. */
static void run_heat(struct noise *n, struct race_run *h, double step_s, double times, double worse)
{
    static const char *const states[] = { "runs", "enough", "failed", "saved" };
    struct race_run_plan plan = race_run_plan_usual(PICK(n, 1, 20), step_s);
    unsigned most = (unsigned)PICK(n, 2500, 2500, 2500, 10, 3), how = below(n, 40);
    double samples = PICK(n, 8, 8, 8, 8, 8, 8, 8, 16), now_s = 100;
    bool told = below(n, 12), per_sample;

    race_run_init(h, &plan);
    race_run_tick(h, now_s);
    for (unsigned i = 0; h->state == HEAT_RUNS && i < most; i++) {
        struct join_step x = { .samples = told || i % 7 ? samples : (double)NAN };

        x.seconds = step_s * times * (0.95 + 0.1 * noise_even(n));
        x.loss = 2 + worse + 0.05 * noise_even(n);
        if (how == 9 && i > 3 && times < 1)
            x.loss = (double)NAN;
        x.seconds = below(n, 30) ? x.seconds : PICK(n, 0, (double)NAN);
        x.saves = how == 3 && i == 6;
        race_run_step(h, &x);
        now_s += how == 5 && i == 20 ? 500 : step_s;
        race_run_tick(h, now_s);
    }
    race_run_end(h, how == 7 ? "exit status 3" : NULL);
    str_addf(&out, " %s %u/%u", states[h->state], h->n, h->seen);
    str_addf(&out, " %.4g%s%s;", race_run_seconds(h, &per_sample), *h->why ? " " : "", h->why);
    str_add(&out, per_sample ? " of a sample" : "");
}

static void add_contest(unsigned seed)
{
    struct noise n = noise_start(seed + 900, false);
    unsigned restarts = (unsigned)PICK(&n, 0, 6, 7, 13, 30, 60);
    double times[CONTEST_MOST + 1] = { 1 }, worse[CONTEST_MOST + 1] = { 0 };
    double step_s = PICK(&n, 0.02, 0.1, 2);
    struct restart_race *c = calloc(1, sizeof(*c));
    struct race_run *h = calloc(1, sizeof(*h));

    if (!c || !h)
        abort();
    restart_race_init(c, restarts);
    str_addf(&out, "contest %u of %u restarts, room %u, steps of %g s\n", seed, restarts,
             restart_race_room(restarts), step_s);
    for (size_t i = 0; i < ARRAY_SIZE(knobs); i++) {
        const struct candidate x = { .knob = &knobs[i],
                                     .value = i < 4 ? "new" : "other",
                                     .before = i % 2 ? "old" : NULL,
                                     .why = "it may help" };

        times[c->n + 1] = PICK(&n, 0.7, 0.85, 0.9, 0.99, 1, 1.2);
        worse[c->n + 1] = PICK(&n, 0, 0, 0.01, 0.2);
        str_addf(&out, " %s%s", restart_race_add(c, &x) ? "+" : "no ", x.knob->name);
    }
    restart_race_begin(c);
    do {
        for (int at; (at = restart_race_want(c)) >= 0;) {
            double all = 1;

            for (unsigned i = 0; i < c->n; i++)
                all *= restart_race_has(c, i, at) ? times[i + 1] : 1;
            str_addf(&out, "\n  heat %d:", at);
            run_heat(&n, h, step_s, all, at ? worse[c->field[at] + 1] : 0);
            restart_race_take(c, h);
            if (below(&n, 60) == 0)
                restart_race_stop(c, "the user stops it");
        }
        str_addf(&out, "\n  race %u: winner %u, kept %u, heats %u, step %.3g s '%s'", c->races,
                 c->race.winner, c->kept, c->heats, c->step_s, c->ended);
    } while (restart_race_again(c));
    str_add(&out, "\n");
    for (unsigned i = 0; i < c->n; i++)
        add_entry(&c->settings[i].entry);
    free(c);
    free(h);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        printf("Bail out! FILE\n");
        return 1;
    }
    for (unsigned i = 0; i < CONTESTS; i++)
        add_contest(i);
    for (unsigned i = 0; i < JOBS; i++)
        add_job(i);
    is_int(str_error(&out), 0, "all courses have room");
    golden(argv[1], str_text(&out));
    str_done(&out);
    return done();
}
