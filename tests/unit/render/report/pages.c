/* Whole pages of small made runs: several ranks, steps that were inferred, no steps, and what is
 * different from an earlier run.
 *
 *     t_render_report_pages FILE */
#include "golden.h"
#include "made_run.h"
#include "render/report/report.h"

enum { ROOM = 4 << 20 };

static const struct made mades[] = { { 3, 24, 0.4, false, false, NULL },
                                     { 1, 24, 0.25, true, true, NULL },
                                     { 2, 0, 0.4, false, false, NULL },
                                     { 70, 12, 0.4, false, false, NULL },
                                     { 1, 30, 0.5, true, false, NULL } };

/* Each signal that is not measured gets a value of its own in the last run. */
static void measure_all(struct run *r)
{
    for (size_t i = 0; i < r->n_moments; i++)
        for (int s = 0; s < RUN_SIGNALS; s++)
            if (isnan(r->moments[i].values[s]))
                r->moments[i].values[s] = 0.01 * (s + 1) + 0.001 * (double)(i % 5);
}

/* The page, an element a line, so that a difference is one of a few. */
static void add_page(const struct run *r, const struct verdict *v, const struct run *last,
                     struct str *out)
{
    CLEANUP(str_done) struct str page = STR_INIT(ROOM);
    const char *body, *at;

    report_html(r, v, last, &page);
    is_int(str_error(&page), 0, "the page of a run with %zu ranks is whole", r->n_ranks);
    body = strstr(str_text(&page), "</style>");
    for (at = body ? body : str_text(&page); *at; at++) {
        str_add_char(out, *at);
        if (*at == '>' && at[1] == '<')
            str_add_char(out, '\n');
    }
}

/* A run that was optimized: one setting kept, one taken back, one in which the job died, one of a
 * restart; and one on which nothing was worth a trial. */
static void add_optimized(struct str *out)
{
    static struct run_trial trials[] = {
        { "loader.workers", "5", "0", "loader.persistent", NULL, RUN_TRIAL_ADOPTED, 3.8, 3.7, 3.9,
          (double)NAN, 725, 0, 2000000000, 3000000000 },
        { "loader.prefetch", "4", NULL, NULL, NULL, RUN_TRIAL_REJECTED, -0.031, -0.04, -0.02,
          (double)NAN, 120, 0, 4000000000, 5000000000 },
        { "blas.library", "openblas", NULL, NULL, NULL, RUN_TRIAL_ADOPTED, 8.1, 4.1, 15.2,
          (double)NAN, 151, 3, 0, 0 },
        { "loader.workers", "9", "5", NULL, "the job died (signal 9) <b>", RUN_TRIAL_FAILED,
          (double)NAN, (double)NAN, (double)NAN, (double)NAN, 14, 0, 6000000000, 0 },
    };

    for (size_t n = 0; n <= ARRAY_SIZE(trials); n += ARRAY_SIZE(trials)) {
        const struct run_tuning t = { .before = { 185, 1480, (double)NAN },
                                      .after = { 893, 7144, (double)NAN },
                                      .trials = trials,
                                      .n_trials = n };
        CLEANUP(run_done) struct run r = { .id = NULL };
        CLEANUP(verdict_done) struct verdict v = { .count = 0 };

        made_run(&r, &mades[0]);
        made_verdict(&v, &r, &mades[0]);
        r.tuning = &t;
        v.stretch_s = n ? 2.5 : 0;
        str_addf(out, "== optimized, %zu trials\n", n);
        add_page(&r, &v, NULL, out);
        str_add_char(out, '\n');
    }
}

int main(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);
    CLEANUP(run_done) struct run last = { .id = NULL };

    if (argc != 2) {
        printf("Bail out! FILE\n");
        return 1;
    }
    made_run(&last, &mades[0]);
    last.id = "20261120-010101-0001";
    made_note(&last, &last.environment, &last.n_environment, "torch", "1.12.0");
    made_note(&last, &last.environment, &last.n_environment, "TF32", "1");
    for (size_t i = 0; i < ARRAY_SIZE(mades); i++) {
        CLEANUP(run_done) struct run r = { .id = NULL };
        CLEANUP(verdict_done) struct verdict v = { .count = 0 };

        made_run(&r, &mades[i]);
        made_verdict(&v, &r, &mades[i]);
        if (i + 1 == ARRAY_SIZE(mades))
            measure_all(&r);
        str_addf(&out, "== page %zu\n", i);
        add_page(&r, &v, i % 2 ? NULL : &last, &out);
        str_add_char(&out, '\n');
    }
    add_optimized(&out);
    golden(argv[1], str_text(&out));
    return done();
}
