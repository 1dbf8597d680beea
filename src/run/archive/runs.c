/* The folder of all runs. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/opt.h"
#include "model/job/slurm_job.h"
#include "run/archive/archive.h"

enum { RUNS_MAX = 100000 };

struct names {
    char **all;
    size_t n;
};

static void names_done(struct names *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->all[i]);
    free(l->all);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_name(struct names *l, const char *name)
{
    size_t len = strlen(name) + 1;
    char **more = realloc(l->all, (l->n + 1) * sizeof(*more));

    if (!more)
        return -ENOMEM;
    l->all = more;
    more[l->n] = malloc(len);
    if (!more[l->n])
        return -ENOMEM;
    memcpy(more[l->n++], name, len);
    return 0;
}

/* Folders above the run's as well, for their owner alone. */
int runs_make(const char *path, struct err *e)
{
    char part[PATH_MAX];
    size_t len = strlen(path);

    if (len >= sizeof(part))
        return err_set(e, -ENAMETOOLONG, "%s: %s", path, strerror(ENAMETOOLONG));
    for (size_t i = 1; i <= len; i++) {
        if (path[i] != '/' && path[i] != 0)
            continue;
        memcpy(part, path, i);
        part[i] = 0;
        if (mkdir(part, 0700) < 0 && errno != EEXIST)
            return err_set(e, -errno, "%s: %s", part, strerror(errno));
    }
    file_sweep(path);
    return 0;
}

int runs_list(const char *runs, struct str *out, struct err *e)
{
    CLEANUP(names_done) struct names names = { .n = 0 };
    DIR *dir = opendir(runs);
    const char *name;
    int rc = 1;

    str_reset(out);
    if (!dir && errno == ENOENT)
        return 0;
    if (!dir)
        return err_set(e, -errno, "%s: %s", runs, strerror(errno));
    while (rc > 0 && names.n < RUNS_MAX && (rc = folder_next(dir, &name)) > 0)
        if (name[0] != '.' && add_name(&names, name) < 0)
            rc = -ENOMEM;
    closedir(dir);
    if (rc < 0)
        return rc == -ENOMEM ? err_nomem(e) : err_set(e, rc, "%s: %s", runs, strerror(-rc));
    if (names.n)
        qsort(names.all, names.n, sizeof(*names.all), by_text);
    for (size_t i = 0; i < names.n; i++)
        str_add_n(out, names.all[i], strlen(names.all[i]) + 1);
    return str_error(out) ? err_nomem(e) : 0;
}

/* "job:17": of that job of Slurm. */
static bool is_of_job(const struct run *r, const char *which)
{
    struct slurm_job j;

    return !strncmp(which, RUNS_JOB, strlen(RUNS_JOB)) && slurm_job_of(r, &j) &&
           slurm_job_is(&j, which + strlen(RUNS_JOB));
}

static bool is_called(const char *runs, const char *id, const char *name)
{
    char folder[PATH_MAX];
    struct run r;
    bool is;

    if (snprintf(folder, sizeof(folder), "%s/%s", runs, id) >= (int)sizeof(folder))
        return false;
    is = run_load_about(folder, &r, NULL) == 0 &&
         ((r.name && !strcmp(r.name, name)) || is_of_job(&r, name));
    run_done(&r);
    return is;
}

static const char *name_at(const void *names, size_t i)
{
    return ((const struct names *)names)->all[i];
}

/* The nearest of their names and ids. */
static int not_found(const char *runs, const struct str *list, const char *which, struct err *e)
{
    CLEANUP(names_done) struct names names = { .n = 0 };
    const char *near;

    if (!list->len || !*which || !strcmp(which, "last")) /* there may be empty folders */
        return err_set(e, -ENOENT, "no run is kept yet: brim run -- COMMAND keeps one");
    for (const char *id = str_text(list); id < str_text(list) + list->len; id += strlen(id) + 1) {
        CLEANUP(run_done) struct run r = { .id = NULL };
        char folder[PATH_MAX];

        if (snprintf(folder, sizeof(folder), "%s/%s", runs, id) >= (int)sizeof(folder) ||
            run_load_about(folder, &r, NULL) < 0)
            continue;
        if (add_name(&names, id) < 0 || (r.name && add_name(&names, r.name) < 0))
            return err_nomem(e);
    }
    if (!strncmp(which, RUNS_JOB, strlen(RUNS_JOB)))
        return err_set(e, -ENOENT,
                       "no run of Slurm's job %.100s is kept here ('brim runs' lists "
                       "what is)",
                       which + strlen(RUNS_JOB));
    near = opt_nearest(which, names.n, name_at, &names);
    if (near)
        return err_set(e, -ENOENT, "there is no run '%.100s' (did you mean '%.100s'?)", which,
                       near);
    return err_set(e, -ENOENT, "there is no run '%.100s' ('brim runs' lists them)", which);
}

