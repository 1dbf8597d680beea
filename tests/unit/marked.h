/* Processes of a job whose guard is gone, and signals that reach nobody else: needs the linker's
 * --wrap=kill. A program that includes this is such a process where it has an argument. */
#ifndef BRIM_TESTS_MARKED_H
#define BRIM_TESTS_MARKED_H
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"

enum { MARKED = 64 };

static pid_t marked[MARKED]; /* those that were made */
static size_t n_marked;
static int sent;      /* signals to them */
static int strangers; /* signals that would have gone to others */

int __real_kill(pid_t pid, int signal);
int __wrap_kill(pid_t pid, int signal);
int __wrap_kill(pid_t pid, int signal)
{
    for (size_t i = 0; i < n_marked; i++)
        if (marked[i] == pid || marked[i] == -pid) {
            sent += signal != 0;
            return __real_kill(pid, signal);
        }
    strangers += signal != 0;
    return 0;
}

static inline void marked_wait(int argc)
{
    while (argc > 1)
        pause();
}

/* A process in a group of its own that was started with those variables, and lives until a signal
 * ends it. */
static inline pid_t marked_start(const char *const *env)
{
    char self[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
    int started[2];
    char byte;
    pid_t pid;

    folder_need((int)len, "/proc/self/exe");
    self[len] = 0;
    folder_need(pipe2(started, O_CLOEXEC), "pipe");
    pid = fork();
    folder_need(pid, "fork");
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setpgid(0, 0);
        execle(self, "process", "wait", (char *)NULL, env);
        _exit(1);
    }
    close(started[1]);
    folder_need((int)read(started[0], &byte, 1), "read"); /* the end: it was executed */
    close(started[0]);
    folder_need(n_marked < MARKED ? 0 : -1, "room");
    marked[n_marked++] = pid;
    return pid;
}

/* Stop a process, until SIGKILL. */
static inline void marked_stop(pid_t pid)
{
    folder_need(kill(pid, SIGSTOP), "kill");
    folder_need(waitpid(pid, NULL, WUNTRACED), "waitpid");
}

/* The signal that ended a process; 0: it lives. */
static inline int marked_ended_by(pid_t pid, bool wait)
{
    int status = 0;
    pid_t rc = waitpid(pid, &status, wait ? 0 : WNOHANG);

    folder_need(rc, "waitpid");
    return rc > 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

#endif
