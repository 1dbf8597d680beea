/* Knobs and conditions: what data/knobs.ini holds, what is refused and where, what a job's file
 * declares, and every allocation failing once. */
#include "model/job/knob.h"

#include <errno.h>

#include "base/str.h"
#include "knobs_ini.h"
#include "oom_arena.h"
#include "tap.h"

#define KNOB \
    "[a]\nwhat = x\nvalues = 0, 2,4\napply = env\ntarget = A_B\neffect = live\nrisk = safe\n"

static const struct {
    const char *text, *why;
} refused[] = {
    { "what = x\n", "f:1: a key stands before the first [knob]" },
    { "[A]\n", "f:1: the name of a knob has small letters, digits, '.', '-' and '_'" },
    { "[a]\n", "f:1: [a]: a knob needs 'values', and 'flag' or 'apply' and 'target'" },
    { "[a]\nwhta = x\n", "f:2: unknown key 'whta' (did you mean what?)" },
    { "[a]\nwhat = x\nwhat = y\n", "f:3: 'what' stands twice in [a]" },
    { "[a]\nwhat =\n", "f:2: 'what' is empty" },
    { "[a]\nrisk = none\n", "f:2: 'risk' is safe, numeric or privileged" },
    { "[a]\napply = magic\n",
      "f:2: 'apply' is env, shim, flag, launcher, binding, device or script" },
    { "[a]\neffect = later\n", "f:2: 'effect' is live, epoch or restart" },
    { "[a]\nranks = some\n", "f:2: 'ranks' is all or each" },
    { "[a]\nrounds = perhaps\n", "f:2: 'rounds' is yes or no" },
    { "[a]\nvalues = 1,,2\n",
      "f:2: a value is 1 to 63 printable letters but ';'; values are parted by commas" },
    { "[a]\nvalues = a;b\n",
      "f:2: a value is 1 to 63 printable letters but ';'; values are parted by commas" },
    { "[a]\nvalues = 1..x\n", "f:2: a range is two whole numbers: 1..64, or 1..64 x2" },
    { "[a]\nvalues = 1..4 x3\n", "f:2: a range is two whole numbers: 1..64, or 1..64 x2" },
    { "[a]\nvalues = model 4\n", "f:2: a range is two whole numbers: 1..64, or 1..64 x2" },
    { "[a]\nvalues = 4..1\n",
      "f:2: a range goes up, from 0 at least (1 with x2), to 1000000000 at most" },
    { "[a]\nvalues = 0..8 x2\n",
      "f:2: a range goes up, from 0 at least (1 with x2), to 1000000000 at most" },
    { "[a]\nneeds = b >\n", "f:2: 'b' is compared with nothing" },
    { KNOB,
      "f:1: [a]: a knob needs 'what', 'values', 'apply', 'target', 'effect', 'risk' and 'undo'" },
    { KNOB "undo = x\n[a]\n", "f:9: there is a knob 'a' in line 1" },
    { "[a]\nvalues = 1\ntarget = x\n",
      "f:1: [a]: a knob needs 'what', 'values', 'apply', 'target', 'effect', 'risk' and 'undo'" },
    { "[a]\nwhat = x\nvalues = 1\napply = env\ntarget = A-B\neffect = live\nrisk = safe\nundo = "
      "x\n",
      "f:1: [a]: a target has letters, digits, '_', '-' and '.'; that of env only letters, digits"
      " and '_'" },
};

static void test_refused(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        struct knobs knobs;
        struct err e = { "" };

        is_int(knobs_load(&knobs, "f", refused[i].text, strlen(refused[i].text), &e), -EINVAL,
               "knobs_load refuses: %s", refused[i].why);
        is_str(e.text, refused[i].why, "the error says: %s", refused[i].why);
    }
}

static void load(struct knobs *k)
{
    struct err e = { "" };

    ok(knobs_load(k, "knobs.ini", data_knobs_ini, data_knobs_ini_len, &e) == 0,
       "knobs_load reads knobs.ini: %s", e.text);
}

