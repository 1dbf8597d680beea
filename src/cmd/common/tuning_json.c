#include "cmd/common/tuning_json.h"
#include "base/clock.h"
#include "base/str.h"

#include <math.h>

enum { SENTENCE_MAX = 64 << 10 };

/* Since the first step. */
static double seconds(const struct run *r, int64_t ns)
{
    int64_t first_ns = INT64_MAX;

    for (size_t i = 0; i < r->n_ranks; i++)
        if (r->ranks[i].n_steps)
            first_ns = MIN(first_ns, r->ranks[i].steps[0].begin_ns);
    return ns && first_ns < INT64_MAX ? clock_seconds(ns - first_ns) : (double)NAN;
}

static void rates_json(struct json *j, const char *key, const struct run_rates *r)
{
    json_object(j, key);
    json_number(j, "steps_per_s", r->steps_per_s, 6);
    json_number(j, "samples_per_s", r->samples_per_s, 6);
    json_number(j, "price", r->price, 6);
    json_end(j);
}

static void trial_json(struct json *j, const struct run *r, const struct run_trial *k)
{
    json_object(j, NULL);
    json_string(j, "knob", k->knob);
    json_string(j, "value", k->value);
    json_string(j, "before", k->before);
    json_string(j, "also", k->also);
    json_string(j, "outcome", run_trial_end_name(k->end));
    json_number(j, "gain", k->gain, 5);
    json_number(j, "low", k->low, 5);
    json_number(j, "high", k->high, 5);
    json_number(j, "speed", k->speed, 5);
    json_int(j, "steps", k->steps);
    json_int(j, "starts", k->starts);
    json_number(j, "begin_s", seconds(r, k->begin_ns), 6);
    json_number(j, "end_s", seconds(r, k->end_ns), 6);
    json_string(j, "note", k->note);
    json_end(j);
}

void tuning_json(const struct run *r, struct json *j)
{
    CLEANUP(str_done) struct str text = STR_INIT(SENTENCE_MAX);
    const struct run_tuning *t = r->tuning;

    if (!t)
        return;
    run_tuning_say(t, &text);
    str_fail(j->out, str_error(&text));
    json_object(j, "gained");
    json_string(j, "sentence", str_text(&text));
    json_string(j, "goal", run_goal_name(t->goal));
    rates_json(j, "before", &t->before);
    rates_json(j, "after", &t->after);
    json_array(j, "trials");
    for (size_t i = 0; i < t->n_trials; i++)
        trial_json(j, r, &t->trials[i]);
    json_end(j);
    json_end(j);
}
