/* What Slurm offers to a plugin: spank_host PLUGIN [NAME=VALUE]... calls the plugin as slurmstepd
 * does for a task of a user's step, with the options NAME (brim=, brim-elastic=2-4 ...), and prints
 * what it does. program=PATH: of brim, in plugstack.conf; rank=1: a task that is not the first;
 * none=: no question has an answer, and nothing is taken. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../plugins/slurm/spank_abi.h"

enum { OPTIONS = 8, FAILED = 1 };

struct spank_handle {
    struct spank_option *options[OPTIONS];
    int n_options;
    char **given;
    int n_given;
    uint32_t rank;
    bool none;
};

SPANK_EXPORT int spank_option_register(spank_t sp, struct spank_option *o)
{
    if (sp->n_options == OPTIONS)
        return FAILED;
    sp->options[sp->n_options++] = o;
    return 0;
}

static char *given(const struct spank_handle *sp, const char *name)
{
    size_t len = strlen(name);

    for (int i = 0; i < sp->n_given; i++)
        if (strncmp(sp->given[i], name, len) == 0 && sp->given[i][len] == '=')
            return sp->given[i] + len + 1;
    return NULL;
}

SPANK_EXPORT int spank_option_getopt(spank_t sp, struct spank_option *o, char **value)
{
    *value = given(sp, o->name);
    return *value ? 0 : FAILED;
}

SPANK_EXPORT int spank_get_item(spank_t sp, int item, ...)
{
    int rc = sp->none ? FAILED : 0;
    va_list args;

    va_start(args, item);
    if (rc == 0 && item == S_JOB_STEPID)
        *va_arg(args, uint32_t *) = 0;
    else if (rc == 0 && item == S_TASK_GLOBAL_ID)
        *va_arg(args, uint32_t *) = sp->rank;
    else
        rc = FAILED;
    va_end(args);
    return rc;
}

/* Of variables the host has those that are options of its own. */
SPANK_EXPORT int spank_getenv(spank_t sp, const char *name, char *buf, int len)
{
    const char *value = sp->none ? NULL : given(sp, name);

    return value && snprintf(buf, (size_t)len, "%s", value) < len ? 0 : FAILED;
}

SPANK_EXPORT int spank_setenv(spank_t sp, const char *name, const char *value, int overwrite)
{
    if (sp->none || !overwrite)
        return FAILED;
    printf("set %s=%s\n", name, value);
    return 0;
}

SPANK_EXPORT int spank_prepend_task_argv(spank_t sp, int argc, const char *argv[])
{
    if (sp->none)
        return FAILED;
    for (int i = 0; i < argc; i++)
        printf("before %s\n", argv[i]);
    return 0;
}

SPANK_EXPORT void slurm_spank_log(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

typedef int hook(spank_t sp, int ac, char **av);

static hook *find(void *plugin, const char *name)
{
    hook *found = NULL;

    *(void **)&found = dlsym(plugin, name);
    if (!found)
        printf("there is no %s\n", name);
    return found;
}

int main(int argc, char **argv)
{
    struct spank_handle sp = { .given = argv + 2, .n_given = argc - 2 };
    char *brim = argc > 2 ? given(&sp, "program") : NULL, word[512];
    char *words[] = { word };
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    const unsigned int *release = plugin ? dlsym(plugin, "plugin_version") : NULL;
    hook *init = plugin ? find(plugin, "slurm_spank_init") : NULL;
    hook *task = plugin ? find(plugin, "slurm_spank_task_init") : NULL;

    if (!init || !task || !release)
        return 2;
    snprintf(word, sizeof(word), "brim=%s", brim ? brim : "");
    sp.none = given(&sp, "none") != NULL;
    sp.rank = given(&sp, "rank") ? 1 : 0;
    printf("release %u.%u\n", *release >> 16, *release >> 8 & 0xff);
    printf("init %d\n", init(&sp, 1, words));
    printf("task %d\n", task(&sp, brim ? 1 : 0, words));
    return 0;
}
