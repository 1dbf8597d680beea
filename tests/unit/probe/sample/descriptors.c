/* Samplers that are given descriptor 0 for one of their files, or none: 0 is a descriptor like any
 * other, and where none is to be had a sampler does without the file, or does not open. */
#include <dirent.h>
#include <math.h>
#include <stdarg.h>

#include "base/str.h"
#include "probe/samplers.h"
#include "folder.h"
#include "tap.h"

enum { ROOM = 64 << 10 };

/* Link with --wrap=openat64 and --wrap=fcntl64: calls that make a descriptor are counted, and one
 * of them is given descriptor 0, or fails. */
static int calls, zero_at, fail_at;
static bool failed_to_copy;

int __real_openat64(int dir, const char *path, int flags, ...);
int __wrap_openat64(int dir, const char *path, int flags, ...);
int __real_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...);

/* Whether the call is to fail. */
static bool next_call(void)
{
    calls++;
    if (calls == zero_at)
        close(0);
    if (calls == fail_at)
        errno = EMFILE;
    return calls == fail_at;
}

int __wrap_openat64(int dir, const char *path, int flags, ...)
{
    return next_call() ? -1 : __real_openat64(dir, path, flags);
}

int __wrap_fcntl64(int fd, int command, ...)
{
    va_list ap;
    int value;

    va_start(ap, command);
    value = va_arg(ap, int);
    va_end(ap);
    if (command == F_DUPFD_CLOEXEC && next_call()) {
        failed_to_copy = true;
        return -1;
    }
    return __real_fcntl64(fd, command, value);
}

static const char *const files[][2] = {
    { "dev/kmsg", "3,1,2000000,-;I/O error, dev sda, sector 1\n" },
    { "proc/diskstats", " 8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n" },
    { "proc/fs/lustre/llite/a-1/stats", "open 3 samples [regs]\n" },
    { "proc/loadavg", "0.21 1.05 12.50 4/331 131569\n" },
    { "proc/meminfo", "MemTotal: 24684084 kB\n" },
    { "proc/net/dev", "eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n" },
    { "proc/net/snmp", "Tcp: OutSegs\nTcp: 7\n" },
    { "proc/pressure/io", "some avg10=12.34 avg60=5.22 avg300=24.85 total=9161424404\n" },
    { "proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n" },
    { "proc/self/cgroup", "0::/agent.slice/x.scope\n" },
    { "proc/self/mounts", "fs1:/home /home nfs4 rw 0 0\n/dev/a / ext4 rw 0 0\n" },
    { "proc/self/mountstats", "device fs1:/home mounted on /home with fstype nfs4\n"
                              "\tper-op statistics\n\tREAD: 1 1 0 0 0 0 0 0 0\n" },
    { "proc/stat", "cpu 1 2 3 4\ncpu0 1 2 3 4\nctxt 9\nbtime 1700000000\n" },
    { "proc/sys/kernel/task_delayacct", "1\n" },
    { "proc/vmstat", "pgfault 5\n" },
    { "proc/100/stat",
      "100 (a) R 1 1 1 0 -1 0 0 0 7 0 5 6 0 0 20 0 1 0 3 1000 25 1 1 1 0 0 0 0 0 0 "
      "0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0\n" },
    { "proc/100/io", "rchar: 1\nwchar: 2\n" },
    { "proc/100/cgroup", "0::/a.service\n" },
    { "sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n" },
    { "sys/bus/pci/devices/0000:01:00.0/current_link_width", "16\n" },
    { "sys/class/drm/card0/device/uevent",
      "DRIVER=i915\nPCI_ID=8086:0BD5\nPCI_SLOT_NAME=0000:03:00.0\n" },
    { "sys/class/drm/card0/device/hwmon/hwmon5/name", "i915\n" },
    { "sys/class/drm/card0/device/hwmon/hwmon5/energy1_input", "7000000\n" },
    { "sys/class/drm/card0/gt/gt0/rc6_residency_ms", "5\n" },
    { "sys/class/drm/card0/gt/gt0/throttle_reason_status", "1\n" },
    { "sys/class/drm/card0/gt/gt0/throttle_reason_pl1", "1\n" },
    { "sys/class/drm/card1/device/uevent",
      "DRIVER=amdgpu\nPCI_ID=1002:74A1\nPCI_SLOT_NAME=0000:05:00.0\n" },
    { "sys/class/drm/card1/device/gpu_busy_percent", "98\n" },
    { "sys/class/drm/card1/device/ras/umc_err_count", "ue: 1\nce: 4\n" },
    { "sys/class/drm/card1/device/hwmon/hwmon6/name", "amdgpu\n" },
    { "sys/class/drm/card1/device/hwmon/hwmon6/temp1_label", "edge\n" },
    { "sys/class/drm/card1/device/hwmon/hwmon6/temp1_input", "45000\n" },
    { "sys/class/hwmon/hwmon0/name", "acpi\n" },
    { "sys/class/hwmon/hwmon0/fan1_input", "900\n" },
    { "sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n" },
    { "sys/class/infiniband/mlx5_0/ports/1/phys_state", "5: LinkUp\n" },
    { "sys/class/net/eth0/speed", "100000\n" },
    { "sys/devices/system/edac/mc/mc0/ce_count", "12\n" },
    { "sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: 9005260 kB\n" },
    { "sys/devices/system/node/node0/numastat", "numa_hit 212087611\n" },
    { "sys/fs/cgroup/cgroup.controllers", "cpu\n" },
    { "sys/fs/cgroup/unified/cgroup.controllers", "cpu\n" },
    { "sys/fs/cgroup/slurmstepd.scope/job_7/memory.current", "1\n" },
    { "sys/fs/cgroup/slurmstepd.scope/job_7/cpu.max", "5 10\n" },
};