static void test_table(void)
{
    CLEANUP(knobs_done) struct knobs k = { .count = 0 };
    const struct knob *workers, *hook;
    char buf[KNOB_VALUE_MAX];
    size_t numeric = 0;

    load(&k);
    workers = knobs_find(&k, "loader.workers");
    hook = knobs_find(&k, "ddp.hook");
    ok(k.count >= 25 && workers && hook, "knobs.ini has 25 knobs or more: %zu", k.count);
    ok(workers->kind == KNOB_MODEL && workers->effect == KNOB_LIVE && workers->risk == KNOB_SAFE,
       "workers are safe, live and proposed by a model");
    ok(!knob_value(workers, 0, buf), "a model's knob has no values of its own");
    ok(hook->risk == KNOB_NUMERIC && hook->effect == KNOB_RESTART,
       "a hook's compression is numeric and needs a restart");
    is_str(knob_value(hook, 2, buf), "bf16", "knob_value has values in their order");
    ok(!knob_value(hook, 4, buf), "knob_value is NULL behind the last value");
    for (size_t i = 0; i < k.count; i++)
        numeric += k.list[i].risk == KNOB_NUMERIC;
    ok(numeric >= 7, "knobs.ini has seven numeric knobs or more: %zu", numeric);
    ok(knobs_find(&k, "power.limit")->risk == KNOB_PRIVILEGED, "power limits are privileged");
    is_str(knobs_near(&k, "loader.worker"), "loader.workers",
           "knobs_near finds a name with a letter missing");
    ok(!knobs_find(&k, "loader"), "knobs_find is NULL for a part of a name");
}

static void test_values(void)
{
    static const char text[] = "[knob.r]\nvalues = 2..20 x2\nflag = --r\n"
                               "[knob.s]\nvalues = 3..5\nflag = -s\n"
                               "[knob.t]\nvalues = 2..16 x2\nflag = -t\n";
    CLEANUP(knobs_done) struct knobs k = { .count = 0 };
    char buf[KNOB_VALUE_MAX];
    struct err e;

    ok(knobs_declare(&k, "f", text, strlen(text), &e) == 0, "knobs_declare reads ranges");
    is_str(knob_value(&k.list[0], 3, buf), "16", "the fourth value of 2..20 x2 is 16");
    ok(!knob_value(&k.list[0], 4, buf) && !knob_value(&k.list[0], (size_t)-1, buf),
       "a doubling range has no value beyond its end");
    is_str(knob_value(&k.list[1], 2, buf), "5", "the third value of 3..5 is 5");
    ok(!knob_value(&k.list[1], 3, buf), "a range has no value behind its last");
    is_str(knob_value(&k.list[2], 3, buf), "16", "doubling reaches the last value");
    ok(!knob_value(&k.list[2], 4, buf), "behind a last value that doubling reaches there is none");
    is_int(knob_check(&k.list[0], "20", &e), 0, "knob_check takes a number between two doublings");
    is_int(knob_check(&k.list[0], "21", &e), -EINVAL,
           "knob_check refuses a number above the range");
    is_str(e.text, "r takes 2 to 20, not '21'", "the error names the knob's range and the value");
    is_int(knob_check(&k.list[0], "4x", &e), -EINVAL,
           "knob_check refuses a word that begins with a number");
}

