/* Pages of two made runs. With the name of a file it writes one, to be looked at. */
#include "render/report/beside.h"

#include <errno.h>

#include "html_check.h"
#include "made_run.h"
#include "oom.h"
#include "tap.h"

enum { ROOM = 4 << 20 };

static const struct made slow = { 2, 300, 0.4, false, false, NULL };
static const struct made fast = { 1, 120, 0.1, true, true, NULL };
static const struct made bare = { 1, 0, 0.4, false, false, NULL };

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

/* name: what the first one is called; NULL: as it was made. */
static struct str page_of(const struct made *ma, const struct made *mb, const char *name)
{
    CLEANUP(run_done) struct run a = { .id = NULL }, b = { .id = NULL };
    CLEANUP(verdict_done) struct verdict va = { .count = 0 }, vb = { .count = 0 };
    struct str out = STR_INIT(ROOM);

    made_run(&a, ma);
    made_verdict(&va, &a, ma);
    made_run(&b, mb);
    made_verdict(&vb, &b, mb);
    a.name = name ? name : a.name;
    b.id = "20261125-010101-0001";
    made_note(&a, &a.environment, &a.n_environment, "torch", "1.12.0");
    report_beside(&a, &va, &b, &vb, &out);
    is_int(str_error(&out), 0, "the page of two runs is written without an error");
    is_str(html_check(str_text(&out)), NULL, "the page of two runs is well-formed");
    ok(out.len <= 2 * REPORT_MAX, "the page of two runs takes %zu bytes at most", out.len);
    return out;
}

/* Each picture has an id, which is another one's nowhere. */
static void test_ids(const struct str *page)
{
    size_t n = 0, same = 0;

    for (const char *at = str_text(page); (at = strstr(at, " id=\"")); at++) {
        char id[32];

        snprintf(id, sizeof(id), "%.*s\"", (int)strcspn(at + 5, "\"") + 5, at);
        same += count(page, id) != 1;
        n++;
    }
    ok(n > 4, "the page of two runs has pictures with ids");
    is_int((long long)same, 0, "no id of a page of two runs is there twice");
}

static void test_parts(const char *file)
{
    CLEANUP(str_done) struct str page = page_of(&slow, &fast, NULL);

    is_int((long long)count(&page, "<h1>"), 2, "each of two runs has its answer");
    is_int((long long)count(&page, "The split over time"), 2, "each of two runs has its split");
    is_int((long long)count(&page, "What the node and the job did meanwhile"), 2,
           "each of two runs has its signals");
    is_int((long long)count(&page, "What differs"), 1, "what differs is told once");
    ok(has(&page, "<th scope=\"col\">A</th><th scope=\"col\">B</th>"),
       "what differs has a column for each run");
    ok(has(&page, "1.12.0") && has(&page, "steps a second</th>"),
       "what differs has rates and the environment");
    test_ids(&page);
    if (file) {
        FILE *f = fopen(file, "we");

        ok(f && fwrite(str_text(&page), 1, page.len, f) == page.len && fclose(f) == 0,
           "the page is written to %s", file);
    }
}

static void test_hostile(void)
{
    CLEANUP(str_done) struct str page = page_of(&bare, &slow, "</b><script>alert(1)</script>");

    ok(!has(&page, "<script") && has(&page, "&lt;script&gt;"), "a name of a run is no markup");
    ok(has(&page, "No step was seen"), "a run without steps stands beside one with them");
}

static void test_memory(void)
{
    CLEANUP(run_done) struct run r = { .id = NULL };
    CLEANUP(verdict_done) struct verdict v = { .count = 0 };
    bool failed;

    made_run(&r, &fast);
    made_verdict(&v, &r, &fast);
    do {
        CLEANUP(str_done) struct str out = STR_INIT(ROOM);

        oom_next();
        report_beside(&r, &v, &r, &v, &out);
        failed = oom_end();
        is_int(str_error(&out), failed ? -ENOMEM : 0, "report_beside tells of allocation %d",
               oom_at);
    } while (failed);
}

int main(int argc, char **argv)
{
    test_parts(argc > 1 ? argv[1] : NULL);
    test_hostile();
    test_memory();
    return done();
}
