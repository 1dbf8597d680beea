/* Nodes that are asked, each a server of this test's own on 127.0.0.1: what they are asked, what is
 * made of their answers, and what of nodes that have none. */
#include "ask/ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "tap.h"

enum { NODES = 12, PEERS = 4 };

static const char silent[] = "silent";
static const char refuses[] = "refuses";

struct server {
    uv_tcp_t listener, peers[PEERS];
    unsigned n_peers, port;
    const char *reply; /* what it answers before it closes; silent; refuses */
    char request[2048];
    size_t got;
    unsigned *turns, turn; /* when it was asked last, counted over all */
};

struct world {
    uv_loop_t loop;
    struct server servers[NODES];
    struct node_list_node nodes[NODES];
    struct node_list list;
    struct ask *ask;
    unsigned done, rounds; /* rounds: that are to be asked */
    unsigned turns;        /* questions that came */
    unsigned status;       /* of a page that was asked for */
    char text[64];
};

static void on_room(uv_handle_t *tcp, size_t size, uv_buf_t *ret)
{
    struct server *s = tcp->data;

    (void)size;
    *ret = uv_buf_init(s->request + s->got, (unsigned)(sizeof(s->request) - 1 - s->got));
}

static void on_read(uv_stream_t *tcp, ssize_t n, const uv_buf_t *bytes)
{
    struct server *s = tcp->data;
    uv_buf_t reply;

    (void)bytes;
    if (n > 0) {
        s->got += (size_t)n;
        s->request[s->got] = '\0';
        if (!strstr(s->request, "\r\n\r\n") || s->reply == silent)
            return;
        reply = uv_buf_init((char *)(uintptr_t)s->reply, (unsigned)strlen(s->reply));
        if (*s->reply)
            (void)uv_try_write(tcp, &reply, 1);
    }
    uv_close((uv_handle_t *)tcp, NULL);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct server *s = listener->data;
    uv_tcp_t *peer = &s->peers[s->n_peers];

    s->turn = ++*s->turns;
    if (status < 0 || s->n_peers == PEERS)
        return;
    s->n_peers++;
    s->got = 0;
    uv_tcp_init(listener->loop, peer);
    peer->data = s;
    if (uv_accept(listener, (uv_stream_t *)peer) < 0 ||
        uv_read_start((uv_stream_t *)peer, on_room, on_read) < 0)
        abort();
}

static void add_node(struct world *w, const char *name, const char *reply)
{
    struct server *s = &w->servers[w->list.n];
    struct sockaddr_in at;
    int size = sizeof(at);

    if (uv_ip4_addr("127.0.0.1", 0, &at) < 0 || uv_tcp_init(&w->loop, &s->listener) < 0 ||
        uv_tcp_bind(&s->listener, (const struct sockaddr *)&at, 0) < 0 ||
        uv_tcp_getsockname(&s->listener, (struct sockaddr *)&at, &size) < 0)
        abort();
    s->listener.data = s;
    s->turns = &w->turns;
    s->reply = reply;
    s->port = ntohs(at.sin_port);
    if (reply != refuses && uv_listen((uv_stream_t *)&s->listener, PEERS, on_connection) < 0)
        abort();
    w->nodes[w->list.n++] = (struct node_list_node){ .text = name, .name = name, .port = s->port };
}

static void end(struct world *w)
{
    ask_end(w->ask);
    for (size_t i = 0; i < w->list.n; i++)
        uv_close((uv_handle_t *)&w->servers[i].listener, NULL);
}

static void on_done(void *ctx)
{
    struct world *w = ctx;

    if (++w->done < w->rounds)
        ask_begin(w->ask);
    else
        end(w);
}

static struct world *new_world(void)
{
    struct world *w = calloc(1, sizeof(*w));

    if (!w || uv_loop_init(&w->loop) < 0)
        abort();
    w->list.nodes = w->nodes;
    w->rounds = 1;
    return w;
}

static void open_ask(struct world *w, const char *token, unsigned at_once, int64_t patience_ns)
{
    const struct ask_config c = { .nodes = &w->list,
                                  .token = token,
                                  .at_once = at_once,
                                  .patience_ns = patience_ns,
                                  .done = on_done,
                                  .ctx = w };
    struct err e = { "" };

    if (ask_open(&w->ask, &w->loop, &c, &e) < 0)
        abort();
}

