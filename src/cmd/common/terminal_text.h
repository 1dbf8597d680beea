/* What commands print: texts from jobs and files, for which nobody vouches. What a terminal would
 * act upon in them, and bytes that are no UTF-8, are written as '?'. */
#ifndef BRIM_CMD_COMMON_TERMINAL_TEXT_H
#define BRIM_CMD_COMMON_TERMINAL_TEXT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* One line on stderr; who: "brim sim". */
void say(const char *who, const char *sentence);

/* Lines, flushed. colour: the text may set colours. 0, or -errno. */
int say_lines(FILE *to, const char *text, size_t len, bool colour);

#endif
