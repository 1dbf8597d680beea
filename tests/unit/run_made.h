/* Made runs: of each cause one, with noise, so that a verdict has a truth to be compared with. */
#ifndef BRIM_TESTS_RUN_MADE_H
#define BRIM_TESTS_RUN_MADE_H
#include "run_bare.h"

/* A job that only computes, on CPUs. */
static inline void made_healthy(struct made *m, bool gpu)
{
    uint64_t *seed = &m->seed;
    double cpus = (double)(8 << made_bits(seed) % 3);

    m->ranks = (size_t)1 << made_bits(seed) % 3;
    m->steps = 40 + made_bits(seed) % 260;
    m->step_s = made_uniform(seed, 0.05, 0.6);
    m->noise = made_uniform(seed, 0.01, 0.05);
    m->level = 1;
    for (int i = 0; i < MADE_RANKS; i++) {
        m->slow[i] = 1;
        m->samples[i] = 32;
    }
    m->share[BRIM_STAGE_WAIT] = made_uniform(seed, 0.001, 0.03);
    m->share[BRIM_STAGE_COPY] = made_uniform(seed, 0.001, 0.02);
    m->share[BRIM_STAGE_FORWARD] = 0.3;
    m->share[BRIM_STAGE_OPTIMIZER] = 0.06;
    m->share[BRIM_STAGE_OTHER] = made_uniform(seed, 0.01, 0.06);
    m->share[BRIM_STAGE_COMMUNICATION] = m->ranks > 1 ? made_uniform(seed, 0.01, 0.04) : 0;
    m->share[BRIM_STAGE_BACKWARD] = 0;
    for (int s = 0; s < BRIM_STAGES; s++)
        m->share[BRIM_STAGE_BACKWARD] += s == BRIM_STAGE_BACKWARD ? 1 : -m->share[s];
    m->share[BRIM_STAGE_BACKWARD] = 1;
    for (int s = 0; s < BRIM_STAGES; s++)
        m->share[BRIM_STAGE_BACKWARD] -= s == BRIM_STAGE_BACKWARD ? 0 : m->share[s];
    for (int s = 0; s < RUN_SIGNALS; s++) {
        m->s[s] = (double)NAN;
        m->wild[s] = 0.05;
    }
    m->s[RUN_CPUS] = cpus;
    m->s[RUN_CPU_BUSY] = gpu ? 0.2 : 0.85;
    m->s[RUN_CPU_STEAL] = 0;
    m->s[RUN_CPU_PRESSURE] = 0.02;
    m->s[RUN_IO_PRESSURE] = 0.01;
    m->s[RUN_MEMORY_PRESSURE] = 0;
    m->s[RUN_MEMORY_TOTAL] = 64e9;
    m->s[RUN_MEMORY_AVAILABLE] = 40e9;
    m->s[RUN_SWAP] = 0;
    m->s[RUN_DISK_BUSY] = made_uniform(seed, 0.01, 0.3);
    m->s[RUN_DISK_AWAIT] = 0.0005;
    m->s[RUN_DISK_QUEUE] = 0.2;
    m->s[RUN_DISK_READ] = 20e6;
    m->s[RUN_DISK_WRITE] = 1e6;
    m->s[RUN_DISK_REQUESTS] = 160;
    m->s[RUN_NET_RECEIVED] = m->s[RUN_NET_SENT] = 1e5;
    m->s[RUN_NET_LOAD] = 0.01;
    m->s[RUN_TCP_RETRANSMITS] = 0.0001;
    m->s[RUN_JOB_CPU] = gpu ? 1.3 : cpus * 0.8;
    m->s[RUN_JOB_RUN_WAIT] = m->s[RUN_JOB_CPU] * made_uniform(seed, 0.005, 0.06);
    m->s[RUN_JOB_IO_WAIT] = made_uniform(seed, 0, 0.01);
    m->s[RUN_JOB_MEMORY_WAIT] = 0;
    m->s[RUN_JOB_BLOCKED] = m->s[RUN_JOB_IO_WAIT];
    m->s[RUN_JOB_READ] = 20e6;
    m->s[RUN_JOB_WRITE] = 1e5;
    m->s[RUN_JOB_IO_READ] = 30e6;
    m->s[RUN_JOB_READ_CALLS] = 300;
    m->s[RUN_JOB_MAJOR_FAULTS] = 1;
    m->s[RUN_JOB_THROTTLED] = made_bits(seed) % 2 ? 0 : (double)NAN;
    m->s[RUN_RANK_CPU] = gpu ? 1 : fmax(1, cpus * 0.8 / (double)m->ranks);
    m->s[RUN_WORKERS] = 0;
    m->s[RUN_OTHER_CPU] = made_uniform(seed, 0.02, 0.1) * cpus;
    m->s[RUN_OTHER_READ] = m->s[RUN_OTHER_WRITE] = 2e5;
    if (gpu) {
        m->s[RUN_GPUS] = (double)m->ranks;
        m->s[RUN_GPU_BUSY] = made_uniform(seed, 0.93, 1);
        m->s[RUN_GPU_SM_ACTIVE] = made_uniform(seed, 0.5, 0.9);
        m->s[RUN_GPU_MEMORY] = made_uniform(seed, 0.6, 0.95);
        m->s[RUN_GPU_CLOCK] = 0.95;
        m->s[RUN_GPU_THROTTLED] = 0;
        m->s[RUN_GPU_CAPPED] = made_uniform(seed, 0, 0.9);
        m->s[RUN_GPU_PCIE] = 0.1;
        m->s[RUN_GPU_PCIE_WIDTH] = 1;
        m->s[RUN_GPU_WORST_CLOCK] = 0.99;
    }
}

