#include "cmd/top/nodes.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "ask/ask.h"
#include "base/conf.h"
#include "cmd/common/nodes_option.h"
#include "cmd/common/terminal.h"
#include "cmd/common/token_file.h"
#include "model/signal/quantity.h"
#include "render/node/nodes_json.h"
#include "render/node/nodes_text.h"

enum { OUTPUT_MAX = 64 << 20, DESCRIPTORS = 64 /* for other things than nodes */ };

#define INTERVAL_MIN_NS NS_PER_S
#define INTERVAL_MAX_NS (600 * NS_PER_S)

static const char help[] =
    "brim top --nodes: what limits many nodes now\n\n"
    "The sentence counts them; below it each node has a line, the worst first. Where there is no\n"
    "room for all, nodes of which the same is to be said share a line, with the sentence of the\n"
    "worst.\n\n"
    "  q        quit\n"
    "  n b      the next lines, and those before\n"
    "  f        a line for each node, or shared ones\n"
    "  p        pause, and go on\n"
    "  + -      ask less and more often\n"
    "  ?        this page; any key leaves it\n";

struct page {
    const struct app *app;
    struct terminal *terminal; /* NULL: one page */
    struct node_list list;
    struct node_order_asked asked;
    int64_t interval_ns;
    struct ask *ask;
    struct arena arena; /* of the order */
    struct node_order order;
    bool known; /* there is an order */
    bool paused, helping, unfolded;
    size_t first, lines; /* of the table: the first that is shown, and how many there are */
    int rc;              /* why it ended: 0, or a negative errno with its sentence in err */
    struct err *err;
    uv_loop_t loop;
    uv_timer_t timer;
    uv_poll_t keys, signals;
};

/* ---- what is shown ---- */

/* Order what came. */
static int take_answers(struct page *p)
{
    struct arena a = ARENA_INIT;
    struct node_order order;
    int rc = node_order_make(&order, &a, &p->list, ask_answers(p->ask), &p->asked);

    if (rc < 0) {
        arena_done(&a);
        return err_nomem(p->err);
    }
    arena_done(&p->arena);
    p->arena = a;
    p->order = order;
    p->known = true;
    return 0;
}

static void add_footer(const struct page *p, struct str *out)
{
    str_addf(out, "%severy %s   q quit  n b lines  f fold  p pause  + - interval  ? help",
             p->paused ? "PAUSED   " : "", quantity_span(clock_seconds(p->interval_ns)).text);
}

static int draw(struct page *p)
{
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX), last = STR_INIT(256);
    const struct nodes_text_page which = { p->first, p->unfolded };
    struct live_look look = { .columns = p->terminal->columns,
                              .rows = p->terminal->rows,
                              .colour = p->app->colour,
                              .unicode = conf_utf8() };
    int rc;

    add_footer(p, &last);
    look.footer = str_text(&last);
    if (p->helping)
        str_add(&out, help);
    else if (p->known)
        p->lines = nodes_text(&p->order, &which, &look, &out);
    else
        str_addf(&out, "asking %zu node%s\n", p->list.n, str_plural(p->list.n));
    rc = str_error(&last) ? str_error(&last) : str_error(&out);
    if (rc == 0)
        rc = terminal_show(p->terminal, str_text(&out));
    return rc < 0 ? err_set(p->err, rc, "terminal: %s", strerror(-rc)) : 0;
}

/* ---- the loop ---- */

static void close_handle(uv_handle_t *h, void *arg)
{
    (void)arg;
    if (!uv_is_closing(h))
        uv_close(h, NULL);
}

static void close_all(struct page *p)
{
    ask_end(p->ask);
    uv_walk(&p->loop, close_handle, NULL);
}

/* Show what is there now; a failure ends the command. */
static void redraw(struct page *p)
{
    if (p->rc == 0)
        p->rc = draw(p);
    if (p->rc < 0)
        close_all(p);
}

static void on_timer(uv_timer_t *timer)
{
    struct page *p = timer->data;

    if (!p->paused)
        ask_begin(p->ask);
}

static void wait_for_next(struct page *p)
{
    uv_timer_start(&p->timer, on_timer, (uint64_t)(p->interval_ns / NS_PER_MS), 0);
}

/* All have answered, or had their time. */
static void on_done(void *ctx)
{
    struct page *p = ctx;

    p->rc = take_answers(p);
    if (!p->terminal || p->rc < 0) {
        close_all(p);
        return;
    }
    wait_for_next(p);
    redraw(p);
}

/* By half a page, so that some lines stay. */
static void scroll(struct page *p, bool on)
{
    const size_t by = MAX(p->terminal->rows / 2, 1U);

    if (!on)
        p->first -= MIN(by, p->first);
    else if (p->first + by < p->lines)
        p->first += by;
}

static void set_interval(struct page *p, int64_t ns)
{
    p->interval_ns = MAX(MIN(ns, INTERVAL_MAX_NS), INTERVAL_MIN_NS);
    if (!ask_busy(p->ask) && !p->paused)
        wait_for_next(p);
}

