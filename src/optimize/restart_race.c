#include "optimize/restart_race.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS_LEAST = 3 /* before a race can be won */, LOSSES_LEAST = 8 };

/* A loss is worse beyond so many standard errors, and by that share of it. */
static const double beyond = 4, worse_by = 0.01;

unsigned restart_race_room(unsigned restarts)
{
    if (restarts < CONTEST_RESTARTS_LEAST)
        return 0;
    return MIN((restarts - 1) / ROUNDS_LEAST - 1, (unsigned)CONTEST_MOST);
}

void restart_race_init(struct restart_race *c, unsigned restarts)
{
    memset(c, 0, sizeof(*c));
    c->most = restarts ? restarts - 1 : 0;
    c->step_s = (double)NAN;
}

static void set(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text ? text : "");
}

bool restart_race_add(struct restart_race *c, const struct candidate *candidate)
{
    struct restart_race_setting *s = &c->settings[c->n];
    struct session_entry *e = &s->entry;

    if (c->n >= restart_race_room(c->most + 1))
        return false;
    e->outcome = SESSION_UNDECIDED;
    e->effect = (struct trial_effect){ (double)NAN, -1, (double)INFINITY };
    e->memory_b = e->device_b = e->speed = (double)NAN;
    set(e->knob, sizeof(e->knob), candidate->knob->name);
    set(e->value, sizeof(e->value), candidate->value);
    set(e->before, sizeof(e->before), candidate->before);
    set(e->why, sizeof(e->why), candidate->why);
    s->numeric = candidate->knob->risk == KNOB_NUMERIC;
    c->n++;
    return true;
}

static void begin(struct restart_race *c, unsigned racing)
{
    struct race_plan plan = race_plan_usual();

    race_init(&c->race, racing + 1, &plan);
}

void restart_race_begin(struct restart_race *c)
{
    for (unsigned i = 0; i < c->n; i++)
        c->field[i + 1] = i;
    begin(c, c->n);
}

static unsigned left(const struct race *r)
{
    unsigned n = 0;

    for (unsigned i = 0; i < r->n; i++)
        n += r->in[i];
    return n;
}

int restart_race_want(const struct restart_race *c)
{
    unsigned round = c->race.at ? 1 : left(&c->race);

    if (*c->ended || c->heats + round > c->most)
        return -1; /* half a round compares nothing */
    return race_want(&c->race);
}

/* ---- losses ---- */

static void add_losses(struct restart_race_losses *to, const struct race_run *h)
{
    to->heats++;
    for (unsigned i = 0; i < HEAT_LOSSES && i < h->seen; i++) {
        if (!isfinite(h->loss[i]))
            continue;
        to->sum[i] += h->loss[i];
        to->n[i]++;
    }
}

/* Whether losses at the same steps lie above those of the job, beyond noise and by what counts; or
 * are no numbers at last, where the job's are. One that is accumulated is not told in each step. */
static bool are_worse(const struct restart_race_losses *job, const struct restart_race_losses *with,
                      const struct race_run *h, char why[HEAT_TEXT])
{
    double sum = 0, squares = 0, level = 0, mean, error;
    unsigned n = 0, lost = 0;

    for (unsigned i = 0; i < HEAT_LOSSES && i < h->seen; i++) {
        double before = job->n[i] ? job->sum[i] / job->n[i] : (double)NAN, more;

        if (job->n[i])
            lost = isfinite(h->loss[i]) ? 0 : lost + 1;
        if (!job->n[i] || !with->n[i])
            continue;
        more = with->sum[i] / with->n[i] - before;
        sum += more;
        squares += more * more;
        level += fabs(before);
        n++;
    }
    if (lost >= LOSSES_LEAST) {
        snprintf(why, HEAT_TEXT, "the loss is no number any more");
        return true;
    }
    if (n < LOSSES_LEAST)
        return false;
    mean = sum / n;
    level /= n;
    error = sqrt(fmax(0, squares / n - mean * mean) / (n - 1));
    if (!(mean > beyond * error) || !(mean > worse_by * level))
        return false;
    snprintf(why, HEAT_TEXT, "the loss of its first %u steps is %.1f %% above the job's", n,
             100 * mean / level);
    return true;
}

/* ---- heats ---- */

