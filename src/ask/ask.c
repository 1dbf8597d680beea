#include "ask/ask.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "ask/lookup.h"
#include "ask/reply.h"
#include "base/clock.h"

enum { REQUEST_MAX = 16 << 10, REQUEST_HEAD = 1024 /* beside the path */, READ_SIZE = 16 << 10 };

/* What is known of a node from one round to the next. */
struct target {
    union lookup_address addresses[LOOKUP_ADDRESSES];
    unsigned n;           /* 0: it must be looked up */
    bool number;          /* its name is an address */
    bool late;            /* it was silent when it was asked last */
    bool looking;         /* its name is being looked up */
    struct caller *waits; /* for that; NULL */
};

/* One question under way, and the next one behind it. */
struct caller {
    struct ask *all;
    size_t node;
    bool asking;
    bool again;    /* its connection is being closed for the next address */
    unsigned turn; /* which of the addresses */
    uint64_t since_ns;
    uv_tcp_t tcp;
    uv_timer_t timer;
    uv_connect_t connect;
    uv_write_t write;
    struct reply reply;
    struct str request;
};

struct ask {
    struct ask_config config;
    uv_loop_t *loop;
    struct lookup *lookup;
    struct target *targets;
    struct node_answer *answers; /* of the round that goes on */
    struct node_answer *whole;   /* of the last one that ended */
    struct caller *callers;
    unsigned n_callers;
    unsigned busy;            /* callers that have a node */
    size_t *order;            /* of the nodes of a round */
    size_t n_order, n_prompt; /* n_prompt: those before the late ones */
    size_t next;              /* to ask next, of these */
    size_t from;              /* the node that late ones begin with */
    uint64_t since_ns;
    bool ended;
    char bytes[READ_SIZE]; /* that were read last */
};

static double seconds_since(uint64_t ns)
{
    return clock_seconds((int64_t)(uv_hrtime() - ns));
}

static bool is_closing(const struct caller *c)
{
    return uv_is_closing((const uv_handle_t *)&c->tcp);
}

static void on_closed(uv_handle_t *tcp);

/* ---- the end of a question ---- */

/* What came of it is in the answer; go on when the connection is closed. */
static void finish(struct caller *c)
{
    struct target *t = &c->all->targets[c->node];
    struct node_answer *a = &c->all->answers[c->node];

    if (t->waits == c)
        t->waits = NULL;
    if (a->fault != NODE_ANSWERED && !t->number)
        t->n = 0; /* it may have another address by now */
    t->late = a->fault == NODE_SILENT || a->fault == NODE_NO_LOOKUP;
    a->took_s = seconds_since(c->since_ns);
    uv_timer_stop(&c->timer);
    c->again = false;
    if (!is_closing(c))
        uv_close((uv_handle_t *)&c->tcp, on_closed);
}

/* Nothing where the question has ended already. */
static void fail(struct caller *c, enum node_fault fault, int error)
{
    struct node_answer *a = &c->all->answers[c->node];

    if (is_closing(c) && !c->again)
        return;
    a->fault = fault;
    a->error = error;
    finish(c);
}

/* Of an error that libuv names: it is -errno. */
static void fail_of(struct caller *c, int error)
{
    switch (error) {
    case UV_ECONNREFUSED:
        fail(c, NODE_REFUSED, 0);
        break;
    case UV_ECONNRESET:
    case UV_EPIPE:
        fail(c, NODE_CLOSED, 0);
        break;
    case UV_ETIMEDOUT:
        fail(c, NODE_SILENT, 0);
        break;
    case UV_EMFILE:
    case UV_ENFILE:
    case UV_ENOMEM:
    case UV_ENOBUFS:
    case UV_EADDRNOTAVAIL:
        fail(c, NODE_HERE, -error);
        break;
    default:
        fail(c, NODE_NO_WAY, -error);
    }
}

static void on_late(uv_timer_t *timer)
{
    struct caller *c = timer->data;

    fail(c, c->all->targets[c->node].waits == c ? NODE_NO_LOOKUP : NODE_SILENT, 0);
}

/* ---- the answer ---- */

