#include "render/text.h"

#include <string.h>

#include "base/str.h"
#include "base/utf8.h"

/* Characters that a terminal or a browser acts upon instead of showing them. */
static bool is_control(uint32_t code)
{
    return utf8_is_control(code) || (code >= 0x200b && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
           code == 0xfeff || (code & 0xfffe) == 0xfffe;
}

/* Add the character at *at, cleaned, and move behind it. */
static void add_char(struct str *out, const char **at)
{
    uint32_t code;
    size_t n = utf8_decode(*at, &code);

    if (is_control(code))
        str_add_char(out, '?');
    else
        str_add_n(out, *at, n);
    *at += n;
}

void text_add(struct str *out, const char *text)
{
    while (text && *text)
        add_char(out, &text);
}

static const char *entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&apos;";
    default:
        return NULL;
    }
}

void text_add_xml(struct str *out, const char *text)
{
    while (text && *text) {
        const char *name = entity(*text);

        if (name) {
            str_add(out, name);
            text++;
        } else {
            add_char(out, &text);
        }
    }
}

void text_add_clipped(struct str *out, const char *text, size_t columns)
{
    size_t left = columns;

    if (!text || !columns)
        return;
    if (text_columns(text) <= columns) {
        text_add(out, text);
        return;
    }
    while (--left)
        add_char(out, &text);
    str_add(out, "…");
}

void text_add_wrapped(struct str *out, const char *text, size_t indent, size_t width)
{
    size_t column = indent;

    while (*text) {
        size_t blank = strspn(text, " \n"), len = strcspn(text + blank, " \n"), columns = 0;
        const char *word = text + blank, *end = word + len;
        uint32_t code;

        text = end;
        for (const char *c = word; c < end; columns++)
            c += utf8_decode(c, &code);
        if (column > indent && column + 1 + columns > width) {
            str_add_char(out, '\n');
            str_fill(out, ' ', (int)indent);
            column = indent;
        } else if (column > indent && len) {
            str_add_char(out, ' ');
            column++;
        }
        while (word < end)
            add_char(out, &word);
        column += columns;
    }
}

size_t text_columns(const char *text)
{
    size_t columns = 0;
    uint32_t code;

    for (; text && *text; columns++)
        text += utf8_decode(text, &code);
    return columns;
}

void text_ink(struct str *out, bool colour, enum ink ink, const char *text)
{
    static const char *const codes[] = { [INK_BOLD] = "1",
                                         [INK_DIM] = "2",
                                         [INK_RED] = "1;31",
                                         [INK_YELLOW] = "33",
                                         [INK_CYAN] = "36" };

    if (colour)
        str_addf(out, "\033[%sm%s\033[0m", codes[ink], text);
    else
        str_add(out, text);
}

void text_count(struct str *out, size_t count, const char *noun)
{
    str_addf(out, "%zu %s%s", count, noun, str_plural(count));
}
