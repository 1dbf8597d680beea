/* brim sim: replays a trace under policies, in virtual time. */
#include <errno.h>
#include <math.h>
#include <pwd.h>
#include <string.h>

#include "base/thread.h"
#include "base/file.h"
#include "base/clock.h"
#include "base/ini.h"
#include "cmd/common/cmd.h"
#include "cmd/sim/accounts.h"
#include "cmd/sim/html.h"
#include "cmd/sim/power.h"
#include "model/signal/quantity.h"
#include "render/report/sim_page.h"
#include "sim/went.h"
#include "trace/activity.h"
#include "trace/unpack.h"

enum { TRACE_MAX = 1 << 30, POLICY_MAX = 64 << 10, OUTPUT_MAX = 1 << 30, RUNS = 16 };

struct sim_opts {
    bool actions, policies, pack;
    const char *json, *policy, *compare, *nodes, *activity, *engine;
    int64_t idle_stretch_ns, from_ns;
    uint64_t load, rounds, seed, spot_price;
    struct sim_fault_opts faults;
    struct device_price_opts rates;
    const char *by, *html, *what_if, *target, *with;
    const char *from_sacct, *conf;
    int64_t patience_ns;
};

static const char *const by[] = { "class", "user", "team", NULL };

#define AT(member) offsetof(struct sim_opts, member)

static const struct opt opts[] = {
    CMD_JSON(AT(json)),
    { OPT_STRING, 'p', "policy", AT(policy), "POLICY|FILE",
      "the policy (else fifo): one of --policies, or an INI file (a name with a dot or a slash)" },
    { OPT_STRING, 'c', "compare", AT(compare), "POLICY,...", "more policies beside it" },
    { OPT_CHOICE, 'e', "engine", AT(engine), "ENGINE",
      "what that engine makes of them: brim's queue of one machine, or Slurm",
      .choices = engine_names },
    { OPT_STRING, 'n', "nodes", AT(nodes), "NxD|FILE",
      "nodes x devices each (else 64x8), with kinds 32x8:A100,4x4:T4; or a table of nodes" },
    { OPT_MAYBE, 0, "from-sacct", AT(from_sacct), "DAYS|SINCE",
      "no trace, but Slurm's own accounting of that many days, or since a date (14 days): how it "
      "went, and what the policy would have changed" },
    { OPT_STRING, 0, "slurm-conf", AT(conf), "FILE",
      "from-sacct: slurm.conf (else where Slurm's own commands look for it)" },
    { OPT_DURATION, 0, "patience", AT(patience_ns), "TIME",
      "from-sacct: how long sacct may say nothing (5m)", .least = OPT_S, .most = 24 * OPT_HOUR },
    { OPT_FLAG, 'a', "actions", AT(actions), NULL,
      "print each start and preemption: at which second, and why" },
    { OPT_FLAG, 0, "policies", AT(policies), NULL, "list the policies that have names" },
    { OPT_FLAG, 0, "pack", AT(pack), NULL,
      "do not run the jobs: say how much of the nodes they fill" },
    { OPT_UINT, 0, "load", AT(load), "PERCENT", "pack: devices asked for, of those that there are",
      .least = 1, .most = 1000, .unit = "%" },
    { OPT_UINT, 0, "rounds", AT(rounds), "N",
      "pack: random orders of the jobs, of which the mean is printed", .least = 1, .most = 10000 },
    { OPT_UINT, 0, "seed", AT(seed), "N", "of the first order (pack), of failures, of activity" },
    { OPT_STRING, 'f', "failures", AT(faults.failures), "NAME|RATE|FILE",
      "nodes fail: a published rate (RSC-1, Llama-3-405B), failures of 1,000 nodes in a day (6.5; "
      "0.8/device), or a list" },
    { OPT_STRING, 'w', "what-if", AT(what_if), "nodes=CHANGE",
      "the same with other nodes: +16, +4x8:A100, -8" },
    { OPT_STRING, 't', "target", AT(target), "METRIC=TIME",
      "the fewest nodes to add so that p90-wait=1h (mean-wait, p99-wait, completion ...)" },
    { OPT_STRING, 0, "with", AT(with), "D:KIND,...",
      "target: nodes that may be added (else of each kind there is)" },
    { OPT_STRING, 0, "html", AT(html), "FILE",
      "write one page with pictures: occupancy, queue and teams over time", .file = OPT_PAGE },
    { OPT_CHOICE, 0, "by", AT(by), "WHAT", "the second table is by these", .choices = by },
    RATE_GPU(struct sim_opts, "what devices without a kind are, for energy and money"),
    RATE_PRICE(struct sim_opts),
    { OPT_UINT, 0, "spot-price", AT(spot_price), "PERCENT",
      "of the price, for an hour of a spot job" },
    RATE_POWER(struct sim_opts, "watts of a device (else its TDP)"),
    { OPT_STRING, 0, "windows", AT(faults.windows), "FILE",
      "planned times without a node: a table time_s,node,duration_s,drain_s" },
    { OPT_DURATION, 0, "repair", AT(faults.repair_ns), "TIME",
      "failures by rate: how long a node is out" },
    { OPT_UINT, 0, "spares", AT(faults.spares), "N",
      "the last nodes stand in for those that fail" },
    { OPT_DURATION, 0, "checkpoint", AT(faults.checkpoint_ns), "TIME",
      "jobs save their state that often (a trace may say so: checkpoint_s)" },
    { OPT_DURATION, 0, "checkpoint-cost", AT(faults.cost_ns), "TIME",
      "what a job pays for each checkpoint" },
    { OPT_STRING, 0, "activity", AT(activity), "CLUSTER",
      "jobs that do not say keep devices as busy as was measured there: philly, seren, kalos" },
    { OPT_DURATION, 0, "idle-stretch", AT(idle_stretch_ns), "TIME",
      "activity: the mean length of idle stretches", .least = OPT_MIN },
    { OPT_DURATION, 0, "from", AT(from_ns), "TIME",
      "shares of devices, energy and money count from then on, not from the first submission" },
    { .kind = OPT_END },
};

