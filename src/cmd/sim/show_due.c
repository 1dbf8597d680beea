/* How many jobs met their deadlines: text and JSON. */
#include "cmd/sim/show.h"

enum { NAME_WIDTH = 17 };

bool sim_show_any_due(const struct sim_run *runs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (runs[i].stats.all.due > 0)
            return true;
    return false;
}

static double percent(const struct sim_group *g)
{
    return 100.0 * (double)g->met / (double)g->due;
}

void sim_show_due(const struct sim_run *runs, size_t n, struct str *out)
{
    if (!sim_show_any_due(runs, n))
        return;
    str_add(out, "\npolicy");
    str_pad(out, NAME_WIDTH);
    str_add(out, "deadlines       met      met%  tardiness       max\n");
    for (size_t i = 0; i < n; i++) {
        const struct sim_group *g = &runs[i].stats.all;

        str_add(out, runs[i].policy.name);
        str_pad(out, NAME_WIDTH);
        str_addf(out, "%9zu %9zu %9.1f %10s %9s\n", g->due, g->met, g->due ? percent(g) : 0,
                 quantity_span(g->tardiness).text, quantity_span(g->tardiness_max).text);
    }
}

void sim_show_due_head(struct str *out)
{
    str_add(out, " deadlines     met%  tardiness");
}

void sim_show_due_group(const struct sim_group *g, struct str *out)
{
    str_addf(out, " %9zu", g->due);
    if (g->due)
        str_addf(out, " %8.1f %10s", percent(g), quantity_span(g->tardiness).text);
    else
        str_addf(out, " %8s %10s", "-", "-");
}

void sim_show_due_json(const struct sim_group *g, struct json *j)
{
    if (g->due == 0)
        return;
    json_int(j, "deadlines", (int64_t)g->due);
    json_int(j, "deadlines_met", (int64_t)g->met);
    json_int(j, "deadlines_of_jobs_that_ended", (int64_t)g->due_ended);
    json_round(j, "tardiness_s", g->tardiness, 3);
    json_round(j, "tardiness_max_s", g->tardiness_max, 3);
}
