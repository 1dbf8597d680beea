/* Which line is told on either side of each share; what is forgotten, and what makes room. */
#include "model/job/lines.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"

static struct lines_entry seen(unsigned stage, const char *function, int line)
{
    struct lines_entry e = { .stage = stage, .at = { .line = line } };

    snprintf(e.at.file, sizeof(e.at.file), "/home/ana/train.py");
    snprintf(e.at.function, sizeof(e.at.function), "%s", function);
    return e;
}

static void count(struct lines *l, struct lines_entry e, int times)
{
    for (int i = 0; i < times; i++)
        lines_count(l, &e);
}

/* What is on either side of each share, of 40 samples. */
static void test_shares(void)
{
    static const struct {
        int of_f, of_g, lines_of_f; /* samples of two functions, and on how many lines of f */
        int first, last;            /* 0: nothing is told */
    } tables[] = {
        { 12, 10, 1, 10, 10 },                        /* 0.3 of the samples stand out */
        { 11, 11, 1, 0, 0 },   { 24, 16, 2, 10, 10 }, /* half of a function's samples are alone */
        { 24, 16, 3, 10, 12 }, { 24, 16, 24, 0, 0 },  /* lines with less than a tenth each */
    };
    struct lines_found f = { .at = NULL };

    for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
        struct lines l = { .n = 0 };
        const int each = tables[i].of_f / tables[i].lines_of_f;
        bool told;
        char name[16];

        for (int line = 0; line < tables[i].lines_of_f; line++)
            count(&l, seen(BRIM_STAGE_OTHER, "f", 10 + line), each);
        count(&l, seen(BRIM_STAGE_OTHER, "g", 90), tables[i].of_g);
        for (int k = tables[i].of_f + tables[i].of_g; k < 40; k++) {
            snprintf(name, sizeof(name), "h%d", k);
            count(&l, seen(BRIM_STAGE_OTHER, name, k), 1);
        }
        told = lines_find(&l, BRIM_STAGE_OTHER, &f);
        if (tables[i].lines_of_f == 24)
            ok(told && f.first == f.last && f.first == f.at->line,
               "of many lines with little each one is told: %d to %d", f.first, f.last);
        else
            ok(told == (tables[i].first > 0) &&
                   (!told || (f.first == tables[i].first && f.last == tables[i].last)),
               "%d of 40 samples on %d lines are told as %d to %d", tables[i].of_f,
               tables[i].lines_of_f, tables[i].first, tables[i].last);
    }
}

/* The lines of a function that are left out of its range: those with less than a tenth of it, and
 * those of which nobody knows the number. */
static void test_range(void)
{
    struct lines l = { .n = 0 };
    struct lines_found f = { .at = NULL };

    count(&l, seen(BRIM_STAGE_OTHER, "f", 30), 16);
    count(&l, seen(BRIM_STAGE_OTHER, "f", 20), 16);
    count(&l, seen(BRIM_STAGE_OTHER, "f", 50), 4);
    count(&l, seen(BRIM_STAGE_OTHER, "f", 0), 4);
    ok(lines_find(&l, BRIM_STAGE_OTHER, &f) && f.first == 20 && f.last == 50,
       "a line with a tenth is in the range, and one without a number is not: %d to %d", f.first,
       f.last);
    is_str(f.callee, "", "a range has no callee");
    for (size_t i = 0; i < l.n; i++)
        snprintf(l.entries[i].callee, sizeof(l.entries[i].callee), "json.dumps");
    ok(lines_find(&l, BRIM_STAGE_OTHER, &f) && !*f.callee,
       "a range has no callee where each of its lines has one");
    l = (struct lines){ .n = 0 };
    count(&l, seen(BRIM_STAGE_OTHER, "f", 30), 17);
    count(&l, seen(BRIM_STAGE_OTHER, "f", 20), 20);
    count(&l, seen(BRIM_STAGE_OTHER, "f", 50), 3);
    ok(lines_find(&l, BRIM_STAGE_OTHER, &f) && f.first == 20 && f.last == 20 && f.at->line == 20,
       "a line with half of its function is told alone: %d to %d", f.first, f.last);
    ok(f.share > 0.999 && f.share < 1.001, "the share is that of the function: %.2f", f.share);
}

