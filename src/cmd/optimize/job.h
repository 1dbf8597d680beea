/* The job of brim optimize, from its start to the card, with a race between. */
#ifndef BRIM_CMD_OPTIMIZE_JOB_H
#define BRIM_CMD_OPTIMIZE_JOB_H
#include "cmd/optimize/known.h"
#include "cmd/optimize/options.h"
#include "cmd/optimize/race.h"
#include "cmd/run/start_job.h"

/* How it is told of: as it was stored, else as it was seen; with its drive. */
struct optimize_ending {
    const struct optimize_opts *o;
    struct job_talk *talk;
    const struct run *run;
    const struct verdict *verdict;
    bool stored;
    struct drive_report report;
    struct job_key key;
    struct optimize_known known;
    struct profile_settings job, came; /* as it is started, and as it came */
    int64_t wall_ns;
};

/* How it is run; job.env and the like are of the job as it came. */
struct optimize_beginning {
    struct observe_config job;
    struct drive_config drive;
    struct profile_settings_about about;
    struct optimize_raced raced;
    int64_t until_ns; /* monotonic: nothing is tried later */
};

/* Run it, and again if a race says how: its exit status. */
int optimize_start(struct arena *a, struct optimize_ending *x, struct optimize_beginning *b,
                   struct err *e) CHECK_RESULT;

/* The run has ended: print the card, write profile and JSON. 0 or a negative errno. */
int optimize_end(struct optimize_ending *x, const struct observed *seen, const struct drive *d,
                 struct err *e) CHECK_RESULT;

#endif
