/* Each signal of a node arrives in a place of its own in the live view; what processes are sorted
 * by; who is named for what is used; which client of a parallel file system waits most. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/node/live_private.h"
#include "tap.h"

enum { PARTS = 3, SECONDS = 2, DEFS = 4 };

#define AT(member) offsetof(struct live, member)
#define MODE(mode) "seconds_total", "mode=\"" mode "\""
#define OP(name, op) name, "op=\"" op "\""

/* What grew within two seconds, and where that is seen. */
static const struct row {
    const char *set, *thing;
    struct {
        const char *name, *label;
        double grown;
    } parts[PARTS];
    size_t at;
    double want;
} rows[] = {
    { "cpu", "", { { MODE("user"), 3 }, { MODE("idle"), 1 } }, AT(cpu.busy), 0.75 },
    { "cpu", "", { { MODE("nice"), 3 }, { MODE("idle"), 1 } }, AT(cpu.busy), 0.75 },
    { "cpu", "", { { MODE("system"), 3 }, { MODE("idle"), 1 } }, AT(cpu.busy), 0.75 },
    { "cpu", "", { { MODE("irq"), 3 }, { MODE("idle"), 1 } }, AT(cpu.busy), 0.75 },
    { "cpu", "", { { MODE("softirq"), 3 }, { MODE("idle"), 1 } }, AT(cpu.busy), 0.75 },
    { "cpu",
      "",
      { { MODE("user"), 2 }, { MODE("idle"), 1 }, { MODE("steal"), 1 } },
      AT(cpu.busy),
      0.75 },
    { "cpu",
      "",
      { { MODE("user"), 2 }, { MODE("idle"), 1 }, { MODE("steal"), 1 } },
      AT(cpu.steal),
      0.25 },
    { "cpu",
      "",
      { { MODE("user"), 2 }, { MODE("idle"), 1 }, { MODE("iowait"), 1 } },
      AT(cpu.iowait),
      0.25 },
    { "cpu",
      "",
      { { MODE("user"), 2 }, { MODE("idle"), 1 }, { MODE("iowait"), 1 } },
      AT(cpu.busy),
      0.5 },
    { "cpu", "", { { MODE("user"), 0 }, { MODE("idle"), 0 } }, AT(cpu.busy), (double)NAN },
    { "core", "0", { { MODE("user"), 3 }, { MODE("idle"), 1 } }, AT(cpu.busiest), 0.75 },
    { "core", "0", { { MODE("user"), 1 }, { MODE("idle"), 0 } }, AT(cpu.full), 1 },
    { "core", "0", { { MODE("user"), 1 }, { MODE("idle"), 1 } }, AT(cpu.full), 0 },
    { "core", "0", { { MODE("user"), 1 }, { MODE("idle"), 1 } }, AT(cpu.cores), 1 },
    { "host", "", { { "load1", NULL, 3 } }, AT(cpu.load1), 3 },
    { "host", "", { { "processes_running", NULL, 3 } }, AT(cpu.running), 3 },
    { "memory", "", { { "total_bytes", NULL, 64 } }, AT(memory.total), 64 },
    { "memory", "", { { "available_bytes", NULL, 32 } }, AT(memory.available), 32 },
    { "memory",
      "",
      { { "swap_total_bytes", NULL, 9 }, { "swap_free_bytes", NULL, 4 } },
      AT(memory.swap_used),
      5 },
    { "pressure", "cpu", { { "waiting_seconds_total", NULL, 1 } }, AT(cpu.run_wait), 0.5 },
    { "pressure", "memory", { { "waiting_seconds_total", NULL, 1 } }, AT(memory.pressure), 0.5 },
    { "pressure", "io", { { "waiting_seconds_total", NULL, 1 } }, AT(io_pressure), 0.5 },
    { "pressure", "io", { { "waiting_seconds_total", NULL, 2.01 } }, AT(io_pressure), 1 },
    { "pressure", "irq", { { "waiting_seconds_total", NULL, 1 } }, AT(io_pressure), (double)NAN },
    { "disk", "vda", { { "read_bytes_total", NULL, 8 } }, AT(disks[0].read), 4 },
    { "disk", "vda", { { "write_bytes_total", NULL, 8 } }, AT(disks[0].write), 4 },
    { "disk",
      "vda",
      { { "reads_total", NULL, 8 }, { "writes_total", NULL, 4 } },
      AT(disks[0].iops),
      6 },
    { "disk",
      "vda",
      { { "reads_total", NULL, 8 }, { "read_seconds_total", NULL, 4 } },
      AT(disks[0].await),
      0.5 },
    { "disk",
      "vda",
      { { "writes_total", NULL, 8 }, { "write_seconds_total", NULL, 4 } },
      AT(disks[0].await),
      0.5 },
    { "disk",
      "vda",
      { { "reads_total", NULL, 0 }, { "read_seconds_total", NULL, 4 } },
      AT(disks[0].await),
      (double)NAN },
    { "disk", "vda", { { "io_seconds_total", NULL, 1 } }, AT(disks[0].busy), 0.5 },
    { "disk", "vda", { { "io_seconds_total", NULL, 2.1 } }, AT(disks[0].busy), 1 },
    { "disk", "vda", { { "queue_seconds_total", NULL, 6 } }, AT(disks[0].queue), 3 },
    { "filesystem", "/", { { "size_bytes", NULL, 9 } }, AT(filesystems[0].size), 9 },
    { "filesystem", "/", { { "free_bytes", NULL, 9 } }, AT(filesystems[0].free), 9 },
    { "filesystem",
      "/",
      { { "size_bytes", NULL, 9 }, { "free_bytes", NULL, 4 } },
      AT(filesystems[0].used),
      5 },
    { "nfs", "/d", { { OP("operations_total", "read"), 8 } }, AT(nfs[0].ops), 4 },
    { "nfs", "/d", { { OP("operations_total", "write"), 8 } }, AT(nfs[0].ops), 4 },
    { "nfs", "/d", { { OP("operations_total", "metadata"), 8 } }, AT(nfs[0].ops), 4 },
    { "nfs", "/d", { { OP("bytes_total", "read"), 8 } }, AT(nfs[0].read), 4 },
    { "nfs", "/d", { { OP("bytes_total", "write"), 8 } }, AT(nfs[0].write), 4 },
#define EACH(name, op, to) \
    { \
        "nfs", "/d", { { OP("operations_total", "read"), 8 }, { OP(name, op), 4 } }, \
            AT(nfs[0].to), 0.5 \
    }
    EACH("rpc_seconds_total", "read", rtt),
    EACH("rpc_seconds_total", "write", rtt),
    EACH("rpc_seconds_total", "metadata", rtt),
    EACH("queue_seconds_total", "read", queue),
    EACH("queue_seconds_total", "write", queue),
    EACH("queue_seconds_total", "metadata", queue),
    EACH("execute_seconds_total", "read", execute),
    EACH("execute_seconds_total", "write", execute),
    EACH("execute_seconds_total", "metadata", execute),
#undef EACH
    { "nfs", "/d", { { OP("execute_seconds_total", "read"), 4 } }, AT(nfs[0].waiting), 2 },
    { "nfs",
      "/d",
      { { OP("operations_total", "read"), 0 }, { OP("rpc_seconds_total", "read"), 4 } },
      AT(nfs[0].rtt),
      (double)NAN },
    { "net", "eth0", { { "receive_bytes_total", NULL, 8 } }, AT(nets[0].rx), 4 },
    { "net", "eth0", { { "transmit_bytes_total", NULL, 8 } }, AT(nets[0].tx), 4 },
    { "net", "eth0", { { "speed_bytes", NULL, 8 } }, AT(nets[0].speed), 8 },
    { "net",
      "eth0",
      { { "receive_errors_total", NULL, 8 }, { "transmit_errors_total", NULL, 4 } },
      AT(nets[0].errors),
      6 },
    { "net",
      "eth0",
      { { "receive_dropped_total", NULL, 8 }, { "transmit_dropped_total", NULL, 4 } },
      AT(nets[0].drops),
      6 },
    { "net",
      "eth0",
      { { "receive_packets_total", NULL, 8 }, { "transmit_packets_total", NULL, 4 } },
      AT(nets[0].packets),
      6 },
    { "infiniband", "m/1", { { "received_bytes_total", NULL, 8 } }, AT(nets[0].rx), 4 },
    { "infiniband", "m/1", { { "sent_bytes_total", NULL, 8 } }, AT(nets[0].tx), 4 },
    { "infiniband", "m/1", { { "rate_bytes_per_second", NULL, 8 } }, AT(nets[0].speed), 8 },
    { "infiniband", "m/1", { { "sent_bytes_total", NULL, 8 } }, AT(nets[0].drops), (double)NAN },
    { "process",
      "7",
      { { "cpu_seconds_total", "mode=\"user\"", 4 },
        { "cpu_seconds_total", "mode=\"system\"", 2 } },
      AT(processes[0].cpu),
      3 },
#define PROCESS(name, to, want) \
    { \
        "process", "7", { { name, NULL, 8 } }, AT(processes[0].to), want \
    }
    PROCESS("children_cpu_seconds_total", children, 4),
    PROCESS("run_wait_seconds_total", run_wait, 4),
    PROCESS("io_wait_seconds_total", io_wait, 4),
    PROCESS("read_bytes_total", read, 4),
    PROCESS("write_bytes_total", write, 4),
    PROCESS("io_read_bytes_total", io_read, 4),
    PROCESS("io_written_bytes_total", io_written, 4),
    PROCESS("resident_bytes", resident, 8),
    PROCESS("threads", threads, 8),
    PROCESS("blocked", blocked, 8),
#undef PROCESS
};

