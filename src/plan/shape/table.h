/* A row of one of the program's CSV tables, its fields by the names in the first row. A column that
 * the table lacks, and one that a row is too short for, is blank. */
#ifndef BRIM_PLAN_SHAPE_TABLE_H
#define BRIM_PLAN_SHAPE_TABLE_H
#include <stddef.h>

#include "base/arena.h"
#include "base/csv.h"
#include "base/err.h"

struct table_row {
    const char *file; /* for messages */
    const char *const *header;
    size_t n_header;
    struct csv csv;
};

/* Call fn for every row behind the first one. Returns 0, the error of fn, -ENOMEM, or -EINVAL with
 * a sentence that starts with "file:line: ". */
typedef int table_fn(void *ctx, const struct table_row *row, struct err *e);
int table_read(const char *file, const char *text, size_t len, table_fn *fn, void *ctx,
               struct err *e) CHECK_RESULT;

/* The field of a column; "" when it is blank. Valid until fn returns. */
const char *table_text(const struct table_row *row, const char *column);

/* Its number times unit, *ret as it was when it is blank; -EINVAL with a sentence when it is
 * negative or none. table_whole() takes up to 2147483647. */
int table_number(const struct table_row *row, const char *column, double unit, double *ret,
                 struct err *e) CHECK_RESULT;
int table_whole(const struct table_row *row, const char *column, int *ret, struct err *e)
    CHECK_RESULT;

#endif
