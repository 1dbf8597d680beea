#include "cmd/mcp/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { OUT_MOST = 4 << 20, ERR_MOST = 16 << 10, PIECE = 64 << 10, NOT_STARTED = 126 };

#define GRACE_NS (2 * NS_PER_S)

enum state { FREE, WAITS, RUNS };

struct one {
    enum state state;
    uint64_t turn; /* in the order in which they came */
    struct arena arena;
    struct mcp_call call;
    char **argv; /* of call, as execv() takes it */
    pid_t pid;
    int out_fd, err_fd;
    struct str out, err;
    int64_t due_ns; /* when it is stopped; of one that was, killed */
    bool stopped;
    bool silent; /* there will be no answer */
    enum mcp_end end;
};

struct mcp_calls {
    const struct clock *clock;
    int64_t limit_ns;
    sigset_t signals;
    uint64_t turns;
    struct one all[MCP_CALLS_MOST];
};

/* To its process and what that has started; one that could not be started has none. */
static void signal_to(const struct one *o, int number)
{
    if (o->pid > 0)
        (void)kill(-o->pid, number);
}

static void close_fds(struct one *o)
{
    closep(&o->out_fd);
    closep(&o->err_fd);
    o->out_fd = o->err_fd = -1;
}

static void clear(struct one *o)
{
    close_fds(o);
    str_done(&o->out);
    str_done(&o->err);
    arena_done(&o->arena);
    *o = (struct one){
        .out_fd = -1, .err_fd = -1, .out = STR_INIT(OUT_MOST), .err = STR_INIT(ERR_MOST)
    };
}

struct mcp_calls *mcp_calls_new(const struct clock *clock, int64_t limit_ns,
                                const sigset_t *signals)
{
    struct mcp_calls *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->clock = clock;
    c->limit_ns = limit_ns;
    c->signals = *signals;
    for (size_t i = 0; i < MCP_CALLS_MOST; i++) {
        c->all[i].out_fd = c->all[i].err_fd = -1;
        clear(&c->all[i]);
    }
    return c;
}

void mcp_calls_free(struct mcp_calls *c)
{
    for (size_t i = 0; i < MCP_CALLS_MOST; i++) {
        struct one *o = &c->all[i];

        signal_to(o, SIGKILL);
        while (o->pid > 0 && waitpid(o->pid, NULL, 0) < 0 && errno == EINTR)
            ;
        clear(o);
    }
    free(c);
}

/* ---- what a session asks for ---- */

static int copy_call(struct one *o, const struct mcp_call *call)
{
    size_t n = 0;

    while (call->argv[n])
        n++;
    o->argv = arena_alloc(&o->arena, (n + 1) * sizeof(*o->argv));
    o->call = *call;
    o->call.id = arena_strdup(&o->arena, call->id);
    o->call.argv = (const char *const *)o->argv;
    if (!o->argv || !o->call.id)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        o->argv[i] = arena_strdup(&o->arena, call->argv[i]);
        if (!o->argv[i])
            return -ENOMEM;
    }
    return 0;
}

static int begin(void *arg, const struct mcp_call *call)
{
    struct mcp_calls *c = arg;
    struct one *o = NULL;
    int rc;

    for (size_t i = 0; i < MCP_CALLS_MOST; i++) {
        struct one *other = &c->all[i];

        if (other->state == FREE)
            o = o ? o : other;
        else if (!other->silent && !strcmp(other->call.id, call->id))
            return -EEXIST;
    }
    if (!o)
        return -EAGAIN;
    rc = copy_call(o, call);
    if (rc < 0) {
        clear(o);
        return rc;
    }
    o->state = WAITS;
    o->turn = c->turns++;
    return 0;
}

static void stop(const struct mcp_calls *c, struct one *o)
{
    if (o->stopped)
        return;
    o->stopped = true;
    o->due_ns = clock_monotonic_ns(c->clock) + GRACE_NS;
    signal_to(o, SIGTERM);
}

static void drop(const struct mcp_calls *c, struct one *o)
{
    if (o->state == WAITS) {
        clear(o);
    } else if (o->state == RUNS) {
        o->silent = true;
        stop(c, o);
    }
}

