/* Reports of made runs. With the names of a file and a made run ("eight", "long" ...) it writes
 * that page, to be looked at. */
#include <errno.h>

#include "html_check.h"
#include "made_run.h"
#include "oom.h"
#include "render/report/report.h"
#include "render/report/report_private.h"
#include "tap.h"

enum { ROOM = 4 << 20 };

static const struct {
    const char *name;
    struct made made;
} runs[] = {
    { "eight", { 8, 300, 0.4, false, false, NULL } },
    { "one", { 1, 120, 0.25, true, false, NULL } },
    { "single-step", { 1, 1, 0.4, true, false, NULL } },
    { "inferred", { 1, 200, 0.4, false, true, NULL } },
    { "many-ranks", { 96, 100, 0.4, false, false, NULL } },
    { "no-steps", { 2, 0, 0.4, false, false, NULL } },
    { "long", { 8, 100000, 0.4, false, false, NULL } },
};

/* The page of a run and verdict, checked; str_done() it. */
static struct str page_of(const struct run *r, const struct verdict *v, const struct run *last,
                          const char *what)
{
    struct str out = STR_INIT(ROOM);
    const char *text;

    report_html(r, v, last, &out);
    text = str_text(&out);
    is_int(str_error(&out), 0, "%s: the page is written without an error", what);
    is_str(html_check(text), NULL, "%s: the page is well-formed", what);
    ok(out.len <= REPORT_MAX, "%s: the page takes %zu bytes at most", what, out.len);
    ok(!strstr(text, "http") && !strstr(text, "url(") && !strstr(text, "@import") &&
           !strstr(text, "src=") && !strstr(text, "href="),
       "%s: nothing is fetched", what);
    ok(!strstr(text, "nan") && !strstr(text, "inf%") && !strstr(text, " inf ") &&
           !strstr(text, "-2147483648"),
       "%s: no number that is none", what);
    return out;
}

static struct str made_page(const struct made *m, const char *what)
{
    CLEANUP(run_done) struct run r = { .id = NULL };
    CLEANUP(verdict_done) struct verdict v = { .count = 0 };

    made_run(&r, m);
    made_verdict(&v, &r, m);
    return page_of(&r, &v, NULL, what);
}

static bool has(const struct str *page, const char *text)
{
    return strstr(str_text(page), text) != NULL;
}

static size_t count(const struct str *page, const char *text)
{
    size_t n = 0;

    for (const char *at = str_text(page); (at = strstr(at, text)); at++)
        n++;
    return n;
}

static void test_parts(void)
{
    CLEANUP(str_done) struct str page = made_page(&runs[0].made, "eight ranks");
    static const char *const parts[] = {
        "<h1>Every rank waits 49 %",
        "Costs 49 % of the step&apos;s time. Without it at most 1.96 times as fast. ",
        "Confidence 92 %.",
        "<b>Next:</b> raise num_workers to 8",
        "steps a second",
        "Where a step&apos;s time goes",
        "The split over time",
        "Ranks over time",
        "<h2>Ranks</h2>",
        "What the node and the job did meanwhile",
        "Other findings",
        "Machine and environment",
        "Against the last run of this name",
    };
    const char *at = str_text(&page);

    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        const char *found = strstr(at, parts[i]);

        ok(found, "there is, in its order: %s", parts[i]);
        at = found ? found : at;
    }
    is_int((long long)count(&page, "class=\"worst\""), 1, "one stage is lit");
    ok(has(&page, "<li class=\"worst\"><span>wait for data"), "the one that the cause shows in");
    is_int((long long)count(&page, "<svg"), (long long)count(&page, "</desc>"),
           "each picture is described");
    ok(has(&page, "evidence of finding 1; mean"), "evidence is marked");
    ok(has(&page, "3. 69 % of GPU memory") && !has(&page, "<h3>1. "),
       "other findings are numbered");
    ok(has(&page, "Zero all the time: GPU slowed down"), "zeros are said, not drawn");
    ok(has(&page, "Not measured here: GPU multiprocessors active"), "absence is said");
    ok(has(&page, "There is no earlier run"), "no last run is said");
}

