/* Which CPUs are beside the GPUs of a task, and whether it is to be bound to them. */
#ifndef BRIM_SLURM_NEAR_H
#define BRIM_SLURM_NEAR_H
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

enum { NEAR_GPUS = 64 };

/* The GPUs of a task by the numbers that the node has for them, as bits. visible:
 * CUDA_VISIBLE_DEVICES; granted: SLURM_STEP_GPUS, the node's numbers of those of all tasks. Where
 * Slurm confines devices, the first counts among the second. NULL, or why that cannot be told. */
const char *near_gpus(const char *visible, const char *granted, uint64_t *ret);

/* The CPUs beside GPUs with these minor numbers, by /proc and /sys below root. NULL, or why that
 * cannot be told. */
const char *near_cpus(const char *root, uint64_t gpus, cpu_set_t *ret);

/* Of the CPUs that a task may use, those beside its GPUs. NULL: *ret is to be bound to; or why not:
 * they would be too few for the tasks of the node, of which each wants 'each' CPUs. "": all that it
 * may use are. */
const char *near_choose(const cpu_set_t *may, const cpu_set_t *near, unsigned tasks, unsigned each,
                        cpu_set_t *ret);

#endif
