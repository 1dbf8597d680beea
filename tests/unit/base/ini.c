#include "base/ini.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "tap.h"

/* Write an entry as "line:section/key=value;". */
static int note(void *ctx, const struct ini_entry *at, struct err *e)
{
    struct str *out = ctx;

    if (!at->key && !at->value)
        str_addf(out, "%d:[%s];", at->line, at->section);
    else
        str_addf(out, "%d:%s/%s=%s;", at->line, at->section, at->key, at->value);
    return strcmp(at->section, "stop") == 0 ? err_set(e, -EDOM, "%s:%d: stop", at->file, at->line)
                                            : 0;
}

static int parse(const char *text, struct str *out, struct err *e)
{
    return ini_parse("a.ini", text, strlen(text), note, out, e);
}

static void entries(const char *text, const char *want, const char *what)
{
    CLEANUP(str_done) struct str out = STR_INIT(64 << 10);
    struct err e = { "" };

    if (parse(text, &out, &e) < 0)
        is_str(e.text, "", "%s: ini_parse succeeds", what);
    else
        is_str(str_text(&out), want, "%s", what);
}

static void error(const char *text, const char *want)
{
    CLEANUP(str_done) struct str out = STR_INIT(64 << 10);
    struct err e = { "" };
    int rc = parse(text, &out, &e);

    ok(rc == -EINVAL && strcmp(e.text, want) == 0, "ini_parse refuses: %s", want);
    if (strcmp(e.text, want) != 0)
        printf("# got %d %s\n", rc, e.text);
}

static void test_lines(void)
{
    entries("", "", "an empty text has no entries");
    entries("# a\n ; b\n\n \t\n", "", "comments and blank lines are no entries");
    entries("a=1\n", "1:/a=1;", "a key may stand before any section");
    entries("[s]\na = 1\n\n[t]\nb=2", "1:[s];2:s/a=1;4:[t];5:t/b=2;",
            "keys belong to the section above them");
    entries("[s]\n[t]\n", "1:[s];2:[t];", "sections may have no keys");
    entries("  [ a b ]  # note\n\tk\t=\tv\t\n", "1:[a b];2:a b/k=v;",
            "blanks around sections, keys and values are trimmed");
    entries("[s];c\n", "1:[s];", "a comment may stand right behind a section");
    entries("a=1\na=2\n", "1:/a=1;2:/a=2;", "a key may stand twice");
    entries("a=1\r\n[s]\r\nb=\"2\"\r\nc=3\r", "1:/a=1;2:[s];3:s/b=2;4:s/c=3;",
            "CRLF ends lines, and CR the last one");
    entries("\xef\xbb\xbf", "", "a byte-order mark alone has no entries");
    entries("\xef\xbb\xbf[s]\n", "1:[s];", "a byte-order mark is skipped");
    entries("my key = my value\n", "1:/my key=my value;", "blanks inside keys and values are kept");
    entries("k = a = b\n", "1:/k=a = b;", "the first = divides key and value");
}

static void test_values(void)
{
    entries("k =\nl = \n", "1:/k=;2:/l=;", "a value may be empty");
    entries("k = v # c\nl = v ; c\nm = v\t# c\n", "1:/k=v;2:/l=v;3:/m=v;",
            "comments behind values are cut");
    entries("k = a#b;c\n", "1:/k=a#b;c;", "# and ; inside a word are not comments");
    entries("k = # c\nl =#v\nm =;v\n", "1:/k=;2:/l=#v;3:/m=;v;",
            "a # or ; right behind the = is a value");
    entries("k = \"  a # b ; c  \"\n", "1:/k=  a # b ; c  ;", "quotes keep blanks and # and ;");
    entries("k = \"\"\n", "1:/k=;", "a quoted value may be empty");
    entries("k = \"a\\\"b\\\\c\"\n", "1:/k=a\"b\\c;",
            "quotes and backslashes are escaped by a backslash");
    entries("k = \"a\" # c\nl = \"a\";c\n", "1:/k=a;2:/l=a;",
            "a comment may follow a quoted value");
    entries("k = a\"b\"\n", "1:/k=a\"b\";", "a quote inside a plain value is itself");
    entries("k = a\\b\n", "1:/k=a\\b;", "a backslash inside a plain value is itself");
}

static void test_errors(void)
{
    error("[s]\nkey\n", "a.ini:2: this is neither 'key = value' nor '[section]'");
    error("key # = 1\n", "a.ini:1: this is neither 'key = value' nor '[section]'");
    error("= 1\n", "a.ini:1: there is no key before '='");
    error(" = \"1\"\n", "a.ini:1: there is no key before '='");
    error("\n\n[s\n", "a.ini:3: the section header has no ']'");
    error("[ ]\n", "a.ini:1: the section has no name: write [name]");
    error("[a] b\n", "a.ini:1: only a comment may follow the section header");
    error("k = \"a\n", "a.ini:1: the quote is not closed");
    error("k = \"a\\\"\n", "a.ini:1: the quote is not closed");
    error("k = \"\n", "a.ini:1: the quote is not closed");
    error("k = \"a\\n\"\n", "a.ini:1: an escape is \\\" or \\\\; write \\\\ for a backslash");
    error("k = \"a\\", "a.ini:1: an escape is \\\" or \\\\; write \\\\ for a backslash");
    error("k = \"a\" b\n",
          "a.ini:1: only a comment may follow the closing quote; write \\\" for a quote");
}

static void test_limits(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(64 << 10);
    char text[4100];
    struct err e;

    is_int(ini_parse("a.ini", "# a\0b\n", 6, note, &out, &e), -EINVAL,
           "ini_parse refuses a NUL byte");
    is_str(e.text, "a.ini:1: the line holds a NUL byte; is this a text file?",
           "the error names the line that holds a NUL byte");
    is_int(ini_parse("a.ini", "\n# a\0b\n", 7, note, &out, NULL), -EINVAL,
           "ini_parse needs no struct err");
    is_int(ini_parse("a.ini", NULL, 0, note, &out, &e), 0,
           "ini_parse takes NULL for an empty text");

    memset(text, 'x', sizeof(text));
    text[1] = '=';
    is_int(ini_parse("a.ini", text, 4096, note, &out, &e), 0,
           "ini_parse reads a line of 4,096 bytes");
    is_int((long long)out.len, 4096 + 4, "a line of 4,096 bytes is read whole");
    is_int(ini_parse("a.ini", text, 4097, note, &out, &e), -EINVAL,
           "ini_parse refuses a line of 4,097 bytes");
    is_str(e.text, "a.ini:1: the line is longer than 4096 bytes",
           "the error names the line that is too long");
    text[4096] = '\r';
    text[4097] = '\n';
    is_int(ini_parse("a.ini", text, 4098, note, &out, &e), 0,
           "the end of the line does not count for its length");
    text[0] = '[';
    text[1] = 's';
    text[4095] = ']';
    str_reset(&out);
    is_int(ini_parse("a.ini", text, 4096, note, &out, &e), 0, "a section may fill a line");
    is_int((long long)out.len, 4094 + 5, "a section of 4,096 bytes is read whole");
}

static void test_callback(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(1000);
    struct err e = { "" };

    is_int(parse("a=1\n[stop]\nb=2\n", &out, &e), -EDOM, "ini_parse returns the callback's error");
    is_str(e.text, "a.ini:2: stop", "ini_parse keeps the callback's sentence");
    is_str(str_text(&out), "1:/a=1;2:[stop];",
           "ini_parse reads nothing after the callback's error");
}

int main(void)
{
    test_lines();
    test_values();
    test_errors();
    test_limits();
    test_callback();
    return done();
}
