#include "base/json_read.h"

#include <errno.h>
#include <math.h>

#include "oom_arena.h"
#include "tap.h"

static int read_text(struct arena *a, const char *text, const struct json_value **ret,
                     struct err *e)
{
    return json_read(ret, a, "f", text, strlen(text), e);
}

static void test_tree(void)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const struct json_value *root = NULL, *v;
    struct err e = { "" };
    int rc = read_text(&a,
                       "\xef\xbb\xbf { \"n\": -12, \"x\": 2.5e-1,\r\n"
                       "\"list\" : [ true , false,null, [ ] ,{}],\n"
                       "\t\"s\": \"a\\n\\u00e9\\ud83d\\ude00\\u0000b\", \"n\": 7 }\n",
                       &root, &e);

    if (!is_int(rc, 0, "json_read reads a text") || !root)
        return;
    is_int(root->kind, JSON_OBJECT, "the root is an object");
    ok(root->line == 1 && root->column == 2,
       "the root starts behind the byte-order mark and a blank");
    is_int((long long)root->n_items, 5, "the root has five members");
    is_int(root->items[0].whole, -12, "the first of two equal keys is an item");
    v = json_get(root, "n");
    ok(v && v->is_whole && v->whole == 7, "json_get finds the last of two equal keys");
    v = json_get(root, "x");
    ok(v && !v->is_whole && v->number > 0.2499 && v->number < 0.2501,
       "a fraction is read as a number");
    v = json_get(root, "list");
    ok(v && v->kind == JSON_ARRAY && v->line == 2 && v->column == 10,
       "an array has its line and column");
    ok(v && v->n_items == 5 && v->items[0].boolean && !v->items[1].boolean,
       "true and false are read as booleans");
    ok(v && v->items[2].kind == JSON_NULL && v->items[3].n_items == 0,
       "null and an empty array are read");
    ok(v && v->items[4].kind == JSON_OBJECT && !v->items[4].items, "an empty object has no items");
    v = json_get(root, "s");
    ok(v && v->len == 10 && memcmp(v->text, "a\n\xc3\xa9\xf0\x9f\x98\x80\0b", 11) == 0,
       "escapes are read as their characters");
    ok(!json_get(root, "none") && !json_get(v, "n") && !json_get(NULL, "n"),
       "json_get is NULL for keys that are not there");
}

static void test_numbers(void)
{
    static const struct {
        const char *text;
        bool is_whole;
        long long whole;
        double low, high;
    } cases[] = {
        { "0", true, 0, 0, 0 },
        { "-0", true, 0, 0, 0 },
        { "9223372036854775807", true, INT64_MAX, 9.2e18, 9.3e18 },
        { "9223372036854775808", false, 0, 9.2e18, 9.3e18 },
        { "1e3", false, 0, 1000, 1000 },
        { "0.1E+1", false, 0, 1, 1 },
        { "1e-400", false, 0, 0, 0 },
        { "0.00000000000000000000000000000000000000000000000000000000000000000000000001", false, 0,
          0, 1e-73 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        const struct json_value *v = NULL;
        int rc = read_text(&a, cases[i].text, &v, NULL);

        ok(rc == 0 && v->kind == JSON_NUMBER && v->is_whole == cases[i].is_whole,
           "json_read tells whether %s is whole", cases[i].text);
        ok(rc == 0 && (!v->is_whole || v->whole == cases[i].whole), "%s has its whole value",
           cases[i].text);
        ok(rc == 0 && v->number >= cases[i].low && v->number <= cases[i].high, "%s has its value",
           cases[i].text);
    }
}

static void test_refused(void)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        { "", "f:1:1: the text ends where a value must stand" },
        { " \n ", "f:2:2: the text ends where a value must stand" },
        { "{\"a\":", "f:1:6: the text ends where a value must stand" },
        { "[1 2]", "f:1:4: a comma or ']' is missing" },
        { "[1", "f:1:3: a comma or ']' is missing" },
        { "{\"a\":1", "f:1:7: a comma or '}' is missing" },
        { "{\"a\":1,}", "f:1:8: a key in double quotes is missing" },
        { "{a:1}", "f:1:2: a key in double quotes is missing" },
        { "{\"a\" 1}", "f:1:6: a colon is missing behind the key" },
        { "1 x", "f:1:3: the value is whole, but text follows" },
        { "\"\xc3\xa9\" x", "f:1:5: the value is whole, but text follows" },
        { "\"a", "f:1:1: the string is not closed" },
        { "\"a\\\"", "f:1:1: the string is not closed" },
        { "\"a\nb\"", "f:1:3: a control character stands in a string: write \\n, \\t or \\u0000" },
        { "\"\\x\"",
          "f:1:2: unknown escape: JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u0000" },
        { "\"\\u12g4\"", "f:1:2: \\u is followed by four hexadecimal digits" },
        { "\"\\u12\"", "f:1:2: \\u is followed by four hexadecimal digits" },
        { "\"\\ud800\"", "f:1:2: the first half of a surrogate pair has no second half" },
        { "\"\\ud800\\u0041\"", "f:1:2: the first half of a surrogate pair has no second half" },
        { "\"\\ud800\\ue000\"", "f:1:2: the first half of a surrogate pair has no second half" },
        { "\"\\udc00\"", "f:1:2: the second half of a surrogate pair has no first half" },
        { "\"\xc3\"", "f:1:2: the text is not UTF-8 here" },
        { "\"\xc0\x80\"", "f:1:2: the text is not UTF-8 here" },
        { "1e999", "f:1:1: the number is too large" },
    };
    static const char *const no_numbers[] = { "01", "-", "1.", "1.e1", "1e", "1e+", "-x", "0.1.2" };
    static const char *const no_values[] = { "NaN", "Infinity", "tru", "'a'", "// x", "[,1]", "]" };
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const struct json_value *v = NULL;
    struct err e;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        is_int(read_text(&a, cases[i].text, &v, &e), -EINVAL, "json_read refuses: %s",
               cases[i].text);
        is_str(e.text, cases[i].said, "the error says where: %s", cases[i].said);
    }
    for (size_t i = 0; i < ARRAY_SIZE(no_numbers); i++) {
        is_int(read_text(&a, no_numbers[i], &v, &e), -EINVAL, "json_read refuses the number %s",
               no_numbers[i]);
        ok(strstr(e.text, "f:1:1: this is no number"),
           "the error names the place of the number: %s", e.text);
    }
    for (size_t i = 0; i < ARRAY_SIZE(no_values); i++) {
        is_int(read_text(&a, no_values[i], &v, &e), -EINVAL, "json_read refuses the value %s",
               no_values[i]);
        ok(strstr(e.text, ": no value starts here"), "the error names the place of the value: %s",
           e.text);
    }
    ok(!v, "json_read hands out nothing on an error");
}

