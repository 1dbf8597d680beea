/* The live view for programs: schema "brim.live.v1", in one line, as the dashboard gets it each
 * second. */
#ifndef BRIM_RENDER_NODE_LIVE_JSON_H
#define BRIM_RENDER_NODE_LIVE_JSON_H
#include "base/str.h"
#include "model/verdict/live.h"

/* Add the view and what the caller knows besides. Failures stick in out. */
void live_json(const struct live *l, const struct live_extra *x, struct str *out);

#endif
