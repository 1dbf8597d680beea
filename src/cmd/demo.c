/* brim demo: eight accelerators that are not there, whose storage stalls: the page and top, for
 * those who have none. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "cmd/common/cmd.h"
#include "cmd/common/terminal.h"
#include "cmd/demo/machine.h"
#include "daemon/http/address.h"

enum { LINE = 256, ARGS = 12 };

enum { WRITE_MS = 100 };

struct demo_opts {
    const char *listen;
    int64_t stall_ns;
};

static const struct opt opts[] = {
    { OPT_STRING, 0, "listen", offsetof(struct demo_opts, listen), "ADDRESS:PORT",
      "where to serve the page (127.0.0.1, a free port)" },
    { OPT_DURATION, 0, "stall", offsetof(struct demo_opts, stall_ns), "TIME",
      "how long the storage keeps up (20s)", .least = OPT_S, .most = OPT_HOUR },
    { .kind = OPT_END },
};

static const struct demo_opts defaults = { .listen = "127.0.0.1:0", .stall_ns = 20 * NS_PER_S };

struct demo {
    struct demo_machine machine;
    sigset_t before; /* the signals that were blocked before */
    int alive[2];    /* a pipe that each process of the demo but the writer can write to */
    pid_t self, writer, agent, top;
};

/* ---- processes ---- */

/* In the child, which ends when we do. */
static void begin_child(const struct demo *d)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
    if (getppid() != d->self) /* before it was set */
        _exit(1);
    (void)fcntl(d->alive[1], F_SETFD, 0);
    sigprocmask(SIG_SETMASK, &d->before, NULL);
}

/* In the writer, which no signal of the terminal ends: until nobody of the demo is left. Who was
 * killed could not remove the folder. */
static void write_on(struct demo *d, const struct clock *clock)
{
    struct pollfd others = { .fd = d->alive[0] };
    int64_t begin = clock_monotonic_ns(clock);

    closep(&d->alive[1]);
    while (demo_machine_write(&d->machine, clock_monotonic_ns(clock) - begin) == 0)
        if (poll(&others, 1, WRITE_MS) > 0) {
            demo_machine_remove(&d->machine);
            _exit(0);
        }
    _exit(1);
}

static int start_writer(struct demo *d, const struct clock *clock, struct err *e)
{
    if (pipe2(d->alive, O_CLOEXEC) < 0)
        return err_set(e, -errno, "cannot make a pipe: %s", strerror(errno));
    d->writer = fork();
    if (d->writer == 0)
        write_on(d, clock);
    return d->writer < 0 ? err_set(e, -errno, "cannot start a process: %s", strerror(errno)) : 0;
}

/* Another command of brim, on that machine; out: its standard output, -1 for ours. */
static int start_brim(const struct demo *d, const char *const *words, int out, pid_t *ret,
                      struct err *e)
{
    char script[DEMO_PATH + 16];
    const char *line[ARGS] = { "brim", words[0], "--root", d->machine.folder, "--fake", script };
    char *argv[ARGS];
    size_t n = 6;
    pid_t pid;

    snprintf(script, sizeof(script), "%s/gpus.ini", d->machine.folder);
    for (words++; *words && n + 1 < ARRAY_SIZE(line); words++)
        line[n++] = *words;
    memcpy(argv, line, sizeof(argv)); /* execv() changes none of them */
    pid = fork();
    if (pid == 0) {
        begin_child(d);
        if (out >= 0)
            (void)dup2(out, STDOUT_FILENO);
        execv("/proc/self/exe", argv);
        _exit(1);
    }
    if (pid < 0)
        return err_set(e, -errno, "cannot start a process: %s", strerror(errno));
    *ret = pid;
    return 0;
}

/* "dashboard: http://127.0.0.1:43210/": the address; false when the agent ended before it. */
static bool read_address(int from, char address[LINE])
{
    static const char head[] = "dashboard: ";
    char line[LINE];
    FILE *f = fdopen(from, "re");
    bool found = false;

    if (!f) {
        close(from);
        return false;
    }
    while (!found && fgets(line, sizeof(line), f)) {
        line[strcspn(line, "\n")] = 0;
        found = !strncmp(line, head, sizeof(head) - 1);
    }
    (void)fclose(f);
    if (found)
        snprintf(address, LINE, "%s", line + sizeof(head) - 1);
    return found;
}

