/* A model as the command line names it. */
#ifndef BRIM_CMD_PLAN_MODEL_H
#define BRIM_CMD_PLAN_MODEL_H
#include "cmd/plan/known.h"

/* The shape of a model: name is one of data/models.csv, a config.json, or a directory with one. 0;
 * with a sentence ERR_USAGE for no name and an unknown one, or a negative errno. */
int plan_model_read(const struct plan_known *known, const char *name, struct shape *ret,
                    struct err *e) CHECK_RESULT;

#endif
