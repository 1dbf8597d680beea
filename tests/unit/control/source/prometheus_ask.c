/* A Prometheus that is asked: a server of this test's own on 127.0.0.1, with one answer. */
#include "control/source/prometheus_ask.h"

#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "tap.h"

enum { NODES = 3 };

static const char silent[] = "silent", refuses[] = "refuses";
static const char whole[] =
    "HTTP/1.0 200 "
    "OK\r\n\r\n{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":["
    "{\"metric\":{\"instance\":\"n0:9410\",\"gpu\":\"0\"},\"value\":[1000,\"0.25\"]}]}}";

static int64_t wall(void *arg)
{
    (void)arg;
    return 1010 * NS_PER_S;
}

/* A server, and what came of asking it. */
struct scene {
    int listener, pipe[2];
    pid_t child;
    unsigned port;
    char request[8192]; /* that it got */
    struct site_node nodes[NODES];
    struct site site;
    struct prometheus_answers answers;
    const struct node_answer *of[NODES];
    struct err e;
    int rc;
};

/* One connection: read its question, write the answer, hand the question on. */
static void serve(struct scene *s, const char *reply)
{
    int peer = accept(s->listener, NULL, NULL);
    size_t n = 0;
    ssize_t got = 1;

    while (got > 0 && !strstr(s->request, "\r\n\r\n")) {
        got = read(peer, s->request + n, sizeof(s->request) - 1 - n);
        n += (size_t)MAX(got, 0);
    }
    if (reply == silent)
        pause();
    if (write(peer, reply, strlen(reply)) < 0 || write(s->pipe[1], s->request, n) < 0)
        _exit(1);
    _exit(0);
}

static void begin(struct scene *s, const char *reply)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t size = sizeof(at);

    *s = (struct scene){ .listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
    if (bind(s->listener, (struct sockaddr *)&at, size) < 0 ||
        getsockname(s->listener, (struct sockaddr *)&at, &size) < 0 || pipe(s->pipe) < 0)
        abort();
    s->port = ntohs(at.sin_port);
    if (reply != refuses && listen(s->listener, 1) < 0)
        abort();
    s->child = reply != refuses ? fork() : 0;
    if (s->child == 0 && reply != refuses)
        serve(s, reply);
    s->nodes[0] = (struct site_node){ .name = "n0" };
    s->nodes[1] = (struct site_node){ .name = "n1" };
    s->nodes[2] = (struct site_node){ .name = "n2" };
    s->site.nodes = s->nodes;
    s->site.n_nodes = NODES;
    if (site_index(&s->site) < 0)
        abort();
}

static void ask(struct scene *s, const char *host, const bool *which, int64_t patience_ns)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const struct clock clock = { wall, wall, NULL };
    struct prometheus_place place;
    const struct prometheus_config config = {
        .place = &place,
        .query = "up",
        .login = "Bearer x",
        .patience_ns = patience_ns,
        .clock = &clock,
    };
    char url[100];

    snprintf(url, sizeof(url), "http://%s:%u/p", host, s->port);
    if (prometheus_place_read(&place, &a, url, NULL) < 0)
        abort();
    s->rc = prometheus_ask(&s->answers, &config, &s->site, which, s->of, &s->e);
}

static void end(struct scene *s)
{
    if (s->child > 0) {
        kill(s->child, SIGKILL);
        waitpid(s->child, NULL, 0);
    }
    close(s->listener);
    close(s->pipe[0]);
    close(s->pipe[1]);
    prometheus_answers_done(&s->answers);
    site_done(&s->site);
}

static const bool two[NODES] = { true, true, false };

