/* Who goes first: keys of jobs, by which a smaller one goes ahead. */
#ifndef BRIM_SCHED_CORE_ORDER_H
#define BRIM_SCHED_CORE_ORDER_H
#include "sched/policy/policy.h"
#include "sched/core/sched_job.h"

struct order_ops {
    const char *name;
    const char *what;  /* "was submitted first": behind "it" in reasons */
    bool needs_length; /* makes no sense when nothing is known of how long jobs take */
    bool needs_users;  /* rank comes from what users have had */
    bool by_deadline;  /* and from whether a job can meet its own (deadline.h) */
    /* Set rank and value of a key. */
    void (*key)(const struct policy *p, const struct work *w, const struct sched_job *j,
                int64_t now_ms, struct order_key *ret);
    /* Optional: how long a running job keeps its rank; WORK_UNKNOWN: until it ends. */
    int64_t (*keeps_ms)(const struct policy *p, const struct work *w, const struct sched_job *j,
                        int64_t now_ms);
    /* Optional: by how much the value of a running job falls in a millisecond. */
    int64_t (*falls)(const struct work *w);
};

/* The order of that name; NULL. Their names, NULL behind the last. */
const struct order_ops *order_named(const char *name);
const char *order_name_at(size_t i);

#endif