static void cancel(void *arg, const char *id)
{
    struct mcp_calls *c = arg;

    for (size_t i = 0; i < MCP_CALLS_MOST; i++)
        if (c->all[i].state != FREE && !strcmp(c->all[i].call.id, id))
            drop(c, &c->all[i]);
}

struct mcp_work mcp_calls_work(struct mcp_calls *c)
{
    return (struct mcp_work){ .arg = c, .begin = begin, .cancel = cancel };
}

void mcp_calls_end(struct mcp_calls *c)
{
    for (size_t i = 0; i < MCP_CALLS_MOST; i++)
        drop(c, &c->all[i]);
}

size_t mcp_calls_open(const struct mcp_calls *c)
{
    size_t n = 0;

    for (size_t i = 0; i < MCP_CALLS_MOST; i++)
        n += c->all[i].state != FREE;
    return n;
}

/* ---- processes ---- */

/* In the child: never returns. What fails is said where the command would have. */
static void become_command(const struct mcp_calls *c, const struct one *o, pid_t parent, int out,
                           int err)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(NOT_STARTED);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(err, STDERR_FILENO) < 0)
        _exit(NOT_STARTED);
    (void)sigprocmask(SIG_SETMASK, &c->signals, NULL);
    execv("/proc/self/exe", o->argv);
    (void)dprintf(STDERR_FILENO, "cannot start brim %s: %s", o->argv[1], strerror(errno));
    _exit(NOT_STARTED);
}

/* Both ends of a pipe; reading does not wait. */
static int make_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    return fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

static int start_process(struct mcp_calls *c, struct one *o)
{
    int out[2] = { -1, -1 }, err[2] = { -1, -1 };
    pid_t parent = getpid();
    int rc = make_pipe(out);

    if (rc == 0)
        rc = make_pipe(err);
    o->out_fd = out[0];
    o->err_fd = err[0];
    o->pid = rc == 0 ? fork() : -1;
    if (o->pid == 0)
        become_command(c, o, parent, out[1], err[1]);
    if (rc == 0 && o->pid < 0)
        rc = -errno;
    closep(&out[1]);
    closep(&err[1]);
    if (rc == 0)
        (void)setpgid(o->pid, o->pid); /* here too: whoever comes first */
    return rc;
}

static struct one *first_waiting(struct mcp_calls *c)
{
    struct one *first = NULL;

    for (size_t i = 0; i < MCP_CALLS_MOST; i++)
        if (c->all[i].state == WAITS && (!first || c->all[i].turn < first->turn))
            first = &c->all[i];
    return first;
}

static size_t count(const struct mcp_calls *c, enum state state)
{
    size_t n = 0;

    for (size_t i = 0; i < MCP_CALLS_MOST; i++)
        n += c->all[i].state == state;
    return n;
}

/* One that cannot be started has ended with a sentence of ours: pid 0. */
static void start_one(struct mcp_calls *c, struct one *o)
{
    int rc = start_process(c, o);

    o->state = RUNS;
    o->due_ns = clock_monotonic_ns(c->clock) + c->limit_ns;
    if (rc < 0) {
        o->pid = 0;
        close_fds(o);
        str_addf(&o->err, "cannot start brim %s: %s", o->argv[1], strerror(-rc));
    }
}

void mcp_calls_start(struct mcp_calls *c)
{
    struct one *o;

    while (count(c, RUNS) < MCP_CALLS_RUNNING && (o = first_waiting(c)) != NULL)
        start_one(c, o);
}

size_t mcp_calls_fds(const struct mcp_calls *c, struct pollfd *fds)
{
    size_t n = 0;

    for (size_t i = 0; i < MCP_CALLS_MOST; i++) {
        const struct one *o = &c->all[i];

        if (o->out_fd >= 0)
            fds[n++] = (struct pollfd){ .fd = o->out_fd, .events = POLLIN };
        if (o->err_fd >= 0)
            fds[n++] = (struct pollfd){ .fd = o->err_fd, .events = POLLIN };
    }
    return n;
}

