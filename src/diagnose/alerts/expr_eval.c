/* Expressions over two ticks. */
#include <assert.h>
#include <string.h>

#include "diagnose/alerts/expr.h"
#include "base/clock.h"
#include "model/signal/rate.h"

/* past(): the mean weighs what is an hour old e times less than now; before an hour has passed it
 * is the plain mean. It says nothing before it knows 10 minutes. */
#define PAST_NS (3600 * NS_PER_S)
#define PAST_LEAST_NS (600 * NS_PER_S)

enum { PEERS_LEAST = 3, WINDOW_SLOTS = 16 };

struct past {
    double mean;
    int64_t first_ns, last_ns;
    bool known;
};

/* A counter's values over the time of an increase(), oldest first. */
struct window {
    int64_t at_ns[WINDOW_SLOTS];
    double values[WINDOW_SLOTS];
    double last; /* of the tick before */
    size_t n;
};

struct evaluation {
    const struct expr *x;
    const struct expr_view *view;
    const struct signal_row *row;
    struct past *pasts; /* NULL in peers() */
    struct window *windows;
    double value; /* left of the first comparison */
    bool compared;
};

void expr_index(struct expr_sets *sets, const struct tick *t)
{
    sets->n = 0;
    for (size_t r = 0; r < t->n_rows; r++) {
        struct expr_rows *last = sets->n ? &sets->list[sets->n - 1] : NULL;

        if (last && last->rows->set == t->rows[r].set)
            last->n++;
        else if (sets->n < EXPR_SETS_MAX)
            sets->list[sets->n++] = (struct expr_rows){ &t->rows[r], 1 };
        else
            return;
    }
}

bool expr_find(const struct expr_signal *s, const struct signal_set *set, struct expr_place *ret)
{
    struct expr_place place = { .set = set, .value = signal_index(set, s->name, s->label) };

    if (place.value == set->n_defs && s->label && s->scope == EXPR_HOST && set->thing &&
        !strcmp(set->thing, s->key)) {
        place.value = signal_index(set, s->name, NULL);
        place.selected = true;
    }
    if (place.value == set->n_defs || (s->scope == EXPR_THING) != (set->thing && !place.selected))
        return false;
    *ret = place;
    return true;
}

/* The rows of the signal's set; looked up by name only when the set is not the one of last time. */
static void find_rows(const struct expr_signal *s, const struct expr_sets *sets,
                      struct expr_place *place)
{
    for (size_t i = 0; place->set && i < sets->n; i++)
        if (sets->list[i].rows->set == place->set) {
            place->at = sets->list[i];
            return;
        }
    *place = (struct expr_place){ .set = NULL };
    for (size_t i = 0; i < sets->n; i++)
        if (!strcmp(sets->list[i].rows->set->name, s->set)) {
            if (expr_find(s, sets->list[i].rows->set, place))
                place->at = sets->list[i];
            return;
        }
}

/* The row that a signal is read from; NULL when there is none. */
static const struct signal_row *row_of(const struct evaluation *ev, size_t signal)
{
    const struct expr_signal *s = &ev->x->signals[signal];
    const struct expr_place *place = &ev->view->places[signal];
    const char *thing = ev->row ? ev->row->thing : "";
    size_t guess;

    if (!place->set)
        return NULL;
    if (s->scope == EXPR_THING) {
        if (!ev->row)
            return NULL;
        if (ev->row->set == place->set)
            return ev->row;
    }
    if (s->scope == EXPR_HOST)
        thing = place->selected ? s->text : "";
    /* sets of one kind of thing mostly have them in one order */
    guess = ev->row ? (size_t)(ev->row - ev->view->things.rows) : 0;
    if (guess < place->at.n && !strcmp(place->at.rows[guess].thing, thing))
        return &place->at.rows[guess];
    for (size_t i = 0; i < place->at.n; i++)
        if (!strcmp(place->at.rows[i].thing, thing))
            return &place->at.rows[i];
    return NULL;
}

static double increase(struct window *w, int64_t now_ns, double seconds, double value)
{
    int64_t length_ns = clock_ns(seconds), step_ns = length_ns / (WINDOW_SLOTS - 1);
    size_t old = 0;

    if (isnan(value))
        return value;
    if (w->n && value < w->last) /* counted anew */
        w->n = 0;
    w->last = value;
    while (old < w->n && w->at_ns[old] < now_ns - length_ns)
        old++;
    if (old == 0 && w->n == WINDOW_SLOTS)
        old = 1;
    w->n -= old;
    memmove(w->at_ns, w->at_ns + old, w->n * sizeof(*w->at_ns));
    memmove(w->values, w->values + old, w->n * sizeof(*w->values));
    if (w->n == 0 || now_ns - w->at_ns[w->n - 1] >= step_ns) {
        w->at_ns[w->n] = now_ns;
        w->values[w->n++] = value;
    }
    return value - w->values[0];
}

