#include "run/job/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "probe/process/files.h"
#include "probe/process/text.h"

enum { ANCESTRY_MAX = 64 };

static const char moments[] = ".moments";

/* Its bytes are told to its user and to root alone: whoever may read them sees all that we need. */
static int check_right(int proc, pid_t pid, struct err *e)
{
    char name[32], text[PROCESS_TEXT];
    const struct passwd *user;
    struct stat st;

    snprintf(name, sizeof(name), "%d", (int)pid);
    if (fstatat(proc, name, &st, 0) == 0 && geteuid() != 0 && st.st_uid != geteuid()) {
        user = getpwuid(st.st_uid);
        return err_set(e, -EPERM, "process %d belongs to %s: run this as that user or as root",
                       (int)pid, user ? user->pw_name : "another user");
    }
    if (process_files_read(proc, pid, "io", NULL, text) == -EACCES)
        return err_set(e, -EPERM, "process %d may not be looked at: %s", (int)pid,
                       geteuid() != 0 ? "run this as root"
                                      : "this root is without the right to trace (CAP_SYS_PTRACE), "
                                        "or the process is another container's");
    return 0;
}

int attach_check(int proc, pid_t pid, struct err *e)
{
    struct process_stat stat;

    if (process_stat_read(proc, pid, &stat) < 0)
        return err_set(e, -ESRCH, "there is no process %d", (int)pid);
    if (stat.state == 'Z' || stat.state == 'X')
        return err_set(e, -ESRCH, "process %d has ended", (int)pid);
    if (stat.kernel_thread)
        return err_set(e, -ESRCH, "process %d is a thread of the kernel", (int)pid);
    return check_right(proc, pid, e);
}

/* "RUNS/ID/part-HOST-PID.moments" -> RUNS/ID. */
static bool take_folder(char *path, struct str *folder)
{
    char *slash = strrchr(path, '/');
    const char *end = slash ? strrchr(slash, '.') : NULL;

    if (!end || slash == path || strcmp(end, moments) != 0 || strncmp(slash + 1, "part-", 5) != 0)
        return false;
    *slash = 0;
    str_add(folder, path);
    return true;
}

/* Whether it has one open: 1, 0, or a negative errno. */
static int find_open(int proc, pid_t pid, struct str *folder)
{
    char name[32], path[PATH_MAX];
    bool found = false;
    const char *open;
    int fd, rc = 0;
    DIR *dir;

    snprintf(name, sizeof(name), "%d/fd", (int)pid);
    fd = openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        closep(&fd);
        return 0;
    }
    while (!found && (rc = folder_next(dir, &open)) > 0) {
        ssize_t len = readlinkat(fd, open, path, sizeof(path) - 1);

        if (len <= 0)
            continue;
        path[len] = 0;
        found = take_folder(path, folder);
    }
    closedir(dir);
    return found ? 1 : rc;
}

int attach_folder(int proc, pid_t pid, struct str *folder)
{
    struct process_stat stat;
    int rc = 0;

    str_reset(folder);
    for (int i = 0; i < ANCESTRY_MAX && pid > 0 && rc == 0; i++) {
        rc = find_open(proc, pid, folder);
        if (rc != 0 || process_stat_read(proc, pid, &stat) < 0)
            break;
        pid = (pid_t)stat.parent;
    }
    return rc < 0 ? rc : str_error(folder);
}