static void test_absent(void)
{
    CLEANUP(str_done) struct str one = made_page(&runs[1].made, "one rank");
    CLEANUP(str_done) struct str step = made_page(&runs[2].made, "one step");
    CLEANUP(str_done) struct str inferred = made_page(&runs[3].made, "inferred steps");
    CLEANUP(str_done) struct str many = made_page(&runs[4].made, "96 ranks");
    CLEANUP(str_done) struct str none = made_page(&runs[5].made, "no steps");

    ok(!has(&one, "Ranks over time") && !has(&one, "<h2>Ranks"),
       "a page of one rank has nothing to compare");
    ok(has(&one, "<dt>GPU use</dt><dd><small>not known"),
       "GPU use is not zero where it is not known");
    ok(has(&step, "Seconds of a step by stage"), "one step is a picture");
    ok(has(&inferred, "Steps were not marked by the job: a rhythm of 0.40 s") &&
           has(&inferred, "(confidence 80 %)"),
       "inferred steps are said to be");
    ok(has(&inferred, "Stages of the steps are not known"), "unknown stages are said");
    ok(has(&many, "96 ranks share 64 rows") && has(&many, "left out for 96 ranks"),
       "many ranks share rows and have no table");
    ok(has(&none, "No step was seen.") && has(&none, "Nothing was measured while it ran."),
       "an empty run says so");
}

/* The lit stage is the one that the cause shows in, else the longest; none where nothing limits. */
static void test_lit(void)
{
    static const struct {
        enum cause cause;
        const char *lit;
    } cases[] = {
        { CAUSE_PCIE, "<li class=\"worst\"><span>copy to device" },
        { CAUSE_THERMAL, "<li class=\"worst\"><span>wait for data" },
        { CAUSE_COMMUNICATION, "<li class=\"worst\"><span>wait for data" }, /* takes no time */
    };
    CLEANUP(run_done) struct run r = { .id = NULL };
    CLEANUP(verdict_done) struct verdict v = { .count = 0 };

    made_run(&r, &runs[1].made);
    made_verdict(&v, &r, &runs[1].made);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str page = STR_INIT(0);

        v.items[0].cause = cases[i].cause;
        page = page_of(&r, &v, NULL, cause_name(cases[i].cause));
        ok(has(&page, cases[i].lit), "%s lights its stage", cause_name(cases[i].cause));
    }
    for (int i = 0; i < 2; i++) {
        CLEANUP(str_done) struct str page = STR_INIT(0);

        v.items[0].cause = i ? CAUSE_NONE : CAUSE_UNKNOWN;
        page = page_of(&r, &v, NULL, "no cause");
        ok(!has(&page, "class=\"worst\""), "%s lights none", cause_name(v.items[0].cause));
    }
}

/* Two ranks of which one was not seen are not compared. */
static void test_alone(void)
{
    CLEANUP(run_done) struct run r = { .id = NULL };
    CLEANUP(verdict_done) struct verdict v = { .count = 0 };
    CLEANUP(str_done) struct str page = STR_INIT(0);
    struct made two = { 2, 20, 0.4, false, false, NULL };

    made_run(&r, &two);
    made_verdict(&v, &r, &two);
    r.ranks[1].n_steps = 0;
    page = page_of(&r, &v, NULL, "one rank of two");
    ok(has(&page, "Steps of two ranks at the same time were not seen"),
       "the report names that two ranks were not seen together");
}

