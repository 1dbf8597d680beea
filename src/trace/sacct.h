/* Lines of sacct --parsable2: fields parted by '|', or by the byte that --delimiter names, below a
 * header. For src/trace alone. */
#ifndef BRIM_TRACE_SACCT_H
#define BRIM_TRACE_SACCT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { SACCT_FIELDS = 64, SACCT_LINE = 8192, SACCT_KIND = 64 };

enum sacct_column {
    SACCT_ID,
    SACCT_USER,
    SACCT_ACCOUNT,
    SACCT_PARTITION,
    SACCT_KEY,
    SACCT_SUBMIT,
    SACCT_ELIGIBLE,
    SACCT_START,
    SACCT_END,
    SACCT_ELAPSED,
    SACCT_ELAPSED_RAW,
    SACCT_LIMIT,
    SACCT_LIMIT_RAW,
    SACCT_ALLOCATED,
    SACCT_ASKED,
    SACCT_NODES,
    SACCT_NODE_LIST,
    SACCT_STATE,
    SACCT_ENERGY,
    SACCT_USAGE,
    SACCT_COLUMNS
};

struct sacct {
    const char *next, *end;
    int line;        /* of the row just read, from 1 */
    char between[2]; /* two fields */
    int at[SACCT_COLUMNS];
    int n;
    char *fields[SACCT_FIELDS];
    char text[SACCT_LINE];
};

/* Whether a text, whose first line is given, is of this kind. */
bool sacct_is(const char *first);

/* Start with the header. */
void sacct_init(struct sacct *t, const char *text, size_t len);

/* Read the next row that is not blank: 1, 0 at the end, -E2BIG for one that is too long. */
int sacct_next(struct sacct *t) CHECK_RESULT;

/* The same for lines that come one by one, which are taken apart: a header, a row. -E2BIG. */
int sacct_header(struct sacct *t, char *line) CHECK_RESULT;
int sacct_row(struct sacct *t, char *line) CHECK_RESULT;

/* "" for what the table or the row lacks. */
const char *sacct_field(const struct sacct *t, enum sacct_column c);
bool sacct_has(const struct sacct *t, enum sacct_column c);

/* "2017-10-09T07:01:55", or seconds since 1970, as these. -EINVAL: "Unknown", "None". */
int sacct_time(const char *text, int64_t *ret) CHECK_RESULT;

/* What it took, in milliseconds. -EINVAL. */
int sacct_elapsed(const struct sacct *t, int64_t *ret) CHECK_RESULT;

/* "[DD-[HH:]]MM:SS" in milliseconds. -EINVAL. */
int sacct_duration(const char *text, int64_t *ret) CHECK_RESULT;

/* The type in a list of resources, "gres/gpu:h100=8"; "". */
void sacct_kind(const char *tres, char ret[SACCT_KIND]);

/* The GPUs of the row; 0 when it has none. */
int32_t sacct_gpus(const struct sacct *t);

#endif
