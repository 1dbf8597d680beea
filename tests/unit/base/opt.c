#include "base/opt.h"

#include <string.h>

#include "tap.h"

struct values {
    bool json, verbose;
    const char *from;
    uint64_t count;
    int64_t timeout_ns;
    const char *format;
    struct opt_list pins;
    const char *page;
    const char *since;
    uint64_t size;
    int64_t priority, interval_ns, budget_ns, shift;
};

static const char *const formats[] = { "text", "json", "csv", NULL };

static const struct opt table[] = {
    { OPT_FLAG, 'j', "json", offsetof(struct values, json), NULL, "print JSON" },
    { OPT_FLAG, 'v', "verbose", offsetof(struct values, verbose), NULL, "say more" },
    { OPT_STRING, 0, "from", offsetof(struct values, from), "DIR", "read a recording" },
    { OPT_UINT, 'n', "count", offsetof(struct values, count), "N", "stop after N" },
    { OPT_DURATION, 't', "timeout", offsetof(struct values, timeout_ns), "TIME", "give up after" },
    { OPT_CHOICE, 0, "format", offsetof(struct values, format), "FORMAT", "print as", formats },
    { OPT_UINT, 0, "size", offsetof(struct values, size), "N", "of it", .least = 16, .most = 64,
      .unit = "MiB" },
    { OPT_INT, 0, "priority", offsetof(struct values, priority), "N", "of it", .least = -100,
      .most = 100 },
    { OPT_DURATION, 0, "interval", offsetof(struct values, interval_ns), "TIME", "of it",
      .least = 100 * OPT_MS, .most = OPT_HOUR },
    { OPT_DURATION, 0, "budget", offsetof(struct values, budget_ns), "TIME", "of it",
      .least = 90 * OPT_S },
    { OPT_OUTPUT, 'p', "page", offsetof(struct values, page), "FILE", "print it" },
    { OPT_MAYBE, 0, "since", offsetof(struct values, since), "DAYS", "of the past" },
    { OPT_INT, 0, "shift", offsetof(struct values, shift), "N", "by it" },
    { OPT_LIST, 0, "pin", offsetof(struct values, pins), "X=N", "settle it" },
    { .kind = OPT_END },
};

enum { WORDS_MAX = 16 };

/* A command line: its words, NULL-terminated, and what came of it. */
struct line {
    int argc;
    char *argv[WORDS_MAX + 1];
    char text[512];
    struct values v;
    struct err e;
    int rc;
};

/* Parse the words of text, which single blanks divide. */
static void parse(struct line *l, const char *text)
{
    char *at = l->text;

    memset(l, 0, sizeof(*l));
    snprintf(l->text, sizeof(l->text), "brim %s", text);
    while (at && l->argc < WORDS_MAX)
        l->argv[l->argc++] = strsep(&at, " ");
    l->rc = opt_parse(l->argc, l->argv, table, &l->v, &l->e);
}

static void operands(const char *text, const char *want)
{
    CLEANUP(str_done) struct str got = STR_INIT(512);
    struct line l;

    parse(&l, text);
    for (int i = l.rc; i >= 1 && i < l.argc; i++)
        str_addf(&got, "%s%s", i > l.rc ? " " : "", l.argv[i]);
    if (is_str(str_text(&got), want, "operands of '%s'", text) && l.rc < 0)
        ok(false, "opt_parse succeeds: %s", l.e.text);
    ok(!l.argv[l.argc] && strcmp(l.argv[0], "brim") == 0, "opt_parse leaves both ends of argv");
}

static void usage(const char *text, const char *want)
{
    struct line l;

    parse(&l, text);
    is_str(l.e.text, want, "opt_parse says what is wrong with '%s'", text);
    is_int(l.rc, ERR_USAGE, "opt_parse returns wrong usage for '%s'", text);
}

