#include "probe/gpu/fake_script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ini.h"
#include "base/opt.h"
#include "base/parse.h"

enum { KEY_MAX = 64 };

/* So that no counter becomes infinite in the life of a machine. */
static const double value_max = 1e18;

static const struct signal_set *const sets[] = { &gpu_set, &gpu_throttle_set, &gpu_error_set };

/* ---- names ---- */

/* How a script writes a signal: "busy_ratio", "gpu_throttle.active:power". */
static void key_of(const struct signal_set *set, size_t i, char key[KEY_MAX])
{
    const struct signal_def *d = &set->defs[i];
    const char *label = d->label ? strchr(d->label, '"') : NULL;

    snprintf(key, KEY_MAX, "%s%s%s%s%.*s", set == &gpu_set ? "" : set->name,
             set == &gpu_set ? "" : ".", d->name, label ? ":" : "",
             label ? (int)strcspn(label + 1, "\"") : 0, label ? label + 1 : "");
}

struct names {
    size_t n;
    char keys[SIGNAL_FACTS + GPU_VALUES + GPU_THROTTLE_VALUES + GPU_ERROR_VALUES][KEY_MAX];
};

static const char *name_at(const void *names, size_t i)
{
    return ((const struct names *)names)->keys[i];
}

static int unknown_key(const struct ini_entry *at, struct err *e)
{
    struct names names = { .n = 0 };
    const char *near;

    for (size_t i = 0; i < SIGNAL_FACTS && gpu_set.facts[i]; i++)
        if (i != GPU_VENDOR)
            snprintf(names.keys[names.n++], KEY_MAX, "%s", gpu_set.facts[i]);
    for (size_t k = 0; k < ARRAY_SIZE(sets); k++)
        for (size_t i = 0; i < sets[k]->n_defs; i++)
            key_of(sets[k], i, names.keys[names.n++]);
    near = opt_nearest(at->key, names.n, name_at, &names);
    return err_set(e, -EINVAL, "%s:%d: an accelerator has no signal '%s'%s%s%s", at->file, at->line,
                   at->key, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

static bool find_key(const char *key, struct fake_rule *rule)
{
    char own[KEY_MAX];

    for (size_t i = 0; i < SIGNAL_FACTS && gpu_set.facts[i]; i++) {
        rule->value = i;
        if (i != GPU_VENDOR && !strcmp(key, gpu_set.facts[i]))
            return true;
    }
    for (size_t k = 0; k < ARRAY_SIZE(sets); k++) {
        rule->set = sets[k];
        for (size_t i = 0; i < sets[k]->n_defs; i++) {
            rule->value = i;
            key_of(sets[k], i, own);
            if (!strcmp(key, own))
                return true;
        }
    }
    return false;
}

/* ---- courses of time ---- */

/* "0.9 for 30s": a step of len bytes. */
static bool read_step(const char *text, size_t len, double *value, double *seconds)
{
    char step[KEY_MAX], *end;
    int64_t ns;

    if (snprintf(step, sizeof(step), "%.*s", (int)len, text) >= (int)sizeof(step))
        return false;
    end = strstr(step, " for ");
    *seconds = 0;
    if (end) {
        const char *duration = end + strlen(" for ");

        duration += strspn(duration, " ");
        if (parse_duration_ns(duration, &ns) < 0 || ns <= 0)
            return false;
        *seconds = clock_seconds(ns);
        while (end > step && end[-1] == ' ')
            end--;
        *end = 0;
    }
    return parse_double(step, value) == 0 && *value >= 0 && *value <= value_max;
}

static int read_course(struct fake_rule *rule, const struct ini_entry *at, struct err *e)
{
    const char *text = at->value;
    bool forever = false, more = true;

    for (rule->n_steps = 0; more; rule->n_steps++) {
        size_t len = strcspn(text, ","), end = len;
        size_t i = rule->n_steps;

        if (i == FAKE_STEPS)
            return err_set(e, -EINVAL, "%s:%d: %s: more than %d steps", at->file, at->line, at->key,
                           FAKE_STEPS);
        while (end > 0 && text[end - 1] == ' ')
            end--;
        if (!read_step(text, end, &rule->steps[i].value, &rule->steps[i].seconds))
            return err_set(e, -EINVAL,
                           "%s:%d: %s: '%.*s' is no step: write 0.9, or 0.9 for 30s, 0.1 for 10s",
                           at->file, at->line, at->key, (int)MIN(len, 40), text);
        forever = forever || rule->steps[i].seconds == 0;
        more = text[len] == ',';
        text += len + more;
        text += strspn(text, " ");
    }
    if (forever && rule->n_steps > 1)
        return err_set(e, -EINVAL,
                       "%s:%d: %s: each of several steps needs its time, as in 0.9 for "
                       "30s",
                       at->file, at->line, at->key);
    return 0;
}

/* What a counter has come to, or what a gauge shows, after so many seconds. */
static double play(const struct fake_rule *rule, double seconds)
{
    bool counter = rule->set->defs[rule->value].kind == SIGNAL_COUNTER;
    double length = 0, sum = 0, rounds, left, total;

    if (rule->steps[0].seconds == 0)
        return rule->steps[0].value * (counter ? seconds : 1);
    for (size_t i = 0; i < rule->n_steps; i++) {
        length += rule->steps[i].seconds;
        sum += rule->steps[i].seconds * rule->steps[i].value;
    }
    rounds = (double)(int64_t)(seconds / length);
    left = seconds - rounds * length;
    total = sum * rounds;
    for (size_t i = 0; i < rule->n_steps; i++) {
        if (left < rule->steps[i].seconds || i + 1 == rule->n_steps)
            return counter ? total + left * rule->steps[i].value : rule->steps[i].value;
        left -= rule->steps[i].seconds;
        total += rule->steps[i].seconds * rule->steps[i].value;
    }
    return (double)NAN;
}

void fake_script_play(const struct fake_script *s, int gpu, double seconds, struct gpu_reading *r)
{
    const int passes[] = { FAKE_ALL, gpu }; /* what is said of one wins */

    gpu_reading_clear(r);
    memset(r->facts, 0, sizeof(r->facts));
    snprintf(r->thing, sizeof(r->thing), "fake%d", gpu);
    snprintf(r->facts[GPU_UUID], sizeof(r->facts[0]), "fake-%d", gpu);
    snprintf(r->facts[GPU_VENDOR], sizeof(r->facts[0]), "fake");
    r->gpu[GPU_LOST] = 0;
    for (size_t k = 0; k < ARRAY_SIZE(passes); k++) {
        for (size_t i = 0; i < s->n_rules; i++) {
            const struct fake_rule *rule = &s->rules[i];

            if (rule->gpu != passes[k])
                continue;
            if (!rule->set)
                memcpy(r->facts[rule->value], rule->text, sizeof(r->facts[0]));
            else if (rule->set == &gpu_set)
                r->gpu[rule->value] = play(rule, seconds);
            else if (rule->set == &gpu_throttle_set)
                r->throttle[rule->value] = play(rule, seconds);
            else
                r->error[rule->value] = play(rule, seconds);
        }
    }
}

/* ---- sections ---- */

static int add_rule(struct fake_script *s, int gpu, const struct ini_entry *at, struct err *e)
{
    struct fake_rule rule = { .gpu = gpu };
    int rc = 0;

    if (s->n_rules == FAKE_RULES)
        return err_set(e, -EINVAL, "%s:%d: more than %d values", at->file, at->line, FAKE_RULES);
    if (!find_key(at->key, &rule))
        return unknown_key(at, e);
    if (!rule.set && snprintf(rule.text, sizeof(rule.text), "%s", at->value) >= SIGNAL_THING)
        return err_set(e, -EINVAL, "%s:%d: %s: longer than %d characters", at->file, at->line,
                       at->key, SIGNAL_THING - 1);
    if (rule.set)
        rc = read_course(&rule, at, e);
    if (rc < 0)
        return rc;
    if (s->n_rules == s->rules_room) {
        size_t room = s->rules_room ? 2 * s->rules_room : 16;
        struct fake_rule *more = realloc(s->rules, room * sizeof(*more));

        if (!more)
            return err_nomem(e);
        s->rules = more;
        s->rules_room = room;
    }
    s->rules[s->n_rules++] = rule;
    return 0;
}

static int add_event(struct fake_script *s, const struct ini_entry *at, struct err *e)
{
    if (s->n_events == FAKE_EVENTS)
        return err_set(e, -EINVAL, "%s:%d: more than %d events", at->file, at->line, FAKE_EVENTS);
    if (s->n_events == s->events_room) {
        size_t room = s->events_room ? 2 * s->events_room : 4;
        struct fake_event *more = realloc(s->events, room * sizeof(*more));

        if (!more)
            return err_nomem(e);
        s->events = more;
        s->events_room = room;
    }
    s->events[s->n_events++] = (struct fake_event){
        .kind = "fake", .event = { .severity = SEVERITY_WARNING, .code = -1 }, .line = at->line
    };
    return 0;
}

static const char *const event_keys[] = { "after", "kind", "severity", "code",
                                          "thing", "text", "action" };

static const char *event_key_at(const void *keys, size_t i)
{
    return ((const char *const *)keys)[i];
}

static bool copy(char *to, size_t size, const char *from)
{
    return (size_t)snprintf(to, size, "%s", from) < size;
}

static bool read_severity(const char *text, enum severity *ret)
{
    for (enum severity s = SEVERITY_NOTE; s <= SEVERITY_CRITICAL; s++) {
        if (!strcmp(text, severity_text(s))) {
            *ret = s;
            return true;
        }
    }
    return false;
}

static int set_event(struct fake_event *ev, const struct ini_entry *at, struct err *e)
{
    const char *near;
    int64_t n = -1;
    bool good;

    if (!strcmp(at->key, "after"))
        good = parse_duration_ns(at->value, &ev->after_ns) == 0;
    else if (!strcmp(at->key, "kind"))
        good = copy(ev->kind, sizeof(ev->kind), at->value);
    else if (!strcmp(at->key, "severity"))
        good = read_severity(at->value, &ev->event.severity);
    else if (!strcmp(at->key, "code"))
        good = parse_i64(at->value, &n) == 0 && n >= -1 && n <= INT32_MAX;
    else if (!strcmp(at->key, "thing"))
        good = copy(ev->event.thing, sizeof(ev->event.thing), at->value);
    else if (!strcmp(at->key, "text"))
        good = copy(ev->event.text, sizeof(ev->event.text), at->value);
    else if (!strcmp(at->key, "action"))
        good = copy(ev->event.action, sizeof(ev->event.action), at->value);
    else {
        near = opt_nearest(at->key, ARRAY_SIZE(event_keys), event_key_at, event_keys);
        return err_set(e, -EINVAL, "%s:%d: an event has no '%s'%s%s%s", at->file, at->line, at->key,
                       near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
    }
    if (!strcmp(at->key, "code"))
        ev->event.code = (int)n;
    return good ? 0
                : err_set(e, -EINVAL, "%s:%d: %s: '%.40s' does not do", at->file, at->line, at->key,
                          at->value);
}

static int set_count(struct fake_script *s, const struct ini_entry *at, struct err *e)
{
    uint64_t n;

    if (strcmp(at->key, "count") != 0)
        return err_set(e, -EINVAL, "%s:%d: [fake] has no '%s', only count", at->file, at->line,
                       at->key);
    if (parse_u64(at->value, &n) < 0 || n < 1 || n > FAKE_GPUS)
        return err_set(e, -EINVAL, "%s:%d: count: between 1 and %d", at->file, at->line, FAKE_GPUS);
    s->count = MAX(s->count, (int)n);
    return 0;
}

static int read_entry(void *ctx, const struct ini_entry *at, struct err *e)
{
    struct fake_script *s = ctx;
    uint64_t gpu;

    if (!strcmp(at->section, "fake"))
        return at->key ? set_count(s, at, e) : 0;
    if (!strcmp(at->section, "event"))
        return at->key ? set_event(&s->events[s->n_events - 1], at, e) : add_event(s, at, e);
    if (!strcmp(at->section, "gpu *")) {
        s->count = MAX(s->count, 1);
        return at->key ? add_rule(s, FAKE_ALL, at, e) : 0;
    }
    if (strncmp(at->section, "gpu ", 4) != 0)
        return err_set(e, -EINVAL, "%s:%d: [%.40s]: sections are [fake], [gpu *], [gpu 0], [event]",
                       at->file, at->line, at->section);
    if (parse_u64(at->section + 4, &gpu) < 0 || gpu >= FAKE_GPUS)
        return err_set(e, -EINVAL, "%s:%d: [%.40s]: these are numbered from 0 to %d", at->file,
                       at->line, at->section, FAKE_GPUS - 1);
    s->count = MAX(s->count, (int)gpu + 1);
    return at->key ? add_rule(s, (int)gpu, at, e) : 0;
}

int fake_script_read(struct fake_script *s, const char *name, const char *text, size_t len,
                     struct err *e)
{
    int rc;

    *s = (struct fake_script){ .count = 0 };
    rc = ini_parse(name, text, len, read_entry, s, e);
    if (rc == 0 && s->count == 0)
        rc = err_set(e, -EINVAL, "%s:1: there is no section [gpu *] or [gpu 0]", name);
    for (size_t i = 0; i < s->n_events && rc == 0; i++)
        if (!s->events[i].event.text[0] || !s->events[i].kind[0])
            rc = err_set(e, -EINVAL, "%s:%d: [event] has no %s", name, s->events[i].line,
                         s->events[i].kind[0] ? "text" : "kind");
    if (rc < 0)
        fake_script_done(s);
    return rc;
}

void fake_script_done(struct fake_script *s)
{
    free(s->rules);
    free(s->events);
    *s = (struct fake_script){ .count = 0 };
}