static const struct sim_opts defaults = {
    .policy = "fifo",
    .nodes = "64x8",
    .load = 130,
    .rounds = 10,
    .seed = 42,
    .spot_price = 100,
    .faults.repair_ns = 86400 * NS_PER_S,
    .idle_stretch_ns = 7200 * NS_PER_S,
    .patience_ns = 300 * NS_PER_S,
};

/* What a run of the command owns. */
struct session {
    struct pool pool;
    struct workload work;
    struct trace_notes notes;
    struct sim_run runs[RUNS];
    size_t n_runs;
    struct str text, out;
    struct arena arena;
    struct sim_failing failing;
    struct device_prices rates;
    struct pool then;
    struct sim_run then_runs[RUNS];
    struct sim_needs needs;
    struct sim_accounts accounts;
    struct sim_run went;
    size_t n_bases;
};

static void session_free(struct session *s)
{
    for (size_t i = 0; i < s->n_runs; i++) {
        sim_result_done(&s->runs[i].result);
        sim_stats_done(&s->runs[i].stats);
        sim_tier_stats_done(&s->runs[i].tiers);
        sim_result_done(&s->then_runs[i].result);
        sim_stats_done(&s->then_runs[i].stats);
        sim_tier_stats_done(&s->then_runs[i].tiers);
    }
    sim_result_done(&s->went.result);
    sim_stats_done(&s->went.stats);
    if (s->accounts.any) /* its workload is ours */
        s->accounts.past.work = (struct workload){ .n_jobs = 0 };
    workload_done(&s->work);
    sim_accounts_done(&s->accounts);
    pool_done(&s->pool);
    pool_done(&s->then);
    arena_done(&s->arena);
    device_prices_done(&s->rates);
    str_done(&s->text);
    str_done(&s->out);
    free(s);
}
DEFINE_CLEANUP(struct session, session_free)

/* Without a name: ENGINE_N. */
static enum engine engine_named(const char *name)
{
    enum engine engine = ENGINE_LOCAL;

