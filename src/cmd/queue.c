/* brim queue: the engine of this machine's queue, in the foreground. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/clock.h"
#include "base/log.h"
#include "cmd/common/cmd.h"
#include "cmd/common/fake_option.h"
#include "cmd/queue/queue_client.h"
#include "devices_csv.h"
#include "probe/gpu/fake_spec.h"
#include "probe/recording.h"
#include "queue/client.h"
#include "queue/retire.h"
#include "queue/server.h"
#include "run/job/binding.h"
#include "sched/engine.h"

enum { POLICY_MAX = 64 << 10 };

struct queue_opts {
    bool on_demand, private, retire;
    const char *policy, *directory, *fake, *play, *log;
    int64_t idle_ns, keep_ns, interval_ns, grace_ns;
    uint64_t jobs, of_user;
};

enum { JOBS_MOST = 1000000 }; /* 5 GB of memory */

static const struct opt opts[] = {
    { OPT_STRING, 'p', "policy", offsetof(struct queue_opts, policy), "POLICY|FILE",
      "how to decide: one of brim sim --policies, or an INI file (priority)" },
    { OPT_STRING, 'd', "directory", offsetof(struct queue_opts, directory), "DIR",
      "the queue's folder" },
    { OPT_FLAG, 0, "private", offsetof(struct queue_opts, private), NULL,
      "as root: for root alone, not for all users of this machine" },
    { OPT_FLAG, 0, "retire", offsetof(struct queue_opts, retire), NULL,
      "end a queue for all users, which nobody runs: each has their own again" },
    FAKE_OPTION(offsetof(struct queue_opts, fake)),
    { OPT_STRING, 0, "play", offsetof(struct queue_opts, play), "FILE",
      "a script of what invented accelerators do, as brim run --fake has it" },
    { OPT_DURATION, 0, "interval", offsetof(struct queue_opts, interval_ns), "TIME",
      "how often to look at how busy jobs are, for [idle] and [share] (10s)", .least = 100 * OPT_MS,
      .most = OPT_MIN },
    { OPT_DURATION, 0, "keep", offsetof(struct queue_opts, keep_ns), "TIME",
      "forget jobs that ended so long ago (30d)" },
    { OPT_UINT, 0, "most-jobs", offsetof(struct queue_opts, jobs), "N",
      "take no more jobs that have not ended, 5 KB of memory each (40000)", .least = 1,
      .most = JOBS_MOST },
    { OPT_UINT, 0, "most-of-user", offsetof(struct queue_opts, of_user), "N",
      "the same of one user but root (20000)", .least = 1, .most = JOBS_MOST },
    { OPT_DURATION, 0, "most-grace", offsetof(struct queue_opts, grace_ns), "TIME",
      "how long a job may take to end when it is to give way (1h)" },
    { OPT_CHOICE, 0, "log", offsetof(struct queue_opts, log), "LEVEL",
      "the least urgent lines of the log", .choices = log_level_names },
    { OPT_FLAG, 0, "on-demand", offsetof(struct queue_opts, on_demand), NULL,
      "end when there is nothing to do; how other commands start it" },
    { OPT_DURATION, 0, "idle", offsetof(struct queue_opts, idle_ns), "TIME",
      "with --on-demand: for so long (30s)" },
    { .kind = OPT_END },
};

static const struct queue_opts defaults = {
    .policy = "priority",
    .log = "info",
    .idle_ns = 30 * NS_PER_S,
    .keep_ns = 30 * (86400 * NS_PER_S),
    .interval_ns = 10 * NS_PER_S,
    .grace_ns = 3600 * NS_PER_S,
    .jobs = 40000,
    .of_user = 20000,
};

static int load_policy(struct policy *p, const char *name, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(POLICY_MAX);
    struct engine_policy_text from = { .name = name };
    int rc;

    if (!strpbrk(name, "./")) {
        rc = policy_named(p, name, e);
        if (rc == -ENOENT)
            return err_context(e, ERR_USAGE, "--policy %s: ", name);
        return rc < 0 ? rc : err_usage_of(engine_check(p, ENGINE_LOCAL, &from, e));
    }
    rc = file_read(name, &text, e);
    if (rc == 0)
        rc = policy_read(p, name, str_text(&text), text.len, e);
    from.text = str_text(&text);
    from.len = text.len;
    return rc < 0 ? rc : engine_check(p, ENGINE_LOCAL, &from, e);
}

