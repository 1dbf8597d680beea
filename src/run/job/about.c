#include "run/job/about.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "probe/kernel/cgroup_name.h"
#include "probe/kernel/kept_file.h"
#include "run/job/environ.h"
#include "run/job/facts.h"
#include "run/job/secret.h"

enum { COMMAND_MAX = 256 << 10, HOST_MAX = 65, ENV_MORE = 5 };

/* The script that is run, or the program. */
static const char *name_of(char *const *argv)
{
    const char *name = argv[0], *slash;

    for (size_t i = 1; argv[i]; i++) {
        size_t len = strlen(argv[i]);

        if (len > 3 && !strcmp(argv[i] + len - 3, ".py")) {
            name = argv[i];
            break;
        }
    }
    slash = strrchr(name, '/');
    return slash && slash[1] ? slash + 1 : name;
}

int about_run(struct run *r, const struct about *a)
{
    CLEANUP(str_done) struct str command = STR_INIT(COMMAND_MAX);
    const struct passwd *user = getpwuid(geteuid());
    char folder[PATH_MAX], host[HOST_MAX] = "";

    secret_add_command(&command, a->argv);
    if (str_error(&command) == -ENOMEM)
        return -ENOMEM;
    if (gethostname(host, sizeof(host) - 1) < 0 || !host[0])
        snprintf(host, sizeof(host), "localhost");
    r->id = arena_strdup(&r->arena, a->id);
    r->name = arena_strdup(&r->arena, a->name ? a->name : name_of(a->argv));
    r->command = arena_strdup(&r->arena, str_error(&command) ? "(too long)" : str_text(&command));
    r->host = arena_strdup(&r->arena, host);
    r->user = arena_strdup(&r->arena, user ? user->pw_name : "");
    if (!a->folder && !getcwd(folder, sizeof(folder)))
        folder[0] = 0;
    r->folder = arena_strdup(&r->arena, a->folder ? a->folder : folder);
    r->end = RUN_RUNNING;
    r->inferred_confidence = (double)NAN;
    if (!r->id || !r->name || !r->command || !r->host || !r->user || !r->folder)
        return -ENOMEM;
    return facts_take(r, a->root, r->folder, a->env);
}

void about_cgroup(int proc, const char *process, char cgroup[SIGNAL_THING])
{
    char text[4096], path[256], name[64];
    struct kept file;
    int len;

    cgroup[0] = 0;
    snprintf(name, sizeof(name), "%s/cgroup", process);
    kept_open(&file, proc, name);
    len = kept_read(&file, text, sizeof(text));
    kept_close(&file);
    if (len <= 0)
        return;
    cgroup_path(text, NULL, path, sizeof(path));
    if (!path[0] || !strcmp(path, "/"))
        cgroup_path(text, "memory", path, sizeof(path));
    if (path[0])
        (void)cgroup_name(path, cgroup);
}

int about_environment(struct arena *arena, const struct about *a, char ***ret)
{
    const char *path = environ_get(a->env, "PYTHONPATH");
    char **env = environ_copy(arena, a->env, ENV_MORE);
    int rc = env ? 0 : -ENOMEM;

    if (rc == 0)
        rc = environ_set(arena, env, "BRIM_RUN", a->id);
    if (rc == 0)
        rc = environ_set(arena, env, "BRIM_RING", a->ring);
    if (rc == 0 && a->plugins) {
        const char *all = path && *path ? arena_printf(arena, "%s:%s", a->plugins, path)
                                        : a->plugins;

        rc = all ? environ_set(arena, env, "PYTHONPATH", all) : -ENOMEM;
    }
    if (rc == 0 && a->libraries && !environ_get(a->env, "BRIM_LIB"))
        rc = environ_set(arena, env, "BRIM_LIB", a->libraries);
    *ret = env;
    return rc;
}
