#include "diagnose/alerts/alert.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define QUIET_LEAST_NS (10 * NS_PER_S)

/* How long what is known of a thing outlives it: a sampler may miss a tick, a disk may be changed.
 * The second is for when there are too many things. */
#define GONE_NS (600 * NS_PER_S)
#define GONE_FULL_NS (60 * NS_PER_S)

enum { FACT_ALERT, FACT_THING, FACT_SEVERITY, FACT_CODE };

/* What is known of one thing under one rule. */
struct watch {
    char thing[SIGNAL_THING];
    const char *kind; /* of the event; NULL: it is of a condition */
    int code;
    uint64_t text; /* of an event without a code: which one */
    bool used;     /* this is no free place */
    bool pending;  /* held at the last step */
    bool firing;
    int64_t seen_ns;  /* when the thing was there last */
    int64_t since_ns; /* pending: since when it holds. firing: when it held last */
    void *memory;     /* of the rule's expression; NULL when that needs none */
};

struct ruled {
    const struct rule *rule;
    struct expr_place *places;
    struct arena *arena; /* of the alerts; what is known of things is used again, never freed */
    struct watch *watches;
    size_t n_watches;
};

struct alerts {
    struct arena arena;
    struct ruled *list;
    size_t count;
    struct alert firing[ALERTS_FIRING_MAX];
    size_t n_firing, dropped;
};

void alerts_free(struct alerts *a)
{
    if (!a)
        return;
    arena_done(&a->arena);
    free(a);
}

int alerts_new(struct alerts **ret, const struct rules *rules)
{
    CLEANUP(alerts_freep) struct alerts *a = calloc(1, sizeof(*a));

    if (!a)
        return -ENOMEM;
    a->list = arena_alloc(&a->arena, rules->count * sizeof(*a->list));
    if (!a->list)
        return -ENOMEM;
    for (size_t i = 0; i < rules->count; i++) {
        struct ruled *r = &a->list[i];

        r->rule = &rules->list[i];
        r->arena = &a->arena;
        r->places = arena_alloc(&a->arena, r->rule->when.n_signals * sizeof(*r->places));
        if (!r->places)
            return -ENOMEM;
        a->count++;
    }
    *ret = steal(&a);
    return 0;
}

/* Whether it is of that thing, and of events of that kind and code; NULL: of the condition. */
static bool is_about(const struct watch *w, const char *thing, const struct event *event)
{
    return w->used && w->code == (event ? event->code : -1) && !strcmp(w->thing, thing) &&
           (!event || (w->kind && !strcmp(w->kind, event->kind)));
}

/* A free place, or a new one; when there are too many, one whose thing is gone. NULL when there is
 * none. */
static struct watch *make_watch(struct ruled *r, int64_t now_ns)
{
    bool full = r->n_watches == EXPR_THINGS_MAX;

    for (size_t i = 0; i < r->n_watches; i++) {
        struct watch *w = &r->watches[i];

        if (!w->used || (full && !w->firing && now_ns - w->seen_ns > GONE_FULL_NS))
            return w;
    }
    return full ? NULL : ARENA_PUSH(r->arena, &r->watches, &r->n_watches);
}

/* The one of that text; where a thing has EVENT_TEXTS others that fire, one of those. */
static struct watch *known_watch(struct ruled *r, const char *thing, const struct event *event)
{
    uint64_t text = event ? event_what(event) : 0;
    struct watch *other = NULL;
    size_t others = 0;

    for (size_t i = 0; i < r->n_watches; i++) {
        struct watch *w = &r->watches[i];

        if (!is_about(w, thing, event))
            continue;
        if (w->text == text)
            return w;
        others += w->firing;
        other = w->firing ? w : other;
    }
    return others >= EVENT_TEXTS ? other : NULL;
}

/* What is known of a thing, or of what events say of it, made if need be: 0, -ENOMEM, or -ENOSPC
 * when there are too many. */
static int find_watch(struct ruled *r, const char *thing, const struct event *event, int64_t now_ns,
                      struct watch **ret)
{
    size_t memory = expr_memory(&r->rule->when);
    struct watch *w = known_watch(r, thing, event);