static void on_room(uv_handle_t *tcp, size_t size, uv_buf_t *ret)
{
    struct caller *c = tcp->data;

    (void)size;
    *ret = uv_buf_init(c->all->bytes, sizeof(c->all->bytes));
}

static void take(struct caller *c, const char *text, size_t len)
{
    const struct ask_config *config = &c->all->config;
    struct node_answer *a = &c->all->answers[c->node];

    if (!config->page) {
        node_answer_read(a, c->reply.status, text, len);
        return;
    }
    a->fault = NODE_ANSWERED;
    config->page->answered(config->ctx, c->node, c->reply.status, text, len);
}

static void on_read(uv_stream_t *tcp, ssize_t n, const uv_buf_t *bytes)
{
    struct caller *c = tcp->data;
    const char *text;
    size_t len;
    int rc;

    if (n < 0 && n != UV_EOF) {
        fail_of(c, (int)n);
        return;
    }
    rc = n < 0 ? reply_end(&c->reply) : reply_add(&c->reply, bytes->base, (size_t)n);
    if (rc == -ECONNRESET)
        fail(c, NODE_CLOSED, 0);
    else if (rc == -ENOMEM)
        fail(c, NODE_HERE, ENOMEM);
    else if (rc < 0)
        fail(c, NODE_STRANGER, rc == -EFBIG ? EFBIG : 0);
    if (rc <= 0)
        return;
    text = reply_text(&c->reply, &len);
    take(c, text, len);
    finish(c);
}

/* ---- the question ---- */

static void on_written(uv_write_t *write, int status)
{
    struct caller *c = write->data;

    /* what it said before it went away is read first: it may be why */
    if (status < 0 && status != UV_EPIPE && status != UV_ECONNRESET)
        fail_of(c, status);
}

static void on_connected(uv_connect_t *connect, int status)
{
    struct caller *c = connect->data;
    uv_buf_t text = uv_buf_init(c->request.data, (unsigned)c->request.len);
    int rc = status;

    if (is_closing(c))
        return;
    if (status < 0 && c->turn + 1 < c->all->targets[c->node].n) {
        c->turn++;
        c->again = true;
        uv_close((uv_handle_t *)&c->tcp, on_closed);
        return;
    }
    if (rc == 0)
        rc = uv_read_start((uv_stream_t *)&c->tcp, on_room, on_read);
    if (rc == 0)
        rc = uv_write(&c->write, (uv_stream_t *)&c->tcp, &text, 1, on_written);
    if (rc < 0)
        fail_of(c, rc);
}

static void connect_to(struct caller *c)
{
    const struct target *t = &c->all->targets[c->node];
    int rc = uv_tcp_connect(&c->connect, &c->tcp, &t->addresses[c->turn].any, on_connected);

    if (rc < 0)
        fail_of(c, rc);
}

static void open_tcp(struct caller *c)
{
    uv_tcp_init(c->all->loop, &c->tcp); /* makes no socket yet, and does not fail */
    c->tcp.data = c;
}

/* The head of a question. The zone of an address ("%eth0") is nothing to the other side. */
static void write_request(struct caller *c)
{
    const struct node_list_node *node = &c->all->config.nodes->nodes[c->node];
    const struct ask_page *page = c->all->config.page;
    const char *token = page ? NULL : c->all->config.token, *login = page ? page->login : NULL;
    bool v6 = strchr(node->name, ':');

    str_reset(&c->request);
    str_addf(&c->request, "GET %s HTTP/1.0\r\n", page ? page->path : "/api/v1/node.json");
    str_addf(&c->request, "Host: %s%.*s%s:%u\r\n", v6 ? "[" : "", (int)strcspn(node->name, "%"),
             node->name, v6 ? "]" : "", node->port);
    str_add(&c->request, "User-Agent: brim\r\n");
    if (token)
        str_addf(&c->request, "Authorization: Bearer %s\r\n", token);
    if (login)
        str_addf(&c->request, "Authorization: %s\r\n", login);
    str_add(&c->request, "\r\n");
}

