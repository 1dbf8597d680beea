/* The page about policies is well-formed whatever its texts are; and the columns of its pictures,
 * against a clock that ticks. */
#include <errno.h>
#include <math.h>

#include "html_check.h"
#include "oom.h"
#include "render/report/sim_bars.h"
#include "render/report/sim_page.h"
#include "sim/stats/timeline.h"
#include "tap.h"

static const char hostile[] = "<b>&\"'\x01\xff</script>";

enum { COLUMNS = 5 };

static void render(struct str *out)
{
    static const double used[COLUMNS] = { 0, 4, 8, 8, 1 }, waits[COLUMNS] = { 0, 0, 100, 3, 0 };
    static const double *const groups[] = { used, waits };
    static const char *const names[] = { hostile, "b" };
    static const char *const head[] = { "", hostile };
    static const char *const cells[] = { hostile, "1", "x", hostile };
    const struct sim_page_table table = { hostile, head, cells, 2, 2 };
    const struct sim_page_policy policies[] = { { hostile, used, waits, groups, table },
                                                { "easy", waits, used, groups, { NULL } } };
    static const char *const values[] = { hostile, "x" };
    static const double shares[] = { 2, (double)NAN };
    static const struct sim_page_bar_row rows[] = { { hostile, true, false, shares, values },
                                                    { "b", false, true, shares, values } };
    const struct sim_page page = { .title = hostile,
                                   .sentence = hostile,
                                   .bars = { head, 2, rows, 2, hostile },
                                   .notes = names,
                                   .n_notes = 2,
                                   .all = table,
                                   .about = hostile,
                                   .policies = policies,
                                   .n = 2,
                                   .groups_by = "team",
                                   .group_names = names,
                                   .n_groups = 2,
                                   .columns = COLUMNS,
                                   .seconds = 1e6,
                                   .devices = 8 };

    sim_page_html(&page, out);
}

static void test_page(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(SIM_PAGE_MAX);
    const char *at;
    int pictures = 0;

    render(&out);
    is_str(html_check(str_text(&out)), NULL, "the page is well-formed");
    for (at = str_text(&out); (at = strstr(at, "<svg")); at++)
        pictures++;
    is_int(pictures, 6, "each policy has three pictures");
    ok(strstr(str_text(&out), "in the mean 20.6, at most 100"), "a picture is told in words, too");
    ok(strstr(str_text(&out), "<tr class=\"oracle now\">") &&
           strstr(str_text(&out), "<tr class=\"then\">") &&
           strstr(str_text(&out), "<li class=\"oracle\">") &&
           strstr(str_text(&out), "<li class=\"then\">"),
       "bars of oracles and of other nodes are marked, and the legend has both");
    ok(strstr(str_text(&out), "width:100.0%") && !strstr(str_text(&out), "nan"),
       "a bar is as long as there is room, and an unknown share has none");
}

/* Bars of which there are none, or none that need a legend. */
static void test_bars(void)
{
    static const char *const head[] = { "time", "use" };
    static const char *const values[] = { "1 h", "50 %" };
    static const double shares[] = { 0.25, 0.5 };
    static const struct {
        bool oracle;
        const char *then;
        size_t rows;
        bool figure, legend;
    } cases[] = {
        { false, NULL, 0, false, false }, { false, "then", 0, false, false },
        { false, NULL, 1, true, false },  { true, NULL, 1, true, true },
        { false, "then", 1, true, true },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str out = STR_INIT(SIM_PAGE_MAX);
        const struct sim_page_bar_row row = { "a", cases[i].oracle, false, shares, values };
        const struct sim_page_bars bars = { head, 2, &row, cases[i].rows, cases[i].then };
        const char *text;

        sim_page_bars(&bars, &out);
        text = str_text(&out);
        is_int(strstr(text, "<figure") != NULL, cases[i].figure, "case %zu has bars, or not", i);
        is_int(strstr(text, "<ul class=\"legend\">") != NULL, cases[i].legend,
               "case %zu has a legend, or not", i);
        is_int(strstr(text, "<li class=\"oracle\">") != NULL, cases[i].oracle,
               "case %zu tells of an oracle, or not", i);
        is_int(strstr(text, "<th scope=\"col\">time</th><th scope=\"col\">use</th></tr>") != NULL,
               cases[i].figure, "case %zu has both columns, or none", i);
    }
}

static void test_oom(void)
{
    int wrong = 0, rounds = 0;
    bool failed;

    oom_restart();
    do {
        CLEANUP(str_done) struct str out = STR_INIT(SIM_PAGE_MAX);

        oom_next();
        render(&out);
        failed = oom_end();
        wrong += str_error(&out) != (failed ? -ENOMEM : 0);
        rounds++;
    } while (failed);
    ok(wrong == 0 && rounds > 5, "each of %d allocations that fail is told", rounds);
}

/* ---- columns ---- */

enum { JOBS = 30, TICKS = 3000, PER = TICKS / TIMELINE_COLUMNS };

static void test_columns(void)
{
    struct work jobs[JOBS] = { { 0 } };
    struct sim_job fates[JOBS] = { { 0 } };
    struct sim_span spans[2 * JOBS];
    struct workload w = { .jobs = jobs, .n_jobs = JOBS };
    struct sim_result r = { .jobs = fates, .spans = spans, .n_spans = 2 * (size_t)JOBS };
    static struct timeline t;
    struct timeline_groups g;
    double used[TIMELINE_COLUMNS] = { 0 }, waits[TIMELINE_COLUMNS] = { 0 }, differ = 0;

    /* each job runs twice, and the last ones beyond the end */
    for (uint32_t i = 0; i < JOBS; i++) {
        int64_t at = (int64_t)(i * 211 % 2900), a = at + i * 13 % 70, b = a + i * 37 % 300;
        int64_t c = b + i * 17 % 150, d = c + i * 91 % 700;

        jobs[i] = (struct work){ .submit_ms = at, .devices = (int)i % 5, .milli = WORK_WHOLE };
        fates[i] = (struct sim_job){ .end_ms = d, .fate = SIM_ENDED };
        spans[2 * i] = (struct sim_span){ a, b, i, jobs[i].devices };
        spans[2 * i + 1] = (struct sim_span){ c, d, i, jobs[i].devices + 2 }; /* elastic */
        for (int64_t ms = at; ms < MIN(d, TICKS); ms++) {
            bool runs = (ms >= a && ms < b) || ms >= c;
            int devices = jobs[i].devices + (ms >= c ? 2 : 0);

            used[ms / PER] += runs ? (double)devices / PER : 0;
            waits[ms / PER] += runs ? 0 : 1.0 / PER;
        }
    }
    if (!ok(timeline_groups_make(&g, &w, NULL) == 0 && !g.by,
            "a trace without groups makes no groups"))
        return;
    timeline_make(&t, &r, &w, &g, TICKS);
    for (int i = 0; i < TIMELINE_COLUMNS; i++)
        differ = fmax(differ, fmax(fabs(used[i] - t.used[i]), fabs(waits[i] - t.waiting[i])));
    ok(differ < 1e-9, "columns of devices and of jobs that wait, as by a clock (%g)", differ);
    timeline_groups_done(&g);
}

int main(void)
{
    test_page();
    test_bars();
    test_oom();
    test_columns();
    return done();
}
