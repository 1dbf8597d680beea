/* Who tells here how much power is drawn. */
#ifndef BRIM_RUN_MOMENT_POWER_METER_H
#define BRIM_RUN_MOMENT_POWER_METER_H
#include <stdbool.h>

#include "base/clock.h"
#include "base/err.h"

struct power_meters {
    bool gpus, cpus; /* accelerators' drivers; processors (RAPL) */
    bool looks;      /* some accelerator has no counter of energy: its power is looked at */
};

/* Ask the drivers, which may take a second. root: "/", or a copy of such files. fake: as in struct
 * sampler_env. 0, -ENOMEM, or -ENODEV with a sentence when nobody tells. */
int power_meters_find(struct power_meters *ret, const char *root, const char *fake,
                      const struct clock *clock, struct err *e) CHECK_RESULT;

#endif
