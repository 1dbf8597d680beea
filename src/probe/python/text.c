#include "probe/python/text.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/utf8.h"
#include "probe/python/frame.h"

enum { MOST = PYTHON_FILE, HEADER_MAX = 256 };

/* In the state of a str: where the bits of its kind begin, and two flags. The same from 3.11 to
 * 3.14, but for builds without the GIL. */
enum { KIND = 2, COMPACT = 1 << 5, ASCII = 1 << 6 };

static const char ellipsis[] = "…";

/* Where the characters of a str are. */
struct characters {
    uint64_t at, n;
    unsigned width; /* bytes of each */
};

/* Only what is "compact" has its characters behind its header; others are of subclasses, and made
 * by old C code. */
static int find(const struct python_memory *m, const struct python_offsets *o, uint64_t at,
                struct characters *ret)
{
    uint8_t header[HEADER_MAX];
    size_t len = MAX(o->text.length, o->text.state) + 8u;
    uint32_t state;
    unsigned kind;
    int rc = python_memory_read(m, at, header, MIN(len, sizeof(header)));

    if (rc < 0)
        return rc;
    state = python_half(header, o->text.state);
    kind = state >> KIND & 7;
    if ((kind != 1 && kind != 2 && kind != 4) || !(state & COMPACT))
        return -EINVAL;
    ret->n = python_word(header, o->text.length);
    ret->width = kind;
    ret->at = at + (state & ASCII ? o->text.ascii : o->text.compact);
    return 0;
}

static uint32_t character(const uint8_t *bytes, size_t i, unsigned width)
{
    uint32_t code = 0;

    memcpy(&code, bytes + i * width, width); /* little-endian, as its machine is */
    return code;
}

/* What no terminal shows, and the half characters that stand for bytes of a file's name, are told
 * as "?". */
static uint32_t shown(uint32_t code)
{
    bool half = code >= 0xd800 && code < 0xe000;

    return utf8_is_control(code) || half || code > 0x10ffff ? '?' : code;
}

/* How many bytes a character has as UTF-8. */
static size_t bytes_of(uint32_t code)
{
    char to[UTF8_MAX];

    return utf8_encode(code, to);
}

/* Characters [from, to) as UTF-8. */
static size_t encode(const uint8_t *bytes, unsigned width, size_t from, size_t to, char *out)
{
    size_t len = 0;

    for (size_t i = from; i < to; i++)
        len += utf8_encode(shown(character(bytes, i, width)), out + len);
    return len;
}

/* Read n characters from the first-th on. */
static int read_some(const struct python_memory *m, const struct characters *c, uint64_t first,
                     size_t n, uint8_t *bytes)
{
    return n ? python_memory_read(m, c->at + first * c->width, bytes, n * c->width) : 0;
}

/* How many of n characters fit into room bytes: the first ones, or the last ones. */
static size_t how_many(const uint8_t *bytes, unsigned width, size_t n, size_t room, bool back)
{
    size_t i;

    for (i = 0; i < n; i++) {
        size_t len = bytes_of(shown(character(bytes, back ? n - 1 - i : i, width)));

        if (len > room)
            break;
        room -= len;
    }
    return i;
}

static int read_text(const struct python_memory *m, const struct python_offsets *o, uint64_t at,
                     char *to, size_t size, bool back)
{
    const size_t mark = sizeof(ellipsis) - 1;
    uint8_t bytes[MOST * 4];
    struct characters c;
    size_t n, fit, len = 0;
    int rc = find(m, o, at, &c);

    assert(size > mark && size <= MOST);
    if (rc < 0)
        return rc;
    n = (size_t)MIN(c.n, size);
    rc = read_some(m, &c, back ? c.n - n : 0, n, bytes);
    if (rc < 0)
        return rc;
    fit = how_many(bytes, c.width, n, size - 1, back);
    if (fit == c.n) {
        len = encode(bytes, c.width, 0, n, to);
    } else {
        fit = how_many(bytes, c.width, n, size - 1 - mark, back);
        if (back)
            memcpy(to, ellipsis, mark);
        len = encode(bytes, c.width, back ? n - fit : 0, back ? n : fit, to + (back ? mark : 0));
        if (!back)
            memcpy(to + len, ellipsis, mark);
        len += mark;
    }
    to[len] = 0;
    return 0;
}

int python_text_begin(const struct python_memory *m, const struct python_offsets *o, uint64_t at,
                      char *to, size_t size)
{
    return read_text(m, o, at, to, size, false);
}

int python_text_end(const struct python_memory *m, const struct python_offsets *o, uint64_t at,
                    char *to, size_t size)
{
    return read_text(m, o, at, to, size, true);
}
