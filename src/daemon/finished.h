/* Finished runs: their list, the page of one, two beside each other; answered from the folders that
 * the operator names, in another thread. */
#ifndef BRIM_DAEMON_FINISHED_H
#define BRIM_DAEMON_FINISHED_H
#include "daemon/http/http.h"
#include "daemon/run_folders.h"

struct finished;
struct uv_loop_s; /* libuv's uv_loop_t */

/* The paths are borrowed; without any there is nothing to serve. 0, or a negative errno with a
 * sentence for a folder that cannot be opened; one that is not there yet can. */
int finished_open(struct finished **ret, struct uv_loop_s *loop, struct run_folders folders,
                  struct err *e) CHECK_RESULT;

/* After the loop has run until finished_busy() says no. */
void finished_close(struct finished *f);
bool finished_busy(const struct finished *f);

/* Refuse what waits; what is being answered is finished. */
void finished_end(struct finished *f);

/* Answer a call, now or later:
 * finished_list     ?limit=20&before=KEY   JSON, the youngest first
 * finished_report   ?run=KEY               the page that 'brim report' makes
 * finished_beside   ?a=KEY&b=KEY           the pages of two in two columns, and what differs */
void finished_list(struct finished *f, struct http_call *call);
void finished_report(struct finished *f, struct http_call *call);
void finished_beside(struct finished *f, struct http_call *call);

#endif
