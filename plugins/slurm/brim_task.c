/* brim-task: what Slurm executes for a task that the plugin has changed. Executes 'brim run' with
 * the command; where that cannot be executed, the command alone. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "task_words.h"

enum { NOT_FOUND = 127, NOT_EXECUTABLE = 126, OWN_WORDS = 5 };

/* A variable of the plugin's. Its text stays where the environment was. */
static char *take(const char *name)
{
    char *value = getenv(name);

    unsetenv(name);
    return value;
}

/* Once for a step: by its first task. */
static void say(const char *what, const char *why, const char *end)
{
    const char *rank = getenv("SLURM_PROCID");

    if (!rank || strcmp(rank, "0") == 0)
        fprintf(stderr, "brim: %s: %s; the tasks run without %s\n", what, why, end);
}

/* Whether brim knows it on this node. 'brim run' ends without the job where it does not, and a job
 * that has waited for its nodes is not to end by that. */
static bool is_known(char *brim, char *profile)
{
    char command[] = "profile", verb[] = "show", end[] = "--";
    char *const words[] = { brim, command, verb, end, profile, NULL };
    posix_spawn_file_actions_t quiet;
    int status = -1;
    pid_t pid;

    if (posix_spawn_file_actions_init(&quiet) != 0)
        return false;
    if (posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
        posix_spawn_file_actions_adddup2(&quiet, STDOUT_FILENO, STDERR_FILENO) == 0 &&
        posix_spawn(&pid, brim, &quiet, NULL, words, environ) == 0)
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    posix_spawn_file_actions_destroy(&quiet);
    return status == 0;
}

static void run_under(char *brim, char *profile, char **command, int count)
{
    char run[] = "run", option[] = "--profile", end[] = "--";
    char **words = calloc((size_t)count + OWN_WORDS + 1, sizeof(*words));
    int n = 0;

    if (!words)
        return;
    words[n++] = brim;
    words[n++] = run;
    if (profile) {
        words[n++] = option;
        words[n++] = profile;
    }
    words[n++] = end;
    for (int i = 0; i < count; i++)
        words[n++] = command[i];
    execv(brim, words);
    say(brim, strerror(errno), "brim");
    free(words);
}

int main(int argc, char **argv)
{
    char *brim = take(TASK_BRIM), *profile = take(TASK_PROFILE), *first = take(TASK_COMMAND);
    char **command = first ? argv : argv + 1;
    int count = first ? argc : argc - 1;

    if (count < 1)
        return 2;
    if (first)
        command[0] = first;
    if (brim && profile && !is_known(brim, profile)) {
        say(profile, "no profile that brim can read on this node", "it");
        profile = NULL;
    }
    if (brim)
        run_under(brim, profile, command, count);
    execvp(command[0], command);
    fprintf(stderr, "brim-task: %s: %s\n", command[0], strerror(errno));
    return errno == ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
}