    if (w) {
        *ret = w;
        return 0;
    }
    w = make_watch(r, now_ns);
    if (!w)
        return r->n_watches == EXPR_THINGS_MAX ? -ENOSPC : -ENOMEM;
    if (memory && !w->memory)
        w->memory = arena_alloc(r->arena, memory);
    if (memory && !w->memory)
        return -ENOMEM;
    if (memory)
        memset(w->memory, 0, memory);
    *w = (struct watch){ .kind = event ? event->kind : NULL,
                         .code = event ? event->code : -1,
                         .text = event ? event_what(event) : 0,
                         .used = true,
                         .seen_ns = now_ns,
                         .memory = w->memory };
    snprintf(w->thing, sizeof(w->thing), "%s", thing);
    *ret = w;
    return 0;
}

static bool is_same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* Whether an alert has the same name as what is watched: rule, kind, code and thing. */
static bool is_namesake(const struct alert *alert, const struct rule *rule, const struct watch *w)
{
    return alert->rule == rule && alert->code == w->code && is_same(alert->kind, w->kind) &&
           !strcmp(alert->thing, w->thing);
}

static struct alert *find_firing(struct alerts *a, const struct rule *rule, const struct watch *w)
{
    for (size_t i = 0; i < a->n_firing; i++)
        if (is_namesake(&a->firing[i], rule, w) && a->firing[i].event_text == w->text)
            return &a->firing[i];
    return NULL;
}

/* The lowest number that no alert of the same name has: an alert keeps its own while it fires. */
static unsigned free_number(const struct alerts *a, const struct rule *rule, const struct watch *w)
{
    unsigned number = 0;
    bool taken;

    do {
        taken = false;
        for (size_t i = 0; i < a->n_firing; i++)
            taken |= is_namesake(&a->firing[i], rule, w) && a->firing[i].number == number;
        number += taken;
    } while (taken);
    return number;
}

/* Tell of an alert's begin or end. When there are too many events in the tick, nobody is told. */
static void tell(struct tick *now, const struct alert *alert, bool over)
{
    struct event *event = tick_event(now, "alert", alert->severity, alert->code);

    if (!event)
        return;
    event->over = over;
    snprintf(event->thing, sizeof(event->thing), "%s", alert->thing);
    snprintf(event->text, sizeof(event->text), "%s", alert->text);
    snprintf(event->action, sizeof(event->action), "%s", alert->action);
}

static int add_text(struct alert *alert)
{
    CLEANUP(str_done) struct str say = STR_INIT(4096);

    rule_say(alert->rule->say, alert->thing, alert->value, &say);
    if (str_error(&say) == -ENOMEM)
        return -ENOMEM;
    snprintf(alert->text, sizeof(alert->text), "%s", str_text(&say));
    return 0;
}

/* The next place among those that fire; NULL when there are too many. */
static struct alert *add_firing(struct alerts *a, const struct rule *rule, struct watch *w)
{
    struct alert *alert;

    if (a->n_firing == ALERTS_FIRING_MAX) {
        a->dropped++;
        return NULL;
    }
    alert = &a->firing[a->n_firing];
    *alert = (struct alert){ .rule = rule,
                             .kind = w->kind,
                             .code = w->code,
                             .event_text = w->text,
                             .number = free_number(a, rule, w),
                             .value = (double)NAN };
    snprintf(alert->thing, sizeof(alert->thing), "%s", w->thing);
    return alert;
}

static void end_alert(struct alerts *a, const struct rule *rule, struct watch *w, struct tick *now)
{
    struct alert *alert = find_firing(a, rule, w);
    size_t at;

    w->firing = w->pending = false;
    if (!alert)
        return;
    tell(now, alert, true);
    at = (size_t)(alert - a->firing);
    a->n_firing--;
    memmove(alert, alert + 1, (a->n_firing - at) * sizeof(*alert));
}

