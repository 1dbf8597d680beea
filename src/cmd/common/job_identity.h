/* What this machine is to a job: its knobs, and the key of its profiles. */
#ifndef BRIM_CMD_COMMON_JOB_IDENTITY_H
#define BRIM_CMD_COMMON_JOB_IDENTITY_H
#include "model/job/knob.h"
#include "run/profile/job_key.h"

/* The key of a job that is started here, now, by this process: as job_key_make(). 0 or a negative
 * errno with a sentence. */
int job_key_here(struct arena *a, char *const *argv, char *const *env, struct job_key *ret,
                 struct err *e) CHECK_RESULT;

/* The knobs that the program carries and those that a file declares (NULL: none). knobs_done(ret)
 * in any case. */
int load_knobs(struct knobs *ret, const char *file, struct err *e) CHECK_RESULT;

#endif
