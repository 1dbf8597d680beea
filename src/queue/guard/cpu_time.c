#include "queue/guard/cpu_time.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

#include "probe/process/files.h"
#include "probe/process/pids.h"

enum { DEEP = 256 /* generations between a guard and a process */ };

struct entry {
    pid_t pid, parent;
    uint64_t own, waited;
};

struct entries {
    struct entry *all; /* by pid */
    size_t n;
};

static int list(struct process_pids *pids, int proc)
{
    int fd = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (!dir) {
        rc = -errno;
        closep(&fd);
        return rc;
    }
    rc = process_pids_read(pids, dir, SIZE_MAX);
    closedir(dir);
    return rc;
}

static int read_entries(struct entries *e, int proc)
{
    struct process_pids pids = { .n = 0 };
    int rc = list(&pids, proc);

    if (rc == 0 && pids.n) {
        e->all = calloc(pids.n, sizeof(*e->all));
        rc = e->all ? 0 : -ENOMEM;
    }
    for (size_t i = 0; rc == 0 && i < pids.n; i++) {
        struct process_stat stat;

        if (process_stat_read(proc, pids.all[i], &stat) == 0) /* else it has just ended */
            e->all[e->n++] = (struct entry){ pids.all[i], (pid_t)stat.parent,
                                             stat.user_ticks + stat.system_ticks,
                                             stat.waited_ticks };
    }
    process_pids_done(&pids);
    return rc;
}

static int by_pid(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return COMPARE(x->pid, y->pid);
}

static const struct entry *find(const struct entries *e, pid_t pid)
{
    const struct entry key = { .pid = pid };

    return e->n ? bsearch(&key, e->all, e->n, sizeof(*e->all), by_pid) : NULL;
}

static struct cpu_time *guard(struct cpu_time *of, size_t n, pid_t pid)
{
    for (size_t i = 0; i < n; i++)
        if (of[i].guard == pid)
            return &of[i];
    return NULL;
}

/* What a process used counts for the guard above it; a guard's own work is not its job's. */
static void count(const struct entries *e, const struct entry *x, struct cpu_time *of, size_t n)
{
    struct cpu_time *g = guard(of, n, x->pid);
    const struct entry *above = x;

    if (g) {
        g->there = true;
        g->ticks += x->waited;
        return;
    }
    for (int i = 0; i < DEEP && above && !g; i++) {
        g = guard(of, n, above->parent);
        above = find(e, above->parent);
    }
    if (g)
        g->ticks += x->own + x->waited;
}

int cpu_time_read(int proc, struct cpu_time *of, size_t n)
{
    struct entries e = { .n = 0 };
    int rc = read_entries(&e, proc);

    for (size_t i = 0; i < n; i++) {
        of[i].ticks = 0;
        of[i].there = false;
    }
    for (size_t i = 0; i < e.n && rc == 0; i++)
        count(&e, &e.all[i], of, n);
    free(e.all);
    return rc;
}
