#include "tune/session.h"

#include <math.h>
#include <string.h>

#include "model/signal/sorted.h"

enum { SKIP = 3 /* steps left out after a switch, of canaries */ };

struct session_plan session_plan_usual(void)
{
    return (struct session_plan){
        .observe = 30,
        .canary = 8,
        .canary_slow = 3,
        .guard = 300,
        .switch_most = 200,
        .switch_s = 2,
        .trials = 5,
        .steps = 5000,
        .seconds = (double)NAN,
    };
}

void session_init(struct session *s, const struct session_plan *plan)
{
    *s = (struct session){ .plan = plan ? *plan : session_plan_usual(),
                           .start_s = (double)NAN,
                           .observed_s = (double)NAN };
    s->plan.observe = MIN(s->plan.observe, TRIAL_BLOCK_MOST);
    s->plan.trials = MIN(s->plan.trials, SESSION_TRIALS);
    s->plan.canary = MIN(s->plan.canary, TRIAL_BLOCK_MOST);
}

static const char used_up[] = "the budget is used up";

static const struct session_command go_on = { .what = SESSION_GO_ON };

static void set(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text ? text : "");
}

/* ---- what is written down ---- */

static struct session_entry *write_down(struct session *s, const struct session_offer *o,
                                        enum session_outcome outcome, const char *note)
{
    struct session_entry *to = &s->entries[s->n_entries++];

    *to = (struct session_entry){ .outcome = outcome,
                                  .effect = { (double)NAN, -1, (double)INFINITY },
                                  .memory_b = (double)NAN,
                                  .device_b = (double)NAN,
                                  .speed = (double)NAN };
    set(to->knob, sizeof(to->knob), o->knob);
    set(to->value, sizeof(to->value), o->value);
    set(to->before, sizeof(to->before), o->before);
    set(to->also, sizeof(to->also), o->also);
    set(to->why, sizeof(to->why), o->why);
    set(to->note, sizeof(to->note), note);
    return to;
}

/* The candidate on trial, with what its trial has shown so far. Each has one entry, for which
 * write_left() leaves room. */
static void conclude(struct session *s, enum session_outcome outcome, const char *note)
{
    struct session_entry *to = write_down(s, &s->offers[0], outcome, note);

    if (s->phase == PHASE_TRIAL)
        to->effect = trial_effect(&s->trial);
    to->steps = s->steps - s->begun_at;
}

/* The job or the budget ends: what looked well so far is worth another trial, the next time. */
static void end_trial(struct session *s, const char *why)
{
    struct session_entry *k;

    conclude(s, SESSION_UNDECIDED, why);
    k = &s->entries[s->n_entries - 1];
    if (s->phase == PHASE_TRIAL && !isfinite(k->effect.high))
        k->effect = trial_so_far(&s->trial);
    k->promising = isnan(k->effect.gain) || k->effect.gain > s->trial.plan.least_gain;
}

static void write_left(struct session *s, const struct session_offer *o, const char *why)
{
    if (s->n_entries < SESSION_ENTRIES - SESSION_TRIALS)
        write_down(s, o, SESSION_LEFT, why);
}

/* ---- switching ---- */

static struct session_command want(struct session *s, bool candidate)
{
    struct session_offer *o = &s->offers[0];
    struct session_command c = { .what = candidate ? SESSION_APPLY : SESSION_REVERT,
                                 .knob = o->knob,
                                 .value = candidate ? o->value : o->before };

    bool last = s->phase == PHASE_UNDO;

    if (s->switching || (s->in_force == candidate && !(last && s->also)))
        return go_on;
    if (*o->also && (candidate || last)) {
        c.also = o->also;
        c.also_value = candidate ? "yes" : "no";
    }
    s->switching = true;
    s->switching_to = candidate;
    s->waited = 0;
    s->waited_s = 0;
    return c;
}

static struct session_command finish(struct session *s, const char *reason)
{
    s->phase = PHASE_OVER;
    s->reason = s->reason ? s->reason : reason;
    return (struct session_command){ .what = SESSION_FINISH };
}

static struct session_command observe(struct session *s)
{
    s->phase = PHASE_OBSERVE;
    s->n = s->counted = s->skipped = 0;
    return go_on;
}