/* The condition holds. */
static int hold(struct alerts *a, const struct rule *rule, struct watch *w, struct tick *now,
                double value)
{
    int64_t ns = now->monotonic_ns;
    struct alert *alert;

    if (w->firing) {
        w->since_ns = ns;
        alert = find_firing(a, rule, w);
        if (alert)
            alert->value = value;
        return alert ? add_text(alert) : 0;
    }
    if (!w->pending)
        w->since_ns = ns;
    w->pending = true;
    if (ns - w->since_ns < rule->for_ns)
        return 0;
    alert = add_firing(a, rule, w);
    if (!alert)
        return 0;
    alert->severity = rule->severity;
    alert->since_ns = now->wall_ns;
    alert->value = value;
    if (add_text(alert) < 0)
        return -ENOMEM;
    snprintf(alert->action, sizeof(alert->action), "%s", rule->action);
    a->n_firing++;
    w->firing = true;
    w->since_ns = ns;
    tell(now, alert, false);
    return 0;
}

/* The condition does not hold, or the thing is gone. */
static void miss(struct alerts *a, const struct rule *rule, struct watch *w, struct tick *now)
{
    int64_t quiet = MAX(rule->for_ns / 2, QUIET_LEAST_NS);

    if (w->firing && now->monotonic_ns - w->since_ns >= quiet)
        end_alert(a, rule, w, now);
    if (!w->firing)
        w->pending = false;
    if (!w->firing && now->monotonic_ns - w->seen_ns >= GONE_NS)
        w->used = false;
}

static int look_at(struct alerts *a, struct ruled *r, const struct expr_view *view, size_t i,
                   struct tick *now)
{
    const struct signal_row *row = r->rule->by ? &view->things.rows[i] : NULL;
    struct watch *w;
    double value;
    int rc = find_watch(r, row ? row->thing : "", NULL, now->monotonic_ns, &w);

    if (rc == -ENOSPC)
        a->dropped++;
    if (rc < 0)
        return rc == -ENOSPC ? 0 : rc;
    w->seen_ns = now->monotonic_ns;
    if (expr_holds(&r->rule->when, view, row, w->memory, &value))
        return hold(a, r->rule, w, now, value);
    miss(a, r->rule, w, now);
    return 0;
}

/* Things that are gone. */
static void miss_unseen(struct alerts *a, struct ruled *r, struct tick *now)
{
    for (size_t i = 0; i < r->n_watches; i++) {
        struct watch *w = &r->watches[i];

        if (w->used && w->seen_ns != now->monotonic_ns)
            miss(a, r->rule, w, now);
    }
}

static int step_rule(struct alerts *a, struct ruled *r, const struct tick *before, struct tick *now,
                     const struct expr_sets *sets)
{
    const struct expr *x = &r->rule->when;
    struct expr_view view = { .before = before, .now = now, .places = r->places };
    int rc = 0;

    for (size_t i = 0; r->rule->by && i < sets->n && !view.things.n; i++)
        if (!strcmp(sets->list[i].rows->set->name, r->rule->set))
            view.things = sets->list[i];
    expr_look(x, &view, sets);
    for (size_t i = 0; i < x->n_signals; i++)
        if (!r->places[i].set) {
            miss_unseen(a, r, now);
            return 0;
        }
    for (size_t i = 0; rc == 0 && i < (r->rule->by ? view.things.n : 1); i++)
        rc = look_at(a, r, &view, i, now);
    if (rc == 0)
        miss_unseen(a, r, now);
    return rc;
}

/* Whether an event is of so long ago that its alert would be over by now: the kernel's log tells of
 * all since the host was started. */
static bool is_past(const struct event *event, const struct rule *rule, const struct tick *now)
{
    return now->wall_ns - event->wall_ns >= rule->keep_ns;
}

/* An event of this tick: a new alert, or one that goes on or is over. */
static int take_event(struct alerts *a, struct ruled *r, const struct event *event,
                      struct tick *now)
{
    struct alert *alert;
    struct watch *w;
    int rc;

    if (event->over) { /* in words of its own */
        for (size_t i = 0; i < r->n_watches; i++)
            if (is_about(&r->watches[i], event->thing, event))
                end_alert(a, r->rule, &r->watches[i], now);
        return 0;
    }
    rc = find_watch(r, event->thing, event, now->monotonic_ns, &w);
    if (rc == -ENOSPC)
        a->dropped++;
    if (rc < 0)
        return rc == -ENOSPC ? 0 : rc;
    w->seen_ns = w->since_ns = now->monotonic_ns;
    if (w->firing)
        return 0;
    alert = add_firing(a, r->rule, w);
    if (!alert)
        return 0;
    alert->severity = event->severity;
    alert->since_ns = event->wall_ns;
    snprintf(alert->text, sizeof(alert->text), "%s", event->text);
    snprintf(alert->action, sizeof(alert->action), "%s", event->action);
    a->n_firing++;
    w->firing = true; /* its begin is not told: the event is there already */
    return 0;
}

