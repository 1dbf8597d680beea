/* Offsets that a process has itself: of known versions, and any others. */
#include "probe/python/offsets.h"

#include <errno.h>

#include "tap.h"

/* Words in which each offset is another one, so that an exchange of two is seen. */
static void make_words(uint64_t words[PYTHON_DEBUG_WORDS], uint64_t version)
{
    memcpy(words, "xdebugpy", 8);
    words[1] = version;
    words[2] = 0;
    for (size_t i = 3; i < PYTHON_DEBUG_WORDS; i++)
        words[i] = i;
}

static int try_words(const uint64_t words[PYTHON_DEBUG_WORDS], struct err *e)
{
    struct python_offsets o;

    e->text[0] = 0;
    return python_offsets_of_words(&o, words, e);
}

static void test_words(void)
{
    uint64_t words[PYTHON_DEBUG_WORDS];
    struct python_offsets o;

    make_words(words, 0x030d00f0);
    is_int(python_offsets_of_words(&o, words, NULL), 0, "the words of 3.13 are known");
    is_int(o.interpreters, 5, "3.13 has interpreters.head in its sixth word");
    is_int(o.thread.native_id, 25, "3.13 has native_thread_id in word 25");
    is_int(o.code.instructions, 43, "3.13 has co_code_adaptive in word 43");
    is_int(o.text.compact, 59, "characters of 3.13 begin a pointer before PyUnicodeObject ends");
    is_int(o.thread.end, 33, "the fields of a thread end behind the last one");
    is_int(o.frame.end, 39, "the fields of a frame end behind the last one");
    is_int(o.code.end, 73, "the fields of a code object end behind its number of units");
    is_int(o.holder_frame, -1, "a thread of 3.13 has its frame itself");
    is_int(o.code.stack, 35, "the stack of a code object stands before its first line");
    is_int(o.code.variables, 43, "the variables of a code object stand behind its first line");
    is_int(o.range.index, 0, "a range of 3.13 counts what is left alone");
    is_int(o.frame.outermost, 3, "frames of C code are the outermost ones of 3.13");
    words[33] = 50;
    is_int(python_offsets_of_words(&o, words, NULL), 0, "an owner may be the last of a frame");
    is_int(o.frame.end, 51, "an owner is one byte of a frame");
    make_words(words, 0x030e02f0);
    is_int(python_offsets_of_words(&o, words, NULL), 0, "the words of 3.14 are known");
    is_int(o.thread.native_id, 28, "3.14 has native_thread_id in word 28");
    is_int(o.code.instructions, 48, "3.14 has co_code_adaptive in word 48");
}

static void test_unknown(void)
{
    static const struct {
        uint64_t version;
        const char *sentence;
    } cases[] = {
        { 0x030c00f0, "its Python is 3.12: calls are read of Python 3.11 to 3.14 from outside" },
        { 0x030f00f0, "its Python is 3.15: calls are read of Python 3.11 to 3.14 from outside" },
        { 0x040d00f0, "its Python is 4.13: calls are read of Python 3.11 to 3.14 from outside" },
        { 0x1030d00f0, "its Python is 3.13: calls are read of Python 3.11 to 3.14 from outside" },
    };
    uint64_t words[PYTHON_DEBUG_WORDS];
    struct err e;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        make_words(words, cases[i].version);
        is_int(try_words(words, &e), -ENOTSUP, "version %llx is not known",
               (unsigned long long)cases[i].version);
        is_str(e.text, cases[i].sentence, "version %llx is named",
               (unsigned long long)cases[i].version);
    }
    make_words(words, 0x030d00f0);
    words[2] = 1;
    is_int(try_words(words, &e), -ENOTSUP, "a build without the GIL is not known");
    is_str(e.text, "its Python 3.13 is free-threaded: calls are read of builds with the GIL",
           "a build without the GIL is named");
    words[2] = 0;
    words[67] = 7;
    is_int(try_words(words, &e), -ENOTSUP, "a str that is smaller than a pointer is not known");
    is_str(e.text, "its Python 3.13 has structs that are not known",
           "a str that is smaller than a pointer is a struct that is not known");
    words[67] = 8;
    is_int(try_words(words, &e), 0, "a str of one pointer is possible");
    words[5] = 1 << 20;
    is_int(try_words(words, &e), -ENOTSUP, "a runtime of more than a mebibyte is not known");
    is_str(e.text, "its Python 3.13 has structs that are not known",
           "a runtime of more than a mebibyte is a struct that is not known");
    words[5] = 5;
    words[0]++;
    is_int(try_words(words, &e), -ENOENT, "words without the cookie are none");
    is_str(e.text, "", "words without the cookie have no sentence");
}

#define FIELD(field) #field, offsetof(struct python_offsets, field)

