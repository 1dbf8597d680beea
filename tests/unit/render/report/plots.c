/* The parts of a picture by themselves: ticks of axes of all lengths, columns of times, paths, the
 * levels of ranks, durations and figures of steps.
 *
 *     t_render_report_plots FILE */
#include <math.h>

#include "golden.h"
#include "model/signal/quantity.h"
#include "render/report/plot.h"
#include "render/report/stats.h"

enum { ROOM = 4 << 20, RANKS = 5, STEPS = 24 };

static void add_ticks(struct str *out)
{
    static const double digits[] = { 1, 1.4, 1.6, 2, 2.4, 2.6, 3, 4, 4.9, 5, 5.1, 6, 7.5, 9, 9.9 };

    for (int power = -4; power < 9; power++)
        for (size_t i = 0; i < ARRAY_SIZE(digits); i++) {
            CLEANUP(str_done) struct str text = STR_INIT(ROOM);
            struct report p = { .out = &text, .length_s = digits[i] * pow(10, power) };
            const struct plot f = { "c", "t", "d", NULL, NULL, 100, 10, NULL, NULL };
            const char *at;

            plot_end(&p, &f);
            str_addf(out, "axis of %g s", p.length_s);
            for (at = strstr(str_text(&text), "M"); at && *at != '"'; at++)
                str_add_char(out, *at == '\n' ? ' ' : *at);
            for (at = strstr(str_text(&text), "left:"); at; at = strstr(at + 1, "left:"))
                str_addf(out, " %.*s", (int)strcspn(at + 5, "<"), at + 5);
            str_add_char(out, '\n');
        }
}

static void add_frames(struct str *out)
{
    static const struct plot plots[] = {
        { "c", "title", "a < b", "10", "1", 7, 3, "<i>x</i>", "height:5px" },
        { "d", "other", "", "10", NULL, 8, 4, NULL, NULL },
        { "e", "third", "", NULL, "1", 9, 5, NULL, NULL },
    };
    struct report p = { .out = out, .length_s = 0 };

    for (size_t i = 0; i < ARRAY_SIZE(plots); i++) {
        plot_begin(&p, &plots[i]);
        plot_end(&p, &plots[i]);
    }
}

static void add_spans(struct str *out)
{
    static const double times[] = { 9.99, 10, 10.01, 35, 36, 60, 109.99, 110, 110.9, 111.2, 121 };
    static const size_t columns[] = { 1, 10, 100 };
    const struct report p = { .begin_s = 10, .length_s = 100 }, none = { .begin_s = 10 };
    struct span s = { 77, 77 };

    for (size_t k = 0; k < ARRAY_SIZE(columns); k++)
        for (size_t i = 0; i < ARRAY_SIZE(times); i++)
            for (size_t j = 0; j < ARRAY_SIZE(times); j++)
                if (axis_span(&p, times[i], times[j], columns[k], &s))
                    str_addf(out, "%g to %g of %zu: %zu to %zu\n", times[i], times[j], columns[k],
                             s.from, s.to);
                else
                    str_addf(out, "%g to %g of %zu: not on it\n", times[i], times[j], columns[k]);
    str_addf(out, "%d %d\n", axis_span(&none, 10, 10, 5, &s),
             axis_span(&p, (double)NAN, (double)NAN, 5, &s));
}

