#include "cmd/mcp/serve.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

#include "cmd/mcp/calls.h"
#include "cmd/mcp/lines.h"
#include "cmd/mcp/session.h"

enum {
    LINE_MOST = 1 << 20,
    WAITING_MOST = 1 << 20, /* of answers, while messages are taken and calls are started */
    OUT_MOST = 256 << 20,   /* answers to all calls that run are below that */
    ATOM = 4096,            /* written at once: so much does not wait where there is room */
};

struct server {
    struct mcp_session session;
    struct mcp_work work;
    struct mcp_calls *calls;
    struct mcp_lines lines;
    struct str out; /* answers */
    size_t sent;    /* bytes of them that were written */
    int signals;
    bool no_more;  /* input has ended */
    bool has_line; /* there may be a whole line that was not taken */
    bool ending;   /* nobody wants answers any more */
};

/* ---- messages ---- */

static size_t waiting(const struct server *s)
{
    return s->out.len - s->sent;
}

static void end(struct server *s)
{
    s->ending = true;
    s->no_more = true;
    s->has_line = false;
    str_reset(&s->out);
    s->sent = 0;
    mcp_calls_end(s->calls);
}

static int take_lines(struct server *s)
{
    const char *line;
    size_t len;
    int rc = 0;

    while (s->has_line && rc == 0 && waiting(s) <= WAITING_MOST)
        switch (mcp_lines_next(&s->lines, s->no_more, &line, &len)) {
        case MCP_LINE_NONE:
            s->has_line = false;
            break;
        case MCP_LINE_TOO_LONG:
            mcp_session_too_long(LINE_MOST, &s->out);
            break;
        case MCP_LINE_WHOLE:
            rc = mcp_session_take(&s->session, line, len, &s->out);
            break;
        }
    return rc;
}

/* Lines that are not taken, because answers wait, keep more from being read. */
static bool wants_input(const struct server *s)
{
    return !s->no_more && !s->has_line;
}

static int read_input(struct server *s, struct err *e)
{
    char piece[MCP_LINES_PIECE];
    ssize_t n = read(STDIN_FILENO, piece, sizeof(piece));

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (n < 0)
        return err_set(e, -errno, "standard input: %s", strerror(errno));
    s->no_more = n == 0;
    s->has_line = true;
    return n && mcp_lines_add(&s->lines, piece, (size_t)n) < 0 ? err_nomem(e) : 0;
}

/* ---- answers ---- */

static int write_some(struct server *s, struct err *e)
{
    size_t n = MIN(waiting(s), (size_t)ATOM);
    ssize_t written = write(STDOUT_FILENO, str_text(&s->out) + s->sent, n);

    if (written < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (written < 0 && (errno == EPIPE || errno == ECONNRESET)) {
        end(s);
        return 0;
    }
    if (written < 0)
        return err_set(e, -errno, "standard output: %s", strerror(errno));
    s->sent += (size_t)written;
    if (!waiting(s)) {
        str_reset(&s->out);
        s->sent = 0;
    }
    return 0;
}

/* ---- the loop ---- */

enum { SIGNALS, INPUT, OUTPUT, CALLS, FDS = CALLS + MCP_CALLS_FDS };

static void take_signals(struct server *s)
{
    struct signalfd_siginfo info;

    while (read(s->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
        if (info.ssi_signo != SIGCHLD && !s->ending)
            end(s);
}

/* Wait until something happens: what, stands in revents. */
static int wait_for(const struct server *s, struct pollfd *fds, struct err *e)
{
    size_t n = CALLS + mcp_calls_fds(s->calls, fds + CALLS);

    fds[SIGNALS] = (struct pollfd){ .fd = s->signals, .events = POLLIN };
    fds[INPUT] = (struct pollfd){ .fd = wants_input(s) ? STDIN_FILENO : -1, .events = POLLIN };
    fds[OUTPUT] = (struct pollfd){ .fd = s->ending ? -1 : STDOUT_FILENO,
                                   .events = (short)(waiting(s) ? POLLOUT : 0) };
    if (poll(fds, n, mcp_calls_wait_ms(s->calls)) >= 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        fds[i].revents = 0;
    return errno == EINTR ? 0 : err_set(e, -errno, "cannot wait for input: %s", strerror(errno));
}

static bool is_over(const struct server *s)
{
    bool done = s->no_more && !s->has_line && mcp_calls_open(s->calls) == 0;

    return done && (s->ending || !waiting(s));
}

static int step(struct server *s, struct err *e)
{
    struct pollfd fds[FDS];
    int rc = take_lines(s);

    if (rc < 0)
        return err_nomem(e);
    if (waiting(s) <= WAITING_MOST)
        mcp_calls_start(s->calls);
    if (is_over(s)) /* nothing would happen any more */
        return 0;
    rc = wait_for(s, fds, e);
    if (fds[SIGNALS].revents)
        take_signals(s);
    if (rc == 0 && fds[INPUT].revents && !s->ending)
        rc = read_input(s, e);
    if (rc == 0 && (fds[OUTPUT].revents & POLLOUT) && !s->ending)
        rc = write_some(s, e);
    else if (rc == 0 && fds[OUTPUT].revents & (POLLERR | POLLHUP) && !s->ending)
        end(s); /* nobody reads it */
    if (rc == 0 && mcp_calls_look(s->calls, &s->out) < 0)
        rc = err_nomem(e);
    return rc;
}

/* SIGPIPE is blocked: writing says EPIPE. */
static int watch_signals(struct server *s, sigset_t *before, struct err *e)
{
    sigset_t watched, blocked;

    sigemptyset(&watched);
    sigaddset(&watched, SIGTERM);
    sigaddset(&watched, SIGINT);
    sigaddset(&watched, SIGCHLD);
    blocked = watched;
    sigaddset(&blocked, SIGPIPE);
    sigprocmask(SIG_BLOCK, &blocked, before);
    s->signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    return s->signals < 0 ? err_set(e, -errno, "cannot watch signals: %s", strerror(errno)) : 0;
}

static void server_done(struct server *s)
{
    if (s->calls)
        mcp_calls_free(s->calls);
    closep(&s->signals);
    mcp_lines_done(&s->lines);
    str_done(&s->out);
}

int mcp_serve(const struct app *app, const struct mcp_tools *tools, int64_t limit_ns, struct err *e)
{
    CLEANUP(server_done) struct server s = { .out = STR_INIT(OUT_MOST), .signals = -1 };
    sigset_t before;
    int rc = watch_signals(&s, &before, e);

    mcp_lines_init(&s.lines, LINE_MOST);
    if (rc < 0)
        return rc;
    s.calls = mcp_calls_new(app->clock, limit_ns, &before);
    if (!s.calls)
        return err_nomem(e);
    s.work = mcp_calls_work(s.calls);
    s.session = (struct mcp_session){ .tools = tools, .work = &s.work };
    while (rc == 0 && !is_over(&s))
        rc = step(&s, e);
    return rc;
}
