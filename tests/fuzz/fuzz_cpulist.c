#include <errno.h>

#include "fuzz.h"
#include "model/machine/cpulist.h"

enum { STEPS = 1000, MASK_MAX = CPULIST_CPUS / 32 * 9 };

/* The walk sees members only, each above the last. */
static void check_walk(const char *list)
{
    int steps = 0, last = -1;

    for (int cpu = cpulist_first(list); cpu >= 0 && steps < STEPS;
         cpu = cpulist_next(list, cpu), steps++) {
        check(cpu > last && cpulist_has(list, cpu));
        last = cpu;
    }
    check(cpulist_count(list) >= 0 && (steps == 0) == (cpulist_count(list) == 0));
    check(steps == STEPS || steps <= cpulist_count(list));
}

/* A mask comes back from its list as it was, but for zeros in front. */
static void check_mask(const char *mask)
{
    CLEANUP(str_done) struct str list = STR_INIT(64 << 10);
    CLEANUP(str_done) struct str again = STR_INIT(64 << 10);
    CLEANUP(str_done) struct str back = STR_INIT(64 << 10);
    int rc = cpulist_from_mask(&list, mask);

    check(rc == 0 || (rc == -EINVAL && list.len == 0));
    cpulist_add_mask(&back, str_text(&list));
    check(back.len >= 8 && back.len <= MASK_MAX && !str_error(&back));
    check(cpulist_from_mask(&again, str_text(&back)) == 0);
    check(!strcmp(str_text(&again), str_text(&list)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(freep) char *text = malloc(size + 1);

    check(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    check_walk(text);
    check_mask(text);
    return 0;
}
