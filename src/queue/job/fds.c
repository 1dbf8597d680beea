#include "queue/job/fds.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FDS = 1024 };

void queue_fds_close(int from)
{
    if (syscall(SYS_close_range, from, ~0U, 0) == 0)
        return;
    for (int fd = from; fd < FDS; fd++)
        close(fd);
}

int queue_fds_null(int n)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    for (int i = 0; i < n; i++)
        if (fd != i && dup2(fd, i) < 0)
            return -errno;
    if (fd >= n)
        close(fd);
    return 0;
}
