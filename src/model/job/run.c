#include "model/job/run.h"

#include <string.h>

void run_done(struct run *r)
{
    arena_done(&r->arena);
    *r = (struct run){ .id = NULL };
}

const char *run_environment(const struct run *r, const char *name)
{
    for (size_t i = r->n_environment; i-- > 0;)
        if (r->environment[i].name && !strcmp(r->environment[i].name, name))
            return r->environment[i].value;
    return NULL;
}

const char *run_note(const struct run_rank *r, const char *name)
{
    for (size_t i = r->n_notes; i-- > 0;)
        if (!strcmp(r->notes[i].name, name))
            return r->notes[i].value;
    return NULL;
}

const char *run_setting(const struct run *r, const struct run_rank *k, const char *name)
{
    const char *kept = run_tuning_kept(r->tuning, name);

    return kept ? kept : run_note(k, name);
}

const char *run_signal_name(enum run_signal s)
{
    static const char *const names[RUN_SIGNALS] = {
        [RUN_CPUS] = "cpus",
        [RUN_CPU_BUSY] = "cpu_busy",
        [RUN_CPU_STEAL] = "cpu_steal",
        [RUN_CPU_BUSIEST] = "cpu_busiest",
        [RUN_CPU_PRESSURE] = "cpu_pressure",
        [RUN_IO_PRESSURE] = "io_pressure",
        [RUN_MEMORY_PRESSURE] = "memory_pressure",
        [RUN_MEMORY_TOTAL] = "memory_total",
        [RUN_MEMORY_AVAILABLE] = "memory_available",
        [RUN_CPU_WATTS] = "cpu_watts",
        [RUN_SWAP] = "swap",
        [RUN_REFAULTS] = "refaults",
        [RUN_DISK_BUSY] = "disk_busy",
        [RUN_DISK_AWAIT] = "disk_await",
        [RUN_DISK_QUEUE] = "disk_queue",
        [RUN_DISK_READ] = "disk_read",
        [RUN_DISK_WRITE] = "disk_write",
        [RUN_DISK_REQUESTS] = "disk_requests",
        [RUN_NFS_OPS] = "nfs_ops",
        [RUN_NFS_QUEUE] = "nfs_queue",
        [RUN_NFS_ROUND_TRIP] = "nfs_round_trip",
        [RUN_NFS_EXECUTE] = "nfs_execute",
        [RUN_NET_RECEIVED] = "net_received",
        [RUN_NET_SENT] = "net_sent",
        [RUN_NET_LOAD] = "net_load",
        [RUN_LOOPBACK] = "loopback",
        [RUN_TCP_RETRANSMITS] = "tcp_retransmits",
        [RUN_GPUS] = "gpus",
        [RUN_GPU_BUSY] = "gpu_busy",
        [RUN_GPU_SM_ACTIVE] = "gpu_sm_active",
        [RUN_GPU_TENSOR_ACTIVE] = "gpu_tensor_active",
        [RUN_GPU_DRAM_ACTIVE] = "gpu_dram_active",
        [RUN_GPU_MEMORY] = "gpu_memory",
        [RUN_GPU_MEMORY_USED] = "gpu_memory_used",
        [RUN_GPU_POWER] = "gpu_power",
        [RUN_GPU_WATTS] = "gpu_watts",
        [RUN_GPU_CLOCK] = "gpu_clock",
        [RUN_GPU_THROTTLED] = "gpu_throttled",
        [RUN_GPU_CAPPED] = "gpu_capped",
        [RUN_GPU_PCIE] = "gpu_pcie",
        [RUN_GPU_PCIE_WIDTH] = "gpu_pcie_width",
        [RUN_GPU_WORST_CLOCK] = "gpu_worst_clock",
        [RUN_JOB_PROCESSES] = "job_processes",
        [RUN_JOB_THREADS] = "job_threads",
        [RUN_JOB_CPU] = "job_cpu",
        [RUN_JOB_RUN_WAIT] = "job_run_wait",
        [RUN_JOB_IO_WAIT] = "job_io_wait",
        [RUN_JOB_MEMORY_WAIT] = "job_memory_wait",
        [RUN_JOB_BLOCKED] = "job_blocked",
        [RUN_JOB_READ] = "job_read",
        [RUN_JOB_WRITE] = "job_write",
        [RUN_JOB_IO_READ] = "job_io_read",
        [RUN_JOB_IO_WRITTEN] = "job_io_written",
        [RUN_JOB_READ_CALLS] = "job_read_calls",
        [RUN_JOB_WRITE_CALLS] = "job_write_calls",
        [RUN_JOB_RESIDENT] = "job_resident",
        [RUN_JOB_PSS] = "job_pss",
        [RUN_JOB_MAJOR_FAULTS] = "job_major_faults",
        [RUN_JOB_PREEMPTIONS] = "job_preemptions",
        [RUN_JOB_CPU_LIMIT] = "job_cpu_limit",
        [RUN_JOB_THROTTLED] = "job_throttled",
        [RUN_JOB_MEMORY] = "job_memory",
        [RUN_JOB_MEMORY_LIMIT] = "job_memory_limit",
        [RUN_RANK_CPU] = "rank_cpu",
        [RUN_RANK_THREAD_CPU] = "rank_thread_cpu",
        [RUN_RANK_THREAD_WAIT] = "rank_thread_wait",
        [RUN_WORKERS] = "workers",
        [RUN_WORKER_CPU] = "worker_cpu",
        [RUN_WORKER_IO_WAIT] = "worker_io_wait",
        [RUN_OTHER_CPU] = "other_cpu",
        [RUN_OTHER_READ] = "other_read",
        [RUN_OTHER_WRITE] = "other_write",
    };

    return names[s];
}
