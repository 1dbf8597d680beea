#include "run/profile/settings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "run/job/binding.h"
#include "run/job/environ.h"
#include "run/profile/job_library.h"

enum { TEXT = 1024, KNOBS_TEXT_MAX = 64 << 10, ENV_MORE = PROFILE_MAX + 4 };

struct work {
    struct arena *arena;
    const struct profile_settings_about *about;
    struct profile_settings *io;
    char *const *user; /* the environment as it was handed in */
    char **env;
    struct str shim; /* BRIM_KNOBS */
};

static int keep(struct work *w, const char ***list, size_t *n, const char *text)
{
    const char **to = ARENA_PUSH(w->arena, list, n);

    if (!to)
        return -ENOMEM;
    *to = arena_strdup(w->arena, text);
    if (!*to)
        --*n;
    return *to ? 0 : -ENOMEM;
}

static int applied(struct work *w, const struct profile_setting *s)
{
    char text[TEXT];

    snprintf(text, sizeof(text), "%s=%s", s->knob, s->value);
    return keep(w, &w->io->applied, &w->io->n_applied, text);
}

static int PRINTF(3, 4) left(struct work *w, const struct profile_setting *s, const char *fmt, ...)
{
    char text[TEXT];
    int len = snprintf(text, sizeof(text), "%s=%s is left: ", s->knob, s->value);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text + len, sizeof(text) - (size_t)len, fmt, ap);
    va_end(ap);
    return keep(w, &w->io->left, &w->io->n_left, text);
}

static int set(struct work *w, const struct profile_setting *s, const char *name, const char *value)
{
    int rc = environ_set(w->arena, w->env, name, value);

    return rc < 0 ? rc : applied(w, s);
}

/* ---- by kind ---- */

static int apply_env(struct work *w, const struct profile_setting *s, const struct knob *k)
{
    const char *there = environ_get(w->user, k->target);

    if (there && strcmp(there, s->value) != 0)
        return left(w, s, "%s is '%.80s' in the environment", k->target, there);
    return set(w, s, k->target, s->value);
}

/* The value of an item of BRIM_KNOBS: "loader.workers=13;loader.prefetch=2"; its length. */
static const char *item(const char *items, const char *name, size_t *len)
{
    size_t n = strlen(name);

    for (const char *at = items; at && *at; at += strcspn(at, ";"), at += *at == ';') {
        if (strncmp(at, name, n) != 0 || at[n] != '=')
            continue;
        *len = strcspn(at + n + 1, ";");
        return at + n + 1;
    }
    return NULL;
}

static int apply_shim(struct work *w, const struct profile_setting *s, const struct knob *k)
{
    size_t len = 0;
    const char *there = item(environ_get(w->user, "BRIM_KNOBS"), k->target, &len);

    if (!w->about->shim)
        return left(w, s, "the shim for Python that sets it was not found");
    if (strchr(s->value, ';'))
        return left(w, s, "BRIM_KNOBS takes no ';' in a value");
    if (there && (len != strlen(s->value) || strncmp(there, s->value, len) != 0))
        return left(w, s, "BRIM_KNOBS has %s=%.*s", k->target, (int)MIN(len, (size_t)80), there);
    if (!there)
        str_addf(&w->shim, "%s%s=%s", w->shim.len ? ";" : "", k->target, s->value);
    return applied(w, s);
}

/* Whether the command is a line for a shell: what follows it are not its arguments. */
static bool is_shell_line(char *const *argv)
{
    static const char *const shells[] = { "sh", "bash", "dash", "zsh", "ksh", "fish" };
    const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];

    for (size_t i = 0; i < ARRAY_SIZE(shells); i++)
        if (!strcmp(name, shells[i]) && argv[1] && argv[1][0] == '-' && strchr(argv[1], 'c'))
            return true;
    return false;
}

/* The value that the command gives to a flag: "--flag value" or "--flag=value"; "" for none, NULL
 * when the flag is not there. */
static const char *flag_of(char *const *argv, const char *flag)
{
    size_t len = strlen(flag);
    const char *value = NULL;

    for (size_t i = 1; argv[0] && argv[i]; i++) {
        if (!strcmp(argv[i], flag))
            value = argv[i + 1] ? argv[i + 1] : "";
        else if (!strncmp(argv[i], flag, len) && argv[i][len] == '=')
            value = argv[i] + len + 1;
    }
    return value;
}

