#include "daemon/http/http.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "daemon/http/access.h"
#include "daemon/http/address.h"
#include "daemon/http/answer.h"
#include "daemon/http/caller.h"
#include "daemon/http/library.h"
#include "daemon/http/peers.h"
#include "daemon/http/stream.h"

/* What clients may take. A site has a few scrapers and people who look; work is for people. */
enum {
    CONNECTIONS = 512,
    CROWDED = CONNECTIONS / 2,    /* from here on patience is short */
    ACCEPTED = CONNECTIONS + 128, /* with those who are dropped, and not gone yet */
    BACKLOG = 4096, /* whom the kernel lets wait; net.core.somaxconn is less or equal */
    STREAMS = 256,
    CALLS = 16,
    REQUEST_BYTES = 8 << 10,
    UNSENT_BYTES = 64 << 10, /* of a stream, in the kernel: some events */
};

struct http_call {
    struct http *http;
    struct MHD_Connection *connection;
    struct MHD_Response *reply;
    unsigned status;
    size_t page;
};

struct http {
    struct mhd mhd;
    struct MHD_Daemon *daemon;
    const struct http_config *config;
    struct MHD_Response *latest[HTTP_PAGES]; /* of the pages that are served from memory */
    bool fresh[HTTP_PAGES];
    struct http_stream streams[HTTP_PAGES];
    struct http_peers peers;
    struct http_count count;
    unsigned calls;
    bool ending;
    int64_t now_ns;
    char where[80];
};

static enum MHD_Result refuse_page(struct http *h, struct MHD_Connection *c, unsigned status,
                                   const char *sentence, const char *allowed)
{
    struct MHD_Response *r = http_answer_new(&h->mhd, "text/plain; charset=utf-8", sentence,
                                             strlen(sentence), true);

    h->count.refused++;
    if (r && status == MHD_HTTP_METHOD_NOT_ALLOWED)
        h->mhd.add_response_header(r, "Allow", allowed);
    return http_answer_once(&h->mhd, c, status, r);
}

static enum MHD_Result refuse(struct http *h, struct MHD_Connection *c, unsigned status,
                              const char *sentence)
{
    return refuse_page(h, c, status, sentence, "GET, HEAD");
}

/* ---- pages ---- */

static const char ending_sentence[] = "this server is ending\n";

