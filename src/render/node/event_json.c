#include "render/node/event_json.h"

#include "base/clock.h"

/* Empty is not known. */
static void add_text(struct json *j, const char *key, const char *text)
{
    json_string(j, key, *text ? text : NULL);
}

void event_json(struct json *j, const struct event *e)
{
    json_object(j, NULL);
    json_int(j, "time_ms", e->wall_ns / NS_PER_MS);
    json_string(j, "kind", e->kind);
    json_string(j, "severity", severity_text(e->severity));
    if (e->code >= 0)
        json_int(j, "code", e->code);
    else
        json_null(j, "code");
    json_bool(j, "over", e->over);
    add_text(j, "thing", e->thing);
    json_string(j, "text", e->text);
    add_text(j, "action", e->action);
    json_end(j);
}
