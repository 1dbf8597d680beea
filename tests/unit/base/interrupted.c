/* Files while signals interrupt calls, and calls move less than they were asked to. */
#include "base/file.h"

#include <errno.h>
#include <string.h>

#include "base/compiler.h"
#include "tap.h"

/* Of the next calls: how many a signal interrupts, how many fail, the most bytes of the rest. */
static struct {
    int interrupted, failing;
    size_t most;
} calls;

ssize_t __real_read(int fd, void *to, size_t n);
ssize_t __real_write(int fd, const void *from, size_t n);
int __real_fsync(int fd);
ssize_t EXPORT __wrap_read(int fd, void *to, size_t n);
ssize_t EXPORT __wrap_write(int fd, const void *from, size_t n);
int EXPORT __wrap_fsync(int fd);

static int fsync_error;

/* 0, or the error of this call. */
static int next_error(void)
{
    if (calls.interrupted > 0 && calls.interrupted--)
        return EINTR;
    return calls.failing > 0 && calls.failing-- ? EIO : 0;
}

ssize_t __wrap_read(int fd, void *to, size_t n)
{
    int error = next_error();

    if (!error)
        return __real_read(fd, to, MIN(n, calls.most));
    errno = error;
    return -1;
}

ssize_t __wrap_write(int fd, const void *from, size_t n)
{
    int error = fd > STDERR_FILENO ? next_error() : 0;

    if (!error)
        return __real_write(fd, from, fd > STDERR_FILENO ? MIN(n, calls.most) : n);
    errno = error;
    return -1;
}

int __wrap_fsync(int fd)
{
    if (!fsync_error)
        return __real_fsync(fd);
    errno = fsync_error;
    return -1;
}

static int write_with(int interrupted, int failing, size_t most, struct err *e)
{
    calls.interrupted = interrupted;
    calls.failing = failing;
    calls.most = most;
    return file_write("t_interrupted.tmp", "0123456789", 10, e);
}

static int read_with(int interrupted, int failing, size_t most, struct str *text, struct err *e)
{
    calls.interrupted = interrupted;
    calls.failing = failing;
    calls.most = most;
    return file_read("t_interrupted.tmp", text, e);
}

static void test_read(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(1 << 10);
    struct err e = { "" };

    is_int(write_with(0, 0, 100, &e), 0, "a file is written");
    is_int(read_with(2, 0, 100, &text, &e), 0, "file_read goes on after signals");
    is_str(str_text(&text), "0123456789", "a file is read whole after signals");
    is_int(read_with(0, 0, 3, &text, &e), 0, "file_read reads a file in parts");
    is_str(str_text(&text), "0123456789", "a file is read whole in parts");
    is_int(read_with(0, 1, 100, &text, &e), -EIO, "file_read fails with the disk");
    is_str(e.text, "cannot read t_interrupted.tmp: Input/output error",
           "the error names the file that cannot be read");
    unlink("t_interrupted.tmp");
}

static void test_write(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(1 << 10);
    struct err e = { "" };

    is_int(write_with(2, 0, 100, &e), 0, "file_write goes on after signals");
    is_int(read_with(0, 0, 100, &text, &e), 0, "what was written after signals is read");
    is_str(str_text(&text), "0123456789", "a file is written whole after signals");
    is_int(write_with(0, 0, 3, &e), 0, "file_write writes a file in parts");
    is_int(read_with(0, 0, 100, &text, &e), 0, "what was written in parts is read");
    is_str(str_text(&text), "0123456789", "a file is written whole in parts");
    is_int(write_with(0, 1, 100, &e), -EIO, "file_write fails with the disk");
    is_str(e.text, "cannot write t_interrupted.tmp: Input/output error",
           "the error names the file that cannot be written");
}

static void test_flush(void)
{
    static const struct {
        int error, rc;
    } rows[] = { { EIO, -EIO }, { ENOSPC, -ENOSPC }, { EINVAL, 0 }, { EROFS, 0 } };
    struct err e = { "" };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        fsync_error = rows[i].error;
        is_int(write_with(0, 0, 100, &e), rows[i].rc,
               "file_write returns %d where a flush says: %s", rows[i].rc, strerror(rows[i].error));
    }
    fsync_error = 0;
    unlink("t_interrupted.tmp");
}

int main(void)
{
    test_read();
    test_write();
    test_flush();
    return done();
}
