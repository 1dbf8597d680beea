/* Two ticks of a made-up node, one second apart, out of lines that say what a signal was and is. */
#ifndef BRIM_TESTS_LIVE_TICKS_H
#define BRIM_TESTS_LIVE_TICKS_H
#include <string.h>

#include "base/compiler.h"
#include "model/signal/signal.h"

struct given {
    const char *set, *thing, *signal, *label; /* a set of NULL ends the lines */
    double then, now;
};

#define SEC "seconds_total"
#define CPU(busy, iowait) \
    { "cpu", "", SEC, "mode=\"user\"", 0, 8 * (busy) }, \
        { "cpu", "", SEC, "mode=\"iowait\"", 0, 8 * (iowait) }, \
    { \
        "cpu", "", SEC, "mode=\"idle\"", 0, 8 * (1 - (busy) - (iowait)) \
    }
#define CORE(n, busy) \
    { "core", n, SEC, "mode=\"user\"", 5, 5 + (busy) }, \
    { \
        "core", n, SEC, "mode=\"idle\"", 5, 6 - (busy) \
    }
#define PRESSURE(what, share) \
    { \
        "pressure", what, "waiting_seconds_total", NULL, 7, 7 + (share) \
    }
#define DISK(name, busy, n, await, mb) \
    { "disk", name, "reads_total", NULL, 100, 100 + (n) }, \
        { "disk", name, "read_seconds_total", NULL, 0, (n) * (await) }, \
        { "disk", name, "read_bytes_total", NULL, 0, (mb)*1e6 }, \
        { "disk", name, "write_bytes_total", NULL, 0, 0 }, \
        { "disk", name, "io_seconds_total", NULL, 0, busy }, \
    { \
        "disk", name, "queue_seconds_total", NULL, 0, (n) * (await) \
    }
#define NFS(mount, ops, queue, rtt) \
    { "nfs", mount, "operations_total", "op=\"read\"", 0, ops }, \
        { "nfs", mount, "queue_seconds_total", "op=\"read\"", 0, (ops) * (queue) }, \
        { "nfs", mount, "rpc_seconds_total", "op=\"read\"", 0, (ops) * (rtt) }, \
        { "nfs", mount, "execute_seconds_total", "op=\"read\"", 0, (ops) * ((queue) + (rtt)) }, \
    { \
        "nfs", mount, "bytes_total", "op=\"read\"", 0, (ops)*1e5 \
    }
#define NET(name, in, out, can) \
    { "net", name, "receive_bytes_total", NULL, 1e9, 1e9 + (in) }, \
        { "net", name, "transmit_bytes_total", NULL, 1e9, 1e9 + (out) }, \
        { "net", name, "receive_packets_total", NULL, 0, (in) / 1000 }, \
        { "net", name, "transmit_packets_total", NULL, 0, (out) / 1000 }, \
    { \
        "net", name, "speed_bytes", NULL, can, can \
    }
#define GPU(n, share, jobs) \
    { "gpu", n, "busy_ratio", NULL, share, share }, \
    { \
        "gpu", n, "processes", NULL, jobs, jobs \
    }
#define PROCESS(pid, user, written) \
    { "process", pid, "cpu_seconds_total", "mode=\"user\"", 1, 1 + (user) }, \
    { \
        "process", pid, "write_bytes_total", NULL, 0, written \
    }
#define ONE(set, thing, signal, value) \
    { \
        set, thing, signal, NULL, value, value \
    }
#define END \
    { \
        NULL, NULL, NULL, NULL, 0, 0 \
    }

#define C(name) \
    { \
        name, "", SIGNAL_COUNTER, NULL \
    }
#define CL(name, label) \
    { \
        name, "", SIGNAL_COUNTER, label \
    }

static const struct signal_def made_modes[] = { CL(SEC, "mode=\"user\""), CL(SEC, "mode=\"idle\""),
                                                CL(SEC, "mode=\"iowait\""),
                                                CL(SEC, "mode=\"steal\"") };
static const struct signal_def made_disk[] = { C("reads_total"),      C("read_seconds_total"),
                                               C("read_bytes_total"), C("write_bytes_total"),
                                               C("io_seconds_total"), C("queue_seconds_total") };
static const struct signal_def made_nfs[] = { CL("operations_total", "op=\"read\""),
                                              CL("queue_seconds_total", "op=\"read\""),
                                              CL("rpc_seconds_total", "op=\"read\""),
                                              CL("execute_seconds_total", "op=\"read\""),
                                              CL("bytes_total", "op=\"read\"") };
static const struct signal_def made_net[] = {
    C("receive_bytes_total"),    C("transmit_bytes_total"), C("receive_packets_total"),
    C("transmit_packets_total"), C("speed_bytes"),          C("receive_dropped_total")
};
static const struct signal_def made_infiniband[] = { C("received_bytes_total"),
                                                     C("sent_bytes_total"),
                                                     C("rate_bytes_per_second") };
