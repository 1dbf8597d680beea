#include "run/ring/ring_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

#include "base/file.h"
#include "probe/process/files.h"
#include "probe/process/text.h"

/* A folder without a lock is being made; after so long its maker has died. */
enum { MAKING_S = 60, NAMES_MAX = 64, BASES_MAX = 8 };

static const char prefix[] = "brim-run-", lock_name[] = "lock", lock_draft[] = "lock.new";

/* When a process was started; 0 where /proc does not tell. */
static unsigned long long start_of(int pid)
{
    struct process_stat stat;

    return process_stat_here(pid, &stat) == 0 ? stat.start_ticks : 0;
}

static void remove_folder(const char *path)
{
    const char *name;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (!dir) {
        closep(&fd);
        (void)rmdir(path); /* without a descriptor left an empty one can go */
        return;
    }
    while (folder_next(dir, &name) > 0) /* what is not read keeps the folder from going */
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
            (void)unlinkat(fd, name, 0);
    closedir(dir);
    (void)rmdir(path);
}

int ring_folder_of(int pid, char *ret, size_t size)
{
    unsigned long long start = start_of(pid);

    if (start == 0)
        return -ESRCH;
    if (snprintf(ret, size, "%s%d-%llu", prefix, pid, start) >= (int)size)
        return -ENAMETOOLONG;
    return 0;
}

bool ring_folder_is(const char *name)
{
    return !strncmp(name, prefix, sizeof(prefix) - 1);
}

/* ---- what others have left ---- */

/* A folder of that user, open; -1. */
static int open_own(int base, const char *name, struct stat *st)
{
    int fd;

    if (!ring_folder_is(name))
        return -1;
    fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, st) < 0 || st->st_uid != geteuid())) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Whoever holds its lock lives. With the lock nobody else removes it, whose path may be another
 * one's then. */
static void remove_left_over(const char *base, int at, const char *name)
{
    CLEANUP(closep) int lock = -1;
    char path[PATH_MAX];
    struct stat st;
    CLEANUP(closep) int fd = open_own(at, name, &st);

    if (fd < 0 || snprintf(path, sizeof(path), "%s/%s", base, name) >= (int)sizeof(path))
        return;
    lock = openat(fd, lock_name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0) {
        remove_folder(path);
    } else if (lock < 0 && errno == ENOENT && time(NULL) - st.st_mtime > MAKING_S) {
        (void)unlinkat(fd, lock_draft, 0);
        (void)rmdir(path); /* only an empty one */
    }
}

static void remove_left_overs(const char *base)
{
    const char *name;
    DIR *dir = opendir(base);

    while (dir && folder_next(dir, &name) > 0) /* what is not read is for the next observer */
        remove_left_over(base, dirfd(dir), name);
    if (dir)
        closedir(dir);
}

/* ---- one of our own ---- */

/* A file that appears locked: nobody finds it between its making and its locking. */
static int make_lock(const char *folder, int *ret)
{
    CLEANUP(closep) int dir = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    CLEANUP(closep) int fd = -1;

    if (dir < 0)
        return -errno;
    fd = openat(dir, lock_draft, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || renameat(dir, lock_draft, dir, lock_name) < 0)
        return -errno;
    *ret = steal_fd(&fd);
    return 0;
}

/* In another container there may be a process of our number that was started as we were. */
static int make_in(const char *base, struct ring_folder *out, struct err *e)
{
    unsigned long long start = start_of((int)getpid());
    int rc = -EEXIST;

    for (int i = 0; rc == -EEXIST && i < NAMES_MAX; i++) {
        str_reset(&out->path);
        str_addf(&out->path, "%s/%s%d-%llu", base, prefix, (int)getpid(), start);
        if (i)
            str_addf(&out->path, "-%d", i);
        if (str_error(&out->path))
            return err_nomem(e);
        rc = mkdir(str_text(&out->path), 0700) < 0 ? -errno : 0;
    }
    if (rc == 0) {
        rc = make_lock(str_text(&out->path), &out->lock);
        if (rc < 0)
            remove_folder(str_text(&out->path));
    }
    if (rc < 0) {
        err_set(e, rc, "%s: %s", str_text(&out->path), strerror(-rc));
        str_reset(&out->path);
    }
    return rc;
}

/* Bytes that are free for rings; 0 where there is no room for their names. */
static uint64_t room_in(const char *base)
{
    struct statvfs vfs;

    if (statvfs(base, &vfs) < 0 || (vfs.f_files && vfs.f_favail <= RING_FOLDER_RINGS))
        return 0;
    return (uint64_t)vfs.f_bavail * vfs.f_frsize;
}

int ring_folder_make(const char *const *bases, struct ring_folder *out, struct err *e)
{
    uint64_t room[BASES_MAX];
    bool tried[BASES_MAX] = { false };
    size_t n = 0;
    int rc = -ENOENT;

    for (; n < BASES_MAX && bases[n]; n++) {
        remove_left_overs(bases[n]);
        room[n] = MIN(room_in(bases[n]), (uint64_t)RING_FOLDER_ROOM_B);
    }
    for (size_t i = 0; rc < 0 && rc != -ENOMEM && i < n; i++) {
        size_t best = n;

        for (size_t k = 0; k < n; k++)
            if (!tried[k] && (best == n || room[k] > room[best]))
                best = k;
        tried[best] = true;
        rc = make_in(bases[best], out, e);
    }
    return rc;
}

bool ring_folder_lacks_room(const struct ring_folder *f, struct err *why)
{
    uint64_t room = room_in(str_text(&f->path));
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
        limit.rlim_cur < RING_FOLDER_ROOM_B / RING_FOLDER_RINGS) {
        err_set(why, -EFBIG,
                "files may have %llu bytes (ulimit -f), marks of a process need 2 MiB: steps are "
                "not told, but inferred",
                (unsigned long long)limit.rlim_cur);
        return true;
    }
    if (room >= RING_FOLDER_ROOM_B / RING_FOLDER_RINGS)
        return false;
    err_set(why, -ENOSPC,
            "%s has %llu bytes free, marks of a process need 2 MiB: steps are not told, but "
            "inferred",
            str_text(&f->path), (unsigned long long)room);
    return true;
}

void ring_folder_done(struct ring_folder *f)
{
    if (f->path.len)
        remove_folder(str_text(&f->path));
    closep(&f->lock);
    f->lock = -1;
    str_done(&f->path);
}
