/* Threads beside the one that has a program's loop. */
#ifndef BRIM_BASE_THREAD_H
#define BRIM_BASE_THREAD_H
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

/* Start a thread with all signals blocked: they are the caller's. 0 or a negative errno. */
int thread_start(pthread_t *ret, void *(*run)(void *arg), void *arg) CHECK_RESULT;

/* How many CPUs the calling thread may use; 1 where the kernel does not say. */
unsigned thread_cpus(void);

/* A condition for thread_wait_until(). */
void thread_cond_init(pthread_cond_t *cond);

/* Wait for a condition until a time of clock_monotonic_ns(&clock_system): false when it has come.
 * Called and left with the lock held; may return true for no reason. */
bool thread_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t ns);

#endif
