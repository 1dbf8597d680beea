/* A small HTTP server, for reading. It runs inside the caller's loop: wait for http_fd() to become
 * readable, then call http_run(); call it from time to time in any case, so that those who are
 * silent are dropped.
 *
 * Pages are published and then served from memory, so that a client costs next to nothing.
 * Everything that a client can take is bounded: connections, bytes of a request, seconds for
 * sending one, what waits to be sent. Pages of other sites are refused, and on an address that
 * others can reach a token is asked for. Only GET and HEAD are served, but for pages that do
 * something, which want a token of their own and take no body. */
#ifndef BRIM_DAEMON_HTTP_HTTP_H
#define BRIM_DAEMON_HTTP_HTTP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct http;
struct http_call;

enum http_kind {
    HTTP_FIXED,  /* text and len, which never change */
    HTTP_LATEST, /* what was published last; when that is stale, fill() is asked to publish anew */
    HTTP_STREAM, /* server-sent events: every publication goes to all who listen; one who is slow
                  * misses some, and gets whole ones only */
    HTTP_WORK,   /* handed to work(), which answers now or later */
    HTTP_DEED,   /* the same of a POST by an operator */
};

struct http_page {
    const char *path; /* "/metrics" */
    const char *type; /* "text/plain; charset=utf-8" */
    enum http_kind kind;
    bool open;          /* needs no token */
    const char *accept; /* served only to those who accept this; NULL: to all. The first page that
                         * fits is served */
    const char *text;   /* HTTP_FIXED: lives as long as the server */
    size_t len;
    const char *policy; /* HTTP_WORK: its Content-Security-Policy; NULL: that of the dashboard */
};

struct http_config {
    const char *listen;    /* "127.0.0.1:9410", "[::1]:9410", "0.0.0.0:9410"; port 0: a free one */
    const char *token;     /* NULL: none is needed, and only loopback addresses are served */
    const char *operators; /* the token for HTTP_DEED; NULL: nobody may */
    unsigned silence_s; /* clients that neither send nor take a byte for so long are dropped; so is
                         * a request that takes twice as long, and an answer that takes six times */
    const struct http_page *pages;
    size_t n_pages; /* HTTP_PAGES at most */
    void (*work)(void *ctx, size_t page, struct http_call *call);
    int (*fill)(void *ctx, size_t page); /* http_publish() that page now; less than 0: it cannot be,
                                          * what was published before is served */
    void (*again)(
        void *ctx); /* a call was answered: http_run() soon, though http_fd() says nothing */
    void *ctx;
};

enum { HTTP_PAGES = 48 };

/* Listen. The configuration and what it points to are borrowed until http_close(). -EINVAL for an
 * address that is none, or one that needs a token, -EADDRINUSE ... with a sentence. */
int http_open(struct http **ret, const struct http_config *config, struct err *e) CHECK_RESULT;

/* Nobody new is to wait from now on: calls and streams that come are refused. */
void http_end(struct http *h);

/* Every call must have been answered before, and none may come: see http_end(). */
void http_close(struct http *h);
DEFINE_CLEANUP(struct http, http_close)

int http_fd(const struct http *h);

/* Where it listens, with the port that was chosen: "127.0.0.1:9410". */
const char *http_where(const struct http *h);

/* Serve what is ready, without waiting. Returns whether there is more to do at once, of which
 * http_fd() does not tell: let others have their turn, then call again. */
bool http_run(struct http *h, int64_t monotonic_ns);

/* Serve this from now on, a copy of text, as pages[page] (HTTP_LATEST), or send it to all who
 * listen (HTTP_STREAM: one line). 0 or -ENOMEM: what was published before stays. */
int http_publish(struct http *h, size_t page, const char *text, size_t len) CHECK_RESULT;

/* What was published is of the past now. Of streams, those who come next wait for the next
 * event. */
void http_stale(struct http *h);

/* How many listen to a stream: nothing need be published for nobody. */
unsigned http_listeners(const struct http *h, size_t page);

/* A parameter of a call's query; NULL when it is not there. In the loop's thread, while the call is
 * not answered. */
const char *http_query(const struct http_call *call, const char *name);

/* Who has sent a call. */
struct http_caller {
    int64_t uid;   /* the user of this machine at the other end; -1: not known, or elsewhere */
    bool operates; /* with the token of operators */
};
struct http_caller http_caller(const struct http_call *call);

/* Answer a call, in the loop's thread; text is copied. type NULL: the page's. The call is gone
 * then; that its client may be gone as well is no concern of the caller. */
void http_reply(struct http_call *call, unsigned status, const char *type, const char *text,
                size_t len);

/* For the server's own metrics. */
struct http_count {
    unsigned connections, streams;
    uint64_t requests, refused;
};
struct http_count http_counted(const struct http *h);

#endif
