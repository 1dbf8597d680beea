/* A run that still goes on, as it is now: for judging it while it runs. */
#ifndef BRIM_RUN_ARCHIVE_RUN_SNAPSHOT_H
#define BRIM_RUN_ARCHIVE_RUN_SNAPSHOT_H
#include "run/job/family.h"
#include "run/ring/rings.h"

/* What an observer has seen so far. */
struct run_snapshot {
    const struct rings *rings;
    const struct rank_steps *inferred; /* its steps while it marks none; NULL: they are not known */
    const struct run *run;             /* what it is and its moments; no ranks */
    int64_t now_ns;                    /* monotonic */
    const struct family *family;       /* its processes; NULL: not known */
    int asked;    /* the last signal that came for the job and ends jobs; 0: none */
    double far_s; /* from here to the farthest host with ranks, and back; 0: there is none */
};

/* The steps and whole moments from since_ns (monotonic) on, of each rank the last 'most' steps, as
 * a run; texts about the run are borrowed from w->run. 0 or -ENOMEM; run_done(ret) in any case. */
int run_snapshot(struct run *ret, const struct run_snapshot *w, int64_t since_ns, size_t most)
    CHECK_RESULT;

/* When a moment began. */
int64_t run_snapshot_begin_ns(const struct run_moment *m);

#endif