static void test_values(void)
{
    struct line l;

    parse(&l, "--json --from=a/b --count=3 --timeout=250ms --format=csv");
    is_int(l.rc, 6, "opt_parse takes values behind =");
    ok(l.v.json && !l.v.verbose, "a flag given with two dashes is set, another is not");
    is_str(l.v.from, "a/b", "a string behind = is stored");
    is_int((long long)l.v.count, 3, "a number behind = is stored");
    is_int(l.v.timeout_ns, 250000000, "a duration behind = is stored");
    is_str(l.v.format, "csv", "a choice behind = is stored");
    ok(l.v.format == formats[2], "a choice is stored as the table's own text");

    parse(&l, "--from a/b --count 3 --timeout 2m --format json");
    is_int(l.rc, 9, "opt_parse takes values in the next word");
    is_str(l.v.from, "a/b", "a string in the next word is stored");
    ok(l.v.count == 3 && l.v.timeout_ns == 120000000000,
       "a number and a duration in the next word are stored");
    is_str(l.v.format, "json", "a choice in the next word is stored");

    parse(&l, "-5 -j x -1.5");
    is_int(l.rc, 2, "opt_parse takes a negative number as an operand");
    ok(l.v.json && !strcmp(l.argv[2], "-5") && !strcmp(l.argv[4], "-1.5"),
       "negative numbers stay in their order among operands");

    parse(&l, "-j -v -n3 -t 10");
    is_int(l.rc, 6, "opt_parse takes letters");
    ok(l.v.json && l.v.verbose && l.v.count == 3 && l.v.timeout_ns == 10000000000,
       "letters set flags and take values");
    parse(&l, "-jvn 7");
    ok(l.rc == 3 && l.v.json && l.v.verbose && l.v.count == 7, "letters may stand in one word");
    parse(&l, "-jvn7 x");
    ok(l.rc == 2 && l.v.verbose && l.v.count == 7,
       "a letter's value may stand in the word of other letters");

    parse(&l, "--from=a=b");
    is_str(l.v.from, "a=b", "a string may have an = in it");
    parse(&l, "--from --json");
    ok(!l.v.json, "the word behind is the value, whatever it is");
    is_str(l.v.from, "--json", "a value may begin with dashes");
    parse(&l, "--count=1 --count=2");
    is_int((long long)l.v.count, 2, "the last of two values holds");
    parse(&l, "operand");
    ok(!l.v.json && !l.v.from && l.v.count == 0, "options that are not given are left alone");
}

static void test_list(void)
{
    enum { FEW = 3, MANY = OPT_LIST_MAX + 1 };
    struct values v = { .count = 0 };
    struct err e = { "" };
    struct line l;
    int rc = 0;

    parse(&l, "--pin a=1 train --pin=b --count 2 --pin a=1");
    is_int((int)l.v.pins.n, FEW, "a list takes all its values");
    is_str(l.v.pins.items[0], "a=1", "the first value of a list stands first");
    is_str(l.v.pins.items[1], "b", "a list takes values behind '='");
    is_str(l.v.pins.items[2], "a=1", "a list takes the same value twice");
    for (int i = 0; i < MANY && rc == 0; i++)
        rc = opt_set(table, &v, "pin", "x", &e);
    ok(rc == ERR_USAGE && v.pins.n == OPT_LIST_MAX, "a list takes no more than its maximum");
    is_str(e.text, "pin is given more than 32 times",
           "the error says how often a list may be given");
}

static void test_limits(void)
{
    struct line l;

    parse(&l, "--size=16 --priority=-100 --interval=100ms --budget=90s");
    ok(l.rc == 5 && l.v.size == 16 && l.v.priority == -100, "the least number is taken: %s",
       l.e.text);
    ok(l.v.interval_ns == 100 * OPT_MS && l.v.budget_ns == 90 * OPT_S,
       "the least duration is taken");
    parse(&l, "--size=64 --priority 100 --interval=1h --budget=9999d");
    ok(l.rc == 6 && l.v.size == 64 && l.v.priority == 100, "the most is taken: %s", l.e.text);
    ok(l.v.interval_ns == OPT_HOUR && l.v.budget_ns == 9999 * 24 * OPT_HOUR,
       "a duration without a most has none");
    usage("--size=15", "--size must be from 16 to 64 MiB, not '15'");
    usage("--size=65", "--size must be from 16 to 64 MiB, not '65'");
    usage("--size=18446744073709551615",
          "--size must be from 16 to 64 MiB, not '18446744073709551615'");
    usage("--priority=-101", "--priority must be from -100 to 100, not '-101'");
    usage("--priority=101", "--priority must be from -100 to 100, not '101'");
    usage("--priority=high", "--priority must be from -100 to 100, not 'high'");
    usage("--interval=99ms", "--interval must be from 100ms to 1h, not '99ms'");
    usage("--interval=61m", "--interval must be from 100ms to 1h, not '61m'");
    usage("--budget=1m", "--budget must be at least 90s, not '1m'");
    usage("--shift=x", "--shift: 'x' is not a whole number, such as -5");
    usage("--shift=99999999999999999999", "--shift: '99999999999999999999' is too large");
    usage("--size", "--size needs a value, such as --size=16");
    usage("--budget", "--budget needs a value, such as --budget=90s");
    usage("--interval", "--interval needs a value, such as --interval=10s");
}

