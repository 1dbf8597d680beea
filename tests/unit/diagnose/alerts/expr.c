/* Expressions: what is refused and with which words, and what the rest means. */
#include "diagnose/alerts/expr.h"

#include <errno.h>

#include "base/str.h"
#include "ticks.h"

struct pair {
    struct tick before, now;
};

/* Two seconds apart: a counts 10 a second, b 20, c went back, d is new. */
static void fill(struct pair *p)
{
    ticks_begin(&p->before, 10);
    ticks_row(&p->before, &ticks_disk, "a", 100, 1, 8);
    ticks_row(&p->before, &ticks_disk, "b", 100, 1, 8);
    ticks_row(&p->before, &ticks_disk, "c", 100, 1, 8);
    ticks_row(&p->before, &ticks_cpu, "", 5, 50, 0);
    ticks_begin(&p->now, 12);
    ticks_row(&p->now, &ticks_disk, "a", 120, 1, 8);
    ticks_row(&p->now, &ticks_disk, "b", 140, 2, 0);
    ticks_row(&p->now, &ticks_disk, "c", 90, 4, (double)NAN);
    ticks_row(&p->now, &ticks_disk, "d", 90, 8, 8);
    ticks_row(&p->now, &ticks_heat, "b", 30, 0, 0);
    ticks_row(&p->now, &ticks_heat, "a", 20, 0, 0);
    ticks_row(&p->now, &ticks_cpu, "", 6, 58, 3);
    ticks_row(&p->now, &ticks_wait, "io", 0.5, 0, 0);
    ticks_row(&p->now, &ticks_wait, "memory", 0.25, 0, 0);
}

/* "1" or "0" for each disk, or once when set is the host's; what the left is, of the last one. */
static void evaluate(const struct pair *p, const char *set, const char *text, const char *want,
                     double value)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    bool by = !strcmp(set, "disk");
    struct expr_place places[EXPR_SIGNALS_MAX] = { { NULL } };
    struct expr_view view = { .before = &p->before, .now = &p->now, .places = places };
    struct expr_sets sets;
    struct expr x;
    char got[8] = "", memory[4096] = { 0 };
    double left = (double)NAN;
    struct err e = { "" };

    if (!ok(expr_parse(&x, &a, text, set, by, &e) == 0, "expr_parse reads '%s': %s", text, e.text))
        return;
    expr_index(&sets, &p->now);
    if (by)
        view.things.rows = tick_set(&p->now, set, &view.things.n);
    expr_look(&x, &view, &sets);
    for (size_t i = 0; i < (by ? view.things.n : 1); i++)
        got[i] = expr_holds(&x, &view, by ? &view.things.rows[i] : NULL, memory, &left) ? '1' : '0';
    is_str(got, want, "%s", text);
    ok(isnan(value) ? isnan(left) : fabs(left - value) < 1e-9, "%s: left is %g", text, left);
}

