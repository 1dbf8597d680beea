/* A run: one job under observation, as far as diagnosis and reports need it. Its ranks with their
 * steps, and what the node and the job's processes did, moment by moment. Plain data.
 *
 * Absent is NaN. Shares are 0 to 1, times in seconds, sizes in bytes, rates per second. */
#ifndef BRIM_MODEL_JOB_RUN_H
#define BRIM_MODEL_JOB_RUN_H
#include <stdbool.h>

#include "base/arena.h"
#include "model/job/lines.h"
#include "model/job/step.h"
#include "model/job/tuning.h"

/* What is known of each moment (an interval of about a second). */
enum run_signal {
    /* the node */
    RUN_CPUS,     /* that the node has */
    RUN_CPU_BUSY, /* share of them, without waiting for input and output */
    RUN_CPU_STEAL,
    RUN_CPU_BUSIEST,  /* the busiest CPU's share */
    RUN_CPU_PRESSURE, /* share of time with somebody waiting for a CPU */
    RUN_IO_PRESSURE,
    RUN_MEMORY_PRESSURE,
    RUN_MEMORY_TOTAL,
    RUN_MEMORY_AVAILABLE,
    RUN_CPU_WATTS,  /* processors and their memory (RAPL) */
    RUN_SWAP,       /* bytes a second, in and out */
    RUN_REFAULTS,   /* bytes of files that were in memory, and are read again */
    RUN_DISK_BUSY,  /* of the disk that is busiest */
    RUN_DISK_AWAIT, /* its time for a request */
    RUN_DISK_QUEUE, /* requests under way there */
    RUN_DISK_READ,  /* all disks, bytes */
    RUN_DISK_WRITE,
    RUN_DISK_REQUESTS,
    RUN_NFS_OPS,
    RUN_NFS_QUEUE, /* time of an operation in the client's queue */
    RUN_NFS_ROUND_TRIP,
    RUN_NFS_EXECUTE,  /* in all */
    RUN_NET_RECEIVED, /* bytes, all interfaces that are not loopback */
    RUN_NET_SENT,
    RUN_NET_LOAD,        /* of the fullest interface, where its speed is known */
    RUN_LOOPBACK,        /* bytes */
    RUN_TCP_RETRANSMITS, /* of segments sent */
    /* the job's accelerators: means over them */
    RUN_GPUS,
    RUN_GPU_BUSY,
    RUN_GPU_SM_ACTIVE,
    RUN_GPU_TENSOR_ACTIVE,
    RUN_GPU_DRAM_ACTIVE,
    RUN_GPU_MEMORY,      /* share in use */
    RUN_GPU_MEMORY_USED, /* bytes of all together */
    RUN_GPU_POWER,       /* share of the limit */
    RUN_GPU_WATTS,       /* all together */
    RUN_GPU_CLOCK,       /* share of the highest */
    RUN_GPU_THROTTLED,   /* share of the time, for heat and brakes */
    RUN_GPU_CAPPED,      /* share of the time, at the power limit */
    RUN_GPU_PCIE,        /* load of the fullest link */
    RUN_GPU_PCIE_WIDTH,  /* now to what GPU and slot can do: 1 is whole (generation and lanes) */
    RUN_GPU_WORST_CLOCK, /* the slowest one's clock to the median's */
    /* the job's processes together */
    RUN_JOB_PROCESSES,
    RUN_JOB_THREADS,
    RUN_JOB_CPU,      /* CPUs used */
    RUN_JOB_RUN_WAIT, /* threads that wait for a CPU, in the mean */
    RUN_JOB_IO_WAIT,  /* threads that wait for disks */
    RUN_JOB_MEMORY_WAIT,
    RUN_JOB_BLOCKED, /* processes that wait for disks or other file systems */
    RUN_JOB_READ,    /* bytes of block devices */
    RUN_JOB_WRITE,
    RUN_JOB_IO_READ, /* bytes by system calls: from caches and networks, too */
    RUN_JOB_IO_WRITTEN,
    RUN_JOB_READ_CALLS,
    RUN_JOB_WRITE_CALLS,
    RUN_JOB_RESIDENT, /* memory that processes share counts for each */
    RUN_JOB_PSS,      /* the same, shared pages counted once; read now and then */
    RUN_JOB_MAJOR_FAULTS,
    RUN_JOB_PREEMPTIONS, /* involuntary context switches */
    RUN_JOB_CPU_LIMIT,   /* of its cgroup, in CPUs */
    RUN_JOB_THROTTLED,   /* share of its cgroup's periods that were cut short */
    RUN_JOB_MEMORY,      /* that its cgroup uses, cached files among it */
    RUN_JOB_MEMORY_LIMIT,
    /* by what they do: ranks' own processes, and their children (loader workers) */
    RUN_RANK_CPU,         /* CPUs used by a rank's own process, mean */
    RUN_RANK_THREAD_CPU,  /* share of time that its first thread is on a CPU */
    RUN_RANK_THREAD_WAIT, /* ... and that it could run and has none */
    RUN_WORKERS,          /* child processes of ranks */
    RUN_WORKER_CPU,       /* CPUs used by a worker, mean */
    RUN_WORKER_IO_WAIT, /* share of time that a worker waits for disks or sleeps uninterruptibly */
    /* what others do on this node */
    RUN_OTHER_CPU,
    RUN_OTHER_READ,
    RUN_OTHER_WRITE,
    RUN_SIGNALS
};

