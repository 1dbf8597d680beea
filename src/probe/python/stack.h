/* The Python calls of a process, read from outside: nothing in it is stopped or changed, and it
 * needs no preparation. CPython 3.11 to 3.14 on 64-bit machines.
 *
 *     CLEANUP(python_process_closep) struct python_process *p = NULL;
 *     rc = python_process_open(&p, pid, e);
 *     n = python_process_stack(p, 0, frames, ARRAY_SIZE(frames));
 */
#ifndef BRIM_PROBE_PYTHON_STACK_H
#define BRIM_PROBE_PYTHON_STACK_H
#include <sys/types.h>

#include "base/err.h"
#include "probe/python/frame.h"
#include "probe/python/loop.h"

struct python_process;

/* Find the interpreter of a process. 0, or a negative errno with a sentence: -ENOENT: it runs no
 * Python; -ENOTSUP: its Python is one that is not known; -EPERM: its memory may not be read;
 * -ESRCH: there is no such process; -EAGAIN: its Python has not started yet, or has ended;
 * -ENOMEM. */
int python_process_open(struct python_process **ret, pid_t pid, struct err *e) CHECK_RESULT;

/* The calls of a thread (its number as /proc/PID/task has it; 0: the main thread), innermost first,
 * at most so many. How many: 0 where the thread is in no Python call, is not there, or ran on so
 * quickly that no call could be read whole. Calls that began or ended while they
 * were read are left out; of functions that take less than a microsecond, one stack in some
 * 100,000 has a call below one that did not make it. A process that executes another program has
 * none from then on: open it again. */
int python_process_stack(struct python_process *p, pid_t tid, struct python_frame *frames,
                         int most);

/* The loops that a thread is in, at most so many, from the outermost one on: what they count,
 * and the call that holds each. How many: 0 as for calls. */
int python_process_loops(struct python_process *p, pid_t tid, struct python_loop_of_call *ret,
                         int most);

/* How far one of them is now, in two calls of the kernel: 0; -ENOENT: its place holds another
 * object; or another negative errno. The call may have ended: then it stays where it was. */
int python_process_again(struct python_process *p, struct python_loop *loop) CHECK_RESULT;

void python_process_close(struct python_process *p);
DEFINE_CLEANUP(struct python_process, python_process_close)

#endif
