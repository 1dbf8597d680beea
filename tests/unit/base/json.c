#include "base/json.h"

#include <errno.h>
#include <math.h>

#include "tap.h"

static void test_layout(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(4096);
    struct json j = JSON_INIT(&out);

    json_object(&j, NULL);
    json_string(&j, "name", "n1");
    json_array(&j, "gpus");
    json_int(&j, NULL, 1);
    json_object(&j, NULL);
    json_bool(&j, "ok", true);
    json_end(&j);
    json_end(&j);
    json_object(&j, "none");
    json_end(&j);
    json_array(&j, "no more");
    json_end(&j);
    json_null(&j, "nil");
    json_end(&j);
    is_str(str_text(&out),
           "{\n"
           "  \"name\": \"n1\",\n"
           "  \"gpus\": [\n"
           "    1,\n"
           "    {\n"
           "      \"ok\": true\n"
           "    }\n"
           "  ],\n"
           "  \"none\": {},\n"
           "  \"no more\": [],\n"
           "  \"nil\": null\n"
           "}\n",
           "each level is indented by two blanks, and a newline ends the text");
    is_int(j.depth, 0, "json_end has closed all levels");
}

static void test_compact(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(4096);
    struct json j = JSON_INIT(&out);

    j.compact = true;
    json_object(&j, NULL);
    json_array(&j, "a");
    json_int(&j, NULL, 1);
    json_int(&j, NULL, 2);
    json_array(&j, NULL);
    json_end(&j);
    json_end(&j);
    json_bool(&j, "b", false);
    json_end(&j);
    is_str(str_text(&out), "{\"a\":[1,2,[]],\"b\":false}",
           "compact output is one line without a newline at the end");
}

static void test_top(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(4096);
    struct json j = JSON_INIT(&out);

    json_int(&j, NULL, INT64_MIN);
    json_string(&j, NULL, "a");
    json_null(&j, NULL);
    json_array(&j, NULL);
    json_end(&j);
    is_str(str_text(&out), "-9223372036854775808\n\"a\"\nnull\n[]\n",
           "values may stand outside of objects and arrays");
}

static void test_depth(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(4096);
    struct json j = JSON_INIT(&out);

    j.compact = true;
    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        json_array(&j, NULL);
    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        json_end(&j);
    is_int((long long)out.len, 2LL * JSON_DEPTH_MAX, "json_array nests %d levels", JSON_DEPTH_MAX);
}

static void string(const char *value, const char *want, const char *what)
{
    CLEANUP(str_done) struct str out = STR_INIT(4096);
    struct json j = { .out = &out, .compact = true };

    json_string(&j, NULL, value);
    is_str(str_text(&out), want, "%s", what);
}

/* U+FFFD */
#define BAD "\xef\xbf\xbd"

static void test_strings(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(4096);
    struct json j = { .out = &out, .compact = true };

    string(NULL, "null", "no string is null");
    string("", "\"\"", "an empty string is not null");
    string("a\"b\\c/d", "\"a\\\"b\\\\c/d\"", "quotes and backslashes are escaped");
    string("\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"",
           "\\b, \\f, \\n, \\r and \\t are written with a letter");
    string("\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\"",
           "other control characters are written as \\u");
    string("\xc2\x80\xc2\x9f\xc2\xa0", "\"\\u0080\\u009f\xc2\xa0\"",
           "control characters behind ASCII are written as \\u");
    string("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
           "UTF-8 of 2, 3 and 4 bytes is kept");
    string("\xef\xbf\xbf\xee\x80\x80\xed\x9f\xbf", "\"\xef\xbf\xbf\xee\x80\x80\xed\x9f\xbf\"",
           "characters beside the surrogates are kept");
    string("\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\"", "U+10FFFF is kept");

    string("a\xff"
           "b",
           "\"a" BAD "b\"", "a byte that is never UTF-8 is replaced");
    string("\x80", "\"" BAD "\"", "a continuation alone is replaced");
    string("\xc3", "\"" BAD "\"", "half a character at the end is replaced");
    string("\xc3(", "\"" BAD "(\"", "half a character is replaced, and what follows is kept");
    string("\xe2\x82", "\"" BAD BAD "\"", "each byte of two thirds of a character is replaced");
    string("\xf0\x9f\x98", "\"" BAD BAD BAD "\"",
           "each byte of three quarters of a character is replaced");
    string("\xc0\xaf", "\"" BAD BAD "\"", "2 bytes for 1 are replaced");
    string("\xe0\x80\xaf", "\"" BAD BAD BAD "\"", "3 bytes for 1 are replaced");
    string("\xf0\x80\x80\xaf", "\"" BAD BAD BAD BAD "\"", "4 bytes for 1 are replaced");
    string("\xed\xa0\x80", "\"" BAD BAD BAD "\"", "a surrogate is replaced");
    string("\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\"", "a character above U+10FFFF is replaced");

    json_object(&j, NULL);
    json_int(&j, "a\n\xff", 1);
    json_end(&j);
    is_str(str_text(&out), "{\"a\\n" BAD "\":1}", "keys are quoted as strings are");
}