/* Nested n deep, with a value inside. */
static int nest(struct arena *a, int n, struct err *e)
{
    char text[2 * JSON_READ_DEPTH + 8] = "";
    const struct json_value *v;

    memset(text, '[', (size_t)n);
    text[n] = '1';
    memset(text + n + 1, ']', (size_t)n);
    return read_text(a, text, &v, e);
}

/* An array of as many empty ones, and one more, as brackets may be nested. */
static int beside(struct arena *a, struct err *e)
{
    char text[3 * (JSON_READ_DEPTH + 1) + 2] = "";
    const struct json_value *v;

    for (size_t i = 0; i <= JSON_READ_DEPTH; i++)
        memcpy(text + 3 * i, i ? ",[]" : "[[]", 3);
    text[3 * (JSON_READ_DEPTH + 1)] = ']';
    return read_text(a, text, &v, e);
}

static void test_limits(void)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const struct json_value *v = NULL;
    struct err e = { "" };

    is_int(nest(&a, JSON_READ_DEPTH, &e), 0, "json_read reads 64 nested brackets");
    is_int(nest(&a, JSON_READ_DEPTH + 1, &e), -EINVAL, "json_read refuses 65 nested brackets");
    is_str(e.text, "f:1:65: brackets are nested over 64 deep",
           "the error names the place of the 65th bracket");
    is_int(beside(&a, &e), 0, "brackets beside each other are not nested");
    is_int(json_read(&v, &a, "f", "\xef\xbb\xbf", 3, &e), -EINVAL,
           "json_read refuses a byte-order mark alone");
    is_str(e.text, "f:1:1: the text ends where a value must stand",
           "a byte-order mark alone is an empty text");
    is_int(json_read(&v, &a, "f", "12345", 2, &e), 0,
           "json_read reads a text without a NUL at its end");
    is_int(v ? v->whole : 0, 12, "json_read reads no more bytes than it is given");
    is_int(json_read(&v, &a, "f", "tru", 3, &e), -EINVAL,
           "json_read refuses a word that is cut off");
    is_int(json_read(&v, &a, "f", "1\0", 2, &e), -EINVAL,
           "json_read refuses a NUL behind the value");
}

static void test_oom(void)
{
    static const char text[] = "{\"a\": [1, 2, 3, 4, 5, 6, 7, 8, 9, \"x\"], \"b\": {\"c\": "
                               "0.00000000000000000000000000000000000000000000000000000000000001}}";
    bool failed;

    oom_restart();
    do {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        const struct json_value *v = NULL;
        struct err e = { "" };
        int rc;

        oom_next();
        rc = read_text(&a, text, &v, &e);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM && !v && e.text[0] : rc == 0,
           "json_read with allocation %d failing returns %d", oom_at, rc);
    } while (failed);
}

static void test_python(void)
{
    static const char text[] = "[Infinity, -Infinity, NaN, 7, -0.5]";
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const struct json_value *root = NULL;
    struct err e = { "" };

    if (!is_int(json_read_python(&root, &a, "f", text, strlen(text), &e), 0,
                "json_read_python reads what Python writes: %s", e.text) ||
        root->n_items != 5)
        return;
    ok(root->items[0].number > 0 && isinf(root->items[0].number), "Infinity is above all numbers");
    ok(root->items[1].number < 0 && isinf(root->items[1].number), "-Infinity is below all numbers");
    ok(root->items[2].kind == JSON_NUMBER && isnan(root->items[2].number), "NaN is a number");
    ok(!root->items[0].is_whole && !root->items[2].is_whole && root->items[3].whole == 7,
       "Infinity and NaN are no whole numbers");
    is_int(json_read_python(&root, &a, "f", "[nan]", 5, &e), -EINVAL,
           "json_read_python refuses a word that Python does not write");
    is_int(json_read_python(&root, &a, "f", "[Infinit", 8, &e), -EINVAL,
           "json_read_python refuses half of a word");
}

int main(void)
{
    test_tree();
    test_python();
    test_numbers();
    test_refused();
    test_limits();
    test_oom();
    return done();
}
