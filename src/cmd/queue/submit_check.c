#include "cmd/queue/submit_check.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What execvp() looks through where PATH is not set. */
static const char usual[] = "/bin:/usr/bin";

int submit_check_folder(const char *folder, struct err *e)
{
    struct stat st;

    if (stat(folder, &st) < 0)
        return err_set(e, -errno, "cannot enter the folder %s: %s", folder, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return err_set(e, -ENOTDIR, "cannot enter the folder %s: it is none", folder);
    if (access(folder, X_OK) < 0)
        return err_set(e, -errno, "cannot enter the folder %s: %s", folder, strerror(errno));
    return 0;
}

/* Whether a file below a folder can be executed: 0 or a negative errno. */
static int look(const char *folder, const char *part, int len, const char *command)
{
    char name[PATH_MAX];
    struct stat st;

    if (snprintf(name, sizeof(name), "%s%s%.*s%s%s", *part == '/' ? "" : folder,
                 *part == '/' ? "" : "/", len, part, len ? "/" : "", command) >= PATH_MAX)
        return -ENAMETOOLONG;
    if (stat(name, &st) < 0)
        return -errno;
    if (S_ISDIR(st.st_mode))
        return -EISDIR;
    return access(name, X_OK) < 0 ? -errno : 0;
}

int submit_check_command(const char *command, const char *folder, const char *path, struct err *e)
{
    int rc;

    if (strchr(command, '/')) {
        rc = *command == '/' ? look("", command, 0, command) : look(folder, "", 0, command);
        return rc < 0 ? err_set(e, rc, "cannot run %s: %s", command, strerror(-rc)) : 0;
    }
    for (const char *at = path ? path : usual;; at++) {
        int len = (int)strcspn(at, ":");

        if (look(folder, at, len, command) == 0)
            return 0;
        at += len;
        if (!*at)
            return err_set(e, -ENOENT, "there is no command '%s' in PATH", command);
    }
}

/* Whether a file can be written: it, or the folder that it would be made in. 0 or a negative
 * errno. */
static int look_output(char name[PATH_MAX])
{
    struct stat st;

    if (stat(name, &st) == 0)
        return S_ISDIR(st.st_mode) ? -EISDIR : access(name, W_OK) < 0 ? -errno : 0;
    if (errno != ENOENT)
        return -errno;
    *(strrchr(name, '/') + 1) = '\0';
    return access(name, W_OK | X_OK) < 0 ? -errno : 0;
}

int submit_check_output(const char *option, const char *file, const char *folder, struct err *e)
{
    bool whole = file && *file == '/';
    char name[PATH_MAX];
    int rc;

    if (!file || strchr(file, '%'))
        return 0;
    if (snprintf(name, sizeof(name), "%s%s%s", whole ? "" : folder, whole ? "" : "/", file) >=
        PATH_MAX)
        rc = -ENAMETOOLONG;
    else
        rc = look_output(name);
    return rc < 0 ? err_set(e, rc, "%s: cannot write %s: %s", option, file, strerror(-rc)) : 0;
}
