/* Phrases in what people write beside their measurements. */
#ifndef BRIM_PLAN_MEASURED_ROWS_PHRASES_H
#define BRIM_PLAN_MEASURED_ROWS_PHRASES_H
#include <stdbool.h>
#include <stddef.h>

/* Whether a text states the phrase: as words of their own in any case ("compile" is not in
 * "compiled"; digits may follow: "FSDP2"), where a blank in the phrase is any of " -_." or nothing
 * ("zero 1" is in "ZeRO-1"); and its clause does not deny it ("no flash attention",
 * "compile=False", "faster than DeepSpeed"). */
bool row_phrase(const char *text, const char *phrase);

/* The same of the first of n phrases that the text states; NULL: none. */
const char *row_phrases(const char *text, const char *const *phrases, size_t n);

/* Whether a text names a program as the one that ran: a clause that begins with its name, or has it
 * behind "with", "via", "using" and the like. */
bool row_names_program(const char *text, const char *name);

/* "yes", "true", "on", "1": 1. "no", "false", "off", "none", "0": 0. Blank or "-": -1. Else -2. */
int row_yes_no(const char *text);

#endif
