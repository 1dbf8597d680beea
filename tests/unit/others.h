/* Data of others, which are not in the tree: script/others.py says more. */
#ifndef BRIM_TESTS_OTHERS_H
#define BRIM_TESTS_OTHERS_H
#include <stdlib.h>

/* Ends the text of a check that is skipped without them. */
#define OTHERS_MISSING "# SKIP others' data are not here: set BRIM_SHARED"

/* The folder with them: that which BRIM_SHARED names, else a test's first argument. */
static inline const char *others_folder(int argc, char **argv)
{
    const char *named = getenv("BRIM_SHARED");

    if (named && *named)
        return named;
    return argc > 1 ? argv[1] : ".";
}

#endif
