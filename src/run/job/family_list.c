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
    free(l->known);
    free(l->found);
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

static int grow(pid_t **pids, size_t *room)
{
    size_t more = *room ? 2 * *room : 512;
    pid_t *p = realloc(*pids, more * sizeof(*p));

    if (!p)
        return -ENOMEM;
    *pids = p;
    *room = more;
    return 0;
}

static int by_pid(const void *a, const void *b)
{
    pid_t left = *(const pid_t *)a, right = *(const pid_t *)b;

    return (left > right) - (left < right);
}

static int list_pids(struct family_list *l)
{
    const struct dirent *entry;

    l->n_found = 0;
    rewinddir(l->dir);
    while (l->n_found < PIDS_MAX && (entry = readdir(l->dir)) != NULL) {
        uint64_t pid;
        int digits;

        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        digits = parse_digits(entry->d_name, 10, 10, &pid);
        if (digits == 0 || entry->d_name[digits] || pid > INT32_MAX)
            continue;
        if (l->n_found == l->found_room && grow(&l->found, &l->found_room) < 0)
            return -ENOMEM;
        l->found[l->n_found++] = (pid_t)pid;
    }
    if (l->n_found > 1)
        qsort(l->found, l->n_found, sizeof(*l->found), by_pid);
    return 0;
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

static bool is_known(const struct family_list *l, pid_t pid)
{
    return l->n_known && bsearch(&pid, l->known, l->n_known, sizeof(pid), by_pid);
}

/* Look at what is new. */
static int look(struct family_list *l, bool wrapped)
{
    CLEANUP(freep) struct pending *pending = NULL;
    size_t n = 0, room = 0;

    for (size_t i = 0; i < l->n_found && n < PENDING_MAX; i++) {
        char text[PROCESS_TEXT];
        struct pending p = { .pid = l->found[i] };

        if (p.pid == l->ancestor || (!wrapped && is_known(l, p.pid)))
            continue;
        if (family_list_find(l, p.pid) ||
            process_files_read(l->proc, p.pid, "stat", NULL, text) < 0 ||
            process_parse_stat(text, &p.stat) < 0 || p.stat.kernel_thread)
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
    bool wrapped;
    pid_t *pids;
    size_t room;
    int rc;

    if (!must_list(l, &wrapped))
        return 0;
    rc = list_pids(l);
    if (rc == 0)
        rc = look(l, wrapped);
    if (rc < 0)
        return rc;
    pids = l->known;
    room = l->known_room;
    l->known = l->found;
    l->n_known = l->n_found;
    l->known_room = l->found_room;
    l->found = pids;
    l->found_room = room;
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
