#include "slurm/user/order.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"

enum { OPTIONS = 40, MINUTE_S = 60, PATTERN_MOST = 1 << 16 };
static const int64_t year_ms = INT64_C(31556952) * 1000;

const char slurm_order_script[] =
    "#!/bin/sh\n"
    "# brim submit: the command is in the arguments\n"
    "BRIM_JOB=$SLURM_JOB_ID BRIM_ATTEMPT=$((${SLURM_RESTART_COUNT:-0} + 1))\n"
    "export BRIM_JOB BRIM_ATTEMPT\n"
    "if [ -n \"${SLURM_ARRAY_JOB_ID:-}\" ]; then\n"
    "    BRIM_ARRAY=$SLURM_ARRAY_JOB_ID BRIM_ARRAY_TASK=$SLURM_ARRAY_TASK_ID\n"
    "    export BRIM_ARRAY BRIM_ARRAY_TASK\n"
    "fi\n"
    "exec \"$@\"\n";

/* Arguments that are being made; what fails sticks. */
struct making {
    struct arena *a;
    const char **argv;
    size_t n;
    bool failed;
};

static void add(struct making *m, const char *word)
{
    m->failed |= !word;
    m->argv[m->n++] = word;
}

static void add_text(struct making *m, const char *option, const char *text)
{
    if (text)
        add(m, arena_printf(m->a, "--%s=%s", option, text));
}

static void add_number(struct making *m, const char *option, int64_t number)
{
    if (number)
        add(m, arena_printf(m->a, "--%s=%" PRId64, option, number));
}

static void add_flag(struct making *m, const char *option, bool is)
{
    if (is)
        add(m, option);
}

/* A file's name as Slurm reads it: it knows more behind '%', and takes "none" for no file. */
static void add_file(struct making *m, const char *option, const char *name, bool of_array)
{
    CLEANUP(str_done) struct str out = STR_INIT(PATTERN_MOST);

    if (!name)
        return;
    if (*name != '/')
        str_add(&out, "./");
    for (; *name; name++) {
        const char *rest = *name == '%' ? name + 1 : "";

        name += *rest && strchr("jAa%", *rest);
        if (*rest == 'j')
            str_add(&out, of_array ? "%A_%a" : "%j");
        else if (*rest == 'A')
            str_add(&out, of_array ? "%A" : "%j");
        else if (*rest == 'a')
            str_add(&out, of_array ? "%a" : "0");
        else if (name[0] == '%')
            str_add(&out, "%%");
        else
            str_add_char(&out, *name);
    }
    m->failed |= str_error(&out) != 0;
    add_text(m, option, str_text(&out));
}

static void add_options(struct making *m, const struct slurm_order *o)
{
    add(m, "sbatch");
    add(m, "--parsable");
    add(m, "--export=ALL");
    add(m, "--nodes=1");
    add(m, "--ntasks=1");
    add(m, "--open-mode=append");
    add(m, o->requeue ? "--requeue" : "--no-requeue");
    add_text(m, "job-name", o->name);
    add_text(m, "chdir", o->folder);
    add_text(m, "account", o->account);
    add_text(m, "qos", o->qos);
    add_text(m, "array", o->array);
    add_text(m, "dependency", o->after);
    add_flag(m, "--kill-on-invalid-dep=yes", o->after);
    add_file(m, "output", o->output, o->array);
    add_file(m, "error", o->error, o->array);
    if (o->devices)
        add(m, arena_printf(m->a, "--gres=gpu:%" PRId64, o->devices));
    add_number(m, "cpus-per-task", o->cpus);
    add_number(m, "time", (o->limit_s + MINUTE_S - 1) / MINUTE_S);
    if (o->warn_s) /* B: to the batch script, which has become the command */
        add(m, arena_printf(m->a, "--signal=B:%d@%" PRId64, o->signal, o->warn_s));
    add_number(m, "nice", o->nice);
    add_flag(m, "--hold", o->hold);
    add_flag(m, "--wait", o->wait);
    add_flag(m, "--test-only", o->test);
    add(m, arena_printf(m->a, "/proc/self/fd/%d", SLURM_ORDER_FD));
    if (!o->watch)
        return;
    add(m, "srun");
    add(m, "--brim");
    add_number(m, "cpus-per-task", o->cpus);
    add(m, "--");
}

