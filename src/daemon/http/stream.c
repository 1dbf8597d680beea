#include "daemon/http/stream.h"

#include <errno.h>
#include <string.h>

/* The bytes of one event, freed by the last who sends it. */
struct http_frame {
    unsigned users;
    size_t len;
    char text[];
};

struct http_listener {
    struct http_stream *stream;
    struct MHD_Connection *connection;
    struct http_frame *sending; /* NULL between two */
    struct http_frame *sent;    /* the last one, so that it is not sent twice */
    size_t at;
    bool parked; /* suspended until there is a new frame */
    struct http_listener *next, *before;
};

static void drop(struct http_frame **f)
{
    if (*f && --(*f)->users == 0)
        free(*f);
    *f = NULL;
}

static struct http_frame *take(struct http_frame *f)
{
    f->users++;
    return f;
}

static void wake_all(struct http_stream *s)
{
    for (struct http_listener *l = s->listeners; l; l = l->next) {
        if (l->parked)
            s->mhd->resume_connection(l->connection);
        l->parked = false;
    }
}

int http_stream_publish(struct http_stream *s, const char *text, size_t len)
{
    static const char begin[] = { 'd', 'a', 't', 'a', ':', ' ' }, end[] = { '\n', '\n' };
    const size_t head = sizeof(begin), tail = sizeof(end);
    struct http_frame *f = malloc(sizeof(*f) + head + len + tail);

    if (!f)
        return -ENOMEM;
    f->users = 1;
    f->len = head + len + tail;
    memcpy(f->text, begin, head);
    memcpy(f->text + head, text, len);
    memcpy(f->text + head + len, end, tail);
    drop(&s->newest);
    s->newest = f;
    wake_all(s);
    return 0;
}

void http_stream_forget(struct http_stream *s)
{
    drop(&s->newest);
}

static ssize_t read_frame(void *cls, uint64_t pos, char *buf, size_t max)
{
    struct http_listener *l = cls;
    struct http_stream *s = l->stream;
    size_t n;

    (void)pos;
    if (s->closing)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (!l->sending && s->newest && s->newest != l->sent) {
        l->sending = take(s->newest);
        l->at = 0;
    }
    if (!l->sending) {
        l->parked = true;
        s->mhd->suspend_connection(l->connection);
        return 0;
    }
    n = MIN(max, l->sending->len - l->at);
    memcpy(buf, l->sending->text + l->at, n);
    l->at += n;
    if (l->at == l->sending->len) {
        drop(&l->sent);
        l->sent = l->sending;
        l->sending = NULL;
    }
    return (ssize_t)n;
}

static void leave(void *cls)
{
    struct http_listener *l = cls;
    struct http_stream *s = l->stream;

    if (l->before)
        l->before->next = l->next;
    else
        s->listeners = l->next;
    if (l->next)
        l->next->before = l->before;
    s->count--;
    drop(&l->sending);
    drop(&l->sent);
    free(l);
}

struct MHD_Response *http_stream_join(struct http_stream *s, struct MHD_Connection *c)
{
    enum { BLOCK = 4096 };
    struct http_listener *l = calloc(1, sizeof(*l));
    struct MHD_Response *r;

    if (!l)
        return NULL;
    r = s->mhd->create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_frame, l, leave);
    if (!r) {
        free(l);
        return NULL;
    }
    l->stream = s;
    l->connection = c;
    l->next = s->listeners;
    if (l->next)
        l->next->before = l;
    s->listeners = l;
    s->count++;
    return r;
}

void http_stream_end(struct http_stream *s)
{
    s->closing = true;
    wake_all(s);
}

void http_stream_done(struct http_stream *s)
{
    http_stream_forget(s);
}
