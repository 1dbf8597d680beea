#include "probe/process/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>

void process_files_close(struct process_files *f)
{
    closep(&f->stat);
    closep(&f->io);
    *f = PROCESS_FILES_NONE;
}

int process_files_read(int proc, pid_t pid, const char *name, int *kept, char buf[PROCESS_TEXT])
{
    int fd = kept ? *kept : -1, rc;
    const bool opens = fd < 0;
    char path[32];
    ssize_t len;

    if (opens) {
        snprintf(path, sizeof(path), "%d/%s", pid, name);
        fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return -errno;
    }
    len = pread(fd, buf, PROCESS_TEXT - 1, 0); /* which has all of it */
    rc = len < 0 ? -errno : (int)len;
    if (rc >= 0)
        buf[rc] = 0;
    if (opens && kept && rc >= 0)
        *kept = fd;
    else if (opens)
        close(fd);
    return rc;
}

int process_stat_read(int proc, pid_t pid, struct process_stat *ret)
{
    char text[PROCESS_TEXT];
    int rc = process_files_read(proc, pid, "stat", NULL, text);

    return rc < 0 ? rc : process_parse_stat(text, ret);
}

int process_stat_here(pid_t pid, struct process_stat *ret)
{
    CLEANUP(closep) int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return proc < 0 ? -errno : process_stat_read(proc, pid, ret);
}
