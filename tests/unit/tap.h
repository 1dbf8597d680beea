/* Test Anything Protocol (https://testanything.org) for the unit tests, one program per module:
 *
 *     int main(void)
 *     {
 *         ok(ptr != NULL, "the file %s opens", name);
 *         is_int(count, 3, "the file has three lines");
 *         is_str(e.text, "a.ini:1: ...", "the error names file and line");
 *         return done();
 *     }
 *
 * Every check prints one line, and where it fails the place and the two values as a comment; it
 * returns whether it passed. The expected value comes second. */
#ifndef BRIM_TESTS_TAP_H
#define BRIM_TESTS_TAP_H
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"

#define ok(cond, ...) tap_ok(!!(cond), #cond, TAP_HERE, __VA_ARGS__)
#define is_int(got, want, ...) tap_is_int((got), (want), TAP_HERE, __VA_ARGS__)
#define is_str(got, want, ...) tap_is_str((got), (want), TAP_HERE, __VA_ARGS__)

/* Where a check stands in the source. */
struct tap_place {
    const char *file;
    int line;
};
#define TAP_HERE ((struct tap_place){ __FILE__, __LINE__ })

static int tap_count, tap_failed;

/* Print a line; a newline in the text would end a line of the protocol, so it is replaced. */
static inline void tap_print(const char *text, const char *newline)
{
    for (; *text; text++) {
        if (*text == '\n')
            fputs(newline, stdout);
        else
            putchar(*text);
    }
    putchar('\n');
}

PRINTF(4, 0)
static inline bool tap_report(bool good, const char *detail, struct tap_place at, const char *what,
                              va_list ap)
{
    char text[512];

    vsnprintf(text, sizeof(text), what, ap);
    printf("%sok %d - ", good ? "" : "not ", ++tap_count);
    tap_print(text, " ");
    if (!good) {
        tap_failed++;
        printf("# %s:%d: ", at.file, at.line);
        tap_print(detail, "\n# ");
    }
    fflush(stdout);
    return good;
}

PRINTF(4, 5)
static inline bool tap_ok(bool good, const char *expression, struct tap_place at, const char *what,
                          ...)
{
    va_list ap;

    va_start(ap, what);
    tap_report(good, expression, at, what, ap);
    va_end(ap);
    return good;
}

PRINTF(4, 5)
static inline bool tap_is_int(long long got, long long want, struct tap_place at, const char *what,
                              ...)
{
    char detail[64];
    va_list ap;

    snprintf(detail, sizeof(detail), "got %lld, want %lld", got, want);
    va_start(ap, what);
    tap_report(got == want, detail, at, what, ap);
    va_end(ap);
    return got == want;
}

/* Two NULL are equal; NULL and "" are not. */
PRINTF(4, 5)
static inline bool tap_is_str(const char *got, const char *want, struct tap_place at,
                              const char *what, ...)
{
    bool good = got && want ? strcmp(got, want) == 0 : got == want;
    char detail[2048];
    va_list ap;

    snprintf(detail, sizeof(detail), "got \"%s\"\nwant \"%s\"", got ? got : "(null)",
             want ? want : "(null)");
    va_start(ap, what);
    tap_report(good, detail, at, what, ap);
    va_end(ap);
    return good;
}

/* Print the plan; what main() returns. */
static inline int done(void)
{
    printf("1..%d\n", tap_count);
    return tap_failed > 0;
}

#endif
