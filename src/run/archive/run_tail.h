/* The end of a run that goes on: what is judged while it runs. Pure. */
#ifndef BRIM_RUN_ARCHIVE_RUN_TAIL_H
#define BRIM_RUN_ARCHIVE_RUN_TAIL_H
#include "model/job/run.h"

enum { WINDOW_STEPS = 20 /* that a verdict is sure of */ };

struct run_tail {
    double seconds;   /* from its begin until now */
    double still_s;   /* from when a step ended on any rank to the last moment; NaN: none did */
    double longest_s; /* the longest step in it; NaN */
};

/* Leave of the run the last so many seconds, and as much more as it takes for WINDOW_STEPS steps of
 * a rank. now_ns: by the clock of the steps; INT64_MIN where that is another machine's: then it is
 * the last moment's. What is left out counts as dropped. */
void run_tail_cut(struct run *r, double seconds, int64_t now_ns, struct run_tail *ret);

#endif
