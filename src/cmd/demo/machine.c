#include "cmd/demo/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/conf.h"
#include "base/str.h"

enum { CPUS = 32, TICKS = 100 /* of a second, USER_HZ */, FILE_MAX = 16 << 10 };

/* What a second brings while the disk keeps up, and while it stalls. */
struct pace {
    double reads, read_ms, io_ms, user, system, iowait; /* CPU: shares of all CPUs */
};

static const struct pace good = { 20000, 0.3, 450, 0.31, 0.06, 0.01 };
static const struct pace stalled = { 61, 84, 985, 0.05, 0.02, 0.14 };

static const char gpus[] =
    "[fake]\ncount = 8\n[gpu *]\nmodel = \"NVIDIA H100 80GB HBM3\"\n"
    "busy_ratio = 0.97 for %1$lldms, 0.31 for %2$lldms\n"
    "sm_active_ratio = 0.74 for %1$lldms, 0.22 for %2$lldms\n"
    "tensor_active_ratio = 0.46 for %1$lldms, 0.12 for %2$lldms\n"
    "power_watts = 652 for %1$lldms, 241 for %2$lldms\n"
    "pcie_received_bytes_total = 3.1e8 for %1$lldms, 9e5 for %2$lldms\n"
    "pcie_sent_bytes_total = 2e7\nmemory_used_bytes = 71e9\nmemory_total_bytes = 85899345920\n"
    "power_limit_watts = 700\ntemperature_celsius = 61\nsm_clock_hertz = 1.98e9\n"
    "[gpu 3]\ntemperature_celsius = 66\n[gpu 6]\npower_watts = 661 for %1$lldms, 244 for "
    "%2$lldms\n";

static const char meminfo[] = "MemTotal: 1056764928 kB\nMemFree: 402653184 kB\n"
                              "MemAvailable: 871497728 kB\nBuffers: 2097152 kB\n"
                              "Cached: 469762048 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n";

/* All that may lie in the folder, folders last. */
static const char *const files[] = {
    "gpus.ini",  "agent.db",       "agent.db-wal", "agent.db-shm", "agent.db-lock",
    "proc/stat", "proc/diskstats", "proc/meminfo", "proc/loadavg", "proc/sys/kernel/hostname",
};
static const char *const folders[] = { "proc/sys/kernel", "proc/sys", "proc" };

static const char *temporary(void)
{
    static const char name[] = "TMPDIR=/";

    for (char *const *at = conf_environment(); at && *at; at++)
        if (!strncmp(*at, name, sizeof(name) - 1))
            return *at + sizeof(name) - 2;
    return "/tmp";
}

