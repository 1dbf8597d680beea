#include "slurm/user/client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "slurm/user/order.h"

enum { WRITTEN_MOST = 16 << 20, PART = 16384, NOT_FOUND = 127, HIGH = 16 };

/* The parts of a text that is in the program are written to nowhere by execvpe(). */
static char *const *plain(const char *const *argv)
{
    char *const *ret = NULL;

    memcpy(&ret, &argv, sizeof(ret));
    return ret;
}

static void become(const char *const *argv, char *const *env, const int fds[3], pid_t parent)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    (void)signal(SIGPIPE, SIG_DFL);
    if (getppid() != parent || null < 0 || dup2(null, 0) < 0 || dup2(fds[0], 1) < 0 ||
        dup2(fds[1], 2) < 0 || (fds[2] >= 0 && dup2(fds[2], SLURM_ORDER_FD) < 0))
        _exit(1);
    execvpe(argv[0], plain(argv), env);
    _exit(errno == ENOENT ? NOT_FOUND : 1);
}

/* A file of no name that has the script, above the descriptors that a child sets. */
static int make_script(const char *script)
{
    size_t len = strlen(script);
    int fd = memfd_create("brim-submit", MFD_CLOEXEC), high;

    if (fd < 0)
        return -errno;
    high = write(fd, script, len) == (ssize_t)len && lseek(fd, 0, SEEK_SET) == 0
               ? fcntl(fd, F_DUPFD_CLOEXEC, HIGH)
               : -1;
    high = high < 0 ? -errno : high;
    close(fd);
    return high;
}

/* A pipe whose ends are above those, too. */
static int make_pipe(int *read_end, int *write_end)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    *read_end = ends[0];
    *write_end = fcntl(ends[1], F_DUPFD_CLOEXEC, HIGH);
    close(ends[1]);
    return *write_end < 0 ? -errno : 0;
}

int slurm_client_start(struct slurm_client *ret, const char *const *argv, char *const *env,
                       const char *script, struct err *e)
{
    struct slurm_client c = { .name = argv[0],
                              .fds = { -1, -1 },
                              .texts = { STR_INIT(WRITTEN_MOST), STR_INIT(WRITTEN_MOST) } };
    int fds[3] = { -1, -1, -1 }, rc = 0;
    pid_t parent = getpid(), pid = -1;

    if (script)
        rc = fds[2] = make_script(script);
    for (int i = 0; rc >= 0 && i < 2; i++)
        rc = make_pipe(&c.fds[i], &fds[i]);
    if (rc >= 0) {
        pid = fork();
        rc = pid < 0 ? -errno : 0;
    }
    if (pid == 0)
        become(argv, env, fds, parent);
    for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
        closep(&fds[i]);
    c.pid = MAX(pid, 0);
    if (rc < 0) {
        slurm_client_done(&c);
        return err_set(e, rc, "cannot run %s: %s", argv[0], strerror(-rc));
    }
    *ret = c;
    return 0;
}

static void shut(int *fd)
{
    closep(fd);
    *fd = -1;
}

/* What is there now of one of both. */
static void take_part(struct slurm_client *c, int i, short events)
{
    char part[PART];
    ssize_t n;

    if (c->fds[i] < 0 || !events)
        return;
    n = read(c->fds[i], part, sizeof(part));
    if (n > 0)
        str_add_n(&c->texts[i], part, (size_t)n);
    else if (n == 0 || errno != EINTR)
        shut(&c->fds[i]);
}

/* The last line that it wrote to stderr; "". */
static void last_line(const struct slurm_client *c, char *ret, size_t size)
{
    const char *text = str_text(&c->texts[1]), *end = text + strlen(text), *from;

    while (end > text && end[-1] == '\n')
        end--;
    for (from = end; from > text && from[-1] != '\n'; from--)
        ;
    snprintf(ret, size, "%.*s", (int)(end - from), from);
}

static int give_up(const struct slurm_client *c, int64_t patience_ms, struct err *e)
{
    char line[256];

    last_line(c, line, sizeof(line));
    return err_set(e, -ETIMEDOUT, "Slurm does not answer within %.4g s%s%s; look at slurmctld",
                   (double)patience_ms / 1000, line[0] ? ": " : "", line);
}

int slurm_client_hear(struct slurm_client *c, bool line, int64_t patience_ms, struct err *e)
{
    int64_t until_ns = clock_monotonic_ns(&clock_system) + patience_ms * NS_PER_MS;

    while ((c->fds[0] >= 0 || c->fds[1] >= 0) && !(line && strchr(str_text(&c->texts[0]), '\n'))) {
        struct pollfd fds[2] = { { .fd = c->fds[0], .events = POLLIN },
                                 { .fd = c->fds[1], .events = POLLIN } };
        int64_t left_ms = (until_ns - clock_monotonic_ns(&clock_system)) / NS_PER_MS;
        int n;

        n = poll(fds, 2, patience_ms < 0 ? -1 : (int)MIN(MAX(left_ms, 0), INT64_C(1000)));
        if (n == 0 && left_ms <= 0)
            return give_up(c, patience_ms, e);
        if (n < 0 && errno != EINTR)
            return err_set(e, -errno, "%s: %s", c->name, strerror(errno));
        for (int i = 0; n > 0 && i < 2; i++)
            take_part(c, i, fds[i].revents);
    }
    return str_error(&c->texts[0]) || str_error(&c->texts[1])
               ? err_set(e, -EFBIG, "%s writes more than anybody reads", c->name)
               : 0;
}

int slurm_client_end(struct slurm_client *c, struct err *e)
{
    int status = 0;

    while (waitpid(c->pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_set(e, -errno, "%s: %s", c->name, strerror(errno));
    c->pid = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND && !c->texts[1].len)
        return err_set(e, -ENOENT,
                       "there is no %s: install Slurm's client commands, or use "
                       "--engine local",
                       c->name);
    return WIFEXITED(status)
               ? WEXITSTATUS(status)
               : err_set(e, -EIO, "%s was killed by signal %d", c->name, WTERMSIG(status));
}

void slurm_client_done(struct slurm_client *c)
{
    if (c->pid) {
        kill(c->pid, SIGKILL);
        while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    for (int i = 0; i < 2; i++) {
        shut(&c->fds[i]);
        str_done(&c->texts[i]);
    }
    *c = (struct slurm_client)SLURM_CLIENT_INIT;
}