static struct live live;

/* Ticks of one row, or of two things. */
struct made {
    struct signal_def defs[DEFS];
    struct signal_set set;
    struct tick ticks[2];
};

static const char *const facts[] = { "comm", "uid", "cgroup", NULL };

static void make(struct made *m, const struct row *r)
{
    size_t n = 0;

    for (size_t i = 0; i < PARTS && r->parts[i].name; i++)
        m->defs[n++] = (struct signal_def){ r->parts[i].name, "", SIGNAL_COUNTER,
                                            r->parts[i].label };
    m->set = (struct signal_set){ r->set, "thing", m->defs, n, facts };
    for (int k = 0; k < 2; k++) {
        tick_begin(&m->ticks[k], 0, (int64_t)k * SECONDS * 1000000000);
        for (size_t i = 0; i < n; i++) {
            struct signal_row *row = i ? &m->ticks[k].rows[0]
                                       : tick_add(&m->ticks[k], &m->set, r->thing);

            row->values[i] = k * r->parts[i].grown;
        }
    }
}

static void test_fields(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct row *r = &rows[i];
        struct made m = { .ticks = { { .n_rows = 0 }, { .n_rows = 0 } } };
        double got;

        make(&m, r);
        live = (struct live){ .n_gpus = 0 };
        live_update(&live, &m.ticks[0], &m.ticks[1]);
        memcpy(&got, (const char *)&live + r->at, sizeof(got));
        ok(isnan(r->want) ? isnan(got) : fabs(got - r->want) < 1e-9,
           "%s %s %s that grew by %g is seen in its place as %g", r->set, r->parts[0].name,
           r->parts[0].label ? r->parts[0].label : "", r->parts[0].grown, got);
        tick_done(&m.ticks[0]);
        tick_done(&m.ticks[1]);
    }
}

