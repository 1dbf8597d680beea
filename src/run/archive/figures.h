/* What a run comes to in a few numbers. Pure. */
#ifndef BRIM_RUN_ARCHIVE_FIGURES_H
#define BRIM_RUN_ARCHIVE_FIGURES_H
#include "model/job/run.h"

/* NaN: not known. Rates and shares are of the steady part: without the first steps. */
struct run_figures {
    double seconds; /* of the run */
    double steps;   /* of a rank, mean */
    double steps_per_s, samples_per_s;
    double step_s, step_p90_s;
    double share[BRIM_STAGES]; /* of the step, mean over ranks */
    double communication;      /* to computing (forward, backward, optimizer) */
    double gpus, gpu_busy;
    double cpus, job_cpu, job_read;
    double resident; /* the most that was resident, shared pages counted for each process */
    double pss;      /* the same, shared pages counted once */
};

/* How many steps at the start are no steady part: caches fill, kernels are chosen. */
enum { FIGURES_WARM = 5 };

/* 0 or -ENOMEM. */
int run_figures(const struct run *r, struct run_figures *f) CHECK_RESULT;

/* How many different hosts a run's ranks have; the first 'most' of them in names, borrowed. */
size_t run_figures_hosts(const struct run *r, const char **names, size_t most);

#endif
