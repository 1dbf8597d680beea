#include "run/profile/python.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "run/job/environ.h"

enum { VERSION_FILE_MAX = 64 << 10, LINE = 512, VERSION = 64 };

/* A Python: where it was found, and what its links lead to. */
struct python {
    char path[PATH_MAX], whole[PATH_MAX];
    char version[VERSION]; /* "3.11"; "" */
};

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Where a shell would find it: false when nowhere. */
static bool find_program(char *const *env, const char *name, char path[PATH_MAX])
{
    const char *list = environ_get(env, "PATH");

    if (strchr(name, '/'))
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && access(path, X_OK) == 0;
    for (const char *at = list ? list : "/usr/bin:/bin"; *at;
         at += strcspn(at, ":"), at += *at == ':')
        if (snprintf(path, PATH_MAX, "%.*s/%s", (int)strcspn(at, ":"), at, name) < PATH_MAX &&
            access(path, X_OK) == 0)
            return true;
    return false;
}

/* What the first line of a script names: "#!/usr/bin/env python3", "#!/opt/x/bin/python -u". */
static bool read_shebang(char *const *env, const char *script, char path[PATH_MAX])
{
    int fd = open(script, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char line[LINE], *word;
    ssize_t len = fd >= 0 ? read(fd, line, sizeof(line) - 1) : -1;

    closep(&fd);
    if (len < 3 || line[0] != '#' || line[1] != '!')
        return false;
    line[len] = 0;
    line[strcspn(line, "\n")] = 0;
    word = line + 2 + strspn(line + 2, " \t");
    for (int i = 0; i < 3; i++) {
        char *next = word + strcspn(word, " \t");
        bool more = *next != 0;

        *next = 0;
        if (!strncmp(base_of(word), "python", 6))
            return find_program(env, word, path);
        if (!more || (i == 0 && strcmp(base_of(word), "env") != 0))
            return false;
        word = next + 1;
    }
    return false;
}

/* The first word that is a Python, before the script; else the program's own first line. */
static bool find_python(char *const *argv, char *const *env, struct python *p)
{
    char program[PATH_MAX];
    CLEANUP(freep) char *whole = NULL;
    bool found = false;

    for (size_t i = 0; argv[i] && !found; i++) {
        size_t len = strlen(argv[i]);

        if (len > 3 && !strcmp(argv[i] + len - 3, ".py") && i > 0)
            break;
        found = !strncmp(base_of(argv[i]), "python", 6) && find_program(env, argv[i], p->path);
    }
    if (!found)
        found = argv[0] && find_program(env, argv[0], program) &&
                read_shebang(env, program, p->path);
    whole = found ? realpath(p->path, NULL) : NULL;
    if (!whole)
        return false;
    snprintf(p->whole, sizeof(p->whole), "%s", whole);
    for (const char *v = base_of(p->whole) + 6; *v && strlen(p->version) + 1 < VERSION; v++)
        if (isdigit((unsigned char)*v) || *v == '.')
            p->version[strlen(p->version)] = *v;
    return strncmp(base_of(p->whole), "python", 6) == 0;
}

/* ---- torch ---- */

/* The text between quotes behind "NAME = " at the start of a line; false. */
static bool quoted(const char *text, const char *name, char value[VERSION])
{
    size_t len = strlen(name);

    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        const char *v = at + len;

        if (strncmp(at, name, len) != 0)
            continue;
        v += strcspn(v, "='\"\n");
        v += *v == '=';
        v += strspn(v, " ");
        if (*v != '\'' && *v != '"')
            return false;
        snprintf(value, VERSION, "%.*s", (int)strcspn(v + 1, "'\"\n"), v + 1);
        return true;
    }
    return false;
}

/* 1: added; 0: there is no torch; -ENOMEM. */
static int look_in(const char *folder, size_t len, const char *below, struct str *out)
{
    CLEANUP(str_done) struct str text = STR_INIT(VERSION_FILE_MAX);
    char path[PATH_MAX], value[VERSION];
    int rc;

    if (snprintf(path, sizeof(path), "%.*s%s/torch/version.py", (int)len, folder, below) >=
        (int)sizeof(path))
        return 0;
    rc = file_read(path, &text, NULL);
    if (rc < 0)
        return rc == -ENOMEM ? rc : 0;
    if (!quoted(str_text(&text), "__version__", value))
        return 0;
    str_addf(out, ", torch %s", value);
    if (quoted(str_text(&text), "cuda", value))
        str_addf(out, ", cuda %s", value);
    else if (quoted(str_text(&text), "hip", value))
        str_addf(out, ", hip %s", value);
    return 1;
}

/* Below the folder that has bin/python: what venv, conda, Debian and pip have there. */
static int look_below(const struct python *p, const char *program, struct str *out)
{
    static const char *const ways[] = { "/../lib/python%s/site-packages",
                                        "/../local/lib/python%s/dist-packages",
                                        "/../lib/python3/dist-packages" };
    const char *slash = strrchr(program, '/');
    size_t len = slash ? (size_t)(slash - program) : 0;
    int rc = 0;

    for (size_t i = 0; i < ARRAY_SIZE(ways) && rc == 0; i++) {
        char below[128];
        const char *hole = strstr(ways[i], "%s");

        if (hole)
            snprintf(below, sizeof(below), "%.*s%s%s", (int)(hole - ways[i]), ways[i], p->version,
                     hole + 2);
        else
            snprintf(below, sizeof(below), "%s", ways[i]);
        rc = look_in(program, len, below, out);
    }
    return rc;
}

static int add_torch(const struct python *p, char *const *env, struct str *out)
{
    const char *list = environ_get(env, "PYTHONPATH"), *home = environ_get(env, "HOME");
    char below[128];
    int rc = 0;

    for (const char *at = list ? list : ""; *at && rc == 0;
         at += strcspn(at, ":"), at += *at == ':')
        rc = look_in(at, strcspn(at, ":"), "", out);
    snprintf(below, sizeof(below), "/.local/lib/python%s/site-packages", p->version);
    if (rc == 0)
        rc = look_below(p, p->path, out);
    if (rc == 0 && strcmp(p->path, p->whole) != 0)
        rc = look_below(p, p->whole, out);
    if (rc == 0 && home && *home)
        rc = look_in(home, strlen(home), below, out);
    return rc < 0 ? rc : 0;
}

int python_versions(char *const *argv, char *const *env, struct str *out)
{
    struct python p = { .version = "" };
    int rc;

    if (!find_python(argv, env, &p))
        return 0;
    str_addf(out, "python%s%s", p.version[0] ? " " : "", p.version);
    rc = add_torch(&p, env, out);
    return rc < 0 ? rc : str_error(out);
}
