#include "slurm/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "slurm/serve.h"
#include "slurm/wire.h"

enum { OUR_FD = 3, FDS = 1024 };

static void close_from(int from)
{
    if (syscall(SYS_close_range, from, ~0U, 0) == 0)
        return;
    for (int fd = from; fd < FDS; fd++)
        close(fd);
}

/* Only what it needs is left: its socket, and where it says what goes wrong. */
static int keep_own(int fd, int said)
{
    int null = open("/dev/null", O_RDWR);
    int high = fcntl(fd, F_DUPFD, 16), high_said = fcntl(said, F_DUPFD, 16);

    if (null < 0 || high < 0 || high_said < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
        dup2(high_said, 2) < 0 || dup2(high, OUR_FD) < 0)
        return -1;
    close_from(OUR_FD + 1);
    return fcntl(OUR_FD, F_SETFD, FD_CLOEXEC);
}

static void become_worker(int fd, int said, pid_t parent, const struct slurm_config *config)
{
    struct sigaction act = { .sa_handler = SIG_DFL };
    sigset_t none;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    (void)prctl(PR_SET_NAME, "brim-slurm", 0, 0, 0);
    if (getppid() != parent || keep_own(fd, said) < 0)
        _exit(1);
    for (int i = 1; i < NSIG; i++)
        (void)sigaction(i, &act, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (config->conf && setenv("SLURM_CONF", config->conf, 1) < 0)
        _exit(1);
    slurm_serve(OUR_FD, config);
    _exit(0);
}

int slurm_worker_start(struct slurm_worker *ret, const struct slurm_config *config, struct err *e)
{
    int ends[2] = { -1, -1 }, said[2] = { -1, -1 };
    pid_t parent = getpid(), pid = -1;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0 &&
        pipe2(said, O_CLOEXEC | O_NONBLOCK) == 0)
        pid = fork();
    if (pid == 0)
        become_worker(ends[1], said[1], parent, config);
    if (pid < 0) {
        (void)err_set(e, -errno, "cannot start a process for Slurm: %s", strerror(errno));
        pid = -errno;
        closep(&ends[0]);
        closep(&said[0]);
    }
    closep(&ends[1]);
    closep(&said[1]);
    if (pid < 0)
        return pid;
    *ret = (struct slurm_worker){ pid, ends[0], said[0] };
    return 0;
}

void slurm_worker_stop(struct slurm_worker *w)
{
    if (!w->pid)
        return;
    kill(w->pid, SIGKILL);
    while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    close(w->fd);
    close(w->said);
    *w = (struct slurm_worker){ 0 };
}

bool slurm_worker_gone(const struct slurm_worker *w)
{
    struct pollfd fd = { .fd = w->fd, .events = POLLIN };

    return poll(&fd, 1, 0) != 0;
}

int slurm_worker_ask(const struct slurm_worker *w, enum slurm_question what, const struct str *body)
{
    struct slurm_message m = { body ? (uint32_t)body->len : 0, (int32_t)what };
    ssize_t n = send(w->fd, &m, sizeof(m), MSG_NOSIGNAL);

    if (n == (ssize_t)sizeof(m) && m.length)
        n = send(w->fd, body->data, body->len, MSG_NOSIGNAL) == (ssize_t)body->len ? n : -1;
    return n == (ssize_t)sizeof(m) ? 0 : -EPIPE;
}

/* At least one byte, at most n; how many. */
static int hear_some(const struct slurm_worker *w, int64_t until_ns, void *to, size_t n)
{
    struct pollfd fd = { .fd = w->fd, .events = POLLIN };
    int64_t left;
    ssize_t got;
    int rc;

    do {
        left = (until_ns - clock_monotonic_ns(&clock_system)) / NS_PER_MS;
        rc = left > 0 ? poll(&fd, 1, (int)MIN(left, INT64_C(1000))) : 0;
        if (rc == 0 && left <= 0)
            return -ETIMEDOUT;
    } while (rc == 0 || (rc < 0 && errno == EINTR));
    got = recv(w->fd, to, n, 0);
    return got > 0 ? (int)got : -EPIPE;
}

static int hear_all(const struct slurm_worker *w, int64_t until_ns, void *to, size_t n)
{
    char *at = to;
    int got;

    for (; n > 0; n -= (size_t)got, at += got) {
        got = hear_some(w, until_ns, at, n);
        if (got < 0)
            return got;
    }
    return 0;
}

int slurm_worker_hear(const struct slurm_worker *w, int64_t until_ns, int32_t *code,
                      struct str *body)
{
    struct slurm_message m = { 0 };
    char part[16384];
    int rc = hear_all(w, until_ns, &m, sizeof(m)), got;

    str_reset(body);
    if (rc == 0 && m.length > SLURM_WIRE_MOST)
        return -EPROTO;
    while (rc == 0 && m.length > 0) {
        got = hear_some(w, until_ns, part, MIN((size_t)m.length, sizeof(part)));
        if (got < 0)
            return got;
        str_add_n(body, part, (size_t)got);
        m.length -= (uint32_t)got;
    }
    *code = m.code;
    return rc == 0 ? str_error(body) : rc;
}

/* Keep the last line of text that has anything in it. */
static void keep_line(char *text, char *ret, size_t size)
{
    char *save = NULL;

    for (char *line = strtok_r(text, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save))
        if (line[strspn(line, " \t")])
            snprintf(ret, size, "%s", line);
}

void slurm_worker_last(const struct slurm_worker *w, char *ret, size_t size)
{
    struct pollfd fd = { .fd = w->said, .events = POLLIN };
    char text[4096];
    ssize_t n;

    ret[0] = 0;
    while (poll(&fd, 1, 0) > 0 && (n = read(w->said, text, sizeof(text) - 1)) > 0) {
        text[n] = 0;
        keep_line(text, ret, size);
    }
}
