/* Where brim control learns how busy devices are: from the agents of their nodes, or from the
 * site's Prometheus. */
#ifndef BRIM_CMD_CONTROL_SOURCE_H
#define BRIM_CMD_CONTROL_SOURCE_H
#include "control/source/gather.h"
#include "control/source/prometheus_ask.h"

/* As the command line has it. */
struct source_opts {
    const char *prometheus, *query, *login; /* its address, an expression, a file; NULL */
    const char *token;                      /* of agents: a file; NULL */
    unsigned port;
    int64_t patience_ns;
};

/* {0} is empty. */
struct source {
    struct arena arena;
    struct str token, login;
    struct gather *gather;
    struct prometheus_place place;
    struct prometheus_answers answers;
    struct prometheus_config prometheus; /* without a place: agents are asked */
};

/* 0, ERR_USAGE, or a negative errno with a sentence. source_done() in any case. */
int source_open(struct source *s, const struct source_opts *o, const struct clock *clock,
                struct err *e) CHECK_RESULT;

/* As gather_ask(). */
int source_ask(struct source *s, const struct site *site, const bool *which,
               const struct node_answer **of, struct err *e) CHECK_RESULT;
void source_done(struct source *s);

#endif
