/* Workloads of chance, in whole seconds: jobs of two classes that compute and idle by turns. */
#ifndef BRIM_TESTS_MADE_WORK_H
#define BRIM_TESTS_MADE_WORK_H
#include "model/job/job_spec.h"

/* Numbers that repeat: 0 to n - 1. */
static inline int below(uint64_t *state, int n)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((*state >> 33) % (uint64_t)n);
}

/* A workload without jobs, with the classes "x" and "y". -1: out of memory. */
static inline int made_begin(struct workload *w)
{
    *w = (struct workload){ .n_jobs = 0 };
    return work_number(w, &w->classes, "x") < 0 || work_number(w, &w->classes, "y") < 0 ? -1 : 0;
}

/* One more job, of whole devices; NULL: out of memory. */
static inline struct work *made_job(struct workload *w, int submit_s, int length_s)
{
    struct work *job = ARENA_PUSH(&w->arena, &w->jobs, &w->n_jobs);

    if (job)
        *job = (struct work){ .name = "j",
                              .milli = WORK_WHOLE,
                              .restart_ms = -1,
                              .submit_ms = submit_s * 1000LL,
                              .length_ms = length_s * 1000LL };
    return job;
}

/* Stretches of up to 'most' seconds each for all of the job's length, every second one idle; in the
 * others its devices are busy by so many thousandths (0: by chance). -1: out of memory. */
static inline int made_stretches(struct workload *w, struct work *job, int most, int busy,
                                 uint64_t *chance)
{
    int left = (int)(job->length_ms / 1000);
    bool idle = below(chance, 3) == 0;

    while (left > 0) {
        int s = 1 + below(chance, below(chance, 2) ? 30 : most), milli = 0;

        s = MIN(s, left);
        if (!idle)
            milli = busy ? busy : 100 + below(chance, 900);
        if (work_stretch_add(w, job, s * 1000LL, milli) != 0)
            return -1;
        left -= s;
        idle = !idle;
    }
    return 0;
}

/* Device time that the devices of all jobs are to be busy, in ms. */
static inline double made_busy(const struct workload *w)
{
    double sum = 0;

    for (size_t i = 0; i < w->n_jobs; i++) {
        const struct work *job = &w->jobs[i];
        double devices = (double)job->devices * job->milli / WORK_WHOLE;

        sum += job->n_stretches ? 0 : devices * (double)job->length_ms;
        for (uint32_t k = 0; k < job->n_stretches; k++)
            sum += devices * (double)w->stretches[job->stretch + k].ms *
                   w->stretches[job->stretch + k].milli / WORK_WHOLE;
    }
    return sum;
}

/* Whether two sums of times are the same but for what adding them in another order changes. */
static inline bool near(double a, double b)
{
    return a - b < 1e-6 * (a + b + 1) && b - a < 1e-6 * (a + b + 1);
}

#endif
