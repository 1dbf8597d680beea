#include "base/str.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "tap.h"

static void test_add(void)
{
    CLEANUP(str_done) struct str s = STR_INIT(1000);

    is_str(str_text(&s), "", "a new str is empty");
    is_int(str_error(&s), 0, "a new str has no error");
    ok(!s.data, "a new str has no memory");
    str_add(&s, "");
    str_add_n(&s, "xyz", 0);
    str_addf(&s, "%s", "");
    str_fill(&s, 'x', 0);
    str_fill(&s, 'x', -1);
    str_pad(&s, 0);
    is_str(str_text(&s), "", "additions of nothing add nothing");

    str_add(&s, "two");
    str_add_char(&s, ' ');
    str_add_n(&s, "GPUs and", 4);
    str_addf(&s, ", %d %s", 3, "NICs");
    str_fill(&s, '!', 3);
    is_str(str_text(&s), "two GPUs, 3 NICs!!!", "each way of adding appends its text");
    is_int((long long)s.len, 19, "the length counts all that was added");

    str_reset(&s);
    is_str(str_text(&s), "", "str_reset makes the text empty");
    ok(s.cap > 0, "str_reset keeps the memory");
    str_add_n(&s, "a\0b", 3);
    ok(s.len == 3 && memcmp(s.data, "a\0b", 4) == 0, "bytes may be NUL");

    str_done(&s);
    ok(!s.data && s.len == 0 && s.max == 1000, "str_done keeps the ceiling only");
    str_add(&s, "again");
    is_str(str_text(&s), "again", "a str can be used again after str_done");
}

static void test_growth(void)
{
    CLEANUP(str_done) struct str s = STR_INIT(100000);
    size_t moves = 0, cap = 0;
    bool good = true;

    for (int i = 0; i < 100000; i++) {
        str_add_char(&s, (char)('a' + i % 26));
        moves += s.cap != cap;
        cap = s.cap;
    }
    for (size_t i = 0; i < s.len; i++)
        good = good && s.data[i] == (char)('a' + i % 26);
    ok(good && s.len == 100000 && !str_error(&s), "a str keeps 100,000 characters");
    ok(moves < 16, "a str grows by doubling: %zu times", moves);
    ok(s.cap <= 100001, "a str takes no memory above its ceiling: %zu bytes", s.cap);
}

static void test_ceiling(void)
{
    CLEANUP(str_done) struct str s = STR_INIT(5);
    CLEANUP(str_done) struct str none = STR_INIT(0);
    CLEANUP(str_done) struct str endless = STR_INIT(SIZE_MAX);

    str_add(&s, "12345");
    is_str(str_text(&s), "12345", "a text may be as long as the ceiling");
    is_int(str_error(&s), 0, "a text as long as the ceiling is no error");
    str_add_char(&s, '6');
    is_int(str_error(&s), -EFBIG, "a character above the ceiling is an error");
    is_str(str_text(&s), "12345", "a character above the ceiling is not written");

    str_reset(&s);
    is_int(str_error(&s), 0, "str_reset forgets the error");
    str_add(&s, "123");
    str_addf(&s, "%d", 456);
    is_str(str_text(&s), "123", "a formatted text is not partly written");
    str_add(&s, "4");
    str_add_char(&s, '4');
    str_addf(&s, "%d", 4);
    str_fill(&s, '4', 1);
    str_pad(&s, 4);
    is_str(str_text(&s), "123", "additions after the first failure are ignored");
    is_int(str_error(&s), -EFBIG, "the error stays after further additions");
    str_reset(&s);
    str_fill(&s, 'x', 6);
    ok(str_error(&s) == -EFBIG && s.len == 0, "str_fill writes nothing above the ceiling");

    str_add(&none, "");
    is_int(str_error(&none), 0, "nothing can be added with a ceiling of 0");
    str_add(&none, "x");
    is_int(str_error(&none), -EFBIG, "something cannot be added with a ceiling of 0");

    str_add(&endless, "x");
    is_str(str_text(&endless), "x", "the ceiling may be SIZE_MAX");
    str_add_n(&endless, "x", SIZE_MAX - 1);
    is_int(str_error(&endless), -EFBIG, "no sum overflows at a ceiling of SIZE_MAX");
}

static void test_fail(void)
{
    CLEANUP(str_done) struct str s = STR_INIT(5);

    str_fail(&s, 0);
    is_int(str_error(&s), 0, "a part that was whole is no failure");
    str_fail(&s, -ENOMEM);
    str_fail(&s, -EFBIG);
    str_fail(&s, 0);
    is_int(str_error(&s), -ENOMEM, "the first failure stays");
    str_add(&s, "1");
    is_str(str_text(&s), "", "a text that failed takes nothing more");
}

static void test_pad(void)
{
    CLEANUP(str_done) struct str s = STR_INIT(1000);

    str_pad(&s, 2);
    is_str(str_text(&s), "  ", "an empty line is padded");
    str_add(&s, "a\nbc");
    str_pad(&s, 4);
    str_add(&s, "|");
    is_str(str_text(&s), "  a\nbc  |", "str_pad counts the last line only");
    str_pad(&s, 5);
    str_pad(&s, 3);
    is_str(str_text(&s), "  a\nbc  |", "a line that is wide enough is left alone");
    str_reset(&s);
    str_add(&s, "\xc3\xa9\xe2\x82\xac");
    str_pad(&s, 4);
    is_str(str_text(&s), "\xc3\xa9\xe2\x82\xac  ", "a UTF-8 character is one column");
    str_add(&s, "\n");
    str_pad(&s, 1);
    is_str(str_text(&s), "\xc3\xa9\xe2\x82\xac  \n ", "after a newline the line is empty");
}

int main(void)
{
    test_add();
    test_growth();
    test_ceiling();
    test_fail();
    test_pad();
    return done();
}
