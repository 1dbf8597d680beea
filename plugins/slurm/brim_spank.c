/* Slurm's srun, sbatch and salloc with --brim: tasks run under 'brim run'. See docs/slurm.md.
 *
 * How a task's command becomes brim's. Slurm executes task->argv after slurm_spank_task_init():
 *   - From 23.11 on spank_prepend_task_argv() puts words before it.
 *   - Before that nothing is offered. S_JOB_ARGV lends the array that is executed, which cannot
 *     grow, but whose first word can be another: it becomes 'brim-task', and the command's name
 *     goes by the environment. To execute brim here instead would leave out what Slurm does behind
 *     this function: TaskProlog, TMPDIR and the user's limits. Proven on 22.05.8 by
 *     tests/e2e/slurm/test_spank.py.
 * 'brim-task' executes brim, and the command alone where brim cannot be executed.
 *
 * Every function returns 0 on a node, whatever happens: the job runs, at worst without brim. */
#include <dlfcn.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "near.h"
#include "spank_abi.h"
#include "task_words.h"
#include "values.h"

#define DEFAULT_BRIM "/usr/bin/brim"

/* What Slurm's loader reads. It compares the first two numbers of the release. */
extern SPANK_EXPORT const char plugin_name[], plugin_type[];
extern SPANK_EXPORT const unsigned int plugin_version, spank_plugin_version;
const char plugin_name[] = "brim_spank";
const char plugin_type[] = "spank";
const unsigned int plugin_version = BRIM_SLURM_RELEASE;
const unsigned int spank_plugin_version = 1;

SPANK_EXPORT int slurm_spank_init(spank_t sp, int ac, char **av);
SPANK_EXPORT int slurm_spank_task_init(spank_t sp, int ac, char **av);

static int check(int which, const char *value, int remote);

enum { BRIM, ELASTIC, SIGNAL, BIND, OPTIONS };

/* Slurm keeps their addresses, and wants to be able to write. */
static char texts[OPTIONS][3][96] = {
    { "brim", "PROFILE",
      "run each task under brim run, with a profile of settings; optimize: find one" },
    { "brim-elastic", "MIN-MAX", "the job goes on with MIN to MAX nodes (BRIM_ELASTIC)" },
    { "brim-checkpoint-signal", "SIG[@SECONDS]",
      "what makes the job save, and how long that takes (BRIM_CHECKPOINT_SIGNAL)" },
    { "brim-bind", "", "bind each task to those of its CPUs that are beside its GPUs" },
};
static struct spank_option options[OPTIONS] = {
    { texts[BRIM][0], texts[BRIM][1], texts[BRIM][2], SPANK_VALUE_POSSIBLE, BRIM, check },
    { texts[ELASTIC][0], texts[ELASTIC][1], texts[ELASTIC][2], SPANK_VALUE_NEEDED, ELASTIC, check },
    { texts[SIGNAL][0], texts[SIGNAL][1], texts[SIGNAL][2], SPANK_VALUE_NEEDED, SIGNAL, check },
    { texts[BIND][0], NULL, texts[BIND][2], SPANK_VALUE_NONE, BIND, check },
};

static const struct {
    bool (*good)(const char *value);
    const char *is; /* for who wrote another */
} kinds[OPTIONS] = {
    { value_is_profile, "the name or the path of a profile" },
    { value_is_elastic, "two numbers of nodes, the smaller first, as in 2-4" },
    { value_is_signal, "a signal, and the seconds that a job takes to save, as in USR1@60" },
};

/* --brim alone has no value: "(null)" where 22.05 has it from the environment of a batch job. */
static bool is_none(const char *value)
{
    return !value || !*value || strcmp(value, "(null)") == 0;
}

static bool is_good(int which, const char *value)
{
    if (which == BIND || (which == BRIM && is_none(value)))
        return true;
    return value && kinds[which].good(value);
}

/* Slurm calls it for each option that was given. What is wrong is refused where the user is. */
static int check(int which, const char *value, int remote)
{
    if (remote || which < 0 || which >= OPTIONS || is_good(which, value))
        return 0;
    slurm_spank_log("brim: --%s=%s: it is to be %s", options[which].name, value ? value : "",
                    kinds[which].is);
    return -1;
}

/* Whether an option was given, and its value, which may be NULL. */
static bool asked(spank_t sp, int which, const char **value)
{
    char *given = NULL;

    if (spank_option_getopt(sp, &options[which], &given) != 0 || !is_good(which, given))
        return false;
    *value = is_none(given) ? NULL : given;
    return true;
}

/* A value from plugstack.conf, "brim=/usr/bin/brim". */
static const char *setting(int ac, char **av, const char *name, const char *otherwise)
{
    size_t len = strlen(name);

    for (int i = 0; i < ac; i++)
        if (strncmp(av[i], name, len) == 0 && av[i][len] == '=')
            return av[i] + len + 1;
    return otherwise;
}

static const char *program(int ac, char **av)
{
    return setting(ac, av, "brim", DEFAULT_BRIM);
}

