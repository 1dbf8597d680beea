/* What is said while a job is optimised: a line when a trial begins, and when it is known what came
 * of it. Pure. */
#ifndef BRIM_OPTIMIZE_PROGRESS_H
#define BRIM_OPTIMIZE_PROGRESS_H
#include "base/str.h"
#include "model/job/tuning.h"
#include "tune/session.h"

struct progress {
    unsigned told; /* entries */
    enum session_outcome outcome[SESSION_ENTRIES];
    unsigned trials;
};

/* The next line that is new since the last one, into out (emptied first); false when there is
 * none. */
bool progress_next(struct progress *p, const struct session *s, struct str *out);

/* "loader.workers=13: 11.6 times as fast (10.1 to 15.2), kept after 104 steps". */
void progress_outcome(const struct session_entry *k, enum session_goal goal, struct str *out);

/* "11.6 times as fast (10.1 to 15.2)", "+8.3 % steps/s (+5.1 to +11.6 %)", "+8.3 % steps/J (...) at
 * -2.1 % steps/s", "not measured". */
void progress_effect(const struct session_entry *k, enum session_goal goal, struct str *out);

/* The same goal, as runs that are stored have it. */
enum run_goal progress_goal(enum session_goal g);

#endif