static struct session_command begin_candidate(struct session *s)
{
    if (s->ending)
        return finish(s, s->ending);
    if (s->trials >= s->plan.trials)
        return finish(s, "as many settings were tried as were to be");
    if (!s->n_offers)
        return finish(s, "no setting is left that promises enough");
    s->trials++;
    s->begun_at = s->steps;
    s->phase = PHASE_CANARY;
    s->in_force = s->also = false;
    s->n = s->counted = s->skipped = 0;
    return want(s, true);
}

/* What was offered with the one that is done is asked for again: the job may not need it now. */
static struct session_command next_candidate(struct session *s)
{
    s->n_offers--;
    memmove(&s->offers[0], &s->offers[1], s->n_offers * sizeof(s->offers[0]));
    if (!s->n_offers || s->ending || s->trials >= s->plan.trials)
        return begin_candidate(s);
    s->again = true;
    return observe(s);
}

/* Take the candidate back, then go on with the next one. */
static struct session_command undo(struct session *s)
{
    s->phase = PHASE_UNDO;
    s->begun = false;
    if (s->switching)
        return go_on;
    if (!s->in_force && !s->also)
        return next_candidate(s);
    return want(s, false);
}

/* A command failed, or the job did while the candidate was tried. What is in force is not known
 * then, so that the old value is asked for even where it should be there already. */
static struct session_command fail(struct session *s, const char *why)
{
    bool undone = s->switching && !s->switching_to;
    struct session_entry *adopted = &s->entries[s->n_entries ? s->n_entries - 1 : 0];

    switch (s->phase) {
    case PHASE_CANARY:
    case PHASE_TRIAL:
        conclude(s, SESSION_BROKE, why);
        break;
    case PHASE_ADOPT:
    case PHASE_GUARD:
        adopted->outcome = SESSION_BROKE;
        set(adopted->note, sizeof(adopted->note), why);
        break;
    case PHASE_UNDO:
        if (!undone)
            break;
        s->switching = false;
        return finish(s, "a setting could not be taken back");
    default:
        return finish(s, "the job failed");
    }
    s->switching = false;
    s->in_force = true;
    return undo(s);
}

/* ---- steps ---- */

/* Steps, as the driver counts them together. */
struct session_steps {
    double seconds; /* of one, the mean */
    unsigned n;
};

/* 'most' is TRIAL_BLOCK_MOST at most, and each value is of a step or more. */
static bool collect(struct session *s, unsigned most, struct session_steps x, double *median)
{
    if (s->skipped < SKIP) {
        s->skipped += x.n;
        return false;
    }
    if (!(x.seconds > 0) || !isfinite(x.seconds))
        return false;
    s->values[s->n++] = x.seconds;
    s->counted += x.n;
    if (s->counted < most)
        return false;
    *median = sorted_median(s->values, s->n);
    return true;
}

static void init_trial(struct session *s)
{
    struct trial_plan plan = s->plan.chance
                                 ? trial_plan_wild(s->plan.trials, s->plan.chance + s->trials)
                                 : trial_plan_usual(s->plan.trials);

    trial_init(&s->trial, &plan);
}

bool session_skips(const struct session *s)
{
    if (s->switching)
        return false;
    return s->phase == PHASE_CANARY ? s->skipped < SKIP
                                    : s->phase == PHASE_TRIAL && trial_skips(&s->trial);
}

static struct session_command step_observed(struct session *s, struct session_steps x)
{
    if (!collect(s, s->plan.observe, x, &s->observed_s))
        return go_on;
    init_trial(s);
    s->begun = s->n >= TRIAL_VALUES_LEAST && !s->plan.chance &&
               s->observed_s * s->counted >= s->trial.plan.block_s;
    if (s->begun)
        trial_begun(&s->trial, s->values, s->n);
    s->phase = PHASE_ASK;
    return (struct session_command){ .what = SESSION_ASK };
}

static struct session_command step_canary(struct session *s, struct session_steps x)
{
    double median;

    if (!collect(s, s->plan.canary, x, &median))
        return go_on;
    if (median > s->plan.canary_slow * s->observed_s) {
        conclude(s, SESSION_REJECTED, "its first steps were far slower");
        return undo(s);
    }
    s->phase = PHASE_TRIAL;
    if (!s->begun)
        init_trial(s);
    /* Of power and money moments are few, and each is a mean of many steps. */
    if (s->plan.goal == GOAL_THROUGHPUT)
        s->trial.plan.promise = s->offers[0].gain > 1 ? s->offers[0].gain - 1 : 0;
    if (s->begun)
        for (unsigned i = 0; i < s->n; i++) /* they are the trial's first with the candidate */
            trial_steps(&s->trial, true, s->values[i], x.n);
    s->begun = false;
    return want(s, trial_want(&s->trial));
}

