/* What the queue's folder has of jobs that its database does not know: somebody removed that, or
 * put an older one in its place. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/parse.h"
#include "queue/guard/files.h"
#include "queue/guard/strays.h"
#include "queue/queue_private.h"

/* "12" or "12.1": the number of a job that the database does not know; 0. */
static int64_t unknown(const char *name, int64_t last)
{
    uint64_t id;
    int n = parse_digits(name, 10, 18, &id);

    return n > 0 && (name[n] == 0 || name[n] == '.') && (int64_t)id > last ? (int64_t)id : 0;
}

static DIR *open_names(int dir, const char *name)
{
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *names = fd < 0 ? NULL : fdopendir(fd);

    if (!names)
        closep(&fd);
    return names;
}

/* A process of an attempt, 0 when all have gone. */
static pid_t process_of(int dir, int64_t id, int32_t attempt)
{
    struct strays s;
    pid_t guard = 0, first = 0;
    bool held = queue_claim_look(dir, id, attempt, &guard) == CLAIM_HELD;

    if (queue_start_look(dir, id, attempt, &first) == START_LIVES)
        return first;
    queue_group_look(dir, id, attempt, s.group);
    strays_mark(s.mark, id, guard);
    return held || strays_send(&s, 0) > 0 ? guard : 0;
}

/* Look through the folder of one: whether it was ever begun (1, 0). Its devices would be given to
 * others while it runs: -EEXIST with a sentence. */
static int look(const struct local *l, int64_t id, struct err *e)
{
    static const char claim[] = "claim.";
    char path[64];
    const char *name;
    DIR *names;
    int begun = 0;
    pid_t pid = 0;

    snprintf(path, sizeof(path), "jobs/%lld", (long long)id);
    names = open_names(l->dir, path);
    if (!names)
        return errno == ENOTDIR || errno == ENOENT ? 0 : 1;
    while (pid == 0 && folder_next(names, &name) > 0) {
        uint64_t attempt;

        begun |= !strcmp(name, "output");
        if (strncmp(name, claim, sizeof(claim) - 1) != 0)
            continue;
        begun = 1;
        if (parse_digits(name + sizeof(claim) - 1, 10, 9, &attempt) > 0)
            pid = process_of(l->dir, id, (int32_t)attempt);
    }
    closedir(names);
    if (pid)
        return err_set(e, -EEXIST,
                       "job %lld of %s runs (process %d), and its queue.db does not know it any "
                       "more: wait for its end, or end it",
                       (long long)id, l->c->folder, (int)pid);
    return begun;
}

/* Raise *above to the highest of those that were begun. Of one that was about to be stored when
 * its engine died nothing is left: it has no number yet. */
static int look_all(const struct local *l, const char *folder, int64_t last, int64_t *above,
                    struct err *e)
{
    DIR *names = open_names(l->dir, folder);
    bool jobs = !strcmp(folder, "jobs");
    const char *name;
    int rc = 0;

    if (!names)
        return err_set(e, -errno, "cannot read %s/%s: %s", l->c->folder, folder, strerror(errno));
    while (rc >= 0 && (rc = folder_next(names, &name)) > 0) {
        int64_t id = unknown(name, last);

        if (id == 0)
            continue;
        rc = jobs ? look(l, id, e) : 1;
        if (rc > 0)
            *above = MAX(*above, id);
        else if (rc == 0)
            queue_folder_remove(l->dir, id);
    }
    closedir(names);
    return rc < 0 && !*e->text
               ? err_set(e, rc, "cannot read %s/%s: %s", l->c->folder, folder, strerror(-rc))
               : MIN(rc, 0);
}

int queue_unknown_pass(const struct local *l, struct err *e)
{
    int64_t last = 0, above;
    int rc = queue_store_last(l->store, &last, e);

    above = last;
    if (rc == 0)
        rc = look_all(l, "jobs", last, &above, e);
    if (rc == 0)
        rc = look_all(l, "ends", last, &above, e);
    if (rc < 0 || above == last)
        return rc;
    log_warning("queue.db does not know the jobs %lld to %lld of which files are in %s: new ones "
                "come behind them",
                (long long)last + 1, (long long)above, l->c->folder);
    return queue_store_pass(l->store, above, e);
}
