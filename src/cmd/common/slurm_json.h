/* Which job of Slurm a run is of, as JSON. */
#ifndef BRIM_CMD_COMMON_SLURM_JSON_H
#define BRIM_CMD_COMMON_SLURM_JSON_H
#include "base/json.h"
#include "model/job/run.h"

/* An object "slurm", with the job's numbers as Slurm has them, and how often it was requeued.
 * Nothing of a run that is of none. */
void slurm_json(const struct run *r, struct json *j);

#endif
