/* How many nodes a target needs: text and JSON. */
#include <math.h>

#include "base/json.h"
#include "base/str.h"
#include "cmd/sim/show.h"

enum { KIND_WIDTH = 17 };
/* ---- text ---- */

static void add_need(const struct sim_needs *s, size_t i, struct str *out)
{
    const struct sim_need *x = &s->list[i];
    const struct capacity_answer *a = &x->answer;

    str_addf(out, "%d%s%s", x->shape.devices, *x->shape.kind ? " x " : " devices", x->shape.kind);
    str_pad(out, KIND_WIDTH);
    if (!a->found) {
        str_addf(out, "no number: with %zu it is %s\n", a->most, quantity_span(a->at_most).text);
        return;
    }
    str_addf(out, "%9zu %9lld %11s %11s", a->nodes, (long long)a->nodes * x->shape.devices,
             quantity_span(a->value).text,
             isnan(a->one_less) ? "-" : quantity_span(a->one_less).text);
    if (isnan(x->usd_hour))
        str_addf(out, " %13s", "?");
    else
        str_addf(out, " %13.2f", x->usd_hour);
    str_addf(out, "%s%s%s\n", s->n > 1 && (int)i == s->fewest ? "  fewest" : "",
             s->n > 1 && (int)i == s->cheapest ? "  cheapest" : "",
             a->steady ? "" : "  one more does not meet it");
}

static void add_needs(const struct sim_report *r, struct str *out)
{
    const struct sim_needs *s = r->needs;
    unsigned tries = 0;

    str_addf(out, "\n%s of at most %s under %s; today it is %s\n",
             capacity_metric_name(s->target.metric), quantity_span(s->target.most_s).text,
             r->runs[0].policy.name, quantity_span(s->list[0].answer.today).text);
    str_add(out, "nodes of");
    str_pad(out, KIND_WIDTH);
    str_add(out, "   to add   devices   with them    one less  dollars/hour\n");
    for (size_t i = 0; i < s->n; i++) {
        add_need(s, i, out);
        tries += s->list[i].answer.tries;
    }
    str_addf(out, "%u simulations; both sides of each answer were run\n", tries);
}

void sim_show_needs(const struct sim_report *r, struct str *out)
{
    if (r->needs)
        add_needs(r, out);
}

static void add_line(const struct sim_need *x, struct str *out)
{
    const struct capacity_answer *a = &x->answer;

    if (!a->found) {
        str_addf(out, "No number of nodes with %d devices%s%s is enough: with %zu it is %s\n",
                 x->shape.devices, *x->shape.kind ? " of kind " : "", x->shape.kind, a->most,
                 quantity_span(a->at_most).text);
        return;
    }
    str_addf(out, "%zu more node%s with %d devices%s%s: it is %s", a->nodes, str_plural(a->nodes),
             x->shape.devices, *x->shape.kind ? " of kind " : "", x->shape.kind,
             quantity_span(a->value).text);
    if (isnan(x->usd_hour))
        str_add(out, "; nobody knows what they cost\n");
    else
        str_addf(out, ", for %.2f dollars an hour\n", x->usd_hour);
}

void sim_show_needs_lines(const struct sim_report *r, struct str *out)
{
    const struct sim_needs *s = r->needs;

    if (!s)
        return;
    str_addf(out, "%s under %s is %s today, and is to be at most ",
             capacity_metric_name(s->target.metric), r->runs[0].policy.name,
             quantity_span(s->list[0].answer.today).text);
    str_addf(out, "%s:\n", quantity_span(s->target.most_s).text);
    for (size_t i = 0; i < s->n; i++)
        add_line(&s->list[i], out);
}

/* ---- JSON ---- */

static void json_need(const struct sim_need *x, struct json *j)
{
    const struct capacity_answer *a = &x->answer;

    json_object(j, NULL);
    json_int(j, "devices_of_a_node", x->shape.devices);
    json_string(j, "kind", x->shape.kind);
    json_bool(j, "met", a->found);
    if (a->found) {
        json_int(j, "nodes", (int64_t)a->nodes);
        json_round(j, "value_s", a->value, 3);
        json_round(j, "one_less_s", a->one_less, 3);
        json_bool(j, "one_more_meets_it", a->steady);
        json_round(j, "usd_per_hour", x->usd_hour, 4);
    } else {
        json_int(j, "not_with", (int64_t)a->most);
        json_round(j, "value_s", a->at_most, 3);
    }
    json_int(j, "simulations", a->tries);
    json_end(j);
}

static void json_needs(const struct sim_needs *s, struct json *j)
{
    json_object(j, "target");
    json_string(j, "metric", capacity_metric_name(s->target.metric));
    json_round(j, "most_s", s->target.most_s, 3);
    json_round(j, "today_s", s->list[0].answer.today, 3);
    json_array(j, "add");
    for (size_t i = 0; i < s->n; i++)
        json_need(&s->list[i], j);
    json_end(j);
    json_end(j);
}

void sim_show_needs_json(const struct sim_report *r, struct json *j)
{
    if (r->needs)
        json_needs(r->needs, j);
}
