/* The live view of nodes when one signal is another: what is said, where that is not what was said
 * before.
 *
 *     t_diagnose_node_sweep FILE */
#include <math.h>

#include "diagnose/node/live.h"
#include "golden.h"
#include "live_ticks.h"
#include "new_lines.h"

enum { ROOM = 8 << 20, LINES = 96 };

#define LINKED(n, gen, width, sent) \
    ONE("gpu", n, "pcie_generation", gen), ONE("gpu", n, "pcie_generation_max", 5), \
        ONE("gpu", n, "pcie_width", width), ONE("gpu", n, "pcie_width_max", 16), \
        { "gpu", n, "pcie_received_bytes_total", NULL, 0, sent }, \
    { \
        "gpu", n, "pcie_sent_bytes_total", NULL, 0, (sent) / 2 \
    }
#define CEPH(client, op, wait, count) \
    { "ceph", client, "wait_seconds_total", "op=\"" op "\"", 0, wait }, \
    { \
        "ceph", client, "operations_total", "op=\"" op "\"", 0, count \
    }
#define THERMAL(n, share) \
    ONE("gpu_throttle", n, "active", 0), \
    { \
        "gpu_throttle", n, SEC, "reason=\"thermal\"", 0, share \
    }

static const struct scenario {
    const char *name;
    struct given lines[LINES];
} scenarios[] = {
    { "a node that computes",
      { CPU(0.5, 0.05),
        CORE("0", 0.5),
        CORE("1", 0.9),
        PRESSURE("cpu", 0.1),
        PRESSURE("io", 0.05),
        PRESSURE("memory", 0.02),
        DISK("vda", 0.4, 100, 0.004, 100),
        NFS("/data", 100, 0.001, 0.004),
        NET("eth0", 300e6, 200e6, 1.25e9),
        GPU("0", 0.9, 1),
        GPU("1", 0.8, 1),
        ONE("gpu", "0", "sm_active_ratio", 0.5),
        ONE("gpu", "1", "sm_active_ratio", 0.6),
        ONE("gpu", "0", "power_watts", 400),
        LINKED("0", 5, 16, 10e9),
        PROCESS("101", 3, 50e6),
        PROCESS("102", 1, 10e6),
        ONE("host", "", "load1", 4),
        ONE("memory", "", "total_bytes", 64e9),
        ONE("memory", "", "available_bytes", 32e9),
        END } },
    { "a disk that is full",
      { CPU(0.2, 0.3), DISK("vda", 0.98, 100, 0.084, 412), DISK("vdb", 0.9, 900, 0.011, 80),
        GPU("0", 0.4, 1), GPU("1", 0.35, 1), PRESSURE("io", 0.3), PROCESS("17", 0.5, 300e6),
        PROCESS("4711", 0.1, 100e6), END } },
    { "files of others",
      { CPU(0.1, 0.1),
        NFS("/data", 400, 0.045, 0.015),
        NFS("/home", 40, 0.001, 0.08),
        { "lustre", "scratch", "rpc_wait_seconds_total", NULL, 0, 30 },
        { "lustre", "scratch", "rpcs_total", NULL, 0, 600 },
        ONE("lustre", "scratch", "targets", 8),
        ONE("lustre", "scratch", "connected", 8),
        GPU("0", 0.38, 1),
        PRESSURE("io", 0.5),
        END } },
    { "files in Ceph",
      { CPU(0.1, 0.1), CEPH("x.client7", "read", 12, 300), CEPH("x.client7", "write", 8, 100),
        CEPH("x.client7", "metadata", 20, 400), GPU("0", 0.38, 1), PRESSURE("io", 0.5), END } },
    { "a network that is full",
      { CPU(0.3, 0),
        NET("eth0", 1.0e9, 0.4e9, 1.25e9),
        NET("eth1", 0.1e9, 0.2e9, 1.25e9),
        { "net", "eth1", "receive_dropped_total", NULL, 0, 40 },
        { "infiniband", "mlx5_0/1", "received_bytes_total", NULL, 0, 20e9 },
        { "infiniband", "mlx5_0/1", "sent_bytes_total", NULL, 0, 21e9 },
        ONE("infiniband", "mlx5_0/1", "rate_bytes_per_second", 25e9),
        GPU("0", 0.5, 1),
        END } },
    { "CPUs that are full",
      { CPU(0.95, 0),
        CORE("0", 1),
        CORE("1", 0.94),
        PRESSURE("cpu", 0.4),
        { "cpu", "", SEC, "mode=\"steal\"", 0, 0.1 },
        { "cgroup", "/job_7", "throttled_seconds_total", NULL, 0, 0.05 },
        PROCESS("201", 3, 0),
        PROCESS("202", 2, 0),
        PROCESS("103", 1, 0),
        GPU("0", 0.6, 2),
        END } },
    { "one core that is full",
      { CPU(0.13, 0), CORE("0", 1), CORE("1", 0.02), PROCESS("1234", 1, 0), GPU("0", 0.3, 1),
        END } },
    { "GPUs that are slowed down",
      { CPU(0.2, 0), GPU("0", 0.95, 1), GPU("1", 0.97, 1), GPU("2", 0.96, 1), THERMAL("1", 0.3),
        LINKED("0", 5, 16, 40e9), LINKED("1", 3, 8, 2e9), ONE("gpu", "2", "lost", 0),
        ONE("gpu", "0", "sm_active_ratio", 0.2), END } },
    { "a GPU unlike the others",
      { CPU(0.2, 0), GPU("0", 0.95, 1), GPU("1", 0.1, 1), GPU("2", 0.96, 1), END } },
    { "a node that rests",
      { CPU(0.02, 0), CORE("0", 0.02), DISK("vda", 0.01, 2, 0.001, 1), GPU("0", 0, 2),
        GPU("1", 0, 0), NET("eth0", 1e6, 1e6, 1.25e9), END } },
};

