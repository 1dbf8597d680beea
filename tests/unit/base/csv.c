#include "base/csv.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

/* The rows as one text: "line:field|field|..." each, and the code of the end. */
static const char *rows_of(const char *text, size_t len, char *buf, size_t size)
{
    static struct csv c;
    size_t at = 0;
    int rc;

    csv_init(&c, text, len);
    while ((rc = csv_next(&c)) > 0) {
        at += (size_t)snprintf(buf + at, size - at, "%d:", c.line);
        for (size_t i = 0; i < c.n_fields; i++)
            at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? "|" : "", c.fields[i]);
        at += (size_t)snprintf(buf + at, size - at, ";");
    }
    if (rc < 0)
        snprintf(buf + at, size - at, "%d:%s", c.line, rc == -E2BIG ? "E2BIG" : "EINVAL");
    else
        buf[at] = '\0';
    return buf;
}

static void rows(const char *text, const char *want, const char *what)
{
    char buf[1024];

    is_str(rows_of(text, strlen(text), buf, sizeof(buf)), want, "%s", what);
}

static void test_rows(void)
{
    rows("", "", "an empty text has no rows");
    rows("name,mhz\nH100,1980\n", "1:name|mhz;2:H100|1980;",
         "commas divide fields and lines divide rows");
    rows("a,b", "1:a|b;", "the last line need not end");
    rows("a,b\r\nc,d\r\n", "1:a|b;2:c|d;", "CRLF ends lines too");
    rows("a,b\r", "1:a|b;", "a CR alone ends the last line");
    rows("\xef\xbb\xbf"
         "a,b\n",
         "1:a|b;", "a byte-order mark is skipped");
    rows("\xef\xbb\xbf", "", "a byte-order mark alone has no rows");
    rows(",\n,,\n", "1:|;2:||;", "empty fields count");
    rows(" a , b \n", "1: a | b ;", "blanks belong to the field");
    rows("a\n\n \t\n\r\n# note, a\nb\n", "1:a;6:b;", "blank lines and notes are skipped");
    rows(" #a\nb,#c\n", "1: #a;2:b|#c;", "a note starts in the first column");
}

static void test_quotes(void)
{
    rows("\"a,b\",c\n", "1:a,b|c;", "a comma inside quotes divides nothing");
    rows("\"a \"\"b\"\" c\"\n", "1:a \"b\" c;", "two quotes inside quotes are one");
    rows("\"\",\"\"\"\"\n", "1:|\";", "a quoted field may be empty or a quote alone");
    rows("\"\"\n", "1:;", "a quoted nothing is no blank line");
    rows("\"#a\",b\n", "1:#a|b;", "a quoted # starts no note");
    rows("a\"b,c\"\n", "1:a\"b|c\";", "a quote inside a plain field is itself");
    rows("\"a\"\r\nb\n", "1:a;2:b;", "CRLF may follow a closing quote");

    rows("a\n\"b\n", "1:a;2:EINVAL", "a quote that is not closed is an error");
    rows("\"a\nb\"\n", "1:EINVAL", "a quote must be closed in its line");
    rows("\"a\"\"\n", "1:EINVAL", "a pair of quotes does not close a field");
    rows("\"\n", "1:EINVAL", "a quote alone is an error");
    rows("\"a\"b\n", "1:EINVAL", "text behind a closing quote is an error");
    rows("\"a\" ,b\n", "1:EINVAL", "a blank behind a closing quote is an error");
}

static void test_limits(void)
{
    static struct csv c;
    char text[2 * sizeof(c.buf)], buf[256];
    const size_t longest = sizeof(c.buf) - 1;

    is_str(rows_of("a\0b\nc", 5, buf, sizeof(buf)), "1:EINVAL", "a NUL byte is an error");

    memset(text, 'x', sizeof(text));
    csv_init(&c, text, longest);
    is_int(csv_next(&c), 1, "csv_next reads a row of %zu bytes", longest);
    is_int((long long)strlen(c.fields[0]), (long long)longest, "the longest row is read whole");
    csv_init(&c, text, longest + 1);
    is_int(csv_next(&c), -E2BIG, "a row of one byte more is refused");
    text[longest] = '\r';
    text[longest + 1] = '\n';
    csv_init(&c, text, longest + 2);
    is_int(csv_next(&c), 1, "the end of the line does not count for the longest row");
    memset(text, 'x', sizeof(text));
    text[0] = '#';
    text[5000] = '\n';
    csv_init(&c, text, sizeof(text));
    is_int(csv_next(&c), 1, "a note may be longer than a row");
    is_int(c.line, 2, "the row behind a note stands in line 2");

    memset(text, ',', sizeof(text));
    csv_init(&c, text, CSV_FIELDS - 1);
    ok(csv_next(&c) == 1 && c.n_fields == CSV_FIELDS, "csv_next reads %d fields", CSV_FIELDS);
    csv_init(&c, text, CSV_FIELDS);
    ok(csv_next(&c) == -E2BIG && c.n_fields == 0,
       "a row of one field more is refused without fields");
}

static void test_going_on(void)
{
    static const char text[] = "a\n\"b\nc\n";
    static struct csv c;

    csv_init(&c, text, strlen(text));
    is_int(csv_next(&c), 1, "csv_next reads line 1");
    is_int(csv_next(&c), -EINVAL, "csv_next refuses line 2, whose quote is not closed");
    ok(csv_next(&c) == 1 && c.line == 3, "csv_next reads line 3 after an error in line 2");
    is_str(c.fields[0], "c", "line 3 has its own field after an error in line 2");
    is_int(csv_next(&c), 0, "csv_next is 0 at the end of the text");
    is_int(csv_next(&c), 0, "csv_next stays at the end of the text");
    is_int((long long)c.n_fields, 0, "there are no fields at the end of the text");
}

int main(void)
{
    test_rows();
    test_quotes();
    test_limits();
    test_going_on();
    return done();
}