static void test_output(void)
{
    struct values v = { 0 };
    struct err e = { "" };
    struct line l;

    parse(&l, "x");
    ok(!l.v.page, "an output that is not given is absent");
    parse(&l, "--page x");
    ok(l.rc == 2, "the word behind an output is an operand");
    is_str(l.v.page, "-", "an output alone is standard output");
    parse(&l, "-jpv x");
    ok(l.rc == 2 && l.v.json && l.v.verbose, "the letter of an output stands among flags");
    is_str(l.v.page, "-", "the letter of an output is standard output");
    parse(&l, "--page=a/b x");
    is_str(l.v.page, "a/b", "an output takes a file behind '='");
    ok(!l.v.since, "a value that may be left out is absent without its option");
    parse(&l, "--since 7");
    is_str(l.v.since, "", "an option whose value may be left out stands alone");
    is_str(l.argv[l.rc], "7", "the next word is no value of it");
    parse(&l, "--since=7");
    is_str(l.v.since, "7", "a value that may be left out stands behind '='");
    usage("--since=", "--since needs a value, such as --since=DAYS; an empty one was given");
    usage("--page=", "--page: '' is not a file's name");
    ok(opt_set(table, &v, "page", "on", &e) == 0, "a configuration may turn an output on");
    is_str(v.page, "-", "an output that is on is standard output");
    ok(opt_set(table, &v, "page", "no", &e) == 0 && !v.page,
       "a configuration may turn an output off");
    ok(opt_set(table, &v, "page", "a/b", &e) == 0, "a configuration may name a file");
    is_str(v.page, "a/b", "an output of a configuration is its file");
}

static void test_operands(void)
{
    operands("a b", "a b");
    operands("--json", "");
    operands("a --json b -n 3 c", "a b c");
    operands("a b -n 3 --json c", "a b c");
    operands("-n 3 a b c --from x", "a b c");
    operands("a -- b", "a b");
    operands("a -- --json", "a --json");
    operands("-- -- a", "-- a");
    operands("a -j -- -v", "a -v");
    operands("- a", "- a");
    operands("a --from - b", "a b");
}

static void test_errors(void)
{
    struct line l;

    usage("--jsn", "unknown option '--jsn' (did you mean '--json'?)");
    usage("--tiemout=3", "unknown option '--tiemout' (did you mean '--timeout'?)");
    usage("--what", "unknown option '--what' (see --help)");
    usage("--=3", "unknown option '--' (see --help)");
    usage("-x", "unknown option '-x' (see --help)");
    usage("--from=", "--from needs a value, such as --from=DIR; an empty one was given");
    usage("-jx", "unknown option '-x' (see --help)");
    usage("-json", "unknown option '-json' (did you mean '--json'?)");
    usage("--timeout", "--timeout needs a value, such as --timeout=10s");
    usage("-t", "--timeout needs a value, such as --timeout=10s");
    usage("--from", "--from needs a value, such as --from=DIR");
    usage("--count", "--count needs a value, such as --count=8");
    usage("-jn", "--count needs a value, such as --count=8");
    usage("--format", "--format needs a value, such as --format=text");
    usage("--help=yes", "--help takes no value: write --help alone");
    usage("--json=yes", "--json takes no value: write --json alone");
    usage("--count=-3", "--count: '-3' is not a whole number, such as 8");
    usage("--count=", "--count: '' is not a whole number, such as 8");
    usage("-n 3x", "--count: '3x' is not a whole number, such as 8");
    usage("--count=18446744073709551616", "--count: '18446744073709551616' is too large");
    usage("--timeout=10x", "--timeout: '10x' is not a duration, such as 10s");
    usage("--timeout=999999d", "--timeout: '999999d' is too large");
    usage("--format=jsn", "--format: 'jsn' is not one of text, json, csv");
    usage("a b --what", "unknown option '--what' (see --help)");

    parse(&l, "--count=3 --count=x");
    is_int((long long)l.v.count, 3, "a bad value is not stored");
    l.rc = opt_parse(l.argc, l.argv, table, &l.v, NULL);
    is_int(l.rc, ERR_USAGE, "opt_parse needs no struct err");
}

static void set_fails(const char *name, const char *text, const char *want)
{
    struct values v = { 0 };
    struct err e = { "" };

    is_int(opt_set(table, &v, name, text, &e), ERR_USAGE, "opt_set refuses %s = %s", name, text);
    is_str(e.text, want, "opt_set says what is wrong with %s = %s", name, text);
}

