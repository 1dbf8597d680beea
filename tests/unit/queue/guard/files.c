/* Whether the command of an attempt lives, by what was noted when it started. */
#include "queue/guard/files.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "tap.h"

enum { JOB = 7, ATTEMPT = 1 };

/* A process that waits until it is killed. */
static pid_t make_command(void)
{
    pid_t pid = fork();

    if (pid < 0)
        abort();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    return pid;
}

static void test_command(int dir)
{
    pid_t pid = make_command(), noted;
    siginfo_t end;

    is_int(queue_start_look(dir, JOB, ATTEMPT, &noted), START_NONE,
           "an attempt without a note has not started");
    is_int(queue_start_write(dir, JOB, ATTEMPT, pid, ""), 0, "the start of a command is noted");
    is_int(queue_start_look(dir, JOB, ATTEMPT, &noted), START_LIVES, "a command that waits lives");
    is_int(noted, pid, "the note names the command's process");
    kill(pid, SIGKILL);
    if (waitid(P_PID, (id_t)pid, &end, WEXITED | WNOWAIT) < 0)
        abort();
    is_int(queue_start_look(dir, JOB, ATTEMPT, &noted), START_GONE,
           "a command that has ended and was not waited for does not live");
    is_int(noted, pid, "the note still names the process of a command that has ended");
    if (waitpid(pid, NULL, 0) != pid)
        abort();
    is_int(queue_start_look(dir, JOB, ATTEMPT, &noted), START_GONE,
           "a command without a process does not live");
}

/* The number of a process is used again: the time at which it started tells. */
static void test_another_process(int dir)
{
    char text[256], *at;
    ssize_t n;
    pid_t noted;
    int fd;

    is_int(queue_start_write(dir, JOB, ATTEMPT, getpid(), ""), 0,
           "the start of this process is noted");
    is_int(queue_start_look(dir, JOB, ATTEMPT, &noted), START_LIVES, "this process lives");
    fd = openat(dir, "jobs/7/start.1", O_RDWR);
    n = fd < 0 ? -1 : read(fd, text, sizeof(text));
    at = n < 0 ? NULL : memmem(text, (size_t)n, "started=", 8);
    if (!at || pwrite(fd, at[8] == '9' ? "8" : "9", 1, at + 8 - text) != 1)
        abort();
    close(fd);
    is_int(queue_start_look(dir, JOB, ATTEMPT, &noted), START_GONE,
           "a process that started at another time is not the command");
}

/* What cannot be written is told with its cause, and what was there stays. */
static void test_without_descriptors(int dir)
{
    CLEANUP(str_done) struct str order = STR_INIT(64), read = STR_INIT(64);
    struct rlimit before, few;
    struct err e;

    str_add(&order, "first");
    is_int(queue_order_write(dir, JOB, &order, &e), 0, "an order is written");
    if (getrlimit(RLIMIT_NOFILE, &before) < 0)
        abort();
    few = (struct rlimit){ (rlim_t)dir + 1, before.rlim_max };
    str_add(&order, " and second");
    if (setrlimit(RLIMIT_NOFILE, &few) < 0)
        abort();
    is_int(queue_order_write(dir, JOB, &order, &e), -EMFILE,
           "an order without a descriptor for it tells so");
    if (setrlimit(RLIMIT_NOFILE, &before) < 0)
        abort();
    is_int(queue_order_read(dir, JOB, &read, &e), 0, "the order of before is there");
    is_str(str_text(&read), "first", "the order of before is whole");
}

int main(void)
{
    char root[PATH_MAX];
    struct err e = { "" };
    int dir;

    folder_make(root);
    dir = queue_files_open(root, false, &e);
    if (dir < 0 || queue_folder_make(dir, JOB, &e) != 0)
        abort();
    test_command(dir);
    test_another_process(dir);
    test_without_descriptors(dir);
    close(dir);
    folder_remove(root);
    return done();
}
