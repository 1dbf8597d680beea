/* Limits of power and of clocks of NVIDIA's GPUs, through the driver's library: read, and set by
 * whoever may. Nothing here has a watchdog: it is for a process of its own. */
#ifndef BRIM_PROBE_NVIDIA_NVML_POWER_H
#define BRIM_PROBE_NVIDIA_NVML_POWER_H
#include "base/compiler.h"
#include "base/err.h"

struct nvml_power;

/* 0; -ENOMEM, -ENODEV or -EIO with a sentence when there is no driver, or no GPU. */
int nvml_power_open(struct nvml_power **ret, struct err *e) CHECK_RESULT;
void nvml_power_close(struct nvml_power *p);
DEFINE_CLEANUP(struct nvml_power, nvml_power_close)

unsigned nvml_power_count(const struct nvml_power *p);

/* The limit of a GPU in milliwatts: 0, or a negative errno with a sentence. */
int nvml_power_get(struct nvml_power *p, unsigned gpu, unsigned *mw, struct err *e) CHECK_RESULT;

/* Set it: 0; -EACCES when that needs root, -ERANGE when the GPU takes others, -ENOTSUP, -EIO: with
 * a sentence. */
int nvml_power_set(struct nvml_power *p, unsigned gpu, unsigned mw, struct err *e) CHECK_RESULT;

/* The highest clock of a GPU's SMs in MHz: 0, or a negative errno with a sentence. */
int nvml_clock_highest(struct nvml_power *p, unsigned gpu, unsigned *mhz, struct err *e)
    CHECK_RESULT;

/* The clock of its SMs at this moment. */
int nvml_clock_now(struct nvml_power *p, unsigned gpu, unsigned *mhz, struct err *e) CHECK_RESULT;

/* Lock the clock to so many MHz at most; to the highest or more: lift the lock. Errors as those of
 * nvml_power_set(). The driver tells nobody whether there is a lock. */
int nvml_clock_lock(struct nvml_power *p, unsigned gpu, unsigned mhz, struct err *e) CHECK_RESULT;

#endif
