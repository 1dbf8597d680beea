#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
    /* what is no file cannot be flushed */
    return fsync(fd) < 0 && errno != EINVAL && errno != EROFS ? -errno : 0;
}

static int write_new(const char *path, int flags, const char *data, size_t len)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0644), rc;

    if (fd < 0)
        return -errno;
    rc = write_all(fd, data, len);
    return close(fd) < 0 && rc == 0 ? -errno : rc;
}

/* Beside itself first. A link that somebody has put there is not followed. */
static int replace(const char *path, const char *data, size_t len)
{
    char beside[PATH_MAX];
    int rc;

    if (snprintf(beside, sizeof(beside), "%s.new", path) >= (int)sizeof(beside))
        return -ENAMETOOLONG;
    rc = write_new(beside, O_CREAT | O_TRUNC | O_NOFOLLOW, data, len);
    if (rc == 0 && rename(beside, path) < 0)
        rc = -errno;
    if (rc < 0)
        unlink(beside);
    return rc;
}

int file_write(const char *path, const char *data, size_t len, struct err *e)
{
    char real[PATH_MAX];
    struct stat st;
    bool there = stat(path, &st) == 0;
    int rc;

    if (there && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        rc = write_new(path, 0, data, len);
    else
        rc = replace(there && realpath(path, real) ? real : path, data, len);
    return rc < 0 ? err_set(e, rc, "cannot write %s: %s", path, strerror(-rc)) : 0;
}
