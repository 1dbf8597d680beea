#include "base/opt.h"

#include <errno.h>

#include "tap.h"

static const char *const formats[] = { "text", "json-lines", NULL };

static const struct opt table[] = {
    { OPT_FLAG, 'j', "json", 0, NULL, "print JSON" },
    { OPT_STRING, 0, "from", 0, "DIR", "read a recording" },
    { OPT_CHOICE, 'f', "format", 0, "FORMAT", "print as", formats },
    { OPT_OUTPUT, 'p', "page", 0, "FILE", "print it" },
    { .kind = OPT_END },
};

static const struct opt long_table[] = {
    { OPT_FLAG, 'q', "q", 0, NULL, "be quiet" },
    { OPT_DURATION, 0, "a-rather-long-name", 0, "TIME", "wait" },
    { OPT_MAYBE, 0, "since", 0, "DAYS", "of the past" },
    { .kind = OPT_END },
};

static const struct opt hostile_table[] = {
    { OPT_STRING, 0, "no-wait", 0, "A-B", ".so on: a\\b - 'c'" },
    { OPT_FLAG, '\'', "quote", 0, NULL, "'twas" },
    { .kind = OPT_END },
};

static const struct opt limits_table[] = {
    { OPT_UINT, 0, "size", 0, "N", "of it", .least = 16, .most = 64, .unit = "MiB" },
    { OPT_UINT, 0, "rate", 0, "N", "of it", .unit = "Gbit/s" },
    { OPT_INT, 0, "priority", 0, "N", "of it", .least = -100, .most = 100 },
    { OPT_DURATION, 0, "every", 0, "TIME", "of it", .least = 1500 * OPT_MS, .most = 48 * OPT_HOUR },
    { OPT_DURATION, 0, "budget", 0, "TIME", "of it", .least = 90 * OPT_MIN },
    { .kind = OPT_END },
};

static const struct opt empty_table[] = { { .kind = OPT_END } };

static void prints(void (*print)(const struct opt *, struct str *), const struct opt *options,
                   const char *want, const char *what)
{
    CLEANUP(str_done) struct str out = STR_INIT(4096);

    print(options, &out);
    is_str(str_text(&out), want, "%s", what);
}

static void test_help(void)
{
    CLEANUP(str_done) struct str small = STR_INIT(10);

    prints(opt_help, table,
           "  -j, --json            print JSON\n"
           "      --from=DIR        read a recording\n"
           "  -f, --format=FORMAT   print as (text, json-lines)\n"
           "  -p, --page[=FILE]     print it\n",
           "opt_help aligns its texts");
    prints(opt_help, long_table,
           "  -q, --q                        be quiet\n"
           "      --a-rather-long-name=TIME  wait\n"
           "      --since[=DAYS]             of the past\n",
           "a long name moves all texts of the help");
    prints(opt_help, limits_table,
           "      --size=N          of it; 16 to 64 MiB\n"
           "      --rate=N          of it, in Gbit/s\n"
           "      --priority=N      of it; -100 to 100\n"
           "      --every=TIME      of it; 1500ms to 2d\n"
           "      --budget=TIME     of it; at least 90m\n",
           "limits and units stand in the help");
    prints(opt_help, empty_table, "", "opt_help prints nothing without options");
    opt_help(table, &small);
    is_int(str_error(&small), -EFBIG, "a text too small says so");
}

static void test_man(void)
{
    prints(opt_man, table,
           ".TP\n"
           "\\fB\\-j\\fR, \\fB\\-\\-json\\fR\n"
           "print JSON\n"
           ".TP\n"
           "\\fB\\-\\-from\\fR=\\fIDIR\\fR\n"
           "read a recording\n"
           ".TP\n"
           "\\fB\\-f\\fR, \\fB\\-\\-format\\fR=\\fIFORMAT\\fR\n"
           "print as (text, json\\-lines)\n"
           ".TP\n"
           "\\fB\\-p\\fR, \\fB\\-\\-page\\fR[=\\fIFILE\\fR]\n"
           "print it\n",
           "opt_man prints an item for each option");
    prints(opt_man, hostile_table,
           ".TP\n"
           "\\fB\\-\\-no\\-wait\\fR=\\fIA\\-B\\fR\n"
           "\\&.so on: a\\eb \\- 'c'\n"
           ".TP\n"
           "\\fB\\-'\\fR, \\fB\\-\\-quote\\fR\n"
           "\\&'twas\n",
           "what roff would act on is escaped");
    prints(opt_man, empty_table, "", "opt_man prints nothing without options");
}

static void test_words(void)
{
    prints(opt_words, table, "--json -j --from --format -f --page -p",
           "opt_words prints all names and letters");
    prints(opt_words, empty_table, "", "opt_words prints nothing without options");
}

int main(void)
{
    test_help();
    test_man();
    test_words();
    return done();
}
