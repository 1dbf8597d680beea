/* brim top: what limits this node now, redrawn as it changes. */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/conf.h"
#include "base/clock.h"
#include "cmd/common/cmd.h"
#include "cmd/common/fake_option.h"
#include "cmd/common/host_name.h"
#include "cmd/common/terminal.h"
#include "cmd/top/nodes.h"
#include "diagnose/node/live.h"
#include "diagnose/node/run_limit.h"
#include "probe/root.h"
#include "probe/samplers.h"
#include "render/node/live_json.h"
#include "render/node/live_text.h"
#include "run/watch/live_runs.h"

enum { OUTPUT_MAX = 8 << 20, HOST_MAX = 65 };

/* The shortest interval: below it rates say more about the clock than about the node. The first
 * page with rates comes after so long. */
#define INTERVAL_MIN_NS 200000000LL
#define INTERVAL_MAX_NS 60000000000LL
#define FIRST_NS 300000000LL

/* Of many nodes: each has a sample a second, and their sentences are about some 5 s. */
#define NODES_INTERVAL_NS (5 * NS_PER_S)
#define PATIENCE_NS (1500 * NS_PER_MS)

struct top_opts {
    bool once;
    const char *json, *sort, *fake, *root, *nodes, *token_file;
    int64_t interval_ns, patience_ns;
};

static const char *const sorts[] = { "use", "cpu", "io", "read", "write", "memory", NULL };

static const struct opt opts[] = {
    { OPT_FLAG, 0, "once", offsetof(struct top_opts, once), NULL, "print one page and end" },
    { OPT_OUTPUT, 'j', "json", offsetof(struct top_opts, json), "FILE", "print one page as JSON" },
    { OPT_DURATION, 0, "interval", offsetof(struct top_opts, interval_ns), "TIME",
      "how often to sample (1s), or to ask nodes (5s)", .least = INTERVAL_MIN_NS,
      .most = INTERVAL_MAX_NS },
    { OPT_CHOICE, 0, "sort", offsetof(struct top_opts, sort), "BY", "what processes are sorted by",
      .choices = sorts },
    FAKE_OPTION(offsetof(struct top_opts, fake)),
    { OPT_STRING, 0, "root", offsetof(struct top_opts, root), "DIR",
      "show the machine whose kernel files lie there, not this one" },
    { OPT_STRING, 0, "nodes", offsetof(struct top_opts, nodes), "LIST|FILE",
      "ask the agents of these nodes: a,b:9500,n[001-128], or a file of such lines" },
    { OPT_STRING, 0, "token-file", offsetof(struct top_opts, token_file), "FILE",
      "with --nodes: the token that their agents ask for" },
    { OPT_DURATION, 0, "patience", offsetof(struct top_opts, patience_ns), "TIME",
      "with --nodes: how long a node may take to answer (1500ms)", .least = 100 * OPT_MS,
      .most = OPT_MIN },
    { .kind = OPT_END },
};

static const struct top_opts defaults = { .interval_ns = 0 };

static const char help[] =
    "brim top: what limits this node now\n\n"
    "The sentence names the stage that is at its limit; the line below has all stages in the\n"
    "order of an assembly line, with how near each is to its limit.\n\n"
    "  q        quit\n"
    "  s        sort processes by the next column\n"
    "  1 ... 5  sort by CPU, input and output, reads, writes, memory; 0: by use\n"
    "  p        pause, and go on\n"
    "  + -      sample less and more often\n"
    "  ?        this page; any key leaves it\n";

struct top {
    const struct app *app;
    struct samplers *samplers;
    struct tick ticks[2]; /* by turns: the earlier one and that of now */
    struct live *live;
    struct live_runs *runs;
    bool live_here; /* it is this machine's files that are read */
    int now;        /* which tick is the one of now */
    int64_t interval_ns;
    bool paused, helping;
    char host[HOST_MAX];
};

static void top_done(struct top *t)
{
    samplers_close(t->samplers);
    tick_done(&t->ticks[0]);
    tick_done(&t->ticks[1]);
    free(t->live);
    free(t->runs);
}

