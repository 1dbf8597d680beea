#include "model/machine/cpulist.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

/* No kernel counts that far (NR_CPUS is 8,192 at most); what does is no CPU list. */
enum { NUMBERS = 1 << 16 };

/* The number at *at, of a CPU; moves *at behind it. -1 when there is none. */
static int small_number(const char **at)
{
    int value = 0;
    const char *p = *at;

    for (; *p >= '0' && *p <= '9'; p++) {
        value = value * 10 + (*p - '0');
        if (value >= NUMBERS)
            return -1;
    }
    if (p == *at)
        return -1;
    *at = p;
    return value;
}

/* The next range of a CPU list; false at its end. */
static bool next_range(const char **at, int *low, int *high)
{
    if (**at == ',')
        ++*at;
    *low = small_number(at);
    *high = *low;
    if (*low < 0)
        return false;
    if (**at == '-') {
        ++*at;
        *high = small_number(at);
    }
    return *high >= *low;
}

int cpulist_count(const char *list)
{
    int low, high, count = 0;

    while (count < INT_MAX - NUMBERS && next_range(&list, &low, &high))
        count += high - low + 1;
    return count;
}

bool cpulist_has(const char *list, int cpu)
{
    int low, high;

    while (next_range(&list, &low, &high))
        if (cpu >= low && cpu <= high)
            return true;
    return false;
}

int cpulist_next(const char *list, int after)
{
    int low, high;

    while (next_range(&list, &low, &high))
        if (high > after)
            return low > after ? low : after + 1;
    return -1;
}

int cpulist_first(const char *list)
{
    return cpulist_next(list, -1);
}

void cpulist_add_mask(struct str *out, const char *list)
{
    uint32_t words[CPULIST_CPUS / 32] = { 0 };
    int top = 0;

    for (int cpu = cpulist_first(list); cpu >= 0 && cpu < CPULIST_CPUS;
         cpu = cpulist_next(list, cpu)) {
        words[cpu / 32] |= 1u << cpu % 32;
        top = cpu / 32;
    }
    for (int i = top; i >= 0; i--)
        str_addf(out, "%08x%s", words[i], i ? "," : "");
}

/* Add "low-high" or "low", with a comma where something stands before it. */
static void add_range(struct str *out, int low, int high, bool first)
{
    str_addf(out, "%s%d", first ? "" : ",", low);
    if (high > low)
        str_addf(out, "-%d", high);
}

/* The value of a hexadecimal digit, or -1. */
static int nibble(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Words of up to eight hexadecimal digits with commas between; how many, or -EINVAL. */
static int read_mask(const char *mask, uint32_t *words, int max)
{
    int count = 0;

    while (*mask) {
        int digits = 0;

        if (count == max)
            return -EINVAL;
        for (words[count] = 0; digits < 8 && nibble(*mask) >= 0; digits++)
            words[count] = words[count] << 4 | (uint32_t)nibble(*mask++);
        if (!digits || (*mask == ',' && !mask[1]))
            return -EINVAL;
        if (*mask && *mask++ != ',')
            return -EINVAL;
        count++;
    }
    return count;
}

int cpulist_from_mask(struct str *out, const char *mask)
{
    uint32_t words[CPULIST_CPUS / 32];
    int count = read_mask(mask, words, CPULIST_CPUS / 32), low = -1;
    bool first = true;

    if (count < 0)
        return count;
    for (int cpu = 0; cpu <= count * 32; cpu++) {
        bool set = cpu < count * 32 && (words[count - 1 - cpu / 32] >> cpu % 32 & 1);

        if (set && low < 0)
            low = cpu;
        if (!set && low >= 0) {
            add_range(out, low, cpu - 1, first);
            first = false;
            low = -1;
        }
    }
    return 0;
}
