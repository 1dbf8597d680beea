#include "render/names.h"

#include "tap.h"

static void check(const char *const *names, size_t count, const char *want)
{
    CLEANUP(str_done) struct str out = STR_INIT(4096);

    is_int(names_compress(&out, names, count), 0, "names_compress compresses %zu names", count);
    is_str(str_text(&out), want, "%zu names compress into '%s'", count, want);
}

#define CHECK(want, ...) \
    do { \
        static const char *const names[] = { __VA_ARGS__ }; \
        check(names, ARRAY_SIZE(names), want); \
    } while (0)

static void test_many(void)
{
    static char text[1000][8];
    const char *names[1000];

    for (int i = 0; i < 1000; i++) {
        snprintf(text[i], sizeof(text[i]), "n%04d", 999 - i);
        names[i] = text[i];
    }
    check(names, 1000, "n[0000-0999]");
}

static void test_one_number(void)
{
    CHECK("login", "login");
    CHECK("n1", "n1");
    CHECK("a,b,c", "c", "a", "b");
    CHECK("n[001-003]", "n003", "n001", "n002");
    CHECK("n[001-003,014]", "n014", "n001", "n002", "n003");
    CHECK("login,n[1-2]", "n1", "login", "n2");
    CHECK("n[1-2]", "n2", "n1", "n2", "n1");
    CHECK("n[1-3]-ib", "n1-ib", "n3-ib", "n2-ib");
    CHECK("[1-3]", "1", "2", "3");
}

static void test_widths(void)
{
    CHECK("n[8-11]", "n10", "n9", "n8", "n11");
    CHECK("n[09-10]", "n10", "n09");
    CHECK("n[099-100]", "n100", "n099");
    CHECK("n[01,1]", "n01", "n1");
    /* Too long for a counter. */
    CHECK("n123456789012345678,n123456789012345679", "n123456789012345678", "n123456789012345679");
    CHECK("n[12345678901234567-12345678901234568]", "n12345678901234568", "n12345678901234567");
    CHECK("n123456789012345678,n[9-10]", "n10", "n9", "n123456789012345678");
}

static void test_several_numbers(void)
{
    CHECK("gpu[1-2]-eth0", "gpu1-eth0", "gpu2-eth0");
    CHECK("r[1-2]n[1-2]", "r1n1", "r1n2", "r2n1", "r2n2");
    CHECK("r1n[1-2],r2n1", "r1n1", "r1n2", "r2n1");
    CHECK("a1,b1", "b1", "a1");
    CHECK("a[1-2],ab[1-2]", "ab2", "a2", "ab1", "a1");
    CHECK("n[1-2],n[1-2]x", "n2x", "n2", "n1x", "n1");
    CHECK("a[1-2]b[1-2]c[1-2]", "a1b1c1", "a1b1c2", "a1b2c1", "a1b2c2", "a2b1c1", "a2b1c2",
          "a2b2c1", "a2b2c2");
    CHECK("a[1-2],b[1-2],c", "b1", "a1", "c", "b2", "a2");
}

int main(void)
{
    check(NULL, 0, "");
    test_one_number();
    test_widths();
    test_several_numbers();
    CHECK("?[31mred", "\033[31mred");
    test_many();
    return done();
}