/* Cores of which some say nothing: those that do are counted, whatever stands behind them. */
static void test_silent_cores(void)
{
    static const struct signal_def defs[] = {
        { "seconds_total", "", SIGNAL_COUNTER, "mode=\"user\"" },
        { "seconds_total", "", SIGNAL_COUNTER, "mode=\"idle\"" },
    };
    static const double user[] = { (double)NAN, 0.5, 1, 0, (double)NAN };
    const struct signal_set set = { "core", "core", defs, ARRAY_SIZE(defs), NULL };
    struct tick ticks[2] = { { .n_rows = 0 }, { .n_rows = 0 } };

    for (int k = 0; k < 2; k++) {
        tick_begin(&ticks[k], 0, (int64_t)k * 1000000000);
        for (size_t i = 0; i < ARRAY_SIZE(user); i++) {
            char name[8];
            struct signal_row *row;

            snprintf(name, sizeof(name), "%zu", i);
            row = tick_add(&ticks[k], &set, name);
            row->values[0] = k * user[i];
            row->values[1] = k * (1 - user[i]);
        }
    }
    live = (struct live){ .n_gpus = 0 };
    live_update(&live, &ticks[0], &ticks[1]);
    ok(fabs(live.cpu.cores - 5) < 1e-9, "five cores are seen: %g", live.cpu.cores);
    ok(fabs(live.cpu.busiest - 1) < 1e-9, "the busiest core is the one that is busy: %g",
       live.cpu.busiest);
    ok(fabs(live.cpu.full - 1) < 1e-9, "one core is full: %g", live.cpu.full);
    tick_done(&ticks[0]);
    tick_done(&ticks[1]);
}

