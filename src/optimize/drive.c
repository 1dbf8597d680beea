#include "optimize/drive.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "optimize/drive_view.h"

/* Steps until a process counts as one that trains, and of its begin that are no measure of it. */
enum { STEPS_LEAST = 5, WARM_UP = 5 };

/* Ranks that start later than that after the first do not come any more. */
#define GATHER_NS ((int64_t)20 * 1000 * 1000 * 1000)
/* So long nothing at all is marked after a request, and it counts as failed; 100 steps if longer. */
#define HANG_NS ((int64_t)60 * 1000 * 1000 * 1000)
/* Members without a step for so long are gone when others make some. */
#define QUIET_NS ((int64_t)2 * 1000 * 1000 * 1000)
/* Of what is in force, before the job is judged: two moments, or that long. */
#define JUDGE_NS ((int64_t)10 * 1000 * 1000 * 1000)
enum { JUDGE_MOMENTS = 2 };

struct session_plan drive_plan(double seconds)
{
    struct session_plan plan = session_plan_usual();

    plan.seconds = seconds;
    plan.steps = UINT32_MAX; /* time is what a user has; fast jobs make 5,000 steps in seconds */
    return plan;
}

double drive_steps_per_s(const struct drive_stretch *s)
{
    return s->seconds > 0 ? s->steps / s->seconds : (double)NAN;
}

double drive_samples_per_s(const struct drive_stretch *s)
{
    return s->seconds > 0 ? s->samples / s->seconds : (double)NAN;
}

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

    for (; d->entries < s->n_entries; d->entries++)
        if (s->entries[d->entries].outcome != SESSION_LEFT)
            s->entries[d->entries].steps = (unsigned)(d->steps - d->begun);
    if (d->begun_trial == s->trials)
        return;
    d->begun_trial = s->trials;
    d->begun = d->steps;
    d->did = (struct order_marks){ .did = { false } };
}

static void say_progress(struct drive *d)
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

/* ---- stretches ---- */

static const struct drive_stretch empty = { 0, 0, (double)NAN, (double)NAN };

bool drive_at_best(const struct drive *d)
{
    const struct session *s = &d->session;

    if (d->order.open)
        return false;
    if (d->state == DRIVE_AFTER)
        return !d->watch.on || d->watch.in_force;
    if (s->phase == PHASE_ADOPT || s->phase == PHASE_GUARD)
        return s->in_force;
    return s->phase == PHASE_OBSERVE || s->phase == PHASE_ASK || !s->in_force;
}

static void add_step(struct drive *d, const struct join_step *s)
{
    struct drive_stretch *to = d->asked ? &d->after : &d->before;

    if (s->number < WARM_UP || (d->asked && (!drive_at_best(d) || d->settle)))
        return;
    to->steps++;
    to->seconds += s->seconds;
    if (!isnan(s->samples))
        to->samples = isnan(to->samples) ? s->samples : to->samples + s->samples;
}

static void add_moment(struct drive *d)
{
    const struct run *r = d->w.run;
    const struct run_moment *m = r->n_moments ? &r->moments[r->n_moments - 1] : NULL;
    struct drive_stretch *to = d->asked ? &d->after : &d->before;
    double resident;

    if (!m || (uint64_t)m->monotonic_ns == d->moment_ns)
        return;
    d->moment_ns = (uint64_t)m->monotonic_ns;
    resident = m->values[RUN_JOB_RESIDENT];
    if (isnan(resident) || (d->asked && !drive_at_best(d)) || glimpse_begin_ns(m) < d->since_ns)
        return;
    to->resident_b = isnan(to->resident_b) ? resident : fmax(to->resident_b, resident);
}

