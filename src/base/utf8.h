/* UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef BRIM_BASE_UTF8_H
#define BRIM_BASE_UTF8_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The character at text, which is NUL-terminated and not at its end: returns its length in bytes. A
 * byte that begins none counts alone, and *ret is 0 then. */
size_t utf8_decode(const char *text, uint32_t *ret);

/* The bytes of a character into to, which has room for UTF8_MAX of them; returns how many. code is
 * one that utf8_decode() could return, or 0. */
enum { UTF8_MAX = 4 };
size_t utf8_encode(uint32_t code, char *to);

/* Whether a terminal acts upon a character instead of showing it: the controls of ASCII and those
 * behind it (U+0080 to U+009F, of which one begins what ESC [ does), and 0. */
bool utf8_is_control(uint32_t code);

#endif
