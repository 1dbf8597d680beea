/* Server-sent events: one newest frame, shared by all who listen. A listener who is slow finishes
 * the frame that it began and then takes the newest: what waits for it is never more than one. */
#ifndef BRIM_DAEMON_HTTP_STREAM_H
#define BRIM_DAEMON_HTTP_STREAM_H
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "daemon/http/library.h"

struct http_frame;
struct http_listener;

struct http_stream {
    const struct mhd *mhd;
    struct http_frame *newest;
    struct http_listener *listeners;
    unsigned count;
    bool closing;
};

/* Send one line to all. 0 or -ENOMEM. */
int http_stream_publish(struct http_stream *s, const char *text, size_t len) CHECK_RESULT;

/* Forget the newest: those who join wait for the next. */
void http_stream_forget(struct http_stream *s);

/* The answer for a client who wants to listen; NULL when out of memory. */
struct MHD_Response *http_stream_join(struct http_stream *s, struct MHD_Connection *c) CHECK_RESULT;

/* End all answers; to be called before the daemon is stopped. */
void http_stream_end(struct http_stream *s);

/* After the daemon was stopped. */
void http_stream_done(struct http_stream *s);

#endif
