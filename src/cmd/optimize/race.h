/* Settings that need a restart: short runs of the job with and without each, until it is known how
 * the job is to be started. */
#ifndef BRIM_CMD_OPTIMIZE_RACE_H
#define BRIM_CMD_OPTIMIZE_RACE_H
#include "optimize/drive/drive.h"
#include "run/profile/settings.h"

struct optimize_race {
    const struct observe_config *job; /* as it is; it stays */
    const struct drive_report *first; /* of the run that was ended for the race */
    const struct profile_settings_about *about;
    unsigned restarts;
    int64_t until_ns; /* monotonic: no heat begins later */
};

struct optimize_raced {
    struct drive_past past;
    struct profile_settings job; /* with what is kept */
    bool stopped;                /* the user wants nothing to be tried any more */
    bool interrupted; /* by a signal that ends jobs: the job is not to be started again */
    int exit;         /* then: the status that a shell would tell */
};

/* Run the heats, each told in a line by job->say. 0 or a negative errno with a sentence; texts are
 * in the arena. */
int optimize_race(struct arena *a, const struct optimize_race *r, struct optimize_raced *ret,
                  struct err *e) CHECK_RESULT;

/* Whether the job, as it is, can be started with a setting, and that makes it another; else why
 * not, of SESSION_TEXT letters. */
bool optimize_race_fits(const struct profile_settings_about *about,
                        const struct profile_settings *job, const struct candidate *c, char *why);

#endif
