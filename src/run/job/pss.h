/* Memory of a job's processes, what several of them share counted once: the sum of their
 * proportional sizes (Pss of /proc/PID/smaps_rollup, Linux 4.14). The kernel walks page tables for
 * that, some 4 ms for a GiB, so that it is read now and then only; sooner when there are other
 * processes than there were. */
#ifndef BRIM_RUN_JOB_PSS_H
#define BRIM_RUN_JOB_PSS_H
#include "base/clock.h"
#include "run/job/family.h"

struct pss {
    int64_t due_ns;           /* not before; 0: at once */
    int64_t read_ns, cost_ns; /* the last time; what it took of a CPU */
    size_t processes;         /* and how many there were */
};

/* Read it in the next look. */
void pss_ask(struct pss *s);

/* Bytes now. NaN: it is not time yet; or some process may not be read, or there are too many, or
 * all are so large (resident_b together) that it would take too long. */
double pss_look(struct pss *s, int proc, const struct family *f, double resident_b,
                const struct clock *clock);

#endif
