/* What brim's plugin uses of Slurm's SPANK interface (Slurm 22.05 to 26.05), in our own
 * words, so that no header of Slurm is needed to build it. These have not changed in between. */
#ifndef BRIM_SPANK_ABI_H
#define BRIM_SPANK_ABI_H
#include <stddef.h>

#define SPANK_EXPORT __attribute__((visibility("default")))
/* A function that a release may lack: NULL there. */
#define SPANK_OPTIONAL __attribute__((weak))

typedef struct spank_handle *spank_t;

/* Numbers of spank_get_item(), each with what it stores. */
enum {
    S_JOB_STEPID = 3,      /* uint32_t */
    S_JOB_TASKS_HERE = 6,  /* uint32_t: of the step, on this node */
    S_JOB_ARGV = 9,        /* int, char **: of the task, not to be freed */
    S_TASK_GLOBAL_ID = 12, /* uint32_t */
};

/* Steps that are no srun of the user's begin here: of the batch script, the interactive shell, and
 * what was adopted. */
#define SPANK_STEP_SPECIAL 0xfffffff0u

/* How an option takes its value, as for getopt_long(). */
enum { SPANK_VALUE_NONE = 0, SPANK_VALUE_NEEDED = 1, SPANK_VALUE_POSSIBLE = 2 };

struct spank_option {
    char *name;
    char *arginfo;
    char *usage;
    int has_arg;
    int val;
    int (*cb)(int val, const char *value, int remote);
};

/* All return 0 when it was done. */
int spank_option_register(spank_t sp, struct spank_option *o);
int spank_option_getopt(spank_t sp, struct spank_option *o, char **value);
int spank_get_item(spank_t sp, int item, ...);
int spank_getenv(spank_t sp, const char *name, char *buf, int len);
int spank_setenv(spank_t sp, const char *name, const char *value, int overwrite);
/* Since 23.11. */
int spank_prepend_task_argv(spank_t sp, int argc, const char *argv[]) SPANK_OPTIONAL;
/* A line for the user: on the terminal of srun, or on the standard error of the task. */
void slurm_spank_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