static struct session_command adopt(struct session *s)
{
    const struct recheck_plan wild = recheck_plan_wild(s->plan.chance);

    s->phase = PHASE_GUARD;
    s->guarded = 0;
    recheck_init(&s->guard, (double)NAN, s->plan.chance ? &wild : NULL);
    return go_on;
}

static struct session_command step_trial(struct session *s, struct session_steps x)
{
    switch (trial_steps(&s->trial, s->in_force, x.seconds, x.n)) {
    case TRIAL_RUNS:
        return want(s, trial_want(&s->trial));
    case TRIAL_ACCEPT:
        conclude(s, SESSION_ADOPTED, "");
        s->phase = PHASE_ADOPT;
        return s->in_force ? adopt(s) : want(s, true);
    case TRIAL_REJECT:
        conclude(s, SESSION_REJECTED, "");
        return undo(s);
    default:
        conclude(s, SESSION_UNDECIDED, "");
        return undo(s);
    }
}

static struct session_command step_guard(struct session *s, struct session_steps x)
{
    if (recheck_steps(&s->guard, s->in_force, x.seconds, x.n) == GUARD_ROLL_BACK) {
        s->entries[s->n_entries - 1].outcome = SESSION_ROLLED_BACK;
        return undo(s);
    }
    s->guarded += x.n;
    if (s->guarded < s->plan.guard || s->guard.checking || !s->in_force)
        return want(s, recheck_want(&s->guard));
    /* It holds: what limits the job may be something else now. */
    return s->ending ? finish(s, s->ending) : observe(s);
}

static struct session_command end_early(struct session *s, const char *why)
{
    if (s->ending)
        return go_on;
    s->ending = why;
    switch (s->phase) {
    case PHASE_CANARY:
    case PHASE_TRIAL:
        end_trial(s, why);
        return undo(s);
    case PHASE_OBSERVE:
        return finish(s, why);
    default:
        return go_on; /* what is adopted is guarded to the end, what is undone is undone */
    }
}

/* The job is gone, and with it what was in force. */
static struct session_command end_now(struct session *s, const char *why)
{
    if (s->phase == PHASE_CANARY || s->phase == PHASE_TRIAL)
        end_trial(s, why);
    s->switching = false;
    return finish(s, why);
}

/* For a switch. Ranks that do not wait for each other may be far apart in steps. */
static bool waits_too_long(struct session *s, struct session_steps x)
{
    s->waited += x.n;
    s->waited_s += x.seconds > 0 ? x.seconds * x.n : 0;
    return s->waited > s->plan.switch_most && s->waited_s > s->plan.switch_s;
}

static struct session_command step(struct session *s, struct session_steps x)
{
    s->steps += x.n;
    if (!s->ending && s->steps > s->plan.steps)
        return end_early(s, used_up);
    if (s->switching)
        return waits_too_long(s, x) ? fail(s, "the switch was never done") : go_on;
    switch (s->phase) {
    case PHASE_OBSERVE:
        return step_observed(s, x);
    case PHASE_CANARY:
        return step_canary(s, x);
    case PHASE_TRIAL:
        return step_trial(s, x);
    case PHASE_GUARD:
        return step_guard(s, x);
    default:
        return go_on;
    }
}

static struct session_command switched(struct session *s)
{
    if (!s->switching)
        return go_on;
    s->switching = false;
    s->in_force = s->switching_to;
    if (*s->offers[0].also && (s->in_force || s->phase == PHASE_UNDO))
        s->also = s->in_force;
    if (s->phase == PHASE_ADOPT)
        return s->in_force ? adopt(s) : want(s, true);
    return s->phase == PHASE_UNDO ? undo(s) : go_on;
}

static struct session_command tick(struct session *s, double now_s)
{
    if (isnan(s->start_s))
        s->start_s = now_s;
    return now_s - s->start_s > s->plan.seconds ? end_early(s, used_up) : go_on;
}

