/* The processes of a machine between samples: which there are, how much each of them did lately,
 * and the few hundred that are reported when there are more. */
#ifndef BRIM_PROBE_PROCESS_TABLE_H
#define BRIM_PROBE_PROCESS_TABLE_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/compiler.h"
#include "probe/process/pids.h"

enum { PROCESS_SLOTS = 256, PROCESSES_MAX = 65536, PROCESS_NO_SLOT = -1 };

struct process {
    pid_t pid;
    int slot;           /* of the caller's details, while it is reported; PROCESS_NO_SLOT */
    bool known;         /* its /proc/PID/stat was read */
    bool kernel_thread; /* never reported */
    bool gone;          /* it ended, and is left out of the next update */
    uint64_t start_ticks;
    uint64_t activity; /* any number that changes whenever it runs */
    int64_t used_ns;   /* the moment of 'use' */
    int64_t read_ns;   /* when its files were read last; 0: not since it has its slot */
    double use;        /* seconds of CPU and of waiting, and bytes, in one number that grows */
    double score;      /* how fast that grew lately */
    unsigned quiet;    /* how often in a row it was found to have done nothing */
};

struct process_table {
    struct process *all; /* by pid */
    size_t n;
    size_t n_programs; /* those that are no threads of the kernel, and known */
    struct process *other;
    size_t room;              /* of both */
    struct process_pids pids; /* what the last update found */
    bool taken[PROCESS_SLOTS];
};

void process_table_done(struct process_table *t);

/* Take up the processes that proc (a folder like /proc) lists and drop those that it no longer
 * does. 0; -ENOMEM; another negative errno where proc cannot be read to its end: then nothing has
 * changed. Of more than PROCESSES_MAX only so many are taken up. */
int process_table_update(struct process_table *t, DIR *proc) CHECK_RESULT;

/* It ended: give its slot back. */
void process_table_end(struct process_table *t, struct process *p);

/* Forget what the process that had this pid before did; it keeps its slot. */
void process_renew(struct process *p, uint64_t start_ticks);

/* Tell how much it has used so far. */
void process_use(struct process *p, double use, int64_t now_ns);

/* Give free slots to known processes without one. With again, when there are more processes than
 * slots, those that did the most lately get them; others lose theirs. One that has a slot keeps it
 * against one that did little more. 0 or -ENOMEM. */
int process_table_rank(struct process_table *t, bool again) CHECK_RESULT;

#endif
