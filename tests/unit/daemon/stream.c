/* Server-sent events, with a library of the test's own: what each listener is given, who waits, and
 * what is said of an answer. */
#include "daemon/http/stream.h"

#include <errno.h>

#include "daemon/http/answer.h"
#include "oom.h"
#include "tap.h"

enum { CLIENTS = 3, HEADERS = 8, ROOM = 256 };

/* A client that listens, as the library knows it. */
struct client {
    MHD_ContentReaderCallback read;
    MHD_ContentReaderFreeCallback leave;
    void *arg;
    unsigned suspended, resumed;
    char got[ROOM];
};

/* What was answered. */
static struct {
    struct client clients[CLIENTS];
    unsigned n, destroyed, status;
    bool none; /* no answer can be made */
    size_t len;
    enum MHD_ResponseMemoryMode mode;
    const char *headers[HEADERS][2];
    size_t n_headers;
} said;

static struct MHD_Response *make_stream(uint64_t size, size_t block, MHD_ContentReaderCallback read,
                                        void *arg, MHD_ContentReaderFreeCallback leave)
{
    struct client *c = &said.clients[said.n];

    ok(size == MHD_SIZE_UNKNOWN && block > 0, "an answer of events has no known end");
    if (said.none)
        return NULL;
    said.n++;
    *c = (struct client){ .read = read, .leave = leave, .arg = arg };
    return (struct MHD_Response *)c;
}

static void suspend(struct MHD_Connection *c)
{
    ((struct client *)c)->suspended++;
}

static void resume(struct MHD_Connection *c)
{
    ((struct client *)c)->resumed++;
}

static struct MHD_Response *make_text(size_t len, void *text, enum MHD_ResponseMemoryMode mode)
{
    said.len = len;
    said.mode = mode;
    return said.none ? NULL : text;
}

static enum MHD_Result add_header(struct MHD_Response *r, const char *name, const char *value)
{
    (void)r;
    said.headers[said.n_headers][0] = name;
    said.headers[said.n_headers++][1] = value;
    return MHD_YES;
}

static enum MHD_Result queue(struct MHD_Connection *c, unsigned status, struct MHD_Response *r)
{
    (void)c;
    (void)r;
    said.status = status;
    return MHD_YES;
}

static void destroy(struct MHD_Response *r)
{
    (void)r;
    said.destroyed++;
}

static const struct mhd library = { .create_response_from_callback = make_stream,
                                    .create_response_from_buffer = make_text,
                                    .add_response_header = add_header,
                                    .queue_response = queue,
                                    .destroy_response = destroy,
                                    .suspend_connection = suspend,
                                    .resume_connection = resume };

static struct client *join(struct http_stream *s)
{
    struct client *c = &said.clients[said.n];

    ok(http_stream_join(s, (struct MHD_Connection *)c) == (struct MHD_Response *)c,
       "a client is answered");
    return c;
}

/* At most so many bytes; their number, 0 where the client must wait. */
static ssize_t take(struct client *c, size_t most)
{
    ssize_t n;

    memset(c->got, 0, sizeof(c->got));
    n = c->read(c->arg, 0, c->got, most);
    return n;
}

static void publish(struct http_stream *s, const char *text)
{
    is_int(http_stream_publish(s, text, strlen(text)), 0, "'%s' is sent to all", text);
}

static void test_frames(void)
{
    struct http_stream s = { .mhd = &library };
    struct client *a, *b;

    memset(&said, 0, sizeof(said));
    a = join(&s);
    is_int(take(a, ROOM - 1), 0, "before the first event a client waits");
    ok(a->suspended == 1 && !a->resumed, "a client that waits is set aside");
    publish(&s, "one");
    is_int(a->resumed, 1, "a client that waits is woken");
    is_int(take(a, ROOM - 1), 11, "an event is taken at once");
    is_str(a->got, "data: one\n\n", "an event is a line of data");
    is_int(take(a, ROOM - 1), 0, "an event is taken once");
    b = join(&s);
    is_int(s.count, 2, "two clients listen");
    is_int(take(b, 4), 4, "a slow client takes a part");
    publish(&s, "two");
    ok(a->resumed == 2 && !b->resumed, "only who waits is woken");
    publish(&s, "three");
    is_int(a->resumed, 2, "a client that is woken is not woken again");
    is_int(take(b, 4), 4, "a slow client takes the next part of what it began");
    is_str(b->got, ": on", "the next part follows the one before");
    is_int(take(b, ROOM - 1), 3, "a slow client takes the rest of what it began");
    is_str(b->got, "e\n\n", "the rest of an event is as it was begun");
    is_int(take(b, ROOM - 1), 13, "a slow client goes on with the newest event");
    is_str(b->got, "data: three\n\n", "events that came in between are left out");
    is_int(take(a, ROOM - 1), 13, "a client that was woken takes the newest event");
    http_stream_forget(&s);
    ok(!s.newest, "the newest event is forgotten");
    is_int(take(a, ROOM - 1), 0, "a client waits when the newest event is forgotten");
    http_stream_end(&s);
    is_int(a->resumed, 3, "a client that waits is woken at the end");
    is_int(take(a, ROOM - 1), MHD_CONTENT_READER_END_OF_STREAM, "an answer ends with the stream");
    is_int(take(b, ROOM - 1), MHD_CONTENT_READER_END_OF_STREAM, "each answer ends with the stream");
    a->leave(a->arg);
    b->leave(b->arg);
    is_int(s.count, 0, "nobody listens when all have left");
    http_stream_done(&s);
}

