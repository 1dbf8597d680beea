/* Who is asked to end with a job: its first process and its ranks, and nobody else, whatever the
 * rings of the job say. */
#include "run/job/sweep.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

enum { TOLD = 2 /* pids */ };

static void sleep_on(void)
{
    for (;;)
        pause();
}

/* A process that waits, to which SIGTERM can be sent without an end of it. */
static pid_t waiting(void)
{
    pid_t pid = fork();

    if (pid < 0)
        abort();
    if (!pid)
        sleep_on();
    return pid;
}

/* Whether SIGTERM was sent to it. */
static bool was_asked(pid_t pid)
{
    char path[64], line[256];
    unsigned long long pending = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    f = fopen(path, "re");
    if (!f)
        abort();
    while (fgets(line, sizeof(line), f))
        if (!strncmp(line, "ShdPnd:", 7))
            pending = strtoull(line + 7, NULL, 16);
    fclose(f);
    return pending & (1ULL << (SIGTERM - 1));
}

/* The job's ancestor: it starts two processes, tells which, and waits. */
static pid_t start_job(pid_t told[TOLD])
{
    int fds[2];
    pid_t pid;

    if (pipe2(fds, O_CLOEXEC) < 0)
        abort();
    pid = fork();
    if (pid < 0)
        abort();
    if (!pid) {
        told[0] = waiting();
        told[1] = waiting();
        if (write(fds[1], told, TOLD * sizeof(*told)) != TOLD * sizeof(*told))
            abort();
        sleep_on();
    }
    close(fds[1]);
    if (read(fds[0], told, TOLD * sizeof(*told)) != TOLD * sizeof(*told))
        abort();
    close(fds[0]);
    return pid;
}

int main(void)
{
    pid_t job[TOLD], ancestor, stranger, ranks[3];
    struct family *f = NULL;
    struct err e = { "" };
    sigset_t term;
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, NULL); /* which children inherit */
    ancestor = start_job(job);
    stranger = waiting();
    if (proc < 0 || family_open(&f, proc, true, ancestor, &e) != 0)
        abort();
    ranks[0] = job[1];
    ranks[1] = stranger;
    ranks[2] = -1; /* all that one may signal */
    sweep_ask(f, stranger, ranks, 3);
    ok(was_asked(job[1]), "a rank below the job is asked to end");
    ok(!was_asked(job[0]), "a process that is no rank ends with its rank");
    ok(!was_asked(stranger), "a ring that names a stranger has nobody ask the stranger");
    sweep_ask(f, job[0], ranks, 0);
    ok(was_asked(job[0]), "the first process of a job is asked to end");
    is_int((long long)sweep_all(f, 0), 2, "a job has two processes below its ancestor");
    family_close(f);
    close(proc);
    for (int i = 0; i < TOLD; i++)
        kill(job[i], SIGKILL);
    kill(ancestor, SIGKILL);
    kill(stranger, SIGKILL);
    while (wait(NULL) > 0)
        ;
    return done();
}