/* What an observer writes of its part when that has begun: the moments' file is there a moment
 * before. */
static bool is_part(const char *name)
{
    size_t len = strlen(name);

    return !strncmp(name, "part-", 5) && len > 9 && !strcmp(name + len - 4, ".ini");
}

/* Whether anything was stored of a run: 0 where its observer found the disk full, or where it is
 * another user's. -errno. */
static int holds_run(const char *runs, const char *id, struct err *e)
{
    char folder[PATH_MAX];
    const char *name;
    DIR *dir;
    int rc;

    if (snprintf(folder, sizeof(folder), "%s/%s", runs, id) >= (int)sizeof(folder))
        return 0;
    dir = opendir(folder);
    if (!dir && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
        return 0;
    if (!dir)
        return err_set(e, -errno, "%s: %s", folder, strerror(errno));
    while ((rc = folder_next(dir, &name)) > 0 && !is_part(name))
        continue;
    closedir(dir);
    return rc < 0 ? err_set(e, rc, "%s: %s", folder, strerror(-rc)) : rc;
}

/* The youngest of a list that holds something; NULL. 0 or -errno. */
static int find_last(const char *runs, const struct str *list, const char **ret, struct err *e)
{
    const char *begin = str_text(list), *id = begin + list->len;
    int rc = 0;

    while (id > begin && rc == 0) {
        for (id--; id > begin && id[-1];)
            id--;
        rc = holds_run(runs, id, e);
    }
    *ret = rc > 0 ? id : NULL;
    return MIN(rc, 0);
}

int runs_find(const char *runs, const char *which, struct str *folder, struct err *e)
{
    CLEANUP(str_done) struct str list = STR_INIT(8 << 20);
    const char *found = NULL, *same = NULL;
    size_t n = 0;
    int rc;

    str_reset(folder);
    if (strchr(which, '/')) {
        str_add(folder, which);
        return str_error(folder) ? err_nomem(e) : 0;
    }
    rc = runs_list(runs, &list, e);
    if (rc == 0 && (!*which || !strcmp(which, "last")))
        rc = find_last(runs, &list, &found, e);
    if (rc < 0)
        return rc;
    for (const char *id = str_text(&list); *which && id < str_text(&list) + list.len;
         id += strlen(id) + 1) {
        if (!strcmp(id, which))
            same = id;
        if (!strncmp(id, which, strlen(which))) {
            found = id;
            n++;
        }
    }
    if (same)
        found = same;
    else if (n > 1)
        return err_set(e, -ENOENT, "%zu runs start with '%s' ('brim runs' lists them)", n, which);
    for (const char *id = str_text(&list); !found && id < str_text(&list) + list.len;
         id += strlen(id) + 1)
        same = is_called(runs, id, which) ? id : same;
    if (!found)
        found = same;
    if (!found)
        return not_found(runs, &list, which, e);
    str_addf(folder, "%s/%s", runs, found);
    return str_error(folder) ? err_nomem(e) : 0;
}

bool run_is_earlier(const struct run *r, const struct run *o)
{
    return o->id && r->id && strcmp(o->id, r->id) < 0 && o->command && r->command &&
           !strcmp(o->command, r->command) && (!o->name || !r->name || !strcmp(o->name, r->name));
}

int run_remove(const char *folder, struct err *e)
{
    DIR *dir = opendir(folder);
    const char *name;
    int rc;

    if (!dir)
        return err_set(e, -errno, "%s: %s", folder, strerror(errno));
    while ((rc = folder_next(dir, &name)) > 0) {
        if (strncmp(name, "part-", 5) != 0)
            continue;
        if (unlinkat(dirfd(dir), name, 0) < 0 && errno != ENOENT) {
            rc = err_set(e, -errno, "%s/%s: %s", folder, name, strerror(errno));
            closedir(dir);
            return rc;
        }
    }
    closedir(dir);
    if (rc < 0)
        return err_set(e, rc, "%s: %s", folder, strerror(-rc));
    if (rmdir(folder) < 0)
        rc = err_set(e, -errno, "%s: %s", folder, strerror(errno));
    return rc;
}