    while (engine < ENGINE_N && (!name || strcmp(engine_names[engine], name) != 0))
        engine++;
    return engine;
}

/* What Slurm has done is to be done by Slurm, unless somebody says otherwise. */
static enum engine engine_of(const struct sim_opts *o)
{
    return o->from_sacct && !o->engine ? ENGINE_SLURM : engine_named(o->engine);
}

static int list_policies(enum engine engine, struct str *out, struct err *e)
{
    int rc = 0;

    for (size_t i = 0; policy_name_at(i) && rc == 0; i++) {
        struct policy p;

        str_addf(out, "%-18s %s\n", policy_name_at(i), policy_about(i));
        if (engine == ENGINE_N)
            continue;
        rc = policy_named(&p, policy_name_at(i), e);
        str_pad(out, 19);
        sim_show_engine_of(&p, engine, out);
        str_add_char(out, '\n');
    }
    return rc;
}

/* A table of nodes has a name with a dot or a slash; "64x8" has neither. */
static int load_pool(struct session *s, const char *nodes, struct err *e)
{
    int rc;

    if (!strpbrk(nodes, "./") || (strchr(nodes, 'x') && nodes[0] >= '0' && nodes[0] <= '9')) {
        rc = err_usage_of(pool_parse(&s->pool, nodes, e));
        return rc == ERR_USAGE ? err_context(e, rc, "--nodes %.60s: ", nodes) : rc;
    }
    rc = unpack_read(nodes, "brim sim", &s->text, e);
    if (rc < 0)
        return rc;
    return trace_read_nodes(&s->pool, nodes, str_text(&s->text), s->text.len, e);
}

/* Whether a file says anything of who goes first and where. */
static int look_for_rules(void *ctx, const struct ini_entry *at, struct err *e)
{
    (void)e;
    if (at->key && !strcmp(at->section, "policy") && strcmp(at->key, "name") != 0)
        *(bool *)ctx = true;
    return 0;
}

/* What brim control takes is a section [idle] alone: the rest is what Slurm does. */
static int leave_rest_to_slurm(struct policy *p, const struct engine_policy_text *from,
                               struct err *e)
{
    bool any = false;
    int rc = ini_parse(from->name, from->text, from->len, look_for_rules, &any, e);

    if (rc < 0 || any)
        return rc;
    p->backfill = BACKFILL_EASY;
    p->length = LENGTH_LIMIT;
    return engine_change(p, ENGINE_SLURM, e);
}

/* As an engine does it. */
static int change_policy(struct sim_run *run, enum engine engine,
                         const struct engine_policy_text *from, struct err *e)
{
    int rc;

    run->asked = run->policy;
    if (engine == ENGINE_N)
        return 0;
    rc = engine_check(&run->asked, engine, from, e);
    return rc < 0 ? err_context(e, rc, "--engine %s: ", engine_names[engine])
                  : engine_change(&run->policy, engine, e);
}

/* One that an option has named: by its name, or by the path of its file. */
static int load_policy(struct session *s, const char *option, const char *name, enum engine engine,
                       struct err *e)
{
    struct engine_policy_text from = { .name = name };
    struct policy *p;
    int rc;

    if (s->n_runs == RUNS)
        return err_usage(e, "--compare: more than %d policies", RUNS - 1);
    p = &s->runs[s->n_runs].policy;
    if (strpbrk(name, "./")) {
        rc = file_read(name, &s->text, e);
        if (rc == 0)
            rc = policy_read(p, name, str_text(&s->text), s->text.len, e);
        from.text = str_text(&s->text);
        from.len = s->text.len;
        if (rc == 0)
            rc = change_policy(&s->runs[s->n_runs], engine, &from, e);
        if (rc == 0 && engine == ENGINE_SLURM)
            rc = leave_rest_to_slurm(p, &from, e);
    } else {
        rc = policy_named(p, name, e);
        if (rc == -ENOENT)
            rc = err_context(e, ERR_USAGE, "--%s %s: ", option, name);
        if (rc == 0)
            rc = err_usage_of(change_policy(&s->runs[s->n_runs], engine, &from, e));
    }
    if (rc == 0)
        s->n_runs++;
    return rc;
}

