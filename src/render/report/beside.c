#include "render/report/beside.h"

#include "render/report/plot.h"
#include "render/report/report_private.h"

/* Of each run: see report.c. */
enum { TEXT_MAX = 60 << 10 };

static void add_name(struct report *p, const char *letter)
{
    str_addf(p->out, "<p class=\"side\"><b>%s</b> ", letter);
    report_text(p, p->run->name ? p->run->name : "a run without a name", 80);
    str_add(p->out, " <span class=\"dim\">");
    report_text(p, p->run->id, 60);
    str_add(p->out, "</span></p>\n");
}

/* A part of both, in two columns; pictures have ids of their own. */
static void add_both(struct report *a, struct report *b, void (*part)(struct report *p))
{
    str_add(a->out, "<div class=\"pair\"><div>\n");
    part(a);
    str_add(a->out, "</div><div>\n");
    b->n_plots = a->n_plots;
    part(b);
    a->n_plots = b->n_plots;
    str_add(a->out, "</div></div>\n");
}

void report_beside(const struct run *a, const struct verdict *va, const struct run *b,
                   const struct verdict *vb, struct str *out)
{
    struct report left = { .run = a, .verdict = va, .out = out, .text_left = TEXT_MAX };
    struct report right = { .run = b, .last = a, .verdict = vb, .out = out, .text_left = TEXT_MAX };

    axis_find(&left);
    axis_find(&right);
    report_head(&left, "two runs");
    str_add(out, "<main class=\"wide\">\n<div class=\"pair\"><div>\n");
    add_name(&left, "A");
    str_add(out, "</div><div>\n");
    add_name(&right, "B");
    str_add(out, "</div></div>\n");
    add_both(&left, &right, report_answer);
    add_both(&left, &right, report_split);
    add_both(&left, &right, report_signals);
    report_differences(&right);
    report_foot(&left);
}
