/* What an optimisation found, kept for the job's next runs. */
#ifndef BRIM_CMD_OPTIMIZE_PROFILE_H
#define BRIM_CMD_OPTIMIZE_PROFILE_H
#include "base/clock.h"
#include "model/job/run.h"
#include "cmd/optimize/known.h"

struct optimize_profile_about {
    const struct run *run;
    const struct session *session;
    const struct job_key *key;
    int64_t wall_ns;
    const char *file; /* NULL: that of 'known' if it is of the same job; else one of the state
                       * folder, by the job's name and key */
    const struct optimize_known *known;
    struct job_talk *talk;
};

/* Write what was kept, and what of a profile of before still counts. path: of what was written;
 * empty when nothing was, or when a profile of before has lost all that it had. 0 or a negative
 * errno with a sentence. */
int optimize_profile(const struct optimize_profile_about *about, struct str *path, struct err *e)
    CHECK_RESULT;

#endif