/* Lines of the job's Python, whatever its files are called; a page without any has no such part. */
static void test_where(void)
{
    struct verdict_line lines[] = {
        { BRIM_STAGE_OTHER, "<a>&.py:7 in f", "<a>&.py:7", "/x/<a>&.py", "f", "", 7, 7, 0.5, 0.9,
          0.8, 100 },
        { LINES_WORKER, "d.py:2", "d.py:2", "/x/d.py", "<module>", "", 2, 2, 0.2, 1, 0.9, 40 },
        { LINES_THREAD, "e.py:3", "e.py:3", "/x/e.py", "<module>", "", 3, 3, (double)NAN, 1, 0.9,
          40 },
    };
    CLEANUP(run_done) struct run r = { .id = NULL };
    CLEANUP(verdict_done) struct verdict v = { .count = 0 };
    CLEANUP(str_done) struct str page = STR_INIT(0), without = STR_INIT(0);

    made_run(&r, &runs[1].made);
    made_verdict(&v, &r, &runs[1].made);
    without = page_of(&r, &v, NULL, "no lines");
    v.lines = lines;
    v.n_lines = ARRAY_SIZE(lines);
    page = page_of(&r, &v, NULL, "lines");
    v.lines = NULL;
    ok(!has(&without, "Which lines take the time"), "a page without lines has no part for them");
    ok(has(&page, "&lt;a&gt;&amp;.py:7 in f</th><td>50 %"), "a line has its place and its share");
    ok(has(&page, "the loader&apos;s workers</td><td>100 % of 40 samples"),
       "a worker's line has its stage and its samples");
    ok(has(&page, "another thread"), "a line of another thread is called so");
}

static void test_empty(void)
{
    struct run r = { .inferred_confidence = (double)NAN };
    struct verdict v = { .step_s = (double)NAN };
    CLEANUP(str_done) struct str page = page_of(&r, &v, NULL, "empty");

    ok(has(&page, "Nothing was judged of this run.") && has(&page, "There are none."),
       "nothing is said of nothing");
}

static void test_long(void)
{
    CLEANUP(str_done) struct str page = made_page(&runs[6].made, "100,000 steps of 8 ranks");

    ok(has(&page, "of 600 columns are higher") || page.len > 50000,
       "the steps of a long run are a picture");
    ok(has(&page, ">10 h<") || has(&page, ">12 h<"), "the axis counts hours");
}

static void test_hostile(void)
{
    static const char *const texts[] = {
        "<script>alert(1)</script>",
        "\"><svg onload=x>'&amp;&#60;\x01\x1b[31m\x7f",
        "\xff\xfe\xc0\xaf\xed\xa0\x80 \xe2\x80\xae abc",
        "]]></style></title><h1>",
        "%s%n%d",
    };

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct made m = { 3, 20, 0.4, false, true, texts[i] };
        CLEANUP(str_done) struct str page = made_page(&m, "hostile texts");

        ok(!has(&page, "<script") && !has(&page, "onload=x>") && count(&page, "</style>") == 1,
           "text %zu stays text", i);
    }
}

/* All that came with the run is longer than a page may be. */
static void test_size(void)
{
    static char quotes[5000];
    struct made m = { 64, 500, 0.4, false, true, quotes };
    CLEANUP(run_done) struct run r = { .id = NULL };
    CLEANUP(run_done) struct run last = { .id = NULL };
    CLEANUP(verdict_done) struct verdict v = { .count = 0 };
    CLEANUP(str_done) struct str page = STR_INIT(0);
    char name[32];

    memset(quotes, '"', sizeof(quotes) - 1);
    made_run(&r, &m);
    made_run(&last, &runs[2].made);
    made_verdict(&v, &r, &m);
    for (size_t i = 0; i < CAUSES; i++)
        made_item(&v, (struct verdict_item){ (enum cause)i, SEVERITY_NOTE, 0.1, 1.1, 0.5, 1, quotes,
                                             quotes, quotes });
    for (int i = 0; i < 3000; i++) {
        snprintf(name, sizeof(name), "name%d", i);
        made_note(&r, &r.environment, &r.n_environment, name, quotes);
        made_note(&r, &r.ranks[0].notes, &r.ranks[0].n_notes, name, quotes);
    }
    for (size_t i = 0; i < r.n_moments; i++)
        for (size_t s = 0; s < RUN_SIGNALS; s++)
            r.moments[i].values[s] = (double)((i * 7919 + s * 31) % 997) / 997;
    page = page_of(&r, &v, &last, "long texts");
    is_int((long long)count(&page, "<li class=\"card\""), 23, "findings are cut");
    ok(has(&page, " more are not shown.</p>") && has(&page, "more differences are not shown"),
       "what is left out is said");
}

