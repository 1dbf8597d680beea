#include "probe/python/line_table.h"

#include <limits.h>
#include <stdbool.h>

/* The four bits behind the first one of an entry are its form: below SAME_LINE_END it is on the
 * line of the one before; below NEXT_LINES_END, 0 to 2 lines behind that; NO_PLACE: it has no line;
 * all others have the number of lines, with a sign. */
enum { SAME_LINE_END = 10, NEXT_LINES_END = 13, NO_PLACE = 15 };

struct reader {
    const uint8_t *table;
    size_t at, len;
};

/* The first byte of an entry alone has bit 7. */
static bool in_entry(const struct reader *r)
{
    return r->at < r->len && !(r->table[r->at] & 128);
}

/* A number in pieces of six bits, least first; bit 6 says that another one follows. Pieces behind
 * the fifth are of no line number. */
static uint32_t read_number(struct reader *r)
{
    uint32_t number = 0;
    unsigned shift = 0;

    while (in_entry(r)) {
        uint8_t byte = r->table[r->at++];

        if (shift < 30)
            number |= (uint32_t)(byte & 63) << shift;
        shift += 6;
        if (!(byte & 64))
            break;
    }
    return number;
}

/* The same with a sign, in its lowest bit. */
static int64_t read_signed(struct reader *r)
{
    uint32_t number = read_number(r);

    return number & 1 ? -(int64_t)(number >> 1) : (int64_t)(number >> 1);
}

/* How many lines an entry lies behind the one before, by its form. */
static int64_t read_lines(struct reader *r, int form)
{
    if (form < SAME_LINE_END || form == NO_PLACE)
        return 0;
    return form < NEXT_LINES_END ? form - SAME_LINE_END : read_signed(r);
}

struct python_line_range python_line_find(const uint8_t *table, size_t len, int first, int64_t unit)
{
    struct reader r = { table, 0, len };
    int64_t line = first, from = 0;

    while (r.at < r.len) {
        uint8_t head = table[r.at++];
        int form = head >> 3 & 15;
        int64_t to = from + (head & 7) + 1;

        line += read_lines(&r, form);
        while (in_entry(&r)) /* columns */
            r.at++;
        if (unit < to) {
            bool known = form != NO_PLACE && line > 0 && line <= INT_MAX;

            return (struct python_line_range){ from, to, known ? (int)line : 0 };
        }
        from = to;
    }
    return (struct python_line_range){ unit, unit + 1, 0 };
}
