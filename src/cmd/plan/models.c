/* brim plan models: which models are known by name, and how many parameters one has. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "cmd/plan/model.h"
#include "cmd/plan/train.h"

enum { OUTPUT_MAX = 8 << 20, COUNT = 24, NAME_USUAL = 22 };

/* ---- text ---- */

static void add_head(struct str *out, int width)
{
    str_addf(out, "%-*s %19s %17s %6s %6s %5s %8s %8s\n", width, "model", "parameters",
             "of which a token", "layers", "hidden", "heads", "experts", "longest");
}

static void add_row(struct str *out, const struct shape *s, int width)
{
    const struct shape_params p = shape_count(s);
    char experts[COUNT] = "-", longest[COUNT] = "?";

    if (s->experts)
        snprintf(experts, sizeof(experts), "%d/%d", s->active, s->experts);
    if (s->positions)
        snprintf(longest, sizeof(longest), "%d", s->positions);
    str_addf(out, "%-*s %19s %17s %6d %6d %5d %8s %8s\n", width, s->name,
             plan_thousands(p.total).text, plan_thousands(p.active).text, s->layers, s->hidden,
             s->heads, experts, longest);
}

/* What the row of a file's model does not tell. */
static void add_notes(struct str *out, const struct shape *s)
{
    if (s->part)
        str_addf(out, "  %s: the part of the model for text\n", s->name);
    if (s->further_layers > 0)
        str_addf(out, "  %s: without its %d layer%s for multi-token prediction\n", s->name,
                 s->further_layers, s->further_layers > 1 ? "s" : "");
    if (s->lacks)
        str_addf(out, "  %s: it has %s, whose memory and time are not modelled\n", s->name,
                 s->lacks);
}

static void add_text(struct str *out, const struct model_row *rows, size_t n)
{
    int width = NAME_USUAL;

    for (size_t i = 0; i < n; i++)
        width = MAX(width, (int)strlen(rows[i].shape.name));
    add_head(out, width);
    for (size_t i = 0; i < n; i++)
        add_row(out, &rows[i].shape, width);
    for (size_t i = 0; i < n; i++)
        add_notes(out, &rows[i].shape);
}

/* ---- JSON ---- */

static void json_row(struct json *j, const struct model_row *row)
{
    const struct shape *s = &row->shape;
    const struct shape_params p = shape_count(s);

    json_object(j, NULL);
    json_string(j, "name", s->name);
    json_round(j, "parameters", p.total, 0);
    json_round(j, "active_parameters", p.active, 0);
    if (!isnan(row->parameters))
        json_round(j, "published_parameters", row->parameters, 0);
    json_int(j, "layers", s->layers);
    json_int(j, "hidden", s->hidden);
    json_int(j, "heads", s->heads);
    json_int(j, "kv_heads", s->kv_heads);
    json_string(j, "attention", s->attention == SHAPE_LATENT ? "latent" : "heads");
    json_int(j, "vocabulary", s->vocab);
    json_int(j, "experts", s->experts);
    json_int(j, "active_experts", s->active);
    json_int(j, "positions", s->positions);
    json_int(j, "further_layers", s->further_layers);
    json_bool(j, "text_part", s->part);
    json_string(j, "not_modelled", s->lacks);
    json_end(j);
}

/* ---- the command ---- */

/* What was named, or all. */
static int collect(const struct plan_known *known, char **names, struct arena *a,
                   struct model_row **ret, size_t *n, struct err *e)
{
    for (size_t i = 0; !names[0] && i < known->models.n_rows; i++) {
        struct model_row *row = ARENA_PUSH(a, ret, n);

        if (!row)
            return err_nomem(e);
        *row = known->models.rows[i];
    }
    for (; names[0]; names++) {
        struct model_row *row = ARENA_PUSH(a, ret, n);
        const struct model_row *same;
        int rc;

        if (!row)
            return err_nomem(e);
        rc = plan_model_read(known, *names, &row->shape, e);
        if (rc)
            return rc;
        row->parameters = models_find(&known->models, *names, &same, NULL) == 0 ? same->parameters
                                                                                : (double)NAN;
    }
    return 0;
}

static void add_json(struct str *out, const struct model_row *rows, size_t n)
{
    struct json j = JSON_INIT(out);

    json_object(&j, NULL);
    json_string(&j, "schema", "brim.plan.models.v1");
    json_array(&j, "models");
    for (size_t i = 0; i < n; i++)
        json_row(&j, &rows[i]);
    json_end(&j);
    json_end(&j);
}

static int run(const struct app *app, const struct plan_opts *o, char **operands, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct plan_known known = { .models = { .n_rows = 0 } };
    struct model_row *rows = NULL;
    size_t n = 0;
    int rc = plan_known_load(o, &known, e);

    (void)app;
    if (rc == 0)
        rc = collect(&known, operands, &a, &rows, &n, e);
    if (rc == 0 && o->json) {
        add_json(&out, rows, n);
    } else if (rc == 0) {
        add_text(&out, rows, n);
    }
    plan_known_done(&known);
    return rc ? rc : cmd_print(&out, o->json, e);
}

const struct plan_command plan_models = {
    .name = "models",
    .args = "[MODEL...]",
    .summary = "which models are known, and how many parameters one has",
    .run = run,
};
