/* What the session wants is asked of the job, and told to the user. */
#include <stdarg.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "optimize/drive/drive_private.h"

/* ---- telling ---- */

void drive_say(struct drive *d, const char *fmt, ...)
{
    char text[DRIVE_TEXT];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    d->c.say(d->c.arg, text);
}

/* A session counts groups of steps; people count steps. */
static void count_steps(struct drive *d)
{
    struct session *s = &d->session;

    for (; d->entries < s->n_entries; d->entries++) {
        struct session_entry *k = &s->entries[d->entries];

        if (k->outcome == SESSION_LEFT)
            continue;
        k->steps = (unsigned)(d->steps - d->begun);
        k->speed = drive_speed(d);
        k->at_step = (unsigned)d->steps;
        k->at_s = (double)(d->w.now_ns - d->first_ns) / 1e9;
    }
    if (d->begun_trial == s->trials)
        return;
    d->begun_trial = s->trials;
    d->begun = d->steps;
    memset(d->power.pace, 0, sizeof(d->power.pace));
    d->did = (struct job_request_marks){ .did = { false } };
}

void drive_progress(struct drive *d)
{
    CLEANUP(str_done) struct str line = STR_INIT(4096);

    count_steps(d);
    while (progress_next(&d->progress, &d->session, &line))
        d->c.say(d->c.arg, str_text(&line));
    drive_kept(d);
}

void drive_off(struct drive *d, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(d->off, sizeof(d->off), fmt, ap);
    va_end(ap);
    d->state = DRIVE_OFF;
    drive_say(d, "%s", d->off);
}

/* ---- asking the job ---- */

bool drive_is_loader(const char *knob)
{
    return !strncmp(knob, "loader.", strlen("loader."));
}

/* A step that no rank has ended when it learns of the request: steps that end while we look at them
 * every 25 ms, and some more. */
static uint64_t common_step(const struct drive *d)
{
    double ahead = d->step_s > 0 ? 0.1 / d->step_s : 0;

    return join_newest(&d->join) + 3 + (uint64_t)fmin(ahead, 1000);
}

bool drive_request(struct drive *d, const char *knob, const char *value, bool apply,
                   const char **why)
{
    const struct knob *k = knobs_find(d->c.knobs, knob);
    char text[KNOB_NAME_MAX + KNOB_VALUE_MAX + 2];
    uint64_t number, at_step = 0;

    *why = "only jobs with brim's shim can change it while they run";
    if (!k || k->apply != KNOB_SHIM || !d->control)
        return false;
    *why = "marks of a rank were lost, so that ranks can not be told to change at the same step";
    if (d->lost && d->join.members > 1 && !drive_is_loader(knob))
        return false;
    snprintf(text, sizeof(text), "%s=%s", k->target, value);
    if (d->join.members > 1 && !drive_is_loader(knob))
        at_step = common_step(d);
    *why = "its request is too long";
    if (control_ask(d->control, text, at_step, &number) < 0)
        return false;
    job_request_begin(&d->order, number, apply);
    d->asked = true;
    d->marks_ns = d->asked_ns = d->w.now_ns;
    return true;
}

static struct session_event event(enum session_event_kind kind, const char *why)
{
    return (struct session_event){ .kind = kind, .why = why };
}

static struct session_event set_machine(struct drive *d, const struct session_command *c, char *why)
{
    if (drive_set_machine(d, c->knob, c->value, why))
        return event(SESSION_SWITCHED, NULL);
    d->unheard = c->what == SESSION_APPLY;
    return event(SESSION_FAILED, why);
}

/* Whether a command needs no more than its answer, which is in *e then; text, of SESSION_TEXT
 * letters, may be a part of it. */
static bool is_answered(struct drive *d, const struct session_command *c, struct session_event *e,
                        char *text)
{
    bool apply = c->what == SESSION_APPLY;
    const char *why;

    if (d->ended || d->gone)
        return false;
    if (!apply && d->unheard) {
        *e = event(SESSION_SWITCHED, NULL); /* it never came into force */
        d->unheard = false;
        return true;
    }
    if (drive_is_machine(d, c->knob)) {
        *e = set_machine(d, c, text);
        return true;
    }
    if (drive_request(d, c->knob, c->value, apply, &why))
        return false;
    d->unheard = apply;
    *e = event(SESSION_FAILED, why);
    return true;
}

/* By earlier runs. */
static unsigned kept_before(const struct drive *d)
{
    unsigned n = 0;

    for (size_t i = 0; d->c.past && i < d->c.past->n; i++)
        n += d->c.past->entries[i].outcome == SESSION_ADOPTED;
    return n;
}

static void finish(struct drive *d)
{
    if (d->state != DRIVE_RUNS)
        return;
    d->state = DRIVE_AFTER;
    if (!d->session.trials)
        drive_say(d, "nothing%s worth changing: %s", d->kept ? " else" : "",
                  *d->nothing ? d->nothing : d->session.reason);
    else
        drive_say(d, "%u of %u trials changed something: %s", d->kept - kept_before(d),
                  d->session.trials, d->session.reason);
    drive_watch_begin(d);
}

/* The loss is compared from a trial's begin to that of the next one that changes numbers. */
static void begin_trial(struct drive *d, const char *knob)
{
    const struct knob *k = knobs_find(d->c.knobs, knob);

    if (!k || k->risk != KNOB_NUMERIC || d->session.phase != PHASE_CANARY)
        return;
    loss_check_settle(&d->losses, true);
    loss_check_change(&d->losses);
    d->numeric = true;
    d->numeric_entry = d->session.n_entries; /* where its outcome will be written */
}

void drive_obey(struct drive *d, struct session_command c)
{
    char text[SESSION_TEXT];
    struct session_event e;

    for (;;) {
        drive_progress(d);
        switch (c.what) {
        case SESSION_APPLY:
        case SESSION_REVERT:
            if (c.what == SESSION_APPLY)
                begin_trial(d, c.knob);
            if (!is_answered(d, &c, &e, text))
                return;
            c = session_event(&d->session, &e);
            break;
        case SESSION_ASK:
            d->asking = true;
            d->asking_ns = d->w.now_ns;
            return;
        case SESSION_FINISH:
            finish(d);
            return;
        default:
            return;
        }
    }
}

void drive_send(struct drive *d, enum session_event_kind kind, const char *why)
{
    const struct session_event e = event(kind, why);

    drive_obey(d, session_event(&d->session, &e));
}
