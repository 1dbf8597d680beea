#include "queue/guard/strays.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/parse.h"
#include "base/str.h"

enum { ENVIRONMENT = 8 << 20 };

void strays_mark(char ret[STRAYS_MARK], int64_t id, pid_t guard)
{
    snprintf(ret, STRAYS_MARK, "%lld.%d", (long long)id, (int)guard);
}

/* Whether a process was started with a variable. What may not be read is nobody's. */
static bool has(int proc, const char *pid, const char *variable, struct str *text)
{
    char name[NAME_MAX + 16], part[16384];
    CLEANUP(closep) int fd = -1;
    ssize_t n;

    snprintf(name, sizeof(name), "%s/environ", pid);
    fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
    str_reset(text);
    str_add_char(text, 0);
    while (fd >= 0 && (n = read(fd, part, sizeof(part))) > 0)
        str_add_n(text, part, (size_t)n);
    return str_error(text) == 0 &&
           memmem(text->data, text->len, variable, strlen(variable + 1) + 2);
}

static size_t send_marked(const char *mark, int signal)
{
    CLEANUP(str_done) struct str text = STR_INIT(ENVIRONMENT);
    char variable[STRAYS_MARK + sizeof(QUEUE_GUARD_VARIABLE) + 2];
    const char *name;
    DIR *list = opendir("/proc");
    size_t n = 0;
    int rc;

    if (!list)
        return 1; /* cannot be told now */
    /* Between NUL bytes, as variables stand there. */
    snprintf(variable, sizeof(variable), "%c" QUEUE_GUARD_VARIABLE "=%s", 0, mark);
    while ((rc = folder_next(list, &name)) > 0) {
        uint64_t pid;

        if (parse_u64(name, &pid) < 0 || pid <= 1 || pid > INT_MAX || (pid_t)pid == getpid() ||
            !has(dirfd(list), name, variable, &text))
            continue;
        n++;
        if (signal)
            kill((pid_t)pid, signal);
    }
    closedir(list);
    return n + (rc < 0); /* those that were not read cannot be told either */
}

size_t strays_send(const struct strays *s, int signal)
{
    return *s->group ? control_group_send(s->group, signal) : send_marked(s->mark, signal);
}