/* As many processes as are listed use a CPU each; then two more come. */
static void test_many_processes(void)
{
    static const struct signal_def def = { "cpu_seconds_total", "", SIGNAL_COUNTER,
                                           "mode=\"user\"" };
    const struct signal_set set = { "process", "pid", &def, 1, facts };
    struct tick ticks[2] = { { .n_rows = 0 }, { .n_rows = 0 } };
    bool in_order = true;

    for (int k = 0; k < 2; k++) {
        tick_begin(&ticks[k], 0, (int64_t)k * 1000000000);
        for (int i = 1; i <= LIVE_PROCESSES_MAX + 2; i++) {
            char pid[8];

            snprintf(pid, sizeof(pid), "%d", i);
            tick_add(&ticks[k], &set, pid)->values[0] = k * (i > LIVE_PROCESSES_MAX + 1 ? 2 : 1);
        }
    }
    live = (struct live){ .n_gpus = 0 };
    live_update(&live, &ticks[0], &ticks[1]);
    is_int((long long)live.n_processes, LIVE_PROCESSES_MAX, "as many processes as fit are listed");
    is_str(live.processes[0].pid, "52", "the process that uses most stands first");
    for (size_t i = 1; i < LIVE_PROCESSES_MAX; i++)
        in_order &= strtoul(live.processes[i].pid, NULL, 10) == i;
    ok(in_order, "processes that use the same stay in order, and the last one falls out");
    tick_done(&ticks[0]);
    tick_done(&ticks[1]);
}

static void test_kinds(void)
{
    struct made m = { .ticks = { { .n_rows = 0 }, { .n_rows = 0 } } };

    make(&m, &(const struct row){ "infiniband", "m/1", { { "sent_bytes_total", NULL, 8 } }, 0, 0 });
    live = (struct live){ .n_gpus = 0 };
    live_update(&live, &m.ticks[0], &m.ticks[1]);
    live_update(&live, &m.ticks[0], &m.ticks[1]);
    is_int((long long)live.n_nets, 1, "a port is listed once, however often ticks come");
    is_str(live.nets[0].kind, "infiniband", "a port of InfiniBand is told as one");
    is_str(live.nets[0].device, "m/1", "a port has its name");
    ok(live.interval_s > 1.99 && live.interval_s < 2.01, "two seconds are between the ticks");
    tick_done(&m.ticks[0]);
    tick_done(&m.ticks[1]);
}

/* What a process is sorted by. */
static void test_keys(void)
{
    const struct live_process p = { .cpu = 2,
                                    .io_wait = 3,
                                    .read = 100e6,
                                    .write = 200e6,
                                    .io_read = 150e6,
                                    .io_written = 20e6,
                                    .resident = 5e9 };
    const struct live_process calls = { .cpu = (double)NAN, .io_read = 1e9, .io_written = 2e9 };
    static const struct {
        enum live_sort sort;
        double p, calls;
    } keys[] = { { LIVE_BY_CPU, 2, 0 },        { LIVE_BY_IO, 300e6, 3e9 },
                 { LIVE_BY_READ, 150e6, 1e9 }, { LIVE_BY_WRITE, 200e6, 2e9 },
                 { LIVE_BY_MEMORY, 5e9, 0 },   { LIVE_BY_USE, 8 + 5e9 / 1e18, 0 } };

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        ok(fabs(live_process_key(&p, keys[i].sort) - keys[i].p) < 1e-12 * (1 + keys[i].p),
           "a process is sorted by %s with %g", live_sort_name(keys[i].sort), keys[i].p);
        ok(fabs(live_process_key(&calls, keys[i].sort) - keys[i].calls) < 1e-9,
           "a process that reads and writes by calls alone is sorted by %s with %g",
           live_sort_name(keys[i].sort), keys[i].calls);
    }
}

