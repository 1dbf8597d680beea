/* Memory: what it is used for (/proc/meminfo), and what moving it about costs (/proc/vmstat). */
#include "probe/sample/table.h"

enum {
    TOTAL,
    FREE,
    AVAILABLE,
    BUFFERS,
    CACHED,
    DIRTY,
    WRITEBACK,
    ANONYMOUS,
    SHMEM,
    SLAB,
    SWAP_TOTAL,
    SWAP_FREE,
    HUGE_TOTAL,
    HUGE_FREE,
};

static const struct signal_def memory_defs[] = {
    [TOTAL] = { "total_bytes", "memory that the kernel manages", SIGNAL_GAUGE },
    [FREE] = { "free_bytes", "memory that nothing uses", SIGNAL_GAUGE },
    [AVAILABLE] = { "available_bytes", "memory that programs can get without swapping",
                    SIGNAL_GAUGE },
    [BUFFERS] = { "buffers_bytes", "cache of block devices", SIGNAL_GAUGE },
    [CACHED] = { "cached_bytes", "cache of files, shared memory too", SIGNAL_GAUGE },
    [DIRTY] = { "dirty_bytes", "cache that waits to be written", SIGNAL_GAUGE },
    [WRITEBACK] = { "writeback_bytes", "cache that is being written", SIGNAL_GAUGE },
    [ANONYMOUS] = { "anonymous_bytes", "memory of programs without a file", SIGNAL_GAUGE },
    [SHMEM] = { "shmem_bytes", "shared memory and tmpfs", SIGNAL_GAUGE },
    [SLAB] = { "slab_bytes", "the kernel's own objects", SIGNAL_GAUGE },
    [SWAP_TOTAL] = { "swap_total_bytes", "swap space", SIGNAL_GAUGE },
    [SWAP_FREE] = { "swap_free_bytes", "swap space that nothing uses", SIGNAL_GAUGE },
    [HUGE_TOTAL] = { "huge_pages_total", "huge pages set aside, of the default size",
                     SIGNAL_GAUGE },
    [HUGE_FREE] = { "huge_pages_free", "huge pages set aside that nothing uses", SIGNAL_GAUGE },
};

static const struct signal_set memory_set = { "memory", NULL, memory_defs,
                                              ARRAY_SIZE(memory_defs) };

/* In the order of the file; its "kB" are 1024 bytes. */
static const struct sample_key memory_keys[] = {
    { "MemTotal:", TOTAL, 1024 },
    { "MemFree:", FREE, 1024 },
    { "MemAvailable:", AVAILABLE, 1024 },
    { "Buffers:", BUFFERS, 1024 },
    { "Cached:", CACHED, 1024 },
    { "SwapTotal:", SWAP_TOTAL, 1024 },
    { "SwapFree:", SWAP_FREE, 1024 },
    { "Dirty:", DIRTY, 1024 },
    { "Writeback:", WRITEBACK, 1024 },
    { "AnonPages:", ANONYMOUS, 1024 },
    { "Shmem:", SHMEM, 1024 },
    { "Slab:", SLAB, 1024 },
    { "HugePages_Total:", HUGE_TOTAL, 1 },
    { "HugePages_Free:", HUGE_FREE, 1 },
};

enum {
    FAULTS,
    MAJOR_FAULTS,
    PAGES_IN,
    PAGES_OUT,
    SWAP_IN,
    SWAP_OUT,
    OOM_KILLS,
    STALLS,
    KSWAPD_SCANNED,
    DIRECT_SCANNED,
    REFAULTS,
    NUMA_HIT,
    NUMA_MISS,
};