static enum live_sort sort_of(const char *name)
{
    int s = 0;

    while (s + 1 < LIVE_SORTS && strcmp(live_sort_name((enum live_sort)s), name) != 0)
        s++;
    return (enum live_sort)s;
}

static int top_open(struct top *t, int root, const struct top_opts *o, struct err *e)
{
    const struct sampler_env env = {
        .root = root, .live = !o->root, .fake = o->fake, .patience_ns = SAMPLER_PATIENCE_NS
    };

    t->live = calloc(1, sizeof(*t->live));
    t->runs = calloc(1, sizeof(*t->runs));
    if (!t->live || !t->runs)
        return err_nomem(e);
    t->live->sort = sort_of(o->sort ? o->sort : "use");
    t->interval_ns = o->interval_ns ? o->interval_ns : NS_PER_S;
    t->live_here = !o->root;
    host_name(o->root, t->host, sizeof(t->host));
    return samplers_open(&t->samplers, &env, e);
}

static int sample(struct top *t, struct err *e)
{
    const struct clock *c = t->app->clock;
    struct tick *now = &t->ticks[!t->now];

    tick_begin(now, clock_wall_ns(c), clock_monotonic_ns(c));
    if (samplers_sample(t->samplers, now) < 0)
        return err_nomem(e);
    t->now = !t->now;
    live_update(t->live, &t->ticks[!t->now], now);
    if (t->live_here) /* runs are of this machine */
        live_runs_look(t->runs, NULL);
    run_limit(t->live, t->runs->runs, t->runs->n);
    return 0;
}

static struct live_extra extra_of(const struct top *t)
{
    const struct tick *now = &t->ticks[t->now];

    return (struct live_extra){ .host = t->host,
                                .events = now->events,
                                .n_events = now->n_events,
                                .runs = t->runs->runs,
                                .n_runs = t->runs->n };
}

/* ---- one page ---- */

static int print_once(struct top *t, const char *json, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    const struct live_look look = { .columns = t->app->columns,
                                    .colour = t->app->colour,
                                    .unicode = conf_utf8() };
    struct live_extra extra;
    int rc = sample(t, e);

    if (rc < 0)
        return rc;
    poll(NULL, 0, (int)(t->interval_ns / 1000000));
    rc = sample(t, e);
    if (rc < 0)
        return rc;
    extra = extra_of(t);
    if (json) {
        live_json(t->live, &extra, &out);
        str_add_char(&out, '\n');
    } else {
        live_text(t->live, &extra, &look, &out);
    }
    return cmd_print(&out, json, e);
}

/* ---- page after page ---- */

/* The last line: keys, and what was set by them. */
static void add_footer(const struct top *t, struct str *out)
{
    str_addf(out, "%severy %.3g s, by %s   q quit  s 1-5 sort  p pause  + - interval  ? help",
             t->paused ? "PAUSED   " : "", clock_seconds(t->interval_ns),
             live_sort_name(t->live->sort));
}

static int draw(const struct top *t, const struct terminal *terminal, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX), last = STR_INIT(256);
    const struct live_extra extra = extra_of(t);
    struct live_look look = { .columns = terminal->columns,
                              .rows = terminal->rows,
                              .colour = t->app->colour,
                              .unicode = conf_utf8() };
    int rc;

    add_footer(t, &last);
    look.footer = str_text(&last);
    if (t->helping)
        str_add(&out, help);
    else
        live_text(t->live, &extra, &look, &out);
    rc = str_error(&last) ? str_error(&last) : str_error(&out);
    if (rc == 0)
        rc = terminal_show(terminal, str_text(&out));
    return rc < 0 ? err_set(e, rc, "terminal: %s", strerror(-rc)) : 0;
}

static void sort_by(struct top *t, int sort)
{
    t->live->sort = (enum live_sort)(sort % LIVE_SORTS);
    live_resort(t->live, &t->ticks[!t->now], &t->ticks[t->now]);
}

