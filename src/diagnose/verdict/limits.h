/* The named thresholds of data/rules/thresholds.ini. */
#ifndef BRIM_DIAGNOSE_VERDICT_LIMITS_H
#define BRIM_DIAGNOSE_VERDICT_LIMITS_H
#include <stddef.h>

#include "base/err.h"

/* One member per section of the file, with _ for -. */
struct judge_limits {
    double steps_least, steps_sure;
    double wait_warning, named, agreed, mostly, handing_over, wait_critical, other_unknown;
    double idle_cpus, idle_bytes;
    double loader_on_cpu, loader_asleep, cpus_free, fetch_margin;
    double io_waiting, io_pressure;
    double disk_busy, disk_idle, disk_await, disk_queue;
    double request_large, request_small, call_small, calls_many, flat, bytes_some, streaming,
        others_storage;
    double nfs_round_trip, nfs_queue, nfs_operations;
    double cpu_stolen, cpu_starved, workers_waiting, workers_busy, others_cpu, cpu_throttled,
        threads_many, threads_few, compute_most;
    double numa_remote, numa_cost;
    double copy_warning, pcie_load, pcie_width, short_step, tiny_step, launch_cpu, launch_cost,
        blas_cost;
    double sm_active, gpu_busy;
    double gpu_throttled, gpu_capped, gpu_clock, gpu_clock_capped, gpu_memory_unused;
    double memory_pressure, swapping, major_faults, memory_low, memory_full, read_again;
    double communication_warning, link_load, link_slow, exchange_small, retransmits;
    double slow_rank, slow_rank_steady, slow_rank_loss, slow_rank_lost, samples_differ, imbalance;
    double checkpoint, gc, spike, spike_regular, loop, lock_asleep, lock_others;
    double slower, slower_run, slower_for, other_share;
};

/* Read the thresholds out of text in the file's form: all of them, each once, with unit and source.
 * 0, or -EINVAL with "FILE:LINE: why". */
int judge_limits_load(struct judge_limits *ret, const char *file, const char *text, size_t len,
                      struct err *e) CHECK_RESULT;

/* The name of the i-th threshold ("wait-warning"), NULL behind the last. */
const char *judge_limits_name(size_t i);

#endif
