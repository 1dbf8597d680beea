/* co_linetable of CPython 3.11 and later: which line each instruction of a code object belongs
 * to. Its form: Objects/locations.md of CPython. */
#ifndef BRIM_PROBE_PYTHON_LINE_TABLE_H
#define BRIM_PROBE_PYTHON_LINE_TABLE_H
#include <stddef.h>
#include <stdint.h>

/* Instructions next to each other, [from, to) in units of 2 bytes, that belong to one line. */
struct python_line_range {
    int64_t from, to;
    int line; /* 0: none is known */
};

/* The range that a unit lies in, by a table whose first line is given. Any bytes may be a table;
 * where it does not reach as far as the unit, the range is that unit alone and has no line. */
struct python_line_range python_line_find(const uint8_t *table, size_t len, int first,
                                          int64_t unit);

#endif
