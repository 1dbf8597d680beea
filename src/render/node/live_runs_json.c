#include "render/node/live_runs_json.h"

#include "model/job/step.h"

static void add_text(struct json *j, const char *key, const char *text)
{
    json_string(j, key, *text ? text : NULL);
}

static void add_run(struct json *j, const struct live_run *r)
{
    json_object(j, NULL);
    json_string(j, "id", r->id);
    json_string(j, "name", r->name);
    add_text(j, "user", r->user);
    if (r->since_ms)
        json_int(j, "since_ms", r->since_ms);
    else
        json_null(j, "since_ms");
    json_round(j, "ranks", r->ranks, 0);
    json_round(j, "steps", r->steps, 0);
    json_number(j, "steps_per_s", r->steps_per_s, 4);
    json_number(j, "samples_per_s", r->samples_per_s, 4);
    json_object(j, "split");
    for (unsigned i = 0; i < BRIM_STAGES; i++)
        json_round(j, step_stage_name(i), r->split[i], 4);
    json_end(j);
    json_string(j, "severity", severity_text(MAX(r->severity, SEVERITY_NOTE)));
    add_text(j, "cause", r->cause);
    json_bool(j, "limited", r->limited);
    json_round(j, "share", r->share, 4);
    add_text(j, "sentence", r->sentence);
    add_text(j, "action", r->action);
    add_text(j, "trying", r->trying);
    json_end(j);
}

void live_runs_json(struct json *j, const char *key, const struct live_run *runs, size_t n)
{
    json_array(j, key);
    for (size_t i = 0; i < n; i++)
        add_run(j, &runs[i]);
    json_end(j);
}
