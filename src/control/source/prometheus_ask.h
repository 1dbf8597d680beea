/* Asks Prometheus, once for all nodes, and waits for its answer. What is wrong with it is a
 * sentence of each node, as an agent that does not answer: nothing is known of its devices then. */
#ifndef BRIM_CONTROL_SOURCE_PROMETHEUS_ASK_H
#define BRIM_CONTROL_SOURCE_PROMETHEUS_ASK_H
#include "base/clock.h"
#include "control/source/prometheus.h"

/* All that is pointed to is borrowed. */
struct prometheus_config {
    const struct prometheus_place *place;
    const char *query;   /* an expression: a series for each GPU; PROMETHEUS_QUERY_MAX bytes */
    const char *login;   /* the header Authorization; NULL: none is sent */
    int64_t patience_ns; /* for the answer */
    const struct clock *clock;
};

/* {0} is empty. */
struct prometheus_answers {
    struct arena arena;
};

/* As gather_ask(): those nodes have an answer, others NULL; what 'of' is set to stays until the
 * next call. Only memory, or a loop of this machine that cannot be made, is an error. */
int prometheus_ask(struct prometheus_answers *p, const struct prometheus_config *config,
                   const struct site *site, const bool *which, const struct node_answer **of,
                   struct err *e) CHECK_RESULT;
void prometheus_answers_done(struct prometheus_answers *p);

/* The header of what is in a token file: "Bearer TOKEN", or of "USER:PASSWORD" "Basic ...". 0, or
 * -EINVAL with a sentence. */
int prometheus_login(const char *token, struct str *out, struct err *e) CHECK_RESULT;

#endif
