/* Checks of operating system settings. */
#include <stdio.h>
#include <string.h>

#include "diagnose/audit/check.h"

static bool governor_check(struct audit *a)
{
    const char *governor = a->n->set.governor;
    struct finding *f;

    if (!governor) {
        if (a->n->virtual_machine == 1)
            return false; /* the host's business */
        check_unknown(a, "the kernel shows no frequency governor");
        return true;
    }
    if (!strcmp(governor, "performance"))
        return true;
    f = check_add(a, SEVERITY_WARNING, "CPUs run under the '%s' frequency governor", governor);
    check_text(a, &f->evidence, "scaling_governor of the first CPU of each NUMA domain: %s",
               governor);
    check_text(a, &f->effect,
               "short work between GPU launches runs at a low clock: launches, loaders and network "
               "polling get slower");
    check_text(a, &f->action, "cpupower frequency-set -g performance");
    return true;
}

static bool clocksource_check(struct audit *a)
{
    static const char *const fast[] = { "tsc", "arch_sys_counter", "kvm-clock",
                                        "hyperv_clocksource_tsc_page" };
    const char *source = a->n->set.clocksource;
    struct finding *f;

    if (!source) {
        check_unknown(a, "the kernel does not show its clock source");
        return true;
    }
    for (size_t i = 0; i < ARRAY_SIZE(fast); i++)
        if (!strcmp(source, fast[i]))
            return true;
    f = check_add(a, SEVERITY_WARNING, "the clock source is '%s'", source);
    check_text(a, &f->evidence, "current_clocksource is %s, which a program cannot read by itself",
               source);
    check_text(
        a, &f->effect,
        "every reading of the time is a system call and a device access, 10 to 100 times slower");
    check_text(a, &f->action,
               "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource  (if "
               "refused: dmesg | grep -i tsc)");
    return true;
}

static bool numa_balancing_check(struct audit *a)
{
    struct finding *f;

    if (a->n->n_numas < 2)
        return false;
    if (a->n->set.numa_balancing < 0) {
        check_unknown(a, "the kernel does not show numa_balancing");
        return true;
    }
    if (a->n->set.numa_balancing == 0)
        return true;
    f = check_add(a, SEVERITY_WARNING, "automatic NUMA balancing is on");
    check_text(a, &f->evidence, "kernel.numa_balancing is %d", a->n->set.numa_balancing);
    check_text(a, &f->effect,
               "the kernel unmaps pages to watch their use: latency spikes in loaders, and pinned "
               "GPU jobs gain nothing");
    check_text(a, &f->action, "sysctl -w kernel.numa_balancing=0");
    return true;
}

static bool thp_check(struct audit *a)
{
    const char *thp = a->n->set.thp;
    struct finding *f;

    if (!thp) {
        check_unknown(a, "the kernel has no transparent huge pages, or does not show them");
        return true;
    }
    if (strcmp(thp, "never") != 0)
        return true;
    f = check_add(a, SEVERITY_NOTE, "transparent huge pages are off");
    check_text(a, &f->evidence, "transparent_hugepage/enabled is never");
    check_text(
        a, &f->effect,
        "large buffers of loaders and optimizers offloaded to the host take more TLB misses");
    check_text(a, &f->action, "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
    return true;
}

static bool memlock_check(struct audit *a)
{
    int64_t limit = a->n->set.memlock_b;
    struct finding *f;
    bool rdma = false;

    for (size_t i = 0; i < a->n->n_devices; i++)
        rdma |= a->n->devices[i].kind == DEVICE_NIC && a->n->devices[i].nic.rdma;
    if (!rdma)
        return false;
    if (limit < 0) {
        check_unknown(a, "the limit of locked memory is not readable");
        return true;
    }
    if (limit == INT64_MAX || (a->n->memory_b > 0 && limit >= a->n->memory_b / 2))
        return true;
    f = check_add(a, SEVERITY_WARNING, "a process may lock only %lld MiB of memory",
                  (long long)(limit >> 20));
    check_text(a, &f->evidence, "soft limit of locked memory where this was run: %lld bytes",
               (long long)limit);
    check_text(a, &f->effect,
               "registering memory with NICs fails: NCCL and MPI jobs abort or fall back to TCP");
    check_text(a, &f->action,
               "echo '* - memlock unlimited' > /etc/security/limits.d/memlock.conf; for Slurm: "
               "LimitMEMLOCK=infinity in slurmd's unit");
    return true;
}

static bool nofile_check(struct audit *a)
{
    enum { WANTED = 65536 };
    struct finding *f;

    if (a->n->set.nofile < 0) {
        check_unknown(a, "the limit of open files is not readable");
        return true;
    }
    if (a->n->set.nofile >= WANTED)
        return true;
    f = check_add(a, SEVERITY_NOTE, "a process may open only %lld files",
                  (long long)a->n->set.nofile);
    check_text(
        a, &f->evidence,
        "soft limit of open files where this was run: %lld; clusters usually have %d or more",
        (long long)a->n->set.nofile, WANTED);
    check_text(
        a, &f->effect,
        "large jobs (a socket per peer) and loaders with many workers run out of descriptors");
    check_text(a, &f->action, "echo '* - nofile 1048576' > /etc/security/limits.d/nofile.conf");
    return true;
}

static bool shm_check(struct audit *a)
{
    int64_t size = a->n->set.shm_b, memory = a->n->memory_b;
    struct finding *f;

    if (size < 0 || memory <= 0) {
        check_unknown(a, "/dev/shm is not mounted, or the size of memory is not known");
        return true;
    }
    if (size >= memory / 100 * 45)
        return true;
    f = check_add(a, SEVERITY_WARNING, "/dev/shm holds only %lld MiB", (long long)(size >> 20));
    check_text(a, &f->evidence, "%.1f %% of the %lld GiB of memory; half is the kernel's default",
               100.0 * (double)size / (double)memory, (long long)(memory >> 30));
    check_text(a, &f->effect,
               "data-loader workers die with a bus error, or batches travel through pipes");
    check_text(
        a, &f->action,
        "mount -o remount,size=50%% /dev/shm  (containers: docker run --shm-size or --ipc=host)");
    return true;
}

static bool swap_check(struct audit *a)
{
    struct finding *f;

    if (a->n->set.swap_b < 0) {
        check_unknown(a, "/proc/swaps is not readable");
        return true;
    }
    if (a->n->set.swap_b == 0)
        return true;
    f = check_add(a, SEVERITY_NOTE, "swap is on");
    check_text(a, &f->evidence, "%lld MiB of swap", (long long)(a->n->set.swap_b >> 20));
    check_text(a, &f->effect,
               "a job that runs out of memory slows its whole group down for minutes instead of "
               "failing at once");
    check_text(a, &f->action, "swapoff -a, and remove it from /etc/fstab");
    return true;
}

const struct check checks_host[] = {
    { "governor", governor_check },             /* CPUs run at their clock */
    { "clocksource", clocksource_check },       /* reading the time is cheap */
    { "numa-balancing", numa_balancing_check }, /* the kernel does not move pages of pinned jobs */
    { "huge-pages", thp_check },                /* transparent huge pages are available */
    { "memlock", memlock_check },               /* RDMA may lock memory */
    { "nofile", nofile_check },                 /* enough files may be open */
    { "shm", shm_check },                       /* /dev/shm is large enough for loaders */
    { "swap", swap_check },                     /* no swap */
    { NULL, NULL },
};
