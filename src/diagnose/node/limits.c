/* What counts as much, in one table. Figures without a source are our own choice. */
#include "diagnose/node/live_private.h"

const struct live_limits live_limits = {
    .load_limit = 0.9,
    .load_weak = 0.95,
    .load_leave = 0.7, /* one quiet second does not end what took some to find */
    .load_unwaited = 0.65,
    .load_busy = 0.6,
    .load_idle = 0.05,
    .load_nothing = 0.1,
    .gpu_busy = 0.85, /* input-bound below it: the rule of thumb of GPU utilisation */
    .gpu_idle = 0.02,
    .gpu_uneven = 0.3,
    .sm_active = 0.3,      /* launch-bound below */
    .wait_warning = 0.1,   /* TraceML: input wait of 10 % of a step warns, */
    .wait_critical = 0.2,  /* of 20 % is critical */
    .disk_await_s = 0.010, /* a hard disk's seek; an SSD needs a tenth of it */
    .disk_queue = 8,
    .io_pressure = 0.1, /* PSI io, some: https://docs.kernel.org/accounting/psi.html */
    .io_pressure_alone = 0.3,
    .nfs_queue_share = 0.5, /* the queue takes longer than the server: its slots are full */
    .cpu_busy = 0.9,
    .core_busy = 0.95,
    .cpu_pressure = 0.2, /* PSI cpu, some; as much as the delay of runnable threads */
    .cpu_pressure_busy = 0.7,
    .throttled = 0.1,
    .steal = 0.1,
    .memory_pressure = 0.1, /* PSI memory, some: 5 to 10 % */
    .link_share = 0.8,      /* of the rate after line encoding: the rest is packet overhead */
    .gpu_throttled = 0.05,  /* of the time, the power limit not counted */
    .drops = 0.001,
    .named = 0.2,
};

double live_near(double value, double limit)
{
    double load = live_limits.load_limit * value / limit;

    return load > 1 ? 1 : load;
}
