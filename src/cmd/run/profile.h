/* A profile for a job that is about to start: found, compared with what is here, applied. */
#ifndef BRIM_CMD_RUN_PROFILE_H
#define BRIM_CMD_RUN_PROFILE_H
#include "model/job/run.h"
#include "run/profile/settings.h"

struct run_profile_about {
    const char *which; /* a path or a name */
    const char *knobs; /* a file that declares more; NULL */
    bool shim;         /* there is one for Python */
    bool anyway;       /* whatever differs */
    bool several;      /* nodes that the job is on */
    /* Tell the user a sentence. */
    void (*say)(void *arg, const char *sentence);
    void *arg;
};

enum { RUN_PROFILE_NOTES = 3 };

struct run_profile {
    struct run_note notes[RUN_PROFILE_NOTES]; /* for the run: which, what is applied and left */
    size_t n_notes;
};

/* Apply the profile to *io, env and argv of the job. On another machine than it was found on
 * nothing is applied; for another job, or with other versions, what may change numbers is left, and
 * on several nodes what all ranks must have. All that is not applied is told. Texts live in a. 0,
 * or a negative errno with a sentence when there is no such profile or it is damaged. */
int run_profile(struct arena *a, const struct run_profile_about *about, struct profile_settings *io,
                struct run_profile *ret, struct err *e) CHECK_RESULT;

#endif