static struct http_peer *peer_of(const struct http *h, struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info = h->mhd.get_connection_info(
        c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info ? info->socket_context : NULL;
}

static enum MHD_Result serve_stream(struct http *h, struct MHD_Connection *c, size_t page)
{
    /* the kernel would hold up to 4 MiB for each who does not read (tcp_wmem) */
    static const int unsent = UNSENT_BYTES;
    struct http_peer *p = peer_of(h, c);
    struct MHD_Response *r;

    if (h->ending)
        return refuse(h, c, MHD_HTTP_SERVICE_UNAVAILABLE, ending_sentence);
    if (http_counted(h).streams >= STREAMS)
        return refuse(h, c, MHD_HTTP_SERVICE_UNAVAILABLE, "too many are listening already\n");
    r = http_stream_join(&h->streams[page], c);
    if (r) {
        http_answer_headers(&h->mhd, r, h->config->pages[page].type, NULL);
        if (p) {
            p->streaming = true;
            (void)setsockopt(p->fd, SOL_SOCKET, SO_SNDBUF, &unsent, sizeof(unsent));
        }
    }
    return http_answer_once(&h->mhd, c, MHD_HTTP_OK, r);
}

/* Hand it to the caller; the connection sleeps until http_reply(). */
static enum MHD_Result serve_work(struct http *h, struct MHD_Connection *c, size_t page,
                                  void **state)
{
    struct http_call *call;

    if (h->ending)
        return refuse(h, c, MHD_HTTP_SERVICE_UNAVAILABLE, ending_sentence);
    if (h->calls >= CALLS)
        return refuse(h, c, MHD_HTTP_SERVICE_UNAVAILABLE,
                      "too many such requests at once; try again\n");
    call = calloc(1, sizeof(*call));
    if (!call)
        return MHD_NO;
    *call = (struct http_call){ .http = h, .connection = c, .page = page };
    *state = call;
    h->calls++;
    h->mhd.suspend_connection(c);
    h->config->work(h->config->ctx, page, call);
    return MHD_YES;
}

static enum MHD_Result serve(struct http *h, struct MHD_Connection *c, size_t page, void **state)
{
    switch (h->config->pages[page].kind) {
    case HTTP_STREAM:
        return serve_stream(h, c, page);
    case HTTP_WORK:
    case HTTP_DEED:
        return serve_work(h, c, page, state);
    case HTTP_FIXED:
    case HTTP_LATEST:
        break;
    }
    if (!h->fresh[page] && h->config->fill(h->config->ctx, page) == 0)
        h->fresh[page] = true;
    if (!h->latest[page])
        return refuse(h, c, MHD_HTTP_SERVICE_UNAVAILABLE, "nothing is known yet\n");
    return h->mhd.queue_response(c, MHD_HTTP_OK, h->latest[page]);
}

/* The first page of that path which the client accepts; n_pages when there is none. */
static size_t find_page(const struct http_config *config, const char *path, const char *accept)
{
    size_t i;

    for (i = 0; i < config->n_pages; i++) {
        const struct http_page *p = &config->pages[i];

        if (!strcmp(p->path, path) && (!p->accept || (accept && strstr(accept, p->accept))))
            break;
    }
    return i;
}

/* Take the token of /login?token=... into a cookie, so that a browser sends it from then on. */
static enum MHD_Result log_in(struct http *h, struct MHD_Connection *c)
{
    const char *given = h->mhd.lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "token");
    struct MHD_Response *r;
    char cookie[256];

    if (!given || !http_access_equal(given, h->config->token))
        return refuse(h, c, MHD_HTTP_UNAUTHORIZED, "this is not the token\n");
    r = http_answer_new(&h->mhd, "text/plain; charset=utf-8", "", 0, true);
    snprintf(cookie, sizeof(cookie), HTTP_COOKIE "=%s; Path=/; HttpOnly; SameSite=Strict",
             h->config->token);
    if (r) {
        h->mhd.add_response_header(r, "Set-Cookie", cookie);
        h->mhd.add_response_header(r, "Location", "/");
    }
    return http_answer_once(&h->mhd, c, MHD_HTTP_SEE_OTHER, r);
}

/* ---- requests ---- */

static struct http_claims claims_of(const struct http *h, struct MHD_Connection *c,
                                    const char *method)
{
    return (struct http_claims){
        .method = method,
        .host = h->mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Host"),
        .origin = h->mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Origin"),
        .fetch_site = h->mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Sec-Fetch-Site"),
        .fetch_mode = h->mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Sec-Fetch-Mode"),
        .authorization = h->mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Authorization"),
        .cookie = h->mhd.lookup_connection_value(c, MHD_COOKIE_KIND, HTTP_COOKIE),
    };
}

/* Whether it is to do something and may, by all but its body: that is read then, and forgotten. */
static bool is_deed(const struct http *h, const char *url, const struct http_claims *claims)
{
    const struct http_config *config = h->config;
    size_t page = find_page(config, url, NULL);

    return page < config->n_pages && config->pages[page].kind == HTTP_DEED &&
           !http_access_deed(claims, config->operators).status;
}

static enum MHD_Result answer(struct http *h, struct MHD_Connection *c, const char *url,
                              const struct http_claims *claims, void **state)
{
    const struct http_config *config = h->config;
    size_t page = find_page(config, url,
                            h->mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Accept"));
    bool deed = page < config->n_pages && config->pages[page].kind == HTTP_DEED;
    bool login = config->token && !strcmp(url, "/login");
    bool open = login || (page < config->n_pages && config->pages[page].open) ||
                http_access_operates(claims, config->operators);
    struct http_refusal no = deed ? http_access_deed(claims, config->operators)
                                  : http_access(claims, config->token, open);

    if (no.status)
        return refuse_page(h, c, no.status, no.sentence, deed ? "POST" : "GET, HEAD");
    if (login)
        return log_in(h, c);
    if (page == config->n_pages)
        return refuse(h, c, MHD_HTTP_NOT_FOUND, "there is no such page\n");
    return serve(h, c, page, state);
}

/* NOLINTNEXTLINE(readability-function-size): the parameters are microhttpd's */
static enum MHD_Result handle(void *cls, struct MHD_Connection *c, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_len, void **state)
{
    struct http *h = cls;
    struct http_claims claims = claims_of(h, c, method);
    struct http_peer *p = peer_of(h, c);
    struct http_call *call = *state == c ? NULL : *state;

    (void)version;
    (void)upload;
    if (call) /* it was answered: see http_reply() */
        return call->reply ? h->mhd.queue_response(c, call->status, call->reply) : MHD_NO;
    /* before its body, which is then not read at all */
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0 && !is_deed(h, url, &claims))
        return answer(h, c, url, &claims, state);
    if (!*state || *upload_len) {
        *state = c; /* its headers were seen: the answer comes with the next call */
        *upload_len = 0;
        return MHD_YES;
    }
    h->count.requests++;
    if (p) {
        p->since_ns = h->now_ns;
        p->answering = true;
    }
    return answer(h, c, url, &claims, state);
}

