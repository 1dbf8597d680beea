/* The agent: one per node. Samples at an interval, judges and stores what was measured, serves
 * metrics and the dashboard. One loop thread; the store and drivers have threads of their own. */
#ifndef BRIM_DAEMON_AGENT_H
#define BRIM_DAEMON_AGENT_H
#include "base/clock.h"
#include "base/err.h"
#include "daemon/run_folders.h"
#include "diagnose/alerts/rules.h"
#include "model/nodes/node_list.h"
#include "store/store.h"

struct agent_config {
    const struct clock *clock;
    const char *host;
    const char *listen; /* "127.0.0.1:9410" */
    const char *token;  /* NULL: loopback addresses only */
    const char *user;   /* whose account it runs under; NULL: that of who starts it */
    int64_t interval_ns;
    int64_t silence_ns;            /* see http_config */
    const struct rules *rules;     /* of alerts */
    struct run_folders runs;       /* of finished runs that are served */
    const struct node_list *nodes; /* that are asked while somebody looks at them; may be empty */
    const char *nodes_token;       /* that is sent to them; NULL: none */
    const char *store;             /* path of the database; NULL: none */
    struct store_config keep;
    bool compat;      /* metrics under the names of other exporters, too */
    const char *fake; /* script of accelerators that are not there; NULL */
    const char *root; /* folder with the kernel's files of another machine; NULL: of this one */
    void (*ready)(void *arg, const char *where); /* called once, when it listens there */
    void *arg;
};

/* Run until SIGTERM or SIGINT. 0, or a negative errno with a sentence. */
int agent_run(const struct agent_config *config, struct err *e) CHECK_RESULT;

#endif