static int take_events(struct alerts *a, struct tick *now)
{
    size_t n = now->n_events; /* without those that are added here */
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i++) {
        const struct event event = now->events[i];

        if ((event.severity < SEVERITY_WARNING && !event.over) || !strcmp(event.kind, "alert"))
            continue;
        for (size_t k = 0; k < a->count; k++)
            if (rule_takes(a->list[k].rule, event.kind)) {
                if (!is_past(&event, a->list[k].rule, now))
                    rc = take_event(a, &a->list[k], &event, now);
                break;
            }
    }
    return rc;
}

/* Alerts of events that have stayed for their time. */
static void end_old(struct alerts *a, struct ruled *r, struct tick *now)
{
    for (size_t i = 0; i < r->n_watches; i++) {
        struct watch *w = &r->watches[i];

        if (w->firing && now->monotonic_ns - w->since_ns >= r->rule->keep_ns)
            end_alert(a, r->rule, w, now);
        w->used = w->firing;
    }
}

int alerts_step(struct alerts *a, const struct tick *before, struct tick *now)
{
    struct expr_sets sets;
    int rc = 0;

    a->dropped = 0;
    expr_index(&sets, now);
    rc = take_events(a, now);
    for (size_t i = 0; i < a->count && rc == 0; i++) {
        if (a->list[i].rule->event)
            end_old(a, &a->list[i], now);
        else
            rc = step_rule(a, &a->list[i], before, now, &sets);
    }
    return rc;
}

const struct alert *alerts_firing(const struct alerts *a, size_t *n)
{
    *n = a->n_firing;
    return a->firing;
}

/* What fault it is, as a label: the number of an XID and its like, else the kind of event; "" of a
 * rule that has a condition. */
static void add_code(const struct alert *alert, char code[SIGNAL_THING])
{
    code[0] = '\0';
    if (alert->code >= 0)
        snprintf(code, SIGNAL_THING, "%d", alert->code);
    else if (alert->kind)
        snprintf(code, SIGNAL_THING, "%s", alert->kind);
}

int alerts_rows(const struct alerts *a, struct tick *t)
{
    for (size_t i = 0; i < a->n_firing; i++) {
        const struct alert *alert = &a->firing[i];
        struct signal_row *row;
        char id[3 * SIGNAL_THING], code[SIGNAL_THING], number[16] = "";

        add_code(alert, code);
        if (alert->number)
            snprintf(number, sizeof(number), "/%u", alert->number + 1);
        snprintf(id, sizeof(id), "%s%s%s%s%s%s", alert->rule->name, *code ? "/" : "", code,
                 *alert->thing ? "/" : "", alert->thing, number);
        row = tick_add(t, &alert_set, id);
        if (!row)
            return -ENOMEM;
        row->values[0] = 1;
        tick_fact(row, FACT_ALERT, alert->rule->name);
        tick_fact(row, FACT_THING, alert->thing);
        tick_fact(row, FACT_SEVERITY, severity_text(alert->severity));
        tick_fact(row, FACT_CODE, code);
    }
    return 0;
}

size_t alerts_dropped(const struct alerts *a)
{
    return a->dropped;
}

static const struct signal_def alert_defs[] = {
    { "firing", "1 while the alert fires", SIGNAL_GAUGE },
};
static const char *const alert_facts[] = { [FACT_ALERT] = "alert",
                                           [FACT_THING] = "thing",
                                           [FACT_SEVERITY] = "severity",
                                           [FACT_CODE] = "code",
                                           NULL };

const struct signal_set alert_set = {
    .name = "alert",
    .thing = "id",
    .defs = alert_defs,
    .n_defs = ARRAY_SIZE(alert_defs),
    .facts = alert_facts,
    .facts_on_samples = true,
};