static void on_completed(void *cls, struct MHD_Connection *c, void **state,
                         enum MHD_RequestTerminationCode why)
{
    struct http *h = cls;
    struct http_call *call = *state == c ? NULL : *state;
    struct http_peer *p = peer_of(h, c);

    (void)why;
    if (p) {
        p->answering = p->streaming = false;
        p->served = true;
        p->since_ns = h->now_ns;
    }
    if (call) {
        if (call->reply)
            h->mhd.destroy_response(call->reply);
        free(call);
    }
    *state = NULL;
}

static void on_connection(void *cls, struct MHD_Connection *c, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    struct http *h = cls;

    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const struct sockaddr *from =
            h->mhd.get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;

        *context = http_peers_add(
            &h->peers, h->mhd.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
            from && http_address_is_local(from), h->now_ns);
        http_peers_make_room(&h->peers, CONNECTIONS);
        return;
    }
    http_peers_remove(&h->peers, *context);
    *context = NULL;
}

/* ---- the server ---- */

static int check_access(const char *token, const union http_address *at, const char *where,
                        struct err *e)
{
    if (token)
        return http_access_token(token, e);
    if (http_address_is_loopback(at))
        return 0;
    return err_usage(
        e,
        "--listen: '%s' is not a loopback address: anybody could read it there; give a token "
        "(--token-file FILE), or use 127.0.0.1 and a reverse proxy that asks who is "
        "there",
        where);
}

static int fix_pages(struct http *h)
{
    for (size_t i = 0; i < HTTP_PAGES; i++)
        h->streams[i].mhd = &h->mhd;
    for (size_t i = 0; i < h->config->n_pages; i++) {
        const struct http_page *p = &h->config->pages[i];

        if (p->kind != HTTP_FIXED)
            continue;
        h->latest[i] = http_answer_new(&h->mhd, p->type, p->text, p->len, true);
        if (!h->latest[i])
            return -ENOMEM;
        h->fresh[i] = true;
    }
    return 0;
}

static size_t unescape(void *cls, struct MHD_Connection *c, char *text)
{
    (void)cls;
    (void)c;
    return http_unescape(text);
}

static int start(struct http *h, int fd, bool v6)
{
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (v6 ? MHD_USE_IPv6 : 0);

    h->daemon = h->mhd.start_daemon(
        flags, 0, NULL, NULL, handle, h, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)ACCEPTED, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES,
        MHD_OPTION_CONNECTION_TIMEOUT, h->config->silence_s, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, h, MHD_OPTION_NOTIFY_CONNECTION, on_connection, h,
        MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL, MHD_OPTION_END);
    return h->daemon ? 0 : -EIO;
}

