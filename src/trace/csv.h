/* What the parts of the reader of tables share: which column of a table is what, and what the texts
 * in its fields say. */
#ifndef BRIM_TRACE_CSV_H
#define BRIM_TRACE_CSV_H
#include "base/csv.h"
#include "trace/reader.h"

enum trace_column {
    TRACE_NAME,
    TRACE_SUBMIT_S,
    TRACE_SUBMIT_MS,
    TRACE_SUBMIT_DATE,
    TRACE_LENGTH_S,
    TRACE_LIMIT_S,
    TRACE_DEADLINE_S,
    TRACE_CHECKPOINT_S,
    TRACE_END_S,
    TRACE_DEVICES,
    TRACE_LEAST,
    TRACE_MOST,
    TRACE_SCALING,
    TRACE_PER_NODE,
    TRACE_MILLI,
    TRACE_MIG,
    TRACE_CPUS_MILLI,
    TRACE_MEMORY_MIB,
    TRACE_KINDS,
    TRACE_USER,
    TRACE_TEAM,
    TRACE_CLASS,
    TRACE_PRIORITY,
    TRACE_ACTIVITY,
    TRACE_DATA,
    TRACE_DATA_S,
    TRACE_ITERATIONS,
    TRACE_ITERATION_MS,
    TRACE_MODEL,
    TRACE_READ_MS,
    TRACE_COMPUTE_MS,
    TRACE_TALK_MS,
    TRACE_COLUMNS,
};

struct trace_column_name {
    const char *name;
    enum trace_column column;
};

struct trace_form {
    const char *name, *mark; /* a column that only this form has */
    const struct trace_column_name *columns;
    size_t n;
    bool named; /* rows have names; otherwise their numbers serve */
    bool timed; /* without times a row is bad; of the others, some tables have none */
};

struct trace_table {
    const struct trace_form *form;
    struct csv csv;
    int at[TRACE_COLUMNS]; /* which field; -1 */
};

/* The form that a header, or the beginning of one, is of by its text; NULL. */
const struct trace_form *trace_form_of(const char *header);

/* Read the header. text is borrowed. -EINVAL with a sentence when the columns are not known. */
int trace_table_open(struct trace_table *t, const char *file, const char *text, size_t len,
                     struct err *e) CHECK_RESULT;

/* The text of a column in the row; "" where there is none. */
const char *trace_field(const struct trace_table *t, enum trace_column c);

/* A whole number up to most, or seconds as milliseconds. What a row does not say leaves *ret as it
 * is. -EINVAL, -ERANGE. */
int trace_number(const struct trace_table *t, enum trace_column c, int64_t most, int64_t *ret)
    CHECK_RESULT;
int trace_seconds(const struct trace_table *t, enum trace_column c, int64_t *ret) CHECK_RESULT;

/* "V100M16|V100M32" as bits of the pool's kinds; "A100:1|T4:0.3" with how fast it is on each.
 * -EINVAL: not that; -ENOENT: no node has them; -E2BIG: one more table of speeds than can be;
 * -ENOMEM. */
int trace_kinds(struct reader *r, const char *text, struct work *w) CHECK_RESULT;

/* "3g" as the instance of a device that a job takes, whose devices and kinds are known. NULL, or
 * why that cannot be. */
const char *trace_mig(const struct reader *r, const char *text, struct work *w);

/* "600:95 7200:0 3600:hang 95" as the stretches of a job whose length is known. -EINVAL, -E2BIG,
 * -ENOMEM. */
int trace_activity(struct reader *r, const char *text, struct work *w) CHECK_RESULT;

/* What few rows say besides of a job whose submission is known: its deadline, where its data are.
 * 1: that cannot be, and was noted; -ENOMEM. */
int trace_wish(struct reader *r, const struct trace_table *t, struct work *w) CHECK_RESULT;

/* The length of a job of the Muri simulator, what its start costs, and its stages. -EINVAL,
 * -ERANGE. */
int trace_iterations(const struct trace_table *t, struct work *w) CHECK_RESULT;

#endif
