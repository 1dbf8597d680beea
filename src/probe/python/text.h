/* A str of CPython as UTF-8 of limited length. */
#ifndef BRIM_PROBE_PYTHON_TEXT_H
#define BRIM_PROBE_PYTHON_TEXT_H
#include <stdbool.h>

#include "probe/python/memory.h"
#include "probe/python/offsets.h"

/* Read the begin of a str, or its end, into to, which has size bytes (at most PYTHON_FILE): what
 * does not fit is left out, with "…" in its place. 0, or a negative errno: it cannot be read, or is
 * no str as they are of a function's name; to is as it was then. */
int python_text_begin(const struct python_memory *m, const struct python_offsets *o, uint64_t at,
                      char *to, size_t size) CHECK_RESULT;
int python_text_end(const struct python_memory *m, const struct python_offsets *o, uint64_t at,
                    char *to, size_t size) CHECK_RESULT;

#endif
