/* The step as an assembly line: a box for each stage, the one that the verdict is about lit. */
#include <math.h>

#include "model/signal/quantity.h"
#include "render/report/report_private.h"

static void add_stage(struct report *p, unsigned stage, bool worst)
{
    double share = p->verdict->share[stage];
    double percent = isfinite(share) ? MIN(MAX(share, 0.0), 1.0) * 100 : 0;

    str_addf(p->out, "<li%s><span>%s</span>", worst ? " class=\"worst\"" : "",
             report_stage_title(stage));
    if (isfinite(share))
        str_addf(p->out, "<b>%s</b>", quantity_share(share).text);
    else
        str_add(p->out, "<b class=\"absent\">?</b>");
    str_addf(p->out,
             "<span class=\"bar\"><i style=\"width:%.1f%%;background:var(--s%u)\"></i></span>"
             "<small>%s",
             percent, stage, worst ? "limits. " : "");
    if (isfinite(share) && share > 0 && isfinite(p->verdict->step_s))
        str_addf(p->out, "%s a step", quantity_seconds(share * p->verdict->step_s).text);
    str_add(p->out, "</small></li>\n");
}

void report_line(struct report *p)
{
    int worst = report_worst_stage(p);
    bool known = false;

    for (int i = 0; i < BRIM_STAGES; i++)
        known |= p->verdict->share[i] > 0;
    report_section(p, "Where a step&apos;s time goes");
    if (!known) {
        report_absent(p, "Stages of the steps are not known: the job told none.");
    } else {
        str_add(p->out, "<ol class=\"line\">\n");
        for (unsigned i = 0; i < BRIM_STAGES; i++)
            add_stage(p, report_stage_at(i), (int)report_stage_at(i) == worst);
        str_add(p->out, "</ol>\n");
    }
    report_section_end(p);
}