static const char *const names[] = { "amd",     "cgroup",     "disk", "edac",   "filesystem",
                                     "intel",   "infiniband", "kmsg", "lustre", "memory",
                                     "net",     "nfs",        "numa", "pcie",   "pressure",
                                     "process", "sensors",    "stat", "softnet" };

/* Free bytes of a file system change while it is looked at: of "filesystem" rows alone count. */
static void add_rows(const struct tick *t, bool with_values, struct str *out)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct signal_row *row = &t->rows[i];

        str_addf(out, "%s '%s'\n", row->set->name, row->thing);
        for (size_t k = 0; with_values && k < row->set->n_defs; k++)
            if (!isnan(row->values[k]))
                str_addf(out, "%s '%s' %zu %.12g\n", row->set->name, row->thing, k, row->values[k]);
    }
    for (size_t i = 0; i < t->n_events; i++)
        str_addf(out, "event %s\n", t->events[i].text);
}

/* What the sampler says at once, and later; whether it opened. */
static bool look(const char *folder, const char *name, struct str *out)
{
    const char *const only[] = { name, NULL };
    struct samplers *s = NULL;
    struct tick t = { .n_rows = 0 };
    struct err e = { "" };
    int root = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC), rc;

    folder_need(root, folder);
    str_reset(out);
    calls = 0;
    failed_to_copy = false;
    rc = samplers_open(&s, &(struct sampler_env){ .root = root, .only = only }, &e);
    for (int64_t second = 0; rc == 0 && second <= 100; second += 50) {
        tick_begin(&t, 0, second * 1000000000);
        folder_need(samplers_sample(s, &t), name);
        add_rows(&t, strcmp(name, "filesystem") != 0, out);
    }
    samplers_close(s);
    tick_done(&t);
    close(root);
    return rc == 0;
}

static int open_fds(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static void take_zero(void)
{
    if (fcntl(0, F_GETFD) < 0)
        folder_need(open("/dev/null", O_RDONLY | O_CLOEXEC), "/dev/null");
}

static void test_sampler(const char *folder, const char *name)
{
    struct str before = STR_INIT(ROOM), now = STR_INIT(ROOM);
    int all, fds, others = 0, kept = 0, open_left = 0, taken = 0;

    ok(look(folder, name, &before) && before.len, "the sampler %s has rows", name);
    all = calls;
    fds = open_fds();
    for (int i = 1; i <= all; i++) {
        zero_at = i;
        others += !look(folder, name, &now) || strcmp(str_text(&now), str_text(&before)) != 0;
        zero_at = 0;
        kept += fcntl(0, F_GETFD) >= 0;
        take_zero();
        fail_at = i;
        taken += look(folder, name, &now) && failed_to_copy;
        fail_at = 0;
        open_left += open_fds() != fds;
    }
    is_int(others, 0, "the sampler %s says the same with descriptor 0 for one of %d files", name,
           all);
    is_int(kept, 0, "the sampler %s closes descriptor 0", name);
    is_int(taken, 0, "the sampler %s does not open without a descriptor of its root", name);
    is_int(open_left, 0, "the sampler %s leaves no file open when one cannot be opened", name);
    str_done(&before);
    str_done(&now);
}

int main(void)
{
    char folder[PATH_MAX];

    take_zero();
    folder_make(folder);
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        folder_text(folder, files[i][0], files[i][1]);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        test_sampler(folder, names[i]);
    folder_remove(folder);
    return done();
}
