/* Lines of a job's Python, as the .ini file of a run has them: each key, and how much of it is
 * taken. */
#include "base/str.h"
#include "run/archive/archive.h"
#include "tap.h"

enum { ROOM = 1 << 20, SEEN_MAX = 1 << 24 };

static const struct lines *parse(const char *text, struct run *r)
{
    CLEANUP(str_done) struct str all = STR_INIT(ROOM);
    struct archive_part part;
    struct err e = { "" };

    str_addf(&all, "[run]\nversion = 1\nid = x\nhost = h\n%s", text);
    is_int(archive_parse_about(str_text(&all), all.len, r, &part, &e), 0,
           "a run with lines is read: %s", e.text);
    return r->lines;
}

static void test_keys(void)
{
    static const char text[] =
        "[lines]\noff = one\noff = two\nother = 1\nwait = 2\nworker = 3\n"
        "thread = 4\n[line]\nstage = wait\nseen = 5\nfile = /a\nfile = /b.py\n"
        "function = f\ncallee = json.dumps\nline = 6\nfrom_file = /c.py\n"
        "from_function = g\nfrom_line = 7\n[line]\nstage = worker\nseen = 8\n"
        "file = /d.py\n[other]\nseen = 9\n";
    CLEANUP(run_done) struct run r = { .id = NULL };
    const struct lines *l = parse(text, &r);
    const struct lines_entry *k;

    if (!ok(l && l->n == 2, "two lines are read"))
        return;
    k = l->entries;
    is_str(l->off, "onetwo", "why no lines are known is one text");
    ok(l->total[BRIM_STAGE_OTHER] == 1 && l->total[BRIM_STAGE_WAIT] == 2 &&
           l->total[LINES_WORKER] == 3 && l->total[LINES_THREAD] == 4,
       "the samples of each stage are read");
    ok(k->stage == BRIM_STAGE_WAIT && k->count == 5, "a line has its stage and samples");
    is_str(k->at.file, "/a/b.py", "a line has its file");
    is_str(k->at.function, "f", "a line has its function");
    is_str(k->callee, "json.dumps", "a line has what it called");
    is_str(k->caller.file, "/c.py", "a line has the file of its caller");
    is_str(k->caller.function, "g", "a line has the function of its caller");
    ok(k->at.line == 6 && k->caller.line == 7, "a line and its caller have their numbers");
    ok(k[1].stage == LINES_WORKER && k[1].count == 8 && !k[1].at.line && !k[1].caller.file[0] &&
           !k[1].at.function[0],
       "a line has nothing of the one before");
}

/* Which lines are none. */
static void test_broken(void)
{
    static const struct {
        const char *text;
        bool read;
    } cases[] = {
        { "[line]\nstage = wait\nseen = 1\nfile = a\n", true },
        { "[line]\nstage = thread\nseen = 1\nfile = a\n", true },
        { "[line]\nstage = night\nseen = 1\nfile = a\n", false },
        { "[line]\nstage = wait\nstage = night\nseen = 1\nfile = a\n", false },
        { "[line]\nseen = 1\nfile = a\n", false },
        { "[line]\nstage = wait\nseen = 0\nfile = a\n", false },
        { "[line]\nstage = wait\nfile = a\n", false },
        { "[line]\nstage = wait\nseen = 1\n", false },
        { "[line]\nstage = wait\nseen = 16777216\nfile = a\n", true },
        { "[line]\nstage = wait\nseen = 16777217\nfile = a\n", false },
        { "[lines]\nstage = wait\nseen = 1\nfile = a\n", false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(run_done) struct run r = { .id = NULL };
        const struct lines *l = parse(cases[i].text, &r);

        ok(l && l->n == cases[i].read, "line %zu is read or left out", i);
    }
}

static void test_limits(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(ROOM);
    CLEANUP(run_done) struct run none = { .id = NULL }, many = { .id = NULL }, r = { .id = NULL };
    const struct lines *l;

    ok(!parse("[other]\nwait = 1\n", &none), "a run at which nobody looked has no lines");
    for (int i = 0; i <= LINES_MOST; i++)
        str_addf(&text, "[line]\nstage = wait\nseen = %d\nfile = a\n", i + 1);
    l = parse(str_text(&text), &many);
    ok(l && l->n == LINES_MOST && l->entries[LINES_MOST - 1].count == LINES_MOST,
       "a line more than there is room for is left out");
    str_reset(&text);
    str_add(&text, "[lines]\nwait = 16777216\nother = 16777217\n[line]\nstage = wait\nseen = 1\n");
    for (int i = 0; i < 4; i++)
        str_add(&text, "file = 0123456789012345678901234567890123456789012345678901234567\n"
                       "function = 0123456789012345678901234567890123456789012345678901234567\n");
    l = parse(str_text(&text), &r);
    if (!ok(l && l->n == 1, "a line with long texts is read"))
        return;
    ok(l->total[BRIM_STAGE_WAIT] == SEEN_MAX && !l->total[BRIM_STAGE_OTHER],
       "samples of a stage that are too many are left out");
    is_int((long long)strlen(l->entries[0].at.file), LINES_FILE - 1, "a file's name has an end");
    is_int((long long)strlen(l->entries[0].at.function), LINES_FUNCTION - 1,
           "a function's name has an end");
}

int main(void)
{
    test_keys();
    test_broken();
    test_limits();
    return done();
}