/* Connect to a node whose addresses are known, or look them up first. */
static void begin(struct caller *c)
{
    struct ask *k = c->all;
    struct target *t = &k->targets[c->node];
    int rc = str_error(&c->request);

    if (rc == 0 && t->n) {
        connect_to(c);
        return;
    }
    t->waits = rc == 0 ? c : NULL;
    if (rc == 0 && !t->looking)
        rc = lookup_ask(k->lookup, k->config.nodes->nodes[c->node].name, c->node);
    t->looking = t->looking || rc == 0;
    if (rc < 0)
        fail(c, NODE_HERE, -rc);
}

/* Which nodes are asked in a round: those that were late the last time come last. */
static void make_order(struct ask *k)
{
    const struct ask_config *config = &k->config;
    size_t n = config->nodes->n;

    k->n_order = k->next = 0;
    for (size_t i = 0; i < n; i++)
        if ((!config->which || config->which[i]) && (!config->late_ns || !k->targets[i].late))
            k->order[k->n_order++] = i;
    k->n_prompt = k->n_order;
    for (size_t i = 0; i < n && config->late_ns; i++) {
        size_t node = (k->from + i) % n;

        if ((!config->which || config->which[node]) && k->targets[node].late)
            k->order[k->n_order++] = node;
    }
}

/* Take the next node, if there is one and time for it. */
static void ask_next(struct caller *c)
{
    struct ask *k = c->all;
    int64_t patience_ns = k->config.patience_ns;

    if (k->ended || k->next == k->n_order ||
        uv_hrtime() - k->since_ns > (uint64_t)k->config.whole_ns)
        return;
    c->node = k->order[k->next];
    if (k->next++ >= k->n_prompt) {
        patience_ns = k->config.late_ns;
        k->from = c->node + 1;
    }
    c->asking = true;
    c->turn = 0;
    c->since_ns = uv_hrtime();
    k->busy++;
    reply_begin(&c->reply);
    write_request(c);
    open_tcp(c);
    uv_timer_start(&c->timer, on_late, (uint64_t)(patience_ns / NS_PER_MS), 0);
    begin(c);
}

/* The answers are whole. */
static void end_round(struct ask *k)
{
    struct node_answer *answers = k->whole;

    k->whole = k->answers;
    k->answers = answers;
    k->config.done(k->config.ctx);
}

static void on_closed(uv_handle_t *tcp)
{
    struct caller *c = tcp->data;
    struct ask *k = c->all;

    if (c->again) {
        c->again = false;
        open_tcp(c);
        connect_to(c);
        return;
    }
    c->asking = false;
    k->busy--;
    ask_next(c);
    if (!k->busy && !k->ended)
        end_round(k);
}

/* ---- names ---- */

static void set_port(union lookup_address *at, unsigned port)
{
    if (at->any.sa_family == AF_INET6)
        at->v6.sin6_port = htons((uint16_t)port);
    else
        at->v4.sin_port = htons((uint16_t)port);
}

static void on_found(void *ctx, const struct lookup_found *f)
{
    struct ask *k = ctx;
    struct target *t = &k->targets[f->key];
    struct caller *c = t->waits;

    t->looking = false;
    t->waits = NULL;
    if (!f->error) {
        memcpy(t->addresses, f->addresses, sizeof(t->addresses));
        t->n = f->n;
        for (unsigned i = 0; i < t->n; i++)
            set_port(&t->addresses[i], k->config.nodes->nodes[f->key].port);
    }
    if (!c)
        return;
    if (!f->error)
        connect_to(c);
    else if (f->error == EAI_MEMORY || f->error == EAI_SYSTEM)
        fail(c, NODE_HERE, f->error == EAI_MEMORY ? ENOMEM : EIO);
    else
        fail(c, f->error == EAI_AGAIN ? NODE_NO_LOOKUP : NODE_NO_NAME, 0);
}

static void set_target(struct target *t, const struct node_list_node *node)
{
    t->number = lookup_number(node->name, &t->addresses[0]);
    if (!t->number)
        return;
    t->n = 1;
    set_port(&t->addresses[0], node->port);
}

/* ---- from outside ---- */

/* Room for requests: when there is none, that is nothing about a node. */
static int make_room(struct ask *k)
{
    const struct ask_page *page = k->config.page;
    size_t path = page ? MIN(strlen(page->path), (size_t)REQUEST_MAX) : 0;

    for (unsigned i = 0; i < k->n_callers; i++) {
        struct str *request = &k->callers[i].request;

        *request = (struct str)STR_INIT(REQUEST_MAX);
        str_fill(request, ' ', (int)(REQUEST_HEAD + path));
        if (str_error(request) == -ENOMEM)
            return -ENOMEM;
    }
    return 0;
}

