/* Knobs and conditions at their limits: the longest name, value and word, the ends of ranges, the
 * first and the last letter of what may stand in a word; what a knob has where its file says
 * nothing; and what lacks of it is told. */
#include <errno.h>

#include "base/str.h"
#include "model/job/knob.h"
#include "oom_arena.h"
#include "tap.h"

/* Declare a knob of these lines; the sentence of an error, or "". */
static const char *declare(struct knobs *k, const char *lines, struct err *e)
{
    *e = (struct err){ "" };
    if (knobs_declare(k, "f", lines, strlen(lines), e) < 0)
        return e->text;
    return "";
}

#define RANGE "f:3: a range goes up, from 0 at least (1 with x2), to 1000000000 at most"
#define NUMBERS "f:3: a range is two whole numbers: 1..64, or 1..64 x2"
#define PLAIN "f:3: a value is 1 to 63 printable letters but ';'; values are parted by commas"
#define LETTERS_20 "abcdefghijabcdefghij"

static void test_values(void)
{
    static const struct {
        const char *values, *why;
    } rows[] = {
        { "0..1000000000", "" },
        { "0..1000000001", RANGE },
        { "-1..4", RANGE },
        { "0..0", "" },
        { "1..1 x2", "" },
        { "0..4 x2", RANGE },
        { "1 .. 4", NUMBERS },
        { "1..4x2", NUMBERS },
        { "1..4 \t x2", "" },
        { "1..4 x2 x2", NUMBERS },
        { "x..4", NUMBERS },
        { "model 1..4 x2", NUMBERS },
        { "model 2..4", "" },
        { "00000000000000000000001..2", "" },
        { "000000000000000000000001..2", NUMBERS },
        { "1..00000000000000000000002", "" },
        { "1..000000000000000000000000002", NUMBERS },
        { " ~,!,  a b  ,c", "" },
        { "a,\x7f", PLAIN },
        { "a\x1f", PLAIN },
        { "a,,b", PLAIN },
        { "a, ,b", PLAIN },
        { "a;b", PLAIN },
        { LETTERS_20 LETTERS_20 LETTERS_20 "abc", "" },
        { LETTERS_20 LETTERS_20 LETTERS_20 "abcd", PLAIN },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        CLEANUP(knobs_done) struct knobs k = { .count = 0 };
        char text[256];
        struct err e;

        snprintf(text, sizeof(text), "[knob.a]\nflag = -a\nvalues = %s\n", rows[i].values);
        is_str(declare(&k, text, &e), rows[i].why, "the values '%s' are taken, or refused",
               rows[i].values);
        is_int((long long)k.count, *rows[i].why ? 0 : 1, "a knob with the values '%s' is there",
               rows[i].values);
    }
}

static void test_list(void)
{
    CLEANUP(knobs_done) struct knobs k = { .count = 0 };
    CLEANUP(str_done) struct str text = STR_INIT(4096);
    char buf[KNOB_VALUE_MAX];
    struct err e;

    str_add(&text, "[knob.a]\nflag = -a\nvalues =  0 ,\t1\t");
    for (int i = 2; i < 32; i++)
        str_addf(&text, ",%d", i);
    str_add(&text, "\n[knob.b]\nflag = -b\nvalues = 3..5\n");
    is_str(declare(&k, str_text(&text), &e), "", "a list of 32 values is taken");
    is_int((long long)k.list[0].n_list, 32, "a list has its 32 values");
    is_str(k.list[0].list[0], "0", "blanks around a value are left out");
    is_str(k.list[0].list[1], "1", "tabs around a value are left out");
    is_str(knob_value(&k.list[0], 31, buf), "31", "knob_value has the last value of a list");
    ok(!knob_value(&k.list[0], 32, buf), "knob_value has nothing behind a list");
    is_str(knob_value(&k.list[1], 0, buf), "3", "the first value of a range is its low end");
    is_int(knob_check(&k.list[1], "3", NULL), 0, "the low end of a range is a value");
    is_int(knob_check(&k.list[1], "2", NULL), -EINVAL, "what is below a range is none");
    is_int(knob_check(&k.list[1], "5", NULL), 0, "the high end of a range is a value");
}