/* The call that costs most of a line is told as what it calls. */
static void test_dearest(void)
{
    struct lines l = { .n = 0 };
    struct lines_entry e = seen(BRIM_STAGE_OTHER, "f", 10);
    struct lines_found f = { .at = NULL };

    snprintf(e.callee, sizeof(e.callee), "json.loads");
    count(&l, e, 10);
    snprintf(e.callee, sizeof(e.callee), "json.dumps");
    count(&l, e, 11);
    snprintf(e.callee, sizeof(e.callee), "re.sub");
    count(&l, e, 10);
    ok(lines_find(&l, BRIM_STAGE_OTHER, &f) && f.first == 10, "a line with three calls is told");
    is_str(f.callee, "json.dumps", "the call that was seen most is told");
    count(&l, seen(BRIM_STAGE_OTHER, "f", 11), 5);
    (void)lines_find(&l, BRIM_STAGE_OTHER, &f);
    is_str(f.callee, "json.dumps", "a rare line does not take the place of the call");
}

/* The function that called what runs is told from 6 of 10 samples on, where none runs in half. */
static void test_enclosing(void)
{
    static const struct {
        int called; /* of 40 samples by "around", of three functions with a third each */
        const char *told;
    } tables[] = { { 24, "around" }, { 23, "f0" }, { 40, "around" } };
    struct lines_found f = { .at = NULL };
    char name[16];

    for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
        struct lines l = { .n = 0 };

        for (int k = 0; k < 40; k++) {
            struct lines_entry e;

            snprintf(name, sizeof(name), "f%d", k < 38 ? k % 3 : 0);
            e = seen(BRIM_STAGE_OTHER, name, 5);
            if (k < tables[i].called)
                e.caller = seen(BRIM_STAGE_OTHER, "around", 20).at;
            count(&l, e, 1);
        }
        ok(lines_find(&l, BRIM_STAGE_OTHER, &f), "40 samples of three functions have a line");
        is_str(f.at->function, tables[i].told, "of 40 samples %d are called by 'around'",
               tables[i].called);
    }
}

/* Half of the samples in one function: the one that called it is not looked for. */
static void test_half(void)
{
    struct lines l = { .n = 0 };
    struct lines_entry e = seen(BRIM_STAGE_OTHER, "f", 5);
    struct lines_found f = { .at = NULL };

    e.caller = seen(BRIM_STAGE_OTHER, "around", 20).at;
    count(&l, e, 20);
    snprintf(e.at.function, sizeof(e.at.function), "g");
    count(&l, e, 19);
    snprintf(e.at.function, sizeof(e.at.function), "h");
    count(&l, e, 1);
    ok(lines_find(&l, BRIM_STAGE_OTHER, &f) && !strcmp(f.at->function, "f"),
       "a function that runs in half of the samples is told");
}

/* At a total of 2,048 all samples count half, and what was seen once is forgotten. */
static void test_age(void)
{
    static struct lines l, more;

    count(&l, seen(LINES_WORKER, "load", 1), 1);
    count(&l, seen(BRIM_STAGE_OTHER, "log", 7), LINES_TOTAL - 2);
    is_int((int)l.total[BRIM_STAGE_OTHER], LINES_TOTAL - 2, "2,047 samples count whole");
    count(&l, seen(BRIM_STAGE_WAIT, "next", 3), 1);
    is_int((int)l.total[BRIM_STAGE_OTHER], LINES_TOTAL / 2 - 1, "2,048 samples count half");
    is_int((int)l.n, 1, "a line that was seen once is forgotten");
    is_int((int)l.entries[0].count, LINES_TOTAL / 2 - 1, "a line's samples count half as well");
    count(&more, seen(BRIM_STAGE_OTHER, "log", 7), LINES_TOTAL / 2 + 1);
    snprintf(more.off, sizeof(more.off), "may not be read");
    snprintf(l.off, sizeof(l.off), "no such version");
    lines_merge(&l, &more);
    is_int((int)l.total[BRIM_STAGE_OTHER], LINES_TOTAL / 2, "2,048 merged samples count half");
    is_str(l.off, "no such version", "a table keeps its own reason");
}

/* The line that makes room is the one that was seen least. */
static void test_room(void)
{
    static struct lines l;
    bool there = false;

    for (int i = 0; i < LINES_MOST; i++)
        count(&l, seen(BRIM_STAGE_OTHER, "f", i + 1), i == 70 ? 2 : i == 1 ? 1 : 3);
    count(&l, seen(BRIM_STAGE_OTHER, "new", 1), 1);
    is_str(l.entries[1].at.function, "new", "the line that was seen least makes room");
    for (size_t i = 0; i < l.n; i++)
        there |= l.entries[i].at.line == 71;
    ok(there, "a line that was seen twice stays");
    count(&l, seen(LINES_STAGES, "none", 1), 1);
    ok(l.n == LINES_MOST && !strcmp(l.entries[1].at.function, "new"),
       "a sample of no stage takes no room");
}

int main(void)
{
    test_shares();
    test_range();
    test_dearest();
    test_enclosing();
    test_half();
    test_age();
    test_room();
    return done();
}
