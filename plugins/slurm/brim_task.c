/* brim-task: what Slurm executes for a task that the plugin has changed. Executes 'brim run' or
 * 'brim optimize --once' with the command; where that cannot be executed, the command alone. */
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
static void say(const char *what, const char *why)
{
    const char *rank = getenv("SLURM_PROCID");

    if (!rank || strcmp(rank, "0") == 0)
        fprintf(stderr, "brim: %s: %s; the tasks run without brim\n", what, why);
}

static bool is_optimize(const char *profile)
{
    return profile && strcmp(profile, TASK_OPTIMIZE) == 0;
}

/* Of each node by its first task: the others may have it. */
static void say_unknown(const char *profile)
{
    const char *local = getenv("SLURM_LOCALID"), *node = getenv("SLURMD_NODENAME");

    if (!local || strcmp(local, "0") == 0)
        fprintf(stderr, "brim: %s: no %s on %s; its tasks run without it\n", profile,
                is_optimize(profile) ? "word of the brim" : "profile that brim can read",
                node ? node : "this node");
}

/* Whether that ends well. Brim ends without the job where it does not know a profile or a word, and
 * a job that has waited for its nodes is not to end by that. */
static bool ends_well(char *const *words)
{
    posix_spawn_file_actions_t quiet;
    int status = -1;
    pid_t pid;

    if (posix_spawn_file_actions_init(&quiet) != 0)
        return false;
    if (posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
        posix_spawn_file_actions_adddup2(&quiet, STDOUT_FILENO, STDERR_FILENO) == 0 &&
        posix_spawn(&pid, words[0], &quiet, NULL, words, environ) == 0)
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    posix_spawn_file_actions_destroy(&quiet);
    return status == 0;
}

/* Whether brim knows it on this node; "optimize" is a word that it may be too old for. */
static bool is_known(char *brim, char *profile)
{
    char command[] = "profile", verb[] = "show", end[] = "--";
    char optimize[] = "optimize", once[] = "--once", help[] = "--help";
    char *const show[] = { brim, command, verb, end, profile, NULL };
    char *const ask[] = { brim, optimize, once, help, NULL };

    return ends_well(is_optimize(profile) ? ask : show);
}

static void run_under(char *brim, char *profile, char **command, int count)
{
    char run[] = "run", option[] = "--profile", optimize[] = "optimize", once[] = "--once",
         end[] = "--";
    char **words = calloc((size_t)count + OWN_WORDS + 1, sizeof(*words));
    int n = 0;

    if (!words)
        return;
    words[n++] = brim;
    words[n++] = is_optimize(profile) ? optimize : run;
    if (is_optimize(profile)) {
        words[n++] = once;
    } else if (profile) {
        words[n++] = option;
        words[n++] = profile;
    }
    words[n++] = end;
    for (int i = 0; i < count; i++)
        words[n++] = command[i];
    execv(brim, words);
    say(brim, strerror(errno));
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
        say_unknown(profile);
        profile = NULL;
    }
    if (brim)
        run_under(brim, profile, command, count);
    execvp(command[0], command);
    fprintf(stderr, "brim-task: %s: %s\n", command[0], strerror(errno));
    return errno == ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
}
