#include "queue/guard/command.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/conf.h"
#include "base/parse.h"
#include "queue/guard/strays.h"
#include "queue/job/wire.h"
#include "run/job/binding.h"
#include "run/job/environ.h"

enum { OWN_VARIABLES = 7, PATH_TEXT = 4096 };

/* brim itself, also when its file was replaced meanwhile. */
static const char program[] = "/proc/self/exe";

static size_t count(const struct str *order, const char *key)
{
    const char *name, *value;
    size_t at = 0, len, n = 0;

    while (wire_next(order, &at, &name, &len, &value))
        n += len == strlen(key) && !memcmp(name, key, len);
    return n;
}

static void collect(const struct str *order, const char *key, char **to)
{
    const char *name, *value;
    size_t at = 0, len;

    while (wire_next(order, &at, &name, &len, &value))
        if (len == strlen(key) && !memcmp(name, key, len))
            *to++ = order->data + (value - order->data);
}

/* "brim run" in front: argv[0] of the result is what is executed. */
static int make_argv(struct queue_command *c, struct arena *a, const struct queue_guard *g,
                     const struct str *order)
{
    static const char *const front[] = { program, "run", "--quiet", "--name" };
    size_t n = count(order, "arg"), before = g->watch ? ARRAY_SIZE(front) + 2 : 0;

    c->argv = arena_alloc(a, (n + before + 1) * sizeof(*c->argv));
    if (!c->argv)
        return -ENOMEM;
    for (size_t i = 0; i < ARRAY_SIZE(front) && before; i++) {
        c->argv[i] = arena_strdup(a, front[i]);
        if (!c->argv[i])
            return -ENOMEM;
    }
    if (before) {
        c->argv[before - 2] = arena_strdup(a, g->job->name);
        c->argv[before - 1] = arena_strdup(a, "--");
        if (!c->argv[before - 2] || !c->argv[before - 1])
            return -ENOMEM;
    }
    collect(order, "arg", c->argv + before);
    return n ? 0 : -EINVAL;
}

/* Take variables out of an environment whose names start so. */
static void drop(char **env, const char *start)
{
    char **to = env;

    for (; *env; env++)
        if (strncmp(*env, start, strlen(start)) != 0)
            *to++ = *env;
    *to = NULL;
}

static int make_env(struct queue_command *c, struct arena *a, const struct queue_guard *g,
                    const struct str *order)
{
    size_t n = count(order, "env"), more = OWN_VARIABLES;
    char **env = arena_alloc(a, (n + 1) * sizeof(*env));
    char devices[24] = "", id[24], array[24], task[24], attempt[24], mark[STRAYS_MARK];
    const char *own[OWN_VARIABLES][2] = {
        { "BRIM_JOB", id },          { "BRIM_ARRAY", array },        { "BRIM_ARRAY_TASK", task },
        { "BRIM_ATTEMPT", attempt }, { QUEUE_GUARD_VARIABLE, mark }, { "BRIM_TEAM", g->job->team },
        { "BRIM_DEVICES", devices },
    };

    if (!env)
        return -ENOMEM;
    collect(order, "env", env);
    drop(env, "BRIM_ARRAY"); /* a job of an array may have submitted it */
    for (size_t i = 0; g->give[i]; i += 2)
        more++;
    c->env = environ_copy(a, env, more);
    if (!c->env)
        return -ENOMEM;
    snprintf(id, sizeof(id), "%lld", (long long)g->job->id);
    snprintf(array, sizeof(array), "%lld", (long long)g->job->array);
    snprintf(task, sizeof(task), "%d", (int)g->job->task);
    snprintf(attempt, sizeof(attempt), "%d", (int)g->job->attempt);
    if (g->job->devices > 0)
        snprintf(devices, sizeof(devices), "%d", (int)queue_slots_count(g->job->slots));
    strays_mark(mark, g->job->id, getpid());
    for (size_t i = 0; i < OWN_VARIABLES; i++)
        if (*own[i][1] && (g->job->task >= 0 || (i != 1 && i != 2)) &&
            environ_set(a, c->env, own[i][0], own[i][1]) < 0)
            return -ENOMEM;
    for (size_t i = 0; g->give[i]; i += 2)
        if (environ_set(a, c->env, g->give[i], g->give[i + 1]) < 0)
            return -ENOMEM;
    return 0;
}

/* A file's name with %j (12, or 12_3), %A (12) and %a (3) replaced. */
static const char *make_name(struct arena *a, const struct queue_job *j, const char *pattern)
{
    CLEANUP(str_done) struct str out = STR_INIT(PATH_TEXT);

    for (; *pattern; pattern++) {
        if (*pattern != '%' || !strchr("jAa%", pattern[1]) || !pattern[1]) {
            str_add_char(&out, *pattern);
            continue;
        }
        pattern++;
        if (*pattern == 'j')
            queue_job_label(j, &out);
        else if (*pattern == 'A')
            str_addf(&out, "%lld", (long long)j->array);
        else if (*pattern == 'a')
            str_addf(&out, "%d", (int)MAX(j->task, 0));
        else
            str_add_char(&out, '%');
    }
    return str_error(&out) ? NULL : arena_strdup(a, str_text(&out));
}

