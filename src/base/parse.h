/* Text to numbers: the whole text must be the number. Return 0, -EINVAL (not one) or -ERANGE (too
 * large); *ret is set only on success. */
#ifndef BRIM_BASE_PARSE_H
#define BRIM_BASE_PARSE_H
#include <stdint.h>

#include "base/compiler.h"

int parse_u64(const char *text, uint64_t *ret) CHECK_RESULT;
int parse_i64(const char *text, int64_t *ret) CHECK_RESULT;

/* Base 16, with or without a leading 0x. */
int parse_hex(const char *text, uint64_t *ret) CHECK_RESULT;

/* The digits, in base 10 or 16, that text starts with, at most max of them: returns how many there
 * are, 0 when there are none or the number is too large. */
int parse_digits(const char *text, int base, int max, uint64_t *ret);

/* A finite decimal number; "nan", "inf" and hexadecimal floats are -EINVAL. */
int parse_double(const char *text, double *ret) CHECK_RESULT;

/* A duration as people write it: "250ms", "10s", "10m", "2h", "1d"; a bare number is seconds.
 * Whole numbers only. */
int parse_duration_ns(const char *text, int64_t *ret) CHECK_RESULT;

#endif