/* Ask until all rounds are done. */
static void run(struct world *w)
{
    ask_begin(w->ask);
    uv_run(&w->loop, UV_RUN_DEFAULT);
}

static void delete_world(struct world *w)
{
    is_int(uv_loop_close(&w->loop), 0, "no handle of a question is left");
    ask_close(w->ask);
    free(w);
}

static const char whole[] =
    "HTTP/1.0 200 OK\r\nContent-Length: 25\r\n\r\n{\"schema\":\"brim.node.v1\"}";

/* What comes of each, however many are asked at once, and in a second round. */
static void test_answers(void)
{
    static const struct {
        const char *name, *reply;
        enum node_fault fault;
    } cases[] = {
        { "127.0.0.1", whole, NODE_ANSWERED },
        { "127.0.0.1", "HTTP/1.0 200 OK\r\n\r\n{\"schema\":\"brim.node.v1\"}", NODE_ANSWERED },
        { "localhost", whole, NODE_ANSWERED },
        { "127.0.0.1", "HTTP/1.0 401 No\r\n\r\n", NODE_TOKEN },
        { "127.0.0.1", "", NODE_CLOSED },
        { "127.0.0.1", "HTTP/1.0 200 OK\r\nContent-Length: 25\r\n\r\n{", NODE_CLOSED },
        { "127.0.0.1", "SSH-2.0-OpenSSH_9.2\r\n", NODE_STRANGER },
        { "127.0.0.1", refuses, NODE_REFUSED },
        { "localhost", refuses, NODE_REFUSED },
    };
    static const unsigned at_once[] = { 1, 3, 64 };

    for (size_t a = 0; a < ARRAY_SIZE(at_once); a++) {
        struct world *w = new_world();

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
            add_node(w, cases[i].name, cases[i].reply);
        w->rounds = 2;
        open_ask(w, NULL, at_once[a], 100 * NS_PER_S);
        ok(!ask_busy(w->ask), "before the first round nobody is asked");
        run(w);
        is_int(w->done, 2, "two rounds end with %u at once", at_once[a]);
        ok(!ask_busy(w->ask), "after the last round nobody is asked");
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
            const struct node_answer *n = &ask_answers(w->ask)[i];

            is_int(n->fault, cases[i].fault, "node %zu has its answer with %u at once", i,
                   at_once[a]);
            ok(!n->error && n->took_s > 0, "node %zu took its time", i);
            is_int(w->servers[i].n_peers, cases[i].reply == refuses ? 0 : 2,
                   "node %zu is asked once in a round", i);
        }
        delete_world(w);
    }
}

static void test_request(void)
{
    for (int token = 0; token < 2; token++) {
        struct world *w = new_world();
        char want[300];

        add_node(w, "127.0.0.1", whole);
        open_ask(w, token ? "secret" : NULL, 1, 100 * NS_PER_S);
        ask_begin(w->ask);
        ok(ask_busy(w->ask), "a round that began goes on");
        run(w);
        snprintf(want, sizeof(want),
                 "GET /api/v1/node.json HTTP/1.0\r\nHost: 127.0.0.1:%u\r\nUser-Agent: brim\r\n"
                 "%s\r\n",
                 w->servers[0].port, token ? "Authorization: Bearer secret\r\n" : "");
        is_str(w->servers[0].request, want, "a question has its head, with a token or without");
        is_int(w->servers[0].n_peers, 1, "a round that goes on is not begun anew");
        delete_world(w);
    }
}

static void on_answered(void *ctx, size_t node, unsigned status, const char *text, size_t len)
{
    struct world *w = ctx;

    w->status = status * 10 + (unsigned)node;
    snprintf(w->text, sizeof(w->text), "%.*s", (int)len, text);
}

