/* Jobs that want to be given their nodes (brim:place in their comment): held when they are
 * submitted, by the hook of job_submit, they are given nodes as soon as the scheduler has some for
 * them, and let go. One for which it finds none for long, or whose wishes it does not know, is let
 * go without: nobody waits for brim for ever. Pure. */
#ifndef BRIM_CONTROL_PLACE_H
#define BRIM_CONTROL_PLACE_H
#include "control/step.h"
#include "model/site/site.h"

enum { CONTROL_PLACE_MS = 600000 }; /* then it is let go without */

/* Whether it is held for that, and by the hook: a job that its owner holds is not. */
bool control_waits_for_place(const struct site_job *j);

/* Whether it is to be told where to start: it waits for that, or was told and still waits. */
bool control_wants_place(const struct site_job *j);

/* The job starts on those n nodes ("n3,n4"), unless it was told so. 0 or -ENOMEM. */
int control_place_add(struct control_plan *plan, const struct site *s, uint32_t job,
                      const char *nodes, size_t n) CHECK_RESULT;

/* Those that have waited for too long, or ask for what brim does not look at, are let go; where the
 * plan has a place for one, that stays. 0 or -ENOMEM. */
int control_place_let_go(struct control_plan *plan, const struct site *s, int64_t now_ms)
    CHECK_RESULT;

#endif
