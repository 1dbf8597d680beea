/* Many nodes: a table with one line per kind of node. */
#ifndef BRIM_RENDER_MACHINE_TABLE_H
#define BRIM_RENDER_MACHINE_TABLE_H
#include "render/machine/groups.h"

/* 0, -ENOMEM or -EFBIG. */
int machine_table(const struct machine_view *v, struct str *out) CHECK_RESULT;

/* The width for text that people read: of the terminal, 100 columns at most. */
unsigned machine_text_width(const struct machine_view *v);

#endif
