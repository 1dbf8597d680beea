#include "cmd/optimize/race.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/signal/quantity.h"
#include "optimize/progress.h"
#include "optimize/race_runner.h"

enum { LINE = 1024 };

struct racing {
    const struct optimize_race *r;
    struct restart_race contenders;
    bool stopped, interrupted;
    int exit;
};

static void PRINTF(2, 3) say(const struct racing *x, const char *fmt, ...)
{
    char text[LINE];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    x->r->job->say(x->r->job->arg, text);
}

/* ---- settings ---- */

static bool is_same(char *const *a, char *const *b)
{
    size_t i = 0;

    while (a[i] && b[i] && !strcmp(a[i], b[i]))
        i++;
    return !a[i] && !b[i];
}

static int set(struct profile *p, const char *knob, const char *value, struct err *e)
{
    const struct profile_setting s = {
        .knob = knob, .value = value, .gain = (double)NAN, .low = (double)NAN, .high = (double)NAN
    };

    return profile_set(p, &s, e);
}

bool optimize_race_fits(const struct profile_settings_about *about,
                        const struct profile_settings *job, const struct candidate *c, char *why)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(profile_done) struct profile p = { .count = 0 };
    struct profile_settings with = { .env = job->env, .argv = job->argv };
    struct err e = { "out of memory" };
    const char *about_it;

    if (profile_init(&p, "", "", "", "") < 0 || set(&p, c->knob->name, c->value, &e) < 0 ||
        profile_settings_apply(&a, &p, about, &with, &e) < 0) {
        snprintf(why, SESSION_TEXT, "%.*s", SESSION_TEXT - 1, e.text);
        return false;
    }
    about_it = with.n_left ? strstr(with.left[0], " is left: ") : NULL;
    if (about_it)
        snprintf(why, SESSION_TEXT, "%.*s", SESSION_TEXT - 1, about_it + strlen(" is left: "));
    else if (!with.cpus && with.argv == job->argv && is_same(with.env, job->env))
        snprintf(why, SESSION_TEXT, "the job has it already");
    else
        return true;
    return false;
}

/* The job with what is kept, and what a heat is to show (0: nothing). */
static int settings_of(struct arena *a, const struct racing *x, int heat,
                       struct profile_settings *ret, struct err *e)
{
    CLEANUP(profile_done) struct profile p = { .count = 0 };
    int rc = profile_init(&p, "", "", "", "");

    *ret = (struct profile_settings){ .env = x->r->job->env, .argv = x->r->job->argv };
    for (unsigned i = 0; i < x->contenders.n && rc == 0; i++)
        if (restart_race_has(&x->contenders, i, heat))
            rc = set(&p, x->contenders.settings[i].entry.knob,
                     x->contenders.settings[i].entry.value, e);
    if (rc < 0)
        return rc == -ENOMEM ? err_nomem(e) : rc;
    return profile_settings_apply(a, &p, x->r->about, ret, e);
}

/* ---- heats ---- */

static void announce(const struct racing *x, int heat)
{
    const struct restart_race *c = &x->contenders;
    const struct session_entry *k = heat ? &c->settings[c->field[heat]].entry : NULL;

    if (!k)
        say(x, "run %u of %u at most: the job %s, to compare with", c->heats + 1, c->most,
            c->kept ? "with what was kept" : "as it is");
    else
        say(x, "run %u of %u at most: the job with %s=%s: %s", c->heats + 1, c->most, k->knob,
            k->value, k->why);
}

static void tell_heat(const struct racing *x, const struct race_run *h)
{
    bool per_sample;
    double seconds = race_run_seconds(h, &per_sample);

    if (seconds > 0)
        say(x, "run %u: %s a %s, of %u steps", x->contenders.heats, quantity_seconds(seconds).text,
            per_sample ? "sample" : "step", h->n);
}