static void test_meaning(void)
{
    struct pair p = { .now = { .n_rows = 0 } };

    fill(&p);
    evaluate(&p, "disk", "now > 1", "0111", 8);
    evaluate(&p, "disk", "now >= 2", "0111", 8);
    evaluate(&p, "disk", "now < 2", "1000", 8);
    evaluate(&p, "disk", "now <= 2", "1100", 8);
    evaluate(&p, "disk", "now == 4", "0010", 8);
    evaluate(&p, "disk", "rate(reads_total) > 15", "0100", (double)NAN);
    evaluate(&p, "disk", "rate(reads_total) > 5 and now > 1", "0100", (double)NAN);
    evaluate(&p, "disk", "1 + 2 * now - 6 / 3 == 3", "0100", 15);
    evaluate(&p, "disk", "(1 + 2) * now == 12", "0010", 24);
    evaluate(&p, "disk", "-now * -1 > 3e0", "0011", 8);
    evaluate(&p, "disk", "now * 1e+1 > 2E-1 * 1.5E2", "0011", 80);
    evaluate(&p, "disk", ".5 * now > 1", "0011", 4);
    evaluate(&p, "disk", "\tnow\t>\t1\tand\tnow < 8\t", "0110", 8);
    evaluate(&p, "disk", "now > 1 and now < 8 and size > 0", "0000", 8);
    evaluate(&p, "disk", "now > 0 and size > 0", "1001", 8);
    evaluate(&p, "disk", "now - 1 - 1 == 0", "0100", 6);
    evaluate(&p, "disk", "size / size > 0", "1001", 1);
    evaluate(&p, "disk", "now / size > 1e6", "0100", 1);
    evaluate(&p, "disk", "heat.heat == 30", "0100", (double)NAN);
    evaluate(&p, "disk", "now * heat.heat == 20", "1000", (double)NAN);
    evaluate(&p, "disk", "now > cpu:load", "0011", 8);
    evaluate(&p, "disk", "now * cpu:load > wait:heat{resource=\"io\"} * 12", "0011", 24);
    evaluate(&p, "disk", "now > 2 * peers(now)", "0001", 8); /* the median of 1 2 4 8 is 3 */
    evaluate(&p, "disk", "now == 3 + peers(now) * 0 + peers(size) - 8 + 1", "0010", 8);
    evaluate(&p, "disk", "now < peers(rate(reads_total))", "0000", 8); /* only two have one */
    evaluate(&p, "disk", "now > 0 and cpu:load > 2", "1111", 8);
    evaluate(&p, "disk", "now > past(now)", "0000", 8);
    evaluate(&p, "disk", "nothing > 0", "0000", (double)NAN);
    evaluate(&p, "disk", "cpu.load > 0", "0000", (double)NAN);
    evaluate(&p, "cpu", "rate(seconds_total{mode=\"user\"}) > 3", "1", 4);
    evaluate(&p, "cpu", "rate(seconds_total{mode=\"steal\"}) < 3", "0", (double)NAN);
    evaluate(&p, "cpu", "seconds_total > 0", "0", (double)NAN);
    evaluate(&p, "wait", "heat{resource=\"memory\"} == 0.25", "1", 0.25);
    evaluate(&p, "wait", "heat{resource=\"cpu\"} == 0.25", "0", (double)NAN);
    evaluate(&p, "wait", "heat{device=\"memory\"} == 0.25", "0", (double)NAN);
    evaluate(&p, "wait", "heat == 0.5", "0", (double)NAN);
    tick_done(&p.before);
    tick_done(&p.now);
}

/* More sets than there is room for: those that have none are not seen. */
static void test_many_sets(void)
{
    static struct signal_set sets[EXPR_SETS_MAX + 2];
    static char names[ARRAY_SIZE(sets)][8];
    struct expr_sets found;
    struct tick t = { .n_rows = 0 };

    ticks_begin(&t, 0);
    for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
        snprintf(names[i], sizeof(names[i]), "s%zu", i);
        sets[i] = ticks_heat;
        sets[i].name = names[i];
        ticks_row(&t, &sets[i], "a", 1, 0, 0);
        ticks_row(&t, &sets[i], "b", 1, 0, 0);
    }
    expr_index(&found, &t);
    is_int((long long)found.n, EXPR_SETS_MAX, "64 sets are found");
    ok(found.list[EXPR_SETS_MAX - 1].rows == &t.rows[2 * EXPR_SETS_MAX - 2] &&
           found.list[EXPR_SETS_MAX - 1].n == 2,
       "the last set that is found has its two rows");
    tick_done(&t);
}

/* Where a signal was found is kept from tick to tick, and looked up anew when its set is another,
 * or gone. */
static void test_places(void)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct expr_place places[EXPR_SIGNALS_MAX] = { { NULL } };
    struct signal_set other = ticks_disk;
    struct expr x;
    double left = 0;

    other.defs = ticks_disk_defs + 1; /* "now" is the first of these */
    other.n_defs = 2;
    if (expr_parse(&x, &a, "now > 0", "disk", true, NULL) < 0)
        return;
    for (int i = 0; i < 6; i++) {
        struct tick t = { .n_rows = 0 };
        struct expr_view view = { .now = &t, .places = places };
        struct expr_sets sets;

        ticks_begin(&t, i);
        ticks_row(&t, &ticks_cpu, "", 0, 0, 0);
        if (i != 2)
            ticks_row(&t, i > 3 ? &other : &ticks_disk, "a", 5, 7, 9);
        expr_index(&sets, &t);
        if (i != 2)
            view.things = sets.list[1];
        expr_look(&x, &view, &sets);
        is_int(places[0].set != NULL, i != 2, "the set of tick %d is found where it is", i);
        if (i != 2) {
            ok(expr_holds(&x, &view, view.things.rows, NULL, &left), "tick %d holds", i);
            is_int((long long)left, i > 3 ? 5 : 7, "the value of tick %d is the one of its set", i);
        }
        tick_done(&t);
    }
}

