/* What is different from the last run of the same name. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "model/signal/quantity.h"
#include "render/report/report_private.h"
#include "render/report/stats.h"

enum { ROWS = 60, COLUMNS = 200 };

/* Changes below that are not coloured: runs of the same job differ by as much. */
static const double notable = 0.03;

static void add_value(struct report *p, const char *value)
{
    str_add(p->out, "<td>");
    if (value)
        report_text(p, value, COLUMNS);
    else
        str_add(p->out, "<span class=\"absent\">not set</span>");
    str_add(p->out, "</td>");
}

static void add_change(struct report *p, const char *name, const char *before, const char *now)
{
    str_add(p->out, "<tr><th scope=\"row\">");
    report_text(p, name, 60);
    str_add(p->out, "</th>");
    add_value(p, before);
    add_value(p, now);
    str_add(p->out, "<td></td></tr>\n");
}

static bool same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* Names of one run whose value in the other differs; with 'only' those alone that the other lacks.
 * *left_out: those that there is no room for. */
static size_t add_environment(struct report *p, const struct run *of, bool only, size_t room,
                              size_t *left_out)
{
    size_t shown = 0;

    for (size_t i = 0; i < of->n_environment; i++) {
        const char *name = of->environment[i].name, *before, *now;

        if (!name || run_environment(of, name) != of->environment[i].value)
            continue;
        before = run_environment(p->last, name);
        now = run_environment(p->run, name);
        if (same(before, now) || (only && now))
            continue;
        if (shown == room) {
            ++*left_out;
            continue;
        }
        add_change(p, name, before, now);
        shown++;
    }
    return shown;
}

struct rate {
    const char *name;
    double before, now;
    bool less_is_better;
    struct quantity (*say)(double);
};

static void add_rate(struct report *p, const struct rate *r)
{
    double change = r->now / r->before - 1;
    bool known = isfinite(change) && fabs(change) < 1e4;
    const char *class = "n";

    if (known && fabs(change) >= notable)
        class = (change < 0) == r->less_is_better ? "n better" : "n worse";
    str_addf(p->out, "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s</td>", r->name,
             r->say(r->before).text, r->say(r->now).text);
    if (known)
        str_addf(p->out, "<td class=\"%s\">%+.1f %%</td></tr>\n", class, change * 100);
    else
        str_add(p->out, "<td class=\"n\">-</td></tr>\n");
}

static void add_rates(struct report *p, const struct step_stats *before,
                      const struct step_stats *now)
{
    const struct rate rates[] = {
        { "step, median", before->median_s, now->median_s, true, quantity_seconds },
        { "step, 90th percentile", before->p90_s, now->p90_s, true, quantity_seconds },
        { "step, best", before->best_s, now->best_s, true, quantity_seconds },
        { "steps a second", before->steps_per_s, now->steps_per_s, false, quantity_count },
        { "samples a second", before->samples_per_s, now->samples_per_s, false, quantity_count },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rates); i++)
        add_rate(p, &rates[i]);
}

/* The titles are what the two runs are called. */
static void add_table(struct report *p, const char *before_title, const char *now_title)
{
    struct step_stats before, now;
    size_t shown, left_out = 0;
    int rc = step_stats_run(p->last, &before);

    if (rc == 0)
        rc = step_stats_run(p->run, &now);
    if (rc != 0) {
        str_fail(p->out, rc);
        return;
    }
    str_add(p->out, "<div class=\"scroll\" tabindex=\"0\"><table>\n<caption>Against ");
    report_text(p, p->last->id ? p->last->id : "the last run of this name", 60);
    str_addf(p->out,
             ". Rates are those of the whole runs.</caption>\n<thead><tr>"
             "<th scope=\"col\">what</th><th scope=\"col\">%s</th>"
             "<th scope=\"col\">%s</th><th scope=\"col\" class=\"n\">change</th></tr>"
             "</thead>\n<tbody>\n",
             before_title, now_title);
    add_rates(p, &before, &now);
    if (!same(p->last->command, p->run->command))
        add_change(p, "command", p->last->command, p->run->command);
    if (!same(p->last->host, p->run->host))
        add_change(p, "host", p->last->host, p->run->host);
    shown = add_environment(p, p->run, false, ROWS, &left_out);
    shown += add_environment(p, p->last, true, ROWS - shown, &left_out);
    str_add(p->out, "</tbody></table></div>\n");
    if (left_out)
        str_addf(p->out, "<p class=\"dim\">%zu more differences are not shown.</p>\n", left_out);
    if (!shown)
        str_add(p->out, "<p class=\"dim\">The recorded environment is the same.</p>\n");
}

void report_changes(struct report *p)
{
    report_section(p, "Against the last run of this name");
    if (p->last)
        add_table(p, "last run", "this run");
    else
        report_absent(p, "There is no earlier run of this name to compare with.");
    report_section_end(p);
}

void report_differences(struct report *p)
{
    report_section(p, "What differs");
    add_table(p, "A", "B");
    report_section_end(p);
}
