#include "run/job/thread.h"

#include <errno.h>
#include <string.h>

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