/* A heat that counts for nothing: its setting leaves. */
static void drop(struct restart_race *c, struct restart_race_setting *s, const char *why)
{
    if (s) {
        s->entry.outcome = SESSION_BROKE;
        set(s->entry.note, sizeof(s->entry.note), why);
    } else {
        snprintf(c->ended, sizeof(c->ended), "the job as it is failed: %.*s", HEAT_TEXT - 40, why);
    }
    race_run(&c->race, (double)NAN);
}

void restart_race_take(struct restart_race *c, const struct race_run *h)
{
    int at = race_want(&c->race);
    struct restart_race_setting *s = at > 0 ? &c->settings[c->field[at]] : NULL;
    bool per_sample;
    double seconds = race_run_seconds(h, &per_sample);
    char why[HEAT_TEXT];

    if (at < 0)
        return;
    c->heats++;
    if (s) {
        s->entry.starts++;
        s->entry.steps += h->seen;
    }
    if (h->state == HEAT_SAVED) {
        restart_race_stop(c, "the job writes a checkpoint so soon that the next start would go on "
                             "from it");
    } else if (!(seconds > 0)) {
        drop(c, s, h->why);
    } else if (c->measured && per_sample != c->per_sample) {
        drop(c, s, "its samples can not be compared with the job's");
    } else {
        c->measured = true;
        c->per_sample = per_sample;
        if (!s)
            c->step_s = h->total_s / h->n;
        if (s || !c->kept)
            add_losses(s ? &s->losses : &c->losses, h);
        if (s && s->numeric && are_worse(&c->losses, &s->losses, h, why))
            drop(c, s, why);
        else
            race_run(&c->race, seconds);
    }
}

void restart_race_stop(struct restart_race *c, const char *why)
{
    if (!*c->ended)
        snprintf(c->ended, sizeof(c->ended), "%s", why);
}

/* ---- what came of it ---- */

static void conclude(struct restart_race *c, unsigned at)
{
    const struct race *r = &c->race;
    struct session_entry *e = &c->settings[c->field[at]].entry;
    const struct session_entry *first = r->winner ? &c->settings[c->field[r->winner]].entry : NULL;

    if (e->outcome == SESSION_BROKE)
        return;
    e->effect = race_effect(r, at);
    set(e->note, sizeof(e->note), c->races ? "beside what was kept first" : "");
    if (at == r->winner) {
        e->outcome = SESSION_ADOPTED;
        c->kept++;
        return;
    }
    e->outcome = r->in[at] ? SESSION_UNDECIDED : SESSION_REJECTED;
    if (*c->ended)
        set(e->note, sizeof(e->note), c->ended);
    else if (!r->over)
        set(e->note, sizeof(e->note), "no start is left");
    else if (first && e->effect.gain > r->plan.least_gain)
        snprintf(e->note, sizeof(e->note), "%s=%s is faster", first->knob, first->value);
}

/* It may add to what was kept: another knob, and as far as is known not slower than the job. */
static bool may_add(const struct restart_race *c, const struct session_entry *e,
                    const struct session_entry *winner)
{
    return e->outcome != SESSION_ADOPTED && e->outcome != SESSION_BROKE &&
           strcmp(e->knob, winner->knob) != 0 && e->effect.gain > c->race.plan.least_gain;
}

bool restart_race_again(struct restart_race *c)
{
    const struct session_entry *winner;
    unsigned old[RACE_MOST], racing = c->race.n, n = 0;

    for (unsigned i = 1; i < racing; i++)
        conclude(c, i);
    c->races++;
    if (!c->race.winner || *c->ended)
        return false;
    winner = &c->settings[c->field[c->race.winner]].entry;
    memcpy(old, c->field, sizeof(old));
    for (unsigned i = 1; i < racing; i++)
        if (may_add(c, &c->settings[old[i]].entry, winner) &&
            c->heats + ROUNDS_LEAST * (n + 2) <= c->most)
            c->field[++n] = old[i];
    if (n)
        begin(c, n);
    return n > 0;
}

bool restart_race_has(const struct restart_race *c, unsigned setting, int heat)
{
    return c->settings[setting].entry.outcome == SESSION_ADOPTED ||
           (heat > 0 && c->field[heat] == setting);
}
