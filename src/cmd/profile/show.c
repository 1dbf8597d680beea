#include "cmd/profile/show.h"

#include <math.h>

enum { NAME = 34, KNOB = 20, VALUE = 10 };

/* Whether an earlier setting was in the same trial: what that won is not won twice. */
static bool is_of_trial(const struct profile *p, size_t i)
{
    const struct profile_setting *s = &p->settings[i];

    for (size_t k = 0; k < i; k++)
        if (s->steps && p->settings[k].steps == s->steps && p->settings[k].gain == s->gain &&
            p->settings[k].low == s->low && p->settings[k].high == s->high)
            return true;
    return false;
}

/* What all settings come to, each measured with those before it; NaN where none was measured. */
static double gain_of(const struct profile *p)
{
    double all = (double)NAN;

    for (size_t i = 0; i < p->count; i++)
        if (!isnan(p->settings[i].gain) && !is_of_trial(p, i))
            all = (isnan(all) ? 1 : all) * (1 + p->settings[i].gain);
    return all - 1;
}

static void add_times(struct str *out, double gain)
{
    if (isnan(gain))
        str_add(out, "       -");
    else
        str_addf(out, " %6.2fx", 1 + gain);
}

void profile_list_head(struct str *out)
{
    str_addf(out, "%-*s %8s %7s  %s\n", NAME, "profile", "settings", "faster", "machine");
}

void profile_list_one(const char *file, const struct profile *p, struct json *j, struct str *out)
{
    if (!j) {
        str_addf(out, "%-*s %8zu", NAME, file, p->count);
        add_times(out, gain_of(p));
        str_addf(out, "  %s\n", p->machine);
        return;
    }
    json_object(j, NULL);
    json_string(j, "file", file);
    json_string(j, "name", p->name);
    json_string(j, "key", p->key);
    json_string(j, "machine", p->machine);
    json_string(j, "versions", p->versions);
    json_int(j, "settings", (int64_t)p->count);
    json_number(j, "gain", gain_of(p), 6);
    json_end(j);
}

/* "shim, live, safe", or what is wrong with it. */
static void add_knob(const struct profile_setting *s, const struct knobs *knobs, struct str *out)
{
    const struct knob *k = knobs_find(knobs, s->knob);
    const char *near = k ? NULL : knobs_near(knobs, s->knob);
    struct err e = { "" };

    if (!k)
        str_addf(out, "no such knob%s%s%s",
                 near ? " (did you mean " : " (one of your own? --knobs FILE", near ? near : "",
                 near ? "?)" : ")");
    else if (knob_check(k, s->value, &e) < 0)
        str_add(out, e.text);
    else
        str_addf(out, "%s, %s, %s%s", knob_apply_name(k->apply), knob_effect_name(k->effect),
                 knob_risk_name(k->risk), k->rounds ? " but for the last digits" : "");
}

static void add_setting(const struct profile_setting *s, const struct knobs *knobs, struct str *out)
{
    str_addf(out, "  %-*s %-*s", KNOB, s->knob, VALUE, s->value);
    if (s->before && *s->before)
        str_addf(out, " was %-*s", VALUE, s->before);
    else
        str_fill(out, ' ', VALUE + 5);
    add_times(out, s->gain);
    if (!isnan(s->low) && !isnan(s->high))
        str_addf(out, " (%.2f to %.2f)", 1 + s->low, 1 + s->high);
    if (s->steps)
        str_addf(out, ", %llu steps", (unsigned long long)s->steps);
    if (s->date)
        str_addf(out, ", %s", s->date);
    str_add(out, "\n      ");
    add_knob(s, knobs, out);
    str_add_char(out, '\n');
}

static const char *memo_name(const struct profile_setting *s)
{
    return s->kind == PROFILE_REFUSED ? "refused" : "candidate, not yet sure";
}

static void add_memos(const struct profile *p, const struct knobs *knobs, struct str *out)
{
    for (size_t i = 0; i < p->n_memos; i++) {
        add_setting(&p->memos[i], knobs, out);
        str_addf(out, "      %s%s%s\n", memo_name(&p->memos[i]), p->memos[i].why ? ": " : "",
                 p->memos[i].why ? p->memos[i].why : "");
    }
}

void profile_show(const struct profile *p, const struct knobs *knobs, const char *path,
                  struct str *out)
{
    double gain = gain_of(p);

    str_addf(out, "profile %s  %s\n", p->name, path);
    str_addf(out, "  machine   %s\n", *p->machine ? p->machine : "(not told)");
    str_addf(out, "  versions  %s\n", *p->versions ? p->versions : "(not told)");
    str_addf(out, "  job       %s\n\n", *p->key ? p->key : "(not told)");
    for (size_t i = 0; i < p->count; i++)
        add_setting(&p->settings[i], knobs, out);
    if (!p->count)
        str_add(out, "  no settings\n");
    else if (p->count > 1 && !isnan(gain))
        str_addf(out, "\n  together  %.2fx\n", 1 + gain);
    if (p->n_memos)
        str_add_char(out, '\n');
    add_memos(p, knobs, out);
    str_addf(out, "\n  brim run --profile %s -- COMMAND\n", *p->name ? p->name : path);
}

void profile_show_json(const struct profile *p, const struct knobs *knobs, const char *path,
                       struct str *out)
{
    struct json j = JSON_INIT(out);

    json_object(&j, NULL);
    json_string(&j, "schema", "brim.profile.v1");
    json_string(&j, "path", path);
    json_string(&j, "name", p->name);
    json_string(&j, "key", p->key);
    json_string(&j, "machine", p->machine);
    json_string(&j, "versions", p->versions);
    json_array(&j, "settings");
    for (size_t i = 0; i < p->count; i++) {
        const struct profile_setting *s = &p->settings[i];
        const struct knob *k = knobs_find(knobs, s->knob);

        json_object(&j, NULL);
        json_string(&j, "knob", s->knob);
        json_string(&j, "value", s->value);
        json_string(&j, "before", s->before);
        json_number(&j, "gain", s->gain, 6);
        json_number(&j, "low", s->low, 6);
        json_number(&j, "high", s->high, 6);
        json_int(&j, "steps", (int64_t)s->steps);
        json_string(&j, "date", s->date);
        json_string(&j, "apply", k ? knob_apply_name(k->apply) : NULL);
        json_string(&j, "risk", k ? knob_risk_name(k->risk) : NULL);
        json_end(&j);
    }
    json_end(&j);
    json_end(&j);
}
