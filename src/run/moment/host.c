/* The node's CPUs and memory. */
#include <string.h>

#include "run/moment/moment_private.h"

/* CPUs' worth of each kind of time. Guest time is in user and nice already. */
struct cpu_modes {
    double work, idle, iowait, steal;
};

static double rate_of(const struct moment_view *v, const struct signal_row *row, const char *label)
{
    double rate = moment_rate(v, row, "seconds_total", label);

    return isnan(rate) ? 0 : rate;
}

static void read_modes(const struct moment_view *v, const struct signal_row *row,
                       struct cpu_modes *m)
{
    static const char *const work[] = { "mode=\"user\"", "mode=\"nice\"", "mode=\"system\"",
                                        "mode=\"irq\"", "mode=\"softirq\"" };

    *m = (struct cpu_modes){ 0 };
    for (size_t i = 0; i < ARRAY_SIZE(work); i++)
        m->work += rate_of(v, row, work[i]);
    m->idle = rate_of(v, row, "mode=\"idle\"");
    m->iowait = rate_of(v, row, "mode=\"iowait\"");
    m->steal = rate_of(v, row, "mode=\"steal\"");
}

static double all_modes(const struct cpu_modes *m)
{
    double all = m->work + m->idle + m->iowait + m->steal;

    return all > 0 ? all : (double)NAN;
}

static void fill_cpus(const struct moment_view *v)
{
    size_t n;
    const struct signal_row *row = tick_set(v->now, "cpu", &n);
    struct cpu_modes m;

    if (row) {
        read_modes(v, row, &m);
        v->values[RUN_CPU_BUSY] = m.work / all_modes(&m);
        v->values[RUN_CPU_STEAL] = m.steal / all_modes(&m);
    }
    row = tick_set(v->now, "core", &n);
    if (n)
        v->values[RUN_CPUS] = (double)n;
    for (size_t i = 0; i < n; i++) {
        double busy;

        read_modes(v, &row[i], &m);
        busy = m.work / all_modes(&m);
        if (busy > v->values[RUN_CPU_BUSIEST] || isnan(v->values[RUN_CPU_BUSIEST]))
            v->values[RUN_CPU_BUSIEST] = busy;
    }
}

static void fill_pressure(const struct moment_view *v)
{
    static const struct {
        const char *name;
        enum run_signal signal;
    } resources[] = { { "cpu", RUN_CPU_PRESSURE },
                      { "io", RUN_IO_PRESSURE },
                      { "memory", RUN_MEMORY_PRESSURE } };
    size_t n;
    const struct signal_row *rows = tick_set(v->now, "pressure", &n);

    for (size_t i = 0; i < ARRAY_SIZE(resources) && rows; i++) {
        const struct signal_row *row = tick_find(v->now, rows->set, resources[i].name);

        if (row)
            v->values[resources[i].signal] = moment_rate(v, row, "waiting_seconds_total", NULL);
    }
}

/* Packages and their memory; their cores are in them, and both in psys. */
static void fill_power(const struct moment_view *v)
{
    size_t n;
    const struct signal_row *rows = tick_set(v->now, "rapl", &n);

    for (size_t i = 0; i < n; i++)
        if (!strncmp(rows[i].thing, "package-", 8) || !strncmp(rows[i].thing, "dram-", 5))
            moment_add(&v->values[RUN_CPU_WATTS],
                       moment_rate(v, &rows[i], "energy_joules_total", NULL));
}

void moment_host(const struct moment_view *v)
{
    size_t n;
    const struct signal_row *row = tick_set(v->now, "memory", &n);

    fill_cpus(v);
    fill_pressure(v);
    fill_power(v);
    if (row) {
        v->values[RUN_MEMORY_TOTAL] = moment_gauge(row, "total_bytes", NULL);
        v->values[RUN_MEMORY_AVAILABLE] = moment_gauge(row, "available_bytes", NULL);
    }
    row = tick_set(v->now, "vmstat", &n);
    if (row)
        v->values[RUN_SWAP] = (moment_rate(v, row, "swap_in_pages_total", NULL) +
                               moment_rate(v, row, "swap_out_pages_total", NULL)) *
                              (double)sysconf(_SC_PAGESIZE);
    if (row)
        v->values[RUN_REFAULTS] = moment_rate(v, row, "file_refault_pages_total", NULL) *
                                  (double)sysconf(_SC_PAGESIZE);
    row = tick_set(v->now, "tcp", &n);
    if (row)
        v->values[RUN_TCP_RETRANSMITS] = moment_rate(v, row, "retransmitted_segments_total", NULL) /
                                         moment_rate(v, row, "sent_segments_total", NULL);
}
