/* Settings worth a trial, while they are collected. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "tune/propose/propose_private.h"

enum { WHY_MAX = 256 };

const struct verdict_item *propose_item(const struct proposer *p, enum cause c)
{
    const struct verdict *v = p->about->verdict;

    for (size_t i = 0; i < v->count; i++)
        if (v->items[i].cause == c)
            return &v->items[i];
    return NULL;
}

double propose_without(const struct proposer *p, double seconds)
{
    return seconds > 0 && seconds < p->step_s ? p->step_s / (p->step_s - seconds) : 1;
}

/* Whether a knob may be turned without asking further. */
static bool is_allowed(const struct proposer *p, const struct knob *k)
{
    if (k->risk == KNOB_PRIVILEGED)
        return p->about->privileged;
    return k->risk == KNOB_SAFE ? !(k->rounds && p->about->exact) : p->about->numeric;
}

static bool is_there(const struct candidate *list, size_t n, const struct knob *k,
                     const char *value)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].knob == k && !strcmp(list[i].value, value))
            return true;
    return false;
}

static void add(struct proposer *p, const struct candidate *c)
{
    struct proposals *out = &p->out;
    bool allowed = is_allowed(p, c->knob);
    struct candidate *to;

    if (is_there(out->list, out->count, c->knob, c->value) ||
        is_there(out->barred, out->n_barred, c->knob, c->value))
        return;
    to = allowed ? ARENA_PUSH(&out->arena, &out->list, &out->count)
                 : ARENA_PUSH(&out->arena, &out->barred, &out->n_barred);
    if (!to) {
        p->no_memory = true;
        return;
    }
    *to = *c;
    to->value = arena_strdup(&out->arena, c->value);
    to->before = c->before ? arena_strdup(&out->arena, c->before) : NULL;
    to->why = arena_strdup(&out->arena, c->why);
    p->no_memory = p->no_memory || !to->value || !to->why || (c->before && !to->before);
}

/* Whether the profile says that a value has cost the job its memory, or one that takes less. */
static bool is_refused(const struct proposer *p, const char *knob, const char *value)
{
    const struct profile *won = p->about->won;
    const struct profile_setting *r = won ? profile_memo(won, PROFILE_REFUSED, knob) : NULL;
    double is, was;

    if (!r)
        return false;
    if (!strcmp(knob, "loader.workers") && parse_double(value, &is) == 0 &&
        parse_double(r->value, &was) == 0)
        return is >= was;
    return !strcmp(r->value, value);
}

PRINTF(4, 0)
static void consider(struct proposer *p, const char *knob, struct candidate *c, const char *fmt,
                     va_list ap)
{
    char why[WHY_MAX];

    c->also = p->also;
    p->also = NULL;
    /* Nothing is added to lists whose last texts may be missing. */
    if (p->no_memory || (c->gain < 1 + p->about->least_gain))
        return;
    c->knob = knobs_find(p->about->knobs, knob);
    if (!c->knob || (c->before && !strcmp(c->before, c->value)) ||
        knob_check(c->knob, c->value, NULL) < 0)
        return;
    if (!p->naming && is_refused(p, knob, c->value))
        return;
    if (!condition_hold(&c->knob->needs, facts_look, &p->facts))
        return;
    vsnprintf(why, sizeof(why), fmt, ap);
    c->why = why;
    add(p, c);
    c->why = NULL;
}

void propose_add(struct proposer *p, const char *knob, const char *value, const char *before,
                 double gain, const char *fmt, ...)
{
    struct candidate c = { .value = value, .before = before, .gain = gain };
    va_list ap;

    va_start(ap, fmt);
    consider(p, knob, &c, fmt, ap);
    va_end(ap);
}

void propose_number(struct proposer *p, const char *knob, double value, double before, double gain,
                    const char *fmt, ...)
{
    char text[2][KNOB_VALUE_MAX];
    struct candidate c = { .value = text[0], .gain = gain };
    va_list ap;

    /* Beyond that no knob takes it, and "%.0f" would not fit. */
    if (!(fabs(value) < 1e15) || fabs(before) >= 1e15)
        return;
    snprintf(text[0], sizeof(text[0]), "%.0f", value);
    snprintf(text[1], sizeof(text[1]), "%.0f", before);
    c.before = isnan(before) ? NULL : text[1];
    va_start(ap, fmt);
    consider(p, knob, &c, fmt, ap);
    va_end(ap);
}