static void toggle_pause(struct page *p)
{
    p->paused = !p->paused;
    if (!p->paused)
        ask_begin(p->ask);
}

/* What a key does; false: it ends the command. */
static bool on_key(struct page *p, char key)
{
    if (p->helping) {
        p->helping = false;
        return key != 'q';
    }
    if (key == 'n' || key == 'b')
        scroll(p, key == 'n');
    else if (key == 'f')
        p->unfolded = !p->unfolded;
    else if (key == 'p' || key == ' ')
        toggle_pause(p);
    else if (key == '+')
        set_interval(p, p->interval_ns * 2);
    else if (key == '-')
        set_interval(p, p->interval_ns / 2);
    else if (key == '?' || key == 'h')
        p->helping = true;
    if (key == 'f')
        p->first = 0;
    return key != 'q';
}

static void on_terminal(uv_poll_t *poll, int status, int events)
{
    struct page *p = poll->data;
    enum terminal_event event;
    char key = 0;

    (void)events;
    event = status < 0 ? TERMINAL_ENDED : terminal_wait(p->terminal, 0, &key);
    if (event == TERMINAL_ENDED || (event == TERMINAL_KEY && !on_key(p, key)))
        close_all(p);
    else if (event != TERMINAL_TIMEOUT)
        redraw(p);
}

static int start_terminal(struct page *p)
{
    int rc = uv_timer_init(&p->loop, &p->timer);

    if (rc == 0)
        rc = uv_poll_init(&p->loop, &p->keys, STDIN_FILENO);
    if (rc == 0)
        rc = uv_poll_init(&p->loop, &p->signals, p->terminal->signals);
    p->timer.data = p->keys.data = p->signals.data = p;
    if (rc == 0)
        rc = uv_poll_start(&p->keys, UV_READABLE, on_terminal);
    if (rc == 0)
        rc = uv_poll_start(&p->signals, UV_READABLE, on_terminal);
    return rc;
}

/* ---- once ---- */

static int print_once(struct page *p, const char *json, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    const struct nodes_text_page which = { .unfolded = true };
    const struct live_look look = { .colour = p->app->colour, .unicode = conf_utf8() };
    const struct node_order *o = &p->order;
    int rc;

    if (json) {
        nodes_json(o, clock_wall_ns(p->app->clock), &out);
        str_add_char(&out, '\n');
    } else {
        nodes_text(o, &which, &look, &out);
    }
    signal(SIGPIPE, SIG_DFL);
    rc = cmd_print(&out, json, e);
    if (rc < 0 || o->sums.states[NODE_ORDER_SILENT] < o->n)
        return rc;
    return err_set(e, -EHOSTUNREACH, "none of %zu node%s answers; %s: %s", o->n, str_plural(o->n),
                   o->rows[0].node->text, o->rows[0].sentence);
}

static int run_loop(struct page *p, const struct ask_config *config, struct err *e)
{
    int rc = uv_loop_init(&p->loop);

    if (rc < 0)
        return err_set(e, rc, "cannot start the loop: %s", uv_strerror(rc));
    rc = ask_open(&p->ask, &p->loop, config, e);
    if (rc == 0 && p->terminal)
        p->rc = start_terminal(p);
    if (p->rc < 0)
        err_set(e, p->rc, "cannot watch the terminal: %s", uv_strerror(p->rc));
    if (rc == 0 && (p->terminal || p->rc < 0))
        redraw(p);
    if (rc == 0)
        ask_begin(p->ask);
    uv_run(&p->loop, UV_RUN_DEFAULT);
    uv_loop_close(&p->loop);
    return rc < 0 ? rc : p->rc;
}

static void page_done(struct page *p)
{
    if (p->ask)
        ask_close(p->ask);
    arena_done(&p->arena);
}

int top_nodes(const struct app *app, const struct top_nodes_options *o, struct err *e)
{
    CLEANUP(terminal_close) struct terminal terminal = { .signals = -1 };
    CLEANUP(arena_done) struct arena lists = ARENA_INIT;
    CLEANUP(str_done) struct str token = STR_INIT(TOKEN_FILE_MAX);
    CLEANUP(page_done)
    struct page p = { .app = app,
                      .interval_ns = o->interval_ns,
                      .asked = { o->token_file != NULL, clock_seconds(o->patience_ns) },
                      .err = e };
    struct ask_config config = { .nodes = &p.list,
                                 .at_once = ask_at_once(DESCRIPTORS, ASK_AT_ONCE),
                                 .patience_ns = o->patience_ns,
                                 .done = on_done,
                                 .ctx = &p };
    int rc = nodes_option_read(&p.list, &lists, o->nodes, e);

    if (rc == 0 && o->token_file)
        rc = nodes_option_token(o->token_file, &token, e);
    if (rc == 0 && !o->once) {
        p.terminal = &terminal;
        rc = terminal_open(&terminal, e);
    }
    if (rc < 0)
        return rc;
    if (o->token_file)
        config.token = str_text(&token);
    signal(SIGPIPE, SIG_IGN);
    rc = run_loop(&p, &config, e);
    return rc == 0 && o->once ? print_once(&p, o->json, e) : rc;
}
