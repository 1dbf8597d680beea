/* Questions about the past, answered from the store in another thread, one at a time: a question
 * about a day never makes a tick late. */
#ifndef BRIM_DAEMON_HISTORY_H
#define BRIM_DAEMON_HISTORY_H
#include "daemon/http/http.h"
#include "daemon/recent.h"

struct history;
struct uv_loop_s; /* libuv's uv_loop_t */

/* path is borrowed; NULL: there is no store, and the charts have what is in memory (recent,
 * borrowed; NULL: nothing), the past is empty otherwise. */
int history_open(struct history **ret, struct uv_loop_s *loop, const char *path,
                 const struct recent *recent, struct err *e) CHECK_RESULT;

/* After the loop has run until history_busy() says no. */
void history_close(struct history *h);
bool history_busy(const struct history *h);

/* Refuse the questions that wait; the one that is being answered is finished. */
void history_end(struct history *h);

/* Answer a call as JSON, now or later:
 * history_charts   ?seconds=600&step=1        what the charts of the dashboard start with
 * history_series   ?set=disk&thing=vda&signal=read_bytes_total[&label=...]&seconds=600&step=1
 * history_events   ?seconds=86400&limit=100   the newest first */
void history_charts(struct history *h, int64_t now_ms, struct http_call *call);
void history_series(struct history *h, int64_t now_ms, struct http_call *call);
void history_events(struct history *h, int64_t now_ms, struct http_call *call);

#endif
