/* Which processes there are, and which of them are members. */
#ifndef BRIM_RUN_JOB_FAMILY_LIST_H
#define BRIM_RUN_JOB_FAMILY_LIST_H
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "probe/kernel/kept_file.h"
#include "probe/process/files.h"
#include "probe/process/pids.h"
#include "probe/process/text.h"
#include "run/job/thread.h"

/* What counts up over a process's life, its waited-for children included. */
struct member_counts {
    double ticks; /* of CPU time, of itself and of those that it waited for */
    double waited_ticks;
    double major_faults;
    struct process_io io; /* NaN: may not be read */
};

struct member {
    pid_t pid, parent;
    uint64_t start_ticks;
    struct process_files files;
    struct process_stat stat;
    struct member_counts before, now;
    bool is_rank, is_worker, fresh, gone;
    double waited_left;         /* growth of waited_ticks that no ended child explains yet */
    unsigned looks, blocked;    /* glances, and those that found it in uninterruptible sleep */
    struct thread_times thread; /* of a rank */
    uint64_t run_wait_ns, io_wait_ns, memory_wait_ns, switches; /* what the kernel said last */
};

struct family_list {
    int proc;       /* borrowed */
    pid_t ancestor; /* -1: none */
    pid_t first;    /* a member whosever child it is; 0: none */
    DIR *dir;
    struct kept loadavg;
    uint64_t last; /* the pid that was given out last; 0: not known */
    unsigned samples;
    struct process_pids known; /* all that were looked at */
    struct process_pids found; /* by the listing under way */
    struct member *members;
    size_t n, room;
};

int family_list_open(struct family_list *l, int proc, pid_t ancestor, struct err *e) CHECK_RESULT;
void family_list_done(struct family_list *l);

/* Add new members; their counts are zero. 0 or -ENOMEM. */
int family_list_update(struct family_list *l) CHECK_RESULT;

/* Drop the members that are marked as gone. */
void family_list_drop(struct family_list *l);

struct member *family_list_find(struct family_list *l, pid_t pid);

#endif
