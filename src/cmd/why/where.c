#include "cmd/why/where.h"

#include "model/job/lines.h"
#include "model/job/step.h"
#include "model/signal/quantity.h"

enum { SHOWN = 4 };

/* Of all time: what takes less is not shown. */
static const double shown_least = 0.05;

void where_say(const struct verdict *v, struct str *out)
{
    size_t n = 0;

    for (size_t i = 0; i < v->n_lines && n < SHOWN; i++) {
        const struct verdict_line *l = &v->lines[i];

        if (!(l->share >= shown_least))
            continue;
        str_addf(out, "%s%s of the time: %s, %s", n++ ? "; " : "", quantity_share(l->share).text,
                 l->text,
                 l->stage == LINES_WORKER ? "the loader's workers" : step_stage_name(l->stage));
    }
    if (!n && v->lines_off)
        str_addf(out, "lines are not known: %s", v->lines_off);
}

static void add_line(struct json *j, const struct verdict_line *l)
{
    json_string(j, "file", l->file);
    json_int(j, "line", l->first);
    json_int(j, "last_line", l->last);
    json_string(j, "function", l->function);
    json_string(j, "callee", *l->callee ? l->callee : NULL);
    json_string(j, "text", l->text);
    json_string(j, "stage", lines_stage_name(l->stage));
    json_number(j, "share", l->share, 4);
    json_number(j, "of_stage", l->of_stage, 4);
    json_number(j, "least", l->least, 4);
    json_int(j, "samples", l->samples);
    json_end(j);
}

void where_json(struct json *j, const struct verdict *v)
{
    if (v->lines_off)
        json_string(j, "where_off", v->lines_off);
    if (!v->n_lines)
        return;
    json_array(j, "where");
    for (size_t i = 0; i < v->n_lines; i++) {
        json_object(j, NULL);
        add_line(j, &v->lines[i]);
    }
    json_end(j);
}

void where_json_item(struct json *j, const struct verdict_item *i)
{
    if (!i->line)
        return;
    json_object(j, "where");
    add_line(j, i->line);
}