/* Values of which none is a number, and times without order. */
static void test_nonsense(void)
{
    static const double values[] = { (double)NAN, (double)INFINITY, -1e300, 1e300 };
    static const int64_t times[] = { 0, INT64_MAX, INT64_MIN, -1, 1 };

    for (size_t n = 0; n < ARRAY_SIZE(values); n++) {
        CLEANUP(run_done) struct run r = { .id = NULL };
        CLEANUP(verdict_done) struct verdict v = { .count = 0 };
        CLEANUP(str_done) struct str page = STR_INIT(0);

        made_run(&r, &runs[0].made);
        made_verdict(&v, &r, &runs[0].made);
        v.step_s = v.step_p90_s = v.step_best_s = v.steps_per_s = v.samples_per_s = values[n];
        r.inferred_confidence = v.items[0].share = v.items[0].gain = values[n];
        for (size_t i = 0; i < r.n_moments; i++) {
            r.moments[i].seconds = values[(n + i) % ARRAY_SIZE(values)];
            for (size_t s = 0; s < RUN_SIGNALS; s++)
                r.moments[i].values[s] = values[n];
        }
        for (size_t i = 0; i < r.n_ranks; i++)
            for (size_t s = 0; s < r.ranks[i].n_steps; s++) {
                r.ranks[i].steps[s].begin_ns = times[(s + n) % ARRAY_SIZE(times)];
                r.ranks[i].steps[s].end_ns = times[(s + i) % ARRAY_SIZE(times)];
                for (unsigned stage = 0; stage < BRIM_STAGES; stage++)
                    r.ranks[i].steps[s].host_s[stage] = values[n];
            }
        for (unsigned stage = 0; stage < BRIM_STAGES; stage++)
            v.share[stage] = r.ranks[0].total.host_s[stage] = values[n];
        page = page_of(&r, &v, &r, "nonsense");
    }
}

static void test_changes(void)
{
    struct made slower = { 1, 120, 0.5, true, false, NULL };
    CLEANUP(run_done) struct run now = { .id = NULL };
    CLEANUP(run_done) struct run last = { .id = NULL };
    CLEANUP(verdict_done) struct verdict v = { .count = 0 };
    CLEANUP(str_done) struct str page = STR_INIT(0);

    made_run(&now, &slower);
    made_run(&last, &runs[1].made);
    made_verdict(&v, &now, &slower);
    last.id = "20261120-010101-0001";
    made_note(&now, &now.environment, &now.n_environment, "torch", "2.0.0");
    made_note(&now, &now.environment, &now.n_environment, "NCCL_DEBUG", "INFO");
    made_note(&last, &last.environment, &last.n_environment, "TF32", "1");
    page = page_of(&now, &v, &last, "with a last run");
    ok(has(&page, "Against 20261120-010101-0001."), "the last run is named");
    ok(has(&page, "<td class=\"n worse\">+100.0 %</td>"), "twice the time is worse");
    ok(has(&page, "<td class=\"n worse\">-50.0 %</td>"), "half the rate is worse");
    ok(has(&page, "torch</th><td>1.13.1</td><td>2.0.0</td>"),
       "a value that changed has both of its values");
    ok(has(&page, "NCCL_DEBUG</th><td><span class=\"absent\">not set</span></td><td>INFO"),
       "one that is new");
    ok(has(&page, "TF32</th><td>1</td><td><span class=\"absent\">not set"), "one that is gone");
    ok(!has(&page, "kernel</th><td>6.1.0-18-amd64</td><td>"), "what is the same is left out");
}

