/* Text for people and for XML out of strings that came from devices and files: nobody vouches for
 * those. Control characters (also the invisible ones that turn the direction of writing), and bytes
 * that are no UTF-8, are written as '?'. */
#ifndef BRIM_RENDER_TEXT_H
#define BRIM_RENDER_TEXT_H
#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* Add text, cleaned; NULL adds nothing. */
void text_add(struct str *out, const char *text);

/* Add text, cleaned, with what XML reserves as entities. Good for content and for attributes. */
void text_add_xml(struct str *out, const char *text);

/* Add text, cleaned, in at most 'columns' columns: what is cut off is shown as an ellipsis. */
void text_add_clipped(struct str *out, const char *text, size_t columns);

/* Add text, cleaned, with line breaks at blanks so that no line is longer than 'width' columns
 * (longer words stay whole). The line is at column 'indent' already; further ones start there. */
void text_add_wrapped(struct str *out, const char *text, size_t indent, size_t width);

/* Columns that text takes once cleaned: its characters. */
size_t text_columns(const char *text);

enum ink { INK_BOLD, INK_DIM, INK_RED, INK_YELLOW, INK_CYAN };

/* Add text as it is, in a terminal's colour when colour is on. */
void text_ink(struct str *out, bool colour, enum ink ink, const char *text);

/* "1 note", "3 notes" */
void text_count(struct str *out, size_t count, const char *noun);

#endif
