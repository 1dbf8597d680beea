#include "render/report/sim_page.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/signal/quantity.h"
#include "render/report/plot.h"
#include "render/report/sim_bars.h"
#include "render/text.h"

enum { DESC = 400 };

/* ---- tables ---- */

static void add_row(const struct sim_page_table *t, const char *const *cells, bool head,
                    struct str *out)
{
    str_add(out, "<tr>");
    for (size_t i = 0; i < t->n_columns; i++) {
        const char *tag = head || i == 0 ? "th" : "td";

        str_addf(out, "<%s%s%s>", tag,
                 head     ? " scope=\"col\""
                 : i == 0 ? " scope=\"row\""
                          : "",
                 i ? " class=\"n\"" : "");
        text_add_xml(out, cells[i]);
        str_addf(out, "</%s>", tag);
    }
    str_add(out, "</tr>\n");
}

static void add_table(const struct sim_page_table *t, struct str *out)
{
    if (t->n_rows == 0)
        return;
    str_add(out, "<div class=\"scroll\" tabindex=\"0\">\n<table>\n<caption>");
    text_add_xml(out, t->caption);
    str_add(out, "</caption>\n<thead>");
    add_row(t, t->head, true, out);
    str_add(out, "</thead>\n<tbody>\n");
    for (size_t i = 0; i < t->n_rows; i++)
        add_row(t, t->cells + i * t->n_columns, false, out);
    str_add(out, "</tbody>\n</table>\n</div>\n");
}

/* ---- pictures ---- */

static double most_of(const double *values, size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++)
        most = MAX(most, values[i]);
    return most;
}

/* n > 0 */
static double mean_of(const double *values, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

/* The longest queue of all policies, so that their pictures have one scale. */
static double longest_queue(const struct sim_page *s)
{
    double most = 1;

    for (size_t i = 0; i < s->n; i++)
        most = MAX(most, most_of(s->policies[i].waiting, s->columns));
    return most;
}

static void draw_one(struct report *p, const struct sim_page *s, const char *title,
                     const char *desc, const double *values, double top)
{
    struct quantity label = quantity_count(top);
    struct plot f = { "", title, desc, label.text, "0", s->columns, PLOT_HEIGHT, NULL, NULL };

    plot_begin(p, &f);
    path_area(p->out, "range", values, s->columns, top);
    path_line(p->out, "mean", values, s->columns, top);
    plot_end(p, &f);
}

static void draw_used(struct report *p, const struct sim_page *s, const struct sim_page_policy *y)
{
    char desc[DESC];

    snprintf(desc, sizeof(desc), "of %.0f; in the mean %.0f (%s), at most %.0f", s->devices,
             mean_of(y->used, s->columns),
             quantity_share(mean_of(y->used, s->columns) / s->devices).text,
             most_of(y->used, s->columns));
    draw_one(p, s, "Devices in use", desc, y->used, s->devices);
}

static void draw_queue(struct report *p, const struct sim_page *s, const struct sim_page_policy *y)
{
    char desc[DESC];

    snprintf(desc, sizeof(desc), "in the mean %.1f, at most %.0f", mean_of(y->waiting, s->columns),
             most_of(y->waiting, s->columns));
    draw_one(p, s, "Jobs that wait", desc, y->waiting, longest_queue(s));
}

/* From the top of the stack down, each area to the ground: what is below paints over it. */
static void draw_groups(struct report *p, const struct sim_page *s, const struct sim_page_policy *y)
{
    CLEANUP(freep) double *sums = calloc(s->columns + 1, sizeof(*sums));
    struct quantity label = quantity_count(s->devices);
    char title[64], desc[DESC];
    struct plot f = { "", title, desc, label.text, "0", s->columns, PLOT_HEIGHT, NULL, NULL };

    if (!s->n_groups)
        return;
    if (!sums) {
        str_fail(p->out, -ENOMEM);
        return;
    }
    snprintf(title, sizeof(title), "Devices in use by %s", s->groups_by);
    snprintf(desc, sizeof(desc), "from below in the order of the legend");
    plot_begin(p, &f);
    for (size_t upper = s->n_groups; upper-- > 0;) {
        for (size_t c = 0; c < s->columns; c++) {
            sums[c] = 0;
            for (size_t i = 0; i <= upper; i++)
                sums[c] += y->groups[i][c];
        }
        str_addf(p->out, "<g style=\"fill:var(--s%zu)\">", (upper + 3) % SIM_PAGE_GROUPS);
        path_area(p->out, "", sums, s->columns, s->devices);
        str_add(p->out, "</g>\n");
    }
    plot_end(p, &f);
    str_add(p->out, "<ul class=\"legend\">\n");
    for (size_t i = 0; i < s->n_groups; i++) {
        str_addf(p->out, "<li><i style=\"background:var(--s%zu)\"></i>", (i + 3) % SIM_PAGE_GROUPS);
        text_add_xml(p->out, s->group_names[i]);
        str_addf(p->out, " (%.0f in the mean)</li>\n", mean_of(y->groups[i], s->columns));
    }
    str_add(p->out, "</ul>\n");
}

/* ---- the page ---- */

static void add_head(const struct sim_page *s, struct str *out)
{
    str_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                 "<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>");
    text_add_xml(out, s->title);
    str_add(out, ": brim sim</title>\n<style>\n");
    str_add(out, report_style);
    str_add(out, "</style>\n</head>\n<body>\n<header><span class=\"brand\">brim</span> <b>");
    text_add_xml(out, s->title);
    str_add(out, "</b></header>\n<main>\n<section>\n<div class=\"card\">\n<h1>");
    text_add_xml(out, s->sentence);
    str_add(out, "</h1>\n");
    for (size_t i = 0; i < s->n_notes; i++) {
        str_add(out, "<p class=\"evidence\">");
        text_add_xml(out, s->notes[i]);
        str_add(out, "</p>\n");
    }
    str_add(out, "</div>\n</section>\n");
}

static void add_policy(struct report *p, const struct sim_page *s, const struct sim_page_policy *y)
{
    str_add(p->out, "<section>\n<h2>");
    text_add_xml(p->out, y->name);
    str_add(p->out, "</h2>\n");
    draw_used(p, s, y);
    draw_queue(p, s, y);
    draw_groups(p, s, y);
    add_table(&y->by, p->out);
    report_section_end(p);
}

void sim_page_html(const struct sim_page *s, struct str *out)
{
    struct report p = { .out = out, .length_s = s->seconds };

    add_head(s, out);
    report_section(&p, "Policies side by side");
    sim_page_bars(&s->bars, out);
    add_table(&s->all, out);
    str_add(out, "<p class=\"dim\">");
    text_add_xml(out, s->about);
    str_add(out, "</p>\n");
    report_section_end(&p);
    for (size_t i = 0; i < s->n; i++)
        add_policy(&p, s, &s->policies[i]);
    str_add(out, "</main>\n<footer>brim " BRIM_VERSION ". Pictures are means of equal spans of "
                 "time since the first submission; those of all policies have the same scales."
                 "</footer>\n</body>\n</html>\n");
}