static void add_paths(struct str *out)
{
    static const double rows[][6] = {
        { 0, 0.25, 0.25, 0.5, 1, 2 },
        { (double)NAN, 0.5, (double)NAN, (double)NAN, 0.1, (double)NAN },
        { 0.5, 0.5, (double)INFINITY, 0.5, 0.5001, -1 },
        { (double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN },
    };
    static const double tops[] = { 1, 0.5, 0 };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        for (size_t t = 0; t < ARRAY_SIZE(tops); t++) {
            struct column c[6] = { { .count = 0 } };

            for (size_t k = 0; k < ARRAY_SIZE(c); k++) {
                column_add(&c[k], rows[i][k]);
                column_add(&c[k], rows[(i + 1) % ARRAY_SIZE(rows)][k]);
                column_add(&c[k], rows[(i + 2) % ARRAY_SIZE(rows)][k]);
                str_addf(out, "%g/%g/%g/%g ", c[k].count, column_mean(&c[k]), c[k].min, c[k].max);
            }
            path_area(out, "a", rows[i], 6, tops[t]);
            path_line(out, "l", rows[i], 6, tops[t]);
            path_line(out, "s", rows[i], 3, tops[t]);
            path_band(out, "b", c, 6, tops[t]);
            c[2] = c[1];
            c[4].count = 0;
            path_band(out, "b", c, 5, tops[t]);
        }
}

/* Ranks whose steps take that many times as long as the first one's. */
static void add_levels(struct str *out, size_t n_ranks, int first)
{
    static const double ratios[] = { 0.5,  0.79, 0.8,  0.81, 0.94, 0.95, 0.96, 1,
                                     1.04, 1.05, 1.06, 1.19, 1.2,  1.21, 1.49, 1.5,
                                     1.51, 1.9,  1.99, 2.0,  2.01, 3,    9,    0 };
    static struct step steps[RANKS][STEPS];
    struct run_rank ranks[RANKS] = { { .rank = 0 } };
    struct run run = { .ranks = ranks, .n_ranks = n_ranks };
    struct report p = { .run = &run, .out = out };

    for (size_t r = 0; r < n_ranks; r++) {
        ranks[r] = (struct run_rank){ .rank = first + (int)r, .steps = steps[r], .n_steps = STEPS };
        for (size_t i = 0; i < STEPS; i++) {
            double x = r + 1 == n_ranks ? ratios[i] : 1;

            steps[r][i] = (struct step){ .number = i };
            steps[r][i].begin_ns = (int64_t)i * 10000000000;
            steps[r][i].end_ns = steps[r][i].begin_ns + (int64_t)(x * 1e9);
            steps[r][i].host_s[BRIM_STAGE_COMMUNICATION] = i == 3 ? 0.25 : i == 5 ? 99 : 0;
        }
    }
    axis_find(&p);
    str_addf(out, "%zu ranks from %d on: %g and %g s\n", n_ranks, first, p.begin_s, p.length_s);
    report_heat(&p);
    str_add_char(out, '\n');
}

static void add_durations(struct str *out)
{
    static const double seconds[] = { 0,      1e-7,  1e-4,  9.994e-4, 0.01,   0.0994, 0.9,
                                      0.9996, 1,     9.94,  9.96,     59.4,   59.96,  60,
                                      61,     119.4, 119.6, 3599.4,   3599.6, 3600,   3659.6,
                                      7199,   86399, 86400, 90000,    172800, 1e7,    -1 };

    for (size_t i = 0; i < ARRAY_SIZE(seconds); i++)
        str_addf(out, "%g s: %s\n", seconds[i], report_duration(seconds[i]).text);
    str_addf(out, "no number: %s\n", report_duration((double)NAN).text);
}

static void add_quantiles(struct str *out)
{
    static const double shares[] = { 0, 0.1, 0.49, 0.5, 0.51, 0.9, 1 };

    for (size_t n = 0; n < 6; n++) {
        double values[] = { 5, 1, 4, 2, 3, 9 };

        for (size_t i = 0; i < ARRAY_SIZE(shares); i++)
            str_addf(out, " %g", stats_quantile(values, n, shares[i]));
        str_add_char(out, '\n');
    }
}

int main(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);

    if (argc < 2)
        return 1;
    add_ticks(&out);
    add_frames(&out);
    add_spans(&out);
    add_paths(&out);
    add_levels(&out, 2, 0);
    add_levels(&out, RANKS, 3);
    add_levels(&out, 3, -1);
    add_durations(&out);
    add_quantiles(&out);
    is_int(str_error(&out), 0, "the text of all parts has room");
    golden(argv[1], str_text(&out));
    return done();
}
