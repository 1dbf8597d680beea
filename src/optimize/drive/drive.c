#include "optimize/drive/drive.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "optimize/drive/drive_private.h"

/* Of what is in force, before the job is judged: two moments, or that long. */
#define JUDGE_NS (10 * NS_PER_S)
enum { JUDGE_MOMENTS = 2 };

struct session_plan drive_plan(double seconds, const struct goal *g)
{
    struct session_plan plan = session_plan_usual();

    plan.seconds = seconds;
    plan.steps = UINT32_MAX; /* time is what a user has; fast jobs make 5,000 steps in seconds */
    plan.goal = g->kind;
    if (goal_needs_power(g))
        drive_plan_power(&plan);
    return plan;
}

/* ---- the pilot ---- */

static void start(void *arg, struct control *control, const char *elsewhere)
{
    struct drive *d = arg;

    d->control = control;
    if (elsewhere && d->state == DRIVE_WAITS)
        drive_off(d, "%s", elsewhere);
}

/* A text "target=value", or several by ";": what this user lets brim ask the job for. */
static bool may(void *arg, const char *request)
{
    const struct drive *d = arg;

    while (*request) {
        size_t name = strcspn(request, "="), all = strcspn(request, ";");
        bool good = false;

        for (size_t i = 0; i < d->c.knobs->count && !good; i++) {
            const struct knob *k = &d->c.knobs->list[i];

            good = k->apply == KNOB_SHIM && strlen(k->target) == name &&
                   !strncmp(k->target, request, name) &&
                   (k->risk != KNOB_NUMERIC || d->c.plan.numeric);
        }
        if (!good)
            return false;
        request += all + (request[all] == ';');
    }
    return true;
}

static void take_event(void *arg, const struct ring_event *e)
{
    struct drive *d = arg;
    struct join_rank *r = &d->join.ranks[e->ring];

    if (e->kind == RING_STEP) {
        const struct join_step s = { .number = e->step->number,
                                     .begin_ns = e->step->begin_ns,
                                     .seconds = step_seconds(e->step),
                                     .samples = e->step->samples,
                                     .loss = e->step->loss,
                                     .saves = e->step->host_s[BRIM_STAGE_CHECKPOINT] > 0 };

        d->saved = d->saved || s.saves;
        if (join_push(&d->join, e->ring, &s) < 0)
            d->error = -ENOMEM;
    } else if (e->kind == RING_SWITCH) {
        d->answered = true;
        if (r->in &&
            job_request_answer(&d->order, &d->did, e->ring, e->request, e->outcome, e->why))
            join_switch(&d->join, e->ring, e->request);
    } else if (e->kind == RING_CLOSED) {
        r->closed = true;
        d->gone = d->gone || r->in;
    } else if (e->kind == RING_GONE) {
        r->closed = true;
        d->parted = d->parted || r->in;
    } else if (e->kind == RING_LOST) {
        d->lost = d->lost || r->in;
    }
}

static bool is_seen_enough(const struct drive *d)
{
    const struct run *r = d->w.run;
    size_t n = 0;

    while (n < r->n_moments && n < JUDGE_MOMENTS &&
           run_snapshot_begin_ns(&r->moments[r->n_moments - n - 1]) >= d->since_ns)
        n++;
    return n >= JUDGE_MOMENTS || d->w.now_ns - d->asking_ns > JUDGE_NS;
}

static void turn(void *arg, const struct run_snapshot *w)
{
    struct drive *d = arg;

    d->w = *w;
    if (!d->begin_ns)
        d->begin_ns = w->now_ns;
    if (d->state == DRIVE_WAITS)
        drive_gather(d);
    drive_see_memory(d);
    if (d->parted && (d->state == DRIVE_RUNS || d->state == DRIVE_AFTER))
        drive_part(d);
    if (d->state != DRIVE_RUNS && d->state != DRIVE_AFTER)
        return;
    drive_add_moment(d);
    drive_take_steps(d);
    drive_look_for_trouble(d);
    drive_look_at_memory(d);
    if (d->state == DRIVE_RUNS)
        drive_obey(d, session_event(&d->session, &(const struct session_event){
                                                     .kind = SESSION_TICK,
                                                     .seconds = clock_seconds(w->now_ns) }));
    if (d->asking && d->state == DRIVE_RUNS && is_seen_enough(d))
        drive_look(d);
    drive_look_at_members(d);
}

