/* The list of finished runs as "brim.finished.v1". */
#ifndef BRIM_DAEMON_FINISHED_JSON_H
#define BRIM_DAEMON_FINISHED_JSON_H
#include "base/json.h"
#include "model/job/run.h"
#include "model/verdict/verdict.h"

struct finished_json {
    struct json json;
    struct str accounts; /* the text of /etc/passwd, by which owners have names */
    size_t unreadable;   /* runs that are broken, or too large */
    size_t unread;       /* folders that cannot be read */
};

#define FINISHED_JSON_INIT(out_) \
    { \
        .json = { .out = (out_), .compact = true }, .accounts = STR_INIT(1 << 20) \
    }

void finished_json_done(struct finished_json *l);

/* served: whether there are folders to serve from. */
void finished_json_begin(struct finished_json *l, bool served);

/* Add a run of that owner. Nothing in its texts is trusted. 0 or -ENOMEM. */
int finished_json_run(struct finished_json *l, const char *key, const struct run *r, int64_t owner,
                      const struct verdict *v) CHECK_RESULT;

/* next: the key behind which the list goes on; NULL: that is all. */
void finished_json_end(struct finished_json *l, const char *next);

#endif
