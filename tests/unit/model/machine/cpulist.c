#include "model/machine/cpulist.h"

#include <errno.h>
#include <limits.h>

#include "tap.h"

static void test_count(void)
{
    static const struct {
        const char *list;
        int count, first;
    } lists[] = {
        { "", 0, -1 },
        { "0", 1, 0 },
        { "0-55,112-167", 112, 0 },
        { "3,5,7-8", 4, 3 },
        { "8191", 1, 8191 },
        { "nonsense", 0, -1 },
        { "0-3,x,8", 4, 0 },
        { "0-3,8-", 4, 0 },
        { "0-3,8-5,9", 4, 0 },
        { "-3", 0, -1 },
        { "0-3 5", 4, 0 },
        { "65535", 1, 65535 },
        { "65536", 0, -1 },
        { "0-3,99999999999999999999", 4, 0 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        is_int(cpulist_count(lists[i].list), lists[i].count, "'%s' has %d CPUs", lists[i].list,
               lists[i].count);
        is_int(cpulist_first(lists[i].list), lists[i].first, "'%s' begins with CPU %d",
               lists[i].list, lists[i].first);
    }
}

/* More than an int can count, in a list that is no kernel's. */
static void test_huge(void)
{
    CLEANUP(str_done) struct str list = STR_INIT(1 << 20);

    for (int i = 0; i < 40000; i++)
        str_add(&list, "0-65535,");
    ok(cpulist_count(str_text(&list)) > INT_MAX - 100000,
       "the count of a huge list does not overflow");
}

static void test_walk(void)
{
    const char *list = "2-4,9,12-13";
    static const int cpus[] = { 2, 3, 4, 9, 12, 13 };
    size_t i = 0;
    bool good = true;

    for (int cpu = cpulist_first(list); cpu >= 0; cpu = cpulist_next(list, cpu))
        good = good && i < ARRAY_SIZE(cpus) && cpu == cpus[i++];
    ok(good && i == ARRAY_SIZE(cpus), "a walk sees each CPU once, in order");
    is_int(cpulist_next(list, 6), 9, "a walk may start between ranges");
    is_int(cpulist_next(list, 13), -1, "a walk ends with -1");
    ok(cpulist_has(list, 2) && cpulist_has(list, 9) && cpulist_has(list, 13),
       "cpulist_has finds all members");
    ok(!cpulist_has(list, 1) && !cpulist_has(list, 5) && !cpulist_has(list, 14),
       "cpulist_has finds no CPU beside the members");
    ok(!cpulist_has("", 0) && !cpulist_has(list, -1), "an empty list has no member");
}

static void is_mask(const char *list, const char *want)
{
    CLEANUP(str_done) struct str mask = STR_INIT(8 << 10);
    CLEANUP(str_done) struct str back = STR_INIT(64 << 10);

    cpulist_add_mask(&mask, list);
    is_str(str_text(&mask), want, "the mask of '%s'", list);
    is_int(cpulist_from_mask(&back, str_text(&mask)), 0, "the mask of '%s' is read", list);
    is_str(str_text(&back), list, "the mask of '%s' is read back as the list", list);
}

static void test_masks(void)
{
    is_mask("", "00000000");
    is_mask("0", "00000001");
    is_mask("31", "80000000");
    is_mask("32", "00000001,00000000");
    is_mask("0-3,32-35,95", "80000000,0000000f,0000000f");
    is_mask("30-33", "00000003,c0000000");
}

static void test_mask_texts(void)
{
    static const struct {
        const char *mask, *list;
    } good[] = {
        { "", "" },
        { "f", "0-3" },
        { "F0", "4-7" },
        { "1,0", "32" },
        { "ffff0000,00000000", "48-63" },
        { "90", "4,7" },
        { "12345678", "3-6,9-10,12,14,18,20-21,25,28" },
        { "9abcdef", "0-3,5-8,10-11,14-17,19,21,23-24,27" },
        { "9ABCDEF", "0-3,5-8,10-11,14-17,19,21,23-24,27" },
    };
    static const char *const bad[] = { "g",    "123456789", "1,,2", ",1",  "1,",  "1 2",
                                       " 1",   "-1",        "+1",   "0x1", "1\n", "ffffffff ",
                                       "1,-1", "/",         ":",    "@",   "G",   "`" };

    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        CLEANUP(str_done) struct str list = STR_INIT(100);

        is_int(cpulist_from_mask(&list, good[i].mask), 0, "'%s' is a mask", good[i].mask);
        is_str(str_text(&list), good[i].list, "the mask '%s' has CPUs %s", good[i].mask,
               good[i].list);
    }
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        CLEANUP(str_done) struct str list = STR_INIT(100);

        is_int(cpulist_from_mask(&list, bad[i]), -EINVAL, "'%s' is no mask", bad[i]);
        is_str(str_text(&list), "", "'%s' adds nothing to a list", bad[i]);
    }
}

static void test_mask_ceiling(void)
{
    CLEANUP(str_done) struct str mask = STR_INIT(8 << 10);
    CLEANUP(str_done) struct str long_mask = STR_INIT(8 << 10);
    CLEANUP(str_done) struct str list = STR_INIT(64 << 10);

    cpulist_add_mask(&mask, "0-8191");
    is_int((long long)mask.len, CPULIST_CPUS / 32 * 9 - 1, "all 8,192 CPUs make a mask");
    is_int(cpulist_from_mask(&list, str_text(&mask)), 0, "the mask of all CPUs is read");
    is_str(str_text(&list), "0-8191", "the mask of all CPUs is read back as the list");
    str_reset(&mask);
    str_reset(&list);
    cpulist_add_mask(&mask, "0,8192-9000");
    is_str(str_text(&mask), "00000001", "CPUs from 8192 on are left out");
    for (int i = 0; i < CPULIST_CPUS / 32; i++)
        str_add(&long_mask, i ? ",0" : "0");
    is_int(cpulist_from_mask(&list, str_text(&long_mask)), 0, "a mask may have 256 words");
    str_add(&long_mask, ",0");
    is_int(cpulist_from_mask(&list, str_text(&long_mask)), -EINVAL,
           "a mask of 257 words is refused");
}

int main(void)
{
    test_count();
    test_huge();
    test_walk();
    test_masks();
    test_mask_texts();
    test_mask_ceiling();
    return done();
}
