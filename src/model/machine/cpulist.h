/* CPU lists as the kernel writes them, "0-55,112-167", and masks as NCCL does,
 * "ffff0000,00000000". */
#ifndef BRIM_MODEL_MACHINE_CPULIST_H
#define BRIM_MODEL_MACHINE_CPULIST_H
#include <stdbool.h>

#include "base/str.h"

/* A broken list ends where it breaks; a CPU from 65,536 on breaks it. */
int cpulist_count(const char *list);
bool cpulist_has(const char *list, int cpu);

/* The first CPU of the list, or the first above 'after'; -1 when there is none. */
int cpulist_first(const char *list);
int cpulist_next(const char *list, int after);

/* Add the mask of a list: words of 32 CPUs in hexadecimal, the highest first. CPUs from
 * CPULIST_CPUS on are left out. */
enum { CPULIST_CPUS = 8192 };
void cpulist_add_mask(struct str *out, const char *list);

/* Add the list of a mask. Returns 0, or -EINVAL when it is none. */
int cpulist_from_mask(struct str *out, const char *mask) CHECK_RESULT;

#endif
