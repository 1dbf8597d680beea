#include "cmd/common/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { HEAD = 2048 };

/* How what brim writes begins, and what stands soon behind. */
static const struct {
    const char *begins, *has;
} kinds[] = {
    [OPT_PAGE] = { "<", "brim" },
    [OPT_JSON] = { "{", "\"brim." },
    [OPT_SCRIPT] = { "#", "# profile " },
    [OPT_PROFILE] = { "[profile]", "" },
};

static const char *value_of(const struct opt *o, const void *values)
{
    return *(const char *const *)(const void *)((const char *)values + o->offset);
}

static enum opt_file kind_of(const struct opt *o)
{
    return o->kind == OPT_OUTPUT ? OPT_JSON : o->kind == OPT_STRING ? o->file : OPT_NO_FILE;
}

static bool is_ours(const char *path, enum opt_file kind)
{
    CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char head[HEAD + 1];
    ssize_t len = fd < 0 ? -1 : read(fd, head, HEAD);

    if (len < 0)
        return false;
    head[len] = '\0';
    return !strncmp(head, kinds[kind].begins, strlen(kinds[kind].begins)) &&
           strstr(head, kinds[kind].has);
}

/* 0, or why a new file cannot be made there. */
static int check_folder(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');

    if (strlen(path) >= sizeof(folder))
        return -ENAMETOOLONG;
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    return access(folder, W_OK | X_OK) < 0 ? -errno : 0;
}

static int check_one(const struct opt *o, const char *path, struct err *e)
{
    struct stat st;
    int rc = 0;

    if (stat(path, &st) < 0)
        rc = errno == ENOENT ? check_folder(path) : -errno;
    else if (S_ISDIR(st.st_mode))
        rc = -EISDIR;
    else if (access(path, W_OK) < 0)
        rc = -errno;
    else if (S_ISREG(st.st_mode) && st.st_size > 0 && !is_ours(path, kind_of(o)))
        return err_set(e, -EEXIST,
                       "--%s: %s is there and is nothing that brim wrote: name another file",
                       o->name, path);
    return rc < 0 ? err_set(e, rc, "--%s: cannot write %s: %s", o->name, path, strerror(-rc)) : 0;
}

int output_check(const struct opt *opts, const void *values, struct err *e)
{
    int rc = 0;

    for (const struct opt *o = opts; o->kind != OPT_END && rc == 0; o++) {
        const char *path = kind_of(o) != OPT_NO_FILE ? value_of(o, values) : NULL;

        if (path && strcmp(path, "-") != 0)
            rc = check_one(o, path, e);
    }
    return rc;
}

int output_check_apart(const struct opt *opts, const void *values, char **operands, struct err *e)
{
    if (!operands[0] || !operands[1] || strcmp(operands[1], "--") != 0)
        return 0;
    for (const struct opt *o = opts; o->kind != OPT_END; o++)
        if (o->kind == OPT_OUTPUT && value_of(o, values) && !strcmp(value_of(o, values), "-"))
            return err_usage(e, "a file of --%s stands behind '=': --%s=%.100s", o->name, o->name,
                             operands[0]);
    return 0;
}