/* Another page than an agent's, of which whatever comes is handed on. */
static void test_page(void)
{
    static char path[18 << 10];
    struct ask_page page = { "/x?y=1", "Basic eDp5", 8, on_answered };
    const struct ask_config config = { .token = "of agents",
                                       .page = &page,
                                       .at_once = 1,
                                       .patience_ns = 100 * NS_PER_S,
                                       .done = on_done };

    for (int turn = 0; turn < 3; turn++) {
        struct world *w = new_world();
        struct ask_config c = config;
        char want[200];

        memset(path, turn == 2 ? 'x' : '\0', sizeof(path) - 1);
        page.path = turn == 2 ? path : "/x?y=1";
        add_node(w, "127.0.0.1",
                 turn == 1 ? "HTTP/1.0 200 OK\r\nContent-Length: 9000\r\n\r\n1234"
                           : "HTTP/1.0 404 No\r\n\r\n12345678");
        c.nodes = &w->list;
        c.ctx = w;
        if (ask_open(&w->ask, &w->loop, &c, NULL) < 0)
            abort();
        run(w);
        snprintf(want, sizeof(want),
                 "GET /x?y=1 HTTP/1.0\r\nHost: 127.0.0.1:%u\r\nUser-Agent: brim\r\n"
                 "Authorization: Basic eDp5\r\n\r\n",
                 w->servers[0].port);
        if (turn < 2)
            is_str(w->servers[0].request, want, "a page is asked for with its login, and no token");
        if (turn == 0) {
            is_int(ask_answers(w->ask)[0].fault, NODE_ANSWERED, "a page that is none is an answer");
            is_int(w->status, 4040, "the status of a page is handed on");
            is_str(w->text, "12345678", "the text of a page is handed on");
        } else if (turn == 1) {
            is_int(ask_answers(w->ask)[0].fault, NODE_STRANGER, "a page that is too large is none");
            is_int(ask_answers(w->ask)[0].error, EFBIG, "of a page that is too large that is said");
            is_int(w->status, 0, "a page that is too large is not handed on");
        } else {
            is_int(ask_answers(w->ask)[0].fault, NODE_HERE, "a path that is too long is not sent");
            is_int(ask_answers(w->ask)[0].error, EFBIG, "of a path that is too long that is said");
        }
        delete_world(w);
    }
}

/* Names that nobody knows; nodes that are silent, and those behind them. */
static void test_no_answer(void)
{
    struct world *w = new_world();
    enum node_fault fault;

    add_node(w, "no..name", whole);
    w->rounds = 2;
    open_ask(w, NULL, 1, 100 * NS_PER_S);
    run(w);
    fault = ask_answers(w->ask)[0].fault;
    ok(w->done == 2 && (fault == NODE_NO_NAME || fault == NODE_NO_LOOKUP),
       "a name that nobody knows is looked up in each round: %s", node_answer_fault(fault));
    delete_world(w);

    w = new_world();
    for (unsigned i = 0; i < NODES; i++)
        add_node(w, "127.0.0.1", silent);
    open_ask(w, NULL, 1, 20 * NS_PER_MS);
    run(w);
    is_int(ask_answers(w->ask)[0].fault, NODE_SILENT, "a node without an answer is silent");
    is_int(ask_answers(w->ask)[NODES - 1].fault, NODE_NOT_ASKED,
           "a node behind ten that are silent is not asked");
    ok(w->done == 1 && !w->servers[NODES - 1].n_peers &&
           !(ask_answers(w->ask)[NODES - 1].took_s > 0),
       "a round of silent nodes ends");
    delete_world(w);
}

/* Those that were silent are asked behind the others, of which some may be left out. */
static void test_late(void)
{
    static const bool which[] = { true, true, true, false };
    struct world *w = new_world();
    struct ask_config c = { .nodes = &w->list,
                            .which = which,
                            .at_once = 1,
                            .patience_ns = NS_PER_S,
                            .late_ns = 20 * NS_PER_MS,
                            .whole_ns = 1000 * NS_PER_S,
                            .done = on_done,
                            .ctx = w };

    add_node(w, "127.0.0.1", silent);
    add_node(w, "127.0.0.1", whole);
    add_node(w, "127.0.0.1", whole);
    add_node(w, "127.0.0.1", whole);
    w->rounds = 2;
    if (ask_open(&w->ask, &w->loop, &c, NULL) < 0)
        abort();
    run(w);
    is_int(w->servers[1].turn, 4, "in the second round the first node that answered is first");
    is_int(w->servers[2].turn, 5, "in the second round the other one is behind it");
    is_int(w->servers[0].turn, 6, "in the second round the silent one is last");
    is_int(w->servers[3].turn, 0, "a node that is not to be asked is not");
    is_int(ask_answers(w->ask)[0].fault, NODE_SILENT, "a silent node is silent again");
    is_int(ask_answers(w->ask)[2].fault, NODE_ANSWERED, "a node before a silent one has answered");
    is_int(ask_answers(w->ask)[3].fault, NODE_NOT_ASKED, "a node that was not asked has no answer");
    delete_world(w);
}