#define NAME "f:1: the name of a knob has small letters, digits, '.', '-' and '_'"
#define TARGET \
    "f:1: [knob.a]: a target has letters, digits, '_', '-' and '.'; that of env only letters, " \
    "digits and '_'"

static void test_names(void)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        { "[knob.a-b_c.9]\nflag = -a\nvalues = 1\n", "" },
        { "[knob.9]\nflag = -a\nvalues = 1\n", NAME },
        { "[knob.]\nflag = -a\nvalues = 1\n", NAME },
        { "[knob.a+b]\nflag = -a\nvalues = 1\n", NAME },
        { "[knob.aB]\nflag = -a\nvalues = 1\n", NAME },
        { "[knob.a]\nvalues = 1\napply = env\ntarget = A_9\n", "" },
        { "[knob.a]\nvalues = 1\napply = env\ntarget = 9A\n", TARGET },
        { "[knob.a]\nvalues = 1\napply = env\ntarget = A.B\n", TARGET },
        { "[knob.a]\nvalues = 1\napply = shim\ntarget = 9A.b-c\n", "" },
        { "[knob.a]\nvalues = 1\napply = shim\ntarget = a b\n", TARGET },
        { "[knob.a]\nvalues = 1\ntarget = a\n", "f:1: [knob.a]: 'target' needs 'apply'" },
        { "[knob.a]\nflag = -a\ntarget = a\nvalues = 1\n",
          "f:1: [knob.a]: 'flag' stands for 'apply = flag' and its 'target'" },
        { "[knob.a]\nflag = -a\n",
          "f:1: [knob.a]: a knob needs 'values', and 'flag' or 'apply' and 'target'" },
        { "[knob.a]\nvalues = 1\napply = env\n",
          "f:1: [knob.a]: a knob needs 'values', and 'flag' or 'apply' and 'target'" },
        { "[knob.a]\nvalues = 1\n[knob.b]\nflag = -b\nvalues = 1\n",
          "f:1: [knob.a]: a knob needs 'values', and 'flag' or 'apply' and 'target'" },
        { "[knob.a]\nvalues = 1\n[other]\n",
          "f:1: [knob.a]: a knob needs 'values', and 'flag' or 'apply' and 'target'" },
        { "[knob.a]\napply = env\ntarget = A\nvalues = 1\nrisk = numeric\nrate = --lr 1 at 1\n",
          "f:1: [knob.a]: 'rate' goes with 'flag', and with 'risk = numeric'" },
        { "[knob.a]\nflag = -a\nvalues = 1\nxyzzy = 1\n", "f:4: unknown key 'xyzzy'" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        CLEANUP(knobs_done) struct knobs k = { .count = 0 };
        struct err e;

        is_str(declare(&k, rows[i].text, &e), rows[i].why, "text %zu is taken, or refused: %s", i,
               rows[i].why);
    }
}

static void test_long_name(void)
{
    for (int more = 0; more < 2; more++) {
        CLEANUP(knobs_done) struct knobs k = { .count = 0 };
        CLEANUP(str_done) struct str text = STR_INIT(1024);
        struct err e;

        str_add(&text, "[knob.");
        str_fill(&text, 'k', KNOB_NAME_MAX - 1 + more);
        str_add(&text, "]\nflag = -a\nvalues = 1\n");
        is_str(declare(&k, str_text(&text), &e), more ? NAME : "",
               "a name of %d letters is taken, or refused", KNOB_NAME_MAX - 1 + more);
    }
}

#define ALL \
    "what = w\nvalues = 1\napply = device\ntarget = t\neffect = epoch\nrisk = privileged\n" \
    "undo = u\n"