void drive_kept(struct drive *d)
{
    const struct session *s = &d->session;
    unsigned kept = 0;

    for (unsigned i = 0; i < s->n_entries; i++)
        kept += s->entries[i].outcome == SESSION_ADOPTED;
    if (kept == d->kept)
        return;
    d->kept = kept;
    d->after = empty;
    for (unsigned i = 0; i < s->n_entries; i++) {
        const struct session_entry *k = &s->entries[i];

        if (!strcmp(k->knob, "loader.workers") && k->outcome == SESSION_ADOPTED)
            d->workers = strtod(k->value, NULL);
        if (!strcmp(k->knob, "loader.workers") && k->outcome == SESSION_ROLLED_BACK)
            d->workers = strtod(k->before, NULL);
    }
}

/* ---- asking the job ---- */

static bool is_loader(const char *knob)
{
    return !strncmp(knob, "loader.", strlen("loader."));
}

/* A step that no rank has ended when it learns of the request: steps that end while we look at them
 * every 25 ms, and some more. */
static uint64_t common_step(const struct drive *d)
{
    double step_s = d->session.observed_s, ahead = step_s > 0 ? 0.1 / step_s : 0;

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
    if (d->lost && d->join.members > 1 && !is_loader(knob))
        return false;
    snprintf(text, sizeof(text), "%s=%s", k->target, value);
    if (d->join.members > 1 && !is_loader(knob))
        at_step = common_step(d);
    *why = "its request is too long";
    if (control_ask(d->control, text, at_step, &number) < 0)
        return false;
    order_begin(&d->order, number, apply);
    d->asked = true;
    d->marks_ns = d->w.now_ns;
    return true;
}

static struct session_event event(enum session_event_kind kind, const char *why)
{
    return (struct session_event){ .kind = kind, .why = why };
}

/* Whether a command needs no more than its answer, which is in *e then. */
static bool is_answered(struct drive *d, const struct session_command *c, struct session_event *e)
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
    if (drive_request(d, c->knob, c->value, apply, &why))
        return false;
    d->unheard = apply;
    *e = event(SESSION_FAILED, why);
    return true;
}

static void finish(struct drive *d)
{
    if (d->state != DRIVE_RUNS)
        return;
    d->state = DRIVE_AFTER;
    if (!d->session.trials)
        drive_say(d, "nothing worth changing: %s", *d->nothing ? d->nothing : d->session.reason);
    else
        drive_say(d, "%u of %u trials changed something: %s", d->kept, d->session.trials,
                  d->session.reason);
    drive_watch_begin(d);
}

/* The loss is compared from a trial's begin to that of the next one that changes numbers. */
static void begin_trial(struct drive *d, const char *knob)
{
    const struct knob *k = knobs_find(d->c.knobs, knob);

    if (!k || k->risk != KNOB_NUMERIC || d->session.phase != PHASE_CANARY)
        return;
    losses_settle(&d->losses, true);
    losses_change(&d->losses);
    d->numeric = true;
    d->numeric_entry = d->session.n_entries; /* where its outcome will be written */
}