/* A median is of 64 things at most, and of all that have the value. */
static void test_many_peers(void)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct expr_place places[EXPR_SIGNALS_MAX] = { { NULL } };
    struct tick t = { .n_rows = 0 };
    struct expr_view view = { .now = &t, .places = places };
    struct expr_sets sets;
    struct expr x;

    ticks_begin(&t, 0);
    for (int i = 0; i < 2 * EXPR_THINGS_MAX; i++) {
        char name[8];

        snprintf(name, sizeof(name), "sd%d", i);
        ticks_row(&t, &ticks_disk, name, 0, i, 0);
    }
    if (expr_parse(&x, &a, "now > peers(now)", "disk", true, NULL) < 0)
        return;
    expr_index(&sets, &t);
    view.things = sets.list[0];
    expr_look(&x, &view, &sets);
    ok(view.peers[0] > 31.49 && view.peers[0] < 31.51, "the median of the first 64 things is %g",
       view.peers[0]);
    view.things.n = 3;
    expr_look(&x, &view, &sets);
    ok(view.peers[0] > 0.99 && view.peers[0] < 1.01, "the median of three things is %g",
       view.peers[0]);
    view.things.n = 2;
    expr_look(&x, &view, &sets);
    ok(isnan(view.peers[0]), "two things have no median");
    tick_done(&t);
}

static const struct {
    const char *text, *why;
} refused[] = {
    { "", "a signal is missing at the end" },
    { "now", "a comparison (> < >= <= ==) is missing at the end" },
    { "now >", "a signal is missing at the end" },
    { "now > 1 2", "'and' or the end is missing at '2'" },
    { "now > 1 or now < 0", "'and' or the end is missing at 'or now < 0'" },
    { "now > 1 andnow < 0", "'and' or the end is missing at 'andnow < 0'" },
    { "now > 1x", "this is no number at '1x'" },
    { "(now > 1", "a ')' is missing at '> 1'" },
    { "1 > now", "the left of a comparison needs a signal; it is missing at '> now'" },
    { "cpu:load > 1",
      "the first comparison needs a signal of the thing; it is missing at the end" },
    { "now > 1 and cpu:load > now",
      "the signal of the thing must be on the left of the comparison at the end" },
    { "rat(now) > 1", "there is no function 'rat' (did you mean rate?)" },
    { "something(now) > 1", "there is no function 'something'" },
    { "rate(1) > 1", "a signal is missing at '1) > 1'" },
    { "increase(now) > 1", "increase() takes a signal and a time, as in increase(x, 10m);"
                           " a ',' is missing at ') > 1'" },
    { "increase(now, 5q) > 1", "this is no time of a second at least at '5q) > 1'" },
    { "increase(now, 1ms) > 1", "this is no time of a second at least at '1ms) > 1'" },
    { "increase(now, 1111111111111111111111111111111s) > 1",
      "a time is too long at '111111111111111111111111'" },
    { "increase(now, 111111111111111111111111111111s) > 1",
      "this is no time of a second at least at '111111111111111111111111'" },
    { "increase(now, 1s > 1", "a ')' is missing at '> 1'" },
    { "increase(now, 999ms) > 1", "this is no time of a second at least at '999ms) > 1'" },
    { "now > 1 and", "a signal is missing at the end" },
    { "now > 2 -", "a signal is missing at the end" },
    { "now > peers(now", "a ')' is missing at the end" },
    { "now > past(past(now))", "peers() and past() may not stand in each other at 'now))'" },
    { "now{a=\"b\"}{c=\"d\"} > 1", "a comparison (> < >= <= ==) is missing at '{c=\"d\"} > 1'" },
    { "disk.1now > 1", "the name of a signal is missing at '1now > 1'" },
    { "peers(past(now)) > 1", "peers() and past() may not stand in each other at 'now)) > 1'" },
    { "peers(increase(now, 1m)) > 1",
      "increase() may not stand in peers() or past() at ', 1m)) > 1'" },
    { "now > peers(1)", "peers() needs a signal of the things at the end" },
    { "now > peers(cpu:load)", "peers() needs a signal of the things at the end" },
    { "now > past(1)", "past() needs a signal at the end" },
    { "now{} > 1", "a label is missing at '} > 1'" },
    { "now{a} > 1", "a '=' is missing at '} > 1'" },
    { "now{a=b} > 1", "a '\"' is missing at 'b} > 1'" },
    { "now{a=\"b} > 1", "the label's value has no end at 'b} > 1'" },
    { "now{a=\"b\\\"\"} > 1", "the label's value has no end at 'b\\\"\"} > 1'" },
    { "now{a=\"b\" > 1", "a '}' is missing at '> 1'" },
    { "disk. now > 1", "the name of a signal is missing at 'now > 1'" },
    { "now > peers(now) + peers(now) + peers(now) + peers(now) + peers(now)",
      "peers() stands here too often at 'now)'" },
    { "now > 1+1*(1+1*(1+1*(1+1*(1+1*(1+1*(1+1*(1+1*(1))))))))",
      "the expression is nested too deeply at '*(1))))))))'" },
    { "now > 11111111111111111111111111111111111111111", "a number is too long at "
                                                         "'111111111111111111111111'" },
};

