#include "queue/guard/cpu_time.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

#include "base/parse.h"
#include "probe/process/files.h"
#include "probe/process/text.h"

enum { DEEP = 256 /* generations between a guard and a process */ };

struct entry {
    pid_t pid, parent;
    uint64_t own, waited;
};

struct entries {
    struct entry *all; /* by pid */
    size_t n, room;
};

static int add(struct entries *e, int proc, pid_t pid)
{
    char text[PROCESS_TEXT];
    struct process_stat stat;

    if (process_files_read(proc, pid, "stat", NULL, text) < 0 ||
        process_parse_stat(text, &stat) < 0)
        return 0; /* it has just ended */
    if (e->n == e->room) {
        size_t room = e->room ? 2 * e->room : 256;
        struct entry *grown = reallocarray(e->all, room, sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        e->all = grown;
        e->room = room;
    }
    e->all[e->n++] = (struct entry){ pid, (pid_t)stat.parent, stat.user_ticks + stat.system_ticks,
                                     stat.waited_ticks };
    return 0;
}

static int by_pid(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static int list(struct entries *e, int proc)
{
    int fd = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *d;

    if (!dir) {
        rc = -errno;
        closep(&fd);
        return rc;
    }
    while (rc == 0 && (d = readdir(dir))) {
        uint64_t pid;

        if (parse_u64(d->d_name, &pid) == 0)
            rc = add(e, proc, (pid_t)pid);
    }
    closedir(dir);
    if (e->n > 0)
        qsort(e->all, e->n, sizeof(*e->all), by_pid);
    return rc;
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
    int rc = list(&e, proc);

    for (size_t i = 0; i < n; i++) {
        of[i].ticks = 0;
        of[i].there = false;
    }
    for (size_t i = 0; i < e.n && rc == 0; i++)
        count(&e, &e.all[i], of, n);
    free(e.all);
    return rc;
}
