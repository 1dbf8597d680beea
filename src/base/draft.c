/* Drafts of files, their locks, and what is left over of them (file.h). */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

enum { TRIES = 16, DIGITS = 8 };

/* How many names of a folder are looked at: what a user writes to may hold millions. */
enum { NAMES_MAX = 4096 };

static const char ending[] = ".new";

/* Of the kernel's chance; before it has any, of the process. */
static uint32_t chance(void)
{
    uint32_t number;

    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != (ssize_t)sizeof(number))
        number = (uint32_t)getpid();
    return number;
}

/* Whether a name is a draft's: of any, or of that one. */
static bool is_draft(const char *name, const char *of)
{
    size_t tail = 1 + DIGITS + strlen(ending), len = strlen(name);
    const char *at = name + len - tail;

    if (len <= tail || *at != '.' || strspn(at + 1, "0123456789abcdef") != DIGITS ||
        strcmp(at + 1 + DIGITS, ending) != 0)
        return false;
    return !of || (len - tail == strlen(of) && !strncmp(name, of, len - tail));
}

/* The lock is asked for before the name is looked at again: a writer that lives has it, or finds
 * that we do and takes another name. Where a file system has no locks, nothing is known to be left
 * over. */
static void remove_left_over(int dir, const char *name)
{
    CLEANUP(closep) int fd = -1;
    struct stat st, now;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
        st.st_uid != geteuid())
        return;
    fd = openat(dir, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || flock(fd, LOCK_EX | LOCK_NB) < 0)
        return;
    if (fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_ino == st.st_ino &&
        now.st_dev == st.st_dev)
        (void)unlinkat(dir, name, 0);
}

/* fd: of the folder; closed here. */
static void sweep(int fd, const char *of)
{
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    if (!dir) {
        closep(&fd);
        return;
    }
    for (int n = 0; n < NAMES_MAX && (entry = readdir(dir)) != NULL; n++)
        if (is_draft(entry->d_name, of)) /* one that is not read is for the next writer */
            remove_left_over(fd, entry->d_name);
    closedir(dir);
}

void file_sweep(const char *folder)
{
    sweep(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), NULL);
}

static void sweep_of(int dir, const char *name)
{
    const char *slash = strrchr(name, '/');
    char folder[PATH_MAX] = ".";

    if (slash && snprintf(folder, sizeof(folder), "%.*s", MAX((int)(slash - name), 1), name) >=
                     (int)sizeof(folder))
        return;
    sweep(openat(dir, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), slash ? slash + 1 : name);
}

/* Whether what was just made is locked by us: somebody who removes what is left over may have been
 * faster. */
static bool take(int fd)
{
    struct stat st;

    if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        return false;
    return fstat(fd, &st) < 0 || st.st_nlink > 0;
}

int file_draft(int dir, const char *name, mode_t mode, char *draft, size_t size)
{
    uint32_t number = chance();
    int fd = -1;

    sweep_of(dir, name);
    for (int tries = 0; fd < 0 && tries < TRIES; tries++) {
        if (snprintf(draft, size, "%s.%08x%s", name, number + (uint32_t)tries, ending) >= (int)size)
            return -ENAMETOOLONG;
        fd = openat(dir, draft, O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
        if (fd < 0 && errno != EEXIST)
            break;
        if (fd >= 0 && !take(fd)) {
            closep(&fd);
            fd = -1;
            errno = EEXIST;
        }
    }
    return fd < 0 ? -errno : fd;
}
