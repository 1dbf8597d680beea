#include "diagnose/verdict/explain.h"

#include <stdbool.h>
#include <string.h>

/* The first is why the second is seen: the second is left out where both were found. */
static const struct {
    enum cause why, seen;
} explained[] = {
    { CAUSE_MEMORY_PRESSURE, CAUSE_STORAGE_BANDWIDTH },
    { CAUSE_MEMORY_PRESSURE, CAUSE_STORAGE_LATENCY },
    { CAUSE_MEMORY_PRESSURE, CAUSE_SMALL_FILES },
    { CAUSE_MEMORY_PRESSURE, CAUSE_STORAGE_CONTENTION },
    { CAUSE_MEMORY_PRESSURE, CAUSE_LOADER_WAITS },
    { CAUSE_MEMORY_PRESSURE, CAUSE_LOADER_CPU },
    { CAUSE_MEMORY_PRESSURE, CAUSE_FEW_WORKERS },
    { CAUSE_CPU_QUOTA, CAUSE_CPU_NEIGHBOURS },
    { CAUSE_CPU_QUOTA, CAUSE_LOADER_CPU },
    { CAUSE_CPU_QUOTA, CAUSE_LOADER_WAITS },
    { CAUSE_CPU_QUOTA, CAUSE_FEW_WORKERS },
    { CAUSE_CPU_QUOTA, CAUSE_MANY_WORKERS },
    { CAUSE_CPU_QUOTA, CAUSE_CPU_THREADS },
    { CAUSE_CPU_QUOTA, CAUSE_CPU_SPINNING },
    { CAUSE_CPU_NEIGHBOURS, CAUSE_LOADER_CPU },
    { CAUSE_CPU_NEIGHBOURS, CAUSE_LOADER_WAITS },
    { CAUSE_CPU_NEIGHBOURS, CAUSE_FEW_WORKERS },
    { CAUSE_CPU_NEIGHBOURS, CAUSE_MANY_WORKERS },
    { CAUSE_CPU_NEIGHBOURS, CAUSE_CPU_THREADS },
    { CAUSE_CPU_NEIGHBOURS, CAUSE_CPU_SPINNING },
    { CAUSE_CPU_BINDING, CAUSE_LOADER_CPU },
    { CAUSE_CPU_BINDING, CAUSE_LOADER_WAITS },
    { CAUSE_CPU_BINDING, CAUSE_FEW_WORKERS },
    { CAUSE_CPU_BINDING, CAUSE_MANY_WORKERS },
    { CAUSE_CPU_BINDING, CAUSE_CPU_THREADS },
    { CAUSE_CPU_BINDING, CAUSE_CPU_SPINNING },
    { CAUSE_CPU_BINDING, CAUSE_COMMUNICATION },
    { CAUSE_CPU_BINDING, CAUSE_IMBALANCE },
    { CAUSE_MANY_WORKERS, CAUSE_LOADER_CPU },
    { CAUSE_MANY_WORKERS, CAUSE_LOADER_WAITS },
    { CAUSE_MANY_WORKERS, CAUSE_FEW_WORKERS },
    { CAUSE_MANY_WORKERS, CAUSE_CPU_THREADS },
    { CAUSE_SMALL_BATCH, CAUSE_LOADER_CPU },
    { CAUSE_SMALL_BATCH, CAUSE_FEW_WORKERS },
    { CAUSE_CPU_SPINNING, CAUSE_GC },
    { CAUSE_CPU_THREADS, CAUSE_BLAS },
    { CAUSE_PYTHON_LOCK, CAUSE_CPU_THREADS },
    { CAUSE_PYTHON_LOCK, CAUSE_LOOP },
    { CAUSE_SLOW_RANK, CAUSE_LOOP },
    { CAUSE_SMALL_BATCH, CAUSE_LOOP },
    { CAUSE_NUMA, CAUSE_BLAS },
    { CAUSE_PCIE, CAUSE_PAGEABLE_COPY },
    { CAUSE_SLOW_RANK, CAUSE_IMBALANCE },
    { CAUSE_SLOW_RANK, CAUSE_THERMAL },
    { CAUSE_LOSSY_NETWORK, CAUSE_SLOW_LINK },
    { CAUSE_LOSSY_NETWORK, CAUSE_COMMUNICATION },
    { CAUSE_SLOW_LINK, CAUSE_COMMUNICATION },
    { CAUSE_THERMAL, CAUSE_POWER_CAP },
};

/* Whether a cause costs enough to explain another one. Other processes, a quota and a binding have
 * to cost half as much; a hypervisor has to cost as much. So have short steps: their calls explain
 * the call of the loader, but not a loader that decodes for longer than all other calls take. */
static bool is_enough(const struct verdict_item *why, const struct verdict_item *seen, bool stolen)
{
    if (why->cause == CAUSE_SMALL_BATCH || (why->cause == CAUSE_CPU_NEIGHBOURS && stolen))
        return why->share >= seen->share;
    if (why->cause != CAUSE_CPU_NEIGHBOURS && why->cause != CAUSE_CPU_QUOTA &&
        why->cause != CAUSE_CPU_BINDING)
        return true;
    return why->share >= seen->share / 2;
}

/* Where the first item of a cause stands; n when there is none. */
static size_t find(const struct verdict_item *items, size_t n, enum cause cause)
{
    for (size_t i = 0; i < n; i++)
        if (items[i].cause == cause)
            return i;
    return n;
}

size_t judge_explain(struct verdict_item *items, size_t n, bool stolen)
{
    for (size_t i = 0; i < ARRAY_SIZE(explained); i++) {
        size_t seen = find(items, n, explained[i].seen), why = find(items, n, explained[i].why);

        if (seen == n || why == n || !is_enough(&items[why], &items[seen], stolen))
            continue;
        memmove(&items[seen], &items[seen + 1], (n - seen - 1) * sizeof(*items));
        n--;
    }
    return n;
}