/* Whether a page calls a change of the median step better, worse, or neither. */
static void test_what_counts_as_a_change(void)
{
    static const struct {
        double step_s;
        const char *cell;
    } cases[] = {
        { 0.5, "<td class=\"n\">+0.0 %</td>" },
        { 0.51, "<td class=\"n\">+2.0 %</td>" },
        { 0.52, "<td class=\"n worse\">+4.0 %</td>" },
        { 0.48, "<td class=\"n better\">-4.0 %</td>" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct made before = { 1, 120, 0.5, true, false, NULL }, after = before;
        CLEANUP(run_done) struct run now = { .id = NULL };
        CLEANUP(run_done) struct run last = { .id = NULL };
        CLEANUP(verdict_done) struct verdict v = { .count = 0 };
        CLEANUP(str_done) struct str page = STR_INIT(0);
        const char *row;

        after.step_s = cases[i].step_s;
        made_run(&now, &after);
        made_run(&last, &before);
        made_verdict(&v, &now, &after);
        last.id = "20261120-010101-0001";
        page = page_of(&now, &v, &last, "with a change");
        row = strstr(str_text(&page), "step, median");
        ok(row && strstr(row, cases[i].cell), "a step of %g s after one of 0.5 s: %s",
           cases[i].step_s, cases[i].cell);
    }
}

/* The picture of a run whose middle was dropped has a gap, and says so. */
static void test_dropped(void)
{
    CLEANUP(run_done) struct run r = { .id = NULL };
    CLEANUP(verdict_done) struct verdict v = { .count = 0 };
    CLEANUP(str_done) struct str page = STR_INIT(0);

    made_run(&r, &runs[1].made);
    made_verdict(&v, &r, &runs[1].made);
    memmove(&r.ranks[0].steps[20], &r.ranks[0].steps[100], 20 * sizeof(struct step));
    r.ranks[0].n_steps = 40;
    r.ranks[0].dropped = 80;
    page = page_of(&r, &v, NULL, "dropped steps");
    ok(has(&page, "80 steps between the first and the last ones were not kept"),
       "the report counts the steps that were not kept");
    ok(count(&page, "V1000zM") >= BRIM_STAGES, "areas have two parts");
}

static void test_no_memory(void)
{
    CLEANUP(run_done) struct run r = { .id = NULL };
    CLEANUP(verdict_done) struct verdict v = { .count = 0 };
    struct made m = { 3, 12, 0.4, false, false, NULL };
    bool failed;

    made_run(&r, &m);
    made_verdict(&v, &r, &m);
    do {
        CLEANUP(str_done) struct str out = STR_INIT(ROOM);

        oom_next();
        report_html(&r, &v, &r, &out);
        failed = oom_end();
        if (!failed || str_error(&out) != -ENOMEM)
            is_int(str_error(&out), failed ? -ENOMEM : 0,
                   "report_html with allocation %d failing fails with -ENOMEM", oom_at);
    } while (failed);
    ok(oom_at > 50, "%d allocations fail one by one", oom_at - 1);
}

static int write_page(const char *path, const char *name)
{
    CLEANUP(run_done) struct run r = { .id = NULL };
    CLEANUP(run_done) struct run last = { .id = NULL };
    CLEANUP(verdict_done) struct verdict v = { .count = 0 };
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);
    FILE *f = fopen(path, "w");

    for (size_t i = 0; f && i < ARRAY_SIZE(runs); i++)
        if (!strcmp(runs[i].name, name)) {
            made_run(&r, &runs[i].made);
            made_run(&last, &runs[1].made);
            made_note(&last, &last.environment, &last.n_environment, "torch", "1.12.0");
            made_verdict(&v, &r, &runs[i].made);
        }
    if (!f || !r.id)
        return 1;
    report_html(&r, &v, &last, &out);
    fputs(str_text(&out), f);
    return fclose(f) != 0 || str_error(&out) != 0;
}

/* Texts of the run itself have room on the page until it is used up. */
static void test_texts(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(64);
    struct report p = { .out = &out, .text_left = 2 };

    report_text(&p, "a<", 10);
    is_str(str_text(&out), "a&lt;", "a text of the run is written as text");
    report_text(&p, "b", 10);
    is_str(str_text(&out), "a&lt;…", "a text without room is dots");
    report_text(&p, "", 10);
    report_text(&p, NULL, 10);
    is_str(str_text(&out), "a&lt;…", "an empty text, or none, is nothing");
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return write_page(argv[1], argv[2]);
    test_parts();
    test_absent();
    test_lit();
    test_alone();
    test_where();
    test_empty();
    test_long();
    test_hostile();
    test_size();
    test_nonsense();
    test_texts();
    test_changes();
    test_what_counts_as_a_change();
    test_dropped();
    test_no_memory();
    return done();
}
