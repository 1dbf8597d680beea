/* The readers of kernel texts; the first byte says which. */
#include <string.h>

#include "fuzz.h"
#include "probe/kernel/kparse.h"

enum { SMALL = 8 };

static void check_rates(const char *text)
{
    double gts = kparse_gts(text), gbps = kparse_gbps(text);

    check(gts >= 0 || (int)gts == -1);
    check(gbps >= 0 || (int)gbps == -1);
}

static void check_meminfo(const char *text)
{
    check(kparse_meminfo(text, "MemTotal") >= -1);
}

static void check_limit(const char *text)
{
    check(kparse_limit(text, "Max locked memory") >= -1);
}

static void check_tmpfs(const char *text)
{
    check(kparse_tmpfs(text, "/dev/shm", -1) >= -1);
    check(kparse_tmpfs(text, "/dev/shm", INT64_MAX) >= -1);
}

static void check_swaps(const char *text)
{
    check(kparse_swaps(text) >= 0);
}

static void check_choice(const char *text)
{
    char small[SMALL], large[4096];

    kparse_choice(text, small, sizeof(small));
    kparse_choice(text, large, sizeof(large));
    check(strlen(small) < sizeof(small) && !strpbrk(large, "]\n"));
    check(!strncmp(small, large, strlen(small)));
}

static void check_field(const char *text)
{
    char small[SMALL] = "", large[4096] = "";

    if (!kparse_field(text, "model name", large, sizeof(large)))
        check(!large[0]);
    check(kparse_field(text, "model name", small, sizeof(small)) >= 0);
    check(!strchr(large, '\n') && !strncmp(small, large, strlen(small)));
}

static void check_flag(const char *text)
{
    check(!kparse_has_flag(text, "flags", "lm") || (strstr(text, "flags") && strstr(text, "lm")));
}

static void check_property(const char *text)
{
    check(kparse_property(text, "simd_count") >= -1);
}

static void (*const readers[])(const char *text) = {
    check_rates,  check_meminfo, check_limit, check_tmpfs,    check_swaps,
    check_choice, check_field,   check_flag,  check_property,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text;

    if (!size)
        return 0;
    text = malloc(size);
    check(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    readers[data[0] % (sizeof(readers) / sizeof(readers[0]))](text);
    free(text);
    return 0;
}
