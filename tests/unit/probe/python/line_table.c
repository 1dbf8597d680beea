/* Tables of lines: their forms one by one, and whatever bytes a process may have. */
#include "probe/python/line_table.h"

#include <limits.h>
#include <stdint.h>

#include "tap.h"

/* The first byte of an entry, by its form and how many units it is for. */
#define HEAD(form, units) (uint8_t)(128 | (form) << 3 | ((units)-1))

static int line_at(const uint8_t *table, size_t len, int first, int64_t unit)
{
    return python_line_find(table, len, first, unit).line;
}

static void test_forms(void)
{
    static const uint8_t table[] = {
        HEAD(0, 1),
        0x10, /* the line that it begins with */
        HEAD(9, 2),
        0x7f, /* and again */
        HEAD(10, 1),
        4,
        9, /* the same line, with columns */
        HEAD(11, 1),
        4,
        9, /* one more */
        HEAD(12, 8),
        4,
        9, /* two more */
        HEAD(13, 1),
        2 << 1, /* two more, without columns */
        HEAD(13, 1),
        3 << 1 | 1, /* three back */
        HEAD(14, 3),
        64 | (100 << 1 & 63),
        100 << 1 >> 6,
        0,
        5,
        5,           /* a hundred more */
        HEAD(15, 1), /* none */
        HEAD(0, 1),
        0, /* where it was */
    };
    static const struct {
        int64_t unit;
        int line;
        const char *what;
    } cases[] = {
        { 0, 10, "the first unit is on the first line" },
        { 1, 10, "a short entry stays on its line" },
        { 2, 10, "an entry may be for two units" },
        { 3, 10, "an entry with columns may be on the same line" },
        { 4, 11, "an entry may be on the next line" },
        { 5, 13, "an entry may be two lines on" },
        { 12, 13, "an entry may be for eight units" },
        { 13, 15, "an entry without columns has a number of lines" },
        { 14, 12, "an entry may go back" },
        { 15, 112, "a long entry has a number of lines in pieces" },
        { 17, 112, "a long entry is for three units" },
        { 18, 0, "an entry may have no line" },
        { 19, 112, "a line goes on behind an entry that has none" },
        { 20, 0, "a unit behind the table has no line" },
        { INT64_MAX - 1, 0, "the last unit of all has no line" },
    };
    struct python_line_range range = python_line_find(table, sizeof(table), 10, 8);

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        is_int(line_at(table, sizeof(table), 10, cases[i].unit), cases[i].line,
               "the table is read right: %s", cases[i].what);
    is_int(range.from, 5, "a range begins with its entry's first unit");
    is_int(range.to, 13, "a range ends behind its entry's last unit");
}

static void test_limits(void)
{
    static const uint8_t cut[] = { HEAD(14, 1), 64 | 1 };
    static const uint8_t back[] = { HEAD(13, 1), 63, HEAD(0, 1), 0 };
    static const uint8_t far[] = { HEAD(13, 1), 0x7e, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x3f };
    static const uint8_t loose[] = { 1, 2, 3, HEAD(11, 1), 0, 0 };

    is_int(line_at(NULL, 0, 10, 0), 0, "an empty table has no lines");
    is_int(line_at(cut, sizeof(cut), 10, 5), 0, "a number that is cut ends the table");
    is_int(line_at(back, sizeof(back), 10, 1), 0, "a line before the first one of all is none");
    is_int(line_at(far, sizeof(far), INT_MAX, 0), 0, "a line beyond all numbers is none");
    ok(line_at(loose, sizeof(loose), 10, 1) >= 0, "a table that begins within an entry is read");
}

/* All tables of four bytes that a few values make. */
static void test_any(void)
{
    static const uint8_t values[] = { 0, 1, 63, 64, 127, 128, 0xe8, 0xf0, 0xf7, 0xff };
    long wrong = 0;

    for (int i = 0; i < 10000; i++) {
        const uint8_t table[] = { values[i % 10], values[i / 10 % 10], values[i / 100 % 10],
                                  values[i / 1000] };

        for (int64_t unit = 0; unit < 40; unit += 3) {
            struct python_line_range r = python_line_find(table, sizeof(table), 1, unit);

            wrong += r.from > unit || r.to <= unit || r.line < 0;
        }
    }
    is_int(wrong, 0, "every range holds the unit that was asked for");
}

int main(void)
{
    test_forms();
    test_limits();
    test_any();
    return done();
}
