#include "probe/python/offsets.h"

#include <errno.h>
#include <string.h>

/* Found by offsetof() over the internal headers of 3.11.2, 3.11.7 and 3.12.1 for x86_64;
 * tests/unit/probe/python/offsets.py asks a compiler again where headers are there. */
static const struct python_offsets of_3_11 = {
    .interpreters = 40,
    .next_interpreter = 0,
    .threads = 16,
    .thread = { .previous = 0, .next = 8, .interpreter = 16, .native_id = 160, .frame = 56 },
    .holder_frame = 8,
    .frame = { .code = 32,
               .instruction = 56,
               .previous = 48,
               .owner = 69,
               .outermost = 0,
               .locals = 72 },
    .code = { .file = 112,
              .qualified_name = 128,
              .lines = 136,
              .first_line = 72,
              .instructions = 184,
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
    .thread = { .previous = 0, .next = 8, .interpreter = 16, .native_id = 144, .frame = 56 },
    .holder_frame = 0,
    .frame = { .code = 0,
               .instruction = 56,
               .previous = 8,
               .owner = 70,
               .outermost = 3,
               .locals = 72 },
    .code = { .file = 112,
              .qualified_name = 128,
              .lines = 136,
              .first_line = 68,
              .instructions = 192,
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

/* Where the last of n words ends. */
static uint32_t end_of(const uint32_t *words, size_t n)
{
    uint32_t end = 0;

    for (size_t i = 0; i < n; i++)
        end = MAX(end, words[i] + 8);
    return end;
}

/* Where the fields end that are read of each struct; an owner is one byte. */
static void set_ends(struct python_offsets *o)
{
    const uint32_t thread[] = { o->thread.previous, o->thread.next, o->thread.interpreter,
                                o->thread.native_id, o->thread.frame };
    const uint32_t frame[] = { o->frame.code, o->frame.instruction, o->frame.previous };
    const uint32_t code[] = { o->code.file,  o->code.qualified_name,
                              o->code.lines, o->code.first_line,
                              o->size,       o->type };

    o->thread.end = end_of(thread, ARRAY_SIZE(thread));
    o->frame.end = MAX(end_of(frame, ARRAY_SIZE(frame)), o->frame.owner + 1);
    o->code.end = end_of(code, ARRAY_SIZE(code));
}

int python_offsets_of_version(struct python_offsets *ret, uint64_t version, struct err *e)
{
    if (version >> 16 == 0x030b)
        *ret = of_3_11;
    else if (version >> 16 == 0x030c)
        *ret = of_3_12;
    else
        return not_known(version, e);
    set_ends(ret);
    return 0;
}

/* The words of a version: which one has an offset, and below what it must be. */
struct word {
    uint8_t of_3_13, of_3_14;
    uint32_t below;
    size_t field;
};

enum {
    RUNTIME_MAX = 1 << 20,
    OBJECT_MAX = 128,
    THREAD_MAX = PYTHON_THREAD_MAX - 8,
    FRAME_MAX = PYTHON_FRAME_MAX - 8,
    CODE_MAX = PYTHON_CODE_MAX - 8,
};

#define WORD(of_3_13, of_3_14, below, field) \
    { \
        of_3_13, of_3_14, below, offsetof(struct python_offsets, field) \
    }

/* struct _Py_DebugOffsets of the internal headers of 3.13.0 and 3.14.10, by words of 8 bytes. */
static const struct word words_of[] = {
    WORD(5, 5, RUNTIME_MAX, interpreters),
    WORD(8, 8, RUNTIME_MAX, next_interpreter),
    WORD(9, 9, RUNTIME_MAX, threads),
    WORD(20, 23, THREAD_MAX, thread.previous),
    WORD(21, 24, THREAD_MAX, thread.next),
    WORD(22, 25, THREAD_MAX, thread.interpreter),
    WORD(23, 26, THREAD_MAX, thread.frame),
    WORD(25, 28, THREAD_MAX, thread.native_id),
    WORD(29, 32, FRAME_MAX, frame.previous),
    WORD(30, 33, FRAME_MAX, frame.code),
    WORD(31, 34, FRAME_MAX, frame.instruction),
    WORD(32, 35, FRAME_MAX, frame.locals),
    WORD(33, 36, FRAME_MAX, frame.owner),
    WORD(35, 40, CODE_MAX, code.file),
    WORD(37, 42, CODE_MAX, code.qualified_name),
    WORD(38, 43, CODE_MAX, code.lines),
    WORD(39, 44, CODE_MAX, code.first_line),
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

/* What follows from the words. */
static int complete(struct python_offsets *o)
{
    if (o->text.compact < 8 || o->code.first_line < 4)
        return -EINVAL;
    o->text.compact -= 8; /* PyUnicodeObject has a pointer more than PyCompactUnicodeObject */
    o->frame.outermost = 3;
    /* The words do not tell these, which are as they were in 3.12. */
    o->code.stack = o->code.first_line - 4;
    o->code.variables = o->code.first_line + 4;
    o->range.length = of_3_12.range.length;
    o->generator = of_3_12.generator;
    set_ends(o);
    return 0;
}

int python_offsets_of_words(struct python_offsets *ret, const uint64_t words[PYTHON_DEBUG_WORDS],
                            struct err *e)
{
    struct python_offsets o = { .holder_frame = -1 };
    int minor = minor_of(words[1]);

    if (memcmp(words, "xdebugpy", 8) != 0)
        return -ENOENT;
    if (words[1] >> 32 || major_of(words[1]) != 3 || (minor != 13 && minor != 14))
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