void drive_obey(struct drive *d, struct session_command c)
{
    struct session_event e;

    for (;;) {
        say_progress(d);
        switch (c.what) {
        case SESSION_APPLY:
            begin_trial(d, c.knob);
            /* fallthrough */
        case SESSION_REVERT:
            if (!is_answered(d, &c, &e))
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

/* ---- steps ---- */

/* The setting that is on trial or guarded. */
struct subject {
    const char *knob, *value, *before;
    bool in_force;
};

static bool find_subject(const struct drive *d, struct subject *ret)
{
    const struct session *s = &d->session;
    const struct session_entry *k = &s->entries[d->watch.entry];
    const struct session_offer *o = &s->offers[0];

    if (d->state == DRIVE_AFTER && d->watch.on)
        *ret = (struct subject){ k->knob, k->value, k->before, d->watch.in_force };
    else if (d->state == DRIVE_RUNS && s->phase >= PHASE_CANARY && s->n_offers)
        *ret = (struct subject){ o->knob, o->value, o->before, s->in_force };
    else
        return false;
    return true;
}

/* Workers of the loader with the setting, and without. */
static void workers_of(const struct drive *d, const struct subject *s, double *with,
                       double *without)
{
    bool workers = s && !strcmp(s->knob, "loader.workers");

    *with = workers ? strtod(s->value, NULL) : fmax(0, d->workers);
    *without = workers ? strtod(s->before, NULL) : fmax(0, d->workers);
}

/* Workers that load one batch each end at about the same time, so that steps come in bursts: as
 * many steps as there are workers are taken into one, of which the mean counts. */
static unsigned group_of(const struct drive *d)
{
    struct subject s;
    bool subject = find_subject(d, &s);
    double with, without, most;

    workers_of(d, subject ? &s : NULL, &with, &without);
    most = fmax(with, without);
    if ((subject && !s.in_force && without < 1) || most < 2)
        return 1; /* without workers there are no bursts */
    return (unsigned)fmin(most, DRIVE_GROUP_MOST);
}

/* Batches that the loader has ready are still used up as they were loaded. */
static unsigned settle_of(const struct drive *d)
{
    struct subject s;
    double with, without;

    if (!find_subject(d, &s) || !is_loader(s.knob))
        return 0;
    workers_of(d, &s, &with, &without);
    return (unsigned)fmin((s.in_force ? without : with) * (d->prefetch > 0 ? d->prefetch : 2),
                          4.0 * DRIVE_GROUP_MOST);
}

static void begin_group(struct drive *d)
{
    d->n = 0;
    d->group_s = 0;
    d->group = group_of(d);
}

static void forget_numeric(struct drive *d)
{
    const struct session *s = &d->session;

    if (!d->numeric || d->numeric_entry >= s->n_entries ||
        s->entries[d->numeric_entry].outcome == SESSION_ADOPTED || d->order.open)
        return;
    losses_settle(&d->losses, false);
    d->numeric = false;
}

/* All ranks run with what was asked for, from this step on. */
static void switched(struct drive *d, const struct join_step *s)
{
    d->order.open = false;
    d->unheard = false;
    d->since_ns = s->begin_ns;
    if (d->state == DRIVE_AFTER)
        drive_watch_done(d, true, NULL);
    else
        drive_obey(d, session_event(&d->session,
                                    &(const struct session_event){ .kind = SESSION_SWITCHED }));
    d->settle = settle_of(d);
    begin_group(d);
}

static void refused(struct drive *d, enum order_state how)
{
    char why[ORDER_TEXT];
    struct session_event e = event(SESSION_FAILED, why);

    snprintf(why, sizeof(why), "%s", d->order.why);
    d->order.open = false;
    d->unheard = d->order.apply && how == ORDER_REFUSED;
    if (d->state == DRIVE_AFTER)
        drive_watch_done(d, false, why);
    else
        drive_obey(d, session_event(&d->session, &e));
    begin_group(d);
}

static void give_session(struct drive *d, double seconds)
{
    const struct session_event e = { .kind = SESSION_STEP, .seconds = seconds };
    bool was = d->session.switching;
    enum session_phase phase = d->session.phase;

    drive_obey(d, session_event(&d->session, &e));
    if (was && !d->answered && d->session.phase == PHASE_UNDO) {
        /* Nobody listens: nothing was changed, and nothing else can be. */
        d->order.open = false;
        drive_obey(d, session_event(&d->session, &(const struct session_event){
                                                     .kind = SESSION_STOP,
                                                     .why = "the job does not listen to brim" }));
        drive_obey(d, session_event(&d->session,
                                    &(const struct session_event){ .kind = SESSION_SWITCHED }));
    }
    if (phase != d->session.phase)
        begin_group(d);
}

static void feed(struct drive *d, const struct join_step *s)
{
    if (d->state == DRIVE_RUNS && d->session.switching) {
        give_session(d, s->seconds);
        return;
    }
    if (s->saves)
        return;
    if (d->settle) {
        d->settle--;
        return;
    }
    d->group_s += s->seconds;
    if (++d->n < d->group)
        return;
    d->group_s /= d->n;
    d->n = 0;
    if (d->state == DRIVE_AFTER)
        drive_watch_step(d, d->group_s);
    else
        give_session(d, d->group_s);
    d->group_s = 0;
}

static void take_step(struct drive *d, const struct join_step *s)
{
    d->step_ns = d->w.now_ns;
    d->steps++;
    if (d->order.open && s->request >= d->order.number &&
        order_state(&d->order, d->join.members) == ORDER_DONE)
        switched(d, s);
    add_step(d, s);
    losses_step(&d->losses, s->samples, s->loss);
    feed(d, s);
}

/* ---- what goes wrong ---- */

static bool is_tried(const struct drive *d, unsigned entry)
{
    const struct session *s = &d->session;

    if (entry == s->n_entries)
        return s->phase == PHASE_CANARY || s->phase == PHASE_TRIAL;
    return entry + 1 == s->n_entries && (s->phase == PHASE_ADOPT || s->phase == PHASE_GUARD);
}

/* A setting that makes the loss worse goes, whether it is on trial or was kept. */
static void look_at_losses(struct drive *d)
{
    char why[LOSSES_TEXT];

    forget_numeric(d);
    if (!d->numeric || d->order.open || !losses_worse(&d->losses, why))
        return;
    d->numeric = false;
    losses_settle(&d->losses, false);
    if (d->state == DRIVE_RUNS && is_tried(d, d->numeric_entry)) {
        const struct session_event e = event(SESSION_FAILED, why);

        drive_obey(d, session_event(&d->session, &e));
        return;
    }
    /* It was kept, and another one may be on trial. */
    snprintf(d->undo, sizeof(d->undo), "%s", why);
    if (d->state == DRIVE_RUNS)
        drive_obey(d, session_event(&d->session,
                                    &(const struct session_event){
                                        .kind = SESSION_STOP,
                                        .why = "a setting that was kept made the loss worse" }));
}

static void undo_late(struct drive *d)
{
    if (!d->undo[0] || d->state != DRIVE_AFTER || d->order.open)
        return;
    drive_watch_undo(d, d->numeric_entry, d->undo);
    d->undo[0] = '\0';
}

static void look_for_hang(struct drive *d)
{
    uint64_t marks = rings_marks(d->w.rings);
    int64_t limit = HANG_NS;
    char why[ORDER_TEXT];
    struct session_event e = event(SESSION_FAILED, why);

    if (d->session.observed_s > 0)
        limit = MAX(limit, (int64_t)(100 * d->session.observed_s * 1e9));
    if (marks != d->marks)
        d->marks_ns = d->w.now_ns;
    d->marks = marks;
    if (!d->order.open || d->w.now_ns - d->marks_ns < limit)
        return;
    d->order.open = false;
    snprintf(why, sizeof(why), "the job has made no mark for %.0f s", (double)limit / 1e9);
    if (d->state == DRIVE_AFTER)
        drive_watch_done(d, false, why);
    else
        drive_obey(d, session_event(&d->session, &e));
}

/* Processes that were started after the members were found, and make steps where those do not. */
static bool are_new(const struct drive *d)
{
    bool quiet = d->gone || d->w.now_ns - d->step_ns > QUIET_NS;

    for (size_t i = 0; i < JOIN_RANKS && quiet; i++) {
        const struct join_rank *r = &d->join.ranks[i];

        if (!r->in && !r->closed && r->fresh && r->seen >= STEPS_LEAST)
            return true;
    }
    return false;
}

/* While nothing was tried the new processes may be those that train; else they have settings of
 * their own, and what the trials showed was of others. */
static void look_at_members(struct drive *d)
{
    static const bool none[JOIN_RANKS];

    if (d->join.apart && d->state == DRIVE_RUNS)
        drive_obey(
            d, session_event(&d->session, &(const struct session_event){
                                              .kind = SESSION_STOP,
                                              .why = "ranks do not make their steps together" }));
    if (!are_new(d))
        return;
    if (d->state == DRIVE_RUNS && !d->session.trials) {
        d->state = DRIVE_WAITS;
        d->gone = d->asking = false;
        d->entries = d->begun_trial = 0;
        d->progress = (struct progress){ .told = 0 };
        d->retry = true;
        d->first_ns = 0;
        join_members(&d->join, none);
        session_init(&d->session, &d->c.plan);
        return;
    }
    if (d->state == DRIVE_RUNS)
        drive_obey(d,
                   session_event(&d->session, &(const struct session_event){
                                                  .kind = SESSION_ENDED,
                                                  .why = "other processes go on with the job" }));
    d->state = DRIVE_OFF;
}

/* ---- which processes make the job ---- */

/* Those that make steps: either all ranks of one world, or one process. */
static void gather(struct drive *d)
{
    bool in[JOIN_RANKS] = { false };
    size_t n = 0, world = 1;

    for (size_t i = 0; i < MIN(rings_count(d->w.rings), (size_t)JOIN_RANKS); i++) {
        const struct lane *l = rings_lane(d->w.rings, i);

        in[i] = d->join.ranks[i].seen >= STEPS_LEAST && !d->join.ranks[i].closed &&
                (!d->retry || d->join.ranks[i].fresh);
        n += in[i];
        if (in[i] && l->world > 1)
            world = MAX(world, (size_t)l->world);
    }
    if (n && !d->first_ns)
        d->first_ns = d->w.now_ns;
    if (!n || (n < world && d->w.now_ns - d->first_ns < GATHER_NS))
        return;
    if (n < world) {
        drive_off(d,
                  "%zu of %zu ranks run here, and those elsewhere can not be asked: the job is "
                  "only observed",
                  n, world);
        return;
    }
    if (n > world) {
        drive_off(d, "%zu processes train on their own: the job is only observed", n);
        return;
    }
    join_members(&d->join, in);
    for (size_t i = 0; i < JOIN_RANKS; i++)
        d->join.ranks[i].fresh = !d->join.ranks[i].seen;
    d->state = DRIVE_RUNS;
    d->lost = false;
    d->step_ns = d->w.now_ns;
    begin_group(d);
}

/* ---- the pilot ---- */

static void start(void *arg, struct control *control, bool elsewhere)
{
    struct drive *d = arg;

    d->control = control;
    if (elsewhere)
        drive_off(d, "ranks of this job are under other observers, which can not be asked from "
                     "here: start all of them below one brim optimize");
}

static void take_event(void *arg, const struct ring_event *e)
{
    struct drive *d = arg;
    struct join_rank *r = e->ring < JOIN_RANKS ? &d->join.ranks[e->ring] : NULL;

    if (!r)
        return;
    if (e->kind == RING_STEP) {
        const struct join_step s = { .number = e->step->number,
                                     .begin_ns = e->step->begin_ns,
                                     .seconds = step_seconds(e->step),
                                     .samples = e->step->samples,
                                     .loss = e->step->loss,
                                     .saves = e->step->host_s[BRIM_STAGE_CHECKPOINT] > 0 };

        if (join_push(&d->join, e->ring, &s) < 0)
            d->error = -ENOMEM;
    } else if (e->kind == RING_SWITCH) {
        d->answered = true;
        if (r->in && order_answer(&d->order, &d->did, e->ring, e->request, e->outcome, e->why))
            join_switch(&d->join, e->ring, e->request);
    } else if (e->kind == RING_CLOSED) {
        r->closed = true;
        d->gone = d->gone || r->in;
    } else {
        d->lost = d->lost || r->in;
    }
}

static bool is_seen_enough(const struct drive *d)
{
    const struct run *r = d->w.run;
    size_t n = 0;

    while (n < r->n_moments && n < JUDGE_MOMENTS &&
           glimpse_begin_ns(&r->moments[r->n_moments - n - 1]) >= d->since_ns)
        n++;
    return n >= JUDGE_MOMENTS || d->w.now_ns - d->asking_ns > JUDGE_NS;
}

static void take_steps(struct drive *d)
{
    struct join_step s;
    enum order_state how;

    while ((d->state == DRIVE_RUNS || d->state == DRIVE_AFTER) && join_next(&d->join, &s))
        take_step(d, &s);
    how = order_state(&d->order, d->join.members);
    if (how == ORDER_REFUSED || how == ORDER_BROKEN)
        refused(d, how);
}

static void turn(void *arg, const struct watched *w)
{
    struct drive *d = arg;

    d->w = *w;
    if (d->state == DRIVE_WAITS)
        gather(d);
    if (d->state != DRIVE_RUNS && d->state != DRIVE_AFTER)
        return;
    add_moment(d);
    take_steps(d);
    if (d->error && d->state == DRIVE_RUNS)
        drive_obey(
            d, session_event(&d->session, &(const struct session_event){ .kind = SESSION_STOP,
                                                                         .why = "out of memory" }));
    look_at_losses(d);
    undo_late(d);
    look_for_hang(d);
    if (d->state == DRIVE_RUNS)
        drive_obey(d, session_event(&d->session, &(const struct session_event){
                                                     .kind = SESSION_TICK,
                                                     .seconds = (double)w->now_ns / 1e9 }));
    if (d->asking && is_seen_enough(d))
        drive_look(d);
    look_at_members(d);
}

static void stop(void *arg)
{
    struct drive *d = arg;

    if (d->state == DRIVE_WAITS)
        drive_off(d, "stopped before anything was tried");
    if (d->state == DRIVE_RUNS)
        drive_obey(d,
                   session_event(&d->session, &(const struct session_event){
                                                  .kind = SESSION_STOP, .why = "it was stopped" }));
}

/* Signals by which people and schedulers end jobs: the setting on trial is not to blame. */
static bool is_interrupt(int number)
{
    return number == 1 || number == 2 || number == 15;
}

static void end(void *arg, const struct watched *w)
{
    struct drive *d = arg;
    const struct run *r = w->run;
    bool killed = r->end == RUN_KILLED;
    bool died = killed ? !is_interrupt(r->status) : r->status && !is_interrupt(r->status - 128);
    char why[DRIVE_TEXT];
    struct session_event e = event(SESSION_FAILED, why);
    bool best;

    d->w = *w;
    d->ended = true;
    take_steps(d);
    best = drive_at_best(d);
    snprintf(why, sizeof(why), "the job died (%s %d) while it was tried",
             killed ? "signal" : "exit status", r->status);
    if (d->state == DRIVE_RUNS && died &&
        (d->session.phase == PHASE_CANARY || d->session.phase == PHASE_TRIAL))
        drive_obey(d, session_event(&d->session, &e));
    if (d->state == DRIVE_RUNS) {
        e = event(SESSION_ENDED, died ? "the job died" : "the job ended");
        drive_obey(d, session_event(&d->session, &e));
    }
    if (d->join.members && best)
        drive_judge(d);
}

/* ---- from begin to end ---- */

int drive_new(struct drive **ret, const struct drive_config *c)
{
    struct drive *d = calloc(1, sizeof(*d));

    if (!d)
        return -ENOMEM;
    d->c = *c;
    d->pilot = (struct observe_pilot){ d, start, take_event, turn, stop, end };
    d->workers = d->prefetch = (double)NAN;
    d->before = d->after = empty;
    d->group = 1;
    join_init(&d->join);
    losses_init(&d->losses);
    session_init(&d->session, &c->plan);
    *ret = d;
    return 0;
}

void drive_free(struct drive *d)
{
    if (!d)
        return;
    join_done(&d->join);
    verdict_done(&d->verdict);
    free(d);
}

const struct observe_pilot *drive_pilot(const struct drive *d)
{
    return &d->pilot;
}

void drive_tell(const struct drive *d, struct drive_report *ret)
{
    *ret = (struct drive_report){ .off = d->off[0] && !d->join.members ? d->off : NULL,
                                  .ranks = d->join.members,
                                  .steps = d->steps,
                                  .session = &d->session,
                                  .remains = d->judged ? &d->verdict : NULL,
                                  .nothing = d->nothing,
                                  .before = d->before,
                                  .after = d->after };
}
