#include "probe/kernel/kept_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void kept_open(struct kept *k, int root, const char *path)
{
    k->fd = openat(root, path, O_RDONLY | O_CLOEXEC);
}

void kept_close(struct kept *k)
{
    if (k->fd >= 0)
        close(k->fd);
    k->fd = -1;
}

int kept_read(const struct kept *k, char *buf, size_t size)
{
    size_t len = 0;
    const char *newline;

    if (k->fd < 0)
        return -ENOENT;
    /* a short read is not the end: the kernel hands out /proc a buffer at a time */
    while (len < size - 1) {
        ssize_t got = pread(k->fd, buf + len, size - 1 - len, (off_t)len);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        len += (size_t)got;
    }
    if (len == size - 1) {
        newline = memrchr(buf, '\n', len);
        len = newline ? (size_t)(newline + 1 - buf) : 0;
    }
    buf[len] = 0;
    return (int)len;
}