static int append(struct work *w, const char *flag, const char *value)
{
    char **more = environ_copy(w->arena, w->io->argv, 2); /* any list of texts */
    size_t n = 0;

    if (!more)
        return -ENOMEM;
    while (more[n])
        n++;
    more[n] = arena_strdup(w->arena, flag);
    more[n + 1] = arena_strdup(w->arena, value);
    if (!more[n] || !more[n + 1])
        return -ENOMEM;
    w->io->argv = more;
    return 0;
}

static int apply_flag(struct work *w, const struct profile_setting *s, const struct knob *k)
{
    const char *there = flag_of(w->io->argv, k->target), *rate = NULL;
    char buf[KNOB_VALUE_MAX];
    int rc;

    if (there && strcmp(there, s->value) != 0)
        return left(w, s, "the command has %s %.80s", k->target, there);
    if (there)
        return applied(w, s);
    if (k->rate_flag) {
        there = flag_of(w->io->argv, k->rate_flag);
        rate = knob_rate(k, s->value, buf);
    }
    if (there)
        return left(w, s, "the command has %s %.80s", k->rate_flag, there);
    if (k->rate_flag && !rate)
        return left(w, s, "%s can not follow from '%s'", k->rate_flag, s->value);
    if (!w->io->argv[0] || is_shell_line(w->io->argv))
        return left(w, s, "the command is a line for a shell: write %s %s into it", k->target,
                    s->value);
    rc = append(w, k->target, s->value);
    if (rc == 0 && rate)
        rc = append(w, k->rate_flag, rate);
    return rc < 0 ? rc : applied(w, s);
}

/* ---- bindings ---- */

/* The first folder of LD_LIBRARY_PATH with a libblas.so.3, in scratch; NULL. */
static const char *own_blas(char *const *env, char path[TEXT])
{
    const char *list = environ_get(env, "LD_LIBRARY_PATH");

    for (const char *at = list ? list : ""; *at; at += strcspn(at, ":"), at += *at == ':') {
        int len = snprintf(path, TEXT, "%.*s/libblas.so.3", (int)strcspn(at, ":"), at);

        if (len > 0 && len < TEXT && access(path, R_OK) == 0)
            return path;
    }
    return NULL;
}

static int apply_blas(struct work *w, const struct profile_setting *s)
{
    const char *list = environ_get(w->user, "LD_LIBRARY_PATH"), *own, *whole;
    char path[TEXT];
    struct job_library lib;
    int rc = job_library_blas(w->arena, w->about->folders, s->value, &lib);

    if (rc < 0)
        return rc;
    if (!lib.path && !lib.package)
        return left(w, s, "brim knows no BLAS of that name");
    if (!lib.path && lib.why)
        return left(w, s, "%s", lib.why);
    if (!lib.path)
        return left(w, s, "it is not installed (Debian: package %s)", lib.package);
    own = own_blas(w->user, path);
    whole = arena_printf(w->arena, "%s/libblas.so.3", lib.path);
    if (!whole)
        return -ENOMEM;
    if (own && job_library_same(own, whole))
        return applied(w, s);
    if (own)
        return left(w, s, "LD_LIBRARY_PATH leads to %.200s", own);
    whole = list && *list ? arena_printf(w->arena, "%s:%s", lib.path, list) : lib.path;
    return whole ? set(w, s, "LD_LIBRARY_PATH", whole) : -ENOMEM;
}

static int apply_malloc(struct work *w, const struct profile_setting *s)
{
    const char *list = environ_get(w->user, "LD_PRELOAD"), *other, *all;
    struct job_library lib;
    int rc;

    other = list ? strstr(list, "malloc") : NULL;
    if (!strcmp(s->value, "glibc"))
        return other ? left(w, s, "LD_PRELOAD has '%.200s'", list) : applied(w, s);
    rc = job_library_malloc(w->arena, w->about->folders, s->value, &lib);
    if (rc < 0)
        return rc;
    if (!lib.path)
        return lib.package ? left(w, s, "it is not installed (Debian: package %s)", lib.package)
                           : left(w, s, "brim knows no allocator of that name");
    if (other && strstr(list, s->value))
        return applied(w, s);
    if (other)
        return left(w, s, "LD_PRELOAD has '%.200s'", list);
    /* behind the user's: a sanitizer must be the first */
    all = list && *list ? arena_printf(w->arena, "%s:%s", list, lib.path) : lib.path;
    return all ? set(w, s, "LD_PRELOAD", all) : -ENOMEM;
}

