/* What a policy asks for on a cluster that Slurm schedules: jobs that hold accelerators and keep
 * them idle are told, and give way to jobs that wait for these. The scheduler of src/sched decides,
 * as in brim sim; who starts on what is free stays Slurm's decision. Made anew each cycle. Pure. */
#ifndef BRIM_CONTROL_PLAN_H
#define BRIM_CONTROL_PLAN_H
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

enum control_step_kind {
    CONTROL_WARN,    /* tell its owner */
    CONTROL_REQUEUE, /* it waits again, for the job 'other' */
};

enum { CONTROL_TEXT = 256, CONTROL_NONE = 0xffffffff };

struct control_step {
    uint8_t kind;            /* enum control_step_kind */
    uint32_t job;            /* numbers in the site */
    uint32_t other;          /* who gets its devices; CONTROL_NONE */
    int32_t devices;         /* that it has */
    char text[CONTROL_TEXT]; /* why, in a sentence */
};

struct control_plan {
    struct arena arena;
    struct control_step *steps;
    size_t n;
};

/* Decide. 0 or -ENOMEM, or what sched_open() says. */
int control_plan_make(struct control_plan *ret, const struct control_scene *scene, struct err *e)
    CHECK_RESULT;
void control_plan_done(struct control_plan *p);

/* Whether brim control carries a policy out: it is a section [idle] that warns or requeues, and
 * says nothing of what Slurm decides itself. -EINVAL with a sentence that names the part. */
int control_policy_check(const struct policy *p, struct err *e) CHECK_RESULT;

#endif
