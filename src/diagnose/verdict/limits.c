#include "diagnose/verdict/limits.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/ini.h"
#include "base/parse.h"

/* One threshold, and where it is kept. */
struct row {
    const char *name;
    size_t offset;
};

#define ROW(name_, member) \
    { \
        name_, offsetof(struct judge_limits, member) \
    }
static const struct row rows[] = {
    /* clang-format off */
    ROW("steps-least", steps_least),
    ROW("steps-sure", steps_sure),
    ROW("wait-warning", wait_warning),
    ROW("named", named),
    ROW("agreed", agreed),
    ROW("mostly", mostly),
    ROW("handing-over", handing_over),
    ROW("wait-critical", wait_critical),
    ROW("other-unknown", other_unknown),
    ROW("idle-cpus", idle_cpus),
    ROW("idle-bytes", idle_bytes),
    ROW("loader-on-cpu", loader_on_cpu),
    ROW("loader-asleep", loader_asleep),
    ROW("cpus-free", cpus_free),
    ROW("fetch-margin", fetch_margin),
    ROW("io-waiting", io_waiting),
    ROW("io-pressure", io_pressure),
    ROW("disk-busy", disk_busy),
    ROW("disk-idle", disk_idle),
    ROW("disk-await", disk_await),
    ROW("disk-queue", disk_queue),
    ROW("request-large", request_large),
    ROW("request-small", request_small),
    ROW("call-small", call_small),
    ROW("calls-many", calls_many),
    ROW("flat", flat),
    ROW("bytes-some", bytes_some),
    ROW("streaming", streaming),
    ROW("others-storage", others_storage),
    ROW("nfs-round-trip", nfs_round_trip),
    ROW("nfs-queue", nfs_queue),
    ROW("nfs-operations", nfs_operations),
    ROW("cpu-stolen", cpu_stolen),
    ROW("cpu-starved", cpu_starved),
    ROW("workers-waiting", workers_waiting),
    ROW("workers-busy", workers_busy),
    ROW("others-cpu", others_cpu),
    ROW("cpu-throttled", cpu_throttled),
    ROW("threads-many", threads_many),
    ROW("threads-few", threads_few),
    ROW("compute-most", compute_most),
    ROW("numa-remote", numa_remote),
    ROW("numa-cost", numa_cost),
    ROW("copy-warning", copy_warning),
    ROW("pcie-load", pcie_load),
    ROW("pcie-width", pcie_width),
    ROW("short-step", short_step),
    ROW("tiny-step", tiny_step),
    ROW("launch-cpu", launch_cpu),
    ROW("launch-cost", launch_cost),
    ROW("blas-cost", blas_cost),
    ROW("sm-active", sm_active),
    ROW("gpu-busy", gpu_busy),
    ROW("gpu-throttled", gpu_throttled),
    ROW("gpu-capped", gpu_capped),
    ROW("gpu-clock", gpu_clock),
    ROW("gpu-clock-capped", gpu_clock_capped),
    ROW("gpu-memory-unused", gpu_memory_unused),
    ROW("memory-pressure", memory_pressure),
    ROW("swapping", swapping),
    ROW("major-faults", major_faults),
    ROW("memory-low", memory_low),
    ROW("memory-full", memory_full),
    ROW("read-again", read_again),
    ROW("communication-warning", communication_warning),
    ROW("link-load", link_load),
    ROW("link-slow", link_slow),
    ROW("exchange-small", exchange_small),
    ROW("retransmits", retransmits),
    ROW("slow-rank", slow_rank),
    ROW("slow-rank-steady", slow_rank_steady),
    ROW("slow-rank-loss", slow_rank_loss),
    ROW("slow-rank-lost", slow_rank_lost),
    ROW("samples-differ", samples_differ),
    ROW("imbalance", imbalance),
    ROW("checkpoint", checkpoint),
    ROW("gc", gc),
    ROW("spike", spike),
    ROW("spike-regular", spike_regular),
    ROW("loop", loop),
    ROW("lock-asleep", lock_asleep),
    ROW("lock-others", lock_others),
    ROW("slower", slower),
    ROW("slower-run", slower_run),
    ROW("slower-for", slower_for),
    ROW("other-share", other_share),
    /* clang-format on */
};

enum { ROWS = ARRAY_SIZE(rows), NONE = -1 };

/* Keys of a section that were seen. */
enum { SEEN_VALUE = 1, SEEN_UNIT = 2, SEEN_SOURCE = 4, SEEN_ALL = 7 };

struct reader {
    struct judge_limits *to;
    uint8_t seen[ROWS];
};

const char *judge_limits_name(size_t i)
{
    return i < ROWS ? rows[i].name : NULL;
}

static int find(const char *name)
{
    for (int i = 0; i < ROWS; i++)
        if (!strcmp(rows[i].name, name))
            return i;
    return NONE;
}

static int key_bit(const char *key)
{
    if (!strcmp(key, "value"))
        return SEEN_VALUE;
    if (!strcmp(key, "unit"))
        return SEEN_UNIT;
    return strcmp(key, "source") == 0 ? SEEN_SOURCE : 0;
}

static int take(void *ctx, const struct ini_entry *at, struct err *e)
{
    struct reader *r = ctx;
    int i = find(at->section), bit;

    if (i == NONE)
        return err_set(e, -EINVAL, "%s:%d: unknown threshold '%.60s'", at->file, at->line,
                       at->section);
    if (!at->key)
        return 0;
    bit = key_bit(at->key);
    if (!bit)
        return err_set(e, -EINVAL, "%s:%d: unknown key '%.60s'", at->file, at->line, at->key);
    if (r->seen[i] & bit)
        return err_set(e, -EINVAL, "%s:%d: '%s' of [%s] stands twice", at->file, at->line, at->key,
                       rows[i].name);
    if (!*at->value)
        return err_set(e, -EINVAL, "%s:%d: '%s' is empty", at->file, at->line, at->key);
    r->seen[i] = (uint8_t)(r->seen[i] | bit);
    if (bit == SEEN_VALUE &&
        parse_double(at->value, (double *)((char *)r->to + rows[i].offset)) < 0)
        return err_set(e, -EINVAL, "%s:%d: '%.60s' is no number", at->file, at->line, at->value);
    return 0;
}

int judge_limits_load(struct judge_limits *ret, const char *file, const char *text, size_t len,
                      struct err *e)
{
    struct judge_limits limits = { .steps_least = 0 };
    struct reader r = { .to = &limits };
    int rc = ini_parse(file, text, len, take, &r, e);

    if (rc < 0)
        return rc;
    for (int i = 0; i < ROWS; i++)
        if (r.seen[i] != SEEN_ALL)
            return err_set(e, -EINVAL, "%s: [%s] needs value, unit and source", file, rows[i].name);
    *ret = limits;
    return 0;
}