static inline void made_note(struct made *m, const char *name, const char *value)
{
    size_t i = 0;

    while (m->notes[i][0])
        i++;
    m->notes[i][0] = name;
    m->notes[i][1] = value;
}

/* Waits for data, in its own process or in workers, of which each has this on a CPU. */
static inline void made_wait(struct made *m, bool workers, double on_cpu)
{
    double wait = made_uniform(&m->seed, 0.25, 0.8);

    made_stage(m, BRIM_STAGE_WAIT, wait);
    m->s[RUN_RANK_CPU] = workers ? 1 - wait : 1 - wait + wait * on_cpu;
    m->s[RUN_CPU_BUSY] = 0.3;
    if (m->s[RUN_GPU_BUSY] >= 0) {
        m->s[RUN_GPU_BUSY] = 1 - wait;
    } else if (!workers) { /* computes on two threads, a little less than both */
        made_note(m, "threads.intra", "2");
        m->s[RUN_CPUS] = 2 * (double)m->ranks;
        m->s[RUN_OTHER_CPU] = 0.1;
        m->s[RUN_RANK_CPU] += (1 - wait) * made_uniform(&m->seed, 0.4, 0.6);
    }
    made_note(m, "loader.workers", workers ? "2" : "0");
    m->s[RUN_WORKERS] = workers ? 2 * (double)m->ranks : 0;
    m->s[RUN_WORKER_CPU] = workers ? on_cpu : (double)NAN;
    m->s[RUN_WORKER_IO_WAIT] = workers ? 0.02 : (double)NAN;
    m->s[RUN_JOB_CPU] = (m->s[RUN_RANK_CPU] + (workers ? 2 * on_cpu : 0)) * (double)m->ranks;
    m->s[RUN_JOB_RUN_WAIT] = 0.03 * m->s[RUN_JOB_CPU];
}