struct session_command session_event(struct session *s, const struct session_event *e)
{
    if (s->phase == PHASE_OVER)
        return finish(s, NULL);
    switch (e->kind) {
    case SESSION_STEP:
        return step(s, (struct session_steps){ e->seconds, MAX(1, e->steps) });
    case SESSION_SWITCHED:
        return switched(s);
    case SESSION_FAILED:
        return fail(s, e->why ? e->why : "it failed");
    case SESSION_STOP:
        return end_early(s, e->why);
    case SESSION_ENDED:
        return end_now(s, e->why);
    default:
        return tick(s, e->seconds);
    }
}

/* ---- candidates ---- */

static struct session_offer offer_of(const struct candidate *c)
{
    struct session_offer o;

    set(o.knob, sizeof(o.knob), c->knob->name);
    set(o.value, sizeof(o.value), c->value);
    set(o.before, sizeof(o.before), c->before);
    o.gain = c->gain;
    set(o.also, sizeof(o.also), c->also ? c->also->name : NULL);
    set(o.why, sizeof(o.why), c->why);
    return o;
}

bool session_has(const struct session *s, const char *knob, const char *value)
{
    for (unsigned i = 0; i < s->n_entries; i++)
        if (!strcmp(s->entries[i].knob, knob) && !strcmp(s->entries[i].value, value))
            return true;
    return false;
}

/* Why a candidate is not for a session; NULL when it is. */
static const char *why_left(const struct session *s, const struct candidate *c)
{
    if (c->knob->risk == KNOB_NUMERIC && !s->plan.numeric)
        return "it changes numbers: --allow numeric";
    if (c->knob->risk == KNOB_PRIVILEGED && !s->plan.privileged)
        return "it needs an operator: --allow privileged";
    if (c->knob->effect == KNOB_EPOCH)
        return "it takes effect with the next epoch";
    if (c->knob->effect == KNOB_RESTART)
        return "it takes effect with a restart";
    return c->before ? NULL : "the value of now is not known, so it could not be taken back";
}

static const struct candidate *candidate_of(const struct candidate *list, size_t n,
                                            const char *knob)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i].knob->name, knob) && list[i].before)
            return &list[i];
    return NULL;
}

/* Of what is still to be tried, what is worth it now, with the values that it was offered with. */
static void keep_offers(struct session *s, const struct candidate *list, size_t n)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < s->n_offers; i++) {
        const struct candidate *c = candidate_of(list, n, s->offers[i].knob);

        if (!c) {
            write_left(s, &s->offers[i], "the job does not need it any more");
            continue;
        }
        s->offers[kept] = s->offers[i];
        set(s->offers[kept].before, sizeof(s->offers[kept].before), c->before);
        kept++;
    }
    s->n_offers = kept;
}

struct session_command session_offer(struct session *s, const struct candidate *list, size_t n)
{
    if (s->phase != PHASE_ASK)
        return s->phase == PHASE_OVER ? finish(s, NULL) : go_on;
    if (s->again) {
        s->again = false;
        keep_offers(s, list, n);
        return begin_candidate(s);
    }
    s->n_offers = 0;
    for (size_t i = 0; i < n && s->n_offers < SESSION_OFFERS; i++) {
        const struct candidate *c = &list[i];
        struct session_offer *o = &s->offers[s->n_offers];
        const char *left = why_left(s, c);

        *o = offer_of(c);
        if (session_has(s, o->knob, o->value))
            continue;
        if (left)
            write_left(s, o, left);
        else
            s->n_offers++;
    }
    return begin_candidate(s);
}

void session_leave(struct session *s, const struct candidate *c, const char *why)
{
    const struct session_offer o = offer_of(c);

    if (!session_has(s, o.knob, o.value))
        write_left(s, &o, why);
}

void session_refuse(struct session *s, const struct session_entry *k, const char *value,
                    const char *why)
{
    struct session_offer o = { .gain = (double)NAN };

    set(o.knob, sizeof(o.knob), k->knob);
    set(o.value, sizeof(o.value), value);
    set(o.before, sizeof(o.before), k->before);
    set(o.why, sizeof(o.why), k->why);
    if (!session_has(s, o.knob, o.value) && s->n_entries < SESSION_ENTRIES - SESSION_TRIALS)
        write_down(s, &o, SESSION_BROKE, why)->refused = true;
}
