/* The findings behind the first one, which is the sentence at the top. */
#include <math.h>

#include "model/signal/quantity.h"
#include "render/report/report_private.h"

enum { FINDINGS = 24, SENTENCE = 400, EVIDENCE = 1200, ACTION = 400 };

static void add_chips(struct report *p, const struct verdict_item *item)
{
    str_addf(p->out, "<p><span class=\"chip\">%s</span><span class=\"chip plain\">%s</span>",
             severity_text(item->severity), cause_name(item->cause));
    if (item->share > 0)
        str_addf(p->out, "<span class=\"chip plain\">%s of the step</span>",
                 quantity_share(item->share).text);
    if (item->gain > 1)
        str_addf(p->out, "<span class=\"chip plain\">at most %s times as fast without it</span>",
                 quantity_number(MIN(item->gain, 1e6), 3).text);
    if (!isnan(item->confidence))
        str_addf(p->out, "<span class=\"chip plain\">confidence %s</span>",
                 quantity_share(item->confidence).text);
    if (item->rank >= 0)
        str_addf(p->out, "<span class=\"chip plain\">rank %d</span>", item->rank);
    str_add(p->out, "</p>\n");
}

static void add_finding(struct report *p, size_t number, const struct verdict_item *item)
{
    str_addf(p->out, "<li class=\"card\" data-severity=\"%s\"><h3>%zu. ",
             severity_text(item->severity), number);
    report_text(p, item->sentence ? item->sentence : cause_name(item->cause), SENTENCE);
    str_add(p->out, "</h3>\n");
    add_chips(p, item);
    if (item->evidence) {
        str_add(p->out, "<p class=\"evidence\">Evidence: ");
        report_lines(p, item->evidence, EVIDENCE);
        str_add(p->out, "</p>\n");
    }
    if (item->action) {
        str_add(p->out, "<p class=\"next\"><b>Next:</b> ");
        report_lines(p, item->action, ACTION);
        str_add(p->out, "</p>\n");
    }
    str_add(p->out, "</li>\n");
}

void report_findings(struct report *p)
{
    const struct verdict *v = p->verdict;
    size_t shown = MIN(v->count, (size_t)FINDINGS);

    report_section(p, "Other findings");
    if (v->count < 2)
        report_absent(p, "There are none.");
    else
        str_add(p->out, "<ol class=\"findings\">\n");
    for (size_t i = 1; i < shown; i++)
        add_finding(p, i + 1, &v->items[i]);
    if (v->count >= 2)
        str_add(p->out, "</ol>\n");
    if (v->count > shown)
        str_addf(p->out, "<p class=\"dim\">%zu more are not shown.</p>\n", v->count - shown);
    report_section_end(p);
}