int http_open(struct http **ret, const struct http_config *config, struct err *e)
{
    CLEANUP(http_closep) struct http *h = calloc(1, sizeof(*h));
    const char *where = config->listen;
    union http_address address;
    int rc, fd;

    if (!h)
        return err_nomem(e);
    h->config = config;
    rc = err_usage_of(http_address_parse(where, &address, e));
    if (rc == ERR_USAGE)
        err_context(e, rc, "--listen: ");
    if (rc == 0)
        rc = check_access(config->token, &address, where, e);
    if (rc == 0)
        rc = mhd_load(&h->mhd, e);
    if (rc < 0)
        return rc;
    if (fix_pages(h) < 0)
        return err_nomem(e);
    fd = http_address_listen(&address, BACKLOG);
    if (fd < 0)
        return err_set(e, fd, "cannot listen on %s: %s", where, strerror(-fd));
    snprintf(h->where, sizeof(h->where), "%.*s:%u", (int)(strrchr(where, ':') - where), where,
             http_address_port(fd));
    rc = start(h, fd, address.any.sa_family == AF_INET6);
    if (rc < 0) {
        close(fd);
        return err_set(e, rc, "cannot serve on %s: the HTTP server did not start", where);
    }
    *ret = steal(&h);
    return 0;
}

void http_end(struct http *h)
{
    h->ending = true;
}

void http_close(struct http *h)
{
    if (!h)
        return;
    h->ending = true;
    if (h->daemon) {
        for (size_t i = 0; i < HTTP_PAGES; i++)
            http_stream_end(&h->streams[i]);
        h->mhd.run(h->daemon);
        h->mhd.stop_daemon(h->daemon);
    }
    for (size_t i = 0; i < HTTP_PAGES; i++) {
        if (h->latest[i])
            h->mhd.destroy_response(h->latest[i]);
        http_stream_done(&h->streams[i]);
    }
    free(h);
}

int http_fd(const struct http *h)
{
    return h->mhd.get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

const char *http_where(const struct http *h)
{
    return h->where;
}

bool http_run(struct http *h, int64_t monotonic_ns)
{
    bool new_second = monotonic_ns / NS_PER_S != h->now_ns / NS_PER_S;
    MHD_UNSIGNED_LONG_LONG wait_ms;

    h->now_ns = monotonic_ns;
    if (new_second)
        http_peers_drop_slow(&h->peers, monotonic_ns, h->config->silence_s,
                             h->peers.count > CROWDED);
    h->mhd.run(h->daemon);
    return h->mhd.get_timeout(h->daemon, &wait_ms) == MHD_YES && wait_ms == 0;
}

int http_publish(struct http *h, size_t page, const char *text, size_t len)
{
    const struct http_page *p = &h->config->pages[page];
    struct MHD_Response *r;

    if (p->kind == HTTP_STREAM)
        return http_stream_publish(&h->streams[page], text, len);
    r = http_answer_new(&h->mhd, p->type, text, len, false);
    if (!r)
        return -ENOMEM;
    if (h->latest[page])
        h->mhd.destroy_response(h->latest[page]);
    h->latest[page] = r;
    return 0;
}

void http_stale(struct http *h)
{
    for (size_t i = 0; i < h->config->n_pages; i++) {
        if (h->config->pages[i].kind == HTTP_LATEST)
            h->fresh[i] = false;
        http_stream_forget(&h->streams[i]);
    }
}

unsigned http_listeners(const struct http *h, size_t page)
{
    return h->streams[page].count;
}

const char *http_query(const struct http_call *call, const char *name)
{
    return call->http->mhd.lookup_connection_value(call->connection, MHD_GET_ARGUMENT_KIND, name);
}

struct http_caller http_caller(const struct http_call *call)
{
    const struct http *h = call->http;
    const struct http_claims claims = claims_of(h, call->connection, MHD_HTTP_METHOD_GET);
    const union MHD_ConnectionInfo *info = h->mhd.get_connection_info(
        call->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    return (struct http_caller){ info ? caller_uid(info->connect_fd) : -1,
                                 http_access_operates(&claims, h->config->operators) };
}

void http_reply(struct http_call *call, unsigned status, const char *type, const char *text,
                size_t len)
{
    struct http *h = call->http;
    const struct http_page *page = &h->config->pages[call->page];

    call->status = status;
    call->reply = http_answer_under(&h->mhd, page->policy, type ? type : page->type, text, len);
    h->calls--;
    h->mhd.resume_connection(call->connection);
    h->config->again(h->config->ctx);
}

struct http_count http_counted(const struct http *h)
{
    struct http_count count = h->count;

    count.connections = h->peers.count;
    count.streams = 0;
    for (size_t i = 0; i < h->config->n_pages; i++)
        count.streams += h->streams[i].count;
    return count;
}
