/* FLOP a cycle of a core = vector units that multiply and add x numbers in a vector x 2.
 * Sources: Intel 64 and IA-32 Architectures Optimization Reference Manual (ports 0 and 1, and 5
 * with AVX-512; AMX: TDPBF16PS, 16 x 16 x 32 products in 16 cycles); AMD Software Optimization
 * Guides for families 17h, 19h and 1Ah (Zen: 128-bit units; Zen 2 to 4: 256-bit ones, over which
 * Zen 4 runs AVX-512 in two halves; Zen 5: 512-bit ones); Arm Software Optimization Guides for
 * Neoverse N1, N2, V1 and V2. What is in none of them is not known. */
#include "bench/nominal.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/parse.h"

enum { LINE = 8192 };

/* The value of a line "name : value" of the first CPU; false. */
static bool value_of(const char *cpuinfo, const char *name, char value[LINE])
{
    size_t len = strlen(name);

    for (const char *at = cpuinfo; *at && *at != '\n'; at += strcspn(at, "\n"), at += *at == '\n') {
        const char *v = at + len;

        v += strspn(v, " \t");
        if (strncmp(at, name, len) != 0 || *v != ':')
            continue;
        v += 1 + strspn(v + 1, " \t");
        snprintf(value, LINE, "%.*s", (int)strcspn(v, "\n"), v);
        return true;
    }
    return false;
}

static bool has_word(const char *words, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = words; (at = strstr(at, word)) != NULL; at += len)
        if ((at == words || at[-1] == ' ') && (at[len] == ' ' || at[len] == 0))
            return true;
    return false;
}

static long number_of(const char *cpuinfo, const char *name)
{
    char value[LINE];
    uint64_t n;

    if (!value_of(cpuinfo, name, value))
        return -1;
    if (!strncmp(value, "0x", 2))
        return parse_hex(value, &n) == 0 ? (long)n : -1;
    return parse_digits(value, 10, 9, &n) > 0 ? (long)n : -1;
}

static void set(struct nominal *n, double flop32, const char *how)
{
    n->flop32 = flop32;
    n->flop64 = flop32 / 2;
    n->how = how;
}

static void read_x86(struct nominal *n, const char *cpuinfo, const char *flags)
{
    long family = number_of(cpuinfo, "cpu family"), model = number_of(cpuinfo, "model");
    char vendor[LINE];
    bool amd = value_of(cpuinfo, "vendor_id", vendor) && !strcmp(vendor, "AuthenticAMD");

    if (has_word(flags, "avx512f") && (!amd || family >= 26))
        set(n, 64, "AVX-512: 2 units x 16 floats x 2 (multiply and add)");
    else if (has_word(flags, "avx512f"))
        set(n, 32, "AVX-512 in halves: 2 units x 8 floats x 2 (multiply and add)");
    else if (has_word(flags, "avx2") && has_word(flags, "fma") && amd && family == 23 &&
             model < 0x30)
        set(n, 16, "AVX2 in halves: 2 units x 4 floats x 2 (multiply and add)");
    else if (has_word(flags, "avx2") && has_word(flags, "fma"))
        set(n, 32, "AVX2: 2 units x 8 floats x 2 (multiply and add)");
    else if (has_word(flags, "avx"))
        set(n, 16, "AVX: 8 floats to multiply and 8 to add");
    else if (has_word(flags, "sse2"))
        set(n, 8, "SSE2: 4 floats to multiply and 4 to add");
    if (has_word(flags, "amx_bf16"))
        n->flop_bf16 = 1024;
}

static void read_arm(struct nominal *n, const char *cpuinfo)
{
    static const struct {
        long part;
        double flop32;
        const char *how;
    } parts[] = {
        { 0xd0c, 16, "Neoverse N1: 2 units x 4 floats x 2 (multiply and add)" },
        { 0xd49, 16, "Neoverse N2: 2 units x 4 floats x 2 (multiply and add)" },
        { 0xd40, 32, "Neoverse V1: 2 units x 8 floats x 2 (multiply and add)" },
        { 0xd4f, 32, "Neoverse V2: 4 units x 4 floats x 2 (multiply and add)" },
    };
    long part = number_of(cpuinfo, "CPU part");

    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        if (parts[i].part == part && number_of(cpuinfo, "CPU implementer") == 0x41)
            set(n, parts[i].flop32, parts[i].how);
}

struct nominal nominal_read(const char *cpuinfo, double max_khz)
{
    struct nominal n = { .ghz = (double)NAN,
                         .flop32 = (double)NAN,
                         .flop64 = (double)NAN,
                         .flop_bf16 = (double)NAN,
                         .how = "not known for this CPU",
                         .clock = "not known" };
    char text[LINE];
    double mhz;

    if (value_of(cpuinfo, "flags", text))
        read_x86(&n, cpuinfo, text);
    else
        read_arm(&n, cpuinfo);
    if (max_khz > 0) {
        n.ghz = max_khz / 1e6;
        n.clock = "the highest clock (cpufreq)";
    } else if (value_of(cpuinfo, "cpu MHz", text) && parse_double(text, &mhz) == 0) {
        n.ghz = mhz / 1e3;
        n.clock = "the clock now (/proc/cpuinfo)";
    }
    return n;
}
