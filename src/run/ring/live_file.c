#include "run/ring/live_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

static const char fresh[] = LIVE_FILE_NAME ".new";

static int fill(int fd, const char *text, size_t len)
{
    /* without the lock it is no live run's: a folder that is shared has no other writer */
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return -errno;
    while (len) {
        ssize_t n = write(fd, text, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        text += n;
        len -= (size_t)n;
    }
    return 0;
}

int live_file_write(const char *folder, const char *text, size_t len, int *fd)
{
    CLEANUP(closep) int at = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    CLEANUP(closep) int file = -1;
    int rc;

    if (at < 0)
        return -errno;
    file = openat(at, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return -errno;
    rc = fill(file, text, len);
    if (rc == 0 && renameat(at, fresh, at, LIVE_FILE_NAME) < 0)
        rc = -errno;
    if (rc < 0) {
        (void)unlinkat(at, fresh, 0);
        return rc;
    }
    closep(fd);
    *fd = steal_fd(&file);
    return 0;
}
