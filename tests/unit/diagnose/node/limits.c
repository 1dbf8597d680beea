/* Each limit of the live view, just below and just above: the verdict changes between the two, and
 * a text tells at which bit. A limit without a row fails.
 *
 *     t_diagnose_node_limits FILE */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/str.h"
#include "diagnose/node/live_private.h"
#include "golden.h"
#include "live_ticks.h"

/* From 0 on: nothing rounds. */
#define WAITS(what, share) \
    { \
        "pressure", what, "waiting_seconds_total", NULL, 0, share \
    }
#define ONE_CORE(n, busy) \
    { "core", n, SEC, "mode=\"user\"", 0, busy }, \
    { \
        "core", n, SEC, "mode=\"idle\"", 0, 1 - (busy) \
    }

static struct live live;

static void update(const struct given *lines, int second)
{
    struct tick ticks[2] = { { .n_rows = 0 }, { .n_rows = 0 } };

    made_ticks(lines, second, ticks);
    live_update(&live, &ticks[0], &ticks[1]);
    tick_done(&ticks[0]);
    tick_done(&ticks[1]);
}

static void look(const struct given *lines)
{
    live = (struct live){ .n_gpus = 0 };
    update(lines, 1);
}

static bool is_limit(enum live_stage_id id)
{
    return live.stages[id].state == LIVE_LIMIT;
}

/* ---- loads ---- */

static bool disk_is_full(double x)
{
    look((const struct given[]){ CPU(0.2, 0), DISK("vda", x, 100, 0.05, 9), END });
    return is_limit(LIVE_STORAGE);
}

static bool disk_is_busy(double x)
{
    look((const struct given[]){ CPU(0.2, 0), DISK("vda", x, 100, 0.05, 9), END });
    return live.stages[LIVE_STORAGE].state >= LIVE_BUSY;
}

static bool disk_is_idle(double x)
{
    look((const struct given[]){ CPU(0.2, 0), DISK("vda", x, 100, 0.05, 9), END });
    return live.stages[LIVE_STORAGE].state == LIVE_IDLE;
}

/* It was full; then it is as busy for so long that the average is that. */
static bool disk_stays_full(double x)
{
    const struct given full[] = { CPU(0.2, 0), DISK("vda", 1, 100, 0.05, 9), END };
    const struct given less[] = { CPU(0.2, 0), DISK("vda", x, 100, 0.05, 9), END };

    look(full);
    for (int i = 2; i < 60; i++)
        update(less, i);
    return is_limit(LIVE_STORAGE);
}

static bool nobody_waits(double x)
{
    look((const struct given[]){ CPU(0.2, 0), DISK("vda", x, 100, 0.0005, 9), END });
    return live.stages[LIVE_STORAGE].load < x;
}

/* A lost target has no measure: CPUs that are nearer their limit stand before it. */
static bool cpus_are_nearer(double x)
{
    look((const struct given[]){ CPU(x, 0), ONE("lustre", "scratch", "targets", 8),
                                 ONE("lustre", "scratch", "connected", 6), END });
    return live.verdict.bottleneck == LIVE_CPU;
}

static bool something_runs(double x)
{
    look((const struct given[]){ CPU(x, 0), END });
    return live.verdict.state == LIVE_OK;
}

/* ---- GPUs ---- */

static bool gpu_is_the_limit(double x)
{
    look((const struct given[]){ CPU(0.2, 0), GPU("0", x, 1), END });
    return live.verdict.bottleneck == LIVE_GPU;
}

static bool gpu_does_nothing(double x)
{
    look((const struct given[]){ CPU(0.02, 0), GPU("0", x, 1), END });
    return live.stages[LIVE_GPU].state == LIVE_IDLE;
}

static bool kernels_are_small(double x)
{
    look((const struct given[]){ CPU(0.1, 0), GPU("0", 0.94, 1),
                                 ONE("gpu", "0", "sm_active_ratio", x), END });
    return strstr(live.verdict.sentence, "kernels are small") != NULL;
}