static int load_policies(struct session *s, const struct sim_opts *o, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    char *rest = arena_strdup(&a, o->compare ? o->compare : ""), *name;
    enum engine engine = engine_of(o);
    int rc = load_policy(s, "policy", o->policy, engine, e);

    if (!rest)
        return err_nomem(e);
    while (rc == 0 && o->compare && (name = strsep(&rest, ",")))
        rc = *name ? load_policy(s, "compare", name, engine, e)
                   : err_usage(e,
                               "--compare must be policies with commas between, such as "
                               "easy,srtf, not '%.100s'",
                               o->compare);
    return rc;
}

/* ---- accounting ---- */

static int ask_sacct(const struct app *app, struct session *s, const struct sim_opts *o,
                     struct err *e)
{
    const struct passwd *user = geteuid() == 0 ? NULL : getpwuid(geteuid());
    const struct sim_accounts_ask ask = { .since = o->from_sacct,
                                          .conf = o->conf,
                                          .user = user ? user->pw_name : NULL,
                                          .patience_ms = o->patience_ns / NS_PER_MS,
                                          .now_s = clock_wall_ns(app->clock) / NS_PER_S };

    return sim_accounts_ask(&s->accounts, &s->pool, &ask, e);
}

/* Some policies go with one way of backfill alone, which is not quite Slurm's: what they change is
 * told from Slurm with the same. */
static bool any_easy(const struct session *s, size_t from)
{
    for (size_t i = from; i < s->n_runs; i++)
        if (s->runs[i].policy.backfill == BACKFILL_EASY)
            return true;
    return false;
}

/* The jobs are those of accounting; Slurm as it is goes first, and a policy that nobody named does
 * not run. */
static int put_slurm_first(struct session *s, const struct sim_opts *o, struct err *e)
{
    size_t from = o->policy != defaults.policy ? 0 : 1;
    size_t asked = s->n_runs - from, bases;
    int rc = 0;

    bases = engine_of(o) == ENGINE_SLURM && any_easy(s, from) ? 2 : 1;
    s->work = s->accounts.past.work;
    s->notes = s->accounts.past.notes;
    if (asked + bases > RUNS)
        return err_usage(e, "--compare: more than %zu policies", RUNS - bases - 1);
    memmove(&s->runs[bases], &s->runs[from], asked * sizeof(*s->runs));
    for (size_t i = 0; i < bases && rc == 0; i++) {
        struct sim_run *run = &s->runs[i];

        memset(run, 0, sizeof(*run));
        rc = policy_named(&run->policy, "slurm", e);
        run->asked = s->went.policy = run->policy;
    }
    if (bases == 2) {
        snprintf(s->runs[1].policy.name, sizeof(s->runs[1].policy.name), "slurm-easy");
        s->runs[1].policy.backfill = BACKFILL_EASY;
    }
    snprintf(s->went.policy.name, sizeof(s->went.policy.name), "as it went");
    s->n_runs = asked + bases;
    s->n_bases = bases;
    return rc;
}

static int sum_up_past(struct session *s, const struct sim_options *options, struct err *e)
{
    int rc = sim_went(&s->went.result, s->accounts.past.went, &s->work, options, e);

    return rc < 0 ? rc : sim_stats_make(&s->went.stats, &s->went.result, &s->pool, &s->work, e);
}

/* How far from how it went a job waits in the mean, when Slurm is taken to fill gaps like that. */
static int distance(struct session *s, enum policy_backfill backfill,
                    const struct sim_options *options, double *ret, struct err *e)
{
    struct sim_options quiet = { .outages = options->outages,
                                 .from_ms = options->from_ms,
                                 .until_ms = options->until_ms };
    struct policy p = s->runs[0].policy;
    struct sim_result result;
    struct sim_stats stats;
    int rc;

    p.backfill = backfill;
    rc = sim_run(&result, &p, &s->pool, &s->work, &quiet, e);
    if (rc < 0)
        return rc;
    rc = sim_stats_make(&stats, &result, &s->pool, &s->work, e);
    if (rc == 0) {
        *ret = fabs(stats.all.wait - s->went.stats.all.wait);
        sim_stats_done(&stats);
    }
    sim_result_done(&result);
    return rc;
}

