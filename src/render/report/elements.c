/* What the parts of a report are made of. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/signal/quantity.h"
#include "render/report/report_private.h"
#include "render/text.h"

struct quantity report_duration(double seconds)
{
    static const struct {
        double unit, part;
        const char *unit_name, *part_name;
    } units[] = {
        { 86400, 3600, "d", "h" },
        { 3600, 60, "h", "min" },
        { 60, 1, "min", "s" },
    };
    double whole = floor(seconds + 0.5), big;
    struct quantity q = quantity_seconds(seconds);

    if (!isfinite(seconds) || seconds < 99.5 || seconds > 1e9)
        return q;
    for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
        if (whole < units[i].unit)
            continue;
        big = floor(whole / units[i].unit);
        snprintf(q.text, sizeof(q.text), "%.0f %s %02.0f %s", big, units[i].unit_name,
                 floor((whole - big * units[i].unit) / units[i].part), units[i].part_name);
        break;
    }
    return q;
}

void report_section(struct report *p, const char *title)
{
    str_addf(p->out, "<section>\n<h2>%s</h2>\n", title);
}

void report_section_end(struct report *p)
{
    str_add(p->out, "</section>\n");
}

void report_absent(struct report *p, const char *sentence)
{
    str_addf(p->out, "<p class=\"absent\">%s</p>\n", sentence);
}

void report_text(struct report *p, const char *text, size_t columns)
{
    CLEANUP(str_done) struct str clipped = STR_INIT(columns * 4 + sizeof("…"));
    size_t before = p->out->len;

    if (!text || !*text)
        return;
    if (!p->text_left) {
        str_add(p->out, "…");
        return;
    }
    text_add_clipped(&clipped, text, columns);
    str_fail(p->out, str_error(&clipped));
    text_add_xml(p->out, str_text(&clipped));
    p->text_left -= MIN(p->out->len - before, p->text_left);
}

void report_lines(struct report *p, const char *text, size_t columns)
{
    while (text && *text && p->text_left) {
        CLEANUP(str_done) struct str one = STR_INIT(columns * 4 + 1);
        size_t len = strcspn(text, "\n");

        /* A line longer than that is cut anyway. */
        str_add_n(&one, text, MIN(len, columns * 4));
        str_fail(p->out, str_error(&one));
        report_text(p, str_text(&one), len > columns * 4 ? columns - 1 : columns);
        text += len + (text[len] == '\n');
        if (*text)
            str_add(p->out, "<br/>");
        p->text_left -= MIN(p->text_left, sizeof("<br/>"));
    }
}

void report_row(struct report *p, const char *name, const char *value)
{
    str_add(p->out, "<tr><th scope=\"row\">");
    report_text(p, name, 60);
    str_add(p->out, "</th><td>");
    if (value && *value)
        report_text(p, value, 400);
    else
        str_add(p->out, "<span class=\"absent\">not known</span>");
    str_add(p->out, "</td></tr>\n");
}