/* One that is slowed down since a moment: its average is not near its limit yet. */
static bool wait_warns(double x)
{
    const struct given before[] = { CPU(0.2, 0), DISK("vda", 1, 100, 0.05, 9), GPU("0", 0.2, 1),
                                    END };
    const struct given now[] = { CPU(0.2, 0),
                                 DISK("vda", 1, 100, 0.05, 9),
                                 GPU("0", 1 - x, 1),
                                 { "gpu_throttle", "0", SEC, "reason=\"thermal\"", 5, 5.4 },
                                 END };

    look(before);
    update(now, 2);
    return live.verdict.severity == SEVERITY_WARNING;
}

static bool wait_is_critical(double x)
{
    look((const struct given[]){ CPU(0.2, 0), DISK("vda", 1, 100, 0.05, 9), GPU("0", 1 - x, 1),
                                 END });
    return live.verdict.severity == SEVERITY_CRITICAL;
}

static bool gpu_is_slowed_down(double x)
{
    look((const struct given[]){ CPU(0.1, 0),
                                 GPU("0", 0.94, 1),
                                 { "gpu_throttle", "0", SEC, "reason=\"thermal\"", 0, x },
                                 END });
    return strstr(live.verdict.sentence, "slowed down") != NULL;
}

static bool link_to_gpu_is_full(double x)
{
    look((const struct given[]){ CPU(0.1, 0),
                                 GPU("0", 0.7, 1),
                                 ONE("gpu", "0", "pcie_generation", 3),
                                 ONE("gpu", "0", "pcie_width", 16),
                                 { "gpu", "0", "pcie_received_bytes_total", NULL, 0, x * 15.754e9 },
                                 END });
    return is_limit(LIVE_PCIE);
}

/* ---- storage ---- */

static bool requests_take_long(double x)
{
    look((const struct given[]){ CPU(0.2, 0), DISK("vda", 0.98, 10, x, 9), END });
    return is_limit(LIVE_STORAGE);
}

static bool requests_queue(double x)
{
    look((const struct given[]){ CPU(0.2, 0), DISK("vda", 0.98, 2000, x / 2000, 9), END });
    return is_limit(LIVE_STORAGE);
}

static bool work_waits_for_a_busy_disk(double x)
{
    look((const struct given[]){ CPU(0.2, 0), DISK("vda", 0.98, 100, 0.0005, 9), WAITS("io", x),
                                 END });
    return is_limit(LIVE_STORAGE);
}

static bool work_waits_for_no_disk(double x)
{
    look(
        (const struct given[]){ CPU(0.2, 0), DISK("vda", 0.1, 10, 0.001, 1), WAITS("io", x), END });
    return is_limit(LIVE_STORAGE);
}

static bool operations_queue(double x)
{
    look((const struct given[]){ CPU(0.2, 0), NFS("/data", 400, 0.06 * x, 0.06 * (1 - x)), END });
    return is_limit(LIVE_STORAGE);
}

/* ---- CPUs and memory ---- */

static bool cpus_are_full(double x)
{
    look((const struct given[]){ CPU(x, 0), END });
    return is_limit(LIVE_CPU);
}

static bool core_is_full(double x)
{
    look((const struct given[]){ CPU(0.13, 0), ONE_CORE("0", x), ONE_CORE("1", 0.02), END });
    return is_limit(LIVE_CPU);
}

static bool thread_is_full(double x)
{
    look((const struct given[]){ CPU(0.13, 0), ONE_CORE("0", 0.5), ONE_CORE("1", 0.5),
                                 PROCESS("1234", x, 0), END });
    return is_limit(LIVE_CPU);
}

static bool threads_wait(double x)
{
    look((const struct given[]){ CPU(0.75, 0), WAITS("cpu", x), END });
    return is_limit(LIVE_CPU);
}

static bool threads_wait_on_busy_cpus(double x)
{
    look((const struct given[]){ CPU(x, 0), WAITS("cpu", 0.5), END });
    return is_limit(LIVE_CPU);
}

