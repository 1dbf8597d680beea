/* The live view of a node: what limits it now, in a sentence; its stages in the order of an
 * assembly line; and what its devices and processes do, as tables. Filled from two ticks by
 * live_update() (src/diagnose/node/live.h), printed by src/render. Plain data.
 *
 * Absent is NaN. Shares are 0 to 1, rates in bytes a second, times in seconds. */
#ifndef BRIM_MODEL_VERDICT_LIVE_H
#define BRIM_MODEL_VERDICT_LIVE_H
#include <stdbool.h>

#include "model/signal/signal.h"
#include "model/verdict/live_run.h"

enum live_stage_id {
    LIVE_STORAGE,
    LIVE_CPU,
    LIVE_PCIE,
    LIVE_GPU,
    LIVE_NETWORK,
    LIVE_STAGES,
    LIVE_NONE = LIVE_STAGES /* no stage limits the node */
};

enum live_state { LIVE_UNKNOWN, LIVE_IDLE, LIVE_OK, LIVE_BUSY, LIVE_LIMIT };

/* What processes are sorted by; "use" mixes CPUs, bytes and waiting. */
enum live_sort {
    LIVE_BY_USE,
    LIVE_BY_CPU,
    LIVE_BY_IO,
    LIVE_BY_READ,
    LIVE_BY_WRITE,
    LIVE_BY_MEMORY,
    LIVE_SORTS
};

enum {
    LIVE_GPUS_MAX = 64, /* rows beyond these are left out */
    LIVE_DISKS_MAX = 256,
    LIVE_FILESYSTEMS_MAX = 128,
    LIVE_NFS_MAX = 128,
    LIVE_NETS_MAX = 256,
    LIVE_PROCESSES_MAX = 50,
    LIVE_FIGURES = 6,
    LIVE_VALUE_TEXT = 48,
    LIVE_TEXT = 320
};

struct live_stage {
    enum live_state state;
    int cause;   /* which of the stage's causes makes its load; 0: none */
    bool weak;   /* a cause that counts only where no other stage is at its limit */
    double load; /* how near its limit; smoothed */
    double figures[LIVE_FIGURES]; /* what the texts are made of, by cause; smoothed */
    char thing[SIGNAL_THING];     /* "vda"; "" when it is the whole stage */
    char value[LIVE_VALUE_TEXT];  /* "412 MB/s" */
    char detail[LIVE_TEXT];       /* "vda is 98 % busy and takes 84 ms a request" */
};

struct live_verdict {
    enum live_state state; /* LIVE_LIMIT, LIVE_OK, LIVE_IDLE or LIVE_UNKNOWN */
    enum severity severity;
    enum live_stage_id bottleneck;
    char sentence[LIVE_TEXT];
    char waste[LIVE_VALUE_TEXT]; /* "5.0 of 8 GPUs idle"; "" */
    char action[LIVE_TEXT];      /* a command to paste or what to do; "" */
    char run[LIVE_RUN_NAME];     /* the id of the run whose sentence it is; "": the node's own */
};

/* Reasons that hold a GPU's clock down, as bits. */
enum live_throttle {
    LIVE_THROTTLE_POWER = 1,
    LIVE_THROTTLE_THERMAL = 2,
    LIVE_THROTTLE_BRAKE = 4,
    LIVE_THROTTLE_SYNC = 8,
    LIVE_THROTTLE_OTHER = 16
};

/* Names in rows are borrowed from the tick that they were made of. */
struct live_gpu {
    const char *gpu, *model, *uuid, *vendor;
    double busy, sm_active, tensor_active, dram_active;
    double memory_used, memory_total, power, power_limit, temperature, sm_clock, sm_clock_max;
    double pcie_rx, pcie_tx, pcie_gen, pcie_gen_max, pcie_width, pcie_width_max;
    double link_rx, link_tx, processes;
    double lost;       /* 1: its driver does not reach it any more */
    double throttled;  /* share of the time, for other reasons than the power limit */
    unsigned throttle; /* bits of enum live_throttle */
};

struct live_disk {
    const char *device;
    double read, write, iops, await, busy, queue;
};

struct live_filesystem {
    const char *mount;
    double size, used, free;
};

/* Times are means of one operation. */
struct live_nfs {
    const char *mount;
    double ops, read, write, rtt, queue, execute;
    double waiting; /* operations under way, in the mean */
};

struct live_net {
    const char *device;
    const char *kind; /* "ethernet", "infiniband" */
    double rx, tx, speed, errors, drops, packets;
};

struct live_process {
    const char *pid, *comm, *uid, *cgroup;
    double cpu;                 /* CPUs used */
    double children;            /* CPUs used by children, counted when they have ended */
    double run_wait, io_wait;   /* threads that wait, in the mean */
    double read, write;         /* of block devices */
    double io_read, io_written; /* by system calls: from caches and networks, too */
    double resident, threads, blocked;
};

struct live_cpu {
    double busy, iowait, steal; /* shares of all CPUs */
    double cores;
    double busiest; /* the busiest CPU's share */
    double full;    /* CPUs that are busy all the time */
    double load1, running, run_wait;
};

struct live_memory {
    double total, available, swap_used, pressure;
};

/* {0} before the first update; nothing to free. */
struct live {
    int64_t wall_ns;
    double interval_s;   /* between the two ticks */
    enum live_sort sort; /* the caller's choice */
    struct live_verdict verdict;
    struct live_stage stages[LIVE_STAGES];
    struct live_cpu cpu;
    double cpu_mean; /* cpu.busy over the time that the sentence is about: what people are shown */
    struct live_memory memory;
    double io_pressure;
    struct live_gpu gpus[LIVE_GPUS_MAX];
    struct live_disk disks[LIVE_DISKS_MAX];
    struct live_filesystem filesystems[LIVE_FILESYSTEMS_MAX];
    struct live_nfs nfs[LIVE_NFS_MAX];
    struct live_net nets[LIVE_NETS_MAX];
    struct live_process processes[LIVE_PROCESSES_MAX]; /* sorted */
    size_t n_gpus, n_disks, n_filesystems, n_nfs, n_nets, n_processes;
};

/* An alert that is on, as the caller knows it. */
struct live_alert {
    const char *name;
    const char *severity; /* "note", "warning", "critical" */
    const char *thing, *text;
    const char *action; /* NULL */
    int64_t since_ms;   /* since 1970 */
    int code;           /* of an XID and its like; -1: none */
    bool drain;         /* jobs are not to start on the node */
};

/* What is printed with the view and does not come from ticks. */
struct live_extra {
    const char *host;
    const struct live_alert *alerts;
    size_t n_alerts;
    const struct event *events;
    size_t n_events;
    const struct live_run *runs; /* that go on here */
    size_t n_runs;
};

/* "storage", "Storage"; "limit"; "cpu" */
const char *live_stage_name(enum live_stage_id id);
const char *live_stage_title(enum live_stage_id id);
const char *live_state_name(enum live_state s);
const char *live_sort_name(enum live_sort s);

/* The reason of a bit: "thermal". */
const char *live_throttle_name(enum live_throttle bit);

#endif
