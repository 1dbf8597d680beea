#include "render/report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/signal/quantity.h"
#include "render/report/plot.h"
#include "render/report/report_private.h"
#include "render/text.h"

/* What texts that came with the run may take of REPORT_MAX: pictures and words of ours need less
 * than the rest. */
enum { TEXT_MAX = 120 << 10 };

/* The order of an assembly line, which is not that of the numbers. */
static const struct {
    unsigned stage;
    const char *title;
} line[BRIM_STAGES] = {
    { BRIM_STAGE_WAIT, "wait for data" },
    { BRIM_STAGE_COPY, "copy to device" },
    { BRIM_STAGE_FORWARD, "forward" },
    { BRIM_STAGE_BACKWARD, "backward" },
    { BRIM_STAGE_COMMUNICATION, "communication" },
    { BRIM_STAGE_OPTIMIZER, "optimizer" },
    { BRIM_STAGE_CHECKPOINT, "checkpoint" },
    { BRIM_STAGE_OTHER, "other" },
};

unsigned report_stage_at(unsigned place)
{
    return line[place].stage;
}

const char *report_stage_title(unsigned stage)
{
    unsigned place = 0;

    while (place + 1 < BRIM_STAGES && line[place].stage != stage)
        place++;
    return line[place].title;
}

/* The stage that a cause shows in; -1: in whatever takes longest. */
static int stage_of_cause(enum cause c)
{
    switch (c) {
    case CAUSE_STORAGE_BANDWIDTH:
    case CAUSE_STORAGE_LATENCY:
    case CAUSE_SMALL_FILES:
    case CAUSE_STORAGE_CONTENTION:
    case CAUSE_LOADER_CPU:
    case CAUSE_LOADER_WAITS:
    case CAUSE_FEW_WORKERS:
        return BRIM_STAGE_WAIT;
    case CAUSE_PAGEABLE_COPY:
    case CAUSE_PCIE:
        return BRIM_STAGE_COPY;
    case CAUSE_COMMUNICATION:
    case CAUSE_SLOW_LINK:
    case CAUSE_LOSSY_NETWORK:
        return BRIM_STAGE_COMMUNICATION;
    case CAUSE_CHECKPOINT:
        return BRIM_STAGE_CHECKPOINT;
    default:
        return -1;
    }
}

int report_worst_stage(const struct report *p)
{
    const struct verdict *v = p->verdict;
    int worst;

    if (!v->count || v->items[0].cause == CAUSE_NONE || v->items[0].cause == CAUSE_UNKNOWN)
        return -1;
    worst = stage_of_cause(v->items[0].cause);
    if (worst >= 0 && v->share[worst] > 0)
        return worst;
    worst = -1;
    for (int i = 0; i < BRIM_STAGES; i++)
        if (v->share[i] > 0 && (worst < 0 || v->share[i] > v->share[worst]))
            worst = i;
    return worst;
}

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
    text_fail(p->out, str_error(&clipped));
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
        text_fail(p->out, str_error(&one));
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

static void add_head(struct report *p)
{
    str_add(p->out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                    "<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>");
    report_text(p, p->run->name ? p->run->name : "run", 80);
    str_add(p->out, ": brim report</title>\n<style>\n");
    str_add(p->out, report_style);
    str_add(p->out, "</style>\n</head>\n<body>\n<header><span class=\"brand\">brim</span> <b>");
    report_text(p, p->run->name ? p->run->name : "a run without a name", 80);
    str_add(p->out, "</b> <span class=\"dim\">");
    report_text(p, p->run->id, 60);
    str_add(p->out, "</span></header>\n<main>\n");
}

void report_html(const struct run *r, const struct verdict *v, const struct run *last,
                 struct str *out)
{
    struct report p = { .run = r, .last = last, .verdict = v, .out = out, .text_left = TEXT_MAX };

    axis_find(&p);
    add_head(&p);
    report_answer(&p);
    report_line(&p);
    report_split(&p);
    report_heat(&p);
    report_rank_table(&p);
    report_signals(&p);
    report_findings(&p);
    report_environment(&p);
    report_changes(&p);
    str_add(out, "</main>\n<footer>brim " BRIM_VERSION ". Pictures are means of equal spans of "
                 "time; what was not measured is left out, not drawn as zero.</footer>\n"
                 "</body>\n</html>\n");
}