static int check(const struct queue_opts *o, struct err *e)
{
    return o->play ? fake_option_script("--play", o->play, e) : 0;
}

/* The node has names of the catalogue's. */
static int load_node(struct node **ret, struct catalogue *c, const struct queue_opts *o,
                     struct err *e)
{
    struct probe p = { .catalogue = c, .fake = o->fake, .patience_ns = 10 * NS_PER_S };
    int rc = catalogue_load(c, data_devices_csv, data_devices_csv_len, e);

    if (rc == 0 && o->fake)
        rc = probe_fake_check(c, o->fake, e);
    if (rc == 0)
        rc = recording_live(&p, ret, e);
    for (size_t i = 0; i < MIN(p.n_troubles, (size_t)TROUBLES_MAX); i++)
        log_debug("%s", p.troubles[i].text);
    return rc;
}

static void ready(void *arg, const char *folder, const char *what)
{
    (void)arg;
    log_info("queue of %s, folder %s", what, folder);
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    const struct queue_opts *o = values;
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(catalogue_done) struct catalogue catalogue = { .n_products = 0 };
    CLEANUP(node_freep) struct node *node = NULL;
    struct policy policy;
    struct queue_config c = {
        .clock = app->clock,
        .policy = &policy,
        .on_demand = o->on_demand,
        .idle_ms = o->idle_ns / NS_PER_MS,
        .keep_ms = o->keep_ns / NS_PER_MS,
        .look_ms = o->interval_ns / NS_PER_MS,
        .most_jobs = (int64_t)o->jobs,
        .most_of_user = (int64_t)o->of_user,
        .most_grace_ms = o->grace_ns / NS_PER_MS,
        .fake = o->play || !o->fake || !fake_is_script(o->fake) ? o->play : o->fake,
        .ready = o->on_demand ? NULL : ready,
    };
    int rc = check(o, e);

    (void)operands;
    log_set_level(o->log);
    c.folder = queue_client_folder(&a, o->directory);
    if (!c.folder)
        return err_nomem(e);
    if (rc == 0)
        rc = queue_client_check_folder(o->directory, c.folder, e);
    if (rc == 0 && o->retire)
        return queue_retire(c.folder, e);
    if (rc == 0)
        rc = load_policy(&policy, o->policy, e);
    if (rc < 0)
        return rc;
    rc = load_node(&node, &catalogue, o, e);
    if (rc < 0)
        return rc;
    c.node = node;
    c.cpus = binding_allowed(&a);
    if (!c.cpus)
        return err_nomem(e);
    if (o->private && queue_is_shared(c.folder))
        return err_set(e, -EEXIST,
                       "the queue in %s is for all users: brim queue --retire ends that", c.folder);
    c.shared = geteuid() == 0 && !o->private && (!o->on_demand || queue_is_shared(c.folder));
    rc = queue_serve(&c, e);
    if (rc == -EBUSY && o->on_demand) { /* somebody else was faster */
        *e->text = 0;
        return EXIT_OK;
    }
    return rc;
}

const struct cmd cmd_queue = {
    .name = "queue",
    .args = "",
    .summary = "run the queue of this machine in the foreground, as a service does",
    .about =
        "Decides which jobs of the queue start, on which devices, and sees to them. There is no\n"
        "need to start it: brim submit does when it is not there. Run it as root, by systemd for\n"
        "one, and all users of the machine share one queue. It may be killed at any time: jobs\n"
        "go on, and the next one takes up where it stopped. SIGTERM ends it, and not the jobs: a\n"
        "queue for all users stays one, and their commands say that nobody runs it, until the\n"
        "next one comes or --retire ends it.",
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct queue_opts),
    .run = run,
};
