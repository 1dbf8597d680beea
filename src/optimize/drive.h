/* Optimises a job while it runs: a pilot of run/observe.h that drives a session (tune/session.h)
 * with the job's steps, and asks the job for what the session wants. */
#ifndef BRIM_OPTIMIZE_DRIVE_H
#define BRIM_OPTIMIZE_DRIVE_H
#include "model/verdict.h"
#include "run/observe.h"
#include "tune/session.h"

struct drive_config {
    const struct knobs *knobs;
    struct session_plan plan; /* drive_plan() */
    double shm_free_b;        /* of /dev/shm when the job starts; NaN: not known */
    /* Tell the user a sentence: what is tried, and what came of it. */
    void (*say)(void *arg, const char *sentence);
    void *arg;
};

/* The usual plan of a session with that many seconds. */
struct session_plan drive_plan(double seconds);

/* Steps that were run in one state of the job. */
struct drive_stretch {
    double steps, seconds, samples; /* samples NaN: not told */
    double resident_b;              /* the most of all processes together; NaN: no moment */
};

double drive_steps_per_s(const struct drive_stretch *s);
double drive_samples_per_s(const struct drive_stretch *s);

struct drive_report {
    const char *off; /* why nothing could be tried; NULL */
    size_t ranks;    /* that were steered; 0: none */
    uint64_t steps;  /* of the job, as far as it was steered */
    const struct session *session;
    const struct verdict *remains; /* what limits the job now; NULL: not known */
    const char *nothing;           /* why no setting is worth a trial; "" */
    struct drive_stretch before;   /* with the settings it came with */
    struct drive_stretch after;    /* with all that was kept, since the last of it was */
};

struct drive;

/* c is copied; what it points to is borrowed. 0 or -ENOMEM. */
int drive_new(struct drive **ret, const struct drive_config *c) CHECK_RESULT;
void drive_free(struct drive *d);
DEFINE_CLEANUP(struct drive, drive_free)

/* Borrowed, as long as there is a drive. */
const struct observe_pilot *drive_pilot(const struct drive *d);
void drive_tell(const struct drive *d, struct drive_report *ret);

#endif
