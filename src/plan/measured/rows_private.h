/* What the files that read a row of measurements share. */
#ifndef BRIM_PLAN_MEASURED_ROWS_PRIVATE_H
#define BRIM_PLAN_MEASURED_ROWS_PRIVATE_H
#include "plan/measured/rows.h"
#include "plan/measured/rows_choose.h"
#include "plan/measured/rows_columns.h"

struct row_reader {
    const struct row_tables *tables;
    struct row_fields f;
};

/* The row cannot be modelled, for this reason. */
void row_refuse(struct plan_row *row, const char *fmt, ...) PRINTF(2, 3);

/* What was understood of a topic, and why. */
void row_understand(struct plan_row *row, enum row_topic topic, const char *fmt, ...) PRINTF(3, 4);

/* A degree of a layout; beyond what any has it is none. */
int row_degree(const struct row_fields *f, enum row_column c);

/* GPUs; of the product of the degrees where the number is not stated. 0: neither is. */
int row_gpus(const struct row_fields *f);

/* tp x pp x cp. */
int64_t row_split(const struct row_fields *f);

/* The GPUs and their network; false: the row is refused. */
bool row_read_cluster(const struct row_reader *r, struct plan_row *row) CHECK_RESULT;

/* Who trained, how, and what stacks of the time did where the table does not say; the cluster, the
 * shape, the precision and the degrees are known. Sequence parallelism is what it would be with a
 * tp of more than 1. *open: which of the settings could have been others. */
void row_read_engine(const struct row_reader *r, struct plan_row *row, struct row_free *open);

/* What was recomputed; the engine is known. False: nothing that was understood says it. */
bool row_read_recompute(const struct row_reader *r, struct plan_row *row);

/* Whether the pipeline may have been an interleaved one. */
bool row_may_interleave(const struct row_reader *r, const struct plan_row *row);

#endif
