/* The memory of an interpreter as a text: a line for each word, "ADDRESS VALUE" in hexadecimal.
 * What is not named is 0 in pages (of 4 KiB) that have a word, and cannot be read elsewhere. Before
 * these stand "runtime ADDRESS", "version NUMBER" and "thread NUMBER": what python_reader_open()
 * and python_reader_stack() are asked for. */
#ifndef BRIM_TESTS_PYTHON_IMAGE_H
#define BRIM_TESTS_PYTHON_IMAGE_H
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "probe/python/memory.h"

struct image_word {
    uint64_t at, value;
};

struct image {
    uint64_t runtime, version, thread;
    struct image_word *words; /* by address, each once */
    size_t n, room;
    long reads; /* pieces that were asked for */
};

static inline void image_done(struct image *m)
{
    free(m->words);
    *m = (struct image){ .n = 0 };
}

static inline int image_by_address(const void *a, const void *b)
{
    const struct image_word *left = a, *right = b;

    return COMPARE(left->at, right->at);
}

/* The first word that ends behind an address. */
static inline size_t image_find(const struct image *m, uint64_t at)
{
    size_t from = 0, to = m->n;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (m->words[middle].at + 7 < at && m->words[middle].at + 7 >= m->words[middle].at)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static inline bool image_has_page(const struct image *m, uint64_t page)
{
    size_t i = image_find(m, page);

    return i < m->n && m->words[i].at / 4096 <= page / 4096;
}

static inline int image_read_piece(const struct image *m, const struct python_piece *p)
{
    if (p->at + p->len < p->at)
        return -EFAULT;
    for (uint64_t page = p->at - p->at % 4096; page < p->at + p->len; page += 4096)
        if (!image_has_page(m, page))
            return -EFAULT;
    memset(p->to, 0, p->len);
    for (size_t i = image_find(m, p->at); i < m->n && m->words[i].at < p->at + p->len; i++) {
        const uint8_t *bytes = (const uint8_t *)&m->words[i].value;

        for (unsigned k = 0; k < 8; k++) {
            uint64_t at = m->words[i].at + k;

            if (at >= p->at && at - p->at < p->len)
                ((uint8_t *)p->to)[at - p->at] = bytes[k];
        }
    }
    return 0;
}

static inline int image_read(const void *state, const struct python_piece *pieces, size_t n)
{
    struct image *m = (struct image *)(uintptr_t)state;

    for (size_t i = 0; i < n; i++) {
        m->reads++;
        if (image_read_piece(m, &pieces[i]) < 0)
            return -EFAULT;
    }
    return 0;
}

static inline struct python_memory image_memory(const struct image *m)
{
    return (struct python_memory){ image_read, m };
}

static inline void image_set(struct image *m, const char *name, uint64_t value)
{
    if (!strcmp(name, "runtime"))
        m->runtime = value;
    else if (!strcmp(name, "version"))
        m->version = value;
    else if (!strcmp(name, "thread"))
        m->thread = value;
}

static inline int image_add(struct image *m, uint64_t at, uint64_t value)
{
    if (m->n == m->room) {
        size_t room = m->room ? 2 * m->room : 512;
        struct image_word *more = realloc(m->words, room * sizeof(*more));

        if (!more)
            return -ENOMEM;
        m->words = more;
        m->room = room;
    }
    m->words[m->n++] = (struct image_word){ at, value };
    return 0;
}

/* Sort the words; of those at one address one is kept. */
static inline void image_sort(struct image *m)
{
    size_t kept = 0;

    if (m->n)
        qsort(m->words, m->n, sizeof(*m->words), image_by_address);
    for (size_t i = 0; i < m->n; i++) {
        if (kept && m->words[kept - 1].at == m->words[i].at)
            kept--;
        m->words[kept++] = m->words[i];
    }
    m->n = kept;
}

/* Take a text; lines that cannot be read are left out. 0 or -ENOMEM. */
static inline int image_parse(struct image *m, const char *text, size_t len)
{
    const char *end = text + len;

    *m = (struct image){ .n = 0 };
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((newline ? newline : end) - text);
        char line[80], *value;
        uint64_t left, right;

        snprintf(line, sizeof(line), "%.*s", (int)MIN(n, sizeof(line) - 1), text);
        text += n + 1;
        value = strchr(line, ' ');
        if (!value)
            continue;
        *value++ = 0;
        if (parse_hex(value, &right) < 0)
            continue;
        if (parse_hex(line, &left) < 0)
            image_set(m, line, right);
        else if (image_add(m, left, right) < 0)
            return -ENOMEM;
    }
    image_sort(m);
    return 0;
}

#endif
