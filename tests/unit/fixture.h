/* Texts for tests: what the machines of tests/fixtures hold, and scripts for the fakes. */
#ifndef BRIM_TESTS_FIXTURE_H
#define BRIM_TESTS_FIXTURE_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/kernel/tree.h"

/* A file of one of the machines of tests/fixtures/machines, to be free()d; the test ends when there
 * is none. */
static inline char *fixture_file(const char *machine, const char *file)
{
    enum { MAX = 4 << 20 };
    CLEANUP(tree_closep) struct tree *tree = NULL;
    CLEANUP(freep) char *pack = malloc(MAX);
    char *text = malloc(MAX);
    struct err e = { "" };
    char path[512];
    FILE *f;

    snprintf(path, sizeof(path), "%s/machines/%s/machine.pack", FIXTURES, machine);
    f = fopen(path, "re");
    if (!f || !pack || !text || tree_open_pack(&tree, path, pack, fread(pack, 1, MAX, f), &e) < 0 ||
        tree_read(tree, file, text, MAX) < 0) {
        printf("Bail out! %s: no %s: %s\n", path, file, e.text);
        exit(1);
    }
    fclose(f);
    return text;
}

/* Where the script of a fake library is; "" before there is one. */
static char fixture_script_path[32];

/* Make text the script of a fake library, whose variable is given; it stays until the test ends. */
static inline void fixture_script(const char *variable, const char *text)
{
    FILE *f;

    if (!*fixture_script_path) {
        snprintf(fixture_script_path, sizeof(fixture_script_path), "/tmp/brim-script-XXXXXX");
        close(mkstemp(fixture_script_path));
    }
    f = fopen(fixture_script_path, "we");
    if (!f || fputs(text, f) < 0 || fclose(f)) {
        printf("Bail out! %s\n", fixture_script_path);
        exit(1);
    }
    setenv(variable, fixture_script_path, 1);
}

/* Remove the script, wherever the variable points by now. */
static inline void fixture_done(void)
{
    if (*fixture_script_path)
        unlink(fixture_script_path);
}

#endif
