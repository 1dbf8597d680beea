/* Which lines of the job's Python take the time. Nothing where none is known. */
#include "model/job/lines.h"
#include "model/signal/quantity.h"
#include "render/report/report_private.h"

enum { LINE = 200, FILE_NAME = 300 };

static const char *stage_of(const struct verdict_line *l)
{
    if (l->stage == LINES_WORKER)
        return "the loader&apos;s workers";
    return l->stage == LINES_THREAD ? "another thread" : report_stage_title(l->stage);
}

static void add_row(struct report *p, const struct verdict_line *l)
{

    str_add(p->out, "<tr><th scope=\"row\">");
    report_text(p, l->text, LINE);
    str_addf(p->out, "</th><td>%s</td><td>%s</td><td>%s of %u samples</td><td>",
             quantity_share(l->share).text, stage_of(l), quantity_share(l->of_stage).text,
             l->samples);
    report_text(p, l->file, FILE_NAME);
    str_add(p->out, "</td></tr>\n");
}

void report_where(struct report *p)
{
    const struct verdict *v = p->verdict;

    if (!v->n_lines)
        return;
    report_section(p, "Which lines take the time");
    str_add(p->out, "<div class=\"scroll facts\" tabindex=\"0\"><table>\n<thead><tr>"
                    "<th scope=\"col\">line</th><th scope=\"col\">of the time</th>"
                    "<th scope=\"col\">stage</th><th scope=\"col\">of its stage</th>"
                    "<th scope=\"col\">file</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < v->n_lines; i++)
        add_row(p, &v->lines[i]);
    str_add(p->out, "</tbody></table></div>\n");
    report_section_end(p);
}
