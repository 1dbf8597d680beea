#include "base/json.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static void add_control(struct str *out, uint32_t code)
{
    static const char letters[] = "\b\f\n\r\t", escapes[] = "bfnrt";
    const char *letter = strchr(letters, (int)code);

    if (letter)
        str_addf(out, "\\%c", escapes[letter - letters]);
    else
        str_addf(out, "\\u%04x", (unsigned)code);
}

static void add_quoted(struct str *out, const char *text)
{
    str_add_char(out, '"');
    while (*text) {
        uint32_t code;
        size_t n = utf8_decode(text, &code);

        if (code == 0) {
            str_add(out, "\xef\xbf\xbd");
        } else if (utf8_is_control(code)) {
            add_control(out, code);
        } else {
            if (*text == '"' || *text == '\\')
                str_add_char(out, '\\');
            str_add_n(out, text, n);
        }
        text += n;
    }
    str_add_char(out, '"');
}

static void new_line(struct json *j)
{
    if (j->compact)
        return;
    str_add_char(j->out, '\n');
    str_fill(j->out, ' ', 2 * (int)j->depth);
}

/* What stands before a value: comma, line break, key. */
static void begin_value(struct json *j, const char *key)
{
    if (j->depth > 0) {
        bool *used = &j->used[j->depth - 1];

        assert((j->closer[j->depth - 1] == '}') == (key != NULL));
        if (*used)
            str_add_char(j->out, ',');
        *used = true;
        new_line(j);
    } else {
        assert(!key);
    }
    if (key) {
        add_quoted(j->out, key);
        str_add(j->out, j->compact ? ":" : ": ");
    }
}

static void end_value(struct json *j)
{
    if (j->depth == 0)
        new_line(j);
}

static void begin_group(struct json *j, const char *key, char opener, char closer)
{
    assert(j->depth < JSON_DEPTH_MAX);
    begin_value(j, key);
    str_add_char(j->out, opener);
    j->closer[j->depth] = closer;
    j->used[j->depth] = false;
    j->depth++;
}

static void add_literal(struct json *j, const char *key, const char *text)
{
    begin_value(j, key);
    str_add(j->out, text);
    end_value(j);
}

void json_object(struct json *j, const char *key)
{
    begin_group(j, key, '{', '}');
}

void json_array(struct json *j, const char *key)
{
    begin_group(j, key, '[', ']');
}

void json_end(struct json *j)
{
    assert(j->depth > 0);
    j->depth--;
    if (j->used[j->depth])
        new_line(j);
    str_add_char(j->out, j->closer[j->depth]);
    end_value(j);
}

void json_string(struct json *j, const char *key, const char *value)
{
    if (!value) {
        json_null(j, key);
        return;
    }
    begin_value(j, key);
    add_quoted(j->out, value);
    end_value(j);
}

void json_int(struct json *j, const char *key, int64_t value)
{
    char text[32];

    snprintf(text, sizeof(text), "%lld", (long long)value);
    add_literal(j, key, text);
}

void json_bool(struct json *j, const char *key, bool value)
{
    add_literal(j, key, value ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
    add_literal(j, key, "null");
}

void json_number(struct json *j, const char *key, double value, int digits)
{
    char text[64];

    assert(digits >= 1 && digits <= 17);
    if (!isfinite(value)) {
        json_null(j, key);
        return;
    }
    snprintf(text, sizeof(text), "%.*g", digits, value);
    add_literal(j, key, text);
}

/* Write |value| * 10^decimals, which is a whole number, to the end of text; returns its start. */
static char *write_digits(char *end, uint64_t scaled, int decimals)
{
    bool written = false;

    for (; decimals > 0; decimals--, scaled /= 10) {
        if (scaled % 10 == 0 && !written)
            continue;
        *--end = (char)('0' + scaled % 10);
        written = true;
    }
    if (written)
        *--end = '.';
    do
        *--end = (char)('0' + scaled % 10);
    while (scaled /= 10);
    return end;
}

void json_round(struct json *j, const char *key, double value, int decimals)
{
    const double exact = 9007199254740992.0; /* integers beyond it have gaps in a double */
    char text[32], *start;
    double scaled = fabs(value);
    uint64_t whole;

    assert(decimals >= 0 && decimals <= 9);
    for (int i = 0; i < decimals; i++)
        scaled *= 10;
    if (!(scaled < exact)) { /* NaN too */
        json_number(j, key, value, 15);
        return;
    }
    whole = (uint64_t)scaled;
    whole += scaled - (double)whole >= 0.5; /* scaled + 0.5 may not be a double */
    text[sizeof(text) - 1] = 0;
    start = write_digits(text + sizeof(text) - 1, whole, decimals);
    if (value < 0 && whole)
        *--start = '-';
    add_literal(j, key, start);
}
