/* A machine with 64 CPUs, for a queue with more accelerators than this one has CPUs: LD_PRELOAD.
 * Jobs that are bound to CPUs that are not there run anywhere. */
#include <sched.h>
#include <string.h>

enum { CPUS = 64 };

__attribute__((visibility("default"))) int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *ret)
{
    (void)pid;
    memset(ret, 0, size);
    for (int cpu = 0; cpu < CPUS; cpu++)
        CPU_SET_S(cpu, size, ret);
    return 0;
}
