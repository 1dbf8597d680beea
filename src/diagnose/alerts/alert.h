/* Alerts: rules evaluated tick by tick. An alert of a rule and a thing is pending while its
 * condition holds, fires when it has held for the rule's time, and is over when it has not held for
 * half that time, 10 s at least: a condition that flickers makes one alert. Time is the ticks'
 * monotonic one. */
#ifndef BRIM_DIAGNOSE_ALERTS_ALERT_H
#define BRIM_DIAGNOSE_ALERTS_ALERT_H
#include "diagnose/alerts/rules.h"

enum { ALERTS_FIRING_MAX = 256 };

struct alert {
    const struct rule *rule;
    char thing[SIGNAL_THING]; /* "" for the host */
    const char *kind;         /* of the event, "oom"; NULL: the alert is of a condition */
    int code;                 /* of the event, -1: none */
    uint64_t event_text;      /* of an event without a code: which one */
    unsigned number;          /* among those of the same name, from 0 on */
    enum severity severity;
    int64_t since_ns; /* when it fired, since 1970 */
    double value;     /* left of the first comparison, now; NaN of events */
    char text[EVENT_TEXT];
    char action[EVENT_ACTION];
};

struct alerts;

/* rules is borrowed and must outlive the alerts. */
int alerts_new(struct alerts **ret, const struct rules *rules) CHECK_RESULT;
void alerts_free(struct alerts *a);
DEFINE_CLEANUP(struct alerts, alerts_free)

/* Go on to the next tick; before is NULL at the first. Adds to now an event of kind "alert" for
 * each alert that begins or is over. 0 or -ENOMEM, after which the next step goes on. */
int alerts_step(struct alerts *a, const struct tick *before, struct tick *now) CHECK_RESULT;

/* Those that fire, oldest first. Valid until the next step. */
const struct alert *alerts_firing(const struct alerts *a, size_t *n);

/* Add a row of the set "alert" for each that fires, called RULE/THING; of an event RULE/CODE/THING:
 * two faults of one GPU are two rows. Events without a code are told apart by what they say: the
 * second of a kind and thing is called RULE/KIND/THING/2. */
extern const struct signal_set alert_set;
int alerts_rows(const struct alerts *a, struct tick *t) CHECK_RESULT;

/* Alerts that were one too many since the last step. */
size_t alerts_dropped(const struct alerts *a);

#endif
