/* Nodes that are not fit for jobs, by what their agents say: nothing more starts there, jobs on
 * what is broken start again elsewhere, and a node that has recovered serves again, unless this
 * happens too often. Only what brim drained is given back. Pure. */
#ifndef BRIM_CONTROL_FAULTS_H
#define BRIM_CONTROL_FAULTS_H
#include "control/step.h"
#include "control/watch.h"
#include "model/site/site.h"

enum {
    CONTROL_OFTEN = 3, /* drained so many times in a week, it stays so */
    CONTROL_WEEK_MS = 7 * 24 * 3600000,
};

/* What was seen of a node. */
struct control_node {
    int64_t unfit_ms; /* since when it is not fit; 0: it never was, or it serves again since */
    int64_t fit_ms;   /* after that: since when all is well again, without a break; 0: it is not */
    int32_t drains;   /* how often brim drained it in the last week */
};

/* Take in what an agent says; NULL: it was not asked, or says nothing that is new. True: *n is
 * another than before. */
bool control_node_note(struct control_node *n, const struct site_node *node,
                       const struct node_answer *answer, int64_t now_ms);

struct control_faults {
    const struct site *site;
    const struct control_node *nodes; /* by number */
    struct control_answers answers;
    int64_t back_ms; /* a node is to be well for so long before it serves again */
};

/* Add what is to be done. 0 or -ENOMEM. */
int control_faults_add(struct control_plan *plan, const struct control_faults *f) CHECK_RESULT;

/* Whether a node is out of service by brim, and stays so: it was drained too often. */
bool control_node_stays(const struct control_node *n, const struct site_node *node);

#endif
