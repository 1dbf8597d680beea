#include "cmd/control/serve.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/thread.h"
#include "cmd/control/operate.h"
#include "cmd/control/show.h"
#include "daemon/http/http.h"
#include "site.h"

enum {
    SILENCE_S = 10,
    WAIT_MS = 1000,
    ACTIONS = 100,
    ACTIONS_MAX = 1 << 20,
    PASSWD_MAX = 16 << 10,
    BOARD_MAX = 64 << 20
};

/* What is served, before the files of the page. */
enum page { PAGE_BOARD, PAGE_ACTIONS, PAGE_HEALTH, PAGE_APPROVE, PAGE_STOP, PAGE_GO, PAGES };

static const char json_type[] = "application/json; charset=utf-8";
static const char text_type[] = "text/plain; charset=utf-8";

static const struct http_page first_pages[PAGES] = {
    [PAGE_BOARD] = { .path = "/api/v1/cluster.json", .type = json_type, .kind = HTTP_LATEST },
    [PAGE_ACTIONS] = { .path = "/api/v1/actions.json", .type = json_type, .kind = HTTP_WORK },
    [PAGE_HEALTH] = { .path = "/healthz", .type = text_type, .kind = HTTP_WORK, .open = true },
    [PAGE_APPROVE] = { .path = "/api/v1/approve", .type = text_type, .kind = HTTP_DEED },
    [PAGE_STOP] = { .path = "/api/v1/stop", .type = text_type, .kind = HTTP_DEED },
    [PAGE_GO] = { .path = "/api/v1/go", .type = text_type, .kind = HTTP_DEED },
};

/* Files of the page of a node that this one uses, too. */
static const char *const shared[] = { "/dom.js",    "/format.js", "/theme.js",
                                      "/style.css", "/icon.svg",  "/favicon.ico" };
static const char own[] = "/cluster";

struct serve {
    const struct serve_config *config;
    struct http_config http_config;
    struct http_page pages[HTTP_PAGES];
    struct http *http;
    struct control_book *book; /* the thread's own */
    pthread_t thread;
    bool running;
    int wake; /* that it is to end */
    bool again;
    uint64_t known; /* the board that was served last */
    /* shared with who makes boards: */
    pthread_mutex_t lock;
    struct board_text board; /* the newest; empty: there is none yet */
    uint64_t number;         /* of it */
    struct err trouble;
};

/* ---- what is read ---- */

