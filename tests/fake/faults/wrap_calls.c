/* System calls, under the names that they have where files may be larger than 2 GiB. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "faults.h"

struct dirent64;
struct stat64;

#define WRAP(type, failed, name, params, args) \
    type __real_##name params; \
    type __wrap_##name params; \
    type __wrap_##name params \
    { \
        return fault_now(#name, FAULT_CALLER) ? (failed) : __real_##name args; \
    }

WRAP(ssize_t, -1, read, (int fd, void *to, size_t n), (fd, to, n))
WRAP(ssize_t, -1, pread64, (int fd, void *to, size_t n, off_t at), (fd, to, n, at))
WRAP(ssize_t, -1, write, (int fd, const void *from, size_t n), (fd, from, n))
WRAP(ssize_t, -1, pwrite64, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at))
WRAP(ssize_t, -1, readlink, (const char *path, char *to, size_t n), (path, to, n))
WRAP(ssize_t, -1, readlinkat, (int at, const char *path, char *to, size_t n), (at, path, to, n))
WRAP(int, -1, fstat64, (int fd, struct stat64 *ret), (fd, ret))
WRAP(int, -1, stat64, (const char *path, struct stat64 *ret), (path, ret))
WRAP(int, -1, lstat64, (const char *path, struct stat64 *ret), (path, ret))
WRAP(int, -1, fstatat64, (int at, const char *path, struct stat64 *ret, int how),
     (at, path, ret, how))
WRAP(int, -1, fsync, (int fd), (fd))
WRAP(int, -1, ftruncate64, (int fd, off_t size), (fd, size))
WRAP(int, -1, flock, (int fd, int how), (fd, how))
WRAP(int, -1, rename, (const char *from, const char *to), (from, to))
WRAP(int, -1, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to))
WRAP(int, -1, mkdir, (const char *path, mode_t bits), (path, bits))
WRAP(int, -1, mkdirat, (int at, const char *path, mode_t bits), (at, path, bits))
WRAP(int, -1, pipe2, (int *ends, int flags), (ends, flags))
WRAP(int, -1, dup2, (int from, int to), (from, to))
WRAP(int, -1, socket, (int family, int type, int protocol), (family, type, protocol))
WRAP(int, EOF, fflush, (FILE * file), (file))
WRAP(pid_t, -1, fork, (void), ())
WRAP(FILE *, NULL, fopen64, (const char *path, const char *how), (path, how))
WRAP(FILE *, NULL, fdopen, (int fd, const char *how), (fd, how))
WRAP(DIR *, NULL, opendir, (const char *path), (path))
WRAP(DIR *, NULL, fdopendir, (int fd), (fd))
WRAP(struct dirent64 *, NULL, readdir64, (DIR * folder), (folder))
WRAP(char *, NULL, realpath, (const char *path, char *ret), (path, ret))
WRAP(char *, NULL, getcwd, (char *ret, size_t size), (ret, size))
WRAP(void *, MAP_FAILED, mmap64, (void *at, size_t n, int how, int flags, int fd, off_t from),
     (at, n, how, flags, fd, from))
WRAP(int, EAGAIN, pthread_create,
     (pthread_t * ret, const pthread_attr_t *attr, void *(*run)(void *), void *arg),
     (ret, attr, run, arg))

int __real_close(int fd);
int __wrap_close(int fd);
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __real_openat64(int at, const char *path, int flags, ...);
int __wrap_openat64(int at, const char *path, int flags, ...);

/* What could not be written is told late, and the descriptor is closed all the same. */
int __wrap_close(int fd)
{
    bool fails = fault_now("close", FAULT_CALLER);
    int code = errno, rc = __real_close(fd);

    if (!fails)
        return rc;
    errno = code;
    return -1;
}

int __wrap_open64(const char *path, int flags, ...)
{
    mode_t bits = 0;
    va_list ap;

    va_start(ap, flags);
    if (flags & (O_CREAT | __O_TMPFILE))
        bits = va_arg(ap, mode_t);
    va_end(ap);
    return fault_now("open64", FAULT_CALLER) ? -1 : __real_open64(path, flags, bits);
}

int __wrap_openat64(int at, const char *path, int flags, ...)
{
    mode_t bits = 0;
    va_list ap;

    va_start(ap, flags);
    if (flags & (O_CREAT | __O_TMPFILE))
        bits = va_arg(ap, mode_t);
    va_end(ap);
    return fault_now("openat64", FAULT_CALLER) ? -1 : __real_openat64(at, path, flags, bits);
}