/* What a knob has where its file says nothing, and what it says. */
static void test_defaults(void)
{
    static const char own[] = "[a]\n" ALL "needs = b > 1\nrounds = yes\n"
                              "ranks = all\n[b]\n" ALL "rounds = no\nranks = each\n";
    static const char declared[] = "[knob.c]\nflag = -c\nvalues = 1\n"
                                   "[knob.d]\nflag = -d\nvalues = 1\nwhat = w\nundo = u\n";
    CLEANUP(knobs_done) struct knobs k = { .count = 0 };
    struct err e = { "" };

    is_int(knobs_load(&k, "f", own, strlen(own), &e), 0, "two knobs are read: %s", e.text);
    is_str(declare(&k, declared, &e), "", "two more are declared");
    ok(k.list[0].rounds && !k.list[1].rounds, "a knob rounds, or does not");
    ok(k.list[0].common && !k.list[1].common, "all ranks must have it, or each for itself");
    ok(k.list[0].apply == KNOB_DEVICE && k.list[0].effect == KNOB_EPOCH &&
           k.list[0].risk == KNOB_PRIVILEGED && !k.list[0].declared,
       "a knob has its words");
    is_str(k.list[0].needs_text, "b > 1", "a knob has the text of its condition");
    is_int((long long)k.list[0].needs.count, 1, "a knob has its condition");
    is_str(k.list[1].needs_text, "", "a condition that is not told is empty");
    is_str(k.list[2].what, "c", "a knob without words is called by its name");
    is_str(k.list[2].undo, "start the job without it", "a declared knob goes with the job");
    is_str(k.list[3].what, "w", "a declared knob has its words");
    is_str(k.list[3].undo, "u", "a declared knob has its way back");
    is_int(k.list[3].line, 4, "a knob has its line");
    ok(!knobs_near(&k, "zzzzzzzz"), "no name is near what is like none");
}

/* Each key that a knob of brim's own may not lack. */
static void test_lacks(void)
{
    static const char *const lines[] = { "what = w\n", "apply = device\n", "effect = epoch\n",
                                         "risk = numeric\n", "undo = u\n" };

    for (size_t without = 0; without < ARRAY_SIZE(lines); without++) {
        CLEANUP(str_done) struct str text = STR_INIT(1024);
        struct knobs k;
        struct err e = { "" };

        str_add(&text, "[a]\nvalues = 1\ntarget = t\n");
        for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
            str_add(&text, i == without ? "" : lines[i]);
        is_int(knobs_load(&k, "f", str_text(&text), text.len, &e), -EINVAL,
               "a knob is refused without '%.*s'", (int)strlen(lines[without]) - 1, lines[without]);
        is_str(e.text,
               "f:1: [a]: a knob needs 'what', 'values', 'apply', 'target', 'effect', 'risk' and "
               "'undo'",
               "the error names all that a knob needs");
    }
}

/* ---- conditions ---- */

static const char *known(const void *ctx, const char *name)
{
    (void)ctx;
    return !strcmp(name, "n") ? "4" : !strcmp(name, "w") ? "az" : NULL;
}

static int holds(const char *text, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct condition c = { .count = 0 };

    *e = (struct err){ "" };
    if (condition_parse(&c, &a, text, e) < 0)
        return -1;
    return condition_hold(&c, known, NULL);
}

