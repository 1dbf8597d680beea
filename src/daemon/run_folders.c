#include "daemon/run_folders.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/parse.h"
#include "daemon/trusted_path.h"
#include "run/archive/archive.h"

enum {
    ID_MAX = 64,   /* ids have 20 bytes */
    RUNS = 100000, /* of all folders; the others are left out */
    LIST_MAX = 8 << 20,
    FILES = 4096,
    EARLIER = 256
};

/* "/proc/self/fd/7": what is opened stays the same, whatever its owner puts into its place. */
struct fd_path {
    char text[32];
};

static struct fd_path path_of(int fd)
{
    struct fd_path p;

    snprintf(p.text, sizeof(p.text), "/proc/self/fd/%d", fd);
    return p;
}

/* ---- keys ---- */

/* What stands behind the folder's number; NULL for what is no key. */
static const char *id_of(const char *key, size_t *folder)
{
    uint64_t number;
    int n = parse_digits(key, 10, 2, &number);
    const char *id = key + n + 1;

    if (n <= 0 || key[n] != '.' || !*id || *id == '.' || strchr(id, '/') || strlen(id) > ID_MAX)
        return NULL;
    *folder = (size_t)number;
    return id;
}

int run_folders_compare(const char *a, const char *b)
{
    const char *x = strchr(a, '.'), *y = strchr(b, '.');
    int order = x && y ? strcmp(y, x) : 0;

    return order ? order : strcmp(a, b);
}

/* ---- the list ---- */

static int by_age(const void *a, const void *b)
{
    return run_folders_compare(*(const char *const *)a, *(const char *const *)b);
}

static int add_names(size_t folder, const char *path, unsigned *left, struct str *out)
{
    CLEANUP(closep) int fd = trusted_path_open(path, NULL);
    DIR *dir = fd < 0 ? NULL : opendir(path_of(fd).text);
    const char *name;
    int rc = dir ? 0 : -errno;

    while (dir && *left && (rc = folder_next(dir, &name)) > 0) {
        if (*name == '.' || strlen(name) > ID_MAX)
            continue;
        str_addf(out, "%zu.%s", folder, name);
        str_add_n(out, "", 1);
        --*left;
    }
    if (dir)
        closedir(dir);
    return fd < 0 ? fd : MIN(rc, 0);
}

static int sort(const struct str *keys, struct str *out)
{
    const char *end = str_text(keys) + keys->len;
    CLEANUP(freep) const char **all = NULL;
    size_t n = 0;

    for (const char *key = str_text(keys); key < end; key += strlen(key) + 1)
        n++;
    all = malloc((n + 1) * sizeof(*all));
    if (!all)
        return -ENOMEM;
    n = 0;
    for (const char *key = str_text(keys); key < end; key += strlen(key) + 1)
        all[n++] = key;
    qsort(all, n, sizeof(*all), by_age);
    for (size_t i = 0; i < n; i++)
        str_add_n(out, all[i], strlen(all[i]) + 1);
    return str_error(out);
}

int run_folders_list(const struct run_folders *f, struct str *out, size_t *unread)
{
    CLEANUP(str_done) struct str keys = STR_INIT(LIST_MAX);
    unsigned left = RUNS;

    str_reset(out);
    *unread = 0;
    for (size_t i = 0; i < f->n; i++) {
        int rc = add_names(i, f->paths[i], &left, &keys);

        *unread += rc < 0 && rc != -ENOENT; /* no run was kept yet */
    }
    return str_error(&keys) ? -ENOMEM : sort(&keys, out);
}

/* ---- one run ---- */

/* Whether its files are few and small enough. */
static bool is_small(int fd)
{
    const char *name;
    DIR *dir = opendir(path_of(fd).text);
    int64_t left = (int64_t)RUN_SERVED_MIB << 20;
    unsigned files = 0;
    struct stat st;

    while (dir && left >= 0 && files <= FILES && folder_next(dir, &name) > 0) {
        files++;
        if (fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
            left -= MIN((int64_t)st.st_size, left + 1);
    }
    if (!dir)
        return false;
    closedir(dir);
    return left >= 0 && files <= FILES;
}

/* Its sentences name no path: what is asked for is a key. */
static int load(int base, const char *id, bool whole, struct run *ret, uid_t *owner, struct err *e)
{
    CLEANUP(closep)
    int fd = openat(base, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    int rc;

    if (fd < 0 || fstat(fd, &st) < 0)
        return errno == ENOENT ? err_set(e, -ENOENT, "there is no run '%.100s'", id)
                               : err_set(e, -EINVAL, "'%.100s' is no run: %s", id, strerror(errno));
    *owner = st.st_uid;
    if (!is_small(fd))
        return err_set(e, -EFBIG,
                       "run '%.100s' has more than %d MiB of files: 'brim report' makes its page",
                       id, RUN_SERVED_MIB);
    rc = whole ? run_load(path_of(fd).text, ret, NULL)
               : run_load_about(path_of(fd).text, ret, NULL);
    if (rc == -ENOMEM)
        return err_nomem(e);
    return rc < 0 ? err_set(e, rc == -ENODATA ? rc : -EINVAL, "'%.100s' holds no run", id) : 0;
}

int run_folders_load(const struct run_folders *f, const char *key, bool whole, struct run *ret,
                     uid_t *owner, struct err *e)
{
    size_t folder = 0;
    const char *id = id_of(key, &folder);
    CLEANUP(closep) int base = -1;

    if (!id || folder >= f->n)
        return err_set(e, -EINVAL, "'%.100s' is no run's key: /api/v1/runs lists them", key);
    base = trusted_path_open(f->paths[folder], e);
    return base < 0 ? base : load(base, id, whole, ret, owner, e);
}

int run_folders_load_earlier(const struct run_folders *f, const char *key, const struct run *r,
                             struct run *ret, struct err *e)
{
    CLEANUP(str_done) struct str keys = STR_INIT(LIST_MAX);
    size_t folder = 0, other = 0, unread;
    const char *id = id_of(key, &folder);
    struct run_folders own = { .paths = f->paths + folder, .n = 1 };
    int looked = 0, rc = id && folder < f->n ? run_folders_list(&own, &keys, &unread) : -EINVAL;

    for (const char *at = str_text(&keys);
         rc == 0 && looked < EARLIER && at < str_text(&keys) + keys.len; at += strlen(at) + 1) {
        CLEANUP(run_done) struct run o = { .id = NULL };
        const char *name = id_of(at, &other);
        uid_t owner;

        if (!name || strcmp(name, id) >= 0)
            continue;
        looked++;
        if (run_folders_load(&own, at, false, &o, &owner, NULL) == 0 && run_is_earlier(r, &o)) {
            rc = run_folders_load(&own, at, true, ret, &owner, NULL);
            break;
        }
    }
    return rc == -ENOMEM ? err_nomem(e) : 0;
}
