/* What processes waited for: the kernel's generic netlink family TASKSTATS, asked for many
 * processes at once. It needs CAP_NET_ADMIN and the first network namespace. */
#ifndef BRIM_PROBE_KERNEL_TASKSTATS_H
#define BRIM_PROBE_KERNEL_TASKSTATS_H
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* One process: sums over the threads that live. What a thread has used is no longer in them once it
 * has ended, so they may go back. Waits but run_wait_ns are 0 while the kernel does not account
 * delays, and for threads started before it did. */
struct taskstats_usage {
    pid_t pid; /* whom to ask about */
    int rc;    /* 0; -ESRCH: there is no such process; or another negative errno */
    uint64_t run_ns;
    uint64_t run_wait_ns; /* runnable, and no CPU was free */
    uint64_t block_io_wait_ns;
    uint64_t swap_in_wait_ns;
    uint64_t reclaim_wait_ns;
    uint64_t thrashing_wait_ns; /* 0 before Linux 4.19 */
    uint64_t compact_wait_ns;   /* 0 before Linux 5.17 */
    uint64_t voluntary_switches;
    uint64_t involuntary_switches;
};

struct taskstats_client;

/* 0; -EPERM without the right; -ENOENT when the kernel has no such family; -EPROTONOSUPPORT when
 * its answers have a layout that is not known; -ENOMEM; or another negative errno. */
int taskstats_open(struct taskstats_client **ret, struct err *e) CHECK_RESULT;
void taskstats_close(struct taskstats_client *c);
DEFINE_CLEANUP(struct taskstats_client, taskstats_close)

/* Ask about n processes; each gets its rc. Never waits: the kernel answers while it is asked. */
void taskstats_ask(struct taskstats_client *c, struct taskstats_usage *usages, size_t n);

/* Read one answer, which starts with its struct nlmsghdr: 0 and all of *ret but pid and rc; what
 * the kernel said was wrong; -EBADMSG; -EPROTONOSUPPORT. */
int taskstats_parse(const void *message, size_t len, struct taskstats_usage *ret) CHECK_RESULT;

#endif
