#include "diagnose/node/live.h"

#include <math.h>
#include <stddef.h>

#include "live_ticks.h"
#include "tap.h"

static struct live live;

static void update(const struct given *lines, int second)
{
    struct tick ticks[2] = { { .n_rows = 0 }, { .n_rows = 0 } };

    made_ticks(lines, second, ticks);
    live_update(&live, &ticks[0], &ticks[1]);
    tick_done(&ticks[0]);
    tick_done(&ticks[1]);
}

static void test_first(void)
{
    struct tick empty = { .n_rows = 0 }, ticks[2] = { { .n_rows = 0 }, { .n_rows = 0 } };
    static const struct given lines[] = { CPU(0.5, 0), GPU("0", 0.5, 1), END };

    live = (struct live){ .n_gpus = 0 };
    live_update(&live, &empty, &empty);
    is_str(live.verdict.sentence, "nothing is known yet: it takes a second sample",
           "without a tick nothing is known yet");
    made_ticks(lines, 1, ticks);
    live_update(&live, &empty, &ticks[1]);
    is_int(live.verdict.state, LIVE_UNKNOWN, "the state is unknown after one tick");
    ok(live.gpus[0].busy == 0.5 && isnan(live.cpu.busy), "gauges are known, rates are not");
    live_update(&live, &ticks[1], &ticks[1]);
    is_int(live.verdict.state, LIVE_UNKNOWN,
           "the state is unknown where no time is between two ticks");
    tick_done(&ticks[0]);
    tick_done(&ticks[1]);
}

/* The bottleneck comes within seconds, and a second without it does not end it. */
static void test_hysteresis(void)
{
    static const struct given calm[] = { CPU(0.3, 0), DISK("vda", 0.2, 100, 0.02, 10), END },
                              full[] = { CPU(0.3, 0), DISK("vda", 0.99, 100, 0.1, 400), END },
                              both[] = { CPU(0.96, 0), DISK("vda", 0.96, 100, 0.1, 400), END },
                              cpu[] = { CPU(1, 0), DISK("vda", 0.95, 100, 0.1, 400), END };
    int second = 1;

    live = (struct live){ .n_gpus = 0 };
    for (; second < 5; second++)
        update(calm, second);
    is_int(live.verdict.bottleneck, LIVE_NONE, "a calm node has no bottleneck");
    update(full, second++);
    is_int(live.verdict.bottleneck, LIVE_NONE, "one second says little");
    while (live.verdict.bottleneck != LIVE_STORAGE && second < 20)
        update(full, second++);
    ok(second <= 12, "the bottleneck is found after %d seconds", second - 5);
    for (int i = 0; i < 10; i++)
        update(full, second++);
    update(calm, second++);
    is_int(live.verdict.bottleneck, LIVE_STORAGE, "a second of calm does not end it");
    for (int i = 0; i < 2; i++)
        update(calm, second++);
    is_int(live.verdict.bottleneck, LIVE_NONE, "three seconds of calm end a bottleneck");
    for (int i = 0; i < 10; i++)
        update(both, second++);
    is_int(live.verdict.bottleneck, LIVE_STORAGE, "the first of two bottlenecks stays");
    for (int i = 0; i < 10; i++)
        update(cpu, second++);
    is_int(live.verdict.bottleneck, LIVE_STORAGE, "stays though the CPU is a little nearer");
}

/* Of two disks that are as busy the one that was told stays. */
static void test_two_disks(void)
{
    static const struct given first[] = { CPU(0.3, 0), DISK("vda", 0.97, 100, 0.1, 9),
                                          DISK("vdb", 0.95, 100, 0.1, 9), END },
                              second[] = { CPU(0.3, 0), DISK("vda", 0.95, 100, 0.1, 9),
                                           DISK("vdb", 0.97, 100, 0.1, 9), END },
                              clear[] = { CPU(0.3, 0), DISK("vda", 0.5, 100, 0.1, 9),
                                          DISK("vdb", 0.97, 100, 0.1, 9), END };

    live = (struct live){ .n_gpus = 0 };
    update(first, 1);
    is_str(live.stages[LIVE_STORAGE].thing, "vda", "the busier one of two disks is named");
    update(second, 2);
    is_str(live.stages[LIVE_STORAGE].thing, "vda", "the disk that was named stays named");
    update(clear, 3);
    is_str(live.stages[LIVE_STORAGE].thing, "vdb",
           "another disk is named when it is clearly busier");
    is_str(live.verdict.sentence,
           "storage limits this node: disk vdb is 97 % busy and takes 100 ms a request",
           "the sentence has the figures of the other disk");
}