/* Clients leave from the begin, the middle and the end of the list. */
static void test_leaves(void)
{
    for (size_t gone = 0; gone < CLIENTS; gone++) {
        struct http_stream s = { .mhd = &library };
        unsigned woken = 0;

        memset(&said, 0, sizeof(said));
        for (size_t i = 0; i < CLIENTS; i++)
            take(join(&s), 1);
        said.clients[gone].leave(said.clients[gone].arg);
        is_int(s.count, CLIENTS - 1, "two clients listen when client %zu has left", gone);
        publish(&s, "x");
        for (size_t i = 0; i < CLIENTS; i++)
            woken += said.clients[i].resumed;
        ok(woken == CLIENTS - 1 && !said.clients[gone].resumed,
           "the others are woken when client %zu has left", gone);
        for (size_t i = 0; i < CLIENTS; i++)
            if (i != gone)
                said.clients[i].leave(said.clients[i].arg);
        ok(!s.listeners && !s.count, "all have left after client %zu", gone);
        http_stream_done(&s);
    }
}

static void test_none(void)
{
    struct http_stream s = { .mhd = &library };

    memset(&said, 0, sizeof(said));
    said.none = true;
    ok(!http_stream_join(&s, NULL) && !s.count && !s.listeners,
       "a client for whom no answer can be made does not listen");
    ok(!http_answer_new(&library, "t", "x", 1, true) && !said.n_headers,
       "an answer that cannot be made has no headers");
    ok(!http_answer_under(&library, "p", "t", "x", 1) && !said.n_headers,
       "an answer under a policy that cannot be made has no headers");
    is_int(http_answer_once(&library, NULL, 200, NULL), MHD_NO, "no answer is not sent");
    is_int(said.destroyed, 0, "no answer is not destroyed");
}

static void test_oom(void)
{
    struct http_stream s = { .mhd = &library };
    const struct MHD_Response *r;
    bool failed;
    int rc;

    memset(&said, 0, sizeof(said));
    oom_restart();
    oom_next();
    rc = http_stream_publish(&s, "x", 1);
    failed = oom_end();
    ok(failed && rc == -ENOMEM && !s.newest, "without memory no event is sent");
    oom_restart();
    oom_next();
    r = http_stream_join(&s, NULL);
    failed = oom_end();
    ok(failed && !r && !s.count, "without memory nobody listens");
}

static const char *header(const char *name)
{
    for (size_t i = 0; i < said.n_headers; i++)
        if (!strcmp(said.headers[i][0], name))
            return said.headers[i][1];
    return NULL;
}

static void test_answers(void)
{
    static const char *const headers[][2] = {
        { "Content-Type", "text/css" },
        { "Cache-Control", "no-cache" },
        { "X-Content-Type-Options", "nosniff" },
        { "X-Frame-Options", "DENY" },
        { "Referrer-Policy", "no-referrer" },
        { "Content-Security-Policy",
          "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; "
          "form-action 'self'" },
    };
    struct MHD_Response *r;

    memset(&said, 0, sizeof(said));
    r = http_answer_new(&library, "text/css", "body", 4, true);
    ok(r && said.len == 4 && said.mode == MHD_RESPMEM_PERSISTENT, "a text that stays is borrowed");
    for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
        is_str(header(headers[i][0]), headers[i][1], "an answer has its %s", headers[i][0]);
    is_int((long long)said.n_headers, ARRAY_SIZE(headers), "an answer has no other headers");
    is_int(http_answer_once(&library, NULL, 404, r), MHD_YES, "an answer is sent");
    ok(said.status == 404 && said.destroyed == 1, "an answer is sent with its status, once");
    memset(&said, 0, sizeof(said));
    ok(http_answer_new(&library, "text/css", "body", 4, false) &&
           said.mode == MHD_RESPMEM_MUST_COPY,
       "a text that goes away is copied");
    memset(&said, 0, sizeof(said));
    ok(http_answer_under(&library, "none", "text/html", "body", 4) &&
           said.mode == MHD_RESPMEM_MUST_COPY,
       "an answer under a policy is copied");
    is_str(header("Content-Security-Policy"), "none", "an answer has the policy that is asked for");
    is_str(header("Content-Type"), "text/html", "an answer under a policy has its type");
}

int main(void)
{
    test_frames();
    test_leaves();
    test_none();
    test_oom();
    test_answers();
    return done();
}
