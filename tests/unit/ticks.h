/* Ticks by hand, for what looks at two of them: a set of disks with a counter and two gauges, one
 * of the same disks with another gauge, one of the host with labels, one of things with names. */
#ifndef BRIM_TESTS_TICKS_H
#define BRIM_TESTS_TICKS_H
#include <stdio.h>

#include "model/signal/signal.h"
#include "tap.h"

#define TICK_S ((int64_t)1000000000)

enum { DISK_TOTAL, DISK_NOW, DISK_SIZE, DISK_DEFS };

static const struct signal_def ticks_disk_defs[] = {
    { "reads_total", "reads", SIGNAL_COUNTER },
    { "now", "now", SIGNAL_GAUGE },
    { "size", "size", SIGNAL_GAUGE },
};
static const struct signal_def ticks_heat_defs[] = { { "heat", "heat", SIGNAL_GAUGE } };
static const struct signal_def ticks_cpu_defs[] = {
    { "seconds_total", "time", SIGNAL_COUNTER, "mode=\"idle\"" },
    { "seconds_total", "time", SIGNAL_COUNTER, "mode=\"user\"" },
    { "load", "load", SIGNAL_GAUGE },
};
static const struct signal_set ticks_disk = { "disk", "device", ticks_disk_defs, 3 };
static const struct signal_set ticks_heat = { "heat", "device", ticks_heat_defs, 1 };
static const struct signal_set ticks_cpu = { "cpu", NULL, ticks_cpu_defs, 3 };
static const struct signal_set ticks_wait = { "wait", "resource", ticks_heat_defs, 1 };

static inline void ticks_begin(struct tick *t, int64_t second)
{
    tick_begin(t, (1000 + second) * TICK_S, second * TICK_S);
}

static inline void ticks_row(struct tick *t, const struct signal_set *set, const char *thing,
                             double a, double b, double c)
{
    const double values[] = { a, b, c };
    struct signal_row *row = tick_add(t, set, thing);

    for (size_t i = 0; row && i < set->n_defs; i++)
        row->values[i] = values[i];
}

#endif
