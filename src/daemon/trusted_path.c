#include "daemon/trusted_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { LINKS = 40 }; /* as the kernel has it */

struct walk {
    int at;              /* where it is */
    char left[PATH_MAX]; /* what is to be walked yet */
    unsigned links;
};

static int step_into(struct walk *w, const char *name, int flags)
{
    int fd = openat(w->at, name, flags | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    closep(&w->at);
    w->at = fd;
    return 0;
}

/* Put the target of a link, which is open, before what is left. */
static int follow(struct walk *w, int fd, const struct stat *link)
{
    char target[PATH_MAX], left[PATH_MAX];
    ssize_t n;

    if (++w->links > LINKS || (link->st_uid != 0 && link->st_uid != geteuid()))
        return -ELOOP;
    n = readlinkat(fd, "", target, sizeof(target) - 1);
    if (n < 0)
        return -errno;
    target[n] = 0;
    memcpy(left, w->left, sizeof(left));
    if (snprintf(w->left, sizeof(w->left), "%s/%s", target, left) >= (int)sizeof(w->left))
        return -ENAMETOOLONG;
    return *target == '/' ? step_into(w, "/", O_PATH | O_DIRECTORY) : 0;
}

/* What is opened is looked at, so that it stays what it was. */
static int walk_one(struct walk *w)
{
    size_t blank = strspn(w->left, "/"), len = strcspn(w->left + blank, "/");
    CLEANUP(closep) int fd = -1;
    char name[PATH_MAX];
    struct stat st;

    snprintf(name, sizeof(name), "%.*s", (int)len, w->left + blank);
    memmove(w->left, w->left + blank + len, strlen(w->left + blank + len) + 1);
    if (!*name)
        return 0;
    fd = openat(w->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    if (S_ISLNK(st.st_mode))
        return follow(w, fd, &st);
    closep(&w->at);
    w->at = steal_fd(&fd);
    return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int trusted_path_open(const char *path, struct err *e)
{
    struct walk w = { .at = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC) };
    int rc = w.at < 0 ? -errno : 0;

    if (rc == 0 && snprintf(w.left, sizeof(w.left), "%s", path) >= (int)sizeof(w.left))
        rc = -ENAMETOOLONG;
    while (rc == 0 && *w.left)
        rc = walk_one(&w);
    if (rc == 0)
        rc = step_into(&w, ".", O_RDONLY | O_DIRECTORY);
    if (rc == 0)
        return w.at;
    closep(&w.at);
    if (rc == -ELOOP)
        return err_set(e, rc, "%s leads over a link of another user: name the folder itself", path);
    return err_set(e, rc, "%s: %s", path, strerror(-rc));
}
