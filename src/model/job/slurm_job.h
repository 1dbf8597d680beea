/* Which job of Slurm a run is of, by the variables that were kept with it. */
#ifndef BRIM_MODEL_JOB_SLURM_JOB_H
#define BRIM_MODEL_JOB_SLURM_JOB_H
#include "model/job/run.h"

struct slurm_job {
    uint64_t job;
    int64_t step;               /* -1: none, as in a batch script without srun */
    uint64_t array;             /* the number that all tasks of an array have in common */
    int64_t task;               /* of the array; -1: the job is in none */
    uint64_t restarts;          /* how often it was requeued before */
    const char *name, *cluster; /* the run's; NULL: not known */
};

struct slurm_job_text {
    char text[128];
};

/* false: it is of none. */
bool slurm_job_of(const struct run *r, struct slurm_job *ret);

/* As Slurm writes it, with how often it was requeued: "17.0", "15_3.0", "17.0, requeue 2". */
struct slurm_job_text slurm_job_say(const struct slurm_job *j);

/* Whether it is the one that a user means: "17" (also all tasks of an array), "17.0", "15_3",
 * "15_3.0", or the job's name. */
bool slurm_job_is(const struct slurm_job *j, const char *which);

#endif