static void test_declared(void)
{
    static const char text[] = "key = 1\n[job]\nname = x\n[knob.readers]\nflag = --readers\n"
                               "values = 0,2,4\n[other]\nvalues = ,\n";
    static const char again[] = "[knob.loader.workers]\nflag = -w\nvalues = 1\n";
    static const char twice[] = "[knob.readers]\nflag = -w\nvalues = 1\n";
    static const char both[] = "[knob.x]\nflag = -w\napply = env\nvalues = 1\n";
    CLEANUP(knobs_done) struct knobs k = { .count = 0 };
    const struct knob *r;
    struct err e = { "" };
    size_t before;

    load(&k);
    before = k.count;
    ok(knobs_declare(&k, "f", text, strlen(text), &e) == 0, "knobs_declare reads a job's knob: %s",
       e.text);
    r = knobs_find(&k, "readers");
    ok(r && r->declared && r->apply == KNOB_FLAG && r->risk == KNOB_SAFE &&
           r->effect == KNOB_RESTART && r->n_list == 3,
       "a flag's knob has three values and needs a restart");
    is_str(r->target, "--readers", "the target of a flag's knob is the flag");
    is_int(knob_check(r, "2", &e), 0, "knob_check takes a value of the list");
    is_int(knob_check(r, "3", &e), -EINVAL, "knob_check refuses a value that is not in the list");
    is_str(e.text, "readers does not take '3'; its first value is '0'",
           "the error names the knob, the value and the first one");
    is_int(knobs_declare(&k, "f", again, strlen(again), &e), -EINVAL,
           "knobs_declare refuses a name of brim's");
    is_str(e.text, "f:1: brim has a knob 'loader.workers': give yours another name",
           "the error names the knob that brim has");
    is_int(knobs_declare(&k, "f", twice, strlen(twice), &e), -EINVAL,
           "knobs_declare refuses a name declared before");
    is_int(knobs_declare(&k, "f", both, strlen(both), &e), -EINVAL,
           "knobs_declare refuses 'flag' beside 'apply'");
    is_str(e.text, "f:1: [knob.x]: 'flag' stands for 'apply = flag' and its 'target'",
           "the error says that 'flag' stands for 'apply'");
    is_int((long long)k.count, (long long)before + 1,
           "a declaration with an error leaves the knobs as they were");
}

/* A learning rate that follows the size of the batch. */
static void test_rate(void)
{
    static const char text[] = "[knob.rows]\nflag = --rows\nvalues = 64, 128, all\nrisk = numeric\n"
                               "rate = --lr 0.1 at 32\n[knob.more]\nflag = --more\nvalues = 64\n"
                               "rate = -l 0.1 at 16 root\nrisk = numeric\n";
    static const char *const wrong[] = { "--lr 0.1 32",         "--lr x at 32",
                                         "--lr 0.1 at 0",       "lr 0.1 at 32",
                                         "--lr 0.1 at 32 cube", "--lr 0.1 at 32 root root" };
    CLEANUP(knobs_done) struct knobs k = { .count = 0 };
    char buf[KNOB_VALUE_MAX], bad_text[256];
    struct err e = { "" };

    load(&k);
    ok(knobs_declare(&k, "f", text, strlen(text), &e) == 0, "knobs_declare reads a rate: %s",
       e.text);
    is_str(knob_rate(knobs_find(&k, "rows"), "64", buf), "0.2", "twice the batch doubles the rate");
    is_str(knob_rate(knobs_find(&k, "more"), "64", buf), "0.2",
           "four times the batch doubles the rate by root");
    ok(!knob_rate(knobs_find(&k, "rows"), "all", buf), "a value that is no number has no rate");
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        snprintf(bad_text, sizeof(bad_text),
                 "[knob.x]\nflag = -x\nvalues = 1\nrisk = numeric\nrate = %s\n", wrong[i]);
        is_int(knobs_declare(&k, "f", bad_text, strlen(bad_text), &e), -EINVAL,
               "knobs_declare refuses the rate '%s'", wrong[i]);
    }
    snprintf(bad_text, sizeof(bad_text), "[knob.x]\nflag = -x\nvalues = 1\nrate = --lr 1 at 1\n");
    is_int(knobs_declare(&k, "f", bad_text, strlen(bad_text), &e), -EINVAL,
           "knobs_declare refuses a rate without 'risk = numeric'");
    is_str(e.text, "f:1: [knob.x]: 'rate' goes with 'flag', and with 'risk = numeric'",
           "the error says what goes with 'rate'");
}

/* ---- conditions ---- */

static const char *known(const void *ctx, const char *name)
{
    (void)ctx;
    return !strcmp(name, "workers") ? "4" : !strcmp(name, "kind") ? "map" : NULL;
}

static const struct {
    const char *text;
    bool want;
} conditions[] = {
    { "workers", true },
    { "gpus", false },
    { "not gpus", true },
    { "workers and kind", true },
    { "workers and gpus", false },
    { "gpus or kind", true },
    { "gpus and gpus or kind", true },
    { "kind or gpus and gpus", true },
    { "(kind or gpus) and gpus", false },
    { "workers == 4.0", true },
    { "workers != 4", false },
    { "workers >= 4 and workers <= 4", true },
    { "workers > 4 or workers < 4", false },
    { "kind == map", true },
    { "kind != iterable", true },
    { "kind > 1", false },
    { "gpus != 1", false },
    { "not (gpus or not kind)", true },
};