static const struct signal_def vmstat_defs[] = {
    [FAULTS] = { "page_faults_total", "page faults", SIGNAL_COUNTER },
    [MAJOR_FAULTS] = { "major_faults_total", "page faults that had to read", SIGNAL_COUNTER },
    [PAGES_IN] = { "pages_in_bytes_total", "read from block devices", SIGNAL_COUNTER },
    [PAGES_OUT] = { "pages_out_bytes_total", "written to block devices", SIGNAL_COUNTER },
    [SWAP_IN] = { "swap_in_pages_total", "pages read from swap", SIGNAL_COUNTER },
    [SWAP_OUT] = { "swap_out_pages_total", "pages written to swap", SIGNAL_COUNTER },
    [OOM_KILLS] = { "oom_kills_total", "processes killed for want of memory", SIGNAL_COUNTER },
    [STALLS] = { "direct_reclaim_stalls_total",
                 "allocations that had to free memory themselves first", SIGNAL_COUNTER },
    [KSWAPD_SCANNED] = { "kswapd_scanned_pages_total",
                         "pages looked at in the background, to free them", SIGNAL_COUNTER },
    [DIRECT_SCANNED] = { "direct_scanned_pages_total",
                         "pages looked at by allocations, to free them", SIGNAL_COUNTER },
    [REFAULTS] = { "file_refault_pages_total",
                   "pages of files read again that had been dropped for others", SIGNAL_COUNTER },
    [NUMA_HIT] = { "numa_hit_total", "pages from the node that was wanted", SIGNAL_COUNTER },
    [NUMA_MISS] = { "numa_miss_total", "pages from another node than was wanted", SIGNAL_COUNTER },
};

static const struct signal_set vmstat_set = { "vmstat", NULL, vmstat_defs,
                                              ARRAY_SIZE(vmstat_defs) };

/* pgpgin and pgpgout are in KiB, whatever the size of a page. */
static const struct sample_key vmstat_keys[] = {
    { "numa_hit", NUMA_HIT, 1 },
    { "numa_miss", NUMA_MISS, 1 },
    { "pgpgin", PAGES_IN, 1024 },
    { "pgpgout", PAGES_OUT, 1024 },
    { "pswpin", SWAP_IN, 1 },
    { "pswpout", SWAP_OUT, 1 },
    { "allocstall", STALLS, 1 }, /* before Linux 4.10; then one of each zone */
    { "allocstall_dma", STALLS, 1 },
    { "allocstall_dma32", STALLS, 1 },
    { "allocstall_normal", STALLS, 1 },
    { "allocstall_high", STALLS, 1 },
    { "allocstall_movable", STALLS, 1 },
    { "allocstall_device", STALLS, 1 },
    { "pgfault", FAULTS, 1 },
    { "pgmajfault", MAJOR_FAULTS, 1 },
    { "pgscan_kswapd", KSWAPD_SCANNED, 1 },
    { "pgscan_direct", DIRECT_SCANNED, 1 },
    { "oom_kill", OOM_KILLS, 1 },
    { "workingset_refault", REFAULTS, 1 }, /* before Linux 5.9; then of files and others apart */
    { "workingset_refault_file", REFAULTS, 1 },
};

static int open_meminfo(void **state, const struct sampler_env *env, struct err *e)
{
    return sample_table_start(state, env->root, "proc/meminfo", e);
}

static int sample_meminfo(void *state, struct tick *t)
{
    return sample_table_row(state, t, &memory_set, memory_keys, ARRAY_SIZE(memory_keys));
}

static int open_vmstat(void **state, const struct sampler_env *env, struct err *e)
{
    return sample_table_start(state, env->root, "proc/vmstat", e);
}

static int sample_vmstat(void *state, struct tick *t)
{
    return sample_table_row(state, t, &vmstat_set, vmstat_keys, ARRAY_SIZE(vmstat_keys));
}

const struct sampler_ops sampler_memory = { "memory", &memory_set, open_meminfo, sample_meminfo,
                                            sample_table_stop };
const struct sampler_ops sampler_vmstat = { "vmstat", &vmstat_set, open_vmstat, sample_vmstat,
                                            sample_table_stop };
