/* What the session wants is carried out. */
#include "optimize/drive/drive_private.h"

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
    const struct session *s = &d->session;
    bool tried = s->n_offers && (s->phase == PHASE_CANARY || s->phase == PHASE_TRIAL);
    const struct drive_wish wish = { c->knob, c->value, c->also, c->also_value,
                                     tried && c->what == SESSION_APPLY ? s->offers[0].before
                                                                       : NULL };
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
    if (drive_request(d, &wish, apply, &why))
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
