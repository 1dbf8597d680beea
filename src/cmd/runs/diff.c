#include "cmd/runs/diff.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "model/signal/quantity.h"
#include "run/archive/figures.h"

enum { FIGURES = 7 + BRIM_STAGES, NAME = 18, VALUE = 14 };

/* A figure of both runs, and how it is written. */
struct row {
    const char *name;
    struct quantity (*say)(double value);
    double a, b;
};

static size_t fill_rows(const struct run_figures *a, const struct run_figures *b,
                        struct row rows[FIGURES])
{
    const struct row fixed[] = {
        { "seconds", quantity_seconds, a->seconds, b->seconds },
        { "steps_per_s", quantity_count, a->steps_per_s, b->steps_per_s },
        { "samples_per_s", quantity_count, a->samples_per_s, b->samples_per_s },
        { "step_s", quantity_seconds, a->step_s, b->step_s },
        { "gpu_busy", quantity_share, a->gpu_busy, b->gpu_busy },
        { "job_cpu", quantity_count, a->job_cpu, b->job_cpu },
        { "job_resident", quantity_bytes, a->resident, b->resident },
    };
    size_t n = ARRAY_SIZE(fixed);

    memcpy(rows, fixed, sizeof(fixed));
    for (unsigned g = 0; g < BRIM_STAGES; g++)
        rows[n++] = (struct row){ step_stage_name(g), quantity_share, a->share[g], b->share[g] };
    return n;
}

static void diff_note(struct json *j, struct str *out, const char *name, const char *a,
                      const char *b)
{
    if (a && b && !strcmp(a, b))
        return;
    if (!j) {
        str_addf(out, "%-*s %s -> %s\n", NAME, name, a ? a : "(not set)", b ? b : "(not set)");
        return;
    }
    json_object(j, NULL);
    json_string(j, "name", name);
    json_string(j, "a", a);
    json_string(j, "b", b);
    json_end(j);
}

static void diff_notes(struct json *j, struct str *out, const struct run *a, const struct run *b)
{
    diff_note(j, out, "command", a->command, b->command);
    diff_note(j, out, "host", a->host, b->host);
    for (size_t i = 0; i < a->n_environment; i++)
        diff_note(j, out, a->environment[i].name, a->environment[i].value,
                  run_environment(b, a->environment[i].name));
    for (size_t i = 0; i < b->n_environment; i++)
        if (!run_environment(a, b->environment[i].name))
            diff_note(j, out, b->environment[i].name, NULL, b->environment[i].value);
}

static void add_table(const struct run *a, const struct run *b, const struct row *rows, size_t n,
                      struct str *out)
{
    str_addf(out, "A  %s  %s\nB  %s  %s\n\n", a->id, a->name ? a->name : "", b->id,
             b->name ? b->name : "");
    str_addf(out, "%-*s %*s %*s %9s\n", NAME, "", VALUE, "A", VALUE, "B", "B to A");
    for (size_t i = 0; i < n; i++) {
        const struct row *r = &rows[i];

        if ((isnan(r->a) && isnan(r->b)) || (!(r->a > 0) && !(r->b > 0)))
            continue;
        str_addf(out, "%-*s %*s %*s", NAME, r->name, VALUE, r->say(r->a).text, VALUE,
                 r->say(r->b).text);
        if (r->a > 0 && r->b >= 0)
            str_addf(out, " %8.2fx", r->b / r->a);
        str_add_char(out, '\n');
    }
    str_add_char(out, '\n');
    diff_notes(NULL, out, a, b);
}

static void add_json(const struct run *a, const struct run *b, const struct row *rows, size_t n,
                     struct str *out)
{
    struct json j = JSON_INIT(out);

    json_object(&j, NULL);
    json_string(&j, "schema", "brim.runs.diff.v1");
    json_string(&j, "a", a->id);
    json_string(&j, "b", b->id);
    json_array(&j, "figures");
    for (size_t i = 0; i < n; i++) {
        json_object(&j, NULL);
        json_string(&j, "name", rows[i].name);
        json_number(&j, "a", rows[i].a, 6);
        json_number(&j, "b", rows[i].b, 6);
        json_end(&j);
    }
    json_end(&j);
    json_array(&j, "environment");
    diff_notes(&j, out, a, b);
    json_end(&j);
    json_end(&j);
}

int runs_diff(const struct run *a, const struct run *b, bool json, struct str *out)
{
    struct run_figures fa, fb;
    struct row rows[FIGURES];
    size_t n;
    int rc = run_figures(a, &fa);

    if (rc == 0)
        rc = run_figures(b, &fb);
    if (rc < 0)
        return rc;
    n = fill_rows(&fa, &fb, rows);
    if (json)
        add_json(a, b, rows, n, out);
    else
        add_table(a, b, rows, n, out);
    return str_error(out);
}
