/* What elastic*.c share: which jobs are elastic, and how they change. */
#ifndef BRIM_SCHED_FEATURE_ELASTIC_PRIVATE_H
#define BRIM_SCHED_FEATURE_ELASTIC_PRIVATE_H
#include "sched/feature/elastic.h"
#include "sched/core/scheduler.h"

struct elastic_job {
    int64_t since_ms;   /* it started, or was resized last */
    int32_t asked;      /* devices; 0: it is not elastic */
    int32_t cpus_milli; /* that it asked for with them, on each of its nodes */
    uint32_t at;        /* in the list */
    uint64_t pass;      /* in which it was resized last */
    size_t action;      /* the number of that action */
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
    struct elastic_job *jobs;
    struct workload seen; /* the workload where devices are those that jobs have */
    struct work *now;     /* its jobs */
    uint32_t *list;       /* elastic jobs that run */
    size_t n;
    int64_t spare; /* devices that those might give, when the pass began */
    struct elastic_want *wants;
    struct fit keep;
    uint64_t pass;
};

/* The next number of devices above (below) one that an elastic job can have; 0: there is none. On
 * one node any, on several whole nodes, what it asked for, and its limits. */
int32_t elastic_above(const struct sched *s, uint32_t job, int32_t devices);
int32_t elastic_below(const struct sched *s, uint32_t job, int32_t devices);

/* What a resize costs a job. */
int64_t elastic_cost(const struct sched *s, uint32_t job, int32_t from, int32_t to);

/* An elastic job that waits would have so many devices, with their part of its CPUs. */
void elastic_set(struct sched *s, uint32_t job, int32_t devices);

/* The same for one that runs, with all that counts devices but its place. */
void elastic_suppose(struct sched *s, uint32_t job, int32_t devices);

/* It runs since then: it is in the list. What it has left takes otherwise long on the devices that
 * it has from now on. It runs no more. */
void elastic_list(struct sched *s, uint32_t job, int64_t since_ms);
void elastic_scale(struct sched *s, uint32_t job);
void elastic_unlist(struct sched *s, uint32_t job);

/* A running job goes on with so many devices at a place that is free but for its own. -ENOMEM. */
int elastic_resize(struct sched *s, const struct action *why, int32_t devices,
                   const struct fit *place, int64_t now_ms) CHECK_RESULT;

/* Whether a job may start on fewer devices than it asked for. */
bool elastic_starts_on_fewer(const struct sched *s, uint32_t job);

/* Find a place for a job that has none: on devices that others have above what they asked for, on
 * fewer than it asked for, on what others can do without. As few as possible are taken, and only if
 * there is a place then. 1, 0, -1 on failure. */
int elastic_find(struct sched *s, uint32_t job, int64_t now_ms) CHECK_RESULT;

/* After a pass: let jobs have more of what is free while nobody waits. -ENOMEM. */
int elastic_grow(struct sched *s, int64_t now_ms) CHECK_RESULT;

/* When more can be given or taken by time alone; WORK_UNKNOWN. */
int64_t elastic_again(const struct sched *s, int64_t now_ms);

#endif
