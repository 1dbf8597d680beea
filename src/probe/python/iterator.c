#include "probe/python/iterator.h"

#include <errno.h>
#include <string.h>

/* Where fields lie behind the head of an object, which is 16 bytes in all builds that are read. */
enum {
    FIRST = 16,  /* the index; of map: the tuple */
    SECOND = 24, /* of sequences: what they are of; of zip: the tuple */
    ITEMS = 16,  /* of a list or a tuple: how many */
    SLICED = 48, /* of a slice: what it was given */
    NAME = 20,
};
#define NUMBER_MOST (UINT64_C(1) << 60)

/* By the names of their types, as long as none of their own has the same one. */
static enum python_kind kind_of_name(const char name[NAME])
{
    static const struct {
        const char *name;
        enum python_kind kind;
    } known[] = {
        { "range_iterator", PYTHON_RANGE },
        { "list_iterator", PYTHON_SEQUENCE },
        { "tuple_iterator", PYTHON_SEQUENCE },
        { "enumerate", PYTHON_ENUMERATE },
        { "itertools.islice", PYTHON_SLICE },
        { "itertools.count", PYTHON_COUNT },
        { "zip", PYTHON_ZIP },
        { "map", PYTHON_MAP },
        { "generator", PYTHON_GENERATOR },
    };

    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (!strncmp(name, known[i].name, NAME))
            return known[i].kind;
    return PYTHON_OTHER;
}

static enum python_kind read_kind(const struct python_memory *m, const struct python_offsets *o,
                                  uint64_t type)
{
    char name[NAME];
    uint64_t at;

    if (python_memory_word(m, type + o->type_name, &at) < 0 ||
        python_memory_read(m, at, name, sizeof(name)) < 0)
        return PYTHON_OTHER;
    return kind_of_name(name);
}

enum python_kind python_kind_of(struct python_kinds *k, const struct python_memory *m,
                                const struct python_offsets *o, uint64_t type)
{
    size_t i = (size_t)((type >> 4) * 0x9e3779b97f4a7c15u >> 32) % PYTHON_KINDS;

    if (!type)
        return PYTHON_OTHER;
    if (k->known[i].type != type) {
        k->known[i].kind = read_kind(m, o, type);
        k->known[i].type = type;
    }
    return k->known[i].kind;
}

/* A number of rounds; one that nobody makes is 0. */
static int64_t number(const uint8_t *bytes, size_t offset)
{
    uint64_t word = python_word(bytes, offset);

    return word <= NUMBER_MOST ? (int64_t)word : 0;
}

/* What 3.12 and later count is what is left. */
static struct python_progress range(const struct python_offsets *o, const uint8_t *iterator)
{
    int64_t length = number(iterator, o->range.length), index;

    if (!o->range.index)
        return (struct python_progress){ -length, length };
    index = number(iterator, o->range.index);
    return (struct python_progress){ index, length - index };
}

int python_iterator_read(const struct python_memory *m, const struct python_offsets *o,
                         enum python_kind kind, uint64_t at, struct python_progress *ret)
{
    uint8_t body[SLICED + 8];
    uint8_t items[8];
    int rc;

    if (kind == PYTHON_OTHER || kind >= PYTHON_ZIP)
        return -ENOENT;
    rc = python_memory_read(m, at, body, kind == PYTHON_COUNT ? FIRST + 8 : sizeof(body));
    if (rc < 0)
        return rc;
    *ret = (struct python_progress){ number(body, FIRST), -1 };
    if (kind == PYTHON_RANGE)
        *ret = range(o, body);
    else if (kind == PYTHON_SLICE)
        ret->at = number(body, SLICED);
    else if (kind == PYTHON_SEQUENCE &&
             python_memory_read(m, python_word(body, SECOND) + ITEMS, items, sizeof(items)) == 0)
        ret->left = number(items, 0) - ret->at;
    return 0;
}

int python_iterator_first(const struct python_memory *m, const struct python_offsets *o,
                          enum python_kind kind, uint64_t at, uint64_t *ret)
{
    uint64_t tuple = 0;
    int rc = python_memory_word(m, at + (kind == PYTHON_ZIP ? SECOND : FIRST), &tuple);

    *ret = tuple + o->tuple;
    return rc;
}
