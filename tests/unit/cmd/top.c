/* brim top: what each key does, and when the node is sampled. Without a terminal, samplers and a
 * clock that goes on by itself: the keys are a text, the pages a few words. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

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
#include "tap.h"

enum { LOG = 8192 };

/* Events between keys: the time is over, another size, the end. */
#define TIME "T"
#define RESIZE "R"
#define END "E"

extern const struct cmd cmd_top;
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout);

static struct {
    const char *keys;
    bool terminal; /* there is one */
    bool no_root, no_terminal, no_samplers, no_page;
    unsigned no_sample; /* the one that fails; 0: none */
} made;

static char did[LOG];
static int64_t now_ns;
static unsigned samples;

static void PRINTF(1, 2) add(const char *fmt, ...)
{
    size_t len = strlen(did);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(did + len, sizeof(did) - len, fmt, ap);
    va_end(ap);
}

/* ---- the node ---- */

int samplers_open(struct samplers **ret, const struct sampler_env *env, struct err *e)
{
    add("open(%s, %s, %s) ", env->live ? "live" : "files", env->fake ? env->fake : "-",
        env->root >= 0 && env->patience_ns == SAMPLER_PATIENCE_NS ? "root" : "?");
    *ret = (struct samplers *)did;
    return made.no_samplers ? err_set(e, -EIO, "no samplers") : 0;
}

int samplers_sample(struct samplers *s, struct tick *t)
{
    (void)s;
    (void)t;
    return ++samples == made.no_sample ? -ENOMEM : 0;
}

void samplers_close(struct samplers *s)
{
    if (s)
        add("close ");
}

void live_update(struct live *l, const struct tick *before, const struct tick *now)
{
    (void)l;
    add("%lld-%lld ", (long long)(before->monotonic_ns / NS_PER_MS),
        (long long)(now->monotonic_ns / NS_PER_MS));
}

void live_resort(struct live *l, const struct tick *before, const struct tick *now)
{
    add("sort(%s of %lld-%lld) ", live_sort_name(l->sort),
        (long long)(before->monotonic_ns / NS_PER_MS), (long long)(now->monotonic_ns / NS_PER_MS));
}

void live_runs_look(struct live_runs *ret, const char *const *folders)
{
    if (folders)
        add("folders ");
    ret->n = 1;
}

void run_limit(struct live *l, const struct live_run *runs, size_t n)
{
    (void)l;
    add("runs%zu%s ", n, runs ? "" : " of nobody");
}

void host_name(const char *root, char *to, size_t size)
{
    snprintf(to, size, "host of %s", root ? root : "here");
}

int probe_root_open(const char *path, struct err *e)
{
    (void)path;
    return made.no_root ? err_set(e, -ENOENT, "no root") : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int fake_option_check(const char *spec, struct err *e)
{
    return spec && *spec == '?' ? err_usage(e, "no fake") : 0;
}

int top_nodes(const struct app *app, const struct top_nodes_options *o, struct err *e)
{
    (void)app;
    (void)e;
    add("nodes(%s, %s, %s, %s, %lld, %lld) ", o->nodes, o->token_file ? o->token_file : "-",
        o->json ? o->json : "-", o->once ? "once" : "on", (long long)(o->interval_ns / NS_PER_MS),
        (long long)(o->patience_ns / NS_PER_MS));
    return 7;
}

/* ---- a terminal ---- */

int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout)
{
    add("%s%d ms ", fds || n ? "?" : "", timeout);
    now_ns += timeout * NS_PER_MS;
    return 0;
}

bool terminal_is_one(void)
{
    return made.terminal;
}

int terminal_open(struct terminal *t, struct err *e)
{
    if (made.no_terminal)
        return err_set(e, -ENOTTY, "no terminal");
    *t = (struct terminal){ .columns = 80, .rows = 24 };
    return 0;
}

void terminal_close(struct terminal *t)
{
    if (t->signals >= 0)
        add("left");
}

/* Each key comes 10 ms after what was before. */
enum terminal_event terminal_wait(struct terminal *t, int64_t timeout_ns, char *key)
{
    char c = *END;

    if (*made.keys)
        c = *made.keys++;
    if (c == *TIME) {
        add("after %lld: ", (long long)(timeout_ns / NS_PER_MS));
        now_ns += timeout_ns;
        return TERMINAL_TIMEOUT;
    }
    now_ns += 10 * NS_PER_MS;
    if (c == *RESIZE) {
        t->columns = 40;
        return TERMINAL_RESIZED;
    }
    if (c == *END)
        return TERMINAL_ENDED;
    *key = c;
    return TERMINAL_KEY;
}

int terminal_show(const struct terminal *t, const char *page)
{
    (void)t;
    if (made.no_page)
        return -EIO;
    add("[%.*s] ", (int)strcspn(page, "\n"), page);
    return 0;
}

