#include "queue/guard/control_group.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/parse.h"

enum { OWN_TEXT = 4096, DEEPEST = 16 };

static const char prefix[] = "brim-job-";

/* Hierarchies in the order of preference: version 2, alone or beside version 1; of version 1 those
 * that limit nothing by themselves. What stands behind the ':' in /proc/self/cgroup. */
static const struct {
    const char *mark, *folder;
} hierarchies[] = {
    { "\n0::", "/sys/fs/cgroup" },
    { "\n0::", "/sys/fs/cgroup/unified" },
    { ":freezer:", "/sys/fs/cgroup/freezer" },
    { ":pids:", "/sys/fs/cgroup/pids" },
};

/* A newline, then the file: each line starts behind one. */
static void read_own(char text[OWN_TEXT])
{
    CLEANUP(closep) int fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text + 1, OWN_TEXT - 2);

    text[0] = '\n';
    text[1 + (n > 0 ? n : 0)] = 0;
}

/* The folder of this process's own group in one of the hierarchies, without a '/' at its end; false
 * where there is none. */
static bool own_folder(size_t which, const char *text, char ret[CONTROL_GROUP])
{
    const char *own = strstr(text, hierarchies[which].mark);
    int len;

    if (!own)
        return false;
    own += strlen(hierarchies[which].mark);
    len = (int)strcspn(own, "\n");
    return snprintf(ret, CONTROL_GROUP, "%s%.*s", hierarchies[which].folder, len == 1 ? 0 : len,
                    own) < CONTROL_GROUP;
}

static bool may_write(const char *folder)
{
    char procs[CONTROL_GROUP + 16];

    snprintf(procs, sizeof(procs), "%s/cgroup.procs", folder);
    return access(procs, W_OK) == 0 && access(folder, W_OK) == 0;
}

void control_group_plan(char ret[CONTROL_GROUP], int64_t id)
{
    char text[OWN_TEXT], folder[CONTROL_GROUP];

    read_own(text);
    for (size_t i = 0; i < ARRAY_SIZE(hierarchies); i++)
        if (own_folder(i, text, folder) && may_write(folder) &&
            snprintf(ret, CONTROL_GROUP, "%s/%s%lld.%d", folder, prefix, (long long)id,
                     (int)getpid()) < CONTROL_GROUP)
            return;
    ret[0] = 0;
}

bool control_group_is_of(const char *path, int64_t id)
{
    char name[48];
    const char *last = strrchr(path, '/');

    snprintf(name, sizeof(name), "/%s%lld.", prefix, (long long)id);
    return last && !strncmp(last, name, strlen(name));
}

int control_group_make(const char *path)
{
    if (mkdir(path, 0755) == 0)
        return 0;
    if (errno == EEXIST) {
        control_group_remove(path);
        if (mkdir(path, 0755) == 0)
            return 0;
    }
    return -errno;
}

static int write_to(const char *path, const char *file, const char *text)
{
    char name[CONTROL_GROUP + 24];
    CLEANUP(closep) int fd = -1;

    snprintf(name, sizeof(name), "%s/%s", path, file);
    fd = open(name, O_WRONLY | O_CLOEXEC);
    return fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

int control_group_take(const char *path, pid_t pid)
{
    char text[16];

    snprintf(text, sizeof(text), "%d", (int)pid);
    return write_to(path, "cgroup.procs", text);
}

/* ---- all that are in it ---- */

/* Processes of one group by its descriptor: they stand one a line. */
static size_t send_one(int group, int signal)
{
    CLEANUP(closep) int fd = openat(group, "cgroup.procs", O_RDONLY | O_CLOEXEC);
    char text[4096];
    size_t n = 0;
    pid_t pid = 0;
    ssize_t len;

    if (fd < 0)
        return errno != ENOENT && errno != ENODEV;
    while ((len = read(fd, text, sizeof(text))) > 0)
        for (ssize_t i = 0; i < len; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = 10 * pid + (text[i] - '0');
                continue;
            }
            n += pid > 1 && pid != getpid();
            if (signal && pid > 1 && pid != getpid())
                kill(pid, signal);
            pid = 0;
        }
    return n;
}

/* What to do with groups instead of sending a signal to those that are in them. */
enum { REMOVE = -1 };

/* A group and those below it, the lowest first; the descriptor is closed. How many processes. */
static size_t walk(int group, int depth, int signal)
{
    DIR *list = fdopendir(group);
    const char *name;
    size_t n = 0;
    int rc;

    if (!list) {
        close(group);
        return 1;
    }
    while ((rc = folder_next(list, &name)) > 0) {
        int below;

        if (name[0] == '.' || depth == DEEPEST)
            continue;
        below = openat(group, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (below < 0 && (errno == ENOTDIR || errno == ENOENT))
            continue;
        n += below < 0 ? 1 : walk(below, depth + 1, signal);
        if (signal == REMOVE)
            unlinkat(group, name, AT_REMOVEDIR);
    }
    if (signal != REMOVE)
        n += send_one(group, signal);
    closedir(list);
    return n + (rc < 0); /* in what was not read there may be some */
}

size_t control_group_send(const char *path, int signal)
{
    int group = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

    if (group < 0)
        return errno != ENOENT && errno != ENODEV;
    if (signal == SIGKILL)
        (void)write_to(path, "cgroup.kill", "1"); /* version 2: also what is being forked */
    return walk(group, 0, signal);
}

void control_group_remove(const char *path)
{
    int group;

    if (rmdir(path) == 0 || errno == ENOENT)
        return;
    group = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (group >= 0)
        (void)walk(group, 0, REMOVE);
    rmdir(path);
}

/* ---- out of one ---- */

void control_group_leave(void)
{
    char text[OWN_TEXT], folder[CONTROL_GROUP];

    read_own(text);
    for (size_t i = 0; i < ARRAY_SIZE(hierarchies); i++) {
        char *job;

        if (!own_folder(i, text, folder))
            continue;
        job = strstr(folder, "/brim-job-");
        if (!job)
            continue;
        *job = 0;
        if (may_write(folder) && control_group_take(folder, 0) == 0)
            return;
    }
}