/* Offsets by the headers of 3.11 and 3.12; words of 3.13 and 3.14, and below what those are. */
static const struct {
    const char *name;
    size_t at;
    uint32_t of_3_11, of_3_12;
    uint8_t of_3_13, of_3_14;
    uint32_t below;
} fields[] = {
    { FIELD(interpreters), 40, 40, 5, 5, 1 << 20 },
    { FIELD(next_interpreter), 0, 0, 8, 8, 1 << 20 },
    { FIELD(threads), 16, 72, 9, 9, 1 << 20 },
    { FIELD(thread.previous), 0, 0, 20, 23, 1016 },
    { FIELD(thread.next), 8, 8, 21, 24, 1016 },
    { FIELD(thread.interpreter), 16, 16, 22, 25, 1016 },
    { FIELD(thread.frame), 56, 56, 23, 26, 1016 },
    { FIELD(thread.native_id), 160, 144, 25, 28, 1016 },
    { FIELD(frame.previous), 48, 8, 29, 32, 120 },
    { FIELD(frame.code), 32, 0, 30, 33, 120 },
    { FIELD(frame.instruction), 56, 56, 31, 34, 120 },
    { FIELD(frame.locals), 72, 72, 32, 35, 120 },
    { FIELD(frame.owner), 69, 70, 33, 36, 120 },
    { FIELD(code.file), 112, 112, 35, 40, 248 },
    { FIELD(code.qualified_name), 128, 128, 37, 42, 248 },
    { FIELD(code.lines), 136, 136, 38, 43, 248 },
    { FIELD(code.first_line), 72, 68, 39, 44, 248 },
    { FIELD(code.instructions), 184, 192, 43, 48, 512 },
    { FIELD(type), 8, 8, 45, 51, 128 },
    { FIELD(type_name), 24, 24, 47, 53, 128 },
    { FIELD(tuple), 24, 24, 51, 57, 128 },
    { FIELD(size), 16, 16, 65, 75, 128 },
    { FIELD(bytes), 32, 32, 66, 76, 128 },
    { FIELD(text.state), 32, 32, 68, 78, 128 },
    { FIELD(text.length), 16, 16, 69, 79, 128 },
    { FIELD(text.ascii), 48, 40, 70, 80, 128 },
    { FIELD(text.compact), 72, 56, 67, 77, 128 },
};

static uint32_t offset_of(const struct python_offsets *o, size_t row)
{
    return *(const uint32_t *)(const void *)((const char *)o + fields[row].at);
}

/* A pointer that the words count is not counted by the offset. */
static uint32_t pointer(size_t row)
{
    return fields[row].at == offsetof(struct python_offsets, text.compact) ? 8 : 0;
}

static void test_fields(void)
{
    struct python_offsets old, newer, o;
    uint64_t words[PYTHON_DEBUG_WORDS];

    is_int(python_offsets_of_version(&old, 0x030b0000, NULL), 0, "the table has 3.11.0");
    is_int(python_offsets_of_version(&newer, 0x030cffff, NULL), 0, "the table has all of 3.12");
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
        const char *name = fields[i].name;

        is_int(offset_of(&old, i), fields[i].of_3_11, "3.11 has %s where its headers do", name);
        is_int(offset_of(&newer, i), fields[i].of_3_12, "3.12 has %s where its headers do", name);
        make_words(words, 0x030d00f0);
        is_int(python_offsets_of_words(&o, words, NULL), 0, "3.13 has a word for %s", name);
        is_int(offset_of(&o, i), fields[i].of_3_13 - pointer(i), "3.13 has the word of %s", name);
        words[fields[i].of_3_13] = fields[i].below;
        is_int(python_offsets_of_words(&o, words, NULL), -ENOTSUP, "%s may not be %u", name,
               fields[i].below);
        words[fields[i].of_3_13]--;
        is_int(python_offsets_of_words(&o, words, NULL), 0, "%s may be one less than %u", name,
               fields[i].below);
        is_int(offset_of(&o, i), fields[i].below - 1 - pointer(i), "%s is as large as it can be",
               name);
        make_words(words, 0x030e00f0);
        is_int(python_offsets_of_words(&o, words, NULL), 0, "3.14 has a word for %s", name);
        is_int(offset_of(&o, i), fields[i].of_3_14 - pointer(i), "3.14 has the word of %s", name);
    }
}

/* Each word in turn is larger than can be: those that are used are refused. */
static void test_too_large(void)
{
    int refused = 0;

    for (size_t i = 3; i < PYTHON_DEBUG_WORDS; i++) {
        uint64_t words[PYTHON_DEBUG_WORDS];
        struct err e;

        make_words(words, 0x030d00f0);
        words[i] = UINT32_MAX;
        refused += try_words(words, &e) == -ENOTSUP;
        words[i] = 1ull << 32;
        refused += try_words(words, &e) == -ENOTSUP;
    }
    is_int(refused, 2 * 27, "each of 27 offsets that is too large is refused");
}

static void test_versions(void)
{
    struct python_offsets o;
    struct err e;

    is_int(python_offsets_of_version(&o, 0x030b02f0, NULL), 0, "the table has 3.11.2");
    is_int(o.holder_frame, 8, "a thread of 3.11 has its frame by what holds it");
    is_int(o.frame.outermost, 0, "frames of a thread are the outermost ones of 3.11");
    is_int(o.thread.end, 168, "the number of a thread of 3.11 is the last of its fields");
    is_int(o.frame.end, 70, "the owner of a frame of 3.11 is the last of its fields");
    is_int(o.code.end, 144, "the lines of a code object of 3.11 are the last of its fields");
    is_int(python_offsets_of_version(&o, 0x030c01f0, NULL), 0, "the table has 3.12.1");
    is_int(o.holder_frame, 0, "what holds a frame of 3.12 begins with it");
    is_int(o.frame.outermost, 3, "frames of C code are the outermost ones of 3.12");
    is_int(o.thread.end, 152, "the number of a thread of 3.12 is the last of its fields");
    is_int(python_offsets_of_version(&o, 0x030d00f0, &e), -ENOTSUP, "the table has no 3.13");
    is_int(python_offsets_of_version(&o, 0x030a00f0, &e), -ENOTSUP, "the table has no 3.10");
    is_str(e.text, "its Python is 3.10: calls are read of Python 3.11 to 3.14 from outside",
           "a version that the table lacks is named");
}

int main(void)
{
    test_words();
    test_unknown();
    test_fields();
    test_too_large();
    test_versions();
    return done();
}
