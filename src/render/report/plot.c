#include "render/report/plot.h"

#include <math.h>

#include "render/text.h"

void column_add(struct column *c, double value)
{
    if (!isfinite(value))
        return;
    c->min = c->count > 0 ? MIN(c->min, value) : value;
    c->max = c->count > 0 ? MAX(c->max, value) : value;
    c->sum += value;
    c->count++;
}

double column_mean(const struct column *c)
{
    return c->count > 0 ? c->sum / c->count : (double)NAN;
}

static void widen(double *least, double *most, double begin_s, double end_s)
{
    if (!isfinite(begin_s) || !isfinite(end_s) || end_s < begin_s)
        return;
    *least = isnan(*least) ? begin_s : MIN(*least, begin_s);
    *most = isnan(*most) ? end_s : MAX(*most, end_s);
}

void axis_find(struct report *p)
{
    const struct run *r = p->run;
    double least = (double)NAN, most = (double)NAN;

    for (size_t i = 0; i < r->n_ranks; i++) {
        const struct run_rank *k = &r->ranks[i];

        if (k->n_steps)
            widen(&least, &most, (double)k->steps[0].begin_ns * 1e-9,
                  (double)k->steps[k->n_steps - 1].end_ns * 1e-9);
    }
    for (size_t i = 0; i < r->n_moments; i++) {
        const struct run_moment *m = &r->moments[i];

        widen(&least, &most, (double)m->monotonic_ns * 1e-9 - m->seconds,
              (double)m->monotonic_ns * 1e-9);
    }
    p->begin_s = least;
    p->length_s = most > least ? most - least : 0;
}

bool axis_span(const struct report *p, double begin_s, double end_s, size_t n, struct span *out)
{
    double from = (begin_s - p->begin_s) / p->length_s * (double)n;
    double to = ceil((end_s - p->begin_s) / p->length_s * (double)n) - 1;

    if (!(p->length_s > 0) || !(end_s >= begin_s) || !(from >= 0) || !(to < (double)n + 1))
        return false;
    out->from = MIN((size_t)from, n - 1);
    out->to = to > from ? MIN((size_t)to, n - 1) : out->from;
    return true;
}

bool axis_step(const struct report *p, const struct step *s, size_t n, struct span *out)
{
    return axis_span(p, (double)s->begin_ns * 1e-9, (double)s->end_ns * 1e-9, n, out);
}

bool axis_moment(const struct report *p, const struct run_moment *m, size_t n, struct span *out)
{
    double end_s = (double)m->monotonic_ns * 1e-9;

    return axis_span(p, end_s - m->seconds, end_s, n, out);
}

/* ---- the frame ---- */

/* Where labels stand: the least of these that gives at most TICKS of them, with the unit that they
 * are written in. */
enum { TICKS = 5 };

static const struct tick_step {
    double seconds, unit;
    const char *name;
} tick_steps[] = {
    { 1e-3, 1e-3, "ms" },   { 2e-3, 1e-3, "ms" },   { 5e-3, 1e-3, "ms" },    { 0.01, 1e-3, "ms" },
    { 0.02, 1e-3, "ms" },   { 0.05, 1e-3, "ms" },   { 0.1, 1e-3, "ms" },     { 0.2, 1e-3, "ms" },
    { 0.5, 1e-3, "ms" },    { 1, 1, "s" },          { 2, 1, "s" },           { 5, 1, "s" },
    { 10, 1, "s" },         { 20, 1, "s" },         { 30, 1, "s" },          { 60, 60, "min" },
    { 120, 60, "min" },     { 300, 60, "min" },     { 600, 60, "min" },      { 1200, 60, "min" },
    { 1800, 60, "min" },    { 3600, 3600, "h" },    { 7200, 3600, "h" },     { 10800, 3600, "h" },
    { 21600, 3600, "h" },   { 43200, 3600, "h" },   { 86400, 86400, "d" },   { 172800, 86400, "d" },
    { 432000, 86400, "d" }, { 864000, 86400, "d" }, { 2592000, 86400, "d" },
};

static const struct tick_step *find_ticks(double length_s)
{
    for (size_t i = 0; i < ARRAY_SIZE(tick_steps); i++)
        if (length_s / tick_steps[i].seconds <= TICKS)
            return &tick_steps[i];
    return NULL;
}

