/* What a job does ten times a second, of the last minutes: what steps are inferred from. */
#ifndef BRIM_RUN_WATCH_SERIES_H
#define BRIM_RUN_WATCH_SERIES_H
#include <stdbool.h>

#include "run/job/family.h"
#include "run/ring/rank_steps.h"

enum { SERIES_MAX = 1200, SERIES_WINDOW = 600 };

struct series {
    struct family_glance last;
    int64_t last_ns; /* 0: there was none yet */
    size_t n;        /* taken so far; a ring */
    double cpu[SERIES_MAX], bytes[SERIES_MAX];
    /* what was found in the last window */
    double period_s, confidence;
    const char *what;
    int64_t from_ns; /* steps are made up to here */
};

void series_add(struct series *s, const struct family_glance *g, int64_t now_ns);

/* Look for a period in the last minute; when there is one, add the steps since the last call to
 * the lane, all of their time in BRIM_STAGE_OTHER. 0 or -ENOMEM. */
int series_infer(struct series *s, struct rank_steps *l, int64_t now_ns) CHECK_RESULT;

/* "from the job's CPU time: it repeats itself every 0.52 s"; false when nothing was found. */
bool series_say(const struct series *s, char *text, size_t size);

#endif