static void test_advice(void)
{
    static const struct {
        struct live_user user;
        const char *want;
    } users[] = {
        { { .name = "dd", .pid = "7", .n = 1 }, "look at process 7 (dd): it uses 2 CPUs" },
        { { .name = "dd", .pid = "7", .n = 2 }, "look at the 2 processes of dd: they use 2 CPUs" },
        { { .name = "/job", .pid = "7", .n = 1, .is_cgroup = true },
          "look at control group /job: its 1 processes use 2 CPUs" },
        { { .name = "sh", .pid = "7", .n = 1, .of_children = true },
          "look at process 7 (sh): its children, which end soon, use 2 CPUs" },
    };
    char text[LIVE_TEXT];

    for (size_t i = 0; i < ARRAY_SIZE(users); i++) {
        live_advise_user(text, &users[i].user, "use", "2 CPUs");
        is_str(text, users[i].want, "user %zu is named", i);
    }
    is_str(live_process_name(&(const struct live_process){ .pid = "7", .comm = "" }).text,
           "process 7 (?)", "a process without a name has a question mark");
}

/* Processes of a tick: what each used, and of which control group it is. */
struct process {
    const char *pid, *comm, *cgroup;
    double cpu, children, io_read, write;
};

static bool user_of(const struct process *list, size_t n, enum live_sort by, double used,
                    struct live_user *ret)
{
    static const struct signal_def defs[] = {
        { "cpu_seconds_total", "", SIGNAL_COUNTER, "mode=\"user\"" },
        { "children_cpu_seconds_total", "", SIGNAL_COUNTER, NULL },
        { "io_read_bytes_total", "", SIGNAL_COUNTER, NULL },
        { "write_bytes_total", "", SIGNAL_COUNTER, NULL },
    };
    const struct signal_set set = { "process", "pid", defs, ARRAY_SIZE(defs), facts };
    struct tick ticks[2] = { { .n_rows = 0 }, { .n_rows = 0 } };
    struct live_view v = { .l = &live, .before = &ticks[0], .now = &ticks[1], .seconds = 1 };
    bool found;

    for (int k = 0; k < 2; k++) {
        tick_begin(&ticks[k], 0, (int64_t)k * 1000000000);
        for (size_t i = 0; i < n; i++) {
            struct signal_row *row = tick_add(&ticks[k], &set, list[i].pid);

            row->values[0] = k * list[i].cpu;
            row->values[1] = k * list[i].children;
            row->values[2] = k * list[i].io_read;
            row->values[3] = k * list[i].write;
            tick_fact(row, 0, list[i].comm);
            tick_fact(row, 2, list[i].cgroup);
        }
    }
    found = live_find_user(&v, by, used, ret);
    for (size_t i = 0; found && i < n; i++)
        if (!strcmp(ret->pid, list[i].pid))
            ret->pid = list[i].pid; /* the tick's is gone with it */
    tick_done(&ticks[0]);
    tick_done(&ticks[1]);
    return found;
}

static void test_users(void)
{
    const double none = (double)NAN;
    const struct process list[] = {
        { "1", "a", "/", 1, 0, 0, 0 },    { "2", "b", "/j", 0.8, 0, 0, 0 },
        { "3", "c", "/j", 0.7, 3, 0, 0 }, { "4", "a", "/", 0.5, 0, 0, 0 },
        { "5", "d", "", 0.1, 2, 7e6, 0 }, { "6", "", "", 1.4, 0, 0, 9e6 },
    };
    struct live_user u = { .name = NULL };

    ok(user_of(list, 6, LIVE_BY_CPU, none, &u) && u.n == 2 && u.amount > 1.49 && u.amount < 1.51,
       "processes of one command count together: %.1f", u.amount);
    ok(user_of(list, 6, LIVE_BY_CPU, 7.4, &u) && u.n == 2, "a fifth of all is enough to be named");
    ok(user_of(list, 6, LIVE_BY_CPU, 7.6, &u) && u.of_children && u.n == 1,
       "children that ended count for their parent where no command is enough");
    ok(u.amount > 2.99 && u.amount < 3.01, "the parent with most of them is named: %.1f", u.amount);
    ok(!user_of(list, 6, LIVE_BY_CPU, 20, &u), "where nobody is enough nobody is named");
    ok(user_of(list, 3, LIVE_BY_CPU, 2.5, &u) && !u.is_cgroup, "a command comes first");
    ok(user_of(list, 6, LIVE_BY_IO, none, &u) && u.amount > 6.9e6,
       "a process that reads by calls is found by what it moves");
    ok(u.reads > 6.9e6 && u.writes <= 0, "calls that read count as reading");
    ok(!user_of(list, 0, LIVE_BY_CPU, none, &u), "without processes nobody is named");
}

