#include "base/parse.h"

#include <errno.h>
#include <float.h>
#include <math.h>

#include "tap.h"

static const int64_t S = 1000000000;

static void is_u64(const char *text, int rc, uint64_t want)
{
    uint64_t got = 99;

    ok(parse_u64(text, &got) == rc && got == (rc ? 99 : want),
       "parse_u64 of '%s' has the right code and value", text);
}

static void is_i64(const char *text, int rc, int64_t want)
{
    int64_t got = 99;

    ok(parse_i64(text, &got) == rc && got == (rc ? 99 : want),
       "parse_i64 of '%s' has the right code and value", text);
}

static void is_hex(const char *text, int rc, uint64_t want)
{
    uint64_t got = 99;

    ok(parse_hex(text, &got) == rc && got == (rc ? 99 : want),
       "parse_hex of '%s' has the right code and value", text);
}

/* Exactly: the nearest double is asked for, and 0 has a sign. */
static bool same(double a, double b)
{
    return a == b && signbit(a) == signbit(b);
}

static void is_double(const char *text, int rc, double want)
{
    double got = 99;

    ok(parse_double(text, &got) == rc && same(got, rc ? 99 : want),
       "parse_double of '%s' has the right code and value", text);
}

static void is_duration(const char *text, int rc, int64_t want)
{
    int64_t got = 99;

    ok(parse_duration_ns(text, &got) == rc && got == (rc ? 99 : want),
       "parse_duration_ns of '%s' has the right code and value", text);
}

static void test_u64(void)
{
    static const char *const wrong[] = { "",    " ",   "-1",  "+1",  " 1",  "1 ",      "1x",
                                         "0x1", "1.0", "1,0", "1e3", "1\n", "\xd9\xa1" };

    is_u64("0", 0, 0);
    is_u64("007", 0, 7);
    is_u64("18446744073709551615", 0, UINT64_MAX);
    is_u64("0000000000000000000000000000001", 0, 1);
    is_u64("18446744073709551616", -ERANGE, 0);
    is_u64("99999999999999999999999", -ERANGE, 0);
    is_u64("99999999999999999999999x", -EINVAL, 0);
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
        is_u64(wrong[i], -EINVAL, 0);
}

static void test_i64(void)
{
    static const char *const wrong[] = { "", "-", "--1", "+1", "- 1", "-1x", "-0x1", "1-" };

    is_i64("0", 0, 0);
    is_i64("-0", 0, 0);
    is_i64("-1", 0, -1);
    is_i64("42", 0, 42);
    is_i64("9223372036854775807", 0, INT64_MAX);
    is_i64("-9223372036854775808", 0, INT64_MIN);
    is_i64("9223372036854775808", -ERANGE, 0);
    is_i64("-9223372036854775809", -ERANGE, 0);
    is_i64("99999999999999999999999", -ERANGE, 0);
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
        is_i64(wrong[i], -EINVAL, 0);
}

static void test_hex(void)
{
    static const char *const wrong[] = { "", "0x", "x1", "0x0x1", "-1", "g", "1g", "0x1 ", "0 x1" };

    is_hex("0", 0, 0);
    is_hex("0x0", 0, 0);
    is_hex("10", 0, 16);
    is_hex("0x10DE", 0, 0x10de);
    is_hex("0XaBc", 0, 0xabc);
    is_hex("068000", 0, 0x68000);
    is_hex("ffffffffffffffff", 0, UINT64_MAX);
    is_hex("10000000000000000", -ERANGE, 0);
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
        is_hex(wrong[i], -EINVAL, 0);
}

static void test_digits(void)
{
    uint64_t value = 7;

    is_int(parse_digits("12.5", 10, 4, &value), 2, "parse_digits counts the digits in front");
    is_int((long long)value, 12, "parse_digits reads the digits in front as a number");
    is_int(parse_digits("1bcd:", 16, 2, &value), 2,
           "parse_digits counts no more digits than asked for");
    is_int((long long)value, 0x1b, "parse_digits reads no more digits than asked for");
    is_int(parse_digits("x", 10, 4, &value), 0, "parse_digits is 0 where there is no digit");
    is_int(parse_digits("", 16, 4, &value), 0, "parse_digits is 0 for an empty text");
    is_int(parse_digits("99999999999999999999", 10, 99, &value), 0,
           "parse_digits is 0 for a number too large");
    is_int((long long)value, 0x1b, "parse_digits leaves the value alone where it reads nothing");
}

static void test_double(void)
{
    static const char *const wrong[] = { "",     "-",     ".",   "-.",   "+1",       " 1",  "1 ",
                                         "e5",   "1e",    "1e+", "1e5.", "1.2.3",    "nan", "inf",
                                         "-inf", "0x1p3", "1,5", "1f",   "infinity", "1 e5" };

    is_double("0", 0, 0.0);
    is_double("-0", 0, -0.0);
    is_double("1.5", 0, 1.5);
    is_double("-2.25", 0, -2.25);
    is_double(".5", 0, 0.5);
    is_double("5.", 0, 5.0);
    is_double("1e3", 0, 1000.0);
    is_double("1E+3", 0, 1000.0);
    is_double("25e-2", 0, 0.25);
    is_double("0.1", 0, 0.1);
    is_double("9007199254740993", 0, 9007199254740992.0);
    is_double("1.7976931348623157e308", 0, DBL_MAX);
    is_double("4.9406564584124654e-324", 0, 4.9406564584124654e-324);
    is_double("1e-400", 0, 0.0);
    is_double("1e400", -ERANGE, 0);
    is_double("-1e400", -ERANGE, 0);
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
        is_double(wrong[i], -EINVAL, 0);
}

static void test_duration(void)
{
    static const char *const wrong[] = { "",     "s",    "-1s", "+1s", "1 s",  "1.5s", "1S",
                                         "1min", "1h1m", "10x", "ms",  "1mss", "1 ",   "0x1s" };

    is_duration("0", 0, 0);
    is_duration("10", 0, 10 * S);
    is_duration("250ms", 0, S / 4);
    is_duration("10s", 0, 10 * S);
    is_duration("10m", 0, 600 * S);
    is_duration("2h", 0, 7200 * S);
    is_duration("1d", 0, 86400 * S);
    is_duration("106751d", 0, 106751 * (86400 * S));
    is_duration("106752d", -ERANGE, 0);
    is_duration("9223372036", 0, 9223372036 * S);
    is_duration("9223372037", -ERANGE, 0);
    is_duration("18446744073709551616ms", -ERANGE, 0);
    is_duration("18446744073709551616x", -EINVAL, 0);
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
        is_duration(wrong[i], -EINVAL, 0);
}

static void test_letters(void)
{
    uint64_t number = 0;
    double real = 1;

    ok(parse_hex("AfFa", &number) == 0 && number == 0xaffa,
       "the first and the last hexadecimal digits may be small and capital letters");
    is_int(parse_hex("g", &number), -EINVAL, "g is no hexadecimal digit");
    is_int(parse_hex("G", &number), -EINVAL, "G is no hexadecimal digit");
    is_int(parse_double("1ea", &real), -EINVAL, "an exponent has no hexadecimal digits");
    is_int(parse_double("1e1a", &real), -EINVAL, "an exponent ends at its last decimal digit");
}

int main(void)
{
    test_letters();
    test_u64();
    test_i64();
    test_hex();
    test_digits();
    test_double();
    test_duration();
    return done();
}