static void test_answer(void)
{
    struct scene s;
    ssize_t n;
    char want[200];

    begin(&s, whole);
    ask(&s, "127.0.0.1", two, 100 * NS_PER_S);
    is_int(s.rc, 0, "Prometheus is asked");
    ok(s.of[0] && s.of[0]->fault == NODE_ANSWERED && fabs(s.of[0]->report.busy[0] - 0.25) < 1e-9,
       "a node that it tells of has an answer");
    ok(s.of[1] && s.of[1]->fault == NODE_UNTOLD, "a node that it does not tell of has none");
    is_str(s.of[1] ? s.of[1]->why : "", "Prometheus says nothing of node n1", "with its reason");
    ok(!s.of[2], "a node that is not asked about has nothing");
    n = read(s.pipe[0], s.request, sizeof(s.request) - 1);
    s.request[MAX(n, 0)] = '\0';
    snprintf(want, sizeof(want),
             "GET /p/api/v1/query?query=up HTTP/1.0\r\nHost: 127.0.0.1:%u\r\nUser-Agent: brim\r\n"
             "Authorization: Bearer x\r\n\r\n",
             s.port);
    is_str(s.request, want, "Prometheus is asked with its path and login");
    end(&s);
}

static void test_nobody(void)
{
    static const bool none[NODES] = { false };
    struct scene s;

    begin(&s, refuses);
    ask(&s, "127.0.0.1", none, 100 * NS_PER_S);
    ok(s.rc == 0 && !s.of[0] && !s.of[1], "about no node it is not asked");
    end(&s);
}

static void test_faults(void)
{
    static const struct {
        const char *host, *reply, *want;
        int64_t patience_ns;
    } cases[] = {
        { "127.0.0.1", refuses, "is not there: nothing listens on port ", 100 * NS_PER_S },
        { "127.0.0.1", silent, "does not answer within 1 s", NS_PER_S },
        { "127.0.0.1", "", "ends the connection before its answer is whole", 100 * NS_PER_S },
        { "127.0.0.1", "SSH-2.0-x\r\n", "is none: what answers there does not speak HTTP",
          100 * NS_PER_S },
        { "127.0.0.1", "HTTP/1.0 200 OK\r\nContent-Length: 104857600\r\n\r\n{",
          "answers with more than 64 MiB: let the query give less", 100 * NS_PER_S },
        { "127.0.0.1", "HTTP/1.0 200 OK\r\n\r\n<html>",
          "answers with something that is none of Prometheus", 100 * NS_PER_S },
        { "127.0.0.1", "HTTP/1.0 400 No\r\n\r\n{\"error\":\"bad\"}", "refuses the query: bad",
          100 * NS_PER_S },
        { "127.0.0.1", "HTTP/1.0 302 Found\r\n\r\n", "answers with status 302", 100 * NS_PER_S },
        { "no..name", whole, "", 100 * NS_PER_S },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct scene s;
        char want[200];

        begin(&s, cases[i].reply);
        ask(&s, cases[i].host, two, cases[i].patience_ns);
        snprintf(want, sizeof(want), "Prometheus (http://%s:%u/p) %s", cases[i].host, s.port,
                 cases[i].want);
        is_int(s.rc, 0, "a Prometheus that %s is no error", cases[i].want);
        for (int n = 0; n < 2; n++) {
            const struct node_answer *a = s.of[n];

            ok(a && a->fault == NODE_UNTOLD && !strncmp(a->why, want, strlen(want)),
               "of node %d nothing is known then: %s", n, a ? a->why : "");
        }
        ok(!s.of[2], "a node that is not asked about has nothing then");
        end(&s);
    }
}

static void test_login(void)
{
    static const struct {
        const char *token, *want;
    } cases[] = {
        { "abc.def", "Bearer abc.def" },
        { "a:b", "Basic YTpi" },
        { "user:pass", "Basic dXNlcjpwYXNz" },
        { "u:pw~", "Basic dTpwd34=" },
        { ":", "Basic Og==" },
    };
    CLEANUP(str_done) struct str none = STR_INIT(100);
    struct err e = { "" };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str out = STR_INIT(100);

        is_int(prometheus_login(cases[i].token, &out, &e), 0, "%s is a login", cases[i].token);
        is_str(str_text(&out), cases[i].want, "%s becomes a header", cases[i].token);
    }
    is_int(prometheus_login("a\rb", &none, &e), -EINVAL, "a login with the end of a line is none");
    is_int(prometheus_login("a\x80", &none, &e), -EINVAL, "a login beyond ASCII is none");
}

int main(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    test_answer();
    test_nobody();
    test_faults();
    test_login();
    return done();
}