static int fill(void *ctx, size_t page)
{
    struct serve *s = ctx;
    int rc = -EAGAIN;

    pthread_mutex_lock(&s->lock);
    if (s->board.text.len > 0)
        rc = http_publish(s->http, page, str_text(&s->board.text), s->board.text.len);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

/* Root and who runs this see all, as they could in Slurm; so do operators. */
static bool sees_all(const struct serve *s, const struct http_caller *who)
{
    return !s->config->own || who->operates || who->uid == 0 || who->uid == (int64_t)geteuid();
}

static void reply(struct http_call *call, unsigned status, const char *sentence)
{
    CLEANUP(str_done) struct str text = STR_INIT(ACTIONS_MAX);

    str_addf(&text, "%s\n", sentence);
    http_reply(call, status, text_type, str_text(&text), text.len);
}

static void reply_failed(struct http_call *call, int rc, const struct err *why)
{
    reply(call, rc == -ENOENT ? 404 : 503, why->text);
}

/* The board with names of the caller's own jobs. */
static void tell_own_board(struct serve *s, struct http_call *call)
{
    CLEANUP(str_done) struct str out = STR_INIT(BOARD_MAX);
    const struct http_caller who = http_caller(call);

    pthread_mutex_lock(&s->lock);
    if (sees_all(s, &who))
        str_add_n(&out, str_text(&s->board.text), s->board.text.len);
    else
        board_text_cut(&s->board, who.uid, &out);
    pthread_mutex_unlock(&s->lock);
    if (str_error(&out) || out.len == 0)
        reply(call, 503, str_error(&out) ? "out of memory" : "nothing is known yet");
    else
        http_reply(call, 200, NULL, str_text(&out), out.len);
}

struct telling {
    struct json j;
    const char *user; /* whose names are told; NULL: all */
};

static int add_row(void *arg, const struct control_row *row)
{
    struct telling *t = arg;
    struct control_row shown = *row;

    if (t->user && strcmp(t->user, row->user) != 0)
        *shown.user = 0;
    show_action_json(&shown, &t->j);
    return str_error(t->j.out);
}

/* The name of a user; "" where nobody knows it. */
static const char *name_of(int64_t uid, char *room, size_t size)
{
    struct passwd entry, *found = NULL;

    if (uid < 0 || getpwuid_r((uid_t)uid, &entry, room, size, &found) != 0 || !found)
        return "";
    return found->pw_name;
}

static int add_actions(struct serve *s, const struct http_caller *who, struct str *out,
                       struct err *e)
{
    struct telling t = { .j = { .out = out, .compact = true } };
    struct json *j = &t.j;
    char room[PASSWD_MAX];
    struct err trouble;
    bool stopped = false;
    int rc = control_book_stopped(s->book, &stopped, e);

    if (!sees_all(s, who))
        t.user = name_of(who->uid, room, sizeof(room));
    pthread_mutex_lock(&s->lock);
    trouble = s->trouble;
    pthread_mutex_unlock(&s->lock);
    json_object(j, NULL);
    json_string(j, "schema", "brim.control.actions.v1");
    json_string(j, "mode", s->config->mode);
    json_bool(j, "stopped", stopped);
    json_bool(j, "may_act", s->config->operators);
    json_string(j, "trouble", *trouble.text ? trouble.text : NULL);
    json_array(j, "actions");
    if (rc == 0)
        rc = control_book_rows(s->book, ~0U, ACTIONS, add_row, &t, e);
    json_end(j);
    json_end(j);
    return rc < 0 ? rc : str_error(out);
}

static void tell_actions(struct serve *s, struct http_call *call)
{
    CLEANUP(str_done) struct str out = STR_INIT(ACTIONS_MAX);
    struct err why = { "out of memory" };
    const struct http_caller who = http_caller(call);
    int rc = add_actions(s, &who, &out, &why);

    if (rc < 0)
        reply_failed(call, rc, &why);
    else
        http_reply(call, 200, NULL, str_text(&out), out.len);
}

static void tell_health(struct serve *s, struct http_call *call)
{
    bool good;

    pthread_mutex_lock(&s->lock);
    good = !*s->trouble.text;
    pthread_mutex_unlock(&s->lock);
    reply(call, good ? 200 : 503, good ? "ok" : "the last look failed: the log tells why");
}

/* ---- what is done ---- */

/* A line of the log: what was done, and by whom as far as the connection tells. */
static void note(const struct http_call *call, const char *what, uint64_t id)
{
    const int64_t uid = http_caller(call).uid;
    char number[24] = "", by[32] = "";

    if (id)
        snprintf(number, sizeof(number), " %llu", (unsigned long long)id);
    if (uid >= 0)
        snprintf(by, sizeof(by), ", by uid %lld", (long long)uid);
    log_info("%s%s on the page%s", what, number, by);
}

static void approve(struct serve *s, struct http_call *call)
{
    const char *text = http_query(call, "id");
    struct err why = { "" };
    uint64_t id = 0;
    int rc;

    if (!text || parse_u64(text, &id) < 0) {
        reply(call, 400, "id is to be the number of an action");
        return;
    }
    rc = operate_approve(s->book, id, &why);
    if (rc < 0) {
        reply_failed(call, rc, &why);
        return;
    }
    note(call, "approved action", id);
    reply(call, 200, "approved: it is done with the next look");
}

static void set_switch(struct serve *s, struct http_call *call, bool stopped)
{
    struct err why = { "" };
    int rc = control_book_stop(s->book, stopped, &why);

    if (rc < 0) {
        reply_failed(call, rc, &why);
        return;
    }
    note(call, stopped ? "stopped all actions" : "let actions go on", 0);
    reply(call, 200, stopped ? "stopped: nothing more is done" : "actions go on");
}

static void work(void *ctx, size_t page, struct http_call *call)
{
    struct serve *s = ctx;

    switch ((enum page)page) {
    case PAGE_APPROVE:
        approve(s, call);
        return;
    case PAGE_STOP:
    case PAGE_GO:
        set_switch(s, call, page == PAGE_STOP);
        return;
    case PAGE_BOARD:
        tell_own_board(s, call);
        return;
    case PAGE_ACTIONS:
        tell_actions(s, call);
        return;
    default:
        break;
    }
    tell_health(s, call);
}

/* ---- the thread ---- */

static void again(void *ctx)
{
    ((struct serve *)ctx)->again = true;
}

static void look_for_news(struct serve *s)
{
    uint64_t number;

    pthread_mutex_lock(&s->lock);
    number = s->number;
    pthread_mutex_unlock(&s->lock);
    if (number != s->known)
        http_stale(s->http);
    s->known = number;
}

static void *run(void *arg)
{
    struct serve *s = arg;
    struct pollfd fds[] = { { http_fd(s->http), POLLIN, 0 }, { s->wake, POLLIN, 0 } };
    bool more = false;

    while (poll(fds, ARRAY_SIZE(fds), more ? 0 : WAIT_MS) >= 0 || errno == EINTR) {
        if (fds[1].revents)
            break;
        look_for_news(s);
        s->again = false;
        more = http_run(s->http, clock_monotonic_ns(&clock_system));
        more = more || s->again;
    }
    http_end(s->http);
    return NULL;
}

/* ---- from outside ---- */

static bool is_wanted(const char *path)
{
    for (size_t i = 0; i < ARRAY_SIZE(shared); i++)
        if (!strcmp(path, shared[i]))
            return true;
    return !strncmp(path, own, strlen(own));
}

static size_t all_pages(struct http_page pages[HTTP_PAGES])
{
    size_t n = PAGES;

    memcpy(pages, first_pages, sizeof(first_pages));
    for (size_t i = 0; i < site_n_files && n < HTTP_PAGES; i++)
        if (is_wanted(site_files[i].path))
            pages[n++] = (struct http_page){
                .path = strcmp(site_files[i].path, own) ? site_files[i].path : "/",
                .type = site_files[i].type,
                .kind = HTTP_FIXED,
                .text = site_files[i].text,
                .len = site_files[i].len,
            };
    return n;
}

int serve_open(struct serve **ret, const struct serve_config *config, struct err *e)
{
    struct serve *s = calloc(1, sizeof(*s));
    int rc;

    if (!s)
        return err_nomem(e);
    s->config = config;
    s->board.text.max = BOARD_MAX;
    pthread_mutex_init(&s->lock, NULL);
    s->wake = eventfd(0, EFD_CLOEXEC);
    s->http_config = (struct http_config){ .listen = config->listen,
                                           .token = config->token,
                                           .operators = config->operators,
                                           .silence_s = SILENCE_S,
                                           .pages = s->pages,
                                           .n_pages = all_pages(s->pages),
                                           .work = work,
                                           .fill = fill,
                                           .again = again,
                                           .ctx = s };
    if (config->own)
        s->pages[PAGE_BOARD].kind = HTTP_WORK;
    rc = s->wake < 0 ? err_set(e, -errno, "cannot make an event: %m") : 0;
    if (rc == 0)
        rc = http_open(&s->http, &s->http_config, e);
    if (rc == 0)
        rc = control_book_open(&s->book, config->where, false, e);
    if (rc == 0) {
        rc = thread_start(&s->thread, run, s);
        s->running = rc == 0;
        if (rc < 0)
            rc = err_set(e, rc, "cannot start a thread: %s", strerror(-rc));
    }
    if (rc < 0)
        serve_close(s);
    else
        *ret = s;
    return rc;
}

void serve_close(struct serve *s)
{
    if (!s)
        return;
    if (s->running) {
        (void)eventfd_write(s->wake, 1);
        pthread_join(s->thread, NULL);
    }
    http_close(s->http);
    control_book_close(s->book);
    if (s->wake >= 0)
        close(s->wake);
    board_text_done(&s->board);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

const char *serve_where(const struct serve *s)
{
    return http_where(s->http);
}

void serve_board(struct serve *s, struct board_text *board)
{
    struct board_text old;

    pthread_mutex_lock(&s->lock);
    old = s->board;
    s->board = *board;
    s->number++;
    s->trouble = (struct err){ "" };
    pthread_mutex_unlock(&s->lock);
    *board = (struct board_text){ .n = 0 };
    board_text_done(&old);
}

void serve_trouble(struct serve *s, const char *why)
{
    struct err trouble;

    snprintf(trouble.text, sizeof(trouble.text), "%s", why);
    pthread_mutex_lock(&s->lock);
    s->trouble = trouble;
    pthread_mutex_unlock(&s->lock);
}
