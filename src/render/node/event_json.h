/* One event for programs, as it stands in "brim.live.v1" and "brim.events.v1". */
#ifndef BRIM_RENDER_NODE_EVENT_JSON_H
#define BRIM_RENDER_NODE_EVENT_JSON_H
#include "base/json.h"
#include "model/signal/event.h"

/* Add it to the array that is open. */
void event_json(struct json *j, const struct event *e);

#endif
