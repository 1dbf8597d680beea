/* Control groups of jobs: folders of the kernel's. A process leaves one neither by a session of its
 * own nor because its parents end, so a job has gone when its group is empty. */
#ifndef BRIM_QUEUE_GUARD_CONTROL_GROUP_H
#define BRIM_QUEUE_GUARD_CONTROL_GROUP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/compiler.h"

enum { CONTROL_GROUP = 512 };

/* Where the group of a job is to be that the calling process guards: brim-job-ID.PID below its own.
 * Empty where it may make none. */
void control_group_plan(char ret[CONTROL_GROUP], int64_t id);

/* Whether a path is that of a group of that job. */
bool control_group_is_of(const char *path, int64_t id);

/* Make it. One that is left of somebody else is taken when nobody is in it. 0 or a negative errno.
 */
int control_group_make(const char *path) CHECK_RESULT;

/* Put a process into it. 0 or a negative errno. */
int control_group_take(const char *path, pid_t pid) CHECK_RESULT;

/* Send a signal to all that are in it or in groups below it; 0: only look. How many there are; a
 * group that cannot be read has one, a group that is not there none. */
size_t control_group_send(const char *path, int signal);

/* Remove it with the groups below it, in which nobody is any more. */
void control_group_remove(const char *path);

/* The calling process leaves the group of a job in which it was started, for the one above: what it
 * starts is no part of that job. */
void control_group_leave(void);

#endif