/* Slurm plans for each job that waits, but not for all of a long queue, and anew each time: the one
 * of both ways to fill gaps that is nearer to how it went stands for it. Then all have the same. */
static int choose_backfill(struct session *s, const struct sim_options *options, enum engine engine,
                           struct err *e)
{
    double planned = 0, easy = 0;
    int rc = distance(s, BACKFILL_CONSERVATIVE, options, &planned, e);

    if (rc == 0)
        rc = distance(s, BACKFILL_EASY, options, &easy, e);
    if (rc < 0 || planned <= easy)
        return rc;
    for (size_t i = 0; i < s->n_runs; i++)
        if (s->runs[i].policy.backfill == BACKFILL_CONSERVATIVE &&
            (engine == ENGINE_SLURM || i < s->n_bases))
            s->runs[i].policy.backfill = BACKFILL_EASY;
    if (s->n_bases == 2) {
        memmove(&s->runs[1], &s->runs[2], (s->n_runs - 2) * sizeof(*s->runs));
        memset(&s->runs[--s->n_runs], 0, sizeof(*s->runs));
        s->n_bases = 1;
    }
    return 0;
}

static int look_at_past(struct session *s, const struct sim_options *options, enum engine engine,
                        struct err *e)
{
    int rc = s->accounts.any ? sum_up_past(s, options, e) : 0;

    return rc < 0 || !s->accounts.any ? rc : choose_backfill(s, options, engine, e);
}

static int load_trace(struct session *s, const char *path, enum engine engine, struct err *e)
{
    struct trace_text t = { .file = file_input_name(path), .command = "brim sim" };
    int rc = unpack_read(path, "brim sim", &s->text, e);

    if (rc < 0)
        return rc;
    t.text = str_text(&s->text);
    t.len = s->text.len;
    if (engine == ENGINE_SLURM && past_is(t.text, t.len))
        return sim_accounts_read(&s->accounts, &s->pool, t.text, t.len, e);
    return trace_read(&s->work, &s->notes, &s->pool, &t, e);
}

static int unknown_activity(const char *name, struct err *e)
{
    const char *names[8] = { NULL };

    for (size_t i = 0; i + 1 < ARRAY_SIZE(names) && activity_at(i); i++)
        names[i] = activity_at(i)->name;
    opt_unknown("cluster", name, names, e);
    return err_context(e, ERR_USAGE, "--activity: ");
}

static int add_activity(struct session *s, const struct sim_opts *o, struct err *e)
{
    const struct activity *a = activity_named(o->activity);
    int64_t stretch_ms = o->idle_stretch_ns / NS_PER_MS;

    if (!a)
        return unknown_activity(o->activity, e);
    return activity_draw(&s->work, a, stretch_ms, o->seed, e);
}

static void print_action(void *ctx, const struct sched *s, const struct action *a, int64_t now_ms)
{
    struct str *out = ctx;

    str_addf(out, "%.3f ", (double)now_ms / 1e3);
    sched_reason(s, a, now_ms, out);
    str_add_char(out, '\n');
}

