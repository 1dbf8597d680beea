/* What is said of a row: why it cannot be modelled, or how it was understood. */
#include <stdarg.h>
#include <stdio.h>

#include "plan/measured/rows_private.h"

void row_refuse(struct plan_row *row, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(row->reason, sizeof(row->reason), fmt, ap);
    va_end(ap);
}

void row_understand(struct plan_row *row, enum row_topic topic, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(row->understood[topic], sizeof(row->understood[topic]), fmt, ap);
    va_end(ap);
}

const char *row_topic_name(enum row_topic t)
{
    static const char *const topics[ROW_TOPICS] = {
        [ROW_NETWORK] = "network",     [ROW_ENGINE] = "engine",
        [ROW_RECOMPUTE] = "recompute", [ROW_PRECISION] = "precision",
        [ROW_ZERO] = "ZeRO",           [ROW_SEQ_PARALLEL] = "sequence parallel",
        [ROW_SPLIT] = "split",
    };

    return topics[t];
}