int mcp_calls_wait_ms(const struct mcp_calls *c)
{
    int64_t now = clock_monotonic_ns(c->clock), least = INT64_MAX;

    for (size_t i = 0; i < MCP_CALLS_MOST; i++) {
        const struct one *o = &c->all[i];

        if (o->state == RUNS)
            least = MIN(least, o->pid ? MAX(o->due_ns - now, 0) : 0);
    }
    return least == INT64_MAX ? -1 : (int)MIN(least / NS_PER_MS + 1, (int64_t)INT_MAX);
}

/* ---- what they print, and how they end ---- */

/* Read all that is there; what does not fit is lost. At its end the descriptor is closed. */
static void read_pipe(int *fd, struct str *to)
{
    char piece[PIECE];
    ssize_t n = 0;

    while (*fd >= 0) {
        n = read(*fd, piece, sizeof(piece));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            closep(fd);
            *fd = -1;
            return;
        }
        str_add_n(to, piece, (size_t)n);
        if (str_error(to))
            return;
    }
}

/* Of stderr the beginning is enough. */
static void read_err(struct one *o)
{
    char piece[PIECE];
    ssize_t n;

    while (o->err_fd >= 0 && (n = read(o->err_fd, piece, sizeof(piece))) != -1) {
        if (n == 0) {
            closep(&o->err_fd);
            o->err_fd = -1;
            return;
        }
        str_add_n(&o->err, piece, MIN((size_t)n, o->err.max - o->err.len));
    }
}

static const char *limit_text(const struct mcp_calls *c, const struct one *o, struct str *text)
{
    if (o->end == MCP_TOO_MUCH)
        str_addf(text, "%d MiB", OUT_MOST >> 20);
    else if (c->limit_ns % (60 * NS_PER_S) == 0)
        str_addf(text, "%lld min", (long long)(c->limit_ns / (60 * NS_PER_S)));
    else if (c->limit_ns % NS_PER_S == 0)
        str_addf(text, "%lld s", (long long)(c->limit_ns / NS_PER_S));
    else
        str_addf(text, "%lld ms", (long long)(c->limit_ns / NS_PER_MS));
    return str_text(text);
}

static int finish(const struct mcp_calls *c, struct one *o, int status, struct str *out)
{
    CLEANUP(str_done) struct str limit = STR_INIT(64);
    struct mcp_outcome outcome = { .end = o->end,
                                   .status = WIFSIGNALED(status) ? -WTERMSIG(status)
                                                                 : WEXITSTATUS(status),
                                   .out = &o->out,
                                   .err = &o->err,
                                   .limit = limit_text(c, o, &limit) };
    int rc = o->silent ? 0 : mcp_result(&o->call, &outcome, out);

    clear(o);
    return rc;
}

static void read_both(const struct mcp_calls *c, struct one *o)
{
    read_pipe(&o->out_fd, &o->out);
    read_err(o);
    if (str_error(&o->out) && o->end == MCP_ENDED) {
        o->end = MCP_TOO_MUCH;
        close_fds(o);
        stop(c, o);
    }
}

static void look_at_time(const struct mcp_calls *c, struct one *o)
{
    if (clock_monotonic_ns(c->clock) < o->due_ns)
        return;
    if (o->stopped) {
        signal_to(o, SIGKILL);
        o->due_ns = INT64_MAX / 2;
        return;
    }
    o->end = MCP_TOO_LONG;
    stop(c, o);
}

int mcp_calls_look(struct mcp_calls *c, struct str *out)
{
    int rc = 0;

    for (size_t i = 0; i < MCP_CALLS_MOST && rc == 0; i++) {
        struct one *o = &c->all[i];
        int status = NOT_STARTED << 8;
        bool ended;

        if (o->state != RUNS)
            continue;
        ended = o->pid == 0 || waitpid(o->pid, &status, WNOHANG) == o->pid;
        read_both(c, o); /* after that look: all that it printed is there */
        if (ended)
            rc = finish(c, o, status, out);
        else
            look_at_time(c, o);
    }
    return rc;
}
