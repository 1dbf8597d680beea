/* The agent of this machine, played by a thread: that its answer comes whole or not at all, in
 * time, and whose socket is believed. */
#include "ask/near.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tap.h"

struct server {
    int fd;
    unsigned port;
    const char *reply; /* NULL: it says nothing until the other side has gone */
    char request[1024];
};

static void *serve(void *arg)
{
    struct server *s = arg;
    int c = accept(s->fd, NULL, NULL);
    ssize_t n = recv(c, s->request, sizeof(s->request) - 1, 0);

    s->request[n > 0 ? n : 0] = '\0';
    if (s->reply)
        (void)send(c, s->reply, strlen(s->reply), MSG_NOSIGNAL);
    else
        (void)recv(c, &(char){ 0 }, 1, 0);
    close(c);
    return NULL;
}

static void open_server(struct server *s)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(at);

    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ok(bind(s->fd, (struct sockaddr *)&at, len) == 0 && listen(s->fd, 1) == 0 &&
           getsockname(s->fd, (struct sockaddr *)&at, &len) == 0,
       "a server listens");
    s->port = ntohs(at.sin_port);
}

/* Ask a server that answers so. */
static int ask_it(struct server *s, const char *reply, struct str *text, struct err *e)
{
    const struct near_config c = { .address = "127.0.0.1",
                                   .port = s->port,
                                   .token = "secret",
                                   .path = "/page",
                                   .patience_ns = (reply ? 60 * 1000 : 20) * NS_PER_MS,
                                   .clock = &clock_system };
    pthread_t thread;
    int rc;

    s->reply = reply;
    if (pthread_create(&thread, NULL, serve, s) != 0)
        return -EAGAIN;
    rc = near_ask(text, &c, e);
    pthread_join(thread, NULL);
    return rc;
}

static void test_answers(struct server *s)
{
    CLEANUP(str_done) struct str text = STR_INIT(64);
    char large[256] = "HTTP/1.0 200 OK\r\n\r\n";
    struct err e = { "" };

    is_int(ask_it(s, "HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\ntext", &text, &e), 0,
           "a server answers");
    is_str(str_text(&text), "text", "the text is there");
    ok(strstr(s->request, "GET /page HTTP/1.0\r\n"), "the page was asked for");
    ok(strstr(s->request, "\r\nAuthorization: Bearer secret\r\n"), "with the token");
    is_int(ask_it(s, "HTTP/1.0 401 No\r\n\r\n", &text, &e), -EACCES, "a refusal is none");
    ok(strstr(e.text, "status 401, it wants its token"), "a refusal is told: %s", e.text);
    is_int(ask_it(s, "HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\ntext", &text, &e), -ECONNRESET,
           "half an answer is none");
    is_int(ask_it(s, "SSH-2.0\r\n\r\n", &text, &e), -EPROTO, "another protocol is none");
    memset(large + strlen(large), 'x', 128);
    ok(ask_it(s, large, &text, &e) < 0, "an answer that is too long is none");
    is_int(ask_it(s, NULL, &text, &e), -ETIMEDOUT, "one who says nothing is not waited for");
}

/* Where the tests are a user's, so is this server. */
static void test_user(struct server *s)
{
    CLEANUP(str_done) struct str text = STR_INIT(64);
    const struct near_config c = { .address = "127.0.0.1",
                                   .port = s->port,
                                   .path = "/",
                                   .patience_ns = NS_PER_S,
                                   .clock = &clock_system };
    struct err e = { "" };

    is_int(near_ask(&text, &c, &e), -EPERM, "a server of a user is not asked: %s", e.text);
}

static void test_nobody(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(64);
    struct near_config c = { .address = "127.0.0.1",
                             .port = 1,
                             .path = "/",
                             .patience_ns = NS_PER_S,
                             .clock = &clock_system };
    struct err e = { "" };

    is_int(near_ask(&text, &c, &e), -ECONNREFUSED, "where nobody listens nobody is asked");
    is_str(e.text, "nothing listens on port 1: start brim agent",
           "a port without a server is told");
}

static void test_address(const struct server *s)
{
    CLEANUP(str_done) struct str text = STR_INIT(64);
    const struct near_config c = { .address = "localhost",
                                   .port = s->port,
                                   .path = "/",
                                   .patience_ns = NS_PER_S,
                                   .clock = &clock_system };
    struct err e = { "" };

    is_int(near_ask(&text, &c, &e), -EINVAL, "a name is not looked up");
    is_str(e.text, "'localhost' is no address in numbers", "a name is told");
}

/* Of /proc/net/tcp: port 0x24c2 is 9410, state 0A listens. */
static void test_table(void)
{
    static const char table[] =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
        "   0: 0100007F:24C2 00000000:0000 0A 00000000:00000000 00:00000000 00000000  107 0 1\n"
        "   1: 0100007F:24C3 00000000:0000 0A 00000000:00000000 00:00000000 00000000 1000 0 1\n"
        "   2: 0200007F:24C3 00000000:0000 0A 00000000:00000000 00:00000000 00000000    0 0 1\n"
        "   3: 0100007F:24C4 0100007F:24C2 01 00000000:00000000 00:00000000 00000000 1001 0 1\n"
        "garbage\n"
        "   4: 00000000000000000000000000000000:24C5 00000000000000000000000000000000:0000 0A "
        "00000000:00000000 00:00000000 00000000    42 0 1\n";
    static const struct {
        unsigned port;
        int want;
    } cases[] = { { 0x24c2, 107 }, { 0x24c3, 1000 }, { 0x24c4, -1 }, { 0x24c5, 42 }, { 1, -1 } };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        FILE *f = fmemopen((void *)(uintptr_t)table, sizeof(table) - 1, "r");

        is_int(f ? near_listener(f, cases[i].port) : -2, cases[i].want, "port %u has its listener",
               cases[i].port);
        if (f)
            (void)fclose(f);
    }
}

int main(void)
{
    struct server s = { .fd = -1 };

    test_table();
    test_nobody();
    open_server(&s);
    if (getuid() > NEAR_SYSTEM) {
        test_user(&s);
    } else {
        test_answers(&s);
        test_address(&s);
    }
    close(s.fd);
    return done();
}
