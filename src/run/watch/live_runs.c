#include "run/watch/live_runs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/file.h"
#include "run/archive/archive_format.h"
#include "run/ring/live_file.h"
#include "run/ring/ring_folder.h"
#include "run/watch/accounts.h"

/* What one look may cost, whatever users put into folders that are everybody's. */
enum { ENTRIES = 4096, FOLDERS = 512, USERS = 256 };

struct look {
    struct live_runs *to;
    unsigned entries, folders, users;
};

/* ---- one run ---- */

/* Whether its observer is still there: it holds a lock. */
static bool is_held(int fd)
{
    return flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

/* The text of the file in that folder, which is a run's. */
static int read_file(int base, const char *folder, struct live_run *r)
{
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    CLEANUP(closep) int at = openat(base, folder, flags | O_DIRECTORY);
    CLEANUP(closep) int fd = at < 0 ? -1 : openat(at, LIVE_FILE_NAME, flags);
    char text[LIVE_RUN_FILE];
    struct stat st, parent;
    ssize_t n;
    int rc;

    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) < 0 || fstat(at, &parent) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode) || st.st_uid != parent.st_uid || !is_held(fd))
        return -ENOENT;
    n = read(fd, text, sizeof(text));
    if (n <= 0)
        return -ENOENT;
    rc = live_run_read(r, text, (size_t)n);
    if (rc < 0)
        return rc;
    r->uid = (int64_t)st.st_uid;
    if (r->pid_space != archive_pid_space()) /* numbers of a container say nothing here */
        r->n_pids = 0;
    return 0;
}

/* ---- all of them ---- */

static size_t count_of(const struct live_runs *s, int64_t uid)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += s->runs[i].uid == uid;
    return n;
}

/* Where the list is full, a place for a user that is one of whoever has most; s->n: there is
 * none. */
static size_t make_room(const struct live_runs *s, int64_t uid)
{
    size_t most = count_of(s, uid) + 1, at = s->n;

    for (size_t i = 0; i < s->n; i++) {
        size_t n = count_of(s, s->runs[i].uid);

        if (n > most || (n == most && at < s->n && s->runs[at].uid == s->runs[i].uid)) {
            most = n;
            at = i;
        }
    }
    return at;
}

static void add(struct live_runs *s, const struct live_run *r)
{
    size_t at = s->n;

    if (s->n < LIVE_RUNS_MAX) {
        s->n++;
    } else {
        s->left_out++;
        at = make_room(s, r->uid);
        if (at == s->n)
            return;
    }
    s->runs[at] = *r;
}

static void look_at(struct look *l, const char *path)
{
    const char *name;
    DIR *dir = opendir(path);
    int rc = 0;

    while (dir && l->entries < ENTRIES && l->folders < FOLDERS &&
           (rc = folder_next(dir, &name)) > 0) {
        struct live_run r;

        l->entries++;
        if (!ring_folder_is(name))
            continue;
        l->folders++;
        if (read_file(dirfd(dir), name, &r) == 0)
            add(l->to, &r);
    }
    l->to->unread += rc < 0;
    if (dir)
        closedir(dir);
}

static void look_at_users(struct look *l, const char *base)
{
    const char *name;
    DIR *dir = opendir(base);
    int rc = 0;

    while (dir && l->users < USERS && (rc = folder_next(dir, &name)) > 0) {
        char path[sizeof("/run/user/") + NAME_MAX + 1];

        l->users++;
        if (name[0] != '.' && snprintf(path, sizeof(path), "%s/%s", base, name) < (int)sizeof(path))
            look_at(l, path);
    }
    l->to->unread += rc < 0;
    if (dir)
        closedir(dir);
}

/* The oldest first, so that rows stay where they are. */
static int by_age(const void *a, const void *b)
{
    const struct live_run *x = a, *y = b;
    int order = COMPARE(x->since_ms, y->since_ms);

    return order ? order : strcmp(x->id, y->id);
}

static void finish(struct live_runs *s)
{
    CLEANUP(str_done) struct str accounts = STR_INIT(ACCOUNTS_MAX);

    if (s->n)
        accounts_read(&accounts);
    for (size_t i = 0; i < s->n; i++)
        accounts_name(str_text(&accounts), s->runs[i].uid, s->runs[i].user);
    qsort(s->runs, s->n, sizeof(s->runs[0]), by_age);
}

/* ---- one of them ---- */

static int look_for(struct live_run *ret, const char *base, const char *name, int64_t uid)
{
    CLEANUP(closep) int at = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct live_run r = live_run_none;
    int rc = at < 0 ? -errno : read_file(at, name, &r);

    if (rc == 0 && r.uid != uid)
        rc = -ENOENT;
    if (rc == 0)
        *ret = r;
    return rc;
}

int live_runs_of(struct live_run *ret, int pid, int64_t uid, const char *const *folders)
{
    char name[NAME_MAX + 1], own[sizeof("/run/user/") + 24];
    const char *const usual[] = { "/dev/shm", own, "/tmp", NULL };
    int rc = ring_folder_of(pid, name, sizeof(name));

    snprintf(own, sizeof(own), "/run/user/%lld", (long long)uid);
    if (!folders)
        folders = usual;
    if (rc < 0)
        return rc;
    for (rc = -ENOENT; rc < 0 && *folders; folders++)
        rc = look_for(ret, *folders, name, uid);
    return rc;
}

void live_runs_look(struct live_runs *ret, const char *const *folders)
{
    struct look l = { .to = ret };

    ret->n = ret->left_out = ret->unread = 0;
    if (!folders) {
        look_at(&l, "/dev/shm");
        look_at_users(&l, "/run/user");
        look_at(&l, "/tmp");
    }
    for (; folders && *folders; folders++)
        look_at(&l, *folders);
    finish(ret);
}
