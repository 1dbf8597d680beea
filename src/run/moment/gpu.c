/* The job's accelerators. */
#include <stdlib.h>
#include <string.h>

#include "model/machine/pcie.h"
#include "run/moment/moment_private.h"

enum { GPUS_MAX = 64 };

struct gpu_sums {
    double sum[RUN_SIGNALS], n[RUN_SIGNALS];
    double clocks[GPUS_MAX]; /* of those that are at work */
    size_t n_clocks;
};

static void take(struct gpu_sums *s, enum run_signal signal, double value)
{
    if (!isfinite(value))
        return;
    s->sum[signal] += value;
    s->n[signal]++;
}

static void take_pcie(const struct moment_view *v, const struct signal_row *row)
{
    double gen = moment_gauge(row, "pcie_generation", NULL);
    double width = moment_gauge(row, "pcie_width", NULL);
    double gen_max = moment_gauge(row, "pcie_generation_max", NULL);
    double width_max = moment_gauge(row, "pcie_width_max", NULL);
    double received = moment_rate(v, row, "pcie_received_bytes_total", NULL);
    double sent = moment_rate(v, row, "pcie_sent_bytes_total", NULL);
    double can, whole, *x = v->values;

    if (!(gen >= 1 && gen <= 7 && width >= 1 && width <= 32))
        return;
    can = pcie_gbs(pcie_gts((int)gen), (int)width) * 1e9;
    received = (received > sent ? received : sent) / can;
    if (!isnan(received) && !(received <= x[RUN_GPU_PCIE]))
        x[RUN_GPU_PCIE] = received;
    if (!(gen_max >= gen && gen_max <= 7 && width_max >= width && width_max <= 32))
        return;
    whole = pcie_gbs(pcie_gts((int)gen_max), (int)width_max) * 1e9;
    if (!(can / whole >= x[RUN_GPU_PCIE_WIDTH]))
        x[RUN_GPU_PCIE_WIDTH] = can / whole;
}

/* The share of the time that a clock was held down for a reason; its flag stands in where the
 * driver does not count. */
static double held(const struct moment_view *v, const struct signal_row *row, const char *reason)
{
    double seconds = moment_rate(v, row, "seconds_total", reason);
    double share = isnan(seconds) ? moment_gauge(row, "active", reason) : seconds;

    return share > 1 ? 1 : share;
}

static void take_throttle(const struct moment_view *v, const char *gpu, struct gpu_sums *s)
{
    size_t n;
    const struct signal_row *row = tick_set(v->now, "gpu_throttle", &n);
    double heat, brake;

    row = row ? tick_find(v->now, row->set, gpu) : NULL;
    if (!row)
        return;
    heat = held(v, row, "reason=\"thermal\"");
    brake = held(v, row, "reason=\"brake\"");
    take(s, RUN_GPU_THROTTLED, isnan(heat) || brake > heat ? brake : heat);
    take(s, RUN_GPU_CAPPED, held(v, row, "reason=\"power\""));
}

/* Mean power: what the device's counter of energy grew by, which misses nothing; of one without, a
 * look at the power at the moment's end. */
static double watts_of(const struct moment_view *v, const struct signal_row *row)
{
    double mean = moment_rate(v, row, "energy_joules_total", NULL);

    return mean > 0 ? mean : moment_gauge(row, "power_watts", NULL);
}

static void take_gpu(const struct moment_view *v, const struct signal_row *row, struct gpu_sums *s)
{
    double clock = moment_gauge(row, "sm_clock_hertz", NULL), watts = watts_of(v, row);

    take(s, RUN_GPU_BUSY, moment_gauge(row, "busy_ratio", NULL));
    take(s, RUN_GPU_SM_ACTIVE, moment_gauge(row, "sm_active_ratio", NULL));
    take(s, RUN_GPU_TENSOR_ACTIVE, moment_gauge(row, "tensor_active_ratio", NULL));
    take(s, RUN_GPU_DRAM_ACTIVE, moment_gauge(row, "dram_active_ratio", NULL));
    take(s, RUN_GPU_MEMORY,
         moment_gauge(row, "memory_used_bytes", NULL) /
             moment_gauge(row, "memory_total_bytes", NULL));
    take(s, RUN_GPU_MEMORY_USED, moment_gauge(row, "memory_used_bytes", NULL));
    take(s, RUN_GPU_WATTS, watts);
    take(s, RUN_GPU_POWER, watts / moment_gauge(row, "power_limit_watts", NULL));
    take(s, RUN_GPU_CLOCK, clock / moment_gauge(row, "sm_clock_max_hertz", NULL));
    take_pcie(v, row);
    take_throttle(v, row->thing, s);
    if (clock > 0 && s->n_clocks < GPUS_MAX)
        s->clocks[s->n_clocks++] = clock;
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return COMPARE(left, right);
}

void moment_gpus(const struct moment_view *v, const struct moment_job *job)
{
    static const enum run_signal means[] = { RUN_GPU_BUSY,          RUN_GPU_SM_ACTIVE,
                                             RUN_GPU_TENSOR_ACTIVE, RUN_GPU_DRAM_ACTIVE,
                                             RUN_GPU_MEMORY,        RUN_GPU_POWER,
                                             RUN_GPU_CLOCK,         RUN_GPU_THROTTLED,
                                             RUN_GPU_CAPPED };
    size_t n, used = 0;
    const struct signal_row *rows = tick_set(v->now, "gpu", &n);
    struct gpu_sums s = { .n_clocks = 0 };

    for (size_t i = 0; i < n; i++) {
        if (job->has_gpu && !job->has_gpu(job->arg, rows[i].thing))
            continue;
        used++;
        take_gpu(v, &rows[i], &s);
    }
    if (n)
        v->values[RUN_GPUS] = (double)used;
    for (size_t i = 0; i < ARRAY_SIZE(means); i++)
        if (s.n[means[i]] > 0)
            v->values[means[i]] = s.sum[means[i]] / s.n[means[i]];
    if (s.n[RUN_GPU_MEMORY_USED] > 0)
        v->values[RUN_GPU_MEMORY_USED] = s.sum[RUN_GPU_MEMORY_USED];
    if (used && s.n[RUN_GPU_WATTS] >= (double)used) /* of some alone it would be too little */
        v->values[RUN_GPU_WATTS] = s.sum[RUN_GPU_WATTS];
    if (s.n_clocks < 2)
        return;
    qsort(s.clocks, s.n_clocks, sizeof(*s.clocks), by_size);
    v->values[RUN_GPU_WORST_CLOCK] = s.clocks[0] / s.clocks[s.n_clocks / 2];
}
