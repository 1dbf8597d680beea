#include "probe/python/code.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "probe/python/text.h"

/* A table of lines has 2 to 3 bytes for each operation; that of the longest function of Python's
 * own library has 9 KiB. When the cache is full it is emptied: a process uses a few hundred. */
enum {
    SLOTS = 2048,
    MOST = SLOTS / 2,
    LINES_MAX = 256 << 10,
    ALL_LINES_MAX = 8 << 20,
};

int python_codes_init(struct python_codes *c, const struct python_memory *m,
                      const struct python_offsets *o)
{
    *c = (struct python_codes){ .memory = m, .offsets = o };
    c->slots = calloc(SLOTS, sizeof(struct python_code *));
    return c->slots ? 0 : -ENOMEM;
}

static void code_free(struct python_code *code)
{
    free(code->lines);
    free(code);
}
DEFINE_CLEANUP(struct python_code, code_free)

static void forget_all(struct python_codes *c)
{
    for (size_t i = 0; i < SLOTS; i++) {
        if (c->slots[i])
            code_free(c->slots[i]);
        c->slots[i] = NULL;
    }
    c->n = c->lines_bytes = 0;
}

void python_codes_done(struct python_codes *c)
{
    if (c->slots)
        forget_all(c);
    free(c->slots);
    c->slots = NULL;
}

/* Where a code object is, or would be. */
static struct python_code **slot_of(const struct python_codes *c, uint64_t at)
{
    size_t i = (size_t)((at >> 4) * 0x9e3779b97f4a7c15u >> 32) % SLOTS;

    while (c->slots[i] && c->slots[i]->at != at)
        i = (i + 1) % SLOTS;
    return &c->slots[i];
}

/* Whether a type is that of code objects: by its name, which no other type has that can be in a
 * frame. */
static bool is_code_type(const struct python_codes *c, uint64_t type)
{
    uint64_t name;
    char text[sizeof("code")];

    return type && python_memory_word(c->memory, type + c->offsets->type_name, &name) == 0 &&
           python_memory_read(c->memory, name, text, sizeof(text)) == 0 &&
           memcmp(text, "code", sizeof(text)) == 0;
}

static int read_lines(const struct python_codes *c, uint64_t table, struct python_code *code)
{
    uint64_t len;
    int rc = table ? python_memory_word(c->memory, table + c->offsets->size, &len) : 0;

    if (!table || rc < 0 || !len || len > LINES_MAX)
        return rc;
    code->lines = malloc((size_t)len);
    if (!code->lines)
        return -ENOMEM;
    code->lines_len = (size_t)len;
    return python_memory_read(c->memory, table + c->offsets->bytes, code->lines, code->lines_len);
}

/* Whether fields are those of a code object that was read. Others of its fields change while it
 * runs. */
static bool same(const struct python_offsets *o, const struct python_code *code,
                 const uint8_t *fields)
{
    const uint32_t words[] = { o->type, o->code.file, o->code.qualified_name, o->code.lines };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (python_word(code->bytes, words[i]) != python_word(fields, words[i]))
            return false;
    return python_half(code->bytes, o->code.first_line) == python_half(fields, o->code.first_line);
}

/* Read what the fields lead to, and the fields again: were they others by now, the object was
 * freed meanwhile. */
static int fill(const struct python_codes *c, struct python_code *code)
{
    const struct python_offsets *o = c->offsets;
    const uint8_t *fields = code->bytes;
    uint8_t now[PYTHON_CODE_MAX];
    int rc = python_text_begin(c->memory, o, python_word(fields, o->code.qualified_name),
                               code->function, sizeof(code->function));

    if (rc == 0)
        rc = python_text_end(c->memory, o, python_word(fields, o->code.file), code->file,
                             sizeof(code->file));
    if (rc == 0)
        rc = read_lines(c, python_word(fields, o->code.lines), code);
    if (rc == 0)
        rc = python_memory_read(c->memory, code->at, now, o->code.end);
    return rc < 0 ? rc : same(o, code, now) ? 0 : -EAGAIN;
}

static struct python_code *read_code(const struct python_codes *c, uint64_t at,
                                     const uint8_t *fields)
{
    CLEANUP(code_freep) struct python_code *code = calloc(1, sizeof(*code));

    if (!code)
        return NULL;
    code->at = at;
    memcpy(code->bytes, fields, c->offsets->code.end);
    code->units = python_word(fields, c->offsets->size);
    code->first_line = (int)python_half(fields, c->offsets->code.first_line);
    code->last = (struct python_line_range){ -1, -1, 0 };
    return fill(c, code) < 0 ? NULL : steal(&code);
}

/* Take out what is in a slot. Those behind it that would not be found any more are put in anew. */
static void forget(struct python_codes *c, struct python_code **slot)
{
    size_t i = (size_t)(slot - c->slots);

    c->lines_bytes -= (*slot)->lines_len;
    c->n--;
    code_free(*slot);
    *slot = NULL;
    for (i = (i + 1) % SLOTS; c->slots[i]; i = (i + 1) % SLOTS) {
        struct python_code *moved = steal(&c->slots[i]);

        *slot_of(c, moved->at) = moved;
    }
}

struct python_code *python_codes_get(struct python_codes *c, uint64_t at, const uint8_t *fields)
{
    uint64_t type = python_word(fields, c->offsets->type);
    struct python_code **slot, *code;

    if (type != c->type && !is_code_type(c, type))
        return NULL;
    c->type = type;
    slot = slot_of(c, at);
    if (*slot && same(c->offsets, *slot, fields))
        return *slot;
    code = read_code(c, at, fields);
    if (!code)
        return NULL;
    if (*slot)
        forget(c, slot);
    if (c->n >= MOST || c->lines_bytes + code->lines_len > ALL_LINES_MAX)
        forget_all(c);
    *slot_of(c, at) = code;
    c->n++;
    c->lines_bytes += code->lines_len;
    return code;
}

int python_code_line(struct python_code *code, uint64_t instructions, uint64_t instruction)
{
    int64_t unit = (int64_t)(instruction - instructions) / 2;

    /* The one that 3.11 and 3.12 name is the last that began: at first, the one before all. */
    if (instruction + 2 == instructions)
        unit = 0;
    else if (instruction < instructions || (uint64_t)unit >= code->units)
        return -1;
    if (unit < code->last.from || unit >= code->last.to)
        code->last = python_line_find(code->lines, code->lines_len, code->first_line, unit);
    return code->last.line;
}
