/* Ranks over time: how much slower each is than the median of all at the same time. Time in
 * communication is left out: there the others wait for a slow one, so that with it all look
 * alike. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/str.h"
#include "render/report/plot.h"
#include "render/report/stats.h"

/* More ranks share rows, of which the slowest shows. */
enum { COLUMNS = 150, ROWS = 64, LEVELS = 7, LABELS = 16 };

struct heat {
    const struct run_rank **ranks; /* in their order */
    size_t n_ranks, n_rows;
    double (*cells)[COLUMNS]; /* by rank: the step time, then that against the median; NaN */
    double *sorted;           /* room for a value of each rank */
    struct column rows[ROWS][COLUMNS];
};

/* Where levels begin, by step time to the median's. */
static const struct {
    double from;
    const char *text;
} levels[LEVELS] = {
    { 0, "below 0.8" },    { 0.8, "0.8 to 0.95" }, { 0.95, "within 5 %" }, { 1.05, "1.05 to 1.2" },
    { 1.2, "1.2 to 1.5" }, { 1.5, "1.5 to 2" },    { 2, "2 and more" },
};

static unsigned level_of(double value)
{
    unsigned level = LEVELS - 1;

    while (level && !(value >= levels[level].from))
        level--;
    return level;
}

static double own_seconds(const struct step *s)
{
    double seconds = stats_step_seconds(s), waits = s->host_s[BRIM_STAGE_COMMUNICATION];

    return waits > 0 ? MAX(seconds - waits, 0.0) : seconds;
}

static void collect_rank(const struct report *p, const struct run_rank *k, double *cells)
{
    struct column columns[COLUMNS] = { { .count = 0 } };

    for (size_t i = 0; i < k->n_steps; i++) {
        struct span span;

        if (!axis_step(p, &k->steps[i], COLUMNS, &span))
            continue;
        for (size_t c = span.from; c <= span.to; c++)
            column_add(&columns[c], own_seconds(&k->steps[i]));
    }
    for (size_t c = 0; c < COLUMNS; c++)
        cells[c] = column_mean(&columns[c]);
}

/* Divide a column by its median, where two ranks have steps; by one of 0 nothing comes of it. */
static void relate(struct heat *h, size_t c)
{
    size_t n = 0;
    double median;

    for (size_t i = 0; i < h->n_ranks; i++)
        if (isfinite(h->cells[i][c]))
            h->sorted[n++] = h->cells[i][c];
    median = stats_quantile(h->sorted, n, 0.5);
    for (size_t i = 0; i < h->n_ranks; i++)
        if (n > 1)
            column_add(&h->rows[i * h->n_rows / h->n_ranks][c], h->cells[i][c] / median);
}

static int collect(const struct report *p, struct heat *h)
{
    h->n_ranks = p->run->n_ranks;
    h->n_rows = MIN(h->n_ranks, (size_t)ROWS);
    h->ranks = stats_ranks(p->run);
    h->cells = calloc(h->n_ranks, sizeof(*h->cells));
    h->sorted = calloc(h->n_ranks, sizeof(*h->sorted));
    if (!h->ranks || !h->cells || !h->sorted)
        return -ENOMEM;
    for (size_t i = 0; i < h->n_ranks; i++)
        collect_rank(p, h->ranks[i], h->cells[i]);
    for (size_t c = 0; c < COLUMNS; c++)
        relate(h, c);
    return 0;
}

static void heat_free(struct heat *h)
{
    free(h->ranks);
    free(h->cells);
    free(h->sorted);
    free(h);
}
DEFINE_CLEANUP(struct heat, heat_free)

/* All cells of a level are one path. */
static void add_level(struct report *p, const struct heat *h, unsigned level)
{
    str_addf(p->out, "<path style=\"stroke:var(--h%u)\" d=\"M0 0", level);
    for (size_t row = 0; row < h->n_rows; row++)
        for (size_t c = 0, end; c < COLUMNS; c = end) {
            const struct column *cells = h->rows[row];

            end = c + 1;
            if (!(cells[c].count > 0) || level_of(cells[c].max) != level)
                continue;
            while (end < COLUMNS && cells[end].count > 0 && level_of(cells[end].max) == level)
                end++;
            str_addf(p->out, "M%zu %zu.5h%zu", c, row, end - c);
        }
    str_add(p->out, "\"/>\n");
}

static void add_labels(struct report *p, const struct heat *h)
{
    size_t each = (h->n_rows + LABELS - 1) / LABELS;

    for (size_t row = 0; row < h->n_rows; row += each) {
        size_t first = (row * h->n_ranks + h->n_rows - 1) / h->n_rows;

        str_addf(p->out, "<i style=\"top:%.1f%%\">", ((double)row + 0.5) * 100 / (double)h->n_rows);
        if (h->ranks[first]->rank >= 0)
            str_addf(p->out, "%d</i>", h->ranks[first]->rank);
        else
            str_addf(p->out, "#%zu</i>", first);
    }
}

static void add_legend(struct report *p)
{
    str_add(p->out, "<ul class=\"legend\">\n");
    for (unsigned i = 0; i < LEVELS; i++)
        str_addf(p->out, "<li><i style=\"background:var(--h%u)\"></i>%s</li>\n", i, levels[i].text);
    str_add(p->out, "<li><i style=\"background:var(--bg)\"></i>no step</li>\n</ul>\n");
}

static void draw(struct report *p, const struct heat *h)
{
    CLEANUP(str_done) struct str labels = STR_INIT(8192), desc = STR_INIT(512);
    struct str *out = p->out;
    char style[64];
    struct plot f = { "heat",
                      "Step time without communication, against the median of all ranks",
                      NULL,
                      NULL,
                      NULL,
                      COLUMNS,
                      (unsigned)h->n_rows };

    str_addf(&desc,
             "a row for each rank, against the time since the first step; 1 is the median of "
             "that moment");
    if (h->n_ranks > h->n_rows)
        str_addf(&desc, "; %zu ranks share %zu rows, and the slowest shows", h->n_ranks, h->n_rows);
    str_fail(out, str_error(&desc));
    f.desc = str_text(&desc);
    p->out = &labels;
    add_labels(p, h);
    p->out = out;
    str_fail(out, str_error(&labels));
    snprintf(style, sizeof(style), "height:%zupx",
             MAX(h->n_rows * (h->n_rows > 24 ? 8 : 16), (size_t)32));
    f.labels = str_text(&labels);
    f.style = style;
    plot_begin(p, &f);
    for (unsigned level = 0; level < LEVELS; level++)
        add_level(p, h, level);
    plot_end(p, &f);
    add_legend(p);
}

void report_heat(struct report *p)
{
    CLEANUP(heat_freep) struct heat *h = NULL;
    size_t seen = 0;

    if (p->run->n_ranks < 2)
        return;
    h = calloc(1, sizeof(*h));
    if (!h || collect(p, h) < 0) {
        str_fail(p->out, -ENOMEM);
        return;
    }
    for (size_t i = 0; i < h->n_rows * COLUMNS; i++)
        seen += h->rows[i / COLUMNS][i % COLUMNS].count > 0;
    report_section(p, "Ranks over time");
    if (seen)
        draw(p, h);
    else
        report_absent(p, "Steps of two ranks at the same time were not seen: nothing to compare.");
    report_section_end(p);
}