static void test_tables(void)
{
    static const struct given lines[] = { CPU(0.3, 0.1),
                                          CORE("0", 0.5),
                                          CORE("1", 0.1),
                                          DISK("vda", 0.5, 100, 0.02, 10),
                                          ONE("filesystem", "/", "size_bytes", 100),
                                          ONE("filesystem", "/", "free_bytes", 30),
                                          NFS("/data", 100, 0.01, 0.03),
                                          PROCESS("2", 0.5, 5),
                                          PROCESS("10", 0.1, 900),
                                          PRESSURE("io", 1.01),
                                          NET("eth0", 1e4, 1e4, (double)NAN),
                                          { "net", "eth0", "receive_dropped_total", NULL, 0, 10 },
                                          END };
    struct tick ticks[2] = { { .n_rows = 0 }, { .n_rows = 0 } };

    live = (struct live){ .sort = LIVE_BY_CPU };
    made_ticks(lines, 1, ticks);
    live_update(&live, &ticks[0], &ticks[1]);
    is_int((long long)(live.cpu.busy * 1000 + 0.5), 300, "the CPUs are busy for 0.3 of the time");
    is_int((long long)(live.cpu.iowait * 1000 + 0.5), 100,
           "the CPUs wait for disks for 0.1 of the time");
    is_int((long long)(live.cpu.busiest * 1000 + 0.5), 500,
           "the busiest CPU is busy for half of the time");
    is_int((long long)(live.disks[0].await * 1e6 + 0.5), 20000,
           "a request of the disk takes 20 ms");
    is_int((long long)live.disks[0].read, 10000000, "the disk reads 10 MB/s");
    is_int((long long)live.filesystems[0].used, 70, "the file system has used 70 of 100 bytes");
    is_int((long long)(live.nfs[0].rtt * 1e6 + 0.5), 30000, "a round trip of NFS takes 30 ms");
    is_int((long long)(live.nfs[0].queue * 1e6 + 0.5), 10000,
           "a call of NFS waits for 10 ms in its queue");
    ok(live.io_pressure == 1, "pressure is never more than all of the time");
    is_int(live.stages[LIVE_NETWORK].state, LIVE_IDLE, "some talk is always there");
    is_str(live.stages[LIVE_NETWORK].detail,
           "10 kB/s received, 10 kB/s sent; what the links can carry is not known",
           "few packets that are lost are no matter");
    is_str(live.processes[0].pid, "2", "the process with most CPU time comes first");
    live.sort = LIVE_BY_WRITE;
    live_resort(&live, &ticks[0], &ticks[1]);
    is_str(live.processes[0].pid, "10", "the process that writes most comes first");
    is_int((long long)live.n_processes, 2, "each of the two processes stands in the list once");
    tick_done(&ticks[0]);
    tick_done(&ticks[1]);
}

/* Each signal of a GPU arrives in a place of its own. */
static void test_gpu_fields(void)
{
    static const struct {
        const char *signal;
        double now; /* grown from 0 in a second, where it is a total */
        size_t at;
    } fields[] = {
#define AT(name) offsetof(struct live_gpu, name)
        { "busy_ratio", 0.25, AT(busy) },
        { "sm_active_ratio", 0.26, AT(sm_active) },
        { "tensor_active_ratio", 0.27, AT(tensor_active) },
        { "dram_active_ratio", 0.28, AT(dram_active) },
        { "memory_used_bytes", 1e9, AT(memory_used) },
        { "memory_total_bytes", 8e9, AT(memory_total) },
        { "power_watts", 300, AT(power) },
        { "power_limit_watts", 700, AT(power_limit) },
        { "temperature_celsius", 55, AT(temperature) },
        { "sm_clock_hertz", 1.2e9, AT(sm_clock) },
        { "sm_clock_max_hertz", 1.9e9, AT(sm_clock_max) },
        { "pcie_received_bytes_total", 1e6, AT(pcie_rx) },
        { "pcie_sent_bytes_total", 2e6, AT(pcie_tx) },
        { "pcie_generation", 4, AT(pcie_gen) },
        { "pcie_generation_max", 5, AT(pcie_gen_max) },
        { "pcie_width", 8, AT(pcie_width) },
        { "pcie_width_max", 16, AT(pcie_width_max) },
        { "link_received_bytes_total", 3e6, AT(link_rx) },
        { "link_sent_bytes_total", 4e6, AT(link_tx) },
        { "processes", 2, AT(processes) },
        { "lost", 0, AT(lost) },
#undef AT
    };
    struct given lines[ARRAY_SIZE(fields) + 1] = { 0 };

    for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
        bool total = strstr(fields[i].signal, "_total") && !strstr(fields[i].signal, "_total_");

        lines[i] = (struct given){
            "gpu", "0", fields[i].signal, NULL, total ? 0 : fields[i].now, fields[i].now
        };
    }
    live = (struct live){ .n_gpus = 0 };
    update(lines, 1);
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
        double got;

        memcpy(&got, (char *)&live.gpus[0] + fields[i].at, sizeof(got));
        ok(got == fields[i].now, "%s of a GPU is %g in the live view", fields[i].signal, got);
    }
}

