/* Runs that go on, for programs: the key "runs" of "brim.live.v1". */
#ifndef BRIM_RENDER_NODE_LIVE_RUNS_JSON_H
#define BRIM_RENDER_NODE_LIVE_RUNS_JSON_H
#include "base/json.h"
#include "model/verdict/live_run.h"

/* Add an array of n runs under that key. Failures stick in j's text. */
void live_runs_json(struct json *j, const char *key, const struct live_run *runs, size_t n);

#endif
