/* The jobs of a machine's queue as a scheduler sees them: made anew for each decision, since jobs
 * come, go and change in between. Pure. */
#ifndef BRIM_QUEUE_PLAN_H
#define BRIM_QUEUE_PLAN_H
#include "queue/job/pool.h"
#include "sched/sched.h"

/* One job, and whether it may start as far as the scheduler is not concerned. */
struct queue_item {
    const struct queue_job *job;
    bool ready;
};

/* What a plan is made of, all borrowed. */
struct queue_scene {
    const struct queue_pool *pool;
    const struct policy *policy;
    const struct queue_item *items; /* jobs that have not ended, in the order of their ids */
    size_t n;
};

struct queue_plan {
    struct queue_scene scene;
    struct policy policy; /* that of the scene, as the queue of a machine carries it out */
    struct arena arena;
    struct workload work;
    struct sched *sched;
    uint32_t *at;   /* by item: its number; WAITING_NONE when the scheduler does not have it */
    uint32_t *host; /* by item: the item whose devices it is on; UINT32_MAX: it has its own */
};

/* Make one. The scheduler borrows from *ret, which may not be moved. -ENOMEM, or what sched_open()
 * says. */
int queue_plan_make(struct queue_plan *ret, const struct queue_scene *scene, int64_t now_ms,
                    struct err *e) CHECK_RESULT;
void queue_plan_done(struct queue_plan *p);

/* The item that an action is about. */
size_t queue_plan_item(const struct queue_plan *p, uint32_t job);

/* Decide at a time; actions are in sched_actions(p->sched). *again_ms: when to ask again, INT64_MAX
 * when something happens. -ENOMEM. */
int queue_plan_pass(struct queue_plan *p, int64_t now_ms, int64_t *again_ms) CHECK_RESULT;

/* The slots that a job has after a pass. Whether it has some. */
void queue_plan_slots(const struct queue_plan *p, uint32_t job, char slots[QUEUE_SLOTS]);
bool queue_plan_runs(const struct queue_plan *p, uint32_t job);

/* Those of some slots that nobody has after a pass; how many CPUs nobody has beside them. */
int queue_plan_left(const struct queue_plan *p, const char *slots, char ret[QUEUE_SLOTS]);

/* Whether the policy fits the machine: shares of more devices than it has do not. 0, or what
 * sched_open() says. */
int queue_plan_check(const struct queue_pool *pool, const struct policy *policy, struct err *e)
    CHECK_RESULT;

/* Whether a job could start if nothing else were there. 1, 0 or -ENOMEM and the like. */
int queue_plan_possible(const struct queue_pool *pool, const struct policy *policy,
                        const struct queue_job *j, struct err *e) CHECK_RESULT;

/* When an item would start if all that run took their time limits and nothing else came: the time,
 * and its slots. INT64_MAX: nobody knows. The plan is used up. -ENOMEM. */
int queue_plan_foresee(struct queue_plan *p, size_t item, int64_t now_ms, int64_t *start_ms,
                       char slots[QUEUE_SLOTS]) CHECK_RESULT;

#endif
