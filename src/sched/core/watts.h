/* What devices of a kind draw, and how fast they are below a limit of power: handed to a scheduler
 * that keeps a cluster below its cap. */
#ifndef BRIM_SCHED_CORE_WATTS_H
#define BRIM_SCHED_CORE_WATTS_H
#include <stddef.h>
#include <stdint.h>

enum { WATTS_STEPS = 16 };

/* A limit, as a share of the full one, and the speed that is left. */
struct watts_step {
    double share, speed;
};

/* Of one device. A device at a limit counts as drawing that share of busy_mw. */
struct watts {
    int64_t busy_mw, idle_mw;
    struct watts_step steps[WATTS_STEPS]; /* as measured, the highest first; the full one is none */
    size_t n_steps;
};

#endif
