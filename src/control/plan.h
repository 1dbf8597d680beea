/* What a policy asks for on a cluster that Slurm schedules: jobs that hold accelerators and keep
 * them idle are told, and give way to jobs that wait for these. The scheduler of src/sched decides,
 * as in brim sim; who starts on what is free stays Slurm's decision. Made anew each cycle. Pure. */
#ifndef BRIM_CONTROL_PLAN_H
#define BRIM_CONTROL_PLAN_H
#include "control/step.h"
#include "model/job/bursts.h"
#include "model/site/site.h"
#include "sched/policy/policy.h"

/* What was seen of a job of the site. */
struct control_seen {
    struct bursts bursts; /* n 0: nobody has looked yet */
    int64_t told_ms;      /* that its owner was told of its idle devices; 0 */
};

struct control_scene {
    const struct site *site;
    const struct policy *policy;
    const struct control_seen *seen; /* by number of the job in the site */
    int64_t now_ms;
};

/* Decide. 0 or -ENOMEM, or what sched_open() says. */
int control_plan_make(struct control_plan *ret, const struct control_scene *scene, struct err *e)
    CHECK_RESULT;
void control_plan_done(struct control_plan *p);

/* Whether brim control carries a policy out: it is a section [idle] that warns or requeues, and
 * says nothing of what Slurm decides itself. -EINVAL with a sentence that names the part. */
int control_policy_check(const struct policy *p, struct err *e) CHECK_RESULT;

#endif
