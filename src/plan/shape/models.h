/* The models that the planner knows by name: data/models.csv. */
#ifndef BRIM_PLAN_SHAPE_MODELS_H
#define BRIM_PLAN_SHAPE_MODELS_H
#include <stddef.h>

#include "base/arena.h"
#include "plan/shape/names.h"
#include "plan/shape/shape.h"

struct model_row {
    struct shape shape; /* one that shape_check() takes */
    double parameters;  /* as others counted them; NaN: not published to the last digit */
};

struct models {
    struct arena arena;
    struct model_row *rows;
    size_t n_rows;
    struct names names;
};

/* Read the table. -EINVAL with "models.csv:LINE: ..." for a row that is no model or has the name of
 * another one. */
int models_load(struct models *ret, const char *text, size_t len, struct err *e) CHECK_RESULT;
void models_done(struct models *m);

/* A row by one of its names, with or without the owner of a repository before it
 * ("meta-llama/Llama-3.1-8B"); -EINVAL with "unknown model 'Lama-3.1-8B' (did you mean
 * Llama-3.1-8B?)". */
int models_find(const struct models *m, const char *name, const struct model_row **ret,
                struct err *e) CHECK_RESULT;

#endif