/* All policies on a pool. */
static int simulate_on(struct session *s, const struct pool *pool, struct sim_run *runs,
                       const struct sim_options *options, struct err *e)
{
    for (size_t i = 0; i < s->n_runs; i++) {
        struct sim_run *r = &runs[i];
        struct sim_options o = *options;
        int rc;

        r->policy = s->runs[i].policy;
        rc = sim_power_find(&o.watts, &s->arena, &r->policy, pool, &s->rates, e);
        if (rc == 0)
            rc = sim_run(&r->result, &r->policy, pool, &s->work, &o, e);
        if (rc == 0)
            rc = sim_stats_make(&r->stats, &r->result, pool, &s->work, e);
        if (rc == 0)
            rc = sim_tier_stats_make(&r->tiers, &r->result, &r->policy, &s->work, e);
        if (rc == 0)
            rc = sim_money_find(&r->money, &s->rates, &r->result, pool, e);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int find_needs(struct session *s, const struct sim_opts *o, struct err *e)
{
    struct capacity_ask ask = { .policy = &s->runs[0].policy,
                                .pool = &s->pool,
                                .work = &s->work,
                                .outages = s->failing.any ? &s->failing.options : NULL,
                                .threads = thread_cpus() };
    int rc = err_usage_of(capacity_target_read(&ask.target, o->target, e));

    return rc < 0 ? rc : sim_what_needs(&s->needs, &s->arena, &ask, o->with, &s->rates, e);
}

/* What counts is not to be after the last submission. */
static int check_from(const struct session *s, const struct sim_opts *o, struct err *e)
{
    size_t n = s->work.n_jobs;
    int64_t last_ms = n ? s->work.jobs[n - 1].submit_ms : 0;

    if (o->from_ns == 0 || o->from_ns / NS_PER_MS < last_ms)
        return 0;
    return err_usage(e, "--from: the last job is submitted %s h after the first",
                     quantity_number((double)last_ms / 3600e3, 4).text);
}

static int simulate(struct session *s, const struct sim_opts *o, struct err *e)
{
    const struct outage_options *outages = s->failing.any ? &s->failing.options : NULL;
    const struct sim_options options = { .watch = o->actions ? print_action : NULL,
                                         .ctx = &s->out,
                                         .spans = o->html != NULL,
                                         .from_ms = o->from_ns / NS_PER_MS,
                                         .until_ms = s->accounts.until_ms,
                                         .outages = outages };
    const struct sim_options quiet = { .outages = outages,
                                       .from_ms = o->from_ns / NS_PER_MS,
                                       .until_ms = s->accounts.until_ms };
    int rc = check_from(s, o, e);

    if (rc == 0)
        rc = look_at_past(s, &options, engine_of(o), e);

    if (rc == 0)
        rc = simulate_on(s, &s->pool, s->runs, &options, e);
    if (rc == 0 && o->what_if)
        rc = err_usage_of(sim_what_pool(&s->then, &s->pool, o->what_if, e));
    if (rc == 0 && o->what_if)
        rc = simulate_on(s, &s->then, s->then_runs, &quiet, e);
    if (rc == 0 && o->target)
        rc = find_needs(s, o, e);
    return rc;
}

static int write_html(const struct sim_report *r, const char *path, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(SIM_PAGE_MAX);
    int rc = sim_html(r, &out, e);

    return rc < 0 ? rc : cmd_print(&out, path, e);
}

static int pack(struct session *s, const struct sim_opts *o, struct err *e)
{
    const struct fill_test_options options = { (double)o->load / 100, o->seed, (int)o->rounds };

    for (size_t i = 0; i < s->n_runs; i++) {
        struct sim_run *r = &s->runs[i];
        int rc = fill_test_run(&r->pack, &r->policy, &s->pool, &s->work, &options, e);

        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Where the jobs come from. */
static int check_jobs(const struct sim_opts *o, const char *trace, struct err *e)
{
    if (!o->from_sacct && !trace)
        return err_usage(e, "say which trace: brim sim TRACE, - for standard input, or "
                            "--from-sacct for those of this Slurm cluster");
    if (o->from_sacct && trace)
        return err_usage(e,
                         "--from-sacct reads no trace, and '%.60s' is one; days stand behind '=', "
                         "--from-sacct=14",
                         trace);
    if (o->from_sacct && o->pack)
        return err_usage(e, "--pack does not run the jobs, and --from-sacct says how they ran");
    return 0;
}

/* What Slurm is asked for says it itself. */
static int load_cluster(struct session *s, const struct sim_opts *o, struct err *e)
{
    return o->from_sacct && o->nodes == defaults.nodes ? 0 : load_pool(s, o->nodes, e);
}

static int load_jobs(const struct app *app, struct session *s, const struct sim_opts *o,
                     const char *trace, struct err *e)
{
    int rc = o->from_sacct ? ask_sacct(app, s, o, e) : load_trace(s, trace, engine_of(o), e);

    return rc < 0 || !s->accounts.any ? rc : put_slurm_first(s, o, e);
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    const struct sim_opts *o = values;
    CLEANUP(session_freep) struct session *s = calloc(1, sizeof(*s));
    struct sim_report report;
    int rc;

    if (!s)
        return err_nomem(e);
    s->text.max = TRACE_MAX;
    s->out.max = OUTPUT_MAX;
    if (o->policies) {
        rc = list_policies(engine_of(o), &s->out, e);
        return rc < 0 ? rc : cmd_print(&s->out, NULL, e);
    }
    if (o->with && !o->target)
        return err_usage(e, "--with is for --target: --target p90-wait=1h --with %.60s", o->with);
    rc = check_jobs(o, operands[0], e);
    if (rc < 0)
        return rc;
    rc = load_cluster(s, o, e);
    if (rc == 0)
        rc = device_prices_open(&s->rates, &o->rates, e);
    if (rc == 0)
        rc = load_policies(s, o, e);
    if (rc == 0)
        rc = load_jobs(app, s, o, operands[0], e);
    if (rc == 0 && o->activity)
        rc = add_activity(s, o, e);
    if (rc == 0)
        rc = sim_faults_find(&s->failing, &s->arena, &s->pool, &o->faults, o->seed, e);
    sim_faults_checkpoints(&s->work, &o->faults);
    if (rc == 0)
        rc = o->pack ? pack(s, o, e) : simulate(s, o, e);
    if (rc < 0)
        return rc;
    report = (struct sim_report){ .trace = operands[0] ? operands[0] : s->accounts.about,
                                  .nodes = o->nodes,
                                  .nodes_assumed = !o->from_sacct && o->nodes == defaults.nodes,
                                  .pool = &s->pool,
                                  .work = &s->work,
                                  .notes = &s->notes,
                                  .runs = s->runs,
                                  .n_runs = s->n_runs,
                                  .load = o->pack ? o->load : 0,
                                  .failing = s->failing.any ? &s->failing : NULL,
                                  .rates = &s->rates,
                                  .spot_percent = o->spot_price,
                                  .what_if = o->what_if,
                                  .then_pool = &s->then,
                                  .then = s->then.n_nodes ? s->then_runs : NULL,
                                  .needs = s->needs.n ? &s->needs : NULL,
                                  .engine = engine_of(o),
                                  .went = s->accounts.any ? &s->went : NULL,
                                  .n_bases = s->n_bases,
                                  .accounts = s->accounts.any ? &s->accounts : NULL,
                                  .by = o->by };
    if (o->html && !o->pack) {
        rc = write_html(&report, o->html, e);
        if (rc < 0)
            return rc;
    }
    if (o->json)
        sim_show_json(&report, &s->out);
    else if (!o->actions)
        sim_show_text(&report, &s->out);
    return cmd_print(&s->out, o->json, e);
}

const struct cmd cmd_sim = {
    .name = "sim",
    .args = "[TRACE|-]",
    .summary = "replay a trace of jobs under scheduling policies",
    .about =
        "Reads jobs: a table that begins with the line job_id,submit_s,gpus,duration_s (times in\n"
        "seconds), what sacct --parsable2 prints, SWF, Philly, Muri and OpenB tables;\n"
        "runs them under each policy in virtual time and says how long they waited and took.\n"
        "The same scheduler decides that would act on a cluster. A trace may be packed by gzip:\n"
        "  brim sim trace.csv.gz --nodes 64x8 --policy easy --compare fifo,srtf\n"
        "On a Slurm cluster the jobs are those of its accounting, the nodes are its own, and what\n"
        "Slurm cannot do is refused by name:\n"
        "  brim sim --from-sacct --policy fair",
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct sim_opts),
    .max_operands = 1,
    .run = run,
};
