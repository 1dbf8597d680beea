/* Questions that take time: asked in the loop's thread, answered in another one, one at a time and
 * in their order, and sent in the loop's thread: none makes a tick late. */
#ifndef BRIM_DAEMON_QUESTIONS_H
#define BRIM_DAEMON_QUESTIONS_H
#include "base/str.h"
#include "daemon/http/http.h"

#include <uv.h> /* behind ours: it brings a MIN of the system's */

/* The first member of what is asked, which is of calloc() and freed when it was answered. */
struct question {
    /* In the other thread, into out. 0, or a negative errno with a sentence: -ENOENT is 404 to who
     * has asked, others are 503. */
    int (*answer)(struct question *q, struct str *out, struct err *e);
    struct http_call *call;
    struct str out; /* its ceiling must be set */
    /* private: */
    uv_work_t work;
    struct questions *all;
    struct question *next;
    struct err err;
    int rc;
};

struct questions {
    uv_loop_t *loop;
    struct question *first, *last; /* that wait; the first one is being answered */
    bool ending;
};

/* Put a question at the end. Its call is answered in any case, and the question freed. */
void questions_ask(struct questions *all, struct question *q);

/* Whether any waits; 'all' must stay until the loop has run so long. */
bool questions_busy(const struct questions *all);

/* Refuse those that wait; the one that is being answered is finished. */
void questions_end(struct questions *all);

/* Answer 400 with a sentence that ends with a newline. */
void questions_refuse(struct http_call *call, const char *sentence);

/* A parameter that is a whole number from 1 to max; 'otherwise' where it is not given, -1 where it
 * is none. */
int64_t questions_number(const struct http_call *call, const char *name, int64_t otherwise,
                         int64_t max);

#endif
