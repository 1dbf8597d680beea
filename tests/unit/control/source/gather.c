/* The agents of a site, each a socket of this test's own on an address of its own and one port: who
 * is asked, and which names are looked up how often (getaddrinfo is counted). */
#include "control/source/gather.h"

#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "tap.h"

enum { NODES = 4, FIRST = 0x7f000101 /* 127.0.1.1 */ };

static atomic_int lookups;

int __real_getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                       struct addrinfo **ret);
int __wrap_getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                       struct addrinfo **ret);

int __wrap_getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                       struct addrinfo **ret)
{
    lookups++;
    return __real_getaddrinfo(name, service, hints, ret);
}

static const char whole[] =
    "HTTP/1.0 200 OK\r\n\r\n{\"schema\":\"brim.node.v1\",\"time_ms\":7,\"busy\":[0.5]}";

/* One thread answers on all addresses of this machine. */
struct world {
    int listener;
    unsigned port;
    atomic_uint asked[NODES]; /* by address */
    atomic_uint others;
    pthread_t thread;
};

static void count(struct world *w, int peer)
{
    struct sockaddr_in at;
    socklen_t size = sizeof(at);
    uint32_t node = UINT32_MAX;

    if (getsockname(peer, (struct sockaddr *)&at, &size) == 0)
        node = ntohl(at.sin_addr.s_addr) - FIRST;
    if (node < NODES)
        w->asked[node]++;
    else
        w->others++;
}

static void *serve(void *arg)
{
    struct world *w = arg;
    char request[2048];
    int peer;

    while ((peer = accept(w->listener, NULL, NULL)) >= 0) {
        count(w, peer);
        if (read(peer, request, sizeof(request)) > 0 &&
            write(peer, whole, sizeof(whole) - 1) != (ssize_t)sizeof(whole) - 1)
            abort();
        close(peer);
    }
    return NULL;
}

static void open_world(struct world *w)
{
    struct sockaddr_in at = { .sin_family = AF_INET };
    socklen_t size = sizeof(at);

    *w = (struct world){ .listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
    if (bind(w->listener, (struct sockaddr *)&at, size) < 0 || listen(w->listener, 16) < 0 ||
        getsockname(w->listener, (struct sockaddr *)&at, &size) < 0 ||
        pthread_create(&w->thread, NULL, serve, w) != 0)
        abort();
    w->port = ntohs(at.sin_port);
}

static void close_world(struct world *w)
{
    shutdown(w->listener, SHUT_RDWR); /* which ends accept() */
    pthread_join(w->thread, NULL);
    close(w->listener);
}

static struct gather *new_gather(unsigned port)
{
    const struct gather_config config = { .port = port, .patience_ns = 100 * NS_PER_S };
    struct gather *g = NULL;

    if (gather_open(&g, &config, NULL) < 0)
        abort();
    return g;
}

static void test_who_is_asked(void)
{
    struct site_node nodes[NODES] = { { .name = "a", .address = "127.0.1.1" },
                                      { .name = "127.0.1.2" },
                                      { .name = "c", .address = "127.0.1.1" },
                                      { .name = "no name", .address = NULL } };
    struct site site = { .nodes = nodes, .n_nodes = NODES };
    bool which[NODES] = { true, true, true, true };
    const struct node_answer *of[NODES];
    struct world w;
    CLEANUP(gather_closep) struct gather *g = NULL;

    open_world(&w);
    g = new_gather(w.port);
    is_int(gather_ask(g, &site, which, of, NULL), 0, "a site is asked");
    ok(of[0] && of[0]->fault == NODE_ANSWERED && of[0]->report.time_ms == 7,
       "a node is asked at its address");
    ok(of[1] && of[1]->fault == NODE_ANSWERED, "a node without address is asked by its name");
    ok(of[2] == of[0] && w.asked[0] == 1, "two nodes with one address have its answer");
    ok(!of[3], "a node whose name is none has no answer");
    which[0] = which[2] = false;
    is_int(gather_ask(g, &site, which, of, NULL), 0, "a part of a site is asked");
    ok(!of[0] && of[1] && !of[2], "nodes that are not asked have no answer");
    ok(w.asked[0] == 1 && w.asked[1] == 2, "nodes that are not wanted are not asked");
    which[1] = which[3] = false;
    is_int(gather_ask(g, &site, which, of, NULL), 0, "nobody is asked");
    ok(!of[1] && w.asked[1] == 2, "a round in which nobody is wanted has no answer");
    nodes[1].address = "127.0.1.3";
    which[1] = true;
    is_int(gather_ask(g, &site, which, of, NULL), 0, "a site that changed is asked");
    ok(of[1] && w.asked[2] == 1, "a node that moved is asked where it is");
    site.n_nodes = 1;
    which[0] = true;
    is_int(gather_ask(g, &site, which, of, NULL), 0, "a smaller site is asked");
    ok(of[0] && w.asked[0] == 2, "the node of a smaller site is asked");
    site.n_nodes = 0;
    is_int(gather_ask(g, &site, which, of, NULL), 0, "a site without nodes is asked");
    is_int((int)w.others, 0, "no other address is asked");
    close_world(&w);
}

static void test_names_are_kept(void)
{
    struct site_node nodes[1] = { { .name = "localhost" } };
    struct site site = { .nodes = nodes, .n_nodes = 1 };
    bool which[1] = { true };
    const struct node_answer *of[1];
    struct world w;
    CLEANUP(gather_closep) struct gather *g = NULL;

    open_world(&w);
    g = new_gather(w.port);
    lookups = 0;
    for (int i = 0; i < 3; i++) {
        is_int(gather_ask(g, &site, which, of, NULL), 0, "a node is asked by its name");
        ok(of[0] && of[0]->fault == NODE_ANSWERED, "a node with a name has answered");
        is_int(lookups, 1, "a name is looked up once, round %d", i);
    }
    close_world(&w);
    is_int(gather_ask(g, &site, which, of, NULL), 0, "a node that is gone is asked");
    ok(of[0] && of[0]->fault == NODE_REFUSED, "a node that is gone refuses");
    is_int(gather_ask(g, &site, which, of, NULL), 0, "a node that is gone is asked again");
    is_int(lookups, 2, "the name of a node that was gone is looked up again");
}

int main(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    test_who_is_asked();
    test_names_are_kept();
    return done();
}
