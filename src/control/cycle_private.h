/* What the files of a cycle share. */
#ifndef BRIM_CONTROL_CYCLE_PRIVATE_H
#define BRIM_CONTROL_CYCLE_PRIVATE_H
#include "control/cycle.h"

struct cycle {
    const struct cycle_config *config;
    struct site site;
    bool known;                 /* there is one */
    struct control_seen *seen;  /* by number of the job */
    struct control_node *nodes; /* by number of the node */
    int64_t now_ms;
};

/* See what became of those that were being carried out when their control ended (carry.c). */
int carry_settle(struct cycle *c, struct err *e) CHECK_RESULT;

/* Carry out, propose or say the steps of a plan; those proposed before that are not among them any
 * more are stale. */
int carry_steps(struct cycle *c, const struct control_plan *plan, struct cycle_view *view,
                struct err *e) CHECK_RESULT;

#endif