static double past(struct past *p, int64_t now_ns, double value)
{
    double age, step;

    if (!p)
        return (double)NAN;
    if (!isnan(value) && !isinf(value) && p->known && now_ns > p->last_ns) {
        age = (double)MIN(p->last_ns - p->first_ns, PAST_NS) + 1;
        step = (double)(now_ns - p->last_ns);
        p->mean += (value - p->mean) * step / (age + step);
        p->last_ns = now_ns;
    } else if (!isnan(value) && !isinf(value) && !p->known) {
        *p = (struct past){ value, now_ns, now_ns, true };
    }
    return p->known && p->last_ns - p->first_ns >= PAST_LEAST_NS ? p->mean : (double)NAN;
}

static double read_signal(const struct evaluation *ev, const struct expr_code *c)
{
    const struct signal_row *row = row_of(ev, c->signal);
    size_t value = ev->view->places[c->signal].value;
    const struct expr_view *view = ev->view;

    if (!row || (c->op == EXPR_INCREASE && !ev->windows))
        return (double)NAN;
    if (c->op == EXPR_VALUE)
        return row->values[value];
    if (c->op == EXPR_INCREASE)
        return increase(&ev->windows[c->slot], view->now->monotonic_ns, c->number,
                        row->values[value]);
    return view->before ? signal_rate(view->before, view->now, row, value) : (double)NAN;
}

static double calculate(enum expr_op op, double a, double b)
{
    switch (op) {
    case EXPR_ADD:
        return a + b;
    case EXPR_SUBTRACT:
        return a - b;
    case EXPR_MULTIPLY:
        return a * b;
    case EXPR_DIVIDE:
        return a / b;
    case EXPR_GREATER:
        return a > b;
    case EXPR_LESS:
        return a < b;
    case EXPR_AT_LEAST:
        return a >= b;
    case EXPR_AT_MOST:
        return a <= b;
    case EXPR_EQUAL:
        return a == b;
    default: /* EXPR_AND */
        return a != 0 && b != 0;
    }
}

/* The value that the instructions from 'at' to 'end' leave. */
static double evaluate(struct evaluation *ev, size_t at, size_t end)
{
    double stack[EXPR_DEPTH_MAX + 1] = { 0 };
    size_t n = 0;

    while (at < end) {
        const struct expr_code *c = &ev->x->code[at++];

        if (c->op == EXPR_NUMBER) {
            stack[n++] = c->number;
        } else if (c->op <= EXPR_INCREASE) {
            stack[n++] = read_signal(ev, c);
        } else if (c->op == EXPR_NEGATE) {
            assert(n > 0);
            stack[n - 1] = -stack[n - 1];
        } else if (c->op == EXPR_PEERS) {
            stack[n++] = ev->view->peers[c->slot];
            at = c->end;
        } else if (c->op == EXPR_PAST) {
            stack[n++] = past(ev->pasts ? &ev->pasts[c->slot] : NULL, ev->view->now->monotonic_ns,
                              evaluate(ev, at, c->end));
            at = c->end;
        } else {
            assert(n > 1);
            n--;
            if (c->op >= EXPR_GREATER && !ev->compared) {
                ev->compared = true;
                ev->value = stack[n - 1];
            }
            stack[n - 1] = calculate(c->op, stack[n - 1], stack[n]);
        }
    }
    return stack[0];
}

/* Insert into the sorted list of n. */
static void insert(double *sorted, size_t n, double value)
{
    while (n > 0 && sorted[n - 1] > value) {
        sorted[n] = sorted[n - 1];
        n--;
    }
    sorted[n] = value;
}

static double median(struct evaluation *ev, size_t begin, size_t end)
{
    double sorted[EXPR_THINGS_MAX];
    size_t n = 0;

    for (size_t i = 0; i < ev->view->things.n && n < EXPR_THINGS_MAX; i++) {
        double value;

        ev->row = &ev->view->things.rows[i];
        value = evaluate(ev, begin, end);
        if (!isnan(value))
            insert(sorted, n++, value);
    }
    if (n < PEERS_LEAST)
        return (double)NAN;
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

void expr_look(const struct expr *x, struct expr_view *view, const struct expr_sets *sets)
{
    struct evaluation ev = { .x = x, .view = view };

    for (size_t i = 0; i < x->n_signals; i++)
        find_rows(&x->signals[i], sets, &view->places[i]);
    for (size_t i = 0; i < x->n_code; i++)
        if (x->code[i].op == EXPR_PEERS)
            view->peers[x->code[i].slot] = median(&ev, i + 1, x->code[i].end);
}

size_t expr_memory(const struct expr *x)
{
    return x->n_pasts * sizeof(struct past) + x->n_windows * sizeof(struct window);
}

bool expr_holds(const struct expr *x, const struct expr_view *view, const struct signal_row *row,
                void *memory, double *value)
{
    struct evaluation ev = { .x = x, .view = view, .row = row, .value = (double)NAN };
    bool holds;

    ev.pasts = memory;
    ev.windows = memory ? (struct window *)(void *)((struct past *)memory + x->n_pasts) : NULL;
    holds = evaluate(&ev, 0, x->n_code) != 0;
    *value = ev.value;
    return holds;
}
