/* Whole pages of small made runs: several ranks, steps that were inferred, no steps, and what is
 * different from an earlier run.
 *
 *     t_render_report_pages FILE */
#include "golden.h"
#include "made_run.h"
#include "render/report/beside.h"
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

/* A page, an element a line, so that a difference is one of a few. */
static void add_elements(const struct str *page, struct str *out)
{
    const char *body = strstr(str_text(page), "</style>");

    for (const char *at = body ? body : str_text(page); *at; at++) {
        str_add_char(out, *at);
        if (*at == '>' && at[1] == '<')
            str_add_char(out, '\n');
    }
}

/* The page of one run. */
static void add_page(const struct run *r, const struct verdict *v, const struct run *last,
                     struct str *out)
{
    CLEANUP(str_done) struct str page = STR_INIT(ROOM);

    report_html(r, v, last, &page);
    is_int(str_error(&page), 0, "the page of a run with %zu ranks is whole", r->n_ranks);
    add_elements(&page, out);
}

/* Two runs beside each other: one in which steps were seen, one of another kind. */
static void add_beside(const struct run *a, size_t other, const char *name, struct str *out)
{
    CLEANUP(str_done) struct str page = STR_INIT(ROOM);
    CLEANUP(run_done) struct run b = { .id = NULL };
    CLEANUP(verdict_done) struct verdict va = { .count = 0 }, vb = { .count = 0 };

    made_verdict(&va, a, &mades[0]);
    made_run(&b, &mades[other]);
    made_verdict(&vb, &b, &mades[other]);
    b.id = "20261126-010101-0002";
    b.name = name;
    report_beside(a, &va, &b, &vb, &page);
    is_int(str_error(&page), 0, "the page of two runs is whole beside made run %zu", other);
    str_addf(out, "== beside made run %zu\n", other);
    add_elements(&page, out);
    str_add_char(out, '\n');
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

/* Of each cause the charts that are evidence of it, where every signal has a value of its own. */
static void add_evidence(struct str *out)
{
    static const char mark[] = "evidence of finding 1; ";
    CLEANUP(run_done) struct run r = { .id = NULL };

    made_run(&r, &mades[4]);
    for (size_t i = 0; i < r.n_moments; i++)
        for (int s = 0; s < RUN_SIGNALS; s++)
            r.moments[i].values[s] = 1.5 + s;
    str_add(out, "== evidence\n");
    for (int cause = 0; cause < CAUSES; cause++) {
        CLEANUP(str_done) struct str page = STR_INIT(ROOM);
        CLEANUP(verdict_done) struct verdict v = { .sentence = "it is slow" };
        const char *title = "";

        made_item(&v, (struct verdict_item){ (enum cause)cause, SEVERITY_WARNING, 0.4, 1.6, 0.9, -1,
                                             "it is slow", "", NULL, (double)NAN });
        report_html(&r, &v, NULL, &page);
        str_addf(out, "%s\n", cause_name((enum cause)cause));
        for (const char *at = str_text(&page); (at = strchr(at, '<')); at++) {
            if (!strncmp(at, "<title", strlen("<title")))
                title = strchr(at, '>') + 1;
            else if (!strncmp(at, "<desc", strlen("<desc")) &&
                     !strncmp(strchr(at, '>') + 1, mark, strlen(mark)))
                str_addf(out, "  %.*s: %.*s\n", (int)strcspn(title, "<"), title,
                         (int)strcspn(strstr(at, mark) + strlen(mark), "<"),
                         strstr(at, mark) + strlen(mark));
        }
    }
}

/* What a run that was cut short, or whose times are not known, has less of. */
static void add_bare(struct str *out)
{
    static struct run_trial trials[] = {
        { "before.it", "1", "0", NULL, NULL, RUN_TRIAL_REJECTED, -0.1, -0.2, -0.05, (double)NAN, 9,
          0, 3000000000, 6000000000 },
        { "at.its.begin", "1", "0", NULL, NULL, RUN_TRIAL_REJECTED, -0.1, -0.2, -0.05, (double)NAN,
          9, 0, 4000000000, 4000000000 },
        { "backwards", "1", "0", NULL, NULL, RUN_TRIAL_REJECTED, -0.1, -0.2, -0.05, (double)NAN, 9,
          0, 6000000000, 5999999999 },
        { "whole", "1", "0", NULL, NULL, RUN_TRIAL_REJECTED, -0.1, -0.2, -0.05, (double)NAN, 9, 0,
          5000000000, 6000000000 },
    };
    static const struct made bare = { 2, 1, 0.4, true, false, NULL };
    const struct run_tuning tuning = { .before = { 1, 8, (double)NAN },
                                       .after = { 1, 8, (double)NAN },
                                       .trials = trials,
                                       .n_trials = ARRAY_SIZE(trials) };

    for (int timed = 0; timed < 2; timed++) {
        CLEANUP(run_done) struct run r = { .id = NULL };
        CLEANUP(verdict_done) struct verdict v = { .count = 0 };

        made_run(&r, timed ? &mades[0] : &bare);
        made_verdict(&v, &r, timed ? &mades[0] : &bare);
        r.tuning = &tuning;
        r.n_environment = 0;
        v.items[1].rank = 0;
        if (timed) { /* one rank lost the end of a step */
            r.ranks[1].steps[10].end_ns = r.ranks[1].steps[10].begin_ns - 1;
            v.share[BRIM_STAGE_COMMUNICATION] = (double)NAN;
        } else {
            r.n_moments = 0;
            for (size_t i = 0; i < r.n_ranks; i++)
                r.ranks[i].steps[0].end_ns = r.ranks[i].steps[0].begin_ns;
            for (int s = 0; s < BRIM_STAGES; s++)
                v.share[s] = s == BRIM_STAGE_COMMUNICATION ? 0.5 : 0;
        }
        str_addf(out, "== bare, %s\n", timed ? "with times" : "without times");
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
    add_bare(&out);
    add_evidence(&out);
    add_beside(&last, 1, "a run of one rank <b>", &out);
    add_beside(&last, 2, NULL, &out);
    golden(argv[1], str_text(&out));
    return done();
}
