/* The file gpu_metrics of the amdgpu driver: one binary table with what the card's firmware
 * measures. */
#ifndef BRIM_PROBE_GPU_AMD_METRICS_H
#define BRIM_PROBE_GPU_AMD_METRICS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What keeps the clock down. */
enum amd_reason { AMD_POWER, AMD_THERMAL, AMD_BRAKE, AMD_OTHER, AMD_REASONS };

/* What it counts: PROCHOT from outside, power, temperature of socket, regulators and memory. */
enum amd_limit {
    AMD_LIMIT_PROCHOT,
    AMD_LIMIT_POWER,
    AMD_LIMIT_SOCKET,
    AMD_LIMIT_REGULATOR,
    AMD_LIMIT_MEMORY,
    AMD_LIMITS
};

/* Numbers that the table does not have are NaN. */
struct amd_metrics {
    double busy, memory_busy; /* 0 to 1 */
    double power_watts, energy_joules, temperature, memory_temperature;
    double link_received_bytes, link_sent_bytes, pcie_replays;
    bool has_active; /* active[]: now */
    bool active[AMD_REASONS];
    bool has_cycles;              /* the next two, which count up and wrap */
    uint32_t cycles;              /* of the firmware's loop */
    uint32_t limited[AMD_LIMITS]; /* in how many of them each held the clock down */
};

/* Read a table of len bytes: 0, or -ENOTSUP for a layout that is not known or a table that is too
 * short for it. */
int amd_metrics_read(const void *table, size_t len, struct amd_metrics *ret);

#endif
