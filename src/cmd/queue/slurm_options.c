#include "cmd/queue/slurm_options.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "queue/job/job.h"

/* A step of brim's priorities in Slurm's, whose weights are thousands. */
enum { NICE_STEP = 1000, WARN_MOST_S = 65535, AFTER_MOST = 1 << 16 };

int64_t slurm_options_nice(int64_t priority)
{
    return -priority * NICE_STEP;
}

static int64_t seconds(int64_t ns)
{
    return (ns + NS_PER_S - 1) / NS_PER_S;
}

static bool has_backslash(const char *file)
{
    return file && strchr(file, '\\');
}

/* The first option that was given and that Slurm cannot carry out: ERR_USAGE, or 0. */
static int refuse(const struct submit_opts *o, const struct slurm_shell *s, int signal,
                  struct err *e)
{
    static const char backslash[] =
        "Slurm takes a backslash in a file's name for a sign of its own: name another file";
    const struct {
        bool given;
        const char *option, *why;
    } rows[] = {
        { o->least > 0, "--min-devices",
          "a job of Slurm goes on with as many devices as it asked for: leave the option out" },
        { o->deadline_ns >= 0, "--deadline",
          "Slurm's priorities are made of age, size, fair share, QOS and partition, and know "
          "nothing of deadlines: leave the option out" },
        { o->share, "--share",
          "jobs of Slurm share a device when they ask for shards, however busy they are: leave the "
          "option out" },
        { o->grace_ns >= 0, "--grace",
          "how long a job of Slurm may take to end, GraceTime of its partition or QOS says: leave "
          "the option out" },
        { signal != queue_signal("TERM", NULL) && o->warn_ns == 0, "--checkpoint-signal",
          "a job of Slurm that gives way gets SIGTERM: with --warn it gets the signal before its "
          "limit; or leave the option out" },
        { seconds(o->warn_ns) > WARN_MOST_S, "--warn",
          "Slurm sends a signal 65535 s before the limit at the earliest: say a shorter time" },
        { o->priority > 0 && !s->root, "--priority",
          "only operators of Slurm put jobs before others: leave the option out, and ask one for "
          "brim priority" },
        { has_backslash(o->output), "--output", backslash },
        { has_backslash(o->error), "--error", backslash },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (rows[i].given)
            return err_usage(e, "--engine slurm: %s: %s", rows[i].option, rows[i].why);
    return 0;
}

/* "afterok:12,afterany:7" out of what brim's queue reads. */
static int make_after(const char *text, struct arena *a, const char **ret, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(AFTER_MOST);
    enum queue_after_kind kind = AFTER_NONE;
    int64_t id;
    int rc;

    while ((rc = queue_after_next(&text, &kind, &id, e)) > 0)
        str_addf(&out, "%s%s:%lld", out.len ? "," : "", queue_after_name(kind), (long long)id);
    if (rc < 0)
        return ERR_USAGE;
    *ret = arena_strdup(a, str_text(&out));
    return *ret && !str_error(&out) ? 0 : err_nomem(e);
}

int slurm_options(struct slurm_order *ret, const struct submit_opts *o, const struct slurm_shell *s,
                  struct arena *a, struct err *e)
{
    int signal = queue_signal(o->signal ? o->signal : "TERM", e);
    int rc = signal < 0 ? ERR_USAGE : refuse(o, s, signal, e);

    *ret = (struct slurm_order){
        .name = o->name ? o->name : s->name,
        .folder = s->folder,
        .account = o->team ? o->team : s->team,
        .qos = o->class,
        .array = o->array,
        .output = o->output,
        .error = o->error,
        .devices = (int64_t)o->devices,
        .cpus = (int64_t)o->cpus,
        .limit_s = seconds(o->limit_ns),
        .warn_s = seconds(o->warn_ns),
        .signal = signal,
        .nice = slurm_options_nice(o->priority),
        .hold = o->hold,
        .requeue = o->requeue,
        .watch = o->watch,
        .wait = o->wait && !o->dry,
        .test = o->dry,
    };
    return rc == 0 && o->after ? make_after(o->after, a, &ret->after, e) : rc;
}
