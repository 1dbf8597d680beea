/* Which jobs share devices by turns (interleave_period.h), and which wait: those bundles get
 * devices that let the most jobs end soon. Only jobs that need the same number of devices share. */
#ifndef BRIM_SCHED_INTERLEAVE_H
#define BRIM_SCHED_INTERLEAVE_H
#include "sched/policy/policy.h"
#include "sched/core/waiting.h"
#include "sched/interleave_period.h"

enum { BUNDLE_NONE = UINT32_MAX };

/* A job that is there. */
struct interleave_job {
    const struct work *work;
    double left_ms;  /* of its work, alone; as far as known */
    uint32_t bundle; /* the number of the one that it runs in; BUNDLE_NONE */
    uint32_t kind;   /* set by interleave_open(): equal for jobs with equal stages */
    int32_t devices; /* of its work, which is far away where there are many */
    bool alone;      /* its stages are not known */
};

/* Jobs on the same devices. */
struct bundle {
    uint32_t jobs[INTERLEAVE_JOBS]; /* numbers in the array of jobs */
    uint32_t n;
    uint32_t same;  /* the bundle that ran before with the same jobs; BUNDLE_NONE */
    double step_ms; /* of each of its jobs */
};

struct interleave {
    struct arena arena;
    int most;           /* jobs in a bundle */
    int64_t restart_ms; /* of a job that does not say */
    uint32_t n_kinds;
    uint32_t *kind;           /* by job of the workload */
    struct known_step *known; /* steps of bundles that were looked at */
    struct bundle *bundles;   /* the last plan */
    size_t n_bundles;
    uint32_t *order, *size_of; /* jobs by size and what is left of them; bundles by number */
    const struct work *first;  /* job 0 of the workload, whose numbers those in waiting are */
    struct waiting waiting;    /* those that wait, by sizes; a tie is the place in the array */
    uint32_t *size;            /* of each job of the workload, the number of its devices below */
    int32_t *sizes;            /* from the largest on */
    size_t n_sizes;
    uint32_t *runs;     /* those that run, in their order */
    uint32_t n_numbers; /* bundles of the last plan that are counted in size_of */
    bool *used;         /* by place in the array: false between plans */
};

/* For jobs of a workload. -ENOMEM. */
int interleave_open(struct interleave *x, const struct workload *w, const struct policy *p)
    CHECK_RESULT;
void interleave_done(struct interleave *x);

/* What it costs to start a bundle: its jobs start one after the other. */
double interleave_start_ms(const struct interleave *x, const struct interleave_job *jobs,
                           const struct bundle *b);

/* A job of the array waits from now on: its bundle is BUNDLE_NONE. It does not any more, or is to
 * change or to get another place in the array: to be said before. */
void interleave_wait(struct interleave *x, const struct interleave_job *jobs, uint32_t i);
void interleave_leave(struct interleave *x, const struct interleave_job *jobs, uint32_t i);

/* Plan anew, on so many devices, for those that wait and for the n jobs that run: x->bundles, in
 * the order in which they were chosen. All numbers are places in the array. */
void interleave_plan(struct interleave *x, const struct interleave_job *jobs, const uint32_t *runs,
                     size_t n, int64_t devices);

#endif
