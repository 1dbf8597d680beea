/* Runs from where they are kept. */
#ifndef BRIM_CMD_COMMON_LOAD_RUN_H
#define BRIM_CMD_COMMON_LOAD_RUN_H
#include <stdbool.h>

#include "base/err.h"
#include "model/job/run.h"

/* A run by its id, its start, its name or its folder; NULL: the last one. run_done(out) in any
 * case. 0 or a negative errno with a sentence. */
int load_run(const char *which, struct run *out, struct err *e) CHECK_RESULT;

/* The run in a folder, for the observer that reports it at its end: others of the same job may not
 * have stored theirs yet, and are waited for, for 2 s. run_done(out) in any case. Whether it could
 * be read. */
bool load_run_at_end(const char *folder, struct run *out);

/* The youngest run before r of the same command; one without an id when there is none. */
int load_run_earlier(const struct run *r, struct run *out, struct err *e) CHECK_RESULT;

#endif
