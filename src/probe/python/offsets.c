#include "probe/python/offsets.h"

#include <errno.h>
#include <string.h>

/* Found by offsetof() over the internal headers of 3.11.2, 3.11.7 and 3.12.1 for x86_64;
 * tests/unit/probe/python/offsets.py asks a compiler again where headers are there. */
static const struct python_offsets of_3_11 = {
    .interpreters = 40,
    .next_interpreter = 0,
    .threads = 16,
    .thread = { .previous = 0,
                .next = 8,
                .interpreter = 16,
                .native_id = 160,
                .frame = 56,
                .end = 168 },
    .holder_frame = 8,
    .frame = { .code = 32,
               .instruction = 56,
               .previous = 48,
               .owner = 69,
               .end = 72,
               .outermost = 0,
               .locals = 72 },
    .code = { .file = 112,
              .qualified_name = 128,
              .lines = 136,
              .first_line = 72,
              .instructions = 184,
              .end = 144,
              .stack = 68,
              .variables = 76 },
    .range = { .index = 16, .length = 40 },
    .generator = 80,
    .tuple = 24,
    .type = 8,
    .type_name = 24,
    .size = 16,
    .bytes = 32,
    .text = { .length = 16, .state = 32, .ascii = 48, .compact = 72 },
};

static const struct python_offsets of_3_12 = {
    .interpreters = 40,
    .next_interpreter = 0,
    .threads = 72,
    .thread = { .previous = 0,
                .next = 8,
                .interpreter = 16,
                .native_id = 144,
                .frame = 56,
                .end = 152 },
    .holder_frame = 0,
    .frame = { .code = 0,
               .instruction = 56,
               .previous = 8,
               .owner = 70,
               .end = 72,
               .outermost = 3,
               .locals = 72 },
    .code = { .file = 112,
              .qualified_name = 128,
              .lines = 136,
              .first_line = 68,
              .instructions = 192,
              .end = 144,
              .stack = 64,
              .variables = 72 },
    .range = { .index = 0, .length = 32 },
    .generator = 72,
    .tuple = 24,
    .type = 8,
    .type_name = 24,
    .size = 16,
    .bytes = 32,
    .text = { .length = 16, .state = 32, .ascii = 40, .compact = 56 },
};

static int major_of(uint64_t version)
{
    return (int)(version >> 24 & 0xff);
}

static int minor_of(uint64_t version)
{
    return (int)(version >> 16 & 0xff);
}

static int not_known(uint64_t version, struct err *e)
{
    return err_set(e, -ENOTSUP,
                   "its Python is %d.%d: calls are read of Python 3.11 to 3.14 from outside",
                   major_of(version), minor_of(version));
}

int python_offsets_of_version(struct python_offsets *ret, uint64_t version, struct err *e)
{
    if (version >> 16 == 0x030b)
        *ret = of_3_11;
    else if (version >> 16 == 0x030c)
        *ret = of_3_12;
    else
        return not_known(version, e);
    return 0;
}

/* The words of a version: which one has an offset, and below what it must be. */
struct word {
    uint8_t of_3_13, of_3_14;
    uint32_t below;
    size_t field;
};

enum { RUNTIME_MAX = 1 << 20, OBJECT_MAX = 128 };

#define WORD(of_3_13, of_3_14, below, field) \
    { \
        of_3_13, of_3_14, below, offsetof(struct python_offsets, field) \
    }