static void test_refused(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        struct err e = { "" };
        struct expr x;

        is_int(expr_parse(&x, &a, refused[i].text, "disk", true, &e), -EINVAL,
               "expr_parse refuses '%s'", refused[i].text);
        is_str(e.text, refused[i].why, "the error explains why '%s' is refused", refused[i].text);
    }
}

/* A rule about the whole machine has no things that could be peers. */
static void test_host(void)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct err e = { "" };
    struct expr x;

    is_int(expr_parse(&x, &a, "now > peers(now)", "disk", false, &e), -EINVAL,
           "expr_parse refuses peers() in a rule about the machine");
    is_str(e.text, "peers() is for rules that are 'by' a thing at 'now)'",
           "the error explains what peers() is for");
    is_int(expr_parse(&x, &a, "now > 1 and increase(now, 1s) > past(cpu:load)", "disk", false, &e),
           0, "expr_parse takes a rule about the machine: %s", e.text);
    is_int((long long)x.n_signals, 3, "the rule about the machine has three signals");
}

/* A text of so many copies of a part. */
static void test_limits(void)
{
    static const struct {
        const char *begin, *part, *end, *why;
        int most; /* that are still taken */
    } limits[] = {
        { "", "(", "now > 1", "the expression is nested too deeply", -1 },
        { "now > 1", " + 1", "", "the expression is too long", 46 },
        { "now > 1", " + now", "", "there are too many signals", 15 },
        { "now > 1", " + (1", "", "the expression is nested too deeply", -1 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
        for (int n = limits[i].most; n <= limits[i].most + 1; n++) {
            CLEANUP(arena_done) struct arena a = ARENA_INIT;
            CLEANUP(str_done) struct str text = STR_INIT(4096);
            struct err e = { "" };
            struct expr x;
            int rc;

            str_add(&text, limits[i].begin);
            for (int k = 0; k < (limits[i].most < 0 ? 100 : n); k++)
                str_add(&text, limits[i].part);
            str_add(&text, limits[i].end);
            rc = expr_parse(&x, &a, str_text(&text), "disk", true, &e);
            is_int(rc, limits[i].most >= 0 && n == limits[i].most ? 0 : -EINVAL,
                   "expr_parse takes %d of '%s' up to the limit", n, limits[i].part);
            ok(rc == 0 || !strncmp(e.text, limits[i].why, strlen(limits[i].why)),
               "an error begins with '%s': %s", limits[i].why, e.text);
        }
    }
}

/* One thing over time: the value of the left side after each second. */
struct series {
    struct arena arena;
    struct expr x;
    char memory[4096];
    struct tick ticks[2];
    int64_t second;
};

static double next(struct series *s, double total, double now, int64_t step)
{
    struct expr_place places[EXPR_SIGNALS_MAX] = { { NULL } };
    struct tick *t = &s->ticks[s->second % 2];
    struct expr_view view = { .before = NULL, .now = t, .places = places };
    struct expr_sets sets;
    double left;

    s->second += step;
    ticks_begin(t, s->second);
    ticks_row(t, &ticks_disk, "a", total, now, 0);
    expr_index(&sets, t);
    view.things = sets.list[0];
    expr_look(&s->x, &view, &sets);
    expr_holds(&s->x, &view, &view.things.rows[0], s->memory, &left);
    return left;
}

static bool near(double got, double want, double within)
{
    return fabs(got - want) <= within;
}

static void test_increase(void)
{
    struct series s = { .second = 100 };

    ok(expr_parse(&s.x, &s.arena, "increase(reads_total, 10m) > 0", "disk", true, NULL) == 0,
       "expr_parse reads an expression with increase()");
    ok(expr_memory(&s.x) > 0 && expr_memory(&s.x) <= sizeof(s.memory),
       "increase() needs memory, and no more than there is");
    is_int((long long)next(&s, 50, 0, 1), 0, "what was counted before is not growth");
    is_int((long long)next(&s, 50, 0, 1), 0, "a counter that stays has no increase");
    is_int((long long)next(&s, 53, 0, 1), 3, "an increase counts at once");
    for (int i = 0; i < 500; i++)
        is_int((long long)next(&s, 53, 0, 1), 3, "an increase stays within its window");
    for (int i = 0; i < 110; i++)
        (void)next(&s, 53, 0, 1);
    is_int((long long)next(&s, 53, 0, 1), 0,
           "an increase that is older than the window does not count");
    is_int((long long)next(&s, 60, 0, 1), 7, "a counter that grows again has an increase");
    is_int((long long)next(&s, 2, 0, 1), 0, "a counter that starts anew has no increase");
    is_int((long long)next(&s, 4, 0, 1), 2, "increase() counts on from a counter's new start");
    ok(isnan(next(&s, (double)NAN, 0, 1)), "a value that is absent has no increase");
    is_int((long long)next(&s, 5, 0, 1), 3, "a value that comes back adds to the increase");
    is_int((long long)next(&s, 9, 0, 100000), 0, "a gap longer than the window has no increase");
    for (int i = 1; i <= 3000; i++)
        (void)next(&s, 9 + i, 0, 1);
    ok(near(next(&s, 9 + 3001, 0, 1), 600, 41),
       "the increase of a steady counter is that of the window");
    for (size_t i = 0; i < 2; i++)
        tick_done(&s.ticks[i]);
    arena_done(&s.arena);
}

static void test_past(void)
{
    struct series s = { .second = 100 };
    double value = 0;

    ok(expr_parse(&s.x, &s.arena, "past(now) > 0", "disk", true, NULL) == 0,
       "expr_parse reads an expression with past()");
    for (int i = 0; i < 600; i++)
        ok(isnan(next(&s, 0, 10, 1)), "%d s are too few", i);
    ok(near(next(&s, 0, 10, 1), 10, 1e-9), "10 minutes are enough");
    for (int i = 0; i < 600; i++)
        value = next(&s, 0, 20, 1);
    ok(near(value, 15, 0.1), "at first it is the plain mean: %g", value);
    (void)next(&s, 0, (double)NAN, 1);
    ok(near(next(&s, 0, (double)NAN, 1), value, 1e-9), "absent changes nothing");
    (void)next(&s, 0, (double)INFINITY, 1);
    ok(near(next(&s, 0, 20, 1), 15, 0.2), "a value that is not finite changes no past");
    for (int i = 0; i < 36000; i++)
        (void)next(&s, 0, 40, 1);
    ok(near(next(&s, 0, 40, 1), 40, 0.01), "ten hours later the old is forgotten");
    for (int i = 0; i < 3600; i++)
        value = next(&s, 0, 0, 1);
    ok(near(value, 40 / 2.718, 0.1), "after an hour it weighs e times less: %g", value);
    for (size_t i = 0; i < 2; i++)
        tick_done(&s.ticks[i]);
    arena_done(&s.arena);
}

/* Two of each in one expression: none touches what another one remembers. */
static void test_several_memories(void)
{
    struct series s = { .second = 100 };
    double value = 0;

    ok(expr_parse(&s.x, &s.arena,
                  "increase(reads_total, 10m) + 1000 * increase(now, 20m) + 1e6 * past(size + 7) + "
                  "1e9 * past(size + 3) > 0",
                  "disk", true, NULL) == 0,
       "expr_parse reads an expression with two of increase() and of past()");
    ok(expr_memory(&s.x) > 0 && expr_memory(&s.x) <= sizeof(s.memory),
       "two of increase() and of past() need no more memory than there is");
    ok(isnan(next(&s, 50, 7, 1)), "an expression with past() is not known at first");
    for (int i = 0; i < 700; i++)
        value = next(&s, i < 690 ? 50 : 53, i < 690 ? 7 : 9, 1);
    ok(near(value, 3 + 2 * 1e3 + 7 * 1e6 + 3 * 1e9, 0.1),
       "the sum has the increases of 3 and of 2, and the pasts of 7 and of 3: %.0f", value);
    for (size_t i = 0; i < 2; i++)
        tick_done(&s.ticks[i]);
    arena_done(&s.arena);
}

int main(void)
{
    test_meaning();
    test_many_sets();
    test_places();
    test_many_peers();
    test_refused();
    test_host();
    test_limits();
    test_increase();
    test_past();
    test_several_memories();
    return done();
}
