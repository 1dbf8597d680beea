/* Which user of this machine is at the other end of a connection. */
#ifndef BRIM_DAEMON_HTTP_CALLER_H
#define BRIM_DAEMON_HTTP_CALLER_H
#include <stdint.h>

/* The user whose socket it is, as the kernel has it; -1: the other end is on another machine, or
 * has gone. fd: an accepted TCP connection. */
int64_t caller_uid(int fd);

#endif
