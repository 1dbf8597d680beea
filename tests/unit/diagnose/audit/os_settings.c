#include "nodes.h"
#include "tap.h"

static void test_governor(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.n->set.governor = "powersave";
    is_str(scene_check(&s, "governor"),
           "warning: CPUs run under the 'powersave' frequency governor",
           "the governor powersave is found");
    is_str(scene_told(&s, 0),
           "scaling_governor of the first CPU of each NUMA domain: powersave\n"
           "short work between GPU launches runs at a low clock: launches, loaders and network "
           "polling get slower\n"
           "cpupower frequency-set -g performance",
           "the finding explains the governor and how to set it");
    s.n->set.governor = "mixed";
    is_str(scene_check(&s, "governor"), "warning: CPUs run under the 'mixed' frequency governor",
           "governors of several kinds are found");
    s.n->set.governor = NULL;
    is_str(scene_check(&s, "governor"), "not checked: the kernel shows no frequency governor",
           "a governor that is absent is not checked");
    s.n->virtual_machine = 1;
    is_str(scene_check(&s, "governor"), "silent",
           "a governor that a guest does not show makes no finding");
}

static void test_clocksource(void)
{
    static const char *const fast[] = { "tsc", "arch_sys_counter", "kvm-clock",
                                        "hyperv_clocksource_tsc_page" };
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    for (size_t i = 0; i < ARRAY_SIZE(fast); i++) {
        s.n->set.clocksource = fast[i];
        is_str(scene_check(&s, "clocksource"), "passed", "the clock source %s passes", fast[i]);
    }
    s.n->set.clocksource = "hpet";
    is_str(scene_check(&s, "clocksource"), "warning: the clock source is 'hpet'",
           "the clock source hpet is found");
    is_str(scene_told(&s, 0),
           "current_clocksource is hpet, which a program cannot read by itself\n"
           "every reading of the time is a system call and a device access, 10 to 100 times "
           "slower\n"
           "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource  (if "
           "refused: dmesg | grep -i tsc)",
           "the finding explains the clock source and how to set it");
    s.n->set.clocksource = NULL;
    is_str(scene_check(&s, "clocksource"), "not checked: the kernel does not show its clock source",
           "a clock source that is absent is not checked");
}

static void test_numa_balancing(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.n->set.numa_balancing = 1;
    is_str(scene_check(&s, "numa-balancing"), "warning: automatic NUMA balancing is on",
           "NUMA balancing that is on is found");
    is_str(scene_told(&s, 0),
           "kernel.numa_balancing is 1\n"
           "the kernel unmaps pages to watch their use: latency spikes in loaders, and pinned GPU "
           "jobs gain nothing\n"
           "sysctl -w kernel.numa_balancing=0",
           "the finding explains NUMA balancing and how to set it");
    s.n->set.numa_balancing = ABSENT;
    is_str(scene_check(&s, "numa-balancing"),
           "not checked: the kernel does not show numa_balancing",
           "NUMA balancing that is absent is not checked");
    s.n->n_numas = 1;
    is_str(scene_check(&s, "numa-balancing"), "silent",
           "NUMA balancing does not matter with one domain");
}

static void test_huge_pages(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.n->set.thp = "always";
    is_str(scene_check(&s, "huge-pages"), "passed", "huge pages that are always on pass");
    s.n->set.thp = "never";
    is_str(scene_check(&s, "huge-pages"), "note: transparent huge pages are off",
           "huge pages that are off are found");
    is_str(scene_told(&s, 0),
           "transparent_hugepage/enabled is never\n"
           "large buffers of loaders and optimizers offloaded to the host take more TLB misses\n"
           "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
           "the finding explains huge pages and how to set them");
    s.n->set.thp = NULL;
    is_str(scene_check(&s, "huge-pages"),
           "not checked: the kernel has no transparent huge pages, or does not show them",
           "huge pages that are absent are not checked");
}