static void make_callers(struct ask *k)
{
    size_t most = k->config.page ? k->config.page->most : NODE_REPORT_MAX;

    for (unsigned i = 0; i < k->n_callers; i++) {
        struct caller *c = &k->callers[i];

        c->all = k;
        c->reply.bytes = (struct str)STR_INIT(most + REPLY_HEAD_MAX);
        uv_timer_init(k->loop, &c->timer); /* does not fail */
        c->timer.data = c->connect.data = c->write.data = c;
    }
}

int ask_open(struct ask **ret, uv_loop_t *loop, const struct ask_config *config, struct err *e)
{
    CLEANUP(ask_closep) struct ask *k = calloc(1, sizeof(*k));
    size_t n = config->nodes->n;
    int rc;

    if (!n)
        return err_set(e, -EINVAL, "the list of nodes is empty: name one");
    if (!k)
        return err_nomem(e);
    k->config = *config;
    if (!config->whole_ns)
        k->config.whole_ns = config->patience_ns * ASK_WHOLE;
    k->loop = loop;
    k->targets = calloc(n, sizeof(*k->targets));
    k->answers = calloc(n, sizeof(*k->answers));
    k->whole = calloc(n, sizeof(*k->whole));
    k->order = calloc(n, sizeof(*k->order));
    k->callers = calloc(MIN(n, config->at_once), sizeof(*k->callers));
    if (!k->targets || !k->answers || !k->whole || !k->order || !k->callers)
        return err_nomem(e);
    k->n_callers = (unsigned)MIN(n, config->at_once);
    if (make_room(k) < 0)
        return err_nomem(e);
    for (size_t i = 0; i < n; i++)
        set_target(&k->targets[i], &config->nodes->nodes[i]);
    rc = lookup_open(&k->lookup, loop, on_found, k);
    if (rc == -ENOMEM)
        return err_nomem(e);
    if (rc < 0)
        return err_set(e, rc, "cannot ask nodes: %s", uv_strerror(rc));
    make_callers(k);
    *ret = steal(&k);
    return 0;
}

void ask_begin(struct ask *k)
{
    if (k->busy || k->ended)
        return;
    for (size_t i = 0; i < k->config.nodes->n; i++) {
        k->answers[i].fault = NODE_NOT_ASKED;
        k->answers[i].error = 0;
        k->answers[i].took_s = 0;
    }
    make_order(k);
    k->since_ns = uv_hrtime();
    uv_update_time(
        k->loop); /* it is from before the caller's last work: nodes would be late early */
    for (unsigned i = 0; i < k->n_callers; i++)
        ask_next(&k->callers[i]);
    if (!k->busy) /* nobody is to be asked */
        end_round(k);
}

bool ask_busy(const struct ask *k)
{
    return k->busy > 0;
}

const struct node_answer *ask_answers(const struct ask *k)
{
    return k->whole;
}

void ask_end(struct ask *k)
{
    if (k->ended)
        return;
    k->ended = true;
    for (unsigned i = 0; i < k->n_callers; i++) {
        struct caller *c = &k->callers[i];

        if (c->asking)
            finish(c);
        uv_close((uv_handle_t *)&c->timer, NULL);
    }
    lookup_end(k->lookup);
}

void ask_close(struct ask *k)
{
    for (unsigned i = 0; i < k->n_callers; i++) {
        str_done(&k->callers[i].reply.bytes);
        str_done(&k->callers[i].request);
    }
    free(k->callers);
    free(k->answers);
    free(k->whole);
    free(k->order);
    free(k->targets);
    free(k);
}

unsigned ask_at_once(unsigned others, unsigned most)
{
    struct rlimit limit;
    rlim_t left;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 1;
    left = limit.rlim_cur > others ? limit.rlim_cur - others : 1;
    return (unsigned)MIN(left, (rlim_t)MIN(most, (unsigned)ASK_AT_ONCE));
}
