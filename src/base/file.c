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

static int read_all(int fd, const char *path, struct str *out, struct err *e)
{
    char chunk[CHUNK];
    ssize_t got;

    str_reset(out);
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

int file_read(const char *path, struct str *out, struct err *e)
{
    CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        str_reset(out);
        if (!*path)
            return err_usage(e, "a file's name is empty");
        return err_set(e, -errno, "cannot read %s: %s", path, strerror(errno));
    }
    return read_all(fd, path, out, e);
}

int file_read_regular(const char *path, struct str *out, struct err *e)
{
    CLEANUP(closep) int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat st;

    str_reset(out);
    if (fd < 0 && errno == ELOOP)
        return err_set(e, -ELOOP, "cannot read %s: it is a link", path);
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_set(e, -errno, "cannot read %s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return err_set(e, -EINVAL, "cannot read %s: it is not a regular file", path);
    return read_all(fd, path, out, e);
}

const char *file_input_name(const char *path)
{
    return strcmp(path, "-") != 0 ? path : "standard input";
}

/* Not by /dev/stdin: that cannot be opened when it is a socket, or another user's file. */
int file_read_input(const char *path, struct str *out, struct err *e)
{
    return strcmp(path, "-") != 0 ? file_read(path, out, e)
                                  : read_all(STDIN_FILENO, file_input_name(path), out, e);
}

int folder_next(DIR *dir, const char **ret)
{
    const struct dirent *entry;

    errno = 0;
    entry = readdir(dir);
    if (!entry)
        return -errno;
    *ret = entry->d_name;
    return 1;
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

/* A pipe that nobody reads is not waited for, nor a line without a carrier; once it is open,
 * whoever reads it may take their time. */
static int write_there(const char *path, const char *data, size_t len)
{
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), rc;

    if (fd < 0)
        return -errno;
    rc = fcntl(fd, F_SETFL, 0) < 0 ? -errno : write_all(fd, data, len);
    return close(fd) < 0 && rc == 0 ? -errno : rc;
}

/* was: what is there now, or NULL; the new one may be read by the same people. */
static int replace(const char *path, const struct stat *was, const char *data, size_t len)
{
    char draft[PATH_MAX];
    CLEANUP(closep) int fd = file_draft(AT_FDCWD, path, 0644, draft, sizeof(draft));
    int rc;

    if (fd < 0)
        return fd;
    /* Where there are no modes, all may read it anyway. */
    if (was)
        (void)fchmod(fd, was->st_mode & 0777);
    rc = write_all(fd, data, len);
    if (rc == 0 && rename(draft, path) < 0)
        rc = -errno;
    if (rc < 0)
        unlink(draft);
    return rc;
}

int file_write(const char *path, const char *data, size_t len, struct err *e)
{
    char real[PATH_MAX];
    struct stat st;
    bool there = stat(path, &st) == 0;
    int rc;

    if (there && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        rc = write_there(path, data, len);
    else
        rc = replace(there && realpath(path, real) ? real : path, there ? &st : NULL, data, len);
    if (rc == -ENXIO && there && S_ISFIFO(st.st_mode))
        return err_set(e, rc, "cannot write %s: nobody reads that pipe", path);
    return rc < 0 ? err_set(e, rc, "cannot write %s: %s", path, strerror(-rc)) : 0;
}
