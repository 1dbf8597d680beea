#include "bench/child.h"

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
#include "base/compiler.h"
#include "model/machine/cpulist.h"
#include "run/job/binding.h"

enum { LOOK_MS = 200 };

struct child {
    int ready, go; /* the child's ends; -1 once used */
    int copy;
};

struct answer {
    int rc;
    struct err e;
    _Alignas(16) unsigned char result[CHILD_RESULT];
};

struct copy {
    pid_t pid;
    int fd; /* its answer comes here; -1: it has come */
    size_t got;
    struct answer answer;
};

struct group {
    const struct child_work *w;
    struct copy *copies;
    int ready[2], go[2];
    int64_t end_ns;
};

void child_ready(struct child *c)
{
    char byte = 0;

    if (c->go < 0)
        return;
    /* both ends close at once when the parent is gone */
    if (write(c->ready, &byte, 1) == 1)
        while (read(c->go, &byte, 1) < 0 && errno == EINTR)
            ;
    close(c->ready);
    close(c->go);
    c->ready = c->go = -1;
}

int child_copy(const struct child *c)
{
    return c->copy;
}

static void bind_copy(const struct child_work *w, int i)
{
    char one[16];
    int cpu;

    if (w->copies == 1 && w->cpus)
        (void)binding_bind(w->cpus);
    if (w->copies == 1 || !w->cpus)
        return;
    cpu = cpulist_first(w->cpus);
    for (; i > 0 && cpu >= 0; i--)
        cpu = cpulist_next(w->cpus, cpu);
    snprintf(one, sizeof(one), "%d", cpu);
    if (cpu >= 0)
        (void)binding_bind(one);
}

/* In the child: never returns. */
static void be_copy(const struct group *g, int i, int out)
{
    struct answer *a = &g->copies[i].answer; /* of this process: the other one reads it from out */
    struct child c = { .ready = g->ready[1], .go = g->go[0], .copy = i };
    const char *at = (const char *)a;
    size_t left = sizeof(*a);
    ssize_t n = 1;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    close(g->go[1]);
    close(g->ready[0]);
    bind_copy(g->w, i);
    a->rc = g->w->run(&c, g->w->arg, a->result, &a->e);
    child_ready(&c); /* one that failed before does not hold up the others */
    for (; left > 0 && n > 0; left -= (size_t)n, at += n)
        n = write(out, at, left);
    _exit(0);
}

static int start(struct group *g, int i, struct err *e)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_set(e, -errno, "cannot start a process: %s", strerror(errno));
    g->copies[i].pid = fork();
    if (g->copies[i].pid == 0)
        be_copy(g, i, ends[1]);
    close(ends[1]);
    g->copies[i].fd = ends[0];
    if (g->copies[i].pid > 0)
        return 0;
    g->copies[i].pid = 0;
    return err_set(e, -errno, "cannot start a process: %s", strerror(errno));
}

static int left_ms(const struct group *g)
{
    int64_t left = (g->end_ns - clock_monotonic_ns(&clock_system)) / NS_PER_MS;

    return left < 0 ? 0 : (int)MIN(left, (int64_t)1000000);
}

static int too_late(const struct group *g, struct err *e)
{
    return err_set(e, -ETIMEDOUT, "%s: no result within %lld s", g->w->what,
                   (long long)(g->w->limit_ns / NS_PER_S));
}

/* Whether one has ended: the others would wait for it for ever. */
static bool one_ended(const struct group *g)
{
    for (int i = 0; i < g->w->copies; i++) {
        siginfo_t info = { .si_pid = 0 };

        if (waitid(P_PID, (id_t)g->copies[i].pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid)
            return true;
    }
    return false;
}

/* Until all have said that they are ready, or one has ended. */
static int wait_ready(struct group *g, struct err *e)
{
    int ready = 0;

    closep(&g->ready[1]);
    g->ready[1] = -1;
    while (ready < g->w->copies) {
        struct pollfd fd = { .fd = g->ready[0], .events = POLLIN };
        char bytes[64];
        ssize_t n;

        if (left_ms(g) == 0)
            return too_late(g, e);
        if (poll(&fd, 1, MIN(left_ms(g), LOOK_MS)) == 0 && one_ended(g))
            break;
        if (!fd.revents)
            continue;
        n = read(g->ready[0], bytes, sizeof(bytes));
        if (n == 0)
            break; /* the last of them is gone */
        ready += n > 0 ? (int)n : 0;
    }
    close(g->go[1]);
    g->go[1] = -1;
    return 0;
}

static int how_it_ended(struct group *g, struct copy *c, struct err *e)
{
    int status = 0;

    waitpid(c->pid, &status, 0);
    c->pid = 0;
    if (WIFSIGNALED(status))
        return err_set(e, -EIO, "%s: the process that used it was killed by signal %d (%s)",
                       g->w->what, WTERMSIG(status), strsignal(WTERMSIG(status)));
    return err_set(e, -EIO, "%s: the process that used it ended without a result", g->w->what);
}

static int wait_answer(struct group *g, struct copy *c, struct err *e)
{
    while (c->got < sizeof(c->answer)) {
        struct pollfd fd = { .fd = c->fd, .events = POLLIN };
        ssize_t n;

        if (poll(&fd, 1, left_ms(g)) == 0)
            return too_late(g, e);
        n = read(c->fd, (char *)&c->answer + c->got, sizeof(c->answer) - c->got);
        if (n == 0)
            return how_it_ended(g, c, e);
        c->got += n > 0 ? (size_t)n : 0;
    }
    return c->answer.rc < 0 ? err_set(e, c->answer.rc, "%s", c->answer.e.text) : 0;
}

static void end_all(struct group *g)
{
    for (int i = 0; i < g->w->copies; i++) {
        if (g->copies[i].pid > 0) {
            kill(g->copies[i].pid, SIGKILL);
            waitpid(g->copies[i].pid, NULL, 0);
        }
        closep(&g->copies[i].fd);
    }
    closep(&g->ready[0]);
    closep(&g->ready[1]);
    closep(&g->go[0]);
    closep(&g->go[1]);
}

static int run_all(struct group *g, unsigned char *results, struct err *e)
{
    int rc = 0;

    if (pipe2(g->ready, O_CLOEXEC) < 0 || pipe2(g->go, O_CLOEXEC) < 0)
        return err_set(e, -errno, "cannot start a process: %s", strerror(errno));
    for (int i = 0; i < g->w->copies && rc == 0; i++)
        rc = start(g, i, e);
    if (rc == 0)
        rc = wait_ready(g, e);
    for (int i = 0; i < g->w->copies && rc == 0; i++) {
        rc = wait_answer(g, &g->copies[i], e);
        if (rc == 0)
            memcpy(results + (size_t)i * g->w->size, g->copies[i].answer.result, g->w->size);
    }
    return rc;
}

int child_run(const struct child_work *w, void *results, struct err *e)
{
    CLEANUP(freep) struct copy *copies = calloc((size_t)w->copies, sizeof(*copies));
    struct group g = { .w = w, .copies = copies, .ready = { -1, -1 }, .go = { -1, -1 } };
    int rc;

    if (!copies)
        return err_nomem(e);
    for (int i = 0; i < w->copies; i++)
        copies[i].fd = -1;
    g.end_ns = clock_monotonic_ns(&clock_system) + w->limit_ns;
    rc = run_all(&g, results, e);
    end_all(&g);
    return rc;
}
