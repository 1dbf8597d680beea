/* brim top --nodes: what each key does, and when nodes are asked. Without a terminal, agents and a
 * clock: the keys are a text, the pages a few words, and the timer goes off when a text says so. */
#include "cmd/top/nodes.h"

#include <errno.h>

#include "ask/ask.h"
#include "cmd/common/nodes_option.h"
#include "cmd/common/terminal.h"
#include "folder.h"
#include "render/node/nodes_json.h"
#include "render/node/nodes_text.h"
#include "tap.h"

enum { LOG = 8192, LINES = 36 };

/* Events between keys: answers come, the timer goes off, another size, nothing, the end. */
#define ANSWER "A"
#define TIMER "T"
#define RESIZE "R"
#define NOTHING "N"
#define END "E"

struct ask {
    struct ask_config config;
    bool busy, ended;
};

static struct {
    const char *keys;
    size_t silent; /* of two nodes */
    unsigned rows;
    bool at_once; /* nodes have answered as soon as they are asked */
    bool no_order, no_ask, no_terminal, no_page, no_token;
} made;

static struct ask agents;
static uv_timer_t *timer;
static uv_timer_cb on_time;
static int signals[2];
static char did[LOG];

int __wrap_uv_timer_start(uv_timer_t *handle, uv_timer_cb cb, uint64_t timeout, uint64_t repeat);

static void PRINTF(1, 2) add(const char *fmt, ...)
{
    size_t len = strlen(did);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(did + len, sizeof(did) - len, fmt, ap);
    va_end(ap);
}

/* ---- agents ---- */

int ask_open(struct ask **ret, uv_loop_t *loop, const struct ask_config *config, struct err *e)
{
    (void)loop;
    if (made.no_ask)
        return err_set(e, -EMFILE, "no sockets");
    agents = (struct ask){ .config = *config };
    *ret = &agents;
    add("open(%zu nodes, %u at once, %lld ms, %s) ", config->nodes->n, config->at_once,
        (long long)(config->patience_ns / NS_PER_MS), config->token ? config->token : "no token");
    return 0;
}

void ask_begin(struct ask *k)
{
    k->busy = true;
    add("ask ");
    if (!made.at_once)
        return;
    k->busy = false;
    k->config.done(k->config.ctx);
}

bool ask_busy(const struct ask *k)
{
    return k->busy;
}

const struct node_answer *ask_answers(const struct ask *k)
{
    static const struct node_answer answers[2];

    (void)k;
    return answers;
}

void ask_end(struct ask *k)
{
    k->ended = true;
}

void ask_close(struct ask *k)
{
    add("%s", k->ended ? "close" : "close too soon");
}

unsigned ask_at_once(unsigned others, unsigned most)
{
    return most - others;
}

int node_order_make(struct node_order *ret, struct arena *a, const struct node_list *list,
                    const struct node_answer *answers, const struct node_order_asked *asked)
{
    struct node_order_row *rows = arena_alloc(a, 2 * sizeof(*rows));

    (void)answers;
    if (made.no_order || !rows)
        return -ENOMEM;
    rows[0] = (struct node_order_row){ .node = &list->nodes[0], .sentence = "no answer" };
    add("order(%s, %.1f s) ", asked->token ? "token" : "no token", asked->waited_s);
    *ret = (struct node_order){ .rows = rows, .n = 2 };
    ret->sums.states[NODE_ORDER_SILENT] = made.silent;
    return 0;
}

/* ---- options ---- */

int nodes_option_read(struct node_list *ret, struct arena *a, const char *text, struct err *e)
{
    return node_list_add(ret, a, text, e);
}

int nodes_option_token(const char *path, struct str *token, struct err *e)
{
    if (!path)
        add("no file ");
    if (made.no_token)
        return err_set(e, -ENOENT, "%s: none", path);
    str_add(token, "secret");
    return 0;
}

/* ---- a terminal ---- */

int __wrap_uv_timer_start(uv_timer_t *handle, uv_timer_cb cb, uint64_t timeout, uint64_t repeat)
{
    timer = handle;
    on_time = cb;
    add("in(%llu%s) ", (unsigned long long)timeout, repeat ? ", again" : "");
    return 0;
}

int terminal_open(struct terminal *t, struct err *e)
{
    if (made.no_terminal)
        return err_set(e, -ENOTTY, "no terminal");
    t->signals = signals[0];
    t->columns = 80;
    t->rows = made.rows;
    return 0;
}

void terminal_close(struct terminal *t)
{
    t->signals = -1;
}

enum terminal_event terminal_wait(struct terminal *t, int64_t timeout_ns, char *key)
{
    char c = *END;

