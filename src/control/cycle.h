/* Policies on a cluster that Slurm schedules: reads what there is, asks the agents how busy devices
 * are, decides, and does it or says it. It may be killed at any moment: what it was about to do is
 * in the book, and the cluster tells the next one whether it happened. */
#ifndef BRIM_CONTROL_CYCLE_H
#define BRIM_CONTROL_CYCLE_H
#include "base/clock.h"
#include "control/book.h"
#include "control/modes.h"
#include "control/watch.h"
#include "model/site/deed.h"

/* Who schedules the cluster: src/slurm, or a test. As slurm_read() and slurm_act() return. */
struct cycle_engine {
    int (*read)(void *ctx, struct site *ret, struct err *e);
    int (*act)(void *ctx, const struct site_deed *deed, struct err *e);
    /* Ask the agents of those nodes: 'of' is by number of the node, NULL where
     * none was asked; what is set stays until the next call. */
    int (*ask)(void *ctx, const struct site *site, const bool *which, const struct node_answer **of,
               struct err *e);
    /* A job's owner is told something, by other ways than Slurm's. NULL: there are none. */
    void (*tell)(void *ctx, const struct site_job *j, const char *text);
    void *ctx;
};

struct cycle_config {
    struct cycle_engine engine;
    const struct policy *policy; /* that passed control_policy_check() */
    const struct clock *clock;
    struct control_book *book;
    enum control_mode mode[CONTROL_POLICIES];
    unsigned percent; /* of the jobs that hold devices, that are requeued in an hour, and of the
                         nodes, that are drained; at least one. 100: no limit */
    int64_t back_ms;  /* a node that was drained is to be well for so long before it serves again */
};

/* What a cycle found and did. */
struct cycle_view {
    size_t holding, idle, blind, waiting; /* jobs: that hold devices, of which they are idle, of
                                             which nobody tells; that wait for some */
    int64_t devices, held, idle_devices, waited; /* of all nodes; of those jobs */
    size_t unfit, kept; /* nodes: not fit for jobs by their agents; that stay drained, since it
                           happened too often */
    size_t done, failed, proposed, limited; /* steps; limited: enough was done this hour */
    size_t saving;                          /* jobs that were told to save, and have time to */
    size_t drained;                         /* in this cycle: there is more to do at once */
    bool stopped;                           /* by an operator */
    char unfit_why[CONTROL_TEXT];           /* "n3: GPU 2 is lost": of the first of them; "" */
    char blind_why[CONTROL_TEXT];           /* of the first of them; "" */
};

struct cycle;

int cycle_open(struct cycle **ret, const struct cycle_config *config, struct err *e) CHECK_RESULT;
void cycle_close(struct cycle *c);
DEFINE_CLEANUP(struct cycle, cycle_close)

/* One cycle. 0, or an error with a sentence: nothing is lost, and the next one begins anew. */
int cycle_run(struct cycle *c, struct cycle_view *ret, struct err *e) CHECK_RESULT;

/* The cluster of the last cycle, and what was seen of its jobs and nodes, by number. */
const struct site *cycle_site(const struct cycle *c);
const struct control_seen *cycle_seen(const struct cycle *c);
const struct control_node *cycle_nodes(const struct cycle *c);

#endif
