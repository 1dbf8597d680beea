/* Memory and paging: each line of the kernel's alone, and those that are one value together. */
#include "sampled.h"

extern const struct sampler_ops sampler_memory, sampler_vmstat;

struct line {
    const char *text, *signal, *want;
};

static const struct line meminfo[] = {
    { "MemTotal: 7 kB\n", "total_bytes", "7168" },
    { "MemFree: 7 kB\n", "free_bytes", "7168" },
    { "MemAvailable: 7 kB\n", "available_bytes", "7168" },
    { "Buffers: 7 kB\n", "buffers_bytes", "7168" },
    { "Cached: 7 kB\n", "cached_bytes", "7168" },
    { "SwapCached: 7 kB\n", "cached_bytes", "absent" },
    { "SwapTotal: 7 kB\n", "swap_total_bytes", "7168" },
    { "SwapFree: 7 kB\n", "swap_free_bytes", "7168" },
    { "Dirty: 7 kB\n", "dirty_bytes", "7168" },
    { "Writeback: 7 kB\n", "writeback_bytes", "7168" },
    { "WritebackTmp: 7 kB\n", "writeback_bytes", "absent" },
    { "AnonPages: 7 kB\n", "anonymous_bytes", "7168" },
    { "Shmem: 7 kB\n", "shmem_bytes", "7168" },
    { "Slab: 7 kB\n", "slab_bytes", "7168" },
    { "HugePages_Total: 7\n", "huge_pages_total", "7" },
    { "HugePages_Free: 7\n", "huge_pages_free", "7" },
};

static const struct line vmstat[] = {
    { "pgfault 7\n", "page_faults_total", "7" },
    { "pgmajfault 7\n", "major_faults_total", "7" },
    { "pgpgin 7\n", "pages_in_bytes_total", "7168" },
    { "pgpgout 7\n", "pages_out_bytes_total", "7168" },
    { "pswpin 7\n", "swap_in_pages_total", "7" },
    { "pswpout 7\n", "swap_out_pages_total", "7" },
    { "oom_kill 7\n", "oom_kills_total", "7" },
    { "allocstall 7\n", "direct_reclaim_stalls_total", "7" },
    { "allocstall_dma 7\n", "direct_reclaim_stalls_total", "7" },
    { "allocstall_dma32 7\n", "direct_reclaim_stalls_total", "7" },
    { "allocstall_normal 7\n", "direct_reclaim_stalls_total", "7" },
    { "allocstall_high 7\n", "direct_reclaim_stalls_total", "7" },
    { "allocstall_movable 7\n", "direct_reclaim_stalls_total", "7" },
    { "allocstall_device 7\n", "direct_reclaim_stalls_total", "7" },
    { "allocstall_dma 7\nallocstall_normal 5\n", "direct_reclaim_stalls_total", "12" },
    { "pgscan_kswapd 7\n", "kswapd_scanned_pages_total", "7" },
    { "pgscan_direct 7\n", "direct_scanned_pages_total", "7" },
    { "pgscan_direct_throttle 7\n", "direct_scanned_pages_total", "absent" },
    { "workingset_refault 7\n", "file_refault_pages_total", "7" },
    { "workingset_refault_file 7\n", "file_refault_pages_total", "7" },
    { "workingset_refault_anon 7\n", "file_refault_pages_total", "absent" },
    { "numa_hit 7\n", "numa_hit_total", "7" },
    { "numa_miss 7\n", "numa_miss_total", "7" },
};

static void test_lines(const struct sampler_ops *ops, const char *path, const struct line *lines,
                       size_t n)
{
    struct sampled s;

    sampled_make(&s, ops);
    for (size_t i = 0; i < n; i++) {
        folder_text(s.folder, path, lines[i].text);
        sampled_close(&s);
        is_int(sampled_open(&s), 0, "the sampler %s opens with: %s", ops->name, lines[i].signal);
        is_int(sampled_at(&s, 0), 1, "the sampler %s has a row of %s", ops->name, lines[i].signal);
        is_value(&s, "", lines[i].signal, lines[i].want);
    }
    folder_text(s.folder, path, "");
    is_int(sampled_at(&s, 1), 0, "the sampler %s has no row of an empty file", ops->name);
    sampled_remove(&s);
}

int main(void)
{
    test_lines(&sampler_memory, "proc/meminfo", meminfo, ARRAY_SIZE(meminfo));
    test_lines(&sampler_vmstat, "proc/vmstat", vmstat, ARRAY_SIZE(vmstat));
    return done();
}
