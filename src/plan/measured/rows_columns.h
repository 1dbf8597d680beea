/* The columns of a table of measured runs, by the names that tables give them. */
#ifndef BRIM_PLAN_MEASURED_ROWS_COLUMNS_H
#define BRIM_PLAN_MEASURED_ROWS_COLUMNS_H
#include <stdbool.h>
#include <stddef.h>

#include "base/csv.h"

enum row_column {
    COL_MODEL,
    COL_LAYERS,
    COL_HIDDEN,
    COL_HEADS,
    COL_KV_HEADS,
    COL_FFN,
    COL_SEQ,
    COL_VOCAB,
    COL_GPU,
    COL_N_GPUS,
    COL_TP,
    COL_PP,
    COL_CP,
    COL_EP,
    COL_ETP,
    COL_VPP,
    COL_DP,
    COL_SHARD,
    COL_MICRO,
    COL_BATCH,
    COL_RECOMPUTE,
    COL_SP,
    COL_ZERO,
    COL_PRECISION,
    COL_TFLOPS,
    COL_MFU,
    COL_TIME,
    COL_TOKENS,
    COL_TOKENS_ALL,
    COL_MEM,
    COL_NETWORK,
    COL_NODE_RATE,
    COL_ENGINE,
    COL_METHODS,
    COL_DATE,
    COL_SOURCE,
    COL_NOTES,
    ROW_COLUMNS
};

/* A row of such a table; csv is where the table is read from. */
struct row_fields {
    int at[ROW_COLUMNS]; /* field of a column, -1: the table lacks it */
    double unit[ROW_COLUMNS];
    struct csv csv;
};

/* Find the columns in the row that was just read, the first one. */
void row_columns_find(struct row_fields *f);

/* A field; "" when it is blank. */
const char *row_text(const struct row_fields *f, enum row_column c);

/* Its number in seconds, bytes and so on; NaN when it is blank or no number. "1,234" is 1234. */
double row_number(const struct row_fields *f, enum row_column c);

/* A whole number from 1 on, else what is given. */
int row_int(const struct row_fields *f, enum row_column c, int otherwise);

/* Whether a field has the word in it, in any case, also as a part of another. */
bool row_says(const struct row_fields *f, enum row_column c, const char *word);

/* Whether a field has "OOM" or "out of memory" as words of their own. */
bool row_says_oom(const struct row_fields *f, enum row_column c);

#endif
