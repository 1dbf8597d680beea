#include "model/signal/rate.h"

#include <string.h>

const struct signal_row *tick_before(const struct tick *before, const struct tick *now,
                                     const struct signal_row *row)
{
    size_t i = (size_t)(row - now->rows);

    /* things seldom come and go: most rows stand where they stood */
    if (i < before->n_rows && before->rows[i].set == row->set &&
        !strcmp(before->rows[i].thing, row->thing))
        return &before->rows[i];
    return tick_find(before, row->set, row->thing);
}

double signal_growth(const struct tick *before, const struct tick *now,
                     const struct signal_row *row, size_t i)
{
    const struct signal_row *then = tick_before(before, now, row);
    double grown;

    if (!then)
        return (double)NAN;
    grown = row->values[i] - then->values[i];
    return grown >= 0 ? grown : (double)NAN;
}

double signal_rate(const struct tick *before, const struct tick *now, const struct signal_row *row,
                   size_t i)
{
    int64_t ns = now->monotonic_ns - before->monotonic_ns;

    if (ns <= 0)
        return (double)NAN;
    return signal_growth(before, now, row, i) * 1e9 / (double)ns;
}
