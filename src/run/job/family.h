/* The processes of a job: all that descend from one process, which is ours and reaps those whose
 * parents end (PR_SET_CHILD_SUBREAPER). Who is one of them is decided when a process is first seen
 * and does not change, so that a sample reads the files of members and of new processes only.
 *
 * Counters are told as growth. What a process used that ended between two samples is in the
 * counters of the one that waited for it: the CPU time of short processes is not lost. */
#ifndef BRIM_RUN_JOB_FAMILY_H
#define BRIM_RUN_JOB_FAMILY_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* What the members did since the sample before. NaN: cannot be told here. */
struct family_growth {
    double processes, threads;
    double cpu_s;
    double run_wait_s, io_wait_s, memory_wait_s; /* of all threads; what TASKSTATS tells */
    double blocked; /* processes that wait for disks or other file systems, mean over the glances */
    double read_b, written_b; /* of block devices */
    double io_read_b, io_written_b;
    double read_calls, write_calls;
    double resident_b; /* memory that processes share counts for each */
    double major_faults;
    double preemptions;
    double ranks, rank_cpu_s; /* members that are ranks, and the CPU time of these alone */
    double thread_cpu_s, thread_run_wait_s; /* of the ranks' first threads */
    double workers;                         /* members below ranks */
    double worker_cpu_s, worker_io_wait_s;
    double worker_blocked; /* workers among the blocked */
    double unreadable;     /* members whose bytes may not be read */
};

struct family;

/* proc: a descriptor of /proc, borrowed; live: it is this machine's and the kernel may be asked.
 * ancestor: whose descendants; it is none itself. -1: nobody's, see family_take(). */
int family_open(struct family **ret, int proc, bool live, pid_t ancestor, struct err *e)
    CHECK_RESULT;
void family_close(struct family *f);
DEFINE_CLEANUP(struct family, family_close)

/* That process is a member, too, whosever child it is, and so are those that descend from it.
 * Before the first sample, which tells of processes that ran before as if they had just begun. */
void family_take(struct family *f, pid_t pid);

/* The members that the last sample found, at most n: how many there are in kin. */
struct family_kin {
    pid_t pid, parent;
    double cpu_s; /* its own, since it began */
};
size_t family_kin(const struct family *f, struct family_kin *kin, size_t n);

/* The ancestor waited for a descendant that had used so much CPU time, its own children's
 * included. */
void family_reaped(struct family *f, double cpu_s);

/* Which members are ranks: processes that mark steps. Borrowed until the next call. */
void family_ranks(struct family *f, const pid_t *pids, size_t n);

/* Look at the members that are known, at most FAMILY_GLANCED of them: how much CPU time they have
 * used since the family was opened and, when asked for, how many bytes they have read and
 * written. */
enum { FAMILY_GLANCED = 64 };
struct family_glance {
    double cpu_s, bytes;
};
void family_look(struct family *f, struct family_glance *ret, bool bytes);

/* Take up new members, drop those that ended, and tell what all did. 0 or -ENOMEM. */
int family_sample(struct family *f, struct family_growth *ret) CHECK_RESULT;

#endif
