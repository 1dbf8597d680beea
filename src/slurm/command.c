#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "slurm/commands.h"

enum { SAID_MOST = 64 << 10, PART = 65536, NOT_FOUND = 127 };

static void become(const char *const *argv, int out, int said, pid_t parent)
{
    char **plain = NULL;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent || dup2(out, 1) < 0 || dup2(said, 2) < 0)
        _exit(1);
    memcpy(&plain, &argv, sizeof(plain)); /* execvp() writes to nothing of it */
    execvp(plain[0], plain);
    _exit(NOT_FOUND);
}

/* What is there now of one of both; false at its end. */
static bool take_part(struct pollfd *fd, struct str *to, char *part)
{
    ssize_t n;

    if (!fd->revents)
        return true;
    n = read(fd->fd, part, PART);
    if (n > 0)
        str_add_n(to, part, (size_t)n);
    return n > 0 || (n < 0 && errno == EINTR);
}

static int take_all(int out, int said, struct str *text, struct str *complaint)
{
    struct pollfd fds[2] = { { .fd = out, .events = POLLIN }, { .fd = said, .events = POLLIN } };
    CLEANUP(freep) char *part = malloc(PART);

    while (part && (fds[0].fd >= 0 || fds[1].fd >= 0)) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return -errno;
        if (!take_part(&fds[0], text, part))
            fds[0].fd = -1;
        if (!take_part(&fds[1], complaint, part))
            fds[1].fd = -1;
    }
    return part ? str_error(text) : -ENOMEM;
}

static void last_line(struct str *text, char *ret, size_t size)
{
    char *save = NULL;

    ret[0] = 0;
    if (!text->data)
        return;
    for (char *l = strtok_r(text->data, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
        snprintf(ret, size, "%s", l);
}

static int await(pid_t pid, const char *name, struct err *e)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_set(e, -errno, "%s: %s", name, strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
        return err_set(e, -ENOENT, "there is no %s: install Slurm's client commands", name);
    return WIFEXITED(status)
               ? WEXITSTATUS(status)
               : err_set(e, -EIO, "%s was killed by signal %d", name, WTERMSIG(status));
}

int slurm_command(const char *const *argv, struct str *out, char *said, size_t size, struct err *e)
{
    CLEANUP(str_done) struct str complaint = STR_INIT(SAID_MOST);
    int outs[2] = { -1, -1 }, saids[2] = { -1, -1 }, rc, status;
    pid_t parent = getpid(), pid = -1;

    str_reset(out);
    if (pipe2(outs, O_CLOEXEC) == 0 && pipe2(saids, O_CLOEXEC) == 0)
        pid = fork();
    if (pid == 0)
        become(argv, outs[1], saids[1], parent);
    rc = pid < 0 ? err_set(e, -errno, "cannot run %s: %s", argv[0], strerror(errno)) : 0;
    closep(&outs[1]);
    closep(&saids[1]);
    if (pid > 0) {
        rc = take_all(outs[0], saids[0], out, &complaint);
        if (rc < 0)
            kill(pid, SIGKILL);
        status = await(pid, argv[0], e);
        rc = rc < 0 ? err_set(e, rc, "%s: %s", argv[0], strerror(-rc)) : status;
    }
    closep(&outs[0]);
    closep(&saids[0]);
    last_line(&complaint, said, size);
    return rc;
}
