/* Feed every file of the folders in argv to a fuzz target, in the order of their names: the
 * corpus as a test in TAP. Of a short text each line is left out once, and each word is another
 * one: what readers do at the end of their lists is seen with sanitizers. A target that fails
 * aborts, and the plan, which stands last, is then missing. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "fuzz.h"

enum { SHORT = 1024 };

static const char parts[] = " \t\n\",:;=|+[]{}()<>/"; /* between words */

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The file in memory of exactly its size, so that a sanitizer sees one byte too many read. */
static int read_file(const char *path, uint8_t **ret, size_t *size_out)
{
    CLEANUP(freep) uint8_t *data = NULL;
    FILE *f = fopen(path, "re");
    long size = -1;
    int rc = -EIO;

    if (!f)
        return -errno;
    if (fseek(f, 0, SEEK_END) == 0)
        size = ftell(f);
    if (size >= 0)
        data = malloc((size_t)size);
    rewind(f);
    if ((data || size == 0) && fread(data, 1, (size_t)size, f) == (size_t)size) {
        *ret = steal(&data);
        *size_out = (size_t)size;
        rc = 0;
    }
    fclose(f);
    return rc;
}

/* A text in which what is from 'from' to 'to' is another word. */
static int replay_with(const uint8_t *data, size_t size, size_t from, size_t to, const char *word)
{
    size_t len = strlen(word), changed = size - (to - from) + len;
    CLEANUP(freep) uint8_t *text = malloc(changed ? changed : 1);

    if (!text)
        return -ENOMEM;
    memcpy(text, data, from);
    memcpy(text + from, word, len);
    memcpy(text + from + len, data + to, size - to);
    LLVMFuzzerTestOneInput(text, changed);
    return 0;
}

/* Each word of a line as others, one after the other. */
static int replay_words(const uint8_t *data, size_t size, size_t begin, size_t end)
{
    static const char *const words[] = { "", "zzz", "-1", "4294967297" };
    int rc = 0;

    for (size_t from = begin, to; from < end && rc == 0; from = to + 1) {
        for (to = from; to < end && !strchr(parts, data[to]); to++)
            ;
        for (size_t i = 0; to > from && i < sizeof(words) / sizeof(words[0]) && rc == 0; i++)
            rc = replay_with(data, size, from, to, words[i]);
    }
    return rc;
}

static int replay_lines(const uint8_t *data, size_t size)
{
    int rc = 0;

    if (size > SHORT || memchr(data, 0, size))
        return 0;
    for (size_t begin = 0, end; begin < size && rc == 0; begin = end) {
        const uint8_t *newline = memchr(data + begin, '\n', size - begin);

        end = newline ? (size_t)(newline - data) + 1 : size;
        rc = replay_with(data, size, begin, end, "");
        if (rc == 0)
            rc = replay_words(data, size, begin, end);
    }
    return rc;
}

static int replay_file(const char *path)
{
    CLEANUP(freep) uint8_t *data = NULL;
    size_t size = 0;
    int rc = read_file(path, &data, &size);

    if (rc == 0) {
        LLVMFuzzerTestOneInput(data, size);
        rc = replay_lines(data, size);
    }
    return rc;
}

/* Returns how many files could not be read; *count goes up by one a file. */
static int replay_folder(struct arena *a, const char *folder, int *count)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, is_visible, alphasort);
    int failed = 0;

    if (n <= 0) {
        printf("not ok %d - %s has no files\n", ++*count, folder);
        return 1;
    }
    for (int i = 0; i < n; i++) {
        const char *path = arena_printf(a, "%s/%s", folder, entries[i]->d_name);
        int rc = path ? replay_file(path) : -ENOMEM;

        failed += rc < 0;
        printf("%sok %d - %s\n", rc < 0 ? "not " : "", ++*count, entries[i]->d_name);
        fflush(stdout);
        free(entries[i]);
    }
    free(entries);
    return failed;
}

int main(int argc, char **argv)
{
    struct arena a = ARENA_INIT;
    int count = 0, failed = 0;

    for (int i = 1; i < argc; i++)
        failed += replay_folder(&a, argv[i], &count);
    arena_done(&a);
    printf("1..%d\n", count);
    return failed > 0;
}
