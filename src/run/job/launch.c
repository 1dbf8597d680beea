/* Whose group the job runs in:
 *
 *   we are alone in the foreground of a terminal, in and out: a group of its own that gets the
 *   terminal, so that Ctrl-C and Ctrl-Z reach the job alone, once
 *   we are in the foreground beside others (brim run ... | less) or with files as standard input
 * or   output: our group, since the terminal belongs to all of it; what the terminal sends
 * reaches the   job without us
 *   else (batch, background): a group of its own; what is sent to us is passed on */
#include "run/job/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "run/job/binding.h"

/* Passed on to the job. SIGKILL and SIGSTOP cannot be. */
static const int passed[] = { SIGHUP,  SIGINT,   SIGQUIT, SIGTERM, SIGUSR1,
                              SIGUSR2, SIGWINCH, SIGTSTP, SIGALRM, SIGURG };

/* Kept from us: writing to what is gone, and handling a terminal that is not ours now. */
static const int held[] = { SIGPIPE, SIGTTOU, SIGTTIN };

int launch_init(struct launch *l, struct err *e)
{
    sigset_t set, watched;

    *l = (struct launch){ .tty = -1, .signals = -1 };
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    sigaddset(&watched, SIGCONT);
    for (size_t i = 0; i < ARRAY_SIZE(passed); i++)
        sigaddset(&watched, passed[i]);
    set = watched;
    for (size_t i = 0; i < ARRAY_SIZE(held); i++)
        sigaddset(&set, held[i]);
    if (sigprocmask(SIG_BLOCK, &set, &l->before) < 0)
        return err_set(e, -errno, "signals: %s", strerror(errno));
    l->signals = signalfd(-1, &watched, SFD_NONBLOCK | SFD_CLOEXEC);
    if (l->signals < 0)
        return err_set(e, -errno, "signals: %s", strerror(errno));
    /* a shell may have left it ignored, and children would vanish without a status then */
    signal(SIGCHLD, SIG_DFL);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    l->tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    return 0;
}

void launch_done(struct launch *l)
{
    if (l->signals >= 0)
        (void)sigprocmask(SIG_SETMASK, &l->before, NULL);
    closep(&l->tty);
    closep(&l->signals);
    l->tty = l->signals = -1;
}

static bool in_foreground(const struct launch *l)
{
    return l->tty >= 0 && tcgetpgrp(l->tty) == getpgrp();
}

/* In the child: never returns. */
static void become_job(const struct launch *l, bool foreground, char *const *argv, char *const *env,
                       int told)
{
    ssize_t written;
    int error;

    if (l->own_group)
        setpgid(0, 0);
    if (foreground)
        tcsetpgrp(l->tty, getpid());
    if (l->cpus)
        (void)binding_bind(l->cpus); /* else it runs where it would have without */
    sigprocmask(SIG_SETMASK, &l->before, NULL);
    execvpe(argv[0], argv, env);
    error = errno;
    written = write(told, &error, sizeof(error));
    _exit(written == sizeof(error) && error != ENOENT ? LAUNCH_NOT_EXECUTABLE : LAUNCH_NOT_FOUND);
}

static int not_started(const char *name, int error, struct err *e)
{
    if (error == ENOENT || error == ENOTDIR)
        return err_set(e, LAUNCH_NOT_FOUND, "%s: %s", name,
                       strchr(name, '/') ? strerror(error) : "command not found");
    return err_set(e, LAUNCH_NOT_EXECUTABLE, "%s: %s", name, strerror(error));
}

int launch_start(struct launch *l, char *const *argv, char *const *env, struct err *e)
{
    bool foreground = in_foreground(l) && getpid() == getpgrp() && isatty(0) && isatty(1) &&
                      !l->shared;
    int told[2], error = 0;
    ssize_t got;

    l->own_group = foreground || !in_foreground(l);
    if (pipe2(told, O_CLOEXEC) < 0)
        return err_set(e, -errno, "cannot start a process: %s", strerror(errno));
    l->pid = fork();
    if (l->pid == 0)
        become_job(l, foreground, argv, env, told[1]);
    if (l->pid < 0)
        error = errno;
    close(told[1]);
    if (l->pid < 0) {
        close(told[0]);
        return err_set(e, -error, "cannot start a process: %s", strerror(error));
    }
    if (l->own_group)
        setpgid(l->pid, l->pid); /* here too: whoever comes first */
    if (foreground)
        tcsetpgrp(l->tty, l->pid);
    do
        got = read(told[0], &error, sizeof(error));
    while (got < 0 && errno == EINTR);
    close(told[0]);
    if (got != sizeof(error))
        return 0;
    waitpid(l->pid, NULL, 0);
    if (foreground)
        tcsetpgrp(l->tty, getpgrp());
    return not_started(argv[0], error, e);
}

void launch_tty(const struct launch *l)
{
    if (l->own_group && !l->ended && in_foreground(l))
        tcsetpgrp(l->tty, l->pid);
}

/* The terminal is ours again when it was the job's. */
static void take_tty(const struct launch *l)
{
    if (l->own_group && l->tty >= 0 && tcgetpgrp(l->tty) == l->pid)
        tcsetpgrp(l->tty, getpgrp());
}

static void go_on(const struct launch *l)
{
    launch_tty(l);
    kill(l->own_group ? -l->pid : l->pid, SIGCONT);
}

/* The job was stopped at a terminal: so do we, and the shell sees it. Where there is no shell that
 * could continue us the kernel drops the signal, and the job goes on. */
static void stop_too(const struct launch *l)
{
    sigset_t stop;

    if (l->tty < 0)
        return;
    take_tty(l);
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    raise(SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, NULL);
    sigprocmask(SIG_BLOCK, &stop, NULL);
    go_on(l);
}

static double seconds(const struct timeval *t)
{
    return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static void reap(struct launch *l)
{
    for (;;) {
        struct rusage used;
        int status;
        pid_t pid = wait4(-1, &status, WNOHANG | WUNTRACED, &used);

        if (pid <= 0)
            return;
        if (WIFSTOPPED(status)) {
            if (pid == l->pid)
                stop_too(l);
            continue;
        }
        l->reaped_s += seconds(&used.ru_utime) + seconds(&used.ru_stime);
        if (pid != l->pid)
            continue;
        l->ended = true;
        l->status = status;
        take_tty(l);
    }
}

/* What the terminal sent to our whole group has reached the job. */
static void pass(struct launch *l, const struct signalfd_siginfo *s)
{
    int number = (int)s->ssi_signo;

    if (number == SIGHUP || number == SIGINT || number == SIGQUIT || number == SIGTERM)
        l->asked = number;
    if (l->ended || (s->ssi_code == SI_KERNEL && !l->own_group))
        return;
    kill(l->pid, number);
}

void launch_signals(struct launch *l)
{
    struct signalfd_siginfo s;

    while (read(l->signals, &s, sizeof(s)) == sizeof(s)) {
        if (s.ssi_signo == SIGCHLD)
            reap(l);
        else if (s.ssi_signo == SIGCONT && !l->ended)
            go_on(l);
        else if (s.ssi_signo != SIGCONT)
            pass(l, &s);
    }
}

int launch_exit(const struct launch *l)
{
    return WIFSIGNALED(l->status) ? 128 + WTERMSIG(l->status) : WEXITSTATUS(l->status);
}
