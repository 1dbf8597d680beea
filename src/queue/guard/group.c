#include "queue/guard/group.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "run/job/sweep.h"

int queue_group_open(struct queue_group *g, const char *planned, struct err *e)
{
    *g = (struct queue_group){ .proc = -1 };
    if (*planned && control_group_make(planned) == 0)
        snprintf(g->path, sizeof(g->path), "%s", planned);
    g->proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (g->proc < 0)
        return err_set(e, -errno, "cannot open /proc: %s", strerror(errno));
    return family_open(&g->family, g->proc, true, getpid(), e);
}

void queue_group_take(struct queue_group *g, pid_t pid)
{
    if (!*g->path || control_group_take(g->path, pid) == 0)
        return;
    control_group_remove(g->path);
    g->path[0] = 0;
}

size_t queue_group_send(struct queue_group *g, int signal)
{
    return *g->path ? control_group_send(g->path, signal) : sweep_all(g->family, signal);
}

void queue_group_close(struct queue_group *g)
{
    if (*g->path)
        control_group_remove(g->path);
    if (g->family)
        family_close(g->family);
    closep(&g->proc);
}