void plot_begin(struct report *p, const struct plot *f)
{
    unsigned id = ++p->n_plots;

    str_addf(p->out, "<figure class=\"%s\">\n<figcaption><b>%s</b> <span>", f->class, f->title);
    text_add_xml(p->out, f->desc);
    str_add(p->out, "</span></figcaption>\n<div class=\"plot\"><div class=\"y\">");
    if (f->top)
        str_addf(p->out, "<span>%s</span><span>%s</span>", f->top, f->below ? f->below : "0");
    str_add(p->out, f->labels ? f->labels : "");
    str_addf(
        p->out,
        "</div>\n<svg style=\"%s\" viewBox=\"0 0 %zu %u\" preserveAspectRatio=\"none\" role=\"img\""
        " aria-labelledby=\"t%u\" aria-describedby=\"d%u\"><title id=\"t%u\">%s</title>"
        "<desc id=\"d%u\">",
        f->style ? f->style : "", f->columns, f->height, id, id, id, f->title, id);
    text_add_xml(p->out, f->desc);
    str_add(p->out, "</desc>\n");
}

void plot_end(struct report *p, const struct plot *f)
{
    const struct tick_step *t = find_ticks(p->length_s);

    plot_trials(p, f->columns, f->height);
    str_add(p->out, "<path class=\"grid\" d=\"M0 0");
    for (int i = 1; t && i * t->seconds < p->length_s; i++)
        str_addf(p->out, "M%.1f 0v%u", i * t->seconds / p->length_s * (double)f->columns,
                 f->height);
    str_add(p->out, "\"/></svg></div>\n<div class=\"x\"><span style=\"left:0\">0</span>");
    for (int i = 1; t && i * t->seconds < p->length_s * 0.97; i++)
        str_addf(p->out, "<span style=\"left:%.1f%%\">%.0f %s</span>",
                 i * t->seconds / p->length_s * 100, i * t->seconds / t->unit, t->name);
    str_add(p->out, "</div></figure>\n");
}

/* ---- paths ---- */

static int height(double value, double top)
{
    double share = top > 0 ? value / top : 0;

    return PLOT_HEIGHT - (int)(PLOT_HEIGHT * MIN(MAX(share, 0.0), 1.0) + 0.5);
}

/* The end of the run of finite values that begins at i. */
static size_t run_end(const double *values, size_t i, size_t n)
{
    while (i < n && isfinite(values[i]))
        i++;
    return i;
}

/* "V240H7V250H8...": a flight of steps over the columns from..to-1; like ones are one. */
static void add_stairs(struct str *out, const double *values, struct span s, double top)
{
    for (size_t i = s.from; i < s.to; i++) {
        int y = height(values[i], top);

        while (i + 1 < s.to && height(values[i + 1], top) == y)
            i++;
        str_addf(out, "V%dH%zu", y, i + 1);
    }
}

void path_area(struct str *out, const char *class, const double *values, size_t n, double top)
{
    str_addf(out, "<path class=\"%s\" d=\"M0 %d", class, PLOT_HEIGHT);
    for (size_t i = 0, end; i < n; i = end + 1) {
        end = run_end(values, i, n);
        if (end == i)
            continue;
        str_addf(out, "M%zu %d", i, PLOT_HEIGHT);
        add_stairs(out, values, (struct span){ i, end }, top);
        str_addf(out, "V%dz", PLOT_HEIGHT);
    }
    str_add(out, "\"/>\n");
}

void path_line(struct str *out, const char *class, const double *values, size_t n, double top)
{
    str_addf(out, "<path class=\"%s\" d=\"M0 0", class);
    for (size_t i = 0, end; i < n; i = end + 1) {
        end = run_end(values, i, n);
        if (end == i)
            continue;
        str_addf(out, "M%zu %d", i, height(values[i], top));
        add_stairs(out, values, (struct span){ i, end }, top);
    }
    str_add(out, "\"/>\n");
}

void path_band(struct str *out, const char *class, const struct column *c, size_t n, double top)
{
    str_addf(out, "<path class=\"%s\" d=\"M0 0", class);
    for (size_t i = 0, end; i < n; i = end) {
        int high = height(c[i].max, top), low = height(c[i].min, top);

        end = i + 1;
        if (!(c[i].count > 0) || high == low)
            continue;
        while (end < n && c[end].count > 0 && height(c[end].max, top) == high &&
               height(c[end].min, top) == low)
            end++;
        str_addf(out, "M%zu %dH%zuV%dH%zuz", i, high, end, low, i);
    }
    str_add(out, "\"/>\n");
}
