/* What the files of one control group say, of either version. */
#ifndef BRIM_PROBE_SAMPLE_CGROUP_FILES_H
#define BRIM_PROBE_SAMPLE_CGROUP_FILES_H
#include <stdbool.h>

#include "base/compiler.h"

enum {
    CGROUP_CPU,
    CGROUP_CPU_LIMIT,
    CGROUP_THROTTLED,
    CGROUP_THROTTLED_PERIODS,
    CGROUP_PERIODS,
    CGROUP_MEMORY,
    CGROUP_MEMORY_LIMIT,
    CGROUP_MEMORY_PEAK,
    CGROUP_OOM_KILLS,
    CGROUP_READ,
    CGROUP_WRITTEN,
    CGROUP_CPU_WAIT,
    CGROUP_IO_WAIT,
    CGROUP_MEMORY_WAIT,
    CGROUP_VALUES
};

/* The hierarchies of version 1; version 2 has one. */
enum cgroup_hierarchy {
    CGROUP_V1_CPU,
    CGROUP_V1_CPUACCT,
    CGROUP_V1_MEMORY,
    CGROUP_V1_BLKIO,
    CGROUP_V2,
    CGROUP_HIERARCHIES
};

/* Read the files of a group into values: the folder of the group in that hierarchy, below a
 * descriptor of the hierarchy's root. What is not there is left as it was. limits: also those that
 * are set by hand and seldom change, and the peak. */
void cgroup_read(int root, const char *path, enum cgroup_hierarchy hierarchy, bool limits,
                 double values[CGROUP_VALUES]);

/* The CPU time alone. NaN when it cannot be read. */
double cgroup_read_cpu(int root, const char *path, enum cgroup_hierarchy hierarchy);

#endif
