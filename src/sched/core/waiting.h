/* Jobs that wait: in order, by groups of those that need the same, so that what does not fit is
 * passed over at once. A treap per group; each of its nodes knows the shortest job below it, and
 * how many there are. */
#ifndef BRIM_SCHED_CORE_WAITING_H
#define BRIM_SCHED_CORE_WAITING_H
#include "sched/core/sched_job.h"

enum { WAITING_NONE = UINT32_MAX };

struct waiting_node {
    struct order_key key;
    int64_t length, shortest; /* of this job, of all below it */
    uint32_t left, right;     /* jobs */
    uint32_t size;            /* jobs from here down */
};

struct waiting {
    struct waiting_node *nodes; /* by job */
    uint32_t *roots;            /* by group */
};

/* Room for jobs and groups, in the arena. -ENOMEM. */
int waiting_init(struct waiting *q, struct arena *a, size_t n_jobs, size_t n_groups) CHECK_RESULT;

/* Put in a job that is not there; take out one that is. */
void waiting_add(struct waiting *q, uint32_t group, uint32_t job, const struct order_key *key,
                 int64_t length);
void waiting_remove(struct waiting *q, uint32_t group, uint32_t job);

/* The first job of a group behind a key (NULL: of all) that is not longer than longest;
 * WAITING_NONE. */
uint32_t waiting_next(const struct waiting *q, uint32_t group, const struct order_key *after,
                      int64_t longest);

/* How many jobs of a group are before a key. */
uint32_t waiting_before(const struct waiting *q, uint32_t group, const struct order_key *key);

#endif
