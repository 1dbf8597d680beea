#include "run/job/thread.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/parse.h"
#include "probe/process/files.h"

int thread_parse_times(const char *text, struct thread_times *ret)
{
    struct thread_times t;
    int digits = parse_digits(text, 10, 20, &t.ran_ns);

    if (digits <= 0 || text[digits] != ' ')
        return -EINVAL;
    text += digits + 1;
    digits = parse_digits(text, 10, 20, &t.waited_ns);
    if (digits <= 0)
        return -EINVAL;
    *ret = t;
    return 0;
}

int thread_times(int proc, pid_t pid, struct thread_times *ret)
{
    char text[PROCESS_TEXT];
    int rc = process_files_read(proc, pid, "schedstat", NULL, text);

    return rc < 0 ? rc : thread_parse_times(text, ret);
}

size_t thread_others(int proc, pid_t pid, pid_t *tids, size_t n)
{
    char path[32];
    const char *name;
    size_t found = 0;
    uint64_t tid;
    DIR *dir;
    int fd;

    snprintf(path, sizeof(path), "%d/task", (int)pid);
    fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        closep(&fd);
        return 0;
    }
    while (found < n && folder_next(dir, &name) > 0)
        if (parse_u64(name, &tid) == 0 && (pid_t)tid != pid)
            tids[found++] = (pid_t)tid;
    closedir(dir);
    return found;
}

bool thread_is_running(int proc, pid_t tid)
{
    struct process_stat stat;

    return process_stat_read(proc, tid, &stat) == 0 && stat.state == 'R';
}

bool thread_is_file_wait(const char *function)
{
    /* fs/fuse/dev.c of Linux, lustre/ptlrpc/client.c of Lustre */
    static const char *const names[] = { "request_wait_answer", "fuse_", "ptlrpc_" };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (!strncmp(function, names[i], strlen(names[i])))
            return true;
    return false;
}

bool thread_waits_for_files(int proc, pid_t pid)
{
    char text[PROCESS_TEXT];

    return process_files_read(proc, pid, "wchan", NULL, text) > 0 && thread_is_file_wait(text);
}