static int start_agent(struct demo *d, const char *listen, char address[LINE], struct err *e)
{
    char store[DEMO_PATH + 16];
    const char *const words[] = { "up", "--store", store, "--listen", listen, NULL };
    int ends[2], rc;

    snprintf(store, sizeof(store), "%s/agent.db", d->machine.folder);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_set(e, -errno, "cannot make a pipe: %s", strerror(errno));
    rc = start_brim(d, words, ends[1], &d->agent, e);
    close(ends[1]);
    if (rc < 0) {
        close(ends[0]);
        return rc;
    }
    return read_address(ends[0], address) ? 0 : EXIT_FAILED; /* it said why */
}

/* ---- until somebody ends it ---- */

static void stop(pid_t *pid, int number)
{
    if (*pid <= 0)
        return;
    (void)kill(*pid, number);
    while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
        ;
    *pid = 0;
}

/* The status of what ended, -1 while none has. */
static int ended(struct demo *d)
{
    pid_t *const pids[] = { &d->top, &d->agent, &d->writer };
    int status;

    for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
        if (*pids[i] > 0 && waitpid(*pids[i], &status, WNOHANG) == *pids[i]) {
            *pids[i] = 0;
            return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
        }
    return -1;
}

static int wait_end(struct demo *d, const sigset_t *watched)
{
    int number, status;

    for (;;) {
        if (sigwait(watched, &number) != 0)
            continue;
        if (number != SIGCHLD)
            return EXIT_OK;
        status = ended(d);
        if (status >= 0)
            return status ? EXIT_FAILED : EXIT_OK;
    }
}

static int show(struct demo *d, const struct app *app, const struct demo_opts *o,
                const sigset_t *watched, struct err *e)
{
    static const char *const top[] = { "top", NULL };
    char address[LINE] = "", name[LINE + 8];
    int rc = demo_machine_make(&d->machine, o->stall_ns, e);

    if (rc == 0)
        rc = start_writer(d, app->clock, e);
    if (rc == 0)
        rc = start_agent(d, o->listen, address, e);
    if (rc != 0)
        return rc;
    printf("page: %s\n"
           "eight accelerators and a disk that are not there: in %.3g s the disk stalls for %d s\n",
           address, clock_seconds(o->stall_ns), DEMO_STALL_S);
    fflush(stdout);
    if (terminal_is_one()) {
        snprintf(name, sizeof(name), "demo %s", address);
        rc = demo_machine_call(&d->machine, name);
        rc = rc < 0 ? err_set(e, rc, "cannot write into %s: %s", d->machine.folder, strerror(-rc))
                    : start_brim(d, top, -1, &d->top, e);
    }
    return rc < 0 ? rc : wait_end(d, watched);
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    struct demo d = { .machine = { .proc = -1 }, .alive = { -1, -1 }, .self = getpid() };
    const struct demo_opts *o = values;
    union http_address at;
    struct err why = { "" };
    sigset_t watched;
    int rc;

    (void)operands;
    if (http_address_parse(o->listen, &at, &why) < 0)
        return err_usage(e, "--listen: %s", why.text);
    if (!http_address_is_loopback(&at))
        return err_usage(e, "--listen: '%s' is not a loopback address, where the demo stays",
                         o->listen);
    sigemptyset(&watched);
    sigaddset(&watched, SIGINT);
    sigaddset(&watched, SIGTERM);
    sigaddset(&watched, SIGHUP);
    sigaddset(&watched, SIGCHLD);
    sigprocmask(SIG_BLOCK, &watched, &d.before);
    rc = show(&d, app, o, &watched, e);
    stop(&d.top, SIGTERM);
    stop(&d.agent, SIGTERM);
    stop(&d.writer, SIGKILL);
    demo_machine_remove(&d.machine);
    closep(&d.alive[0]);
    closep(&d.alive[1]);
    sigprocmask(SIG_SETMASK, &d.before, NULL);
    return rc;
}

const struct cmd cmd_demo = {
    .name = "demo",
    .args = "",
    .summary = "eight accelerators that are not there: the page and top, to look around",
    .about =
        "Show what brim shows where there are accelerators: eight of them, a disk and CPUs, all\n"
        "of a script. For 20 seconds the disk keeps them busy, then it stalls for 40, and so\n"
        "on. The page is at the address that is printed; in a terminal 'brim top' runs on the\n"
        "same machine, and q ends both. Nothing of this machine is read, changed or kept.",
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct demo_opts),
    .run = run,
};
