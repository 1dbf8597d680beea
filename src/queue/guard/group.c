#include "queue/guard/group.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/parse.h"
#include "run/job/sweep.h"

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
static void read_own(char *text, size_t size)
{
    int fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text + 1, size - 2);

    text[0] = '\n';
    text[1 + (n > 0 ? n : 0)] = 0;
    closep(&fd);
}

static bool make(struct queue_group *g, const char *folder, const char *own, const char *name)
{
    char procs[sizeof(g->path) + 16];
    int len = (int)strcspn(own, "\n");

    if (len == 1)
        len = 0; /* the root group */
    if (snprintf(procs, sizeof(procs), "%s%.*s/cgroup.procs", folder, len, own) >=
            (int)sizeof(procs) ||
        access(procs, W_OK) < 0)
        return false;
    if (snprintf(g->path, sizeof(g->path), "%s%.*s/%s", folder, len, own, name) >=
            (int)sizeof(g->path) ||
        (mkdir(g->path, 0755) < 0 && errno != EEXIST)) {
        g->path[0] = 0;
        return false;
    }
    return true;
}

int queue_group_open(struct queue_group *g, int64_t id, struct err *e)
{
    char text[4096], name[64];

    *g = (struct queue_group){ .proc = -1 };
    snprintf(name, sizeof(name), "brim-job-%lld.%d", (long long)id, (int)getpid());
    read_own(text, sizeof(text));
    for (size_t i = 0; i < ARRAY_SIZE(hierarchies) && !g->path[0]; i++) {
        const char *own = strstr(text, hierarchies[i].mark);

        if (own)
            (void)make(g, hierarchies[i].folder, own + strlen(hierarchies[i].mark), name);
    }
    g->proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (g->proc < 0)
        return err_set(e, -errno, "cannot open /proc: %s", strerror(errno));
    return family_open(&g->family, g->proc, true, getpid(), e);
}

static int open_procs(const struct queue_group *g, int flags)
{
    char name[sizeof(g->path) + 16];

    if (!g->path[0])
        return -1;
    snprintf(name, sizeof(name), "%s/cgroup.procs", g->path);
    return open(name, flags | O_CLOEXEC);
}

void queue_group_join(const struct queue_group *g)
{
    CLEANUP(closep) int fd = open_procs(g, O_WRONLY);

    if (fd >= 0 && write(fd, "0", 1) < 0)
        return; /* it runs where its guard does */
}

/* The processes of the control group: a job may have left its guard's family by ptrace and the
 * like. */
static size_t send_group(const struct queue_group *g, int signal)
{
    CLEANUP(closep) int fd = open_procs(g, O_RDONLY);
    char text[16384];
    ssize_t len = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
    size_t n = 0;
    char *at = text, *line;

    text[len > 0 ? len : 0] = 0;
    while ((line = strsep(&at, "\n"))) {
        uint64_t pid;

        if (parse_u64(line, &pid) < 0 || pid <= 1 || (pid_t)pid == getpid())
            continue;
        n++;
        if (signal)
            kill((pid_t)pid, signal);
    }
    return n;
}

size_t queue_group_send(struct queue_group *g, int signal)
{
    size_t n = sweep_all(g->family, signal);

    return MAX(n, send_group(g, signal));
}

void queue_group_close(struct queue_group *g)
{
    if (g->path[0])
        rmdir(g->path);
    if (g->family)
        family_close(g->family);
    closep(&g->proc);
}
