/* How many workers a loader needs, from what is known of a job: one reckoning for what brim why
 * advises and what brim optimize tries. Pure. */
#ifndef BRIM_MODEL_VERDICT_LOADER_NEED_H
#define BRIM_MODEL_VERDICT_LOADER_NEED_H
#include <stdbool.h>

enum { LOADER_WORKERS_MOST = 64, LOADER_PREFETCH = 2 /* batches ahead, torch's */ };

/* Of one rank, in the steady part of a run. NaN: not known. */
struct loader_need {
    double workers;  /* now; NaN: there is no loader that is known */
    double wait;     /* share of the step that data is waited for */
    double starting; /* of that, what goes into the start of workers, in short epochs */
    double on_cpu;   /* share of fetching a batch that is on a CPU; NaN: all */
    double queued;   /* share of its time that a worker waits for a CPU; NaN */
    double margin;   /* over Little's law, for workers that take turns; 0: there is no need */
    /* What all of its workers may use, and what one takes. */
    double cpus;
    double memory_b, worker_b;
    double shm_b, batch_b; /* of /dev/shm; of a batch */
    double epoch;          /* batches in an epoch */
    double refused;        /* so many workers have cost the job its memory before */
    bool stream;           /* a dataset without indices, of which one worker alone reads ahead */
};

/* Time to fetch a batch, and the rest of a step, in steps. */
double loader_fetch(const struct loader_need *n);
double loader_compute(const struct loader_need *n);

/* So many workers keep up: the time to fetch a batch over that of the rest of a step (Little's
 * law), as far as CPUs, memory and /dev/shm carry them. Not more than there are: no more are worth
 * it. */
double loader_workers(const struct loader_need *n);

/* So many of the workers that there are fill a rank's CPUs but one, which is the rank's own, or do
 * what all of them do now, whichever is more; one at least. Those that sleep at times are more than
 * the CPUs. */
double loader_fewer(const struct loader_need *n);

#endif