    if (*made.keys)
        c = *made.keys++;
    if (timeout_ns > 0)
        add("waits ");
    if (c == *ANSWER) {
        agents.busy = false;
        agents.config.done(agents.config.ctx);
    } else if (c == *TIMER) {
        on_time(timer);
    } else if (c == *RESIZE) {
        t->columns = 40;
        return TERMINAL_RESIZED;
    } else if (c == *END) {
        return TERMINAL_ENDED;
    } else if (c != *NOTHING) {
        *key = c;
        return TERMINAL_KEY;
    }
    return TERMINAL_TIMEOUT;
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

size_t nodes_text(const struct node_order *o, const struct nodes_text_page *which,
                  const struct live_look *look, struct str *out)
{
    const char *footer = look->footer ? look->footer : "";

    str_addf(out, "%zu+%zu%s %ux%u %.*s\n", o->n, which->first, which->unfolded ? "f" : "",
             look->columns, look->rows, (int)strcspn(footer, "q"), footer);
    return LINES;
}

void nodes_json(const struct node_order *o, int64_t wall_ns, struct str *out)
{
    str_addf(out, "{%zu at %lld}", o->n, (long long)wall_ns);
}

int cmd_print(const struct str *out, const char *path, struct err *e)
{
    (void)e;
    add("print(%s: %.*s) ", path ? path : "text", (int)out->len - 1, str_text(out));
    return str_error(out);
}

static int64_t wall(void *arg)
{
    (void)arg;
    return 7;
}

/* ---- what is done ---- */

static const struct clock still = { wall, wall, NULL };

static void usual(void)
{
    memset(&made, 0, sizeof(made));
    made.rows = 24;
}

/* What comes of these keys, "= " and the status and the error behind it. */
static const char *top(const char *keys, struct top_nodes_options o)
{
    const struct app app = { .clock = &still };
    struct err e = { "" };
    int rc;

    made.keys = keys;
    o.nodes = "n1,n2";
    did[0] = '\0';
    rc = top_nodes(&app, &o, &e);
    add(" = %d%s%s", rc, *e.text ? ": " : "", e.text);
    return did;
}

/* The same on a terminal, every five seconds; without what all of them do. */
static const char *keys(const char *text)
{
    static const char begins[] = "open(2 nodes, 448 at once, 1500 ms, no token) [asking 2 nodes] "
                                 "ask order(no token, 1.5 s) in(5000) [2+0 80x24 every 5.0 s   ] ";
    static char whole[LOG];
    const struct top_nodes_options o = { .interval_ns = 5 * NS_PER_S,
                                         .patience_ns = 1500 * NS_PER_MS };
    const char *all;

    snprintf(whole, sizeof(whole), ANSWER "%s", text);
    all = top(whole, o);
    if (strncmp(all, begins, strlen(begins)) != 0)
        return all;
    return all + strlen(begins);
}

#define PAGE(which) "[2+" which " 80x24 every 5.0 s   ] "
#define HELP "[brim top --nodes: what limits many nodes now] "
#define DONE "close = 0"

static void test_keys(void)
{
    static const struct {
        const char *keys, *want, *what;
    } cases[] = {
        { "q", DONE, "q ends it" },
        { END, DONE, "a signal ends it" },
        { NOTHING "q", DONE, "nothing is drawn where nothing came" },
        { RESIZE "q", "[2+0 40x24 every 5.0 s   ] " DONE, "another size is drawn" },
        { "x", PAGE("0") DONE, "another key does nothing" },
        { "nnn", PAGE("12") PAGE("24") PAGE("24") DONE, "n goes on by half a page, to the end" },
        { "nbb", PAGE("12") PAGE("0") PAGE("0") DONE, "b goes back, to the beginning" },
        { "nff", PAGE("12") PAGE("0f") PAGE("0") DONE, "f unfolds from the beginning, and folds" },
        { "?xq", HELP PAGE("0") DONE, "a key leaves the help" },
        { "hq", HELP DONE, "q ends it from the help" },
        { "?n", HELP PAGE("0") DONE, "a key that leaves the help does nothing else" },
        { "+", "in(10000) [2+0 80x24 every 10 s   ] " DONE, "+ asks less often" },
        { "--", "in(2500) [2+0 80x24 every 2.5 s   ] in(1250) [2+0 80x24 every 1.2 s   ] " DONE,
          "- asks more often" },
        { "p", "[2+0 80x24 PAUSED   every 5.0 s   ] " DONE, "p pauses" },
        { "p" TIMER "p", "[2+0 80x24 PAUSED   every 5.0 s   ] ask " PAGE("0") DONE,
          "nothing is asked in a pause, and nodes are asked at its end" },
        { "p+", "[2+0 80x24 PAUSED   every 5.0 s   ] [2+0 80x24 PAUSED   every 10 s   ] " DONE,
          "no timer is set in a pause" },
        { "  ", "[2+0 80x24 PAUSED   every 5.0 s   ] ask " PAGE("0") DONE, "a blank pauses, too" },
        { TIMER "q", "ask " DONE, "nodes are asked when the time is over" },
        { TIMER "+", "ask [2+0 80x24 every 10 s   ] " DONE,
          "no timer is set while nodes are being asked" },
        { TIMER ANSWER "q", "ask order(no token, 1.5 s) in(5000) " PAGE("0") DONE,
          "answers are shown, and the next time is set" },
    };

    usual();
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        is_str(keys(cases[i].keys), cases[i].want, "a page of many nodes: %s", cases[i].what);
    made.rows = 1;
    ok(strstr(keys("nn"), "[2+1 80x1 every 5.0 s   ] [2+2 80x1 "),
       "a page of one line is left by n");
}

static void test_intervals(void)
{
    usual();
    ok(strstr(keys("+++++++++"), "in(600000) [2+0 80x24 every 10.0 min   ] in(600000) "),
       "nodes are asked every ten minutes at least: %s", did);
    ok(strstr(keys("-----"), "in(1000) [2+0 80x24 every 1.0 s   ] in(1000) "),
       "nodes are asked every second at most: %s", did);
}

#define OPENED "open(2 nodes, 448 at once, 2000 ms, no token) "
#define ORDERED "ask order(no token, 2.0 s) "

static const struct top_nodes_options usually = { .interval_ns = 5 * NS_PER_S,
                                                  .patience_ns = 2 * NS_PER_S };

/* Once: the first answer, which no key asks for. */
static void test_failures(void)
{
    usual();
    made.no_terminal = true;
    is_str(top("q", usually), " = -25: no terminal", "a terminal is needed");
    usual();
    made.no_ask = true;
    is_str(top("q", usually), " = -24: no sockets", "nodes that cannot be asked are told");
    usual();
    made.no_page = true;
    is_str(top("q", usually), OPENED "ask close = -5: terminal: Input/output error",
           "a page that cannot be shown ends it");
    usual();
    made.no_order = true;
    is_str(top(ANSWER "q", usually), OPENED "[asking 2 nodes] ask close = -12: out of memory",
           "answers that there is no memory for end it");
}

/* One page, without a terminal; its answers are there at once. */
static void test_once(void)
{
    struct top_nodes_options o = usually;

    usual();
    made.no_terminal = made.at_once = true;
    o.once = true;
    is_str(top("", o), OPENED ORDERED "print(text: 2+0f 0x0 ) close = 0", "one page is printed");
    made.silent = 1;
    is_str(top("", o), OPENED ORDERED "print(text: 2+0f 0x0 ) close = 0",
           "one node that answers is enough");
    made.silent = 2;
    is_str(top("", o),
           OPENED ORDERED
           "print(text: 2+0f 0x0 ) close = -113: none of 2 nodes answers; n1: no answer",
           "nodes of which none answers are an error");
    made.silent = 0;
    o.json = "file";
    is_str(top("", o), OPENED ORDERED "print(file: {2 at 7}) close = 0", "JSON goes to its file");
    o.json = NULL;
    o.token_file = "token";
    is_str(top("", o),
           "open(2 nodes, 448 at once, 2000 ms, secret) ask order(token, 2.0 s) print(text: 2+0f "
           "0x0 ) close = 0",
           "the token is sent");
    made.no_token = true;
    is_str(top("", o), " = -2: token: none", "a token that cannot be read ends it");
    made.no_token = false;
    made.no_order = true;
    is_str(top("", o), "open(2 nodes, 448 at once, 2000 ms, secret) ask close = -12: out of memory",
           "nothing is printed where there is no memory for the order");
}

/* What poll() cannot watch, such as a file, is no terminal. */
static void test_watch(void)
{
    char root[PATH_MAX], path[PATH_MAX];
    int was = dup(STDIN_FILENO), file;

    folder_make(root);
    folder_text(root, "file", "q");
    folder_path(root, "file", path);
    file = open(path, O_RDONLY | O_CLOEXEC);
    folder_need(file < 0 ? -1 : dup2(file, STDIN_FILENO), path);
    usual();
    is_str(top("q", usually),
           OPENED "ask close = -1: cannot watch the terminal: operation not permitted",
           "a terminal that cannot be watched ends it");
    folder_need(dup2(was, STDIN_FILENO), "standard input");
    close(file);
    close(was);
    folder_remove(root);
}

/* A signal, where no key is pressed. */
static void test_signals(void)
{
    int was = dup(STDIN_FILENO), nobody[2];
    char c;

    folder_need(pipe2(nobody, O_CLOEXEC), "a pipe");
    folder_need(dup2(nobody[0], STDIN_FILENO), "standard input");
    folder_need((int)write(signals[1], "s", 1), "a pipe");
    usual();
    is_str(top(END, usually), OPENED "[asking 2 nodes] ask close = 0",
           "signals are watched, as keys are");
    folder_need((int)read(signals[0], &c, 1), "a pipe");
    folder_need(dup2(was, STDIN_FILENO), "standard input");
    close(was);
    close(nobody[0]);
    close(nobody[1]);
}

int main(void)
{
    int keys_here[2];

    folder_need(pipe2(keys_here, O_CLOEXEC), "a pipe");
    folder_need(pipe2(signals, O_CLOEXEC), "a pipe");
    folder_need((int)write(keys_here[1], "k", 1), "a pipe");
    folder_need(dup2(keys_here[0], STDIN_FILENO), "standard input");
    test_keys();
    test_intervals();
    test_failures();
    test_once();
    test_watch();
    test_signals();
    return done();
}