const char *const *slurm_order_argv(const struct slurm_order *o, char *const *command,
                                    struct arena *a)
{
    struct making m = { .a = a };
    size_t n = 0;

    while (command[n])
        n++;
    m.argv = arena_alloc(a, (OPTIONS + n + 1) * sizeof(*m.argv));
    if (!m.argv)
        return NULL;
    add_options(&m, o);
    for (size_t i = 0; i < n; i++)
        add(&m, command[i]);
    return m.failed ? NULL : m.argv;
}

/* Of the job that a job is submitted from. */
static bool is_of_another(const char *variable)
{
    static const char *const names[] = {
        "SLURM_ARRAY_",     "SLURM_RESTART_COUNT=", "BRIM_JOB=",     "BRIM_ATTEMPT=", "BRIM_ARRAY=",
        "BRIM_ARRAY_TASK=", "BRIM_GUARD=",          "BRIM_DEVICES=", "BRIM_TEAM=",
    };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

char *const *slurm_order_env(const struct slurm_order *o, char *const *env, struct arena *a)
{
    size_t n = 0, kept = 0;
    char **ret;

    while (env[n])
        n++;
    ret = arena_alloc(a, (n + 3) * sizeof(*ret));
    for (size_t i = 0; ret && i < n; i++)
        if (!is_of_another(env[i]))
            ret[kept++] = env[i];
    if (ret && o->devices) {
        ret[kept] = arena_printf(a, "BRIM_DEVICES=%" PRId64, o->devices);
        ret = ret[kept++] ? ret : NULL;
    }
    if (ret && o->account) {
        ret[kept] = arena_printf(a, "BRIM_TEAM=%s", o->account);
        ret = ret[kept] ? ret : NULL;
    }
    return ret;
}

/* ---- what it says ---- */

/* A line from *at on, without "sbatch: error: "; its length, and *at behind it. Whether it is an
 * error. */
static bool next_line(const char **at, const char **line, size_t *len)
{
    static const char *const heads[] = { "sbatch: ", "scancel: ", "scontrol: ", "error: ",
                                         "fatal: " };
    const char *from = *at + strspn(*at, "\r\n");
    bool error = false;

    *at = from + strcspn(from, "\r\n");
    for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
        if (strncmp(from, heads[i], strlen(heads[i])) == 0) {
            from += strlen(heads[i]);
            error |= heads[i][0] != 's';
        }
    *line = from;
    *len = (size_t)(*at - from);
    return error;
}

void slurm_order_words(const char *said, bool errors, struct str *out)
{
    const char *line;
    bool first = true;
    size_t len;

    while (said[strspn(said, "\r\n")]) {
        bool error = next_line(&said, &line, &len);

        if (errors && !error)
            continue;
        if (!first)
            str_add(out, "; ");
        first = false;
        str_add_n(out, line, len);
    }
}

/* What stands between two texts, the second of which may be the end. */
static const char *between(const char *text, const char *from, const char *to, int *len)
{
    const char *at = strstr(text, from), *end;

    if (!at)
        return NULL;
    at += strlen(from);
    end = *to ? strstr(at, to) : at + strlen(at);
    *len = end ? (int)(end - at) : 0;
    return end;
}

/* Slurm counts a job without a limit as one of a year. */
static bool is_never(const char *time, int64_t now_ms)
{
    uint64_t year = 0;

    return parse_digits(time, 10, 5, &year) > 0 && (int64_t)year > 1971 + now_ms / year_ms;
}

void slurm_order_forecast(const char *said, int64_t now_ms, struct str *out)
{
    CLEANUP(str_done) struct str words = STR_INIT(PATTERN_MOST);
    int time = 0, nodes = 0, partition = 0;
    const char *text, *a, *b, *c;

    slurm_order_words(said, false, &words);
    str_fail(out, str_error(&words));
    text = str_text(&words);
    a = between(text, " to start at ", " using ", &time);
    b = a ? between(a, " on nodes ", " in partition ", &nodes) : NULL;
    c = b ? between(b, " in partition ", "", &partition) : NULL;
    if (c && is_never(a - time, now_ms))
        str_add(
            out,
            "would wait: Slurm does not know for how long, as when jobs that run have no limit");
    else if (c)
        str_addf(out, "would start at %.*s, on %.*s (partition %.*s)", time, a - time, nodes,
                 b - nodes, partition, c - partition);
    else
        str_add(out, text);
}