/* ---- pages ---- */

void live_text(const struct live *l, const struct live_extra *x, const struct live_look *look,
               struct str *out)
{
    const char *footer = look->footer ? look->footer : "";

    (void)l;
    str_addf(out, "%s %ux%u%s", *footer ? "" : x->host, look->columns, look->rows,
             x->n_runs == 1 ? "" : " without runs");
    str_addf(out, "%s%.*s\n", *footer ? " " : "", (int)(strcspn(footer, "q")), footer);
}

void live_json(const struct live *l, const struct live_extra *x, struct str *out)
{
    str_addf(out, "{%s, %zu}", live_sort_name(l->sort), x->n_runs);
}

int cmd_print(const struct str *out, const char *path, struct err *e)
{
    (void)e;
    add("print(%.*s)%s%s ", (int)out->len - 1, str_text(out), path ? " to " : "", path ? path : "");
    return 3;
}

static int64_t monotonic(void *arg)
{
    (void)arg;
    return now_ns;
}

/* ---- what is done ---- */

static const struct clock moved = { monotonic, monotonic, NULL };

/* As struct top_opts: options are set by their names. */
static union {
    char bytes[256];
    void *aligned;
} values;

static void option(const char *name, const char *value)
{
    is_int(opt_set(cmd_top.opts, &values, name, value, NULL), 0, "--%s %s is an option", name,
           value);
}

static void usual(void)
{
    memset(&made, 0, sizeof(made));
    memcpy(&values, cmd_top.defaults, cmd_top.size);
}

static const char *top(const char *keys)
{
    const struct app app = { .clock = &moved, .columns = 100 };
    char *none[] = { NULL };
    struct err e = { "" };
    int rc;

    made.keys = keys;
    did[0] = '\0';
    now_ns = NS_PER_S;
    samples = 0;
    rc = cmd_top.run(&app, &values, none, &e);
    add(" = %d%s%s", rc, *e.text ? ": " : "", e.text);
    return did;
}

#define PAGE(how) "[ 80x24 every " how "   ] "
#define FIRST "open(live, -, root) 0-1000 runs1 " PAGE("1 s, by use")
#define HELP "[brim top: what limits this node now] "
#define DONE "close left = 0"

static void test_keys(void)
{
    static const struct {
        const char *keys, *want, *what;
    } cases[] = {
        { "q", DONE, "q ends it" },
        { END, DONE, "a signal ends it" },
        { "x", PAGE("1 s, by use") DONE, "another key does nothing" },
        { RESIZE "q", "[ 40x24 every 1 s, by use   ] " DONE, "another size is drawn" },
        { TIME "q", "after 300: 1000-1300 runs1 " PAGE("1 s, by use") DONE,
          "the first page with rates comes soon" },
        { TIME TIME "q",
          "after 300: 1000-1300 runs1 " PAGE("1 s, by use") "after 1000: 1300-2300 runs1 " PAGE(
              "1 s, by use") DONE,
          "the node is sampled each second" },
        { "x" TIME "q", PAGE("1 s, by use") "after 290: 1000-1300 runs1 " PAGE("1 s, by use") DONE,
          "a key does not put off a sample" },
        { "s", "sort(cpu of 0-1000) " PAGE("1 s, by cpu") DONE, "s sorts by the next column" },
        { "5s",
          "sort(memory of 0-1000) " PAGE("1 s, by memory") "sort(use of 0-1000) " PAGE(
              "1 s, by use") DONE,
          "s begins again behind the last column" },
        { "20",
          "sort(io of 0-1000) " PAGE("1 s, by io") "sort(use of 0-1000) " PAGE("1 s, by use") DONE,
          "a number sorts by its column" },
        { "6", PAGE("1 s, by use") DONE, "a number without a column does nothing" },
        { "/", PAGE("1 s, by use") DONE, "a key before the numbers does nothing" },
        { "p" TIME "pq",
          "[ 80x24 PAUSED   every 1 s, by use   ] after 290: [ 80x24 PAUSED   every 1 s, by use  "
          " ] " PAGE("1 s, by use") DONE,
          "nothing is sampled in a pause" },
        { " ", "[ 80x24 PAUSED   every 1 s, by use   ] " DONE, "a blank pauses, too" },
        { "+" TIME TIME "q",
          PAGE("2 s, by use") "after 290: 1000-1300 runs1 " PAGE(
              "2 s, by use") "after 2000: 1300-3300 runs1 " PAGE("2 s, by use") DONE,
          "+ samples less often" },
        { "---", PAGE("0.5 s, by use") PAGE("0.25 s, by use") PAGE("0.2 s, by use") DONE,
          "- samples more often, five times in a second at most" },
        { "?xq", HELP PAGE("1 s, by use") DONE, "a key leaves the help" },
        { "h", HELP DONE, "h helps, too" },
        { "?q", HELP DONE, "q ends it from the help" },
        { "?p", HELP PAGE("1 s, by use") DONE, "a key that leaves the help does nothing else" },
    };

    usual();
    made.terminal = true;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const char *got = top(cases[i].keys);
        size_t len = strlen(FIRST);

        is_str(strncmp(got, FIRST, len) == 0 ? got + len : got, cases[i].want,
               "a page of brim top: %s", cases[i].what);
    }
    ok(strstr(top("+++++++"), PAGE("32 s, by use") PAGE("60 s, by use") PAGE("60 s, by use")),
       "the node is sampled every minute at least: %s", did);
}