static void test_memlock(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.n->set.memlock_b = s.n->memory_b / 2;
    is_str(scene_check(&s, "memlock"), "passed", "a limit of half of the memory passes");
    s.n->set.memlock_b = 8 << 20;
    is_str(scene_check(&s, "memlock"), "warning: a process may lock only 8 MiB of memory",
           "a limit of 8 MiB of locked memory is found");
    is_str(scene_told(&s, 0),
           "soft limit of locked memory where this was run: 8388608 bytes\n"
           "registering memory with NICs fails: NCCL and MPI jobs abort or fall back to TCP\n"
           "echo '* - memlock unlimited' > /etc/security/limits.d/memlock.conf; for Slurm: "
           "LimitMEMLOCK=infinity in slurmd's unit",
           "the finding explains locked memory and how to raise its limit");
    s.n->set.memlock_b = 0;
    is_str(scene_check(&s, "memlock"), "warning: a process may lock only 0 MiB of memory",
           "0 is a value");
    s.n->set.memlock_b = ABSENT;
    is_str(scene_check(&s, "memlock"), "not checked: the limit of locked memory is not readable",
           "a limit of locked memory that is absent is not checked");
    s.nic[0]->nic.rdma = s.nic[1]->nic.rdma = NULL;
    is_str(scene_check(&s, "memlock"), "silent",
           "the limit of locked memory does not matter without RDMA");
}

static void test_nofile(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.n->set.nofile = 65536;
    is_str(scene_check(&s, "nofile"), "passed", "a limit of 65536 open files passes");
    s.n->set.nofile = 1024;
    is_str(scene_check(&s, "nofile"), "note: a process may open only 1024 files",
           "a limit of 1024 open files is found");
    is_str(scene_told(&s, 0),
           "soft limit of open files where this was run: 1024; clusters usually have 65536 or "
           "more\n"
           "large jobs (a socket per peer) and loaders with many workers run out of descriptors\n"
           "echo '* - nofile 1048576' > /etc/security/limits.d/nofile.conf",
           "the finding explains open files and how to raise their limit");
    s.n->set.nofile = ABSENT;
    is_str(scene_check(&s, "nofile"), "not checked: the limit of open files is not readable",
           "a limit of open files that is absent is not checked");
}

static void test_shm(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.n->set.shm_b = 64 << 20;
    is_str(scene_check(&s, "shm"), "warning: /dev/shm holds only 64 MiB",
           "/dev/shm of 64 MiB, as containers have it, is found");
    is_str(scene_told(&s, 0),
           "0.0 % of the 1024 GiB of memory; half is the kernel's default\n"
           "data-loader workers die with a bus error, or batches travel through pipes\n"
           "mount -o remount,size=50% /dev/shm  (containers: docker run --shm-size or --ipc=host)",
           "the finding explains /dev/shm and how to enlarge it");
    s.n->set.shm_b = ABSENT;
    is_str(scene_check(&s, "shm"),
           "not checked: /dev/shm is not mounted, or the size of memory is not known",
           "a size of /dev/shm that is absent is not checked");
    s.n->set.shm_b = 64 << 20;
    s.n->memory_b = ABSENT;
    is_str(scene_check(&s, "shm"),
           "not checked: /dev/shm is not mounted, or the size of memory is not known",
           "the memory is absent");
}

static void test_swap(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.n->set.swap_b = 2LL << 30;
    is_str(scene_check(&s, "swap"), "note: swap is on", "2 GiB of swap are found");
    is_str(
        scene_told(&s, 0),
        "2048 MiB of swap\n"
        "a job that runs out of memory slows its whole group down for minutes instead of failing "
        "at once\n"
        "swapoff -a, and remove it from /etc/fstab",
        "the finding explains swap and how to switch it off");
    s.n->set.swap_b = ABSENT;
    is_str(scene_check(&s, "swap"), "not checked: /proc/swaps is not readable",
           "swap that is absent is not checked");
}

int main(void)
{
    test_governor();
    test_clocksource();
    test_numa_balancing();
    test_huge_pages();
    test_memlock();
    test_nofile();
    test_shm();
    test_swap();
    return done();
}
