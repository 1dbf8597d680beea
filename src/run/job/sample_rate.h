/* How often a job has to be looked at between two samples: each look wakes a CPU that the job may
 * need. Ten times a second is for who waits: for which storage, and of steps that are not marked in
 * what rhythm. A job that marks its steps and computes needs the samples only. */
#ifndef BRIM_RUN_JOB_SAMPLE_RATE_H
#define BRIM_RUN_JOB_SAMPLE_RATE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sample_rate {
    int64_t stirred_ns; /* when it last did not just compute, or was first looked at; 0: not yet */
    uint64_t marks;
    double waited_s;
    int64_t at_ns;
};

/* What is known at a sample. Of the ranks together: */
struct sample_rate_look {
    int64_t now_ns;
    size_t ranks;    /* that mark steps */
    uint64_t marks;  /* made so far */
    double waited_s; /* for data, in all steps so far */
    double blocked;  /* processes that waited for disks, mean since the sample before */
    double next_s;   /* until the sample behind it */
};

/* Whether the samples are enough from here to the next one. */
bool sample_rate_is_calm(struct sample_rate *p, const struct sample_rate_look *now);

#endif