static void test_conditions(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(conditions); i++) {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        struct condition n = { .count = 0 };
        struct err e = { "" };

        ok(condition_parse(&n, &a, conditions[i].text, &e) == 0 &&
               condition_hold(&n, known, NULL) == conditions[i].want,
           "the condition '%s' is %d: %s", conditions[i].text, conditions[i].want, e.text);
    }
    ok(condition_hold(&(struct condition){ .count = 0 }, known, NULL),
       "an empty condition always holds");
}

static const struct {
    const char *text, *why;
} wrong[] = {
    { "", "a name is missing at the end" },
    { "a and", "a name is missing at the end" },
    { "and a", "a name is missing before and" },
    { "a ! b", "a condition cannot have '!'" },
    { "a \xc3", "a condition cannot have '?'" },
    { "(a", "')' is missing" },
    { "a )", "')' was not expected here" },
    { "a b", "'b' was not expected here" },
    { "a == ", "'a' is compared with nothing" },
    { "a < b", "'b' is no number" },
    { "((((((((((a))))))))))", "the condition is nested more than 8 deep" },
    { "not not not not not not not not not a", "the condition is nested more than 8 deep" },
    { "a or a or a or a or a or a or a or a or a or a or a or a or a",
      "the condition has more than 24 parts" },
    { "a1234567890123456789012345678901234567890123456789012345678901234",
      "a word of a condition is longer than 63 letters" },
};

static void test_wrong_conditions(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        struct condition n;
        struct err e = { "" };

        is_int(condition_parse(&n, &a, wrong[i].text, &e), -EINVAL, "condition_parse refuses: %s",
               wrong[i].text);
        is_str(e.text, wrong[i].why, "condition_parse says: %s", wrong[i].why);
    }
}

static void test_too_many(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(1 << 20);
    CLEANUP(knobs_done) struct knobs k = { .count = 0 };
    struct err e;

    for (int i = 0; i < KNOBS_MAX; i++)
        str_addf(&text, "[knob.r%d]\nflag = -r\nvalues = 1\n", i);
    is_int(knobs_declare(&k, "f", str_text(&text), text.len, &e), 0, "knobs_declare takes %d knobs",
           KNOBS_MAX);
    str_reset(&text);
    str_add(&text, "[knob.more]\nflag = -r\nvalues = 1\n");
    is_int(knobs_declare(&k, "f", str_text(&text), text.len, &e), -EINVAL,
           "knobs_declare refuses a knob more than the maximum");
    str_reset(&text);
    str_add(&text, "[knob.v]\nflag = -r\nvalues = 0");
    for (int i = 1; i <= 32; i++)
        str_addf(&text, ",%d", i);
    str_add(&text, "\n");
    knobs_done(&k);
    is_int(knobs_declare(&k, "f", str_text(&text), text.len, &e), -EINVAL,
           "knobs_declare refuses 33 values");
    is_str(e.text, "f:3: there are more than 32 values",
           "the error names the line with more than 32 values");
}

static void test_oom(void)
{
    static const char text[] = "[knob.readers]\nflag = --readers\nvalues = 0,2,4\nneeds = a > 1\n";
    bool failed;

    oom_restart();
    do {
        struct knobs k = { .count = 0 };
        int rc;

        oom_next();
        rc = knobs_load(&k, "f", KNOB "undo = x\n", strlen(KNOB "undo = x\n"), NULL);
        if (rc == 0)
            rc = knobs_declare(&k, "f", text, strlen(text), NULL);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc == 0,
           "knobs_load and knobs_declare with allocation %d failing return %d", oom_at, rc);
        knobs_done(&k);
    } while (failed);
}

int main(void)
{
    test_refused();
    test_table();
    test_values();
    test_declared();
    test_rate();
    test_conditions();
    test_wrong_conditions();
    test_too_many();
    test_oom();
    return done();
}