static bool is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static bool is_first(spank_t sp)
{
    uint32_t rank = 1;

    return spank_get_item(sp, S_TASK_GLOBAL_ID, &rank) == 0 && rank == 0;
}

/* 'brim-task' beside this plugin. The caller's; NULL. */
static char *task_program(void)
{
    Dl_info here;
    const char *slash;
    char *path = NULL;

    if (!dladdr(plugin_name, &here) || !here.dli_fname)
        return NULL;
    slash = strrchr(here.dli_fname, '/');
    if (!slash ||
        asprintf(&path, "%.*s/brim-task", (int)(slash - here.dli_fname), here.dli_fname) < 0)
        return NULL;
    if (is_program(path))
        return path;
    free(path);
    return NULL;
}

/* Have 'brim-task' executed in place of the command. The path is the task's from now on: it is
 * needed until the process is another. */
static bool take_place(spank_t sp, char *task)
{
    const char *word[] = { task };
    int argc = 0;
    char **argv = NULL;

    if (spank_prepend_task_argv)
        return spank_prepend_task_argv(sp, 1, word) == 0;
    if (spank_get_item(sp, S_JOB_ARGV, &argc, &argv) != 0 || argc < 1 || !argv || !argv[0])
        return false;
    if (spank_setenv(sp, TASK_COMMAND, argv[0], 1) != 0)
        return false;
    argv[0] = task;
    return true;
}

/* Run the task under brim. NULL, or why it is not. */
static const char *wrap(spank_t sp, const char *brim, const char *profile)
{
    char *task;

    if (!is_program(brim))
        return "it is not there, or is no program";
    task = task_program();
    if (!task)
        return "brim-task is not beside the plugin";
    if (spank_setenv(sp, TASK_BRIM, brim, 1) != 0 ||
        (profile && spank_setenv(sp, TASK_PROFILE, profile, 1) != 0) || !take_place(sp, task)) {
        free(task);
        return "Slurm does not let the command be changed";
    }
    return NULL;
}

static unsigned cpus_of_a_task(spank_t sp)
{
    char text[16] = "";
    long n = 1;

    if (spank_getenv(sp, "SLURM_CPUS_PER_TASK", text, sizeof(text)) == 0)
        n = strtol(text, NULL, 10);
    return n > 0 && n < CPU_SETSIZE ? (unsigned)n : 1;
}

/* Bind this process, which is about to be the task, to those of its CPUs that are beside its GPUs.
 * It never gets a CPU that Slurm has not given to it. NULL, or why it is let alone. */
static const char *bind_near(spank_t sp, const char *root)
{
    char visible[256] = "", granted[256] = "";
    uint32_t tasks = 1;
    uint64_t gpus;
    cpu_set_t may, near, chosen;
    const char *why;

    (void)spank_getenv(sp, "CUDA_VISIBLE_DEVICES", visible, sizeof(visible));
    (void)spank_getenv(sp, "SLURM_STEP_GPUS", granted, sizeof(granted));
    (void)spank_get_item(sp, S_JOB_TASKS_HERE, &tasks);
    why = near_gpus(visible, granted, &gpus);
    if (!why)
        why = near_cpus(root, gpus, &near);
    if (!why && sched_getaffinity(0, sizeof(may), &may) < 0)
        why = "nobody tells its CPUs";
    if (!why)
        why = near_choose(&may, &near, tasks, cpus_of_a_task(sp), &chosen);
    if (!why && sched_setaffinity(0, sizeof(chosen), &chosen) < 0)
        why = "the kernel refuses it";
    return why;
}

int slurm_spank_init(spank_t sp, int ac, char **av)
{
    (void)ac, (void)av;
    for (int i = 0; i < OPTIONS; i++)
        (void)spank_option_register(sp, &options[i]); /* where there are none it says so itself */
    return 0;
}

int slurm_spank_task_init(spank_t sp, int ac, char **av)
{
    const char *value = NULL, *why = NULL;
    uint32_t step = SPANK_STEP_SPECIAL;

    if (asked(sp, ELASTIC, &value))
        (void)spank_setenv(sp, "BRIM_ELASTIC", value, 1);
    if (asked(sp, SIGNAL, &value))
        (void)spank_setenv(sp, "BRIM_CHECKPOINT_SIGNAL", value, 1);
    if (spank_get_item(sp, S_JOB_STEPID, &step) != 0 || step >= SPANK_STEP_SPECIAL)
        return 0;
    if (asked(sp, BIND, &value))
        why = bind_near(sp, setting(ac, av, "root", ""));
    if (why && *why && is_first(sp))
        slurm_spank_log("brim: --brim-bind: %s; the tasks run where Slurm has put them", why);
    why = NULL;
    if (asked(sp, BRIM, &value))
        why = wrap(sp, program(ac, av), value);
    if (why && is_first(sp))
        slurm_spank_log("brim: %s: %s; the tasks run without brim", program(ac, av), why);
    return 0;
}