/* ... for disks. */
static inline void made_io(struct made *m, bool workers)
{
    double share = made_uniform(&m->seed, 0.6, 0.9), n = (double)m->ranks;

    made_wait(m, workers, 0.1);
    m->s[RUN_JOB_IO_WAIT] = n * (workers ? 2 * share : m->share[BRIM_STAGE_WAIT] * share);
    m->s[RUN_JOB_BLOCKED] = m->s[RUN_JOB_IO_WAIT];
    m->s[RUN_WORKER_IO_WAIT] = workers ? share : (double)NAN;
    m->s[RUN_IO_PRESSURE] = made_uniform(&m->seed, 0.2, 0.8);
    m->s[RUN_JOB_READ] = m->s[RUN_DISK_READ] = made_uniform(&m->seed, 50e6, 500e6);
    m->s[RUN_JOB_IO_READ] = m->s[RUN_JOB_READ];
    m->s[RUN_JOB_READ_CALLS] = m->s[RUN_JOB_IO_READ] / 100e3;
    m->s[RUN_DISK_REQUESTS] = m->s[RUN_DISK_READ] / 500e3;
    m->wild[RUN_JOB_READ] = 0.3;
}

static inline void made_storage(struct made *m, enum cause cause, bool workers, uint64_t kind)
{
    made_io(m, workers);
    m->s[RUN_DISK_BUSY] = 0.97;
    m->s[RUN_DISK_AWAIT] = 0.02;
    m->s[RUN_DISK_QUEUE] = 9;
    if (cause == CAUSE_STORAGE_BANDWIDTH && kind % 2) { /* held down by its cgroup */
        m->s[RUN_DISK_BUSY] = 0.1;
        m->s[RUN_DISK_AWAIT] = 0.001;
        m->s[RUN_DISK_QUEUE] = 0.1;
        m->s[RUN_JOB_READ] = m->s[RUN_DISK_READ] = m->s[RUN_JOB_IO_READ] = 20e6;
        m->s[RUN_DISK_REQUESTS] = 160;
        m->wild[RUN_JOB_READ] = 0.04;
    } else if (cause == CAUSE_STORAGE_LATENCY) {
        m->s[RUN_DISK_AWAIT] = made_uniform(&m->seed, 0.015, 0.1);
        m->s[RUN_DISK_QUEUE] = 1;
        m->s[RUN_DISK_READ] = m->s[RUN_JOB_READ] = m->s[RUN_JOB_IO_READ] = 4e6;
        m->s[RUN_DISK_REQUESTS] = 4e6 / 128e3;
        m->s[RUN_JOB_READ_CALLS] = 60;
    } else if (cause == CAUSE_SMALL_FILES) {
        m->s[RUN_DISK_BUSY] = made_uniform(&m->seed, 0.5, 0.95);
        m->s[RUN_DISK_AWAIT] = 0.0003;
        m->s[RUN_DISK_QUEUE] = 1;
        m->s[RUN_DISK_READ] = m->s[RUN_JOB_READ] = m->s[RUN_JOB_IO_READ] = 30e6;
        m->s[RUN_DISK_REQUESTS] = 30e6 / made_uniform(&m->seed, 5e3, 40e3);
        m->s[RUN_JOB_READ_CALLS] = 30e6 / 6e3;
    } else if (cause == CAUSE_STORAGE_CONTENTION) {
        m->s[RUN_OTHER_READ] = m->s[RUN_JOB_READ] * made_uniform(&m->seed, 1, 4);
        m->s[RUN_DISK_READ] += m->s[RUN_OTHER_READ];
    }
}

static inline void made_loader(struct made *m, enum cause cause, bool workers)
{
    if (cause == CAUSE_FEW_WORKERS) {
        made_wait(m, true, made_uniform(&m->seed, 0.45, 0.55));
    } else {
        made_wait(m, workers,
                  cause == CAUSE_LOADER_CPU ? made_uniform(&m->seed, 0.85, 1)
                                            : made_uniform(&m->seed, 0, 0.15));
    }
}

static inline void made_starved(struct made *m, double share)
{
    m->s[RUN_JOB_RUN_WAIT] = m->s[RUN_JOB_CPU] * share / (1 - share);
    m->s[RUN_CPU_PRESSURE] = share;
    m->s[RUN_CPU_BUSY] = 0.98;
}

