/* What brim optimize gained, on top of the page, and where it tried settings, in the pictures. */
#include <math.h>

#include "base/str.h"
#include "model/signal/quantity.h"
#include "render/report/plot.h"

enum { SENTENCE_MAX = 64 << 10, SENTENCE = 2000, ROWS = 32, WORD = 60, NOTE = 200 };

static void add_cell(struct report *p, const char *text, size_t columns)
{
    str_add(p->out, "<td>");
    report_text(p, text, columns);
    str_add(p->out, "</td>");
}

static void add_proof(struct report *p, const struct run_trial *k)
{
    str_add(p->out, "<td>");
    if (isnan(k->gain))
        str_add(p->out, "<span class=\"absent\">not measured</span>");
    else
        run_effect_say(k->gain, k->low, k->high, p->run->tuning->goal, p->out);
    str_addf(p->out, "</td><td class=\"n\">%u</td>", k->steps);
}

static void add_row(struct report *p, const struct run_trial *k)
{
    double from_s = (double)k->begin_ns * 1e-9 - p->begin_s;
    double to_s = (double)k->end_ns * 1e-9 - p->begin_s;

    str_add(p->out, "<tr><th scope=\"row\">");
    report_text(p, k->knob, WORD);
    str_add(p->out, "</th>");
    add_cell(p, k->before, WORD);
    add_cell(p, k->value, WORD);
    str_addf(p->out, "<td>%s</td>",
             k->end == RUN_TRIAL_ADOPTED ? "kept" : run_trial_end_name(k->end));
    add_proof(p, k);
    str_add(p->out, "<td class=\"n\">");
    if (k->begin_ns && p->length_s > 0 && from_s >= 0 && to_s >= from_s)
        str_addf(p->out, "%s to %s", report_duration(from_s).text, report_duration(to_s).text);
    str_add(p->out, "</td>");
    add_cell(p, k->note, NOTE);
    str_add(p->out, "</tr>\n");
}

static void add_table(struct report *p)
{
    const struct run_tuning *t = p->run->tuning;

    if (!t->n_trials)
        return;
    str_add(p->out,
            "<ul class=\"legend\"><li><i class=\"trial\"></i>in the pictures: a setting is "
            "on trial</li><li><i class=\"adopted\"></i>one is kept from here on</li></ul>\n"
            "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">setting</th>"
            "<th scope=\"col\">before</th><th scope=\"col\">tried</th>"
            "<th scope=\"col\">outcome</th><th scope=\"col\">proof</th>"
            "<th scope=\"col\" class=\"n\">steps</th>"
            "<th scope=\"col\" class=\"n\">when</th><th scope=\"col\">note</th></tr></thead>"
            "<tbody>\n");
    for (size_t i = 0; i < t->n_trials && i < ROWS; i++)
        add_row(p, &t->trials[i]);
    str_add(p->out, "</tbody></table></div>\n");
}

void report_gained(struct report *p)
{
    CLEANUP(str_done) struct str text = STR_INIT(SENTENCE_MAX);

    if (!p->run->tuning)
        return;
    run_tuning_say(p->run->tuning, &text);
    str_fail(p->out, str_error(&text));
    str_add(p->out, "<section class=\"gained\">\n<div class=\"card\"><h1>");
    report_text(p, str_text(&text), SENTENCE);
    str_add(p->out, "</h1>\n");
    if (p->verdict->stretch_s > 0)
        str_addf(p->out,
                 "<p class=\"evidence\">What follows is judged of %s without a trial%s.</p>\n",
                 report_duration(p->verdict->stretch_s).text,
                 run_tuning_kept_any(p->run->tuning) ? ", with what was kept" : "");
    str_add(p->out, "</div>\n");
    add_table(p);
    report_section_end(p);
}

/* Where a time is on the axis, 0 to 1; outside it is the end. */
static double at_share(const struct report *p, int64_t ns)
{
    return MIN(MAX(((double)ns * 1e-9 - p->begin_s) / p->length_s, 0.0), 1.0);
}

void plot_trials(struct report *p, size_t columns, unsigned height)
{
    const struct run_tuning *t = p->run ? p->run->tuning : NULL;

    for (size_t i = 0; t && p->length_s > 0 && i < t->n_trials && i < ROWS; i++) {
        const struct run_trial *k = &t->trials[i];
        double from = at_share(p, k->begin_ns) * (double)columns;
        double to = k->end_ns ? at_share(p, k->end_ns) * (double)columns : (double)columns;

        if (!k->begin_ns || !(to > from))
            continue;
        str_addf(p->out, "<path class=\"trial\" d=\"M%.1f 0H%.1fV%uH%.1fz\"/>\n", from, to, height,
                 from);
        if (k->end == RUN_TRIAL_ADOPTED)
            str_addf(p->out, "<path class=\"adopted\" d=\"M%.1f 0V%u\"/>\n", to, height);
    }
}