static bool cgroup_is_held(double x)
{
    look((const struct given[]){
        CPU(0.3, 0), { "cgroup", "/job_7", "throttled_seconds_total", NULL, 0, x }, END });
    return is_limit(LIVE_CPU);
}

static bool time_is_stolen(double x)
{
    look((const struct given[]){
        CPU(0.3, 0), { "cpu", "", SEC, "mode=\"steal\"", 0, 8 * x / (1 - x) }, END });
    return is_limit(LIVE_CPU);
}

static bool work_waits_for_memory(double x)
{
    look((const struct given[]){ CPU(0.3, 0), WAITS("memory", x), END });
    return is_limit(LIVE_CPU);
}

/* ---- the network ---- */

static bool link_is_full(double x)
{
    look((const struct given[]){ CPU(0.1, 0), NET("eth0", 1e6, x * 1.25e9, 1.25e9), END });
    return is_limit(LIVE_NETWORK);
}

static bool packets_are_lost(double x)
{
    look((const struct given[]){ CPU(0.1, 0),
                                 NET("eth0", 1e7, 1e7, 1.25e9),
                                 { "net", "eth0", "receive_dropped_total", NULL, 0, x * 2e4 },
                                 END });
    return strstr(live.stages[LIVE_NETWORK].detail, "loses") != NULL;
}

/* ---- all of them ---- */

static bool user_is_named(double x)
{
    look((const struct given[]){ CPU(0.99, 0), ONE_CORE("0", 1), ONE_CORE("1", 1), ONE_CORE("2", 1),
                                 ONE_CORE("3", 1), PROCESS("1234", 4 * 0.99 * x, 0), END });
    return strstr(live.verdict.action, "python") != NULL;
}

static bool gpu_is_uneven(double x)
{
    look((const struct given[]){ CPU(0.1, 0), GPU("0", 0.95, 1), GPU("1", 0.95 - x, 1), END });
    return strstr(live.verdict.sentence, "GPU 1") != NULL;
}

#define LIMIT(member) #member, offsetof(struct live_limits, member)