/* struct _Py_DebugOffsets of the internal headers of 3.13.0 and 3.14.10, by words of 8 bytes. */
static const struct word words_of[] = {
    WORD(5, 5, RUNTIME_MAX, interpreters),
    WORD(8, 8, RUNTIME_MAX, next_interpreter),
    WORD(9, 9, RUNTIME_MAX, threads),
    WORD(20, 23, PYTHON_THREAD_MAX - 8, thread.previous),
    WORD(21, 24, PYTHON_THREAD_MAX - 8, thread.next),
    WORD(22, 25, PYTHON_THREAD_MAX - 8, thread.interpreter),
    WORD(23, 26, PYTHON_THREAD_MAX - 8, thread.frame),
    WORD(25, 28, PYTHON_THREAD_MAX - 8, thread.native_id),
    WORD(29, 32, PYTHON_FRAME_MAX - 8, frame.previous),
    WORD(30, 33, PYTHON_FRAME_MAX - 8, frame.code),
    WORD(31, 34, PYTHON_FRAME_MAX - 8, frame.instruction),
    WORD(32, 35, PYTHON_FRAME_MAX, frame.locals),
    WORD(33, 36, PYTHON_FRAME_MAX - 8, frame.owner),
    WORD(35, 40, PYTHON_CODE_MAX - 8, code.file),
    WORD(37, 42, PYTHON_CODE_MAX - 8, code.qualified_name),
    WORD(38, 43, PYTHON_CODE_MAX - 8, code.lines),
    WORD(39, 44, PYTHON_CODE_MAX - 8, code.first_line),
    WORD(43, 48, 2 * PYTHON_CODE_MAX, code.instructions),
    WORD(45, 51, OBJECT_MAX, type),
    WORD(47, 53, OBJECT_MAX, type_name),
    WORD(51, 57, OBJECT_MAX, tuple),
    WORD(65, 75, OBJECT_MAX, size),
    WORD(66, 76, OBJECT_MAX, bytes),
    WORD(68, 78, OBJECT_MAX, text.state),
    WORD(69, 79, OBJECT_MAX, text.length),
    WORD(70, 80, OBJECT_MAX, text.ascii),
    WORD(67, 77, OBJECT_MAX, text.compact), /* with a pointer behind it: see below */
};

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* The largest of n offsets that lie side by side. */
static uint32_t largest(const uint32_t *offsets, size_t n)
{
    uint32_t largest = 0;

    for (size_t i = 0; i < n; i++)
        largest = larger(largest, offsets[i]);
    return largest;
}

/* What follows from the words. */
static int complete(struct python_offsets *o)
{
    if (o->text.compact < 8 || o->code.first_line < 4)
        return -EINVAL;
    o->text.compact -= 8; /* PyUnicodeObject has a pointer more than PyCompactUnicodeObject */
    o->frame.outermost = 3;
    o->holder_frame = -1;
    /* The words do not tell these, which are as they were in 3.12. */
    o->code.stack = o->code.first_line - 4;
    o->code.variables = o->code.first_line + 4;
    o->range.length = of_3_12.range.length;
    o->generator = of_3_12.generator;
    o->thread.end = 8 +
                    largest((uint32_t[]){ o->thread.previous, o->thread.next, o->thread.interpreter,
                                          o->thread.native_id, o->thread.frame },
                            5);
    o->frame.end = 8 + largest((uint32_t[]){ o->frame.code, o->frame.instruction, o->frame.previous,
                                             o->frame.owner },
                               4);
    o->code.end = 8 + largest((uint32_t[]){ o->code.file, o->code.qualified_name, o->code.lines,
                                            o->code.first_line, o->size, o->type },
                              6);
    return 0;
}

int python_offsets_of_words(struct python_offsets *ret, const uint64_t words[PYTHON_DEBUG_WORDS],
                            struct err *e)
{
    struct python_offsets o = { .holder_frame = -1 };
    int minor = minor_of(words[1]);

    if (memcmp(words, "xdebugpy", 8) != 0)
        return -ENOENT;
    if (words[1] > UINT32_MAX || major_of(words[1]) != 3 || (minor != 13 && minor != 14))
        return not_known(words[1], e);
    if (words[2])
        return err_set(e, -ENOTSUP,
                       "its Python 3.%d is free-threaded: calls are read of builds with the GIL",
                       minor);
    for (size_t i = 0; i < ARRAY_SIZE(words_of); i++) {
        const struct word *w = &words_of[i];
        uint64_t offset = words[minor == 13 ? w->of_3_13 : w->of_3_14];

        if (offset >= w->below)
            return err_set(e, -ENOTSUP, "its Python 3.%d has structs that are not known", minor);
        *(uint32_t *)(void *)((char *)&o + w->field) = (uint32_t)offset;
    }
    if (complete(&o) < 0)
        return err_set(e, -ENOTSUP, "its Python 3.%d has structs that are not known", minor);
    *ret = o;
    return 0;
}