static void test_conditions(void)
{
    static const struct {
        const char *text;
        int want; /* -1: it is refused */
        const char *why;
    } rows[] = {
        { "n < 4", 0, "" },
        { "n < 4.5", 1, "" },
        { "n <= 3.9", 0, "" },
        { "n <= 4", 1, "" },
        { "n > 4", 0, "" },
        { "n > 3.9", 1, "" },
        { "n >= 4", 1, "" },
        { "n >= 4.1", 0, "" },
        { "n == 4", 1, "" },
        { "n == four", 0, "" },
        { "n != four", 1, "" },
        { "w == az", 1, "" },
        { "w == 4", 0, "" },
        { "w < 4", 0, "" },
        { "not n", 0, "" },
        { "not not n", 1, "" },
        { "n and not none", 1, "" },
        { "n and w and not none", 1, "" },
        { "none or not none and n", 1, "" },
        { "(none or n) and w", 1, "" },
        { "w == aAZ09._-+/z", 0, "" },
        { "\tn\t==\t4\t", 1, "" },
        { "n\x7f", -1, "a condition cannot have '?'" },
        { "n ~", -1, "a condition cannot have '~'" },
        { "n !", -1, "a condition cannot have '!'" },
        { "n `", -1, "a condition cannot have '`'" },
        { "n {", -1, "a condition cannot have '{'" },
        { "n @", -1, "a condition cannot have '@'" },
        { "n [", -1, "a condition cannot have '['" },
        { "n ::", -1, "a condition cannot have ':'" },
        { "n\n", -1, "a condition cannot have '?'" },
        { "n == and", -1, "'n' is compared with nothing" },
        { "n == (", -1, "'n' is compared with nothing" },
        { "n == {", -1, "a condition cannot have '{'" },
        { "not", -1, "a name is missing at the end" },
        { "n or or", -1, "a name is missing before or" },
        { "== n", -1, "a name is missing before ==" },
        { "()", -1, "a name is missing before )" },
        { "((((((((n))))))))", 1, "" },
        { "(((((((((n)))))))))", -1, "the condition is nested more than 8 deep" },
        { "((((((((n)))))))) and ((((((((w))))))))", 1, "" },
        { "not not not not not not not not n", 1, "" },
        { "n or n or n or n or n or n or n or n or n or n or n or n", 1, "" },
        { "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabc", 0, "" },
        { "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcd", -1,
          "a word of a condition is longer than 63 letters" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct err e;

        is_int(holds(rows[i].text, &e), rows[i].want, "the condition '%s' is %d", rows[i].text,
               rows[i].want);
        is_str(e.text, rows[i].why, "the condition '%s' is refused with a sentence, or not",
               rows[i].text);
    }
}

/* A condition of as many parts as there is room for: they all stand beside each other at first. */
static void test_parts(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(4096);
    struct err e;

    str_add(&text, "n");
    for (int parts = 1; parts + 2 <= NEEDS_PARTS; parts += 2)
        str_add(&text, " and n");
    is_int(holds(str_text(&text), &e), 1, "a condition of 23 parts holds");
    str_reset(&text);
    str_add(&text, "not n");
    for (int parts = 2; parts + 2 <= NEEDS_PARTS; parts += 2)
        str_add(&text, " or n");
    is_int(holds(str_text(&text), &e), 1, "a condition of 24 parts holds");
    str_add(&text, " or n");
    is_int(holds(str_text(&text), &e), -1, "a condition of 26 parts is refused");
}

static void test_no_memory(void)
{
    static const char text[] = "[knob.a]\nflag = -a\nvalues = 1, 2\nwhat = w\nundo = u\n"
                               "needs = not (a > 1) or b\nrisk = numeric\n"
                               "rate = --lr 0.1 at 32 root\n[knob.b]\napply = env\ntarget = B\n"
                               "values = 1..4\n";
    bool failed;

    oom_restart();
    do {
        struct knobs k = { .count = 0 };
        int rc;

        oom_next();
        rc = knobs_declare(&k, "f", text, strlen(text), NULL);
        failed = oom_end();
        is_int(rc, failed ? -ENOMEM : 0, "knobs with allocation %d failing", oom_at);
        is_int((long long)k.count, failed ? 0 : 2, "knobs are whole with allocation %d failing",
               oom_at);
        knobs_done(&k);
    } while (failed);
}

int main(void)
{
    test_values();
    test_list();
    test_names();
    test_long_name();
    test_defaults();
    test_lacks();
    test_conditions();
    test_parts();
    test_no_memory();
    return done();
}
