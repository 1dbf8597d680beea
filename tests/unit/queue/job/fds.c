/* Descriptors of a process that is about to be another one: which ones stay, and what those are. */
#include "queue/job/fds.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

enum { FAR = 1500 }; /* above those that are closed one by one where the kernel is old */

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static bool is_null(int fd)
{
    struct stat st, null;

    return fstat(fd, &st) == 0 && stat("/dev/null", &null) == 0 && st.st_rdev == null.st_rdev;
}

/* What a child of ours finds: a bit for each thing that is as it should be. */
static int in_child(int (*look)(void))
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        _exit(look());
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int look_closed(void)
{
    struct rlimit limit;
    int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC), far = FAR;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 0;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0 || syscall(SYS_close_range, 1 << 20, ~0U, 0) < 0 ||
        dup2(fd, FAR) < 0)
        far = 900;
    if (dup2(fd, far) < 0 || dup2(fd, 20) < 0 || dup2(fd, 21) < 0)
        return 0;
    queue_fds_close(21);
    return is_open(20) | !is_open(21) << 1 | !is_open(far) << 2 | is_open(2) << 3;
}

static int look_null(void)
{
    int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC), rc;

    for (int i = 0; i < 5; i++)
        if (dup2(fd, i) < 0)
            return 0;
    queue_fds_close(5);
    rc = queue_fds_null(3);
    if (rc < 0 || !is_null(0) || !is_null(1) || !is_null(2) || is_open(5))
        return 0;
    if (!is_open(3) || is_null(3) || !is_open(4))
        return 1;
    queue_fds_close(3); /* the next one is made behind those that are wanted */
    return queue_fds_null(3) < 0 || is_open(3) ? 2 : 3;
}

/* The first that are free are those that are made: none is one too many. */
static int look_first(void)
{
    queue_fds_close(0);
    return (queue_fds_null(2) == 0) | (is_null(0) && is_null(1)) << 1 | !is_open(2) << 2 |
           !is_open(3) << 3;
}

int main(void)
{
    fflush(stdout);
    is_int(in_child(look_closed), 15, "descriptors from a number on are closed, however high");
    is_int(in_child(look_null), 3, "the first descriptors lead nowhere, the others stay");
    is_int(in_child(look_first), 15, "where none was open none is left over");
    return done();
}
