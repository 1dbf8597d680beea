#include "render/report/report.h"

#include "render/report/plot.h"
#include "render/report/report_private.h"

/* What texts that came with the run may take of REPORT_MAX: pictures and words of ours need less
 * than the rest. */
enum { TEXT_MAX = 120 << 10 };

void report_head(struct report *p, const char *title)
{
    str_addf(p->out,
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
             "<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>%s",
             title ? title : "");
    if (!title)
        report_text(p, p->run->name ? p->run->name : "run", 80);
    str_add(p->out, ": brim report</title>\n<style>\n");
    str_add(p->out, report_style);
    str_addf(p->out, "</style>\n</head>\n<body>\n<header><span class=\"brand\">brim</span> <b>%s",
             title ? title : "");
    if (!title)
        report_text(p, p->run->name ? p->run->name : "a run without a name", 80);
    str_add(p->out, "</b> <span class=\"dim\">");
    if (!title)
        report_text(p, p->run->id, 60);
    str_add(p->out, "</span></header>\n");
}

void report_foot(struct report *p)
{
    str_add(p->out, "</main>\n<footer>brim " BRIM_VERSION ". Pictures are means of equal spans of "
                    "time; what was not measured is left out, not drawn as zero.</footer>\n"
                    "</body>\n</html>\n");
}

void report_html(const struct run *r, const struct verdict *v, const struct run *last,
                 struct str *out)
{
    struct report p = { .run = r, .last = last, .verdict = v, .out = out, .text_left = TEXT_MAX };

    axis_find(&p);
    report_head(&p, NULL);
    str_add(out, "<main>\n");
    report_gained(&p);
    report_answer(&p);
    report_line(&p);
    report_where(&p);
    report_split(&p);
    report_heat(&p);
    report_rank_table(&p);
    report_signals(&p);
    report_findings(&p);
    report_environment(&p);
    report_changes(&p);
    report_foot(&p);
}