static void test_terminal(void)
{
    usual();
    made.terminal = true;
    option("interval", "5s");
    option("sort", "memory");
    is_str(top(TIME TIME "q"),
           "open(live, -, root) 0-1000 runs1 " PAGE(
               "5 s, by memory") "after 300: 1000-1300 runs1 " PAGE("5 s, by memory") "after 5000: "
                                                                                      "1300-6300 "
                                                                                      "runs1 " PAGE(
                                                                                          "5 s, by "
                                                                                          "memory")
                                                                                          DONE,
           "interval and order come from the options");
    usual();
    made.terminal = made.no_terminal = true;
    is_str(top("q"), " = -25: no terminal", "nothing is sampled without a terminal");
    usual();
    made.terminal = made.no_page = true;
    is_str(top("q"),
           "open(live, -, root) 0-1000 runs1 close left = -5: terminal: Input/output error",
           "a page that cannot be shown ends it");
    usual();
    made.terminal = true;
    made.no_sample = 2;
    is_str(top(TIME "q"), FIRST "after 300: close left = -12: out of memory",
           "a sample that there is no memory for ends it");
}

#define ONCE "open(live, -, root) 0-1000 runs1 1000 ms 1000-2000 runs1 "

static void test_once(void)
{
    usual();
    is_str(top(""), ONCE "print(host of here 100x0) close  = 3",
           "one page is printed where there is no terminal");
    made.terminal = true;
    option("once", "yes");
    is_str(top(""), ONCE "print(host of here 100x0) close  = 3", "one page is printed by option");
    usual();
    made.terminal = true;
    option("json", "out.json");
    is_str(top(""), ONCE "print({use, 1}) to out.json close  = 3", "JSON is of one page");
    usual();
    option("root", "/copy");
    option("fake", "1xT4");
    option("interval", "2s");
    is_str(top(""),
           "open(files, 1xT4, root) 0-1000 runs0 2000 ms 1000-3000 runs0 print(host of /copy 100x0 "
           "without runs) close  = 3",
           "the files of another machine have no runs of this one");
    option("fake", "?");
    is_str(top(""), " = -4096: no fake", "accelerators that there are not are wrong usage");
}

static void test_failures(void)
{
    usual();
    made.no_root = true;
    is_str(top(""), " = -2: no root", "a machine's files have to be there");
    usual();
    made.no_samplers = true;
    is_str(top(""), "open(live, -, root) close  = -5: no samplers", "a node needs samplers");
    usual();
    made.no_sample = 1;
    is_str(top(""), "open(live, -, root) close  = -12: out of memory", "a sample needs memory");
    made.no_sample = 2;
    is_str(top(""), "open(live, -, root) 0-1000 runs1 1000 ms close  = -12: out of memory",
           "a second sample needs memory");
    usual();
    option("patience", "1s");
    is_str(top(""), " = -4096: --patience is for --nodes", "nobody is waited for on this node");
}

static void test_nodes(void)
{
    static const struct {
        const char *option, *value;
    } others[] = { { "sort", "cpu" }, { "fake", "1xT4" }, { "root", "/copy" } };

    usual();
    made.terminal = true;
    option("nodes", "a,b");
    is_str(top(""), "nodes(a,b, -, -, on, 5000, 1500)  = 7", "many nodes are asked");
    option("interval", "2s");
    option("patience", "3s");
    option("token-file", "t");
    option("json", "out");
    is_str(top(""), "nodes(a,b, t, out, once, 2000, 3000)  = 7", "nodes are asked as options say");
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        char want[128];

        usual();
        option("nodes", "a,b");
        option(others[i].option, others[i].value);
        snprintf(want, sizeof(want),
                 " = -4096: --%s is for this machine: --nodes asks agents, which sample theirs",
                 others[i].option);
        is_str(top(""), want, "--%s is not for many nodes", others[i].option);
    }
}

int main(void)
{
    test_keys();
    test_terminal();
    test_once();
    test_failures();
    test_nodes();
    return done();
}
