#include "queue/guard/engine_start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/conf.h"
#include "queue/guard/control_group.h"
#include "queue/guard/strays.h"
#include "queue/job/fds.h"

bool queue_engine_lives(int dir)
{
    CLEANUP(closep) int fd = openat(dir, QUEUE_LOCK, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

    return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0;
}

/* What a job's command has and its guard gave it. An engine that a job starts is no part of it. */
static bool is_of_job(const char *variable)
{
    static const char *const names[] = { "BRIM_JOB", "BRIM_ARRAY", "BRIM_ARRAY_TASK",
                                         "BRIM_ATTEMPT", QUEUE_GUARD_VARIABLE };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        size_t len = strlen(names[i]);

        if (!strncmp(variable, names[i], len) && variable[len] == '=')
            return true;
    }
    return false;
}

/* The environment without these; NULL when out of memory. */
static char **make_environment(void)
{
    char *const *env = conf_environment();
    size_t n = 0;
    char **copy;

    while (env[n])
        n++;
    copy = calloc(n + 1, sizeof(*copy));
    n = 0;
    for (; copy && *env; env++)
        if (!is_of_job(*env))
            copy[n++] = *env;
    return copy;
}

/* In a child of a child, so that nobody has to wait for it. */
static void become_engine(const char *folder)
{
    char path[PATH_MAX];
    char **env = make_environment();
    sigset_t none;
    int log;

    setsid();
    if (fork() != 0)
        _exit(0);
    snprintf(path, sizeof(path), "%s/" QUEUE_LOG, folder);
    /* A pipe that nobody reads is not waited for: the engine does without. */
    log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (queue_fds_null(QUEUE_LOW_FDS) < 0)
        _exit(1);
    if (log >= 0)
        dup2(log, 2);
    queue_fds_close(QUEUE_LOW_FDS);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (chdir("/") < 0 || !env)
        _exit(1);
    control_group_leave();
    execle("/proc/self/exe", "brim", "queue", "--on-demand", "--directory", folder, (char *)NULL,
           env);
    _exit(1);
}

int queue_engine_start(const char *folder)
{
    pid_t pid = fork();

    if (pid == 0)
        become_engine(folder);
    if (pid < 0)
        return -errno;
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return 0;
}
