/* Alert rules in the language of Prometheus. */
#ifndef BRIM_DIAGNOSE_ALERTS_PROMQL_H
#define BRIM_DIAGNOSE_ALERTS_PROMQL_H
#include "base/str.h"
#include "diagnose/alerts/rules.h"

/* The condition of a rule, over the metrics of brim agents: rate() is over a minute, and what is
 * told apart by its labels is compared within one instance. */
void promql_add(const struct rule *r, struct str *out);

/* A rule file for Prometheus: every rule that has a condition, and one, "fault", for what agents
 * make of events. file: where they stand, for its head. */
void promql_rules(const struct rules *rules, const char *file, struct str *out);

#endif
