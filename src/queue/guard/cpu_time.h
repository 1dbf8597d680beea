/* How much CPU time jobs have used: all processes of a machine in one look, each counted for the
 * guard that it descends from. */
#ifndef BRIM_QUEUE_GUARD_CPU_TIME_H
#define BRIM_QUEUE_GUARD_CPU_TIME_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* One guard, and the clock ticks of all that descend from it: also of those that have ended and
 * were waited for. */
struct cpu_time {
    pid_t guard;
    uint64_t ticks;
    bool there; /* it was found */
};

/* Fill in ticks and there. proc: a descriptor of /proc. 0, -ENOMEM or another negative errno. */
int cpu_time_read(int proc, struct cpu_time *of, size_t n) CHECK_RESULT;

#endif
