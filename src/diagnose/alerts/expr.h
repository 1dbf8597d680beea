/* Expressions of alert rules: a subset of PromQL, so that a rule means the same in the agent, which
 * looks at two ticks, and in Prometheus.
 *
 *     rate(read_seconds_total) / rate(reads_total) > 0.05 and io_now > 2
 *     sm_clock_hertz < 0.9 * peers(sm_clock_hertz) and gpu.busy_ratio > 0.5
 *
 * One comparison (> < >= <= ==), or several joined by "and". In it + - * / and parentheses,
 * numbers, and:
 *
 *     NAME                 a signal of the rule's set, of the thing that is looked at
 *     NAME{mode="idle"}    the one with that label; in a set of things that the rule is not by, the
 *                          label may be the thing's: waiting_share{resource="io"}
 *     SET.NAME             a signal of another set, of the same thing
 *     SET:NAME             a signal of another set that the host has one of
 *     rate(SIGNAL)         its growth per second
 *     increase(SIGNAL,10m) its growth in that time
 *     peers(...)           the median over the things of the set on this node, of 3 at least
 *     past(...)            the mean of this thing over about the last hour, after 10 minutes
 *
 * Absent in, absent out: a comparison with something absent does not hold. */
#ifndef BRIM_DIAGNOSE_ALERTS_EXPR_H
#define BRIM_DIAGNOSE_ALERTS_EXPR_H
#include <stdbool.h>

#include "base/err.h"
#include "model/signal/signal.h"

enum {
    EXPR_CODE_MAX = 96,
    EXPR_SIGNALS_MAX = 16,
    EXPR_DEPTH_MAX = 16, /* of values waiting, and of parentheses */
    EXPR_PEERS_MAX = 4,
    EXPR_THINGS_MAX = 64 /* things that a rule looks at, and that peers() is a median of */
};

enum expr_op {
    EXPR_NUMBER,
    EXPR_VALUE,
    EXPR_RATE,
    EXPR_INCREASE,
    EXPR_NEGATE,
    EXPR_ADD,
    EXPR_SUBTRACT,
    EXPR_MULTIPLY,
    EXPR_DIVIDE,
    EXPR_GREATER,
    EXPR_LESS,
    EXPR_AT_LEAST,
    EXPR_AT_MOST,
    EXPR_EQUAL,
    EXPR_AND,
    EXPR_PEERS, /* of the block behind it, which ends at 'end' */
    EXPR_PAST
};

/* What a part of an expression has one of. */
enum expr_scope { EXPR_CONSTANT, EXPR_HOST, EXPR_THING };

struct expr_signal {
    const char *set, *name;
    const char *label;      /* mode="idle"; NULL */
    const char *key, *text; /* its parts: mode, idle; NULL */
    enum expr_scope scope;
};

/* Operators stand behind what they take; the two with a block stand before it. */
struct expr_code {
    enum expr_op op;
    enum expr_scope scope; /* of the result */
    double number;         /* EXPR_NUMBER; EXPR_INCREASE: the window in seconds */
    size_t signal;         /* of EXPR_VALUE, EXPR_RATE, EXPR_INCREASE */
    size_t end;            /* of a block */
    size_t slot;           /* which of the peers, pasts or windows of the expression */
};

struct expr {
    struct expr_code *code;
    size_t n_code;
    struct expr_signal *signals;
    size_t n_signals;
    size_t n_peers, n_pasts, n_windows;
};

/* Read an expression over a set; by: it is evaluated for each thing of the set, else once. All of
 * it lives in a. -EINVAL with a sentence, -ENOMEM. */
int expr_parse(struct expr *ret, struct arena *a, const char *text, const char *set, bool by,
               struct err *e) CHECK_RESULT;

/* Where the rows of each set are in a tick. */
enum { EXPR_SETS_MAX = 64 };

struct expr_sets {
    size_t n;
    struct expr_rows {
        const struct signal_row *rows;
        size_t n;
    } list[EXPR_SETS_MAX];
};

void expr_index(struct expr_sets *sets, const struct tick *t);

/* Where a signal of an expression is found: in which rows, and which value of them. */
struct expr_place {
    const struct signal_set *set; /* NULL: not in this build */
    size_t value;
    bool selected; /* the label is the thing's */
    struct expr_rows at;
};

/* The two ticks, as one expression sees them. */
struct expr_view {
    const struct tick *before, *now;
    struct expr_place *places;    /* of its signals */
    struct expr_rows things;      /* of the rule's set; none when it is not by thing */
    double peers[EXPR_PEERS_MAX]; /* medians */
};

/* Find the signal in its set: false when the set does not have it, or has things and the signal
 * says none. */
bool expr_find(const struct expr_signal *s, const struct signal_set *set, struct expr_place *ret);

/* Find all signals of x in the rows of now, and take the medians that it needs. places has room for
 * them, and keeps from call to call what need not be looked up again. */
void expr_look(const struct expr *x, struct expr_view *view, const struct expr_sets *sets);

/* Bytes that an expression remembers of one thing from tick to tick; they start as zeros. */
size_t expr_memory(const struct expr *x);

/* Whether the condition holds for a thing (row: one of view->things; NULL when it is not by thing),
 * and in *value what the first comparison has on its left. before may be NULL in the view. */
bool expr_holds(const struct expr *x, const struct expr_view *view, const struct signal_row *row,
                void *memory, double *value);

#endif