static int apply_cpus(struct work *w, const struct profile_setting *s)
{
    const struct binding_about about = {
        .tree = w->about->tree, .cpus = w->about->cpus, .env = w->user, .argv = w->io->argv
    };
    const char *cpus = NULL;
    char why[BINDING_WHY];
    int rc;

    if (!strcmp(s->value, "none"))
        return applied(w, s);
    rc = binding_cpus(w->arena, &about, s->value, &cpus, why);
    if (rc < 0)
        return rc;
    if (!cpus)
        return left(w, s, "%s", *why ? why : "the machine's CPUs are not known");
    w->io->cpus = cpus;
    return applied(w, s);
}

static int apply_binding(struct work *w, const struct profile_setting *s, const struct knob *k)
{
    if (!strcmp(k->target, "blas"))
        return apply_blas(w, s);
    if (!strcmp(k->target, "malloc"))
        return apply_malloc(w, s);
    if (!strcmp(k->target, "cpus"))
        return apply_cpus(w, s);
    return left(w, s, "brim does not know how to bind '%s'", k->target);
}

/* ---- all ---- */

static int apply_one(struct work *w, const struct profile_setting *s)
{
    const struct knob *k = knobs_find(w->about->knobs, s->knob);
    const char *near = k ? NULL : knobs_near(w->about->knobs, s->knob);
    struct err why = { "" };

    if (!k)
        return left(w, s, "there is no such knob%s%s%s",
                    near ? " (did you mean " : " (one of your own? --knobs FILE", near ? near : "",
                    near ? "?)" : ")");
    if (knob_check(k, s->value, &why) < 0)
        return left(w, s, "%s", why.text);
    if (k->risk != KNOB_SAFE && w->about->safe_only)
        return left(w, s, "it may change what is computed, and was found for another job");
    if (k->common && w->about->alone)
        return left(w, s,
                    "all ranks must have it, and this brim does not know what those on other "
                    "nodes have (--profile-anyway applies it)");
    switch (k->apply) {
    case KNOB_ENV:
        return apply_env(w, s, k);
    case KNOB_SHIM:
        return apply_shim(w, s, k);
    case KNOB_FLAG:
        return apply_flag(w, s, k);
    case KNOB_BINDING:
        return apply_binding(w, s, k);
    case KNOB_LAUNCHER:
        return left(w, s, "give it to what starts the ranks: %s %s", k->target, s->value);
    case KNOB_SCRIPT:
        return left(w, s, "the script alone can do that");
    default:
        return left(w, s, "an operator sets it on the device: %s %s", k->target, s->value);
    }
}

/* What the user's BRIM_KNOBS has stays in front. */
static int finish_shim(struct work *w)
{
    const char *there = environ_get(w->user, "BRIM_KNOBS"), *all;

    if (str_error(&w->shim) || !w->shim.len)
        return str_error(&w->shim) ? -ENOMEM : 0;
    all = there && *there ? arena_printf(w->arena, "%s;%s", there, str_text(&w->shim))
                          : str_text(&w->shim);
    return all ? environ_set(w->arena, w->env, "BRIM_KNOBS", all) : -ENOMEM;
}

int profile_settings_apply(struct arena *a, const struct profile *p,
                           const struct profile_settings_about *about, struct profile_settings *io,
                           struct err *e)
{
    struct work w = { .arena = a, .about = about, .io = io, .user = io->env };
    int rc;

    w.shim = (struct str)STR_INIT(KNOBS_TEXT_MAX);
    w.env = environ_copy(a, io->env, ENV_MORE);
    rc = w.env ? 0 : -ENOMEM;
    for (size_t i = 0; i < p->count && rc == 0; i++)
        rc = apply_one(&w, &p->settings[i]);
    if (rc == 0)
        rc = finish_shim(&w);
    str_done(&w.shim);
    if (rc < 0)
        return err_nomem(e);
    io->env = w.env;
    return 0;
}

void profile_settings_join(struct str *out, const char *const *texts, size_t n, const char *between)
{
    for (size_t i = 0; i < n; i++)
        str_addf(out, "%s%s", i ? between : "", texts[i]);
}
