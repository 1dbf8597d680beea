#include "queue/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/log.h"
#include "queue/guard/engine_start.h"

enum {
    TRIES = 20, /* somebody may only look whether it is held */
    WAIT_MS = 20,
};

/* For people: which process it is. A full disk leaves it empty. */
static void note_pid(int fd)
{
    char text[16];
    int len = snprintf(text, sizeof(text), "%d\n", (int)getpid());

    if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)len, 0) != len)
        log_debug("the lock does not tell our process");
}

/* What an engine finds in its folder it carries out, as any user that a job names: whoever could
 * write it would be root. The folder itself may be root's, as /tmp is. Of one in which all may
 * rename what is another's, nothing is known a moment later. */
static int check_owner(int dir, const char *folder, struct err *e)
{
    static const char *const files[] = { ".",        QUEUE_LOCK,     "jobs",        "ends",
                                         "queue.db", "queue.db-wal", "queue.db-shm" };

    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        struct stat st;

        if (fstatat(dir, files[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (S_ISDIR(st.st_mode) && (st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX))
            return err_set(e, -EPERM,
                           "any user may put files into %s%s%s: 'chmod o-w' it, or name another "
                           "folder",
                           folder, i > 0 ? "/" : "", i > 0 ? files[i] : "");
        if (st.st_uid == geteuid() || (i == 0 && st.st_uid == 0))
            continue;
        return err_set(e, -EPERM,
                       "the queue in %s is of another user (%s is of uid %u): name another folder",
                       folder, i > 0 ? files[i] : "it", (unsigned)st.st_uid);
    }
    return 0;
}

int queue_lock_take(int dir, const char *folder, struct err *e)
{
    CLEANUP(closep) int fd = -1;
    int rc = check_owner(dir, folder, e);

    if (rc < 0)
        return rc;
    fd = openat(dir, QUEUE_LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    /* An earlier brim made it readable for all, and whoever may read may lock. */
    if (fd < 0 || fchmod(fd, 0600) < 0)
        return err_set(e, -errno, "cannot open %s/" QUEUE_LOCK ": %s", folder, strerror(errno));
    for (int i = 0; i < TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            note_pid(fd);
            return steal_fd(&fd);
        }
        (void)poll(NULL, 0, WAIT_MS);
    }
    return err_set(e, -EBUSY, "another engine runs the queue in %s", folder);
}
