/* The profile of a job that is optimised again: found, and told what came of it. */
#ifndef BRIM_CMD_OPTIMIZE_KNOWN_H
#define BRIM_CMD_OPTIMIZE_KNOWN_H
#include "cmd/run/start_job.h"
#include "run/profile/job_key.h"
#include "tune/session.h"

struct optimize_known {
    struct profile profile;
    const char *path; /* NULL: there is none */
    unsigned differs; /* enum job_differs */
};

/* The profile that 'which' names (a name or a path), or with NULL the one that the state folder has
 * for the job of this key: *ret, whose path is in the arena. It is told what will be done with it.
 * A profile that was named and is not there, or is damaged, is an errno with a sentence; one that
 * was not named is told, and left. Else 0, or a negative errno with a sentence. */
int optimize_known(struct arena *a, const char *which, const struct job_key *key,
                   struct job_talk *talk, struct optimize_known *ret, struct err *e) CHECK_RESULT;
void optimize_known_done(struct optimize_known *k);

/* Into 'to', which has what was kept now: settings of the profile that were not tried to the end
 * stay where nothing differs. Those that did not hold are told, and those that get lost untried.
 * *write: whether the profile is to be written: something was decided, and holds here. 0 or a
 * negative errno with a sentence. */
int optimize_known_settle(const struct optimize_known *k, const struct session *s,
                          struct job_talk *talk, struct profile *to, bool *write, struct err *e)
    CHECK_RESULT;

#endif
