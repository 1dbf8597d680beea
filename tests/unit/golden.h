/* Whole texts against a file of tests/fixtures/golden/unit, line by line. With BRIM_REGENERATE in
 * its environment, as script/regenerate has it, a test writes what is said today. */
#ifndef BRIM_TESTS_GOLDEN_H
#define BRIM_TESTS_GOLDEN_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "tap.h"

static inline void golden_write(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");

    if (!f || fputs(text, f) < 0 || fclose(f) != 0) {
        printf("Bail out! %s: %m\n", path);
        exit(1);
    }
}

/* What the file holds, to be free()d; "" where there is none. */
static inline char *golden_read(const char *path)
{
    FILE *f = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;

    if (f && getdelim(&text, &size, 0, f) < 0 && text)
        text[0] = 0;
    if (f)
        fclose(f);
    return text ? text : calloc(1, 1);
}

/* The first line that differs fails; its number is in the check's text. */
static inline void golden(const char *path, const char *text)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char *want;
    const char *w, *t = text;
    int number = 1;

    if (getenv("BRIM_REGENERATE"))
        golden_write(path, text);
    want = golden_read(path);
    for (w = want; *w && *t; number++) {
        size_t n_want = strcspn(w, "\n"), n_text = strcspn(t, "\n");

        if (n_want != n_text || strncmp(w, t, n_want) != 0)
            break;
        w += n_want + (w[n_want] == '\n');
        t += n_text + (t[n_text] == '\n');
    }
    if (*w == 0 && *t == 0)
        ok(true, "the text is what %s holds", name);
    else
        ok(false, "line %d of %s is '%.*s', and was '%.*s'", number, name, (int)strcspn(t, "\n"), t,
           (int)strcspn(w, "\n"), w);
    free(want);
}

#endif
