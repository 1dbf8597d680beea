#include "slurm/account/listing.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum { OUT, SAID, FDS };
enum { NOT_FOUND = 127, NOT_RUN = 126, LOOK_MS = 20 };

/* A command while it runs. */
struct running {
    const struct slurm_listing *of;
    pid_t pid;
    struct pollfd fds[FDS];
    int64_t until_ns;
    char *said;
    size_t said_len;
    char line[SLURM_LISTING_LINE];
    size_t len;
    bool too_long;
};

static void become(const struct slurm_listing *l, int out, int said, pid_t parent)
{
    struct sigaction act = { .sa_handler = SIG_DFL };
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    char **plain = NULL;

    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    (void)sigaction(SIGPIPE, &act, NULL);
    if (getppid() != parent || null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 ||
        dup2(said, 2) < 0 || setenv("SLURM_TIME_FORMAT", "%s", 1) < 0 ||
        (l->conf && setenv("SLURM_CONF", l->conf, 1) < 0))
        _exit(1);
    memcpy(&plain, &l->argv, sizeof(plain)); /* execvp() writes to nothing of it */
    execvp(plain[0], plain);
    _exit(errno == ENOENT ? NOT_FOUND : NOT_RUN);
}

static int start(struct running *r, struct err *e)
{
    int out[2] = { -1, -1 }, said[2] = { -1, -1 };
    pid_t parent = getpid();

    r->pid = -1;
    if (pipe2(out, O_CLOEXEC) == 0 && pipe2(said, O_CLOEXEC) == 0)
        r->pid = fork();
    if (r->pid == 0)
        become(r->of, out[1], said[1], parent);
    if (r->pid < 0) {
        int rc = err_set(e, -errno, "cannot run %s: %s", r->of->argv[0], strerror(errno));

        closep(&out[0]);
        closep(&said[0]);
        closep(&out[1]);
        closep(&said[1]);
        return rc;
    }
    (void)setpgid(r->pid, r->pid); /* whoever of both is first */
    closep(&out[1]);
    closep(&said[1]);
    r->fds[OUT] = (struct pollfd){ .fd = out[0], .events = POLLIN };
    r->fds[SAID] = (struct pollfd){ .fd = said[0], .events = POLLIN };
    return 0;
}

static void close_end(struct running *r, int which)
{
    closep(&r->fds[which].fd);
    r->fds[which].fd = -1;
}

static void be_patient(struct running *r)
{
    r->until_ns = clock_monotonic_ns(&clock_system) + r->of->patience_ms * NS_PER_MS;
}

static int64_t left_ms(const struct running *r)
{
    return (r->until_ns - clock_monotonic_ns(&clock_system)) / NS_PER_MS;
}

static int give_line(struct running *r)
{
    bool whole = !r->too_long;

    r->line[r->len] = '\0';
    r->len = 0;
    r->too_long = false;
    return r->of->line(r->of->ctx, whole ? r->line : NULL);
}

static int take_text(struct running *r, const char *text, size_t n)
{
    int rc = 0;

    while (n > 0 && rc >= 0) {
        const char *newline = memchr(text, '\n', n);
        size_t part = newline ? (size_t)(newline - text) : n;

        if (r->len + part >= sizeof(r->line))
            r->too_long = true;
        else
            memcpy(r->line + r->len, text, part);
        r->len += r->too_long ? 0 : part;
        part += newline != NULL;
        text += part;
        n -= part;
        rc = newline ? give_line(r) : 0;
    }
    return rc;
}

/* What is there now of one of both. At its end its descriptor is -1. */
static int take_part(struct running *r, int which)
{
    char part[16384];
    ssize_t n;

    if (r->fds[which].fd < 0 || !r->fds[which].revents)
        return 0;
    n = read(r->fds[which].fd, part, sizeof(part));
    if (n < 0 && errno == EINTR)
        return 0;
    if (n <= 0) {
        close_end(r, which);
        return which == OUT && (r->len > 0 || r->too_long) ? give_line(r) : 0;
    }
    be_patient(r);
    if (which == OUT)
        return take_text(r, part, (size_t)n);
    n = MIN(n, (ssize_t)(SLURM_LISTING_SAID - 1 - r->said_len));
    memcpy(r->said + r->said_len, part, (size_t)n);
    r->said_len += (size_t)n;
    return 0;
}

static int take_all(struct running *r)
{
    int rc = 0;

    while (rc >= 0 && (r->fds[OUT].fd >= 0 || r->fds[SAID].fd >= 0)) {
        int64_t left = left_ms(r);

        if (left <= 0)
            return -ETIMEDOUT;
        if (poll(r->fds, FDS, (int)MIN(left, INT64_C(1000))) < 0 && errno != EINTR)
            return -errno;
        rc = take_part(r, OUT);
        if (rc >= 0)
            rc = take_part(r, SAID);
    }
    return MIN(rc, 0);
}

/* Whether it has ended. What is left of it keeps its number, so that its group is nobody else's. */
static bool has_ended(const struct running *r)
{
    siginfo_t info = { .si_pid = 0 };

    return waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid;
}

/* One that has closed what it writes to is about to end, or hangs. */
static int await(struct running *r, int rc)
{
    int status = 0;

    while (rc == 0 && !has_ended(r)) {
        if (left_ms(r) <= 0)
            rc = -ETIMEDOUT;
        else
            (void)poll(NULL, 0, LOOK_MS);
    }
    (void)kill(-r->pid, SIGKILL); /* whom it leaves behind, too */
    while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (rc < 0)
        return rc;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int slurm_listing_run(const struct slurm_listing *l, char said[SLURM_LISTING_SAID], struct err *e)
{
    CLEANUP(freep) struct running *r = calloc(1, sizeof(*r));
    int rc;

    said[0] = '\0';
    if (!r)
        return err_nomem(e);
    r->of = l;
    r->said = said;
    rc = start(r, e);
    if (rc < 0)
        return rc;
    be_patient(r);
    rc = await(r, take_all(r));
    close_end(r, OUT);
    close_end(r, SAID);
    said[r->said_len] = '\0';
    if (rc == NOT_FOUND)
        return err_set(e, -ENOENT, "there is no %s: install Slurm's client commands", l->argv[0]);
    if (rc == -ETIMEDOUT)
        return err_set(e, rc, "%s has said nothing for %.4g s", l->argv[0],
                       (double)l->patience_ms / 1000);
    return rc;
}
