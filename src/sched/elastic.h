/* Elastic jobs: they can use more or fewer devices than they asked for. One that waits may start on
 * fewer; those that run give some to others that wait, and take more that nobody waits for. Each
 * resize costs them a start. For src/sched alone. */
#ifndef BRIM_SCHED_ELASTIC_H
#define BRIM_SCHED_ELASTIC_H
#include "base/ini.h"
#include "model/job/job_spec.h"
#include "sched/policy.h"
#include "sched/free_capacity.h"

struct sched;
struct action;

struct elastic_job {
    int64_t since_ms; /* it started, or was resized last */
    int64_t fresh_ms; /* what of its left_ms is a start that it has to pay yet */
    int32_t asked;    /* devices; 0: it is not elastic */
    uint32_t at;      /* in the list */
    uint64_t pass;    /* in which it was resized last */
    size_t action;    /* the number of that action */
};

/* One that may be resized in a pass. */
struct elastic_want {
    uint32_t job;
    int32_t devices, target; /* that it has; that it would have */
    double value;  /* giving: what a device less costs it; growing: what one more brings */
    uint32_t kept; /* its parts while it is tried with fewer */
    bool short_of; /* growing: it has fewer than it asked for */
};

struct elastic {
    struct elastic_job *jobs; /* NULL: no job is elastic, or there is no [elastic] */
    struct workload seen;     /* the workload where devices are those that jobs have */
    struct work *now;         /* its jobs */
    uint32_t *list;           /* elastic jobs that run */
    size_t n;
    int64_t spare; /* devices that those might give, when the pass began */
    struct elastic_want *wants;
    struct fit keep;
    uint64_t pass;
};

/* A key of [elastic], or its head; whether all fits together. -EINVAL with a sentence. */
int elastic_take(struct policy_elastic *p, const struct ini_entry *at, struct err *e) CHECK_RESULT;
int elastic_check(const struct policy *p, const char *file, struct err *e) CHECK_RESULT;

/* Let the scheduler see a workload of its own where jobs are elastic. -ENOMEM, or -EINVAL with a
 * sentence. */
int elastic_open(struct sched *s, struct err *e) CHECK_RESULT;

/* What a job asked for, elastic or not. */
int32_t elastic_asked(const struct sched *s, uint32_t job);

/* The next number of devices above (below) one that an elastic job can have; 0: there is none. On
 * one node any, on several whole nodes, what it asked for, and its limits. */
int32_t elastic_above(const struct sched *s, uint32_t job, int32_t devices);
int32_t elastic_below(const struct sched *s, uint32_t job, int32_t devices);

/* What a resize costs a job. */
int64_t elastic_cost(const struct sched *s, uint32_t job, int32_t from, int32_t to);

/* An elastic job that waits would have so many devices. */
void elastic_set(struct sched *s, uint32_t job, int32_t devices);

/* The same for one that runs, with all that counts devices but its place. */
void elastic_suppose(struct sched *s, uint32_t job, int32_t devices);

/* A job starts on the devices that it has, no longer runs, has to pay for its next start, is known
 * to have something left. The last, before its since_ms changes. Jobs that are not elastic pass. */
void elastic_start(struct sched *s, uint32_t job, int64_t now_ms);
void elastic_stop(struct sched *s, uint32_t job, int64_t now_ms);
void elastic_pay(struct sched *s, uint32_t job, int64_t cost_ms);
void elastic_progress(struct sched *s, uint32_t job, int64_t now_ms);

/* A job runs since then where another scheduler has put it, on as many devices as that are. */
void elastic_take_up(struct sched *s, uint32_t job, int64_t since_ms, const struct fit *where);

/* A running job goes on with so many devices at a place that is free but for its own. -ENOMEM. */
int elastic_resize(struct sched *s, const struct action *why, int32_t devices,
                   const struct fit *place, int64_t now_ms) CHECK_RESULT;

/* A pass begins. */
void elastic_begin(struct sched *s);

/* Whether a job that needs more than is free could start, on fewer or on what others give. */
bool elastic_may_help(const struct sched *s, uint32_t job);

/* Find a place for a job that has none: on devices that others have above what they asked for, on
 * fewer than it asked for, on what others can do without. As few as possible are taken, and only if
 * there is a place then. 1, 0, -1 on failure. */
int elastic_find(struct sched *s, uint32_t job, int64_t now_ms) CHECK_RESULT;

/* Whether a job could ever run on fewer devices than it asked for: nothing runs. */
bool elastic_possible(struct sched *s, uint32_t job);

/* After a pass: let jobs have more of what is free while nobody waits. -ENOMEM. */
int elastic_grow(struct sched *s, int64_t now_ms) CHECK_RESULT;

/* When more can be given or taken by time alone; WORK_UNKNOWN. */
int64_t elastic_again(const struct sched *s, int64_t now_ms);

#endif