static void on_late_round(void *ctx)
{
    struct world *w = ctx;
    bool all = true;

    for (size_t i = 0; i < w->list.n; i++)
        all = all && w->servers[i].n_peers >= 2;
    if (!all && ++w->done < w->rounds)
        uv_stop(&w->loop);
    else
        end(w);
}

/* When there is no time for all silent ones, each has its turn. */
static void test_late_turns(void)
{
    struct world *w = new_world();
    struct ask_config c = { .nodes = &w->list,
                            .at_once = 1,
                            .patience_ns = 3 * NS_PER_MS,
                            .late_ns = 3 * NS_PER_MS,
                            .whole_ns = 2 * NS_PER_MS,
                            .done = on_late_round,
                            .ctx = w };

    for (unsigned i = 0; i < 4; i++)
        add_node(w, "127.0.0.1", silent);
    w->rounds = 5000;
    if (ask_open(&w->ask, &w->loop, &c, NULL) < 0)
        abort();
    do {
        ask_begin(w->ask);
    } while (uv_run(&w->loop, UV_RUN_DEFAULT) != 0);
    for (unsigned i = 0; i < 4; i++)
        ok(w->servers[i].n_peers >= 2, "silent node %u is asked again, after %u rounds", i,
           w->done);
    delete_world(w);
}

static void test_end(void)
{
    struct world *w = new_world();

    add_node(w, "127.0.0.1", silent);
    add_node(w, "localhost", silent);
    open_ask(w, NULL, 2, 100 * NS_PER_S);
    ask_begin(w->ask);
    end(w);
    ask_end(w->ask);
    ask_begin(w->ask);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    is_int(w->done, 0, "a round that is given up does not end");
    delete_world(w);
}

static void test_nobody(void)
{
    struct world *w = new_world();
    const struct ask_config c = { .nodes = &w->list, .at_once = 1, .done = on_done, .ctx = w };
    struct err e = { "" };

    is_int(ask_open(&w->ask, &w->loop, &c, &e), -EINVAL, "a list of nobody is refused");
    is_str(e.text, "the list of nodes is empty: name one", "the refusal asks for a node");
    is_int(uv_loop_close(&w->loop), 0, "a refusal leaves no handle");
    free(w);
}

/* How many are asked at once, by the descriptors there are. */
static void test_at_once(void)
{
    static const struct {
        unsigned limit, others, most, want;
    } cases[] = {
        { 100, 0, 50, 50 },  { 100, 97, 50, 3 }, { 100, 99, 50, 1 },     { 100, 100, 50, 1 },
        { 100, 200, 50, 1 }, { 100, 0, 1, 1 },   { 100, 10, 10000, 90 },
    };
    struct rlimit before, limit;

    if (getrlimit(RLIMIT_NOFILE, &before) < 0)
        abort();
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        limit = (struct rlimit){ cases[i].limit, before.rlim_max };
        if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
            abort();
        is_int(ask_at_once(cases[i].others, cases[i].most), cases[i].want,
               "of %u descriptors beside %u others so many are for nodes", cases[i].limit,
               cases[i].others);
    }
    if (setrlimit(RLIMIT_NOFILE, &before) < 0)
        abort();
    ok(ask_at_once(0, 100000) <= ASK_AT_ONCE, "no more than 512 nodes are asked at once");
}

int main(void)
{
    test_answers();
    test_request();
    test_page();
    test_no_answer();
    test_late();
    test_late_turns();
    test_end();
    test_nobody();
    test_at_once();
    return done();
}
