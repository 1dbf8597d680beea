/* The files that options name for what a command writes. */
#ifndef BRIM_CMD_COMMON_OUTPUT_H
#define BRIM_CMD_COMMON_OUTPUT_H
#include "base/err.h"
#include "base/opt.h"

/* Whether each of them can be written, before what takes long begins, and is not a file of somebody
 * else: one that is there with something in it must be what brim writes there. 0, or a negative
 * errno with a sentence that names the option. */
int output_check(const struct opt *opts, const void *values, struct err *e) CHECK_RESULT;

/* ERR_USAGE where the file of --json stands in a word of its own, so that it would be the program
 * to start: "--json out.json -- train". operands: NULL-terminated. */
int output_check_apart(const struct opt *opts, const void *values, char **operands, struct err *e)
    CHECK_RESULT;

#endif