/* What a key does; false: it ends the command. */
static bool on_key(struct top *t, char key)
{
    if (t->helping) {
        t->helping = false;
        return key != 'q';
    }
    if (key >= '0' && key < '0' + LIVE_SORTS)
        sort_by(t, key - '0');
    else if (key == 's')
        sort_by(t, (int)t->live->sort + 1);
    else if (key == 'p' || key == ' ')
        t->paused = !t->paused;
    else if (key == '+')
        t->interval_ns = MIN(t->interval_ns * 2, INTERVAL_MAX_NS);
    else if (key == '-')
        t->interval_ns = MAX(t->interval_ns / 2, INTERVAL_MIN_NS);
    else if (key == '?' || key == 'h')
        t->helping = true;
    return key != 'q';
}

static int watch(struct top *t, struct terminal *terminal, struct err *e)
{
    int64_t next_ns = clock_monotonic_ns(t->app->clock) + FIRST_NS;
    enum terminal_event event;
    char key = 0;
    int rc = sample(t, e);

    for (; rc == 0;) {
        rc = draw(t, terminal, e);
        if (rc < 0)
            return rc;
        event = terminal_wait(terminal, next_ns - clock_monotonic_ns(t->app->clock), &key);
        if (event == TERMINAL_ENDED || (event == TERMINAL_KEY && !on_key(t, key)))
            return 0;
        if (event != TERMINAL_TIMEOUT)
            continue;
        if (!t->paused)
            rc = sample(t, e);
        next_ns = clock_monotonic_ns(t->app->clock) + t->interval_ns;
    }
    return rc;
}

static int run_nodes(const struct app *app, const struct top_opts *o, bool once, struct err *e)
{
    const struct top_nodes_options nodes = {
        .nodes = o->nodes,
        .token_file = o->token_file,
        .json = o->json,
        .once = once,
        .interval_ns = o->interval_ns ? o->interval_ns : NODES_INTERVAL_NS,
        .patience_ns = o->patience_ns ? o->patience_ns : PATIENCE_NS
    };

    if (o->sort || o->fake || o->root)
        return err_usage(e, "--%s is for this machine: --nodes asks agents, which sample theirs",
                         o->sort   ? "sort"
                         : o->fake ? "fake"
                                   : "root");
    return top_nodes(app, &nodes, e);
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    CLEANUP(terminal_close) struct terminal terminal = { .signals = -1 };
    const struct top_opts *o = values;
    CLEANUP(closep) int root = -1;
    CLEANUP(top_done) struct top t = { .app = app };
    bool once = o->once || o->json || !terminal_is_one();
    int rc;

    (void)operands;
    if (o->nodes)
        return run_nodes(app, o, once, e);
    if (o->patience_ns) /* a token may stand in brim.conf for when nodes are asked */
        return err_usage(e, "--patience is for --nodes");
    rc = fake_option_check(o->fake, e);
    if (rc < 0)
        return rc;
    root = probe_root_open(o->root, e);
    if (root < 0)
        return root;
    rc = once ? 0 : terminal_open(&terminal, e); /* before samplers, which may make threads */
    if (rc == 0)
        rc = top_open(&t, root, o, e);
    if (rc < 0)
        return rc;
    return once ? print_once(&t, o->json, e) : watch(&t, &terminal, e);
}

const struct cmd cmd_top = {
    .name = "top",
    .args = "",
    .summary = "what limits this node, or many, now: a sentence, the pipeline, tables",
    .about =
        "Sample this node once per interval and show what limits it: a sentence with what to\n"
        "do, how near each stage (storage, CPU, PCIe, GPU, network) is to its limit, and what\n"
        "devices and processes do. No agent is needed. Where standard output is no terminal,\n"
        "one page is printed. Keys: q quit, s and 1 to 5 sort processes, p pause, + and -\n"
        "interval, ? help.\n\n"
        "With --nodes, ask the agents of many nodes (brim agent) instead, and show a sentence\n"
        "about all and one about each, the worst first; those that do not answer, and why.\n"
        "Ends with 1 where none answers.",
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct top_opts),
    .run = run,
};