static const struct signal_def made_gpu[] = { C("busy_ratio"),
                                              C("processes"),
                                              C("sm_active_ratio"),
                                              C("lost"),
                                              C("pcie_received_bytes_total"),
                                              C("pcie_sent_bytes_total"),
                                              C("pcie_generation"),
                                              C("pcie_generation_max"),
                                              C("pcie_width"),
                                              C("pcie_width_max"),
                                              C("memory_used_bytes"),
                                              C("power_watts"),
                                              C("temperature_celsius"),
                                              C("tensor_active_ratio"),
                                              C("dram_active_ratio"),
                                              C("memory_total_bytes"),
                                              C("power_limit_watts"),
                                              C("sm_clock_hertz"),
                                              C("sm_clock_max_hertz"),
                                              C("link_received_bytes_total"),
                                              C("link_sent_bytes_total"),
                                              C("energy_joules_total") };
static const struct signal_def made_throttle[] = {
    CL("active", "reason=\"power\""), CL("active", "reason=\"thermal\""),
    CL("active", "reason=\"brake\""), CL("active", "reason=\"sync\""),
    CL("active", "reason=\"other\""), CL(SEC, "reason=\"power\""),
    CL(SEC, "reason=\"thermal\""),    CL(SEC, "reason=\"brake\""),
    CL(SEC, "reason=\"sync\""),       CL(SEC, "reason=\"other\"")
};
static const struct signal_def made_process[] = { CL("cpu_seconds_total", "mode=\"user\""),
                                                  C("write_bytes_total"), C("resident_bytes"),
                                                  C("io_read_bytes_total"),
                                                  C("children_cpu_seconds_total") };
static const struct signal_def made_pressure[] = { C("waiting_seconds_total") };
static const struct signal_def made_cgroup[] = { C("throttled_seconds_total") };
static const struct signal_def made_lustre[] = { C("rpc_wait_seconds_total"), C("rpcs_total"),
                                                 C("targets"), C("connected") };
#define MADE_EACH(name) \
    CL(name, "op=\"read\""), CL(name, "op=\"write\""), CL(name, "op=\"metadata\"")
static const struct signal_def made_ceph[] = { MADE_EACH("wait_seconds_total"),
                                               MADE_EACH("operations_total") };
static const struct signal_def made_host[] = { C("load1"), C("processes_running") };
static const struct signal_def made_memory[] = { C("total_bytes"), C("available_bytes") };
static const struct signal_def made_rapl[] = { C("energy_joules_total") };
static const struct signal_def made_filesystem[] = { C("size_bytes"), C("free_bytes") };
static const char *const made_gpu_facts[] = { "uuid", "model", NULL };
static const char *const made_process_facts[] = { "comm", "uid", "cgroup", NULL };

#define MADE(name, defs) \
    { \
        name, "thing", defs, ARRAY_SIZE(defs), NULL, 0 \
    }
static const struct signal_set made_sets[] = {
    MADE("cpu", made_modes),
    MADE("core", made_modes),
    MADE("disk", made_disk),
    MADE("nfs", made_nfs),
    MADE("net", made_net),
    MADE("infiniband", made_infiniband),
    { "gpu", "gpu", made_gpu, ARRAY_SIZE(made_gpu), made_gpu_facts, 0 },
    MADE("gpu_throttle", made_throttle),
    { "process", "pid", made_process, ARRAY_SIZE(made_process), made_process_facts, 0 },
    MADE("pressure", made_pressure),
    MADE("cgroup", made_cgroup),
    MADE("lustre", made_lustre),
    MADE("ceph", made_ceph),
    MADE("host", made_host),
    MADE("memory", made_memory),
    MADE("filesystem", made_filesystem),
    MADE("rapl", made_rapl),
};

/* The row of a line's set and thing, made if it is not there. */
static inline struct signal_row *made_row(struct tick *t, const struct given *g)
{
    const struct signal_set *set = made_sets;

    while (strcmp(set->name, g->set) != 0)
        set++;
    for (size_t i = 0; i < t->n_rows; i++)
        if (t->rows[i].set == set && !strcmp(t->rows[i].thing, g->thing))
            return &t->rows[i];
    return tick_add(t, set, g->thing);
}

/* Pids that begin with 1 are python's; those with 2 are of one job, each of another command. */
static inline void made_names(struct signal_row *row, const char *pid)
{
    tick_fact(row, 0, *pid == '1' ? "python" : *pid == '2' ? pid : "dd");
    tick_fact(row, 2, *pid == '2' ? "/job_7" : "/");
}

static inline void made_value(struct tick *t, const struct given *g, double value)
{
    struct signal_row *row = made_row(t, g);

    row->values[signal_index(row->set, g->signal, g->label)] = value;
    if (!strcmp(g->set, "process"))
        made_names(row, g->thing);
}

/* The ticks of second - 1 and of second. */
static inline void made_ticks(const struct given *lines, int second, struct tick ticks[2])
{
    for (int i = 0; i < 2; i++)
        tick_begin(&ticks[i], 0, (second + i - 1) * (int64_t)1000000000);
    for (; lines->set; lines++) {
        made_value(&ticks[0], lines, lines->then);
        made_value(&ticks[1], lines, lines->now);
    }
}

#endif