/* What no counter and no link can say is absent. */
static void test_nonsense(void)
{
    static const struct given lines[] = { CPU(0.3, 0),
                                          { "disk", "vda", "io_seconds_total", NULL, 5, 1 },
                                          { "gpu", "0", "pcie_received_bytes_total", NULL, 0, 1e9 },
                                          ONE("gpu", "0", "pcie_generation", 900),
                                          ONE("gpu", "0", "pcie_width", 16),
                                          ONE("gpu", "0", "temperature_celsius", -1e300),
                                          END };

    live = (struct live){ .n_gpus = 0 };
    update(lines, 1);
    ok(isnan(live.disks[0].busy), "a counter that went back has no rate");
    ok(isnan(live.gpus[0].temperature), "colder than can be");
    is_int(live.stages[LIVE_PCIE].state, LIVE_UNKNOWN, "a link of generation 900 is not known");
}

/* More processes than the table has room for: those that do most are in it. */
static void test_many_processes(void)
{
    struct tick ticks[2] = { { .n_rows = 0 }, { .n_rows = 0 } };
    char pid[16];

    live = (struct live){ .sort = LIVE_BY_CPU };
    made_ticks((const struct given[]){ END }, 1, ticks);
    for (int i = 0; i < 2 * LIVE_PROCESSES_MAX; i++) {
        struct given g = { "process", pid, "cpu_seconds_total", "mode=\"user\"", 0, 0 };

        snprintf(pid, sizeof(pid), "%d", 1000 + i);
        made_value(&ticks[0], &g, 0);
        made_value(&ticks[1], &g, i * 7 % 100);
    }
    live_update(&live, &ticks[0], &ticks[1]);
    is_int((long long)live.n_processes, LIVE_PROCESSES_MAX, "the list of processes is full");
    ok(live.processes[0].cpu == 99 && live.processes[LIVE_PROCESSES_MAX - 1].cpu == 50,
       "the half that uses more");
    tick_done(&ticks[0]);
    tick_done(&ticks[1]);
}

/* Each reason: by its flag, by the share of the time that the driver counts, by both, by none. */
static void test_throttles(void)
{
    static const struct {
        const char *reason;
        unsigned flag;
        bool counts; /* its seconds are read */
    } reasons[] = { { "reason=\"power\"", LIVE_THROTTLE_POWER, false },
                    { "reason=\"thermal\"", LIVE_THROTTLE_THERMAL, true },
                    { "reason=\"brake\"", LIVE_THROTTLE_BRAKE, true },
                    { "reason=\"sync\"", LIVE_THROTTLE_SYNC, false },
                    { "reason=\"other\"", LIVE_THROTTLE_OTHER, true } };

    for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
        const char *reason = reasons[i].reason;
        struct given lines[] = { CPU(0.1, 0),
                                 GPU("0", 0.9, 1),
                                 { "gpu_throttle", "0", "active", reason, 1, 1 },
                                 { "gpu_throttle", "0", SEC, reason, 0, 0.4 },
                                 END };
        struct given *active = &lines[ARRAY_SIZE(lines) - 3], *seconds = active + 1;
        double held = reasons[i].counts ? 0.4 : 0;

        live = (struct live){ .n_gpus = 0 };
        update(lines, 1);
        is_int(live.gpus[0].throttle, reasons[i].flag, "%s is what holds the GPU down", reason);
        ok(fabs(live.gpus[0].throttled - held) < 1e-9, "%s holds it for the time counted: %g",
           reason, live.gpus[0].throttled);
        active->then = active->now = 0;
        update(lines, 2);
        is_int(live.gpus[0].throttle, reasons[i].counts ? reasons[i].flag : 0U,
               "%s of this second is told though its flag is down, where seconds are read", reason);
        active->then = active->now = 1;
        seconds->now = 0;
        update(lines, 3);
        is_int(live.gpus[0].throttle, reasons[i].flag, "%s is told when its flag is up", reason);
        ok(live.gpus[0].throttled == 0, "%s that is not counted takes no time", reason);
        seconds->then = seconds->now = (double)NAN;
        update(lines, 4);
        ok(live.gpus[0].throttled == (reasons[i].counts ? 1 : 0),
           "%s without a counter holds it all the time that its flag is up", reason);
        active->then = active->now = 0;
        seconds->then = 0;
        seconds->now = 0;
        update(lines, 5);
        is_int(live.gpus[0].throttle, 0, "%s that is neither up nor counted is not told", reason);
    }
}

int main(void)
{
    test_first();
    test_hysteresis();
    test_two_disks();
    test_tables();
    test_throttles();
    test_gpu_fields();
    test_nonsense();
    test_many_processes();
    return done();
}