static const struct row {
    const char *name;
    size_t offset;
    double no, yes; /* on either side: where it is not so, and where it is */
    bool (*holds)(double x);
    const char *what;
} rows[] = {
    { LIMIT(load_limit), 0.895, 0.905, disk_is_full, "so busy a disk is at its limit" },
    { LIMIT(load_weak), 0.945, 0.955, cpus_are_nearer, "so busy CPUs stand before a lost target" },
    { LIMIT(load_leave), 0.695, 0.705, disk_stays_full, "so busy a disk stays at its limit" },
    { LIMIT(load_unwaited), 0.645, 0.655, nobody_waits,
      "so busy a disk counts less where nobody waits for it" },
    { LIMIT(load_busy), 0.595, 0.605, disk_is_busy, "so busy a disk is called busy" },
    { LIMIT(load_idle), 0.0505, 0.0495, disk_is_idle, "so busy a disk is called idle" },
    { LIMIT(load_nothing), 0.099, 0.101, something_runs, "so busy CPUs mean that something runs" },
    { LIMIT(gpu_busy), 0.845, 0.855, gpu_is_the_limit, "so busy a GPU is the limit" },
    { LIMIT(gpu_idle), 0.0205, 0.0195, gpu_does_nothing, "so busy a GPU does nothing" },
    { LIMIT(gpu_uneven), 0.295, 0.305, gpu_is_uneven, "a GPU that waits so much longer is named" },
    { LIMIT(sm_active), 0.305, 0.295, kernels_are_small,
      "so many multiprocessors at work mean small kernels" },
    { LIMIT(wait_warning), 0.099, 0.101, wait_warns, "so much waiting of a GPU warns" },
    { LIMIT(wait_critical), 0.199, 0.201, wait_is_critical,
      "so much waiting of a GPU is critical" },
    { LIMIT(disk_await_s), 0.0099, 0.0101, requests_take_long,
      "requests that take so long are waited for" },
    { LIMIT(disk_queue), 7.9, 8.1, requests_queue, "so many requests are waited for" },
    { LIMIT(io_pressure), 0.099, 0.101, work_waits_for_a_busy_disk,
      "so much pressure means that a busy disk is waited for" },
    { LIMIT(io_pressure_alone), 0.295, 0.305, work_waits_for_no_disk,
      "so much pressure is told where no disk is busy" },
    { LIMIT(nfs_queue_share), 0.495, 0.505, operations_queue,
      "so much of an operation in the queue is a limit" },
    { LIMIT(cpu_busy), 0.895, 0.905, cpus_are_full, "so busy CPUs are at their limit" },
    { LIMIT(core_busy), 0.945, 0.955, core_is_full, "so busy a core is at its limit" },
    { LIMIT(core_busy), 0.945, 0.955, thread_is_full,
      "so busy a process is at one thread's limit" },
    { LIMIT(cpu_pressure), 0.195, 0.205, threads_wait, "so much pressure is the CPUs' limit" },
    { LIMIT(cpu_pressure_busy), 0.695, 0.705, threads_wait_on_busy_cpus,
      "CPUs have to be so busy for pressure to count" },
    { LIMIT(throttled), 0.099, 0.101, cgroup_is_held, "a cgroup that is held so long is a limit" },
    { LIMIT(steal), 0.099, 0.101, time_is_stolen, "so much stolen time is a limit" },
    { LIMIT(memory_pressure), 0.099, 0.101, work_waits_for_memory,
      "so much waiting for memory is a limit" },
    { LIMIT(link_share), 0.795, 0.805, link_is_full, "so much traffic is a link's limit" },
    { LIMIT(link_share), 0.79, 0.81, link_to_gpu_is_full,
      "so much traffic is a PCIe link's limit" },
    { LIMIT(gpu_throttled), 0.0495, 0.0505, gpu_is_slowed_down,
      "a GPU that is held so long is slowed down" },
    { LIMIT(drops), 0.00099, 0.00101, packets_are_lost, "so many lost packets are told" },
    { LIMIT(named), 0.199, 0.201, user_is_named, "whoever uses so much is named" },
};

/* Which row is the first of a limit, by its place among them; -1: none. */
static int find_row(size_t offset)
{
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (rows[i].offset == offset)
            return (int)i;
    return -1;
}

/* Where the verdict changes, to the last bit: the limit itself, or what is next to it. */
static void add_change(const struct row *r, struct str *out)
{
    double no = r->no, yes = r->yes, limit;

    memcpy(&limit, (const char *)&live_limits + r->offset, sizeof(limit));
    for (double x = (no + yes) / 2; x != no && x != yes; x = (no + yes) / 2)
        if (r->holds(x))
            yes = x;
        else
            no = x;
    str_addf(out, "%s: ", r->what);
    if (yes >= limit && yes <= limit)
        str_addf(out, "from %g on\n", limit);
    else if (no >= limit && no <= limit)
        str_addf(out, "beyond %g\n", limit);
    else
        str_addf(out,
                 fabs(yes - limit) < 1e-12 ? "where %.17g of %g is reached\n"
                                           : "where %.6g of %g is reached\n",
                 yes, limit);
}

int main(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(1 << 16);

    if (argc < 2)
        return 1;
    for (size_t at = 0; at < sizeof(struct live_limits); at += sizeof(double))
        ok(find_row(at) >= 0, "limit %zu of the live view has a row", at / sizeof(double));
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct row *r = &rows[i];

        ok(!r->holds(r->no), "%s: at %g it is not true that %s", r->name, r->no, r->what);
        ok(r->holds(r->yes), "%s: at %g it is true that %s", r->name, r->yes, r->what);
        add_change(r, &out);
    }
    golden(argv[1], str_text(&out));
    return done();
}