static int run_heat(struct racing *x, int heat, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(race_runner_freep) struct race_runner *h = NULL;
    const struct drive_report *first = x->r->first;
    const struct race_run_plan plan = race_run_plan_usual(
        first->start_s, isnan(x->contenders.step_s) ? first->step_s : x->contenders.step_s);
    struct observe_config config = *x->r->job;
    struct profile_settings with;
    struct observed seen;
    int rc = settings_of(&a, x, heat, &with, e);

    if (rc == 0 && race_runner_new(&h, &plan, heat > 0) < 0)
        rc = err_nomem(e);
    if (rc < 0)
        return rc;
    config.env = with.env;
    config.argv = with.argv;
    config.cpus = with.cpus;
    config.runs = NULL;
    config.shared = true;
    config.pilot = race_runner_pilot(h);
    rc = observe(&config, &seen, e);
    run_done(&seen.run);
    if (rc < 0)
        return rc;
    if (seen.asked) {
        x->interrupted = true;
        x->exit = seen.exit;
        restart_race_stop(&x->contenders, "it was interrupted");
    } else if (race_runner_stopped(h)) {
        x->stopped = true;
        restart_race_stop(&x->contenders, "it was stopped");
    } else {
        restart_race_take(&x->contenders, race_runner_run(h));
        tell_heat(x, race_runner_run(h));
    }
    return 0;
}

static int run_heats(struct racing *x, struct err *e)
{
    int heat;

    do {
        while ((heat = restart_race_want(&x->contenders)) >= 0) {
            int rc;

            if (clock_monotonic_ns(x->r->job->clock) > x->r->until_ns) {
                restart_race_stop(&x->contenders, "the budget is used up");
                break;
            }
            announce(x, heat);
            rc = run_heat(x, heat, e);
            if (rc < 0)
                return rc;
        }
    } while (restart_race_again(&x->contenders));
    return 0;
}

/* ---- what came of it ---- */

static void tell(const struct racing *x, struct optimize_raced *ret)
{
    const struct restart_race *c = &x->contenders;
    const struct session *s = x->r->first->session;

    ret->stopped = x->stopped;
    ret->interrupted = x->interrupted;
    ret->exit = x->exit;
    ret->past.before = x->r->first->before;
    ret->past.heats = c->heats;
    for (unsigned i = 0; i < s->n_entries && ret->past.n + c->n < ARRAY_SIZE(ret->past.entries);
         i++)
        ret->past.entries[ret->past.n++] = s->entries[i]; /* that were left */
    for (unsigned i = 0; i < c->n; i++) {
        CLEANUP(str_done) struct str line = STR_INIT(LINE);

        ret->past.entries[ret->past.n++] = c->settings[i].entry;
        progress_outcome(&c->settings[i].entry, GOAL_THROUGHPUT, &line);
        say(x, "%s", str_text(&line));
    }
}

static void tell_start(const struct racing *x, const struct profile_settings *job)
{
    CLEANUP(str_done) struct str line = STR_INIT(LINE);

    if (x->interrupted)
        return;
    profile_settings_join(&line, job->applied, job->n_applied, ", ");
    say(x, "the job is started %s%s", job->n_applied ? "with " : "as it was",
        job->n_applied ? str_text(&line) : "");
}

int optimize_race(struct arena *a, const struct optimize_race *r, struct optimize_raced *ret,
                  struct err *e)
{
    struct racing *x = arena_alloc(a, sizeof(*x));
    int rc;

    *ret = (struct optimize_raced){ .job = { .env = r->job->env, .argv = r->job->argv } };
    if (!x)
        return err_nomem(e);
    *x = (struct racing){ .r = r };
    restart_race_init(&x->contenders, r->restarts);
    for (size_t i = 0; i < r->first->race->count; i++)
        (void)restart_race_add(&x->contenders, &r->first->race->list[i]);
    restart_race_begin(&x->contenders);
    rc = run_heats(x, e);
    if (rc == 0)
        rc = settings_of(a, x, 0, &ret->job, e);
    if (rc < 0)
        return rc;
    tell(x, ret);
    tell_start(x, &ret->job);
    return 0;
}
