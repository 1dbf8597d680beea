/* How the split of steps changes over time. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/str.h"
#include "model/signal/quantity.h"
#include "render/report/plot.h"
#include "render/report/stats.h"

enum { COLUMNS = 600 };

struct split {
    struct column total[COLUMNS];
    struct column stage[BRIM_STAGES][COLUMNS];
    uint64_t dropped;
    double means[COLUMNS]; /* of the total; then work space */
    double sorted[COLUMNS];
};

static void collect(const struct report *p, struct split *s)
{
    for (size_t i = 0; i < p->run->n_ranks; i++) {
        const struct run_rank *k = &p->run->ranks[i];

        s->dropped += k->dropped;
        for (size_t j = 0; j < k->n_steps; j++) {
            struct span span;

            if (!axis_step(p, &k->steps[j], COLUMNS, &span))
                continue;
            for (size_t c = span.from; c <= span.to; c++) {
                column_add(&s->total[c], stats_step_seconds(&k->steps[j]));
                for (unsigned stage = 0; stage < BRIM_STAGES; stage++)
                    column_add(&s->stage[stage][c], k->steps[j].host_s[stage]);
            }
        }
    }
}

/* The scale. Where a few columns are far above the others (checkpoints, a slow start) it ends at
 * 'usual' times what three of four columns stay below, so that they do not flatten the rest. */
static const double usual = 2.5;

struct scale {
    double top, most, longest;
    size_t cut; /* columns that are higher */
};

static struct scale find_scale(struct split *s)
{
    struct scale scale = { .top = 0 };
    size_t n = 0;
    double high;

    for (size_t c = 0; c < COLUMNS; c++) {
        s->means[c] = column_mean(&s->total[c]);
        if (s->total[c].count > 0)
            scale.longest = MAX(scale.longest, s->total[c].max);
        if (isfinite(s->means[c]))
            s->sorted[n++] = s->means[c];
    }
    if (!n)
        return scale;
    high = stats_quantile(s->sorted, n, 0.75) * usual;
    scale.most = s->sorted[n - 1];
    scale.top = scale.most > high * 1.5 ? high : scale.most * 1.05;
    while (scale.cut < n && s->sorted[n - 1 - scale.cut] > scale.top)
        scale.cut++;
    return scale;
}

/* From the top of the stack down, each area from its upper edge to the ground: what is below paints
 * over it. */
static void add_areas(struct report *p, struct split *s, double top)
{
    char class[16];

    for (unsigned upper = BRIM_STAGES; upper-- > 0;) {
        unsigned stage = report_stage_at(upper);

        for (size_t c = 0; c < COLUMNS; c++) {
            double sum = 0;

            for (unsigned i = 0; i <= upper; i++) {
                double mean = column_mean(&s->stage[report_stage_at(i)][c]);

                sum += mean > 0 ? mean : 0;
            }
            if (stage == BRIM_STAGE_OTHER && s->total[c].count > 0)
                sum = MAX(sum, column_mean(&s->total[c])); /* what no stage tells */
            s->means[c] = s->total[c].count > 0 ? sum : (double)NAN;
        }
        snprintf(class, sizeof(class), "s%u", stage);
        str_addf(p->out, "<g style=\"fill:var(--s%u)\">", stage);
        path_area(p->out, class, s->means, COLUMNS, top);
        str_add(p->out, "</g>\n");
    }
}

/* Behind the stack, so that it does not change its colours: it is seen above the mean only. */
static void add_most(struct report *p, struct split *s, double top)
{
    for (size_t c = 0; c < COLUMNS; c++)
        s->means[c] = s->total[c].count > 0 ? s->total[c].max : (double)NAN;
    path_area(p->out, "spread", s->means, COLUMNS, top);
    path_line(p->out, "most", s->means, COLUMNS, top);
}

static void add_least(struct report *p, struct split *s, double top)
{
    for (size_t c = 0; c < COLUMNS; c++)
        s->means[c] = s->total[c].count > 0 ? s->total[c].min : (double)NAN;
    path_line(p->out, "least", s->means, COLUMNS, top);
}

static bool knows_stages(const struct split *s)
{
    for (unsigned stage = 0; stage < BRIM_STAGES; stage++)
        for (size_t c = 0; c < COLUMNS; c++)
            if (stage != BRIM_STAGE_OTHER && s->stage[stage][c].sum > 0)
                return true;
    return false;
}

static void add_legend(struct report *p, bool stages)
{
    str_add(p->out, "<ul class=\"legend\">\n");
    for (unsigned i = 0; stages && i < BRIM_STAGES; i++)
        str_addf(p->out, "<li><i style=\"background:var(--s%u)\"></i>%s</li>\n", report_stage_at(i),
                 report_stage_title(report_stage_at(i)));
    str_add(p->out,
            "<li><i style=\"background:var(--text);opacity:.3\"></i>up to the longest step of "
            "a column (line in the stack: the shortest)</li>\n</ul>\n");
}

static void draw(struct report *p, struct split *s, const struct scale *scale)
{
    CLEANUP(str_done) struct str desc = STR_INIT(512);
    struct quantity label = quantity_seconds(scale->top);
    bool stages = knows_stages(s);
    struct plot f = { "tall",     stages ? "Seconds of a step by stage" : "Seconds of a step",
                      NULL,       label.text,
                      "0",        COLUMNS,
                      PLOT_HEIGHT };

    str_add(&desc,
            "from below in the order of the legend; mean over the steps of all ranks, against "
            "the time since the first one");
    if (scale->cut)
        str_addf(&desc, "; %zu of %d columns are higher than shown", scale->cut, COLUMNS);
    str_addf(&desc, "; the longest single step takes %s", report_duration(scale->longest).text);
    str_fail(p->out, str_error(&desc));
    f.desc = str_text(&desc);
    plot_begin(p, &f);
    add_most(p, s, scale->top);
    add_areas(p, s, scale->top);
    add_least(p, s, scale->top);
    plot_end(p, &f);
    add_legend(p, stages);
    if (s->dropped)
        str_addf(
            p->out,
            "<p class=\"dim\">%s steps between the first and the last ones were not kept one by "
            "one: the picture has a gap there.</p>\n",
            quantity_count((double)s->dropped).text);
}

void report_split(struct report *p)
{
    CLEANUP(freep) struct split *s = calloc(1, sizeof(*s));
    struct scale scale;

    if (!s) {
        str_fail(p->out, -ENOMEM);
        return;
    }
    collect(p, s);
    scale = find_scale(s);
    report_section(p, "The split over time");
    if (scale.top > 0)
        draw(p, s, &scale);
    else
        report_absent(p, "No step was seen.");
    report_section_end(p);
}
