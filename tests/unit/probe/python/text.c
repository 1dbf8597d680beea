/* Texts of another process: each width, those that are too long, and what no terminal shows. */
#include "probe/python/text.h"

#include <errno.h>

#include "probe/python/frame.h"
#include "python_image.h"
#include "tap.h"

/* A str lies at this address, in memory of its own. */
enum { AT = 4096, BYTES = 4096 };

struct text {
    uint8_t bytes[BYTES];
};

static const struct python_offsets *offsets(void)
{
    static struct python_offsets o;

    (void)!python_offsets_of_version(&o, 0x030c01f0, NULL);
    return &o;
}

static int read_text(const void *state, const struct python_piece *pieces, size_t n)
{
    const struct text *t = state;

    for (size_t i = 0; i < n; i++) {
        if (pieces[i].at < AT || pieces[i].at - AT > BYTES ||
            pieces[i].len > BYTES - (pieces[i].at - AT))
            return -EFAULT;
        memcpy(pieces[i].to, t->bytes + (pieces[i].at - AT), pieces[i].len);
    }
    return 0;
}

enum { COMPACT = 1, ASCII = 2 };

/* A str of n characters, of kind bytes each. */
static void make(struct text *t, uint64_t n, unsigned kind, unsigned flags)
{
    uint32_t state = kind << 2 | (flags & COMPACT) << 5 | (flags & ASCII) << 5;

    memset(t, 0, sizeof(*t));
    memcpy(t->bytes + offsets()->text.length, &n, sizeof(n));
    memcpy(t->bytes + offsets()->text.state, &state, sizeof(state));
}

static void put(struct text *t, size_t i, unsigned kind, uint32_t code)
{
    size_t from = kind == 1 && code < 128 ? offsets()->text.ascii : offsets()->text.compact;

    memcpy(t->bytes + from + i * kind, &code, kind);
}

static int begin(const struct text *t, char *to, size_t size)
{
    struct python_memory m = { read_text, t };

    return python_text_begin(&m, offsets(), AT, to, size);
}

static int end(const struct text *t, char *to, size_t size)
{
    struct python_memory m = { read_text, t };

    return python_text_end(&m, offsets(), AT, to, size);
}

/* Characters of one width, in UTF-8 when they are told. */
static void test_widths(void)
{
    static const struct {
        unsigned kind;
        uint32_t code;
        const char *told;
    } cases[] = {
        { 1, 0xe9, "ééé" },
        { 2, 0x3bb, "λλλ" },
        { 4, 0x1f40c, "🐌🐌🐌" },
    };
    char to[PYTHON_FUNCTION];
    struct text t;

    make(&t, 3, 1, COMPACT | ASCII);
    for (size_t i = 0; i < 3; i++)
        put(&t, i, 1, 'a');
    is_int(begin(&t, to, sizeof(to)), 0, "a str of ASCII is read");
    is_str(to, "aaa", "a str of ASCII is what it was");
    for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
        make(&t, 3, cases[c].kind, COMPACT);
        for (size_t i = 0; i < 3; i++)
            put(&t, i, cases[c].kind, cases[c].code);
        is_int(begin(&t, to, sizeof(to)), 0, "a str of %u bytes a character is read",
               cases[c].kind);
        is_str(to, cases[c].told, "a str of %u bytes a character is told as UTF-8", cases[c].kind);
    }
    make(&t, 0, 1, COMPACT | ASCII);
    is_int(end(&t, to, sizeof(to)), 0, "an empty str is read");
    is_str(to, "", "an empty str is told as it is");
}

static void fill(struct text *t, size_t n, unsigned kind)
{
    make(t, n, kind, kind == 1 ? COMPACT | ASCII : COMPACT);
    for (size_t i = 0; i < n; i++)
        put(t, i, kind, (kind == 1 ? 'a' : 0x3b1) + (uint32_t)(i % 24));
}

static void test_lengths(void)
{
    char to[16];
    struct text t;

    fill(&t, 15, 1);
    is_int(begin(&t, to, sizeof(to)), 0, "a str that just fits is read");
    is_str(to, "abcdefghijklmno", "a str that just fits is whole");
    fill(&t, 16, 1);
    is_int(begin(&t, to, sizeof(to)), 0, "the begin of a long str is read");
    is_str(to, "abcdefghijkl…", "a str that is one too long ends in an ellipsis");
    is_int(end(&t, to, sizeof(to)), 0, "the end of a long str is read");
    is_str(to, "…efghijklmnop", "the end of a long str is behind an ellipsis");
    fill(&t, 7, 2);
    is_int(end(&t, to, sizeof(to)), 0, "seven letters of two bytes are read");
    is_str(to, "αβγδεζη", "seven letters of two bytes fit into sixteen");
    fill(&t, 8, 2);
    is_int(begin(&t, to, sizeof(to)), 0, "eight letters of two bytes are read");
    is_str(to, "αβγδεζ…", "no letter is cut");
}

static void test_controls(void)
{
    static const uint32_t codes[] = { 0x1b, 0, 0x7f, 0x9b, 0xd800, 0xdfff, 0x110000, 'a' };
    char to[PYTHON_FILE];
    struct text t;

    make(&t, ARRAY_SIZE(codes), 4, COMPACT);
    for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
        put(&t, i, 4, codes[i]);
    is_int(begin(&t, to, sizeof(to)), 0, "a str of controls is read");
    is_str(to, "???????a", "what no terminal shows is told as a question mark");
}

static void test_hostile(void)
{
    static const uint64_t lengths[] = { 5000, INT64_MAX, UINT64_MAX, UINT64_MAX / 4 };
    char to[PYTHON_FILE] = "as it was";
    struct python_memory m;
    struct text t;

    for (unsigned kind = 0; kind < 8; kind++) {
        make(&t, 3, kind, COMPACT);
        if (kind != 1 && kind != 2 && kind != 4)
            is_int(begin(&t, to, sizeof(to)), -EINVAL, "there is no str of kind %u", kind);
    }
    make(&t, 3, 1, ASCII);
    is_int(begin(&t, to, sizeof(to)), -EINVAL, "a str that is not compact is refused");
    for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
        make(&t, lengths[i], 4, COMPACT);
        is_int(end(&t, to, sizeof(to)), -EFAULT, "a str of %llu characters has no end here",
               (unsigned long long)lengths[i]);
    }
    is_str(to, "as it was", "a str that is refused leaves the text as it was");
    m = (struct python_memory){ read_text, &t };
    is_int(python_text_begin(&m, offsets(), 0, to, sizeof(to)), -EFAULT,
           "a str at no address is not read");
}

int main(void)
{
    test_widths();
    test_lengths();
    test_controls();
    test_hostile();
    return done();
}
