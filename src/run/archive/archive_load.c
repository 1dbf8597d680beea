/* Whole runs: all parts of a folder made into one. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "base/file.h"
#include "probe/process/files.h"
#include "probe/process/text.h"
#include "run/archive/archive.h"
#include "run/archive/archive_format.h"
#include "run/archive/merge_runs.h"

enum { ABOUT_MAX = 1 << 20, MOMENTS_MAX = 64 << 20, STEPS_MAX = 8 << 20, PARTS_MAX = 1024 };

/* A part on another node whose files did not change for so long has lost its observer. */
#define SILENT_S 60

struct part {
    struct run run;
    struct archive_part about;
    char stem[PATH_MAX]; /* of its files, without ".ini" */
};

struct parts {
    struct part *all;
    size_t n;
};

static void parts_done(struct parts *p)
{
    for (size_t i = 0; i < p->n; i++)
        run_done(&p->all[i].run);
    free(p->all);
}

uint64_t archive_pid_space(void)
{
    struct stat st;

    return stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0;
}

/* Whether the process that wrote a part still does. Where its number says nothing here, since it
 * has been given in another container, its lock does. */
static bool is_written(const struct part *p)
{
    char host[65] = "", path[PATH_MAX + 16];
    struct process_stat stat;
    struct stat st;
    CLEANUP(closep) int fd = -1;
    bool here = gethostname(host, sizeof(host) - 1) == 0 &&
                !strncmp(host, p->about.host, sizeof(p->about.host) - 1);

    if (here && (!p->about.pid_space || p->about.pid_space == archive_pid_space()))
        return process_stat_here(p->about.pid, &stat) == 0 &&
               stat.start_ticks == p->about.start_ticks && stat.state != 'Z';
    snprintf(path, sizeof(path), "%s.moments", p->stem);
    if (here)
        fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0)
        return flock(fd, LOCK_SH | LOCK_NB) < 0;
    return lstat(path, &st) == 0 && time(NULL) - st.st_mtime < SILENT_S;
}

/* What is wrong with the file itself, and not with reading it. */
static bool is_broken(int rc)
{
    return rc == -EINVAL || rc == -EFBIG || rc == -EPROTONOSUPPORT || rc == -ELOOP || rc == -ENXIO;
}

/* What a killed observer kept room with, for the end that it did not write. */
static void remove_draft(const struct part *p)
{
    char path[PATH_MAX + 16];

    snprintf(path, sizeof(path), "%s.ini.new", p->stem);
    (void)unlink(path); /* who may not is not its owner */
}

static int read_part(struct parts *all, const char *folder, const char *name, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(ABOUT_MAX);
    struct part *p = realloc(all->all, (all->n + 1) * sizeof(*p));
    char path[PATH_MAX];
    int rc;

    if (!p)
        return err_nomem(e);
    all->all = p;
    p = &all->all[all->n];
    *p = (struct part){ .about = { .pid = -1 } };
    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
        return 0;
    snprintf(p->stem, sizeof(p->stem), "%.*s", (int)strlen(path) - 4, path);
    rc = file_read_regular(path, &text, e);
    if (rc == -ENOENT)
        return 0;
    if (rc == 0)
        rc = archive_parse_about(str_text(&text), text.len, &p->run, &p->about, e);
    if (rc < 0) {
        run_done(&p->run);
        return rc == -ENOMEM ? rc : err_context(e, rc, "%s: ", path);
    }
    if (p->run.end == RUN_RUNNING && !is_written(p)) {
        p->run.end = RUN_LOST;
        remove_draft(p);
    }
    all->n++;
    return 0;
}

static bool has_suffix(const char *name, const char *suffix)
{
    size_t len = strlen(name), n = strlen(suffix);

    return len > n && !strcmp(name + len - n, suffix);
}

static int by_begin(const void *a, const void *b)
{
    const struct part *left = a, *right = b;
    int order = COMPARE(left->run.begin_ns, right->run.begin_ns);

    return order ? order : strcmp(left->stem, right->stem);
}

static int read_parts(struct parts *all, const char *folder, struct err *e)
{
    DIR *dir = opendir(folder);
    struct err broken = { "" };
    const char *name;
    int rc = 1;

    if (!dir)
        return err_set(e, -errno, "%s: %s", folder, strerror(errno));
    while (all->n < PARTS_MAX && (rc = folder_next(dir, &name)) > 0) {
        int part = 0;

        if (!strncmp(name, "part-", 5) && has_suffix(name, ".ini"))
            part = read_part(all, folder, name, &broken);
        if (part < 0 && !is_broken(part)) {
            closedir(dir);
            return part == -ENOMEM ? err_nomem(e) : err_set(e, part, "%s", broken.text);
        }
    }
    closedir(dir);
    if (rc < 0)
        return err_set(e, rc, "%s: %s", folder, strerror(-rc));
    if (all->n == 0 && broken.text[0])
        return err_set(e, -EINVAL, "%s", broken.text);
    if (all->n == 0)
        return err_set(e, -ENODATA, "%s holds no run: nothing could be stored of it", folder);
    qsort(all->all, all->n, sizeof(*all->all), by_begin);
    return 0;
}

/* One file of a part into its run; one that is not there or broken is left out. */
static int read_piece(const char *path, size_t max, struct run *r,
                      int (*parse)(const void *data, size_t len, struct run *r, struct err *e),
                      struct err *e)
{
    CLEANUP(str_done) struct str bytes = STR_INIT(max);
    struct err why;
    int rc = file_read_regular(path, &bytes, &why);

    if (rc == 0)
        return parse(str_text(&bytes), bytes.len, r, NULL) == -ENOMEM ? err_nomem(e) : 0;
    return rc == -ENOENT || is_broken(rc) ? 0 : err_set(e, rc, "%s", why.text);
}

static int read_pieces(struct part *p, struct err *e)
{
    char path[PATH_MAX + 32];
    int rc;

    snprintf(path, sizeof(path), "%s.moments", p->stem);
    rc = read_piece(path, MOMENTS_MAX, &p->run, archive_parse_moments, e);
    for (int i = 0; rc == 0; i++) {
        snprintf(path, sizeof(path), "%s-%d.steps", p->stem, i);
        if (access(path, F_OK) < 0)
            break;
        rc = read_piece(path, STEPS_MAX, &p->run, archive_parse_steps, e);
    }
    if (p->run.end == RUN_LOST && p->run.n_moments)
        p->run.end_ns = p->run.moments[p->run.n_moments - 1].wall_ns;
    return rc;
}

static int load(const char *folder, bool whole, struct run *out, struct err *e)
{
    CLEANUP(parts_done) struct parts all = { .n = 0 };
    int rc = read_parts(&all, folder, e);

    *out = (struct run){ .id = NULL };
    for (size_t i = 0; whole && rc == 0 && i < all.n; i++)
        rc = read_pieces(&all.all[i], e);
    if (rc < 0)
        return rc;
    if (all.all) { /* the first part becomes the run, with its arena */
        *out = all.all[0].run;
        all.all[0].run = (struct run){ .id = NULL };
    }
    for (size_t i = 1; rc == 0 && i < all.n; i++)
        rc = merge_runs_add(out, &all.all[0].about, &all.all[i].run, &all.all[i].about);
    return rc < 0 ? err_nomem(e) : 0;
}

int run_load(const char *folder, struct run *out, struct err *e)
{
    return load(folder, true, out, e);
}

int run_load_about(const char *folder, struct run *out, struct err *e)
{
    return load(folder, false, out, e);
}
