#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK = 64 << 10 };

int file_read(const char *path, struct str *out, struct err *e)
{
    CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    char chunk[CHUNK];
    ssize_t got;

    str_reset(out);
    if (fd < 0)
        return err_set(e, -errno, "cannot read %s: %s", path, strerror(errno));
    while ((got = read(fd, chunk, sizeof(chunk))) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set(e, -errno, "cannot read %s: %s", path, strerror(errno));
        str_add_n(out, chunk, (size_t)got);
        if (str_error(out) == -EFBIG)
            return err_set(e, -EFBIG, "cannot read %s: it is larger than %zu MiB", path,
                           out->max >> 20);
        if (str_error(out))
            return err_nomem(e);
    }
    return 0;
}

static int write_all(int fd, const char *data, size_t len)
{
    while (len) {
        ssize_t put = write(fd, data, len);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -errno;
        data += put;
        len -= (size_t)put;
    }
    return fsync(fd) < 0 ? -errno : 0;
}

int file_write(const char *path, const char *data, size_t len, struct err *e)
{
    char beside[PATH_MAX];
    int fd, rc;

    if (snprintf(beside, sizeof(beside), "%s.new", path) >= (int)sizeof(beside))
        return err_set(e, -ENAMETOOLONG, "cannot write %s: the name is too long", path);
    fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return err_set(e, -errno, "cannot write %s: %s", path, strerror(errno));
    rc = write_all(fd, data, len);
    if (close(fd) < 0 && rc == 0)
        rc = -errno;
    if (rc == 0 && rename(beside, path) < 0)
        rc = -errno;
    if (rc < 0) {
        unlink(beside);
        return err_set(e, rc, "cannot write %s: %s", path, strerror(-rc));
    }
    return 0;
}