/* In one call, over what is there: a reader sees the old text or the new one. */
static int put(int at, const char *path, const char *text, size_t len)
{
    CLEANUP(closep) int fd = openat(at, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    if (fd < 0)
        return -errno;
    return pwrite(fd, text, len, 0) == (ssize_t)len ? 0 : -EIO;
}

static int put_text(int at, const char *path, const struct str *text)
{
    return str_error(text) ? str_error(text) : put(at, path, str_text(text), text->len);
}

/* Seconds of both kinds by now; they follow each other. */
static void split(const struct demo_machine *m, int64_t since_ns, double *fine, double *slow)
{
    const int64_t stall_ns = DEMO_STALL_S * NS_PER_S;
    int64_t round = m->good_ns + stall_ns, rounds = since_ns / round, left = since_ns % round;

    *fine = clock_seconds(rounds * m->good_ns + MIN(left, m->good_ns));
    *slow = clock_seconds(rounds * stall_ns + MAX(left - m->good_ns, (int64_t)0));
}

#define SUM(member) (fine * good.member + slow * stalled.member)

static void add_cpu(struct str *out, const char *name, double cpus, double fine, double slow)
{
    double all = cpus * TICKS, user = SUM(user), system = SUM(system), iowait = SUM(iowait);

    str_addf(out, "%s %.0f 0 %.0f %.0f %.0f 0 0 0 0 0\n", name, user * all, system * all,
             (fine + slow - user - system - iowait) * all, iowait * all);
}

int demo_machine_write(const struct demo_machine *m, int64_t since_ns)
{
    CLEANUP(str_done) struct str stat = STR_INIT(FILE_MAX), disks = STR_INIT(FILE_MAX);
    double fine, slow, read_ms;
    char name[16];
    int rc;

    split(m, since_ns, &fine, &slow);
    add_cpu(&stat, "cpu ", CPUS, fine, slow);
    for (int i = 0; i < CPUS; i++) {
        snprintf(name, sizeof(name), "cpu%d", i);
        add_cpu(&stat, name, 1, fine, slow);
    }
    str_addf(&stat, "intr 0\nctxt %.0f\nbtime 1700000000\nprocesses 90210\nprocs_running 9\n",
             (fine + slow) * 50000);
    read_ms = fine * good.reads * good.read_ms + slow * stalled.reads * stalled.read_ms;
    str_addf(&disks, "259 0 nvme0n1 %.0f 0 %.0f %.0f %.0f 0 %.0f %.0f 6 %.0f %.0f\n", SUM(reads),
             SUM(reads) * 256, read_ms, (fine + slow) * 3, (fine + slow) * 96, (fine + slow) * 2,
             SUM(io_ms), read_ms);
    rc = put_text(m->proc, "stat", &stat);
    return rc < 0 ? rc : put_text(m->proc, "diskstats", &disks);
}

int demo_machine_call(const struct demo_machine *m, const char *name)
{
    return put(m->proc, "sys/kernel/hostname", name, strlen(name));
}

static int fill(struct demo_machine *m, int at)
{
    CLEANUP(str_done) struct str script = STR_INIT(FILE_MAX);
    long long ms = m->good_ns / NS_PER_MS;
    int rc = 0;

    for (size_t i = ARRAY_SIZE(folders); i-- > 0 && rc == 0;)
        rc = mkdirat(at, folders[i], 0755) < 0 ? -errno : 0;
    m->proc = rc == 0 ? openat(at, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (rc == 0 && m->proc < 0)
        rc = -errno;
    str_addf(&script, gpus, ms, DEMO_STALL_S * 1000LL);
    if (rc == 0)
        rc = put_text(at, "gpus.ini", &script);
    if (rc == 0)
        rc = put(m->proc, "meminfo", meminfo, sizeof(meminfo) - 1);
    if (rc == 0)
        rc = put(m->proc, "loadavg", "11.20 11.04 10.90 9/2048 90210\n", 31);
    if (rc == 0)
        rc = demo_machine_call(m, "demo");
    return rc == 0 ? demo_machine_write(m, 0) : rc;
}

int demo_machine_make(struct demo_machine *m, int64_t good_ns, struct err *e)
{
    CLEANUP(closep) int at = -1;
    int rc, n = snprintf(m->folder, sizeof(m->folder), "%s/brim-demo-XXXXXX", temporary());

    m->proc = -1;
    m->good_ns = good_ns;
    if (n >= (int)sizeof(m->folder) || !mkdtemp(m->folder)) {
        rc = n >= (int)sizeof(m->folder) ? -ENAMETOOLONG : -errno;
        m->folder[0] = 0;
        return err_set(e, rc, "cannot make a folder in %s: %s", temporary(), strerror(-rc));
    }
    at = open(m->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    rc = at < 0 ? -errno : fill(m, at);
    return rc < 0 ? err_set(e, rc, "cannot write into %s: %s", m->folder, strerror(-rc)) : 0;
}

void demo_machine_remove(struct demo_machine *m)
{
    CLEANUP(closep) int at = *m->folder ? open(m->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    if (m->proc >= 0)
        close(m->proc);
    m->proc = -1;
    for (size_t i = 0; at >= 0 && i < ARRAY_SIZE(files); i++)
        (void)unlinkat(at, files[i], 0);
    for (size_t i = 0; at >= 0 && i < ARRAY_SIZE(folders); i++)
        (void)unlinkat(at, folders[i], AT_REMOVEDIR);
    if (*m->folder)
        (void)rmdir(m->folder);
    m->folder[0] = 0;
}