/* "job_cpu"; for storing and printing. */
const char *run_signal_name(enum run_signal s);

struct run_moment {
    int64_t wall_ns;      /* its end, since 1970 */
    int64_t monotonic_ns; /* the same by the clock of steps */
    double seconds;       /* how long it was */
    double values[RUN_SIGNALS];
};

/* Something that a rank told once: "loader.workers", "0". */
struct run_note {
    const char *name, *value;
};

struct run_rank {
    int rank, local_rank, world; /* -1: not known */
    int pid;
    const char *host;
    const char *framework; /* "torch 1.13.1" */
    struct step *steps; /* in their order; of a long run the first and the last ones, see dropped */
    size_t n_steps, steps_room;
    uint64_t dropped;  /* steps between them that are summed up in 'total' only */
    struct step total; /* sums over all steps; number is their count */
    struct run_note *notes;
    size_t n_notes, notes_room;
};

enum run_end { RUN_RUNNING, RUN_EXITED, RUN_KILLED, RUN_LOST /* its observer died first */ };

struct run {
    struct arena arena; /* owns all below */
    const char *id;     /* "20261121-034912-a1b2": sorts by time */
    const char *name;
    const char *command; /* one line, quoted for a shell */
    const char *folder, *user, *host;
    int64_t begin_ns, end_ns; /* wall; end 0 while it runs */
    enum run_end end;
    int status; /* exit status or signal */
    struct run_rank *ranks;
    size_t n_ranks, ranks_room;
    struct run_moment *moments;
    size_t n_moments, moments_room;
    struct run_note *environment; /* versions, settings, machine: what is compared between runs */
    size_t n_environment, environment_room;
    const char
        *inferred; /* how steps were found without marks, a sentence; NULL: they were marked */
    double inferred_confidence;
    const struct run_tuning *tuning; /* what brim optimize tried; NULL: it did not try */
    struct lines *lines; /* which lines of its Python take the time; NULL: nobody looked */
};

void run_done(struct run *r);

/* The value of a note of its environment: "env.OMP_NUM_THREADS"; NULL when there is none. The last
 * one of a name counts. */
const char *run_environment(const struct run *r, const char *name);

/* The value of a note; NULL when there is none. The last one of a name counts. */
const char *run_note(const struct run_rank *r, const char *name);

/* What is in force under a knob's name: as brim optimize has set it for good, else the rank's note,
 * which is of its start. NULL: neither. */
const char *run_setting(const struct run *r, const struct run_rank *k, const char *name);

#endif
