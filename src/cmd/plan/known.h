/* The tables of models and GPUs that the program carries. */
#ifndef BRIM_CMD_PLAN_KNOWN_H
#define BRIM_CMD_PLAN_KNOWN_H
#include "cmd/plan/plan.h"
#include "plan/cluster/gpus.h"
#include "plan/shape/models.h"

/* What the program knows by name: models, and GPUs with what was fitted to them. */
struct plan_known {
    struct gpus gpus;
    struct models models;
};

/* Load the tables, with the figures of --constants where that is given. 0, or a negative errno with
 * a sentence; call plan_known_done() in any case, and start with zeros. */
int plan_known_load(const struct plan_opts *o, struct plan_known *ret, struct err *e) CHECK_RESULT;
void plan_known_done(struct plan_known *k);

#endif