static void number(double value, int digits, const char *want)
{
    CLEANUP(str_done) struct str out = STR_INIT(4096);
    struct json j = { .out = &out, .compact = true };

    json_number(&j, NULL, value, digits);
    is_str(str_text(&out), want, "json_number writes %.17g to %d digits", value, digits);
}

static void test_numbers(void)
{
    number(0, 3, "0");
    number(1.5, 6, "1.5");
    number(2.0, 6, "2");
    number(100.0, 3, "100");
    number(1.0 / 3, 4, "0.3333");
    number(0.1, 17, "0.10000000000000001");
    number(-1234.5678, 6, "-1234.57");
    number(1e20, 3, "1e+20");
    number(1.25e-7, 6, "1.25e-07");
    number(-1.7976931348623157e308, 17, "-1.7976931348623157e+308");
    number(99.99, 1, "1e+02");
    number((double)NAN, 6, "null");
    number((double)INFINITY, 6, "null");
    number(-(double)INFINITY, 6, "null");
}

static void test_ceiling(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(8);
    struct json j = JSON_INIT(&out);

    json_array(&j, NULL);
    for (int i = 0; i < 100; i++)
        json_number(&j, NULL, i, 6);
    json_end(&j);
    is_int(str_error(&out), -EFBIG, "a text too small says so at the end");
}

static void test_round(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(4096);
    struct json j = { .out = &out, .compact = true };

    json_array(&j, NULL);
    json_round(&j, NULL, 0.98765, 4);
    json_round(&j, NULL, 0.5, 4);
    json_round(&j, NULL, 0.00004, 4);
    json_round(&j, NULL, -0.00004, 4);
    json_round(&j, NULL, -1.25, 2);
    json_round(&j, NULL, 412e6, 0);
    json_round(&j, NULL, 100, 1);
    json_round(&j, NULL, 2.999, 2);
    json_round(&j, NULL, 1e17, 0);
    json_round(&j, NULL, 0.000000001, 9);
    json_round(&j, NULL, 9007199254740991.0, 0);
    json_round(&j, NULL, 9007199254740992.0, 0);
    json_round(&j, NULL, -4503599627370495.5, 1);
    json_round(&j, NULL, (double)NAN, 4);
    json_round(&j, NULL, (double)-INFINITY, 0);
    json_end(&j);
    is_str(str_text(&out),
           "[0.9877,0.5,0,0,-1.25,412000000,100,3,1e+17,0.000000001,"
           "9007199254740991,9.00719925474099e+15,-4.5035996273705e+15,null,null]",
           "json_round rounds to decimals and drops zeros at the end");
}

int main(void)
{
    test_round();
    test_layout();
    test_compact();
    test_top();
    test_depth();
    test_strings();
    test_numbers();
    test_ceiling();
    return done();
}
