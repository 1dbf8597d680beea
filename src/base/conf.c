#include "base/conf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/ini.h"

enum { FILE_MAX = 1 << 20 };

static const char system_path[] = "/etc/brim/brim.conf";

struct reader {
    struct arena *arena;
    const char *section;
    const struct opt *table;
    void *values;
};

static int set_entry(void *ctx, const struct ini_entry *at, struct err *e)
{
    const struct reader *r = ctx;
    const char *value;
    int rc;

    if (!at->key || strcmp(at->section, r->section) != 0)
        return 0;
    value = arena_strdup(r->arena, at->value);
    if (!value)
        return err_nomem(e);
    rc = opt_set(r->table, r->values, at->key, value, e);
    if (rc < 0)
        return err_context(e, rc, "%s:%d: ", at->file, at->line);
    return 0;
}

const char *conf_path(struct arena *a)
{
    const char *chosen = getenv("BRIM_CONF");
    const char *xdg = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    const char *path = NULL;

    if (chosen && *chosen)
        return arena_strdup(a, chosen);
    if (xdg && *xdg == '/') /* its specification: a relative one is to be ignored */
        path = arena_printf(a, "%s/brim/brim.conf", xdg);
    else if (home && *home)
        path = arena_printf(a, "%s/.config/brim/brim.conf", home);
    else
        return system_path;
    if (!path || access(path, F_OK) == 0)
        return path;
    return system_path;
}

const char *conf_state(struct arena *a, const char *name)
{
    const char *systemd = getenv("STATE_DIRECTORY");
    const char *xdg = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");

    if (systemd && *systemd == '/')
        return arena_printf(a, "%s/%s", systemd, name);
    if (geteuid() == 0)
        return arena_printf(a, "/var/lib/brim/%s", name);
    if (xdg && *xdg == '/')
        return arena_printf(a, "%s/brim/%s", xdg, name);
    return arena_printf(a, "%s/.local/state/brim/%s", home && *home ? home : "", name);
}

int conf_load(struct arena *a, const char *path, const char *section, const struct opt *table,
              void *values, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(FILE_MAX);
    struct reader r = { a, section, table, values };
    struct err why = { "" };
    int rc = file_read(path, &text, &why);

    if (rc == -ENOENT || rc == -ENOTDIR)
        return 0;
    if (rc == -EISDIR || rc == -EFBIG) /* no machine makes a text of it, as of a broken one */
        return err_usage(e, "%s", why.text);
    if (rc < 0)
        return err_set(e, rc, "%s", why.text);
    return err_usage_of(ini_parse(path, str_text(&text), text.len, set_entry, &r, e));
}

char *const *conf_environment(void)
{
    return environ;
}

void conf_set_environment(char **env)
{
    environ = env;
}

bool conf_colour(int fd)
{
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(fd) && !(none && *none) && !(term && !strcmp(term, "dumb"));
}

bool conf_journal(int fd)
{
    const char *named = getenv("JOURNAL_STREAM"); /* "device:inode" */
    char here[48];
    struct stat st;

    if (!named || fstat(fd, &st) < 0)
        return false;
    snprintf(here, sizeof(here), "%llu:%llu", (unsigned long long)st.st_dev,
             (unsigned long long)st.st_ino);
    return !strcmp(named, here);
}

bool conf_utf8(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const char *value = getenv(names[i]);

        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}