static void test_groups(void)
{
    const struct process list[] = { { "1", "a", "/j", 1, 0, 0, 0 },
                                    { "2", "b", "/j", 1, 0, 0, 0 },
                                    { "3", "c", "/k", 1, 0, 0, 0 },
                                    { "4", "d", "/", 1, 0, 0, 0 } };
    struct live_user u = { .name = NULL };

    ok(user_of(list, 4, LIVE_BY_CPU, 9, &u) && u.is_cgroup && u.n == 2 && !strcmp(u.pid, "1"),
       "a control group is named where no command is enough");
    ok(!user_of(list + 2, 2, LIVE_BY_CPU, 9, &u), "the whole machine is no control group");
}

/* The clients of Lustre and Ceph. */
static struct live_remote remote_of(const char *set, const char *label, double wait, double asked,
                                    double targets, double connected)
{
    const struct signal_def lustre[] = { { "rpc_wait_seconds_total", "", SIGNAL_COUNTER, NULL },
                                         { "rpcs_total", "", SIGNAL_COUNTER, NULL },
                                         { "targets", "", SIGNAL_GAUGE, NULL },
                                         { "connected", "", SIGNAL_GAUGE, NULL } };
    const struct signal_def ceph[] = { { "wait_seconds_total", "", SIGNAL_COUNTER, label },
                                       { "operations_total", "", SIGNAL_COUNTER, label } };
    const bool is_ceph = !strcmp(set, "ceph");
    const struct signal_set of = { set, "thing", is_ceph ? ceph : lustre, is_ceph ? 2 : 4, NULL };
    struct tick ticks[2] = { { .n_rows = 0 }, { .n_rows = 0 } };
    struct live_view v = { .l = &live, .before = &ticks[0], .now = &ticks[1], .seconds = 2 };
    struct live_remote r;

    for (int k = 0; k < 2; k++) {
        struct signal_row *row;

        tick_begin(&ticks[k], 0, (int64_t)k * 2000000000);
        row = tick_add(&ticks[k], &of, "x");
        row->values[0] = k * wait;
        row->values[1] = k * asked;
        if (!is_ceph) {
            row->values[2] = targets;
            row->values[3] = connected;
        }
    }
    r = live_worst_remote(&v);
    tick_done(&ticks[0]);
    tick_done(&ticks[1]);
    return r;
}

static void test_remotes(void)
{
    static const char *const ops[] = { "op=\"read\"", "op=\"write\"", "op=\"metadata\"" };
    struct live_remote r = remote_of("lustre", NULL, 8, 4, 5, 5);

    ok(r.kind && !strcmp(r.kind, "Lustre") && fabs(r.waiting - 4) < 1e-9 &&
           fabs(r.each - 2) < 1e-9 && r.missing <= 0,
       "a client of Lustre has its waiting and the time of each request");
    r = remote_of("lustre", NULL, 0, 0, 5, 3);
    ok(r.kind && fabs(r.missing - 2) < 1e-9 && fabs(r.targets - 5) < 1e-9,
       "a client of Lustre has lost two of five targets");
    r = remote_of("lustre", NULL, 0, 0, 5, 5);
    ok(!r.kind, "a client that waits for nothing is not the worst");
    r = remote_of("lustre", NULL, 0, 0, 3, 5);
    ok(!r.kind, "a client with more connections than targets has lost none");
    for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
        r = remote_of("ceph", ops[i], 8, 4, 0, 0);
        ok(r.kind && !strcmp(r.kind, "Ceph") && fabs(r.waiting - 4) < 1e-9 &&
               fabs(r.each - 2) < 1e-9,
           "a client of Ceph that waits for %s is seen", ops[i]);
    }
}

int main(void)
{
    test_fields();
    test_silent_cores();
    test_many_processes();
    test_kinds();
    test_keys();
    test_advice();
    test_users();
    test_groups();
    test_remotes();
    return done();
}
