#include "run/job/family_list.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/parse.h"
#include "probe/kernel/kept_file.h"

enum { PIDS_MAX = 262144, MEMBERS_MAX = 16384, LIST_SAMPLES = 10, PENDING_MAX = 16384 };

/* A process that is looked at for the first time. */
struct pending {
    pid_t pid;
    bool taken;
    struct process_stat stat;
};

int family_list_open(struct family_list *l, int proc, pid_t ancestor, struct err *e)
{
    int fd = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    *l = (struct family_list){ .proc = proc, .ancestor = ancestor, .loadavg = { -1 } };
    if (fd < 0)
        return err_set(e, -errno, "proc: %s", strerror(errno));
    l->dir = fdopendir(fd);
    if (!l->dir) {
        close(fd);
        return err_nomem(e);
    }
    kept_open(&l->loadavg, proc, "loadavg");
    return 0;
}

void family_list_done(struct family_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        process_files_close(&l->members[i].files);
    if (l->dir)
        closedir(l->dir);
    kept_close(&l->loadavg);
    process_pids_done(&l->known);
    process_pids_done(&l->found);
    free(l->members);
    *l = (struct family_list){ .proc = -1, .loadavg = { -1 } };
}

/* Whether there may be new processes; *wrapped: numbers may have gone to others since. */
static bool must_list(struct family_list *l, bool *wrapped)
{
    char text[128];
    uint64_t last = 0;
    int len = kept_read(&l->loadavg, text, sizeof(text));
    const char *at = len > 0 ? strrchr(text, ' ') : NULL;
    bool told = at && parse_digits(at + 1, 10, 10, &last) > 0;
    bool same = told && last == l->last;

    *wrapped = !told || last < l->last;
    l->last = told ? last : 0;
    return !same || l->samples++ % LIST_SAMPLES == 0;
}

struct member *family_list_find(struct family_list *l, pid_t pid)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->members[i].pid == pid && !l->members[i].gone)
            return &l->members[i];
    return NULL;
}

static int add_member(struct family_list *l, const struct pending *p)
{
    struct member *m;

    if (l->n == MEMBERS_MAX)
        return 0;
    if (l->n == l->room) {
        size_t room = l->room ? 2 * l->room : 32;

        m = realloc(l->members, room * sizeof(*m));
        if (!m)
            return -ENOMEM;
        l->members = m;
        l->room = room;
    }
    m = &l->members[l->n++];
    *m = (struct member){ .pid = p->pid,
                          .parent = (pid_t)p->stat.parent,
                          .start_ticks = p->stat.start_ticks,
                          .files = PROCESS_FILES_NONE,
                          .stat = p->stat,
                          .fresh = true };
    return 0;
}

/* Children of members are members. They may stand in front of their parents: again until nothing
 * changes. */
static int take(struct family_list *l, struct pending *pending, size_t n)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (size_t i = 0; i < n; i++) {
            pid_t parent = (pid_t)pending[i].stat.parent;

            if (pending[i].taken || (parent != l->ancestor && pending[i].pid != l->first &&
                                     !family_list_find(l, parent)))
                continue;
            if (add_member(l, &pending[i]) < 0)
                return -ENOMEM;
            pending[i].taken = changed = true;
        }
    }
    return 0;
}

/* Look at what is new. */
static int look(struct family_list *l, bool wrapped)
{
    CLEANUP(freep) struct pending *pending = NULL;
    size_t n = 0, room = 0;

    for (size_t i = 0; i < l->found.n && n < PENDING_MAX; i++) {
        struct pending p = { .pid = l->found.all[i] };

        if (p.pid == l->ancestor || (!wrapped && process_pids_has(&l->known, p.pid)))
            continue;
        if (family_list_find(l, p.pid) || process_stat_read(l->proc, p.pid, &p.stat) < 0 ||
            p.stat.kernel_thread)
            continue;
        if (n == room) {
            struct pending *more;

            room = room ? 2 * room : 64;
            more = realloc(pending, room * sizeof(*more));
            if (!more)
                return -ENOMEM;
            pending = more;
        }
        pending[n++] = p;
    }
    return n ? take(l, pending, n) : 0;
}

int family_list_update(struct family_list *l)
{
    struct process_pids known;
    bool wrapped;
    int rc;

    if (!must_list(l, &wrapped))
        return 0;
    rc = process_pids_read(&l->found, l->dir, PIDS_MAX);
    if (rc < 0 && rc != -ENOMEM)
        return 0; /* those that were not read have not ended: next time */
    if (rc == 0)
        rc = look(l, wrapped);
    if (rc < 0)
        return rc;
    known = l->known;
    l->known = l->found;
    l->found = known;
    return 0;
}

void family_list_drop(struct family_list *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++) {
        if (l->members[i].gone)
            process_files_close(&l->members[i].files);
        else
            l->members[n++] = l->members[i];
    }
    l->n = n;
}