static inline void made_cpus(struct made *m, enum cause cause)
{
    double cpus = m->s[RUN_CPUS], n = (double)m->ranks;
    static const char *const counts[] = { "128", "256", "512" };

    if (cause == CAUSE_CPU_NEIGHBOURS) {
        m->s[RUN_OTHER_CPU] = cpus * made_uniform(&m->seed, 0.4, 0.7);
        m->s[RUN_JOB_CPU] = cpus - m->s[RUN_OTHER_CPU];
        m->s[RUN_RANK_CPU] = m->s[RUN_JOB_CPU] / n;
        made_starved(m, made_uniform(&m->seed, 0.3, 0.6));
    } else if (cause == CAUSE_CPU_QUOTA) {
        m->s[RUN_JOB_CPU_LIMIT] = cpus / 4;
        m->s[RUN_JOB_CPU] = cpus / 4;
        m->s[RUN_RANK_CPU] = cpus / 4 / n;
        m->s[RUN_JOB_THROTTLED] = made_uniform(&m->seed, 0.4, 1);
        made_starved(m, made_uniform(&m->seed, 0.4, 0.8));
        m->s[RUN_CPU_BUSY] = 0.3;
    } else if (cause == CAUSE_CPU_BINDING) {
        made_note(m, "process.cpus", "2");
        m->s[RUN_RANK_CPU] = 2 / n;
        m->s[RUN_JOB_CPU] = 2;
        m->s[RUN_OTHER_CPU] = 0.1;
        made_starved(m, made_uniform(&m->seed, 0.4, 0.7));
        m->s[RUN_CPU_BUSY] = 2.2 / cpus;
    } else if (cause == CAUSE_CPU_THREADS && made_bits(&m->seed) % 2) {
        made_note(m, "threads.intra", counts[made_bits(&m->seed) % 3]);
        made_starved(m, made_uniform(&m->seed, 0.3, 0.7));
    } else if (cause == CAUSE_CPU_THREADS) {
        m->ranks = 1;
        m->share[BRIM_STAGE_COMMUNICATION] = 0;
        made_note(m, "threads.intra", "1");
        m->s[RUN_RANK_CPU] = m->s[RUN_JOB_CPU] = 1;
        m->s[RUN_CPU_BUSY] = 1.2 / cpus;
    } else if (cause == CAUSE_CPU_SPINNING) {
        m->ranks = 1;
        m->share[BRIM_STAGE_COMMUNICATION] = 0;
        made_note(m, "threads.intra", "8");
        made_starved(m, made_uniform(&m->seed, 0.3, 0.5));
    } else if (cause == CAUSE_PYTHON_LOCK) {
        m->ranks = 1;
        m->share[BRIM_STAGE_COMMUNICATION] = 0;
        m->s[RUN_RANK_THREAD_CPU] = made_uniform(&m->seed, 0.1, 0.4);
        m->s[RUN_RANK_THREAD_WAIT] = 0.02;
        m->s[RUN_RANK_CPU] = m->s[RUN_JOB_CPU] = made_uniform(&m->seed, 1.1, 2);
    } else if (cause == CAUSE_MANY_WORKERS) {
        made_wait(m, true, 0.3);
        m->notes[0][1] = counts[0];
        m->s[RUN_WORKERS] = 128 * n;
        m->s[RUN_JOB_CPU] = cpus;
        m->s[RUN_WORKER_CPU] = cpus / m->s[RUN_WORKERS];
        /* They all compute: so many have a CPU, and most of the others wait for one. */
        made_starved(m, 1 - cpus / (cpus + made_uniform(&m->seed, 0.95, 1) *
                                               fmax(cpus, m->s[RUN_WORKERS] - cpus)));
    } else if (cause == CAUSE_BLAS) {
        made_note(m, "blas", "generic");
        made_note(m, "threads.intra", cpus < 20 ? "8" : "16");
        m->s[RUN_RANK_CPU] = 1;
        m->s[RUN_CPU_BUSY] = 0.4;
    } else {
        made_note(m, "numa.remote", made_bits(&m->seed) % 2 ? "0.55" : "0.8");
    }
}

