/* What readers of traces share. */
#ifndef BRIM_TRACE_READER_H
#define BRIM_TRACE_READER_H
#include <stdbool.h>

#include "model/machine/node_names.h"
#include "trace/trace.h"

struct reader {
    struct workload *work;
    struct trace_notes *notes;
    const struct pool *pool;
    int line;
    const char *file;
    struct node_names locate; /* the pool's nodes by name; without slots: nobody asked yet */
};

struct reader_ops {
    const char *name;
    /* Whether the text, whose first line that is not blank is given, is of this kind. */
    bool (*is)(const char *first);
    int (*read)(struct reader *r, const char *text, size_t len, struct err *e);
};

extern const struct reader_ops reader_csv, reader_swf, reader_sacct;

/* What a row says of how many devices a job can use, and how it scales with them: "" is nothing. */
struct reader_range {
    const char *least, *most, *scaling;
};

/* Take it, for a job whose devices are known. NULL, or why that cannot be. */
const char *reader_elastic(struct work *w, const struct reader_range *range);

/* A job without anything that a row says. */
struct work reader_empty(void);

/* Note that the row of r->line is bad. Returns 0. */
int reader_bad(struct reader *r, const char *fmt, ...) PRINTF(2, 3);

/* Add a job, or note why it cannot be. name is copied. 0, -ENOMEM. */
int reader_add(struct reader *r, const struct work *w, const char *name) CHECK_RESULT;

/* Set a number of a name in a table of the workload. 0, -ENOMEM; a name too many is none. */
int reader_group(struct reader *r, struct work_names *table, const char *name, int16_t *ret)
    CHECK_RESULT;

/* "2017-10-09 07:01:55" or "2017-10-09T07:01:55" as seconds since 1970. -EINVAL. */
int reader_date(const char *text, int64_t *ret) CHECK_RESULT;

/* Seconds with decimals as milliseconds. -EINVAL, or -ERANGE beyond 200 years. */
int reader_seconds(const char *text, int64_t *ret) CHECK_RESULT;

#endif
