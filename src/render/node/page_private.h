/* Lines of a live page: cut to the width, and no more than there is room for. Private to
 * src/render. */
#ifndef BRIM_RENDER_NODE_PAGE_PRIVATE_H
#define BRIM_RENDER_NODE_PAGE_PRIVATE_H
#include "render/node/live_text.h"
#include "render/text.h"

enum { PAGE_LINE_MAX = 4096, INK_PLAIN = -1 };

struct page {
    const struct live_look *look;
    struct str *out;
    struct str line; /* that is being made, cleaned but for what page_add() gets */
    size_t left;     /* lines that there is room for */
};

/* Append text to the line, cleaned, in at most so many columns; the rest is shown as cut. */
void page_add(struct page *p, const char *text, size_t columns);

/* The same at the right of a field of so many columns, with a blank before it. */
void page_number(struct page *p, const char *text, size_t columns);

/* The same at the left of such a field. */
void page_word(struct page *p, const char *text, size_t columns);

/* Write the line, or nothing when there is no room for it, and begin the next. ink: enum ink, or
 * INK_PLAIN. */
void page_end(struct page *p, int ink);

#endif
