/* What brim optimize tried on a run, as JSON. */
#ifndef BRIM_CMD_COMMON_TUNING_JSON_H
#define BRIM_CMD_COMMON_TUNING_JSON_H
#include "base/json.h"
#include "model/job/run.h"

/* An object "gained", with its sentence, rates before and after, and each trial, whose times are
 * seconds since the run's first step that is kept. Nothing of a run that was not optimized. */
void tuning_json(const struct run *r, struct json *j);

#endif