static void test_set(void)
{
    static const char *const yes[] = { "yes", "true", "on", "1" };
    static const char *const no[] = { "no", "false", "off", "0" };
    struct values v = { 0 };
    struct err e;

    for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
        v.json = false;
        ok(opt_set(table, &v, "json", yes[i], &e) == 0 && v.json,
           "opt_set sets a flag by json = %s", yes[i]);
        ok(opt_set(table, &v, "json", no[i], &e) == 0 && !v.json,
           "opt_set clears a flag by json = %s", no[i]);
    }
    ok(opt_set(table, &v, "count", "9", &e) == 0 && v.count == 9, "opt_set stores a number");
    ok(opt_set(table, &v, "timeout", "1h", &e) == 0 && v.timeout_ns == 3600000000000,
       "opt_set stores a duration");
    ok(opt_set(table, &v, "format", "json", &e) == 0, "opt_set takes a choice");
    is_str(v.format, "json", "opt_set stores a choice");
    ok(opt_set(table, &v, "from", "here", &e) == 0, "opt_set takes a string");
    is_str(v.from, "here", "opt_set stores a string");

    set_fails("jsn", "yes", "unknown key 'jsn' (did you mean 'json'?)");
    set_fails("j", "yes", "unknown key 'j' (keys are the long options of --help)");
    set_fails("json", "maybe", "json: 'maybe' is not yes or no");
    set_fails("count", "many", "count: 'many' is not a whole number, such as 8");
    set_fails("timeout", "10x", "timeout: '10x' is not a duration, such as 10s");
    set_fails("timeout", "999999d", "timeout: '999999d' is too large");
    set_fails("format", "xml", "format: 'xml' is not one of text, json, csv");
    set_fails("a-name-so-long-that-nobody-could-have-meant-any-of-the-names-in-the-table", "1",
              "unknown key 'a-name-so-long-that-nobody-could-have-meant-any-of-the-names-in-the-"
              "table' (keys are the long options of --help)");
}

/* What a line has that the part of the table without count, timeout, page and from lacks. */
static void beyond(const char *text, const char *want)
{
    const struct opt part[] = { table[0], table[1], table[5], { .kind = OPT_END } };
    const struct opt *o;
    struct line l;

    parse(&l, text);
    o = l.rc > 0 ? opt_beyond(table, part, l.rc, l.argv) : NULL;
    is_str(o ? o->name : "", want, "the first option beyond a part of the table in '%s'", text);
}

static void test_beyond(void)
{
    beyond("--json x --verbose", "");
    beyond("x --json --count=3", "count");
    beyond("--format json --from --json", "from");
    beyond("--format=csv --from=a=b -n3", "from");
    beyond("-jv", "");
    beyond("-jvn7 x", "count");
    beyond("-jvn 7 x", "count");
    beyond("-t 5s -n 3", "timeout");
    beyond("-j --page", "page");
    beyond("-p", "page");
    beyond("-j -- --count=3", "");
    beyond("--format text -5", "");
}

/* Options end at the first operand, whose own options are not the program's. */
static void front(const char *text, int rc, bool json, uint64_t count)
{
    struct line l;

    parse(&l, text);
    memset(&l.v, 0, sizeof(l.v));
    snprintf(l.text, sizeof(l.text), "brim %s", text);
    l.argc = 0;
    for (char *at = l.text; at && l.argc < WORDS_MAX;)
        l.argv[l.argc++] = strsep(&at, " ");
    is_int(opt_parse_front(l.argc, l.argv, table, &l.v, &l.e), rc,
           "opt_parse_front returns where '%s' goes on", text);
    ok(l.v.json == json && l.v.count == count, "opt_parse_front sets what stands in front in '%s'",
       text);
}

static void test_front(void)
{
    front("train --json", 1, false, 0);
    front("--json train --count=3", 2, true, 0);
    front("-n 7 --json train -j", 4, true, 7);
    front("--json -- --count=3", 3, true, 0);
    front("-j -- -- x", 3, true, 0);
    front("-j - -n 3", 2, true, 0);
    front("-j", 2, true, 0);
    front("-j --what", ERR_USAGE, true, 0);
}

int main(void)
{
    test_values();
    test_front();
    test_beyond();
    test_list();
    test_limits();
    test_output();
    test_operands();
    test_errors();
    test_set();
    return done();
}
