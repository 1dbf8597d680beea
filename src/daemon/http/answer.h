/* Answers of the HTTP server: each with the headers that keep browsers from doing more with it than
 * showing it. */
#ifndef BRIM_DAEMON_HTTP_ANSWER_H
#define BRIM_DAEMON_HTTP_ANSWER_H
#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "daemon/http/library.h"

/* Add those headers, and the type. policy: Content-Security-Policy; NULL: that of the dashboard. */
void http_answer_headers(const struct mhd *m, struct MHD_Response *r, const char *type,
                         const char *policy);

/* A text as an answer; lasting: it stays where it is as long as the answer does, else it is copied.
 * NULL when out of memory. */
struct MHD_Response *http_answer_new(const struct mhd *m, const char *type, const char *text,
                                     size_t len, bool lasting) CHECK_RESULT;

/* The same with a policy, of a text that is copied. */
struct MHD_Response *http_answer_under(const struct mhd *m, const char *policy, const char *type,
                                       const char *text, size_t len) CHECK_RESULT;

/* Send an answer and let go of it; NULL ends the connection. */
enum MHD_Result http_answer_once(const struct mhd *m, struct MHD_Connection *c, unsigned status,
                                 struct MHD_Response *r);

#endif
