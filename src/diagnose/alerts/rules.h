/* Alert rules: data/alerts.ini, and files of the same form.
 *
 *     [disk-slow]
 *     set = disk                  what "when" is over
 *     by = device                 the set's thing: looked at one by one; without it, the host
 *     when = ... > 0.05           see diagnose/alerts/expr.h
 *     for = 30s                   how long it must hold before the alert begins
 *     severity = warning          note, warning, critical
 *     drain = yes                 while it fires, jobs are not to start on the node
 *     say = disk {thing} takes {value:seconds} for a request
 *     why = what it means
 *     action = what to do
 *     source = who published the threshold
 *
 * A rule with "event = KIND ..." in place of set, by, when, for and say makes alerts of events of
 * these kinds, "*" for all, that stay for the time in "keep"; say, severity and action are the
 * event's own; with "drain = yes" those that are critical count. Of several such rules the first
 * that knows the kind counts. */
#ifndef BRIM_DIAGNOSE_ALERTS_RULES_H
#define BRIM_DIAGNOSE_ALERTS_RULES_H
#include "base/str.h"
#include "diagnose/alerts/expr.h"
#include "model/signal/severity.h"

enum { RULES_MAX = 256 };

struct rule {
    const char *name;
    int line; /* of its section */
    const char *set, *by;
    const char *text; /* of "when" */
    struct expr when; /* no code: a rule for events */
    const char *event;
    int64_t for_ns, keep_ns;
    enum severity severity;
    bool drain; /* nothing is to start on a node with a critical alert of it */
    const char *say, *why, *action, *source; /* "" when left out */
};

struct rules {
    struct arena arena;
    struct rule *list;
    size_t count;
};

/* Read rules. 0, -ENOMEM, or -EINVAL with "FILE:LINE: why". */
int rules_load(struct rules *ret, const char *file, const char *text, size_t len, struct err *e)
    CHECK_RESULT;
void rules_done(struct rules *r);

/* How {value:NAME} is written. */
struct rule_format {
    const char *name;
    const char *prometheus; /* the same in a template of Prometheus */
    void (*add)(struct str *out, double value);
};

/* One piece of a template: plain text, or a placeholder. */
struct rule_piece {
    const char *text; /* plain, of len bytes; NULL: a placeholder */
    size_t len;
    const struct rule_format *format; /* NULL: the thing */
};

/* The next piece of a template at *at, which is moved behind it: 1, 0 at the end, -EINVAL when
 * something in braces is no placeholder. */
int rule_next_piece(const char **at, struct rule_piece *ret);

/* A rule's sentence about a thing. */
void rule_say(const char *template, const char *thing, double value, struct str *out);

/* Whether a rule for events takes this kind. */
bool rule_takes(const struct rule *r, const char *kind);

#endif
