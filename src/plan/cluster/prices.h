/* What an hour of a device costs, as published: data/prices.csv. */
#ifndef BRIM_PLAN_CLUSTER_PRICES_H
#define BRIM_PLAN_CLUSTER_PRICES_H
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "plan/shape/names.h"

struct price_row {
    const char *name;          /* of a row of gpus.csv */
    double usd_per_hour;       /* NaN: not known */
    const char *source, *date; /* of that */
    double idle_w;             /* power while nothing runs on it; NaN: not known */
};

struct prices {
    struct arena arena;
    struct price_row *rows;
    size_t n_rows;
    struct names names;
};

/* Read the table. -EINVAL with "prices.csv:LINE: ..." for a price without a source and a date. */
int prices_load(struct prices *ret, const char *text, size_t len, struct err *e) CHECK_RESULT;
void prices_done(struct prices *p);

/* The row of a GPU by its name in gpus.csv; NULL. */
const struct price_row *prices_find(const struct prices *p, const char *name);

#endif
