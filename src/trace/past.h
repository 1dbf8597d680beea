/* Jobs of the past as accounting tells of them, line by line: a workload to replay, and how it went
 * with each. What is kept of a job is what both need, however long the lines are.
 *
 * Of a window of time: a job that ran when it began is there as from then on; one that waited then,
 * or was submitted later, waits from the moment on at which it could have started. One that still
 * runs at its end has run for as long as it has. Each run of a job that was requeued is one. */
#ifndef BRIM_TRACE_PAST_H
#define BRIM_TRACE_PAST_H
#include "trace/reader.h"
#include "trace/sacct.h"

enum { PAST_JOBS = 8000000 };

/* What the cluster knows besides; each may be NULL. */
struct past_cluster {
    /* Told of the nodes of each job: "n[0-3]". */
    void (*had)(void *ctx, const char *nodes);
    /* Bits of the pool's kinds that jobs of a partition can get, of a type of devices or ("") of
     * any; 0: all. */
    uint64_t (*kinds)(void *ctx, const char *partition, const char *type);
    void *ctx;
};

struct past_row {
    struct work_went went; /* in ms since 1970; later on the workload's clock */
    int64_t submit_ms;
    size_t number; /* of the job, in the order of the lines */
};

struct past {
    const struct pool *pool;
    struct past_cluster cluster;
    int64_t from_s, until_s; /* since 1970; 0: nobody said */
    struct workload work;
    struct trace_notes notes;
    struct work_went *went; /* of each job of the workload, on its clock */
    /* Jobs with devices: that ran when the window began, run at its end, have not started, were
     * cancelled before they did. */
    size_t before, running, waiting, never;
    struct sacct row; /* the rest is private */
    struct past_row *rows;
    size_t n_rows;
    bool open;
};

/* Whether a text is what sacct printed of when jobs started and ended. */
bool past_is(const char *text, size_t len);

/* A line of sacct --parsable2 without its end, which is taken apart; the first one is the header;
 * NULL for one that nobody could hold. -EINVAL with a sentence for a header without the columns
 * that it takes, -E2BIG for more than PAST_JOBS jobs, -ENOMEM. */
int past_line(struct past *p, char *line, struct err *e) CHECK_RESULT;

/* All lines of a text. */
int past_text(struct past *p, const char *text, size_t len, struct err *e) CHECK_RESULT;

/* After the last line. -ENODATA with a sentence when no job had devices, -ENOMEM. */
int past_settle(struct past *p, struct err *e) CHECK_RESULT;

void past_done(struct past *p);

#endif
