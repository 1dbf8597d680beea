/* Traces: jobs out of text files of several kinds, told apart by their first lines. A row that
 * cannot be is noted with its line and left out; the rest counts. */
#ifndef BRIM_TRACE_TRACE_H
#define BRIM_TRACE_TRACE_H
#include "base/err.h"
#include "model/job/job_spec.h"
#include "model/machine/pool.h"

enum { TRACE_NOTES = 8, TRACE_NOTE = 160 };

/* What was read. */
struct trace_notes {
    const char *kind; /* "philly", ... */
    size_t rows;      /* jobs, good or not */
    size_t bad;
    size_t skipped; /* rows that are no jobs to be placed: steps, jobs without devices */
    char text[TRACE_NOTES][TRACE_NOTE]; /* of the first bad ones: "line 12: ..." */
};

struct trace_text {
    const char *file; /* for messages */
    const char *text;
    size_t len;
    const char *command; /* for messages: what reads it, "brim sim" */
};

/* Read a trace and settle it. Names of kinds of devices are those of the
 * pool; where it has none, they are not looked at. -EINVAL with a sentence when the text is no
 * trace, or no row of it is good; -ENOMEM. */
int trace_read(struct workload *ret, struct trace_notes *notes, const struct pool *pool,
               const struct trace_text *t, struct err *e) CHECK_RESULT;

/* Nodes out of a table with the columns sn, cpu_milli, memory_mib, gpu, model (Alibaba OpenB);
 * nodes without devices are left out. -EINVAL with "file:line: ..." */
int trace_read_nodes(struct pool *ret, const char *file, const char *text, size_t len,
                     struct err *e) CHECK_RESULT;

#endif
