/* The live view for people: the sentence, the pipeline, tables, on a terminal of some size. */
#ifndef BRIM_RENDER_NODE_LIVE_TEXT_H
#define BRIM_RENDER_NODE_LIVE_TEXT_H
#include <stdbool.h>

#include "base/str.h"
#include "model/verdict/live.h"

struct live_look {
    unsigned columns; /* lines are cut there */
    unsigned rows;    /* the most lines to write; 0: all that there is */
    bool colour;
    bool unicode;       /* else ASCII only */
    const char *footer; /* the last line; NULL: none */
};

/* Add the view, line by line, each with its newline. No string in it is trusted: what a terminal
 * would act upon is written as '?'. Failures stick in out. */
void live_text(const struct live *l, const struct live_extra *x, const struct live_look *look,
               struct str *out);

#endif
