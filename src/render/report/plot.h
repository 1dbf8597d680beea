/* Pictures over time: columns of a shared axis, and paths through them. They are stretched to the
 * width there is, so their labels are text beside them. Private to src/render. */
#ifndef BRIM_RENDER_REPORT_PLOT_H
#define BRIM_RENDER_REPORT_PLOT_H
#include "render/report/report_private.h"

/* What fell into a column. Start with zeros. */
struct column {
    double count, sum, min, max;
};

/* Values that are not finite are absent. */
void column_add(struct column *c, double value);

/* NaN of an empty one. */
double column_mean(const struct column *c);

/* Columns from..to (both inside). */
struct span {
    size_t from, to;
};

/* Find the time that steps and moments span: they are by one clock, also those of several hosts. */
void axis_find(struct report *p);

/* The columns of n that a time lies in; false when it is not on the axis. */
bool axis_span(const struct report *p, double begin_s, double end_s, size_t n, struct span *out);

/* The columns of a step and of a moment. */
bool axis_step(const struct report *p, const struct step *s, size_t n, struct span *out);
bool axis_moment(const struct report *p, const struct run_moment *m, size_t n, struct span *out);

enum { PLOT_HEIGHT = 1000 };

struct plot {
    const char *class;       /* of the figure */
    const char *title;       /* plain text of ours */
    const char *desc;        /* what is to be seen, in a sentence; escaped by plot_begin() */
    const char *top, *below; /* labels at the upper and lower end; NULL: none */
    size_t columns;
    unsigned height;    /* in the picture's own units */
    const char *labels; /* more of them at the left, as HTML of ours; NULL */
    const char *style;  /* of the <svg>: its height where the class does not tell; NULL */
};

/* A figure up to the inside of its <svg>: the caption is the title and the description. */
void plot_begin(struct report *p, const struct plot *f);

/* Shade where a setting was on trial, and draw a line where one was kept (gained.c). */
void plot_trials(struct report *p, size_t columns, unsigned height);

/* Trials, grid lines, the end of the <svg>, and the axis below it. */
void plot_end(struct report *p, const struct plot *f);

/* Paths through n values, of which 'top' is PLOT_HEIGHT high; those not finite leave a gap. */
void path_area(struct str *out, const char *class, const double *values, size_t n, double top);
void path_line(struct str *out, const char *class, const double *values, size_t n, double top);

/* Between the least and the most of columns. */
void path_band(struct str *out, const char *class, const struct column *c, size_t n, double top);

#endif
