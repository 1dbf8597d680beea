/* The words that a shell's completion proposes beside commands and options. */
#ifndef BRIM_CMD_COMPLETION_WORDS_H
#define BRIM_CMD_COMPLETION_WORDS_H
#include "cmd/common/cmd.h"

/* "runs"; NULL for CMD_NO_WORDS. */
const char *completion_kind(enum cmd_words words);

/* What the value of an option is one of. */
enum cmd_words completion_of_option(const struct opt *o);

/* Print what there is of a kind, a word on each line. ERR_USAGE for a kind that is none; a negative
 * errno with a sentence for what cannot be read. */
int completion_words(const char *kind, struct str *out, struct err *e) CHECK_RESULT;

#endif