static void tell(const struct given *lines, struct str *out)
{
    static struct live live;
    struct tick ticks[2] = { { .n_rows = 0 }, { .n_rows = 0 } };
    const struct live_verdict *v = &live.verdict;

    live = (struct live){ .n_gpus = 0 };
    made_ticks(lines, 1, ticks);
    live_update(&live, &ticks[0], &ticks[1]);
    str_addf(out, "%s %u: %s [%s] %s\n", live_state_name(v->state), (unsigned)v->severity,
             v->sentence, v->waste, v->action);
    for (unsigned i = 0; i < LIVE_STAGES; i++) {
        const struct live_stage *s = &live.stages[i];

        str_addf(out, "%s %s%s %d %.4g %s: %s\n", live_stage_name(i), live_state_name(s->state),
                 s->weak ? " weakly" : "", s->cause, s->load, s->value, s->detail);
    }
    tick_done(&ticks[0]);
    tick_done(&ticks[1]);
}

static void sweep(const struct scenario *s, struct str *out)
{
    static const double factors[] = { 0, 0.1, 0.5, 0.8, 1.1, 2, 10, (double)NAN };
    CLEANUP(str_done) struct str before = STR_INIT(ROOM), now = STR_INIT(ROOM);

    tell(s->lines, &before);
    str_addf(out, "%s\n%s", s->name, str_text(&before));
    for (size_t i = 0; s->lines[i].set; i++)
        for (size_t k = 0; k < ARRAY_SIZE(factors); k++) {
            struct given lines[LINES], *one = &lines[i];
            bool gauge = !(s->lines[i].now > s->lines[i].then);

            memcpy(lines, s->lines, sizeof(lines));
            one->now = gauge ? one->now * factors[k]
                             : one->then + (one->now - one->then) * factors[k];
            one->then = gauge ? one->now : one->then;
            str_reset(&now);
            tell(lines, &now);
            if (strcmp(str_text(&now), str_text(&before)) == 0)
                continue;
            str_addf(out, "  %s %s %s %s x %g\n", one->set, one->thing, one->signal,
                     one->label ? one->label : "", factors[k]);
            new_lines(out, str_text(&now), str_text(&before));
        }
}

int main(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);

    if (argc < 2)
        return 1;
    for (size_t i = 0; i < ARRAY_SIZE(scenarios); i++)
        sweep(&scenarios[i], &out);
    is_int(str_error(&out), 0, "the text of all nodes has room");
    golden(argv[1], str_text(&out));
    return done();
}
