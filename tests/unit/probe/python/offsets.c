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
    is_int(o.frame.end, 41, "the fields of a frame end behind the last one");
    is_int(o.code.end, 73, "the fields of a code object end behind its number of units");
    is_int(o.holder_frame, -1, "a thread of 3.13 has its frame itself");
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
    words[0]++;
    is_int(try_words(words, &e), -ENOENT, "words without the cookie are none");
    is_str(e.text, "", "words without the cookie have no sentence");
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
    is_int(o.frame.code, 32, "a frame of 3.11 has its code behind four pointers");
    is_int(python_offsets_of_version(&o, 0x030c01f0, NULL), 0, "the table has 3.12.1");
    is_int(o.frame.code, 0, "a frame of 3.12 begins with its code");
    is_int(python_offsets_of_version(&o, 0x030d00f0, &e), -ENOTSUP, "the table has no 3.13");
    is_int(python_offsets_of_version(&o, 0x030a00f0, &e), -ENOTSUP, "the table has no 3.10");
    is_str(e.text, "its Python is 3.10: calls are read of Python 3.11 to 3.14 from outside",
           "a version that the table lacks is named");
}

int main(void)
{
    test_words();
    test_unknown();
    test_too_large();
    test_versions();
    return done();
}