/* A limit of its cgroup that leaves its files no room, on disks that are not fast. */
static inline void made_again(struct made *m)
{
    /* In an order of its own: compilers differ in that of arguments. */
    uint64_t second = made_bits(&m->seed), first = made_bits(&m->seed);

    made_storage(m, CAUSE_STORAGE_BANDWIDTH, first % 2, second);
    m->s[RUN_REFAULTS] = m->s[RUN_DISK_READ] * made_uniform(&m->seed, 0.7, 1);
    m->s[RUN_JOB_MEMORY_LIMIT] = made_uniform(&m->seed, 4e9, 32e9);
    m->s[RUN_JOB_MEMORY] = m->s[RUN_JOB_MEMORY_LIMIT] * 0.999;
    m->wild[RUN_JOB_MEMORY] = m->wild[RUN_JOB_MEMORY_LIMIT] = 0.0001;
    m->s[RUN_MEMORY_PRESSURE] = made_uniform(&m->seed, 0.01, 0.04);
}

static inline void made_devices(struct made *m, enum cause cause)
{
    double share = made_uniform(&m->seed, 0.2, 0.5);

    switch (cause) {
    case CAUSE_PAGEABLE_COPY:
    case CAUSE_PCIE:
        made_stage(m, BRIM_STAGE_COPY, share);
        made_note(m, "loader 1", "workers 4, batch 32, pin no, persistent no");
        m->s[RUN_GPU_PCIE_WIDTH] = cause == CAUSE_PCIE ? 0.25 : 1;
        break;
    case CAUSE_SMALL_BATCH:
        m->s[RUN_GPU_SM_ACTIVE] = made_uniform(&m->seed, 0.05, 0.25);
        m->s[RUN_GPU_BUSY] = made_uniform(&m->seed, 0.3, 0.95);
        break;
    case CAUSE_THERMAL:
        m->s[RUN_GPU_THROTTLED] = made_uniform(&m->seed, 0.4, 1);
        m->s[RUN_GPU_CLOCK] = made_uniform(&m->seed, 0.4, 0.75);
        break;
    case CAUSE_POWER_CAP:
        m->s[RUN_GPU_CAPPED] = made_uniform(&m->seed, 0.8, 1);
        m->s[RUN_GPU_CLOCK] = made_uniform(&m->seed, 0.4, 0.7);
        break;
    default:
        if (made_bits(&m->seed) % 2) {
            made_again(m);
            break;
        }
        made_wait(m, true, 0.2);
        m->s[RUN_MEMORY_PRESSURE] = made_uniform(&m->seed, 0.2, 0.7);
        m->s[RUN_SWAP] = made_uniform(&m->seed, 5e6, 200e6);
        m->s[RUN_JOB_MAJOR_FAULTS] = 3000;
        m->s[RUN_MEMORY_AVAILABLE] = 1e9;
        m->s[RUN_WORKER_IO_WAIT] = 0.6;
        m->s[RUN_DISK_BUSY] = 0.9;
        m->s[RUN_IO_PRESSURE] = 0.5;
    }
}

