/* What an optimisation found, kept for the job's next runs. */
#ifndef BRIM_CMD_OPTIMIZE_PROFILE_H
#define BRIM_CMD_OPTIMIZE_PROFILE_H
#include "base/clock.h"
#include "model/run.h"
#include "run/job_key.h"
#include "tune/session.h"

struct optimize_profile_about {
    const struct run *run;
    const struct session *session;
    const struct job_key *key;
    int64_t wall_ns;
    const char *file; /* NULL: one of the state folder, by the job's name and key */
};

/* Write what was kept; nothing when that is none: path stays empty then. 0 or a negative errno with
 * a sentence. */
int optimize_profile(const struct optimize_profile_about *about, struct str *path, struct err *e)
    CHECK_RESULT;

#endif
