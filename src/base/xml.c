#include "base/xml.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "base/utf8.h"

static int PRINTF(3, 4) fail(const struct xml *x, struct err *e, const char *fmt, ...)
{
    char what[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    return err_set(e, -EINVAL, "%s:%d: %s", x->file, x->line, what);
}

/* Reading the text: all of it passes through skip(), which counts the lines. */

static size_t left(const struct xml *x)
{
    return (size_t)(x->end - x->next);
}

static void skip(struct xml *x, size_t n)
{
    for (; n > 0; n--)
        x->line += *x->next++ == '\n';
}

static bool accept(struct xml *x, const char *text)
{
    size_t len = strlen(text);

    if (left(x) < len || memcmp(x->next, text, len) != 0)
        return false;
    skip(x, len);
    return true;
}

static bool skip_past(struct xml *x, const char *text)
{
    size_t len = strlen(text);
    const char *at = memmem(x->next, left(x), text, len);

    if (!at)
        return false;
    skip(x, (size_t)(at - x->next) + len);
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool skip_blanks(struct xml *x)
{
    const char *start = x->next;

    while (x->next < x->end && is_blank(*x->next))
        skip(x, 1);
    return x->next > start;
}

/* Names are letters, any character beyond ASCII, and after the first one digits, '-' and '.'. */
static bool is_name_char(char c, bool first)
{
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80)
        return true;
    if (c == '_' || c == ':')
        return true;
    return !first && ((c >= '0' && c <= '9') || c == '-' || c == '.');
}

/* The length of the name read, which starts at *ret; 0 when there is none. */
static size_t take_name(struct xml *x, const char **ret)
{
    const char *start = x->next;

    while (x->next < x->end && is_name_char(*x->next, x->next == start))
        skip(x, 1);
    *ret = start;
    return (size_t)(x->next - start);
}

/* Keeping names and values: one after the other in buf. */

static int put(struct xml *x, const char *bytes, size_t n, struct err *e)
{
    if (n > sizeof(x->buf) - x->room)
        return fail(x, e, "the tag holds over %d bytes of names and values", XML_ROOM);
    memcpy(x->buf + x->room, bytes, n);
    x->room += n;
    return 0;
}

static int put_name(struct xml *x, const char *name, size_t len, const char **ret, struct err *e)
{
    const char *start = x->buf + x->room;
    int rc = put(x, name, len, e);

    if (rc < 0)
        return rc;
    rc = put(x, "", 1, e);
    if (rc < 0)
        return rc;
    *ret = start;
    return 0;
}

static int put_utf8(struct xml *x, uint32_t code, struct err *e)
{
    char c[UTF8_MAX];

    return put(x, c, utf8_encode(code, c), e);
}

/* The character that an entity, without its '&' and ';', stands for; 0 when it is none. */
static uint32_t entity_code(const char *name)
{
    static const struct {
        const char *name;
        char code;
    } named[] = { { "lt", '<' }, { "gt", '>' }, { "amp", '&' }, { "quot", '"' }, { "apos", '\'' } };
    uint64_t code;
    int rc;

    for (size_t i = 0; i < ARRAY_SIZE(named); i++)
        if (strcmp(name, named[i].name) == 0)
            return (uint32_t)named[i].code;
    if (name[0] != '#')
        return 0;
    if (name[1] == 'x')
        rc = name[2] && strchr("xX", name[3]) ? -EINVAL : parse_hex(name + 2, &code);
    else
        rc = parse_u64(name + 1, &code);
    if (rc < 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    return (uint32_t)code;
}

static int read_entity(struct xml *x, struct err *e)
{
    char name[12]; /* of &#x10FFFF; with two zeros to spare */
    const char *start = x->next + 1;
    const char *end = memchr(x->next, ';', MIN(left(x), sizeof(name)));
    uint32_t code;

    if (!end)
        return fail(x, e, "'&' starts no entity: write &amp; for the character");
    memcpy(name, start, (size_t)(end - start));
    name[end - start] = '\0';
    code = entity_code(name);
    if (code == 0)
        return fail(x, e, "unknown entity '&%s;'", name);
    skip(x, (size_t)(end + 1 - x->next));
    return put_utf8(x, code, e);
}

static int read_value(struct xml *x, const char *name, const char **ret, struct err *e)
{
    const char *start = x->buf + x->room;
    char quote = '\0';
    int rc = 0;

    if (left(x) > 0)
        quote = *x->next;
    if (quote != '"' && quote != '\'')
        return fail(x, e, "the value of '%s' is not in quotes", name);
    skip(x, 1);
    while (rc == 0 && left(x) > 0 && *x->next != quote) {
        if (*x->next == '&') {
            rc = read_entity(x, e);
            continue;
        }
        if (*x->next == '<')
            return fail(x, e, "'<' in the value of '%s': write &lt; or close the quote", name);
        if (*x->next == '\0')
            return fail(x, e, "the value of '%s' holds a NUL byte", name);
        rc = put(x, is_blank(*x->next) ? " " : x->next, 1, e);
        skip(x, 1);
    }
    if (rc == 0 && left(x) == 0)
        return fail(x, e, "the value of '%s' is not closed", name);
    if (rc == 0)
        rc = put(x, "", 1, e);
    if (rc < 0)
        return rc;
    skip(x, 1);
    *ret = start;
    return 0;
}

static int read_attr(struct xml *x, struct err *e)
{
    const char *word, *name, *value = NULL;
    size_t len = take_name(x, &word);
    int rc;

    if (len == 0)
        return fail(x, e, "<%s> is not closed by '>'", x->tag);
    if (x->n_attrs == XML_ATTRS)
        return fail(x, e, "<%s> has over %d attributes", x->tag, XML_ATTRS);
    rc = put_name(x, word, len, &name, e);
    if (rc < 0)
        return rc;
    if (xml_attr(x, name))
        return fail(x, e, "<%s> has two attributes '%s'", x->tag, name);
    skip_blanks(x);
    if (!accept(x, "="))
        return fail(x, e, "the attribute '%s' has no value", name);
    skip_blanks(x);
    rc = read_value(x, name, &value, e);
    if (rc < 0)
        return rc;
    x->attrs[x->n_attrs].name = name;
    x->attrs[x->n_attrs].value = value;
    x->n_attrs++;
    return 0;
}

/* What stands between "<tag" and the end of ">" or "/>". */
static int read_attrs(struct xml *x, struct err *e)
{
    for (;;) {
        bool gap = skip_blanks(x);
        int rc;

        x->closing = accept(x, "/>");
        if (x->closing || accept(x, ">"))
            return 0;
        if (!gap)
            return fail(x, e, "<%s> lacks a blank, or is not closed by '>'", x->tag);
        rc = read_attr(x, e);
        if (rc < 0)
            return rc;
    }
}

static int read_open(struct xml *x, struct err *e)
{
    const char *name;
    size_t len = take_name(x, &name);
    int rc;

    if (len == 0)
        return fail(x, e, "'<' starts no tag: write &lt; for the character");
    if (x->level == 0 && x->rooted)
        return fail(x, e, "<%.*s> is a second root tag", (int)MIN(len, 64), name);
    if (x->level == XML_DEPTH)
        return fail(x, e, "tags are nested over %d deep", XML_DEPTH);
    rc = put_name(x, name, len, &x->tag, e);
    if (rc == 0)
        rc = read_attrs(x, e);
    if (rc < 0)
        return rc;
    x->open[x->level].at = name;
    x->open[x->level].len = len;
    x->rooted = 1;
    x->depth = ++x->level;
    return XML_OPEN;
}

static int close_innermost(struct xml *x, struct err *e)
{
    int rc = put_name(x, x->open[x->level - 1].at, x->open[x->level - 1].len, &x->tag, e);

    if (rc < 0)
        return rc;
    x->depth = x->level--;
    x->closing = 0;
    return XML_CLOSE;
}

static int read_close(struct xml *x, struct err *e)
{
    const char *name, *open;
    size_t len = take_name(x, &name), open_len;

    skip_blanks(x);
    if (len == 0 || !accept(x, ">"))
        return fail(x, e, "'</' is not followed by a name and '>'");
    if (x->level == 0)
        return fail(x, e, "</%.*s> closes nothing", (int)MIN(len, 64), name);
    open = x->open[x->level - 1].at;
    open_len = x->open[x->level - 1].len;
    if (len != open_len || memcmp(name, open, len) != 0)
        return fail(x, e, "</%.*s> stands where <%.*s> must be closed", (int)MIN(len, 64), name,
                    (int)MIN(open_len, 64), open);
    return close_innermost(x, e);
}

/* Comments and the like; x is behind the '<'. Returns 1 for skipped, 0 for a tag. */
static int skip_declaration(struct xml *x, struct err *e)
{
    static const struct {
        const char *opener, *closer;
    } kinds[] = { { "!--", "-->" }, { "![CDATA[", "]]>" }, { "?", "?>" }, { "!", ">" } };
    const char *start = x->next;

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        if (!accept(x, kinds[i].opener))
            continue;
        if (!skip_past(x, kinds[i].closer))
            return fail(x, e, "'<%s' is not closed by '%s'", kinds[i].opener, kinds[i].closer);
        if (strcmp(kinds[i].opener, "!") == 0 && memchr(start, '[', (size_t)(x->next - start)))
            return fail(x, e, "a document type with definitions is not read: remove it");
        return 1;
    }
    return 0;
}

static int read_end(struct xml *x, struct err *e)
{
    skip(x, left(x));
    if (x->level > 0)
        return fail(x, e, "the text ends inside <%.*s>", (int)MIN(x->open[x->level - 1].len, 64),
                    x->open[x->level - 1].at);
    if (!x->rooted)
        return fail(x, e, "there is no tag; is this XML?");
    x->depth = 0;
    return XML_END;
}

void xml_init(struct xml *x, const char *file, const char *text, size_t len)
{
    memset(x, 0, sizeof(*x));
    x->file = file;
    x->next = text;
    x->end = text + len;
    x->line = 1;
}

int xml_next(struct xml *x, struct err *e)
{
    x->tag = NULL;
    x->n_attrs = 0;
    x->room = 0;
    if (x->closing)
        return close_innermost(x, e);
    while (skip_past(x, "<")) {
        int rc = skip_declaration(x, e);

        if (rc < 0)
            return rc;
        if (rc == 1)
            continue;
        return accept(x, "/") ? read_close(x, e) : read_open(x, e);
    }
    return read_end(x, e);
}

const char *xml_attr(const struct xml *x, const char *name)
{
    for (size_t i = 0; i < x->n_attrs; i++)
        if (strcmp(x->attrs[i].name, name) == 0)
            return x->attrs[i].value;
    return NULL;
}