int queue_command_make(struct queue_command *ret, struct arena *a, const struct queue_guard *g,
                       const struct str *order, struct err *e)
{
    const char *out = wire_get(order, "out"), *err = wire_get(order, "err");
    int rc = make_argv(ret, a, g, order);

    if (rc == 0)
        rc = make_env(ret, a, g, order);
    ret->order = order;
    ret->cwd = wire_get(order, "cwd");
    ret->umask = (int)wire_int(order, "umask", 022);
    ret->out = out ? make_name(a, g->job, out) : NULL;
    ret->err = err ? make_name(a, g->job, err) : NULL;
    if (rc == -ENOMEM || (out && !ret->out) || (err && !ret->err))
        return err_nomem(e);
    return rc < 0 || !ret->cwd ? err_set(e, -EINVAL, "its order is damaged") : 0;
}

/* ---- in the process that becomes it ---- */

static int become_user(const struct queue_job *j, struct err *e)
{
    if (geteuid() != 0 || j->uid == 0)
        return 0;
    if (initgroups(j->user, j->gid) < 0 || setresgid(j->gid, j->gid, j->gid) < 0 ||
        setresuid(j->uid, j->uid, j->uid) < 0)
        return err_set(e, -errno, "cannot become user %s: %s", j->user, strerror(errno));
    return 0;
}

/* A pipe that nobody reads would be waited for: that is told instead. */
static int open_output(const char *name, int to, struct err *e)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);

    if (fd < 0 && errno == ENXIO)
        return err_set(e, -ENXIO, "cannot write its output to %s: nobody reads that pipe", name);
    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0 || dup2(fd, to) < 0)
        return err_set(e, -errno, "cannot write its output to %s: %s", name, strerror(errno));
    close(fd);
    return 0;
}

static int set_files(const struct queue_command *c, struct err *e)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC), rc = 0;

    if (null < 0 || dup2(null, 0) < 0)
        return err_set(e, -errno, "cannot open /dev/null: %s", strerror(errno));
    if (c->out)
        rc = open_output(c->out, 1, e);
    else if (dup2(c->output, 1) < 0)
        rc = err_set(e, -errno, "cannot write its output: %s", strerror(errno));
    if (rc == 0 && c->err)
        rc = open_output(c->err, 2, e);
    else if (rc == 0 && dup2(1, 2) < 0)
        rc = err_set(e, -errno, "cannot write its output: %s", strerror(errno));
    return rc;
}

/* Those of the shell that submitted it, as far as ours let it: "7 1024" by number. */
static void set_limits(const struct str *order)
{
    const char *name, *value;
    size_t at = 0, len;

    while (wire_next(order, &at, &name, &len, &value)) {
        struct rlimit limit;
        uint64_t which, soft;
        int n;

        if (len != strlen("rlimit") || memcmp(name, "rlimit", len) != 0)
            continue;
        n = parse_digits(value, 10, 4, &which);
        if (n == 0 || value[n] != ' ' || parse_u64(value + n + 1, &soft) < 0 ||
            which >= RLIM_NLIMITS || getrlimit((__rlimit_resource_t)which, &limit) < 0)
            continue;
        limit.rlim_cur = MIN((rlim_t)soft, limit.rlim_max);
        (void)setrlimit((__rlimit_resource_t)which, &limit);
    }
}

/* As a login leaves them. */
static void reset_signals(void)
{
    sigset_t none;

    for (int i = 1; i < NSIG; i++)
        if (i != SIGKILL && i != SIGSTOP)
            signal(i, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

int queue_command_become(const struct queue_command *c, const struct queue_guard *g, struct err *e)
{
    int rc;

    reset_signals(); /* first: what hangs below is ended by the signals that end the job */
    rc = become_user(g->job, e);
    if (rc < 0)
        return rc;
    umask((mode_t)c->umask & 0777);
    if (chdir(c->cwd) < 0)
        rc = err_set(e, -errno, "cannot enter its folder %s: %s", c->cwd, strerror(errno));
    else
        rc = set_files(c, e);
    if (rc < 0)
        return rc == -ENOENT ? -EACCES : rc; /* only a command that is not there is -ENOENT */
    if (*g->cpus)
        (void)binding_bind(g->cpus); /* else it runs where it may */
    set_limits(c->order);
    conf_set_environment(c->env); /* the command is looked for in the job's PATH */
    execvp(c->argv[0], c->argv);
    return err_set(e, -errno, "%s: %s", c->argv[0],
                   errno == ENOENT && !strchr(c->argv[0], '/') ? "command not found"
                                                               : strerror(errno));
}
