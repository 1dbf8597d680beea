#include "model/verdict/verdict.h"

void verdict_done(struct verdict *v)
{
    arena_done(&v->arena);
    *v = (struct verdict){ .count = 0 };
}

const char *cause_name(enum cause c)
{
    static const char *const names[CAUSES] = {
        [CAUSE_NONE] = "none",
        [CAUSE_STORAGE_BANDWIDTH] = "storage-bandwidth",
        [CAUSE_STORAGE_LATENCY] = "storage-latency",
        [CAUSE_SMALL_FILES] = "small-files",
        [CAUSE_STORAGE_CONTENTION] = "storage-contention",
        [CAUSE_LOADER_CPU] = "loader-cpu",
        [CAUSE_LOADER_WAITS] = "loader-waits",
        [CAUSE_FEW_WORKERS] = "few-workers",
        [CAUSE_MANY_WORKERS] = "many-workers",
        [CAUSE_CPU_NEIGHBOURS] = "cpu-neighbours",
        [CAUSE_CPU_QUOTA] = "cpu-quota",
        [CAUSE_CPU_BINDING] = "cpu-binding",
        [CAUSE_CPU_THREADS] = "cpu-threads",
        [CAUSE_CPU_SPINNING] = "cpu-spinning",
        [CAUSE_PYTHON_LOCK] = "python-lock",
        [CAUSE_BLAS] = "blas",
        [CAUSE_NUMA] = "numa",
        [CAUSE_PAGEABLE_COPY] = "pageable-copy",
        [CAUSE_PCIE] = "pcie",
        [CAUSE_COMMUNICATION] = "communication",
        [CAUSE_SLOW_LINK] = "slow-link",
        [CAUSE_LOSSY_NETWORK] = "lossy-network",
        [CAUSE_SMALL_BATCH] = "small-batch",
        [CAUSE_IMBALANCE] = "imbalance",
        [CAUSE_SLOW_RANK] = "slow-rank",
        [CAUSE_THERMAL] = "thermal",
        [CAUSE_POWER_CAP] = "power-cap",
        [CAUSE_MEMORY_PRESSURE] = "memory-pressure",
        [CAUSE_MEMORY_UNUSED] = "memory-unused",
        [CAUSE_CHECKPOINT] = "checkpoint",
        [CAUSE_GC] = "gc",
        [CAUSE_LOOP] = "loop",
        [CAUSE_SLOWER_THAN_BEFORE] = "slower-than-before",
        [CAUSE_UNKNOWN] = "unknown",
    };

    return names[c];
}
