/* Names by which users call the rows of a table, several for one row. Case, '-', '_' and blanks
 * make no difference: "h100_80gb" is "H100-80GB". */
#ifndef BRIM_PLAN_SHAPE_NAMES_H
#define BRIM_PLAN_SHAPE_NAMES_H
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

struct names {
    struct name {
        const char *text;
        size_t row;
    } * list;
    size_t count;
};

/* Add the words of a text, which are parted by blanks, as names of a row; they are copied into a.
 * 0, -ENOMEM, or -EEXIST when another row has one of them. */
int names_add(struct names *n, struct arena *a, const char *words, size_t row) CHECK_RESULT;

/* Whether there is such a name, and of which row. */
bool names_find(const struct names *n, const char *name, size_t *ret);

/* What to say behind "unknown thing 'NAME'": " (did you mean H100-SXM?)", else up to five names
 * that begin alike, " (there is A100, A800)", else "". Returns buf. */
enum { NAMES_NEAR = 240 };
const char *names_near(const struct names *n, const char *name, char buf[NAMES_NEAR]);

#endif
