#include "base/json_read.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/parse.h"
#include "base/utf8.h"

struct reader {
    struct arena *arena;
    const char *file;
    const char *at, *end;
    const char *line_start;
    int line;
    size_t wide; /* bytes of this line that continue a character: no columns of their own */
    int depth;
    bool python; /* its words for numbers without end and for none are numbers */
    struct err *e;
};

static int column(const struct reader *r)
{
    size_t n = (size_t)(r->at - r->line_start) - r->wide + 1;

    return (int)MIN(n, (size_t)INT_MAX);
}

static int fail(const struct reader *r, const char *what)
{
    return err_set(r->e, -EINVAL, "%s:%d:%d: %s", r->file, r->line, column(r), what);
}

/* The character that is read next; '\0' at the end, where at == end too. */
static char peek(const struct reader *r)
{
    return (char)(r->at < r->end ? *r->at : '\0');
}

static void skip_blanks(struct reader *r)
{
    for (; r->at < r->end; r->at++) {
        if (*r->at == '\n') {
            if (r->line < INT_MAX)
                r->line++;
            r->line_start = r->at + 1;
            r->wide = 0;
        } else if (*r->at != ' ' && *r->at != '\t' && *r->at != '\r') {
            return;
        }
    }
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- numbers ---- */

/* The end of the digits that start at c; NULL when there are none. */
static const char *skip_digits(const char *c, const char *end)
{
    const char *start = c;

    while (c < end && is_digit(*c))
        c++;
    return c > start ? c : NULL;
}

/* The end of the number that starts at c; NULL when it is none that JSON has. */
static const char *skip_number(const char *c, const char *end, bool *is_whole)
{
    *is_whole = true;
    c += *c == '-';
    if (c < end && *c == '0')
        c++; /* and no digit behind it */
    else
        c = skip_digits(c, end);
    if (c && c < end && *c == '.') {
        *is_whole = false;
        c = skip_digits(c + 1, end);
    }
    if (c && c < end && (*c == 'e' || *c == 'E')) {
        *is_whole = false;
        c++;
        c += c < end && (*c == '+' || *c == '-');
        c = skip_digits(c, end);
    }
    return c && c < end && (is_digit(*c) || *c == '.') ? NULL : c;
}

static int read_number(struct reader *r, struct json_value *v)
{
    const char *stop = skip_number(r->at, r->end, &v->is_whole);
    char brief[64];
    char *text = brief;
    size_t len;

    if (!stop)
        return fail(r, "this is no number as JSON writes it: 0, -12, 0.5 or 1e-5");
    len = (size_t)(stop - r->at);
    if (len >= sizeof(brief)) {
        text = arena_alloc(r->arena, len + 1);
        if (!text)
            return err_nomem(r->e);
    }
    memcpy(text, r->at, len);
    text[len] = '\0';
    if (parse_double(text, &v->number) < 0)
        return fail(r, "the number is too large");
    v->kind = JSON_NUMBER;
    v->is_whole = v->is_whole && parse_i64(text, &v->whole) == 0;
    r->at = stop;
    return 0;
}

/* ---- strings ---- */

/* The four digits behind "\u", which stands at c. */
static bool read_unit(const char *c, const char *end, uint32_t *ret)
{
    uint64_t code;
    char digits[5] = "";

    if (end - c < 6 || c[0] != '\\' || c[1] != 'u')
        return false;
    memcpy(digits, c + 2, 4);
    if (parse_digits(digits, 16, 4, &code) != 4)
        return false;
    *ret = (uint32_t)code;
    return true;
}

/* A "\u", with its twin when it is the first half of a pair. */
static int read_code(struct reader *r, uint32_t *ret)
{
    uint32_t code = 0, low;

    if (!read_unit(r->at, r->end, &code))
        return fail(r, "\\u is followed by four hexadecimal digits");
    if (code >= 0xdc00 && code < 0xe000)
        return fail(r, "the second half of a surrogate pair has no first half");
    if (code >= 0xd800 && code < 0xdc00) {
        if (!read_unit(r->at + 6, r->end, &low) || low < 0xdc00 || low >= 0xe000)
            return fail(r, "the first half of a surrogate pair has no second half");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        r->at += 6;
    }
    r->at += 6;
    *ret = code;
    return 0;
}

static int read_escape(struct reader *r, char *to, size_t *n)
{
    static const char names[] = "\"\\/bfnrt", codes[] = "\"\\/\b\f\n\r\t";
    char name = (char)(r->end - r->at > 1 ? r->at[1] : '\0');
    const char *found = name ? strchr(names, name) : NULL;
    uint32_t code = 0;
    int rc;

    if (found) {
        to[(*n)++] = codes[found - names];
        r->at += 2;
        return 0;
    }
    if (name != 'u')
        return fail(r, "unknown escape: JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u0000");
    rc = read_code(r, &code);
    if (rc == 0)
        *n += utf8_encode(code, to + *n);
    return rc;
}

/* One character beyond ASCII. */
static int read_wide(struct reader *r, char *to, size_t *n)
{
    char bytes[5] = "";
    uint32_t code;
    size_t len;

    memcpy(bytes, r->at, MIN((size_t)(r->end - r->at), sizeof(bytes) - 1));
    len = utf8_decode(bytes, &code);
    if (code == 0)
        return fail(r, "the text is not UTF-8 here");
    memcpy(to + *n, bytes, len);
    *n += len;
    r->at += len;
    r->wide += len - 1;
    return 0;
}

/* Where the string that starts behind its quote ends: the closing quote, or NULL. */
static const char *find_quote(const char *c, const char *end)
{
    for (; c < end && *c != '"'; c++)
        if (*c == '\\')
            c++;
    return c < end ? c : NULL;
}

/* An escape is longer than what it stands for, so that a copy is never longer than the original. */
static int read_string(struct reader *r, const char **ret, size_t *len)
{
    const char *quote = find_quote(r->at + 1, r->end);
    size_t n = 0;
    char *to;
    int rc = 0;

    if (!quote)
        return fail(r, "the string is not closed");
    to = arena_alloc(r->arena, (size_t)(quote - r->at));
    if (!to)
        return err_nomem(r->e);
    r->at++;
    while (rc == 0 && r->at < quote) {
        unsigned char c = (unsigned char)*r->at;

        if (c < 0x20)
            return fail(r, "a control character stands in a string: write \\n, \\t or \\u0000");
        if (c == '\\') {
            rc = read_escape(r, to, &n);
        } else if (c >= 0x80) {
            rc = read_wide(r, to, &n);
        } else {
            to[n++] = (char)c;
            r->at++;
        }
    }
    if (rc < 0)
        return rc;
    r->at = quote + 1;
    *ret = to;
    *len = n;
    return 0;
}

/* ---- values ---- */

static int read_value(struct reader *r, struct json_value *v);

/* What Python's json module writes for floats that JSON does not have. */
static bool read_python(struct reader *r, struct json_value *v)
{
    static const struct {
        const char *word;
        double number;
    } words[] = {
        { "NaN", (double)NAN },
        { "Infinity", (double)INFINITY },
        { "-Infinity", -(double)INFINITY },
    };

    for (size_t i = 0; r->python && i < ARRAY_SIZE(words); i++) {
        size_t len = strlen(words[i].word);

        if ((size_t)(r->end - r->at) < len || memcmp(r->at, words[i].word, len) != 0)
            continue;
        v->kind = JSON_NUMBER;
        v->number = words[i].number;
        r->at += len;
        return true;
    }
    return false;
}

static int read_word(struct reader *r, struct json_value *v)
{
    static const struct {
        const char *word;
        enum json_kind kind;
        bool boolean;
    } words[] = {
        { "null", JSON_NULL, false },
        { "true", JSON_BOOL, true },
        { "false", JSON_BOOL, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        size_t len = strlen(words[i].word);

        if ((size_t)(r->end - r->at) < len || memcmp(r->at, words[i].word, len) != 0)
            continue;
        v->kind = words[i].kind;
        v->boolean = words[i].boolean;
        r->at += len;
        return 0;
    }
    return fail(r, "no value starts here: JSON has objects, arrays, strings in double quotes, "
                   "numbers, true, false and null");
}

static int read_key(struct reader *r, const char **ret)
{
    size_t len;
    int rc;

    if (peek(r) != '"')
        return fail(r, "a key in double quotes is missing");
    rc = read_string(r, ret, &len);
    if (rc < 0)
        return rc;
    skip_blanks(r);
    if (peek(r) != ':')
        return fail(r, "a colon is missing behind the key");
    r->at++;
    skip_blanks(r);
    return 0;
}

/* Arrays and objects, from their opening bracket on. */
static int read_items(struct reader *r, struct json_value *v, char closer)
{
    struct json_value *items = NULL;
    int rc = 0;

    if (++r->depth > JSON_READ_DEPTH)
        return fail(r, "brackets are nested over 64 deep");
    r->at++;
    skip_blanks(r);
    while (rc == 0 && (v->n_items || peek(r) != closer)) {
        struct json_value *item = ARENA_PUSH(r->arena, &items, &v->n_items);

        if (!item)
            return err_nomem(r->e);
        if (v->kind == JSON_OBJECT)
            rc = read_key(r, &item->key);
        if (rc == 0)
            rc = read_value(r, item);
        skip_blanks(r);
        if (rc < 0 || peek(r) == closer)
            break;
        if (peek(r) != ',')
            return fail(r,
                        closer == '}' ? "a comma or '}' is missing" : "a comma or ']' is missing");
        r->at++;
        skip_blanks(r);
    }
    v->items = items;
    r->at += rc == 0;
    r->depth--;
    return rc;
}

static int read_value(struct reader *r, struct json_value *v)
{
    char c = peek(r);

    v->line = r->line;
    v->column = column(r);
    if (c == '{' || c == '[') {
        v->kind = c == '{' ? JSON_OBJECT : JSON_ARRAY;
        return read_items(r, v, c == '{' ? '}' : ']');
    }
    if (c == '"') {
        v->kind = JSON_STRING;
        return read_string(r, &v->text, &v->len);
    }
    if (read_python(r, v))
        return 0;
    if (c == '-' || is_digit(c))
        return read_number(r, v);
    if (r->at == r->end)
        return fail(r, "the text ends where a value must stand");
    return read_word(r, v);
}

static int read_text(struct reader *r, const struct json_value **ret)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    struct json_value *root = arena_alloc(r->arena, sizeof(*root));
    int rc;

    if (!root)
        return err_nomem(r->e);
    if (r->end - r->at >= 3 && memcmp(r->at, byte_order_mark, 3) == 0)
        r->at += 3;
    r->line = 1;
    r->line_start = r->at;
    skip_blanks(r);
    rc = read_value(r, root);
    if (rc < 0)
        return rc;
    skip_blanks(r);
    if (r->at < r->end)
        return fail(r, "the value is whole, but text follows");
    *ret = root;
    return 0;
}

int json_read(const struct json_value **ret, struct arena *a, const char *file, const char *text,
              size_t len, struct err *e)
{
    struct reader r = { .arena = a, .file = file, .at = text, .end = text + len, .e = e };

    return read_text(&r, ret);
}

int json_read_python(const struct json_value **ret, struct arena *a, const char *file,
                     const char *text, size_t len, struct err *e)
{
    struct reader r = { .arena = a, .file = file, .at = text, .end = text + len, .e = e };

    r.python = true;
    return read_text(&r, ret);
}

const struct json_value *json_get(const struct json_value *object, const char *key)
{
    if (!object || object->kind != JSON_OBJECT)
        return NULL;
    for (size_t i = object->n_items; i > 0; i--)
        if (strcmp(object->items[i - 1].key, key) == 0)
            return &object->items[i - 1];
    return NULL;
}