static inline void made_group(struct made *m, enum cause cause)
{
    size_t bad;

    m->ranks = (size_t)2 << made_bits(&m->seed) % 3;
    bad = made_bits(&m->seed) % m->ranks;
    if (cause == CAUSE_SLOW_RANK) {
        m->slow[bad] = made_uniform(&m->seed, 1.25, 2.5);
        m->slow_from = made_bits(&m->seed) % 2 ? m->steps / 3 : 0;
    } else if (cause == CAUSE_IMBALANCE && made_bits(&m->seed) % 2) {
        m->slow[bad] = made_uniform(&m->seed, 1.4, 2);
        m->samples[bad] = 32 * m->slow[bad];
    } else if (cause == CAUSE_IMBALANCE) {
        m->alternates = true;
        m->slow[0] = made_uniform(&m->seed, 1.4, 2);
    } else {
        made_stage(m, BRIM_STAGE_COMMUNICATION, made_uniform(&m->seed, 0.25, 0.7));
        m->collective_b = 100e6;
        m->collective_s = m->share[BRIM_STAGE_COMMUNICATION] * m->step_s;
        if (cause == CAUSE_SLOW_LINK) {
            m->collective_b = 40e6 * m->collective_s;
            m->collective_b = fmax(m->collective_b, 2e6);
            m->s[RUN_NET_LOAD] = made_bits(&m->seed) % 2 ? 0.93 : (double)NAN;
            m->s[RUN_NET_SENT] = 40e6;
        }
        if (cause == CAUSE_LOSSY_NETWORK)
            m->s[RUN_TCP_RETRANSMITS] = made_uniform(&m->seed, 0.015, 0.1);
    }
}

static inline void made_times(struct made *m, enum cause cause)
{
    m->steps = 120 + made_bits(&m->seed) % 180;
    if (cause == CAUSE_CHECKPOINT) {
        m->pause_every = 20;
        m->pause_s = m->step_s * made_uniform(&m->seed, 3, 12);
        m->pause_stage = BRIM_STAGE_CHECKPOINT;
        m->s[RUN_JOB_WRITE] = 80e6;
    } else if (cause == CAUSE_GC) {
        m->pause_every = 15;
        m->pause_s = m->step_s * made_uniform(&m->seed, 2, 6);
        m->pause_stage = BRIM_STAGE_OTHER;
    } else if (cause == CAUSE_LOOP) {
        made_stage(m, BRIM_STAGE_OTHER, made_uniform(&m->seed, 0.25, 0.7));
        m->s[RUN_GPU_BUSY] *= 0.5;
    } else if (made_bits(&m->seed) % 2) {
        m->level = made_uniform(&m->seed, 1.3, 2);
        m->slow_from = m->steps / 2;
    } else {
        m->earlier_step_ms = (int)(1000 * m->step_s / made_uniform(&m->seed, 1.3, 2));
    }
}

/* A run of a cause; CAUSE_NONE is a healthy one. */
static inline struct made made_like(enum cause cause, uint64_t seed)
{
    struct made m = { .seed = seed * 977 + (uint64_t)cause };
    uint64_t kind = made_bits(&m.seed);
    bool gpu = kind & 1, workers = kind & 2;

    if (cause >= CAUSE_CPU_NEIGHBOURS && cause <= CAUSE_NUMA)
        gpu = false;
    if ((cause >= CAUSE_PAGEABLE_COPY && cause <= CAUSE_PCIE) || cause == CAUSE_SMALL_BATCH ||
        cause == CAUSE_THERMAL || cause == CAUSE_POWER_CAP)
        gpu = true;
    made_healthy(&m, gpu);
    if (cause >= CAUSE_STORAGE_BANDWIDTH && cause <= CAUSE_STORAGE_CONTENTION)
        made_storage(&m, cause, workers, kind >> 2);
    else if (cause >= CAUSE_LOADER_CPU && cause <= CAUSE_FEW_WORKERS)
        made_loader(&m, cause, workers);
    else if (cause >= CAUSE_MANY_WORKERS && cause <= CAUSE_NUMA)
        made_cpus(&m, cause);
    else if ((cause >= CAUSE_COMMUNICATION && cause <= CAUSE_LOSSY_NETWORK) ||
             cause == CAUSE_IMBALANCE || cause == CAUSE_SLOW_RANK)
        made_group(&m, cause);
    else if (cause >= CAUSE_CHECKPOINT && cause <= CAUSE_SLOWER_THAN_BEFORE)
        made_times(&m, cause);
    else if (cause != CAUSE_NONE)
        made_devices(&m, cause);
    return m;
}

#endif