static void stop(void *arg)
{
    struct drive *d = arg;

    if (d->state == DRIVE_WAITS)
        drive_off(d, "stopped before anything was tried");
    if (d->state == DRIVE_RUNS)
        drive_send(d, SESSION_STOP, "it was stopped");
}

/* Signals by which people and schedulers end jobs: the setting on trial is not to blame. */
static bool is_interrupt(int number)
{
    return number == 1 || number == 2 || number == 15;
}

static void end(void *arg, const struct run_snapshot *w)
{
    struct drive *d = arg;
    const struct run *r = w->run;
    bool killed = r->end == RUN_KILLED;
    bool died = killed ? !is_interrupt(r->status) : r->status && !is_interrupt(r->status - 128);
    char why[DRIVE_TEXT];
    unsigned tried;
    bool best, trying;

    d->w = *w;
    d->ended = true;
    drive_take_steps(d);
    drive_weigh(d);
    best = drive_at_best(d);
    trying = d->state == DRIVE_RUNS &&
             (d->session.phase == PHASE_CANARY || d->session.phase == PHASE_TRIAL);
    snprintf(why, sizeof(why), "the job died (%s %d) while it was tried",
             killed ? "signal" : "exit status", r->status);
    tried = d->session.n_entries;
    if (trying && died)
        drive_send(d, SESSION_FAILED, why);
    drive_refuse_at_end(d, r, tried);
    if (d->state == DRIVE_RUNS)
        drive_send(d, SESSION_ENDED, died ? "the job died" : "the job ended");
    if (d->join.members && best)
        drive_judge(d, trying);
}

static bool over(void *arg)
{
    const struct drive *d = arg;

    return d->racing;
}

static bool weighs(void *arg)
{
    const struct drive *d = arg;

    return d->memory.asked;
}

static void tries(void *arg, char *text, size_t size)
{
    const struct drive *d = arg;
    const struct session *s = &d->session;
    const struct session_offer *o = &s->offers[0];
    bool on = d->state == DRIVE_RUNS && s->n_offers &&
              (s->phase == PHASE_CANARY || s->phase == PHASE_TRIAL || s->phase == PHASE_ADOPT ||
               s->phase == PHASE_GUARD);

    snprintf(text, size, "%s%s%s%s%s", on ? o->knob : "", on ? "=" : "", on ? o->value : "",
             on && *o->before ? " instead of " : "", on ? o->before : "");
}

static const struct run_tuning *tried(void *arg, unsigned *version)
{
    struct drive *d = arg;

    *version = d->record.told;
    return drive_record(d);
}

/* ---- from begin to end ---- */

int drive_new(struct drive **ret, const struct drive_config *c)
{
    struct drive *d = calloc(1, sizeof(*d));

    if (!d)
        return -ENOMEM;
    d->c = *c;
    d->pilot = (struct observe_pilot){ d,    start,  take_event, turn,  stop, end,
                                       over, weighs, tries,      tried, may };
    d->workers = d->prefetch = d->epoch = (double)NAN;
    d->before = d->after = d->without = drive_stretch_none;
    d->last = SESSION_ENTRIES;
    d->group = 1;
    join_init(&d->join);
    loss_check_init(&d->losses);
    drive_session(d);
    *ret = d;
    return 0;
}

void drive_free(struct drive *d)
{
    if (!d)
        return;
    join_done(&d->join);
    verdict_done(&d->verdict);
    if (d->racing)
        proposals_done(&d->race);
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
                                  .goal = d->c.goal,
                                  .remains = d->judged ? &d->verdict : NULL,
                                  .nothing = d->nothing,
                                  .before = d->before,
                                  .after = d->after,
                                  .race = d->racing ? &d->race : NULL,
                                  .start_s = d->first_ns ? clock_seconds(d->first_ns - d->begin_ns)
                                                         : (double)NAN,
                                  .step_s = d->session.observed_s,
                                  .past = d->c.past };
}
