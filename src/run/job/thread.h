/* What the kernel says of the threads of a process: of the first one, which runs a training loop,
 * and who the others are. */
#ifndef BRIM_RUN_JOB_THREAD_H
#define BRIM_RUN_JOB_THREAD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/compiler.h"

struct thread_times {
    uint64_t ran_ns, waited_ns; /* on a CPU, and for one */
};

/* /proc/PID/schedstat. 0 or -EINVAL; *ret is set only on success. */
int thread_parse_times(const char *text, struct thread_times *ret) CHECK_RESULT;

/* The same of a process below a descriptor of /proc. 0 or a negative errno. */
int thread_times(int proc, pid_t pid, struct thread_times *ret) CHECK_RESULT;

/* The threads of a process beside the first one, at most n: how many are in tids. */
size_t thread_others(int proc, pid_t pid, pid_t *tids, size_t n);

/* Whether a thread is on a CPU or waits for one. */
bool thread_is_running(int proc, pid_t tid);

/* Whether this is where a thread sleeps that waits for a file system whose server is a process or a
 * network, by the name of the kernel's function. Disks and most such file systems are waited for in
 * uninterruptible sleep, which /proc/PID/stat tells; FUSE and Lustre let signals through. */
bool thread_is_file_wait(const char *function);

/* The same of a process, of what /proc/PID/wchan says; false where it may not be read. */
bool thread_waits_for_files(int proc, pid_t pid);

#endif
