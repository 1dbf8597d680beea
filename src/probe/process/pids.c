#include "probe/process/pids.h"

#include <errno.h>
#include <stdint.h>

#include "base/file.h"
#include "base/parse.h"

void process_pids_done(struct process_pids *p)
{
    free(p->all);
    *p = (struct process_pids){ .n = 0 };
}

static int by_pid(const void *a, const void *b)
{
    pid_t left = *(const pid_t *)a, right = *(const pid_t *)b;

    return COMPARE(left, right);
}

/* The kernel lists them in order; a file system of a test does not. */
static void sort(struct process_pids *p)
{
    for (size_t i = 1; i < p->n; i++) {
        if (p->all[i - 1] > p->all[i]) {
            qsort(p->all, p->n, sizeof(*p->all), by_pid);
            return;
        }
    }
}

static int add(struct process_pids *p, pid_t pid)
{
    if (p->n == p->room) {
        size_t room = p->room ? 2 * p->room : 512;
        pid_t *more = reallocarray(p->all, room, sizeof(*more));

        if (!more)
            return -ENOMEM;
        p->all = more;
        p->room = room;
    }
    p->all[p->n++] = pid;
    return 0;
}

int process_pids_read(struct process_pids *p, DIR *proc, size_t most)
{
    const char *name;
    int rc = 0;

    p->n = 0;
    rewinddir(proc);
    while (p->n < most && (rc = folder_next(proc, &name)) > 0) {
        uint64_t pid;
        int digits;

        if (name[0] < '1' || name[0] > '9')
            continue;
        digits = parse_digits(name, 10, 10, &pid);
        if (digits == 0 || name[digits] || pid > INT32_MAX)
            continue;
        if (add(p, (pid_t)pid) < 0)
            return -ENOMEM;
    }
    if (rc < 0)
        return rc; /* those that were not read have not ended */
    sort(p);
    return 0;
}

bool process_pids_has(const struct process_pids *p, pid_t pid)
{
    return p->n && bsearch(&pid, p->all, p->n, sizeof(*p->all), by_pid);
}
