/* How busy the devices of jobs are, by what the agents of their nodes say. Pure. */
#ifndef BRIM_CONTROL_WATCH_H
#define BRIM_CONTROL_WATCH_H
#include "control/plan.h"
#include "model/nodes/node_answer.h"

/* What is older says nothing of now. */
enum { CONTROL_STALE_MS = 60000 };

/* The answers of agents, by number of the node in the site; NULL: its agent was not asked. */
struct control_answers {
    const struct node_answer *const *of;
    int64_t now_ms;
};

/* What a node's agent says; NULL: nothing that is of now. */
const struct node_report *control_report(const struct control_answers *answers, uint32_t node);

/* How busy a job keeps its devices, in thousandths, in the mean over them; -1: of one of them
 * nobody tells, or it has none. */
int control_busy(const struct site *site, const struct site_job *j,
                 const struct control_answers *answers);

/* The same of one of a node's devices, 0 to 1; NaN: nobody tells. */
double control_device_busy(const struct control_answers *answers, uint32_t node, unsigned device);

/* "no agent answers for node n1", "nothing is known of GPU 3 of node n1": why the above is -1; ""
 * where it is not. */
void control_blind(const struct site *site, const struct site_job *j,
                   const struct control_answers *answers, struct str *out);

#endif
