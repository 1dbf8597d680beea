/* A Python process that runs a script of a test's. Include from one file of a test. */
#ifndef BRIM_TESTS_UNIT_PROBE_PYTHON_JOB_H
#define BRIM_TESTS_UNIT_PROBE_PYTHON_JOB_H
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../folder.h"

struct job {
    pid_t pid;
    int out;     /* what it writes */
    long number; /* what it wrote first, once it sits where the test wants it */
};

static char root[PATH_MAX]; /* a folder with job.py */

/* Run a script, until it has written a number. */
static inline struct job start(const char *python, const char *script)
{
    struct job job = { .number = 0 };
    char path[PATH_MAX], line[32] = "";
    int pipes[2];

    folder_text(root, "job.py", script);
    folder_path(root, "job.py", path);
    folder_need(pipe2(pipes, O_CLOEXEC), "pipe");
    job.pid = fork();
    folder_need(job.pid, "fork");
    if (job.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(pipes[1], STDOUT_FILENO);
        execl(python, python, "-I", "-S", path, (char *)NULL);
        _exit(127);
    }
    close(pipes[1]);
    job.out = pipes[0];
    for (size_t n = 0; n < sizeof(line) - 1 && read(job.out, line + n, 1) == 1; n++) {
        if (line[n] == '\n') {
            line[n] = 0;
            break;
        }
    }
    job.number = strtol(line, NULL, 10);
    return job;
}

static inline void stop(struct job *job)
{
    kill(job->pid, SIGKILL);
    waitpid(job->pid, NULL, 0);
    close(job->out);
}

/* Test with the system's python3, and with those that BRIM_PYTHONS names (paths with ':' between
 * them). */
static inline void each_python(void (*test)(const char *python))
{
    const char *more = getenv("BRIM_PYTHONS");
    char python[PATH_MAX];

    test("/usr/bin/python3");
    while (more && *more) {
        size_t len = strcspn(more, ":");

        snprintf(python, sizeof(python), "%.*s", (int)len, more);
        test(python);
        more += len + (more[len] == ':');
    }
}

#endif
