#include "plan/measured/rows_words.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { WORD_MAX = 40 };

/* ---- GPUs ---- */

/* The next run of letters and digits from *at on; false at the end. */
static bool next_word(const char **at, char word[WORD_MAX])
{
    size_t n = 0;

    while (**at && !isalnum((unsigned char)**at))
        (*at)++;
    for (; isalnum((unsigned char)**at); (*at)++)
        if (n + 1 < WORD_MAX)
            word[n++] = **at;
    word[n] = '\0';
    return n > 0;
}

/* What digits end at 'end', blanks before it skipped; *start is where they begin. 0: none. */
static double number_at(const char *text, const char *end, const char **start)
{
    double x = 0, scale = 1;

    while (end > text && end[-1] == ' ')
        end--;
    while (end > text && isdigit((unsigned char)end[-1]) && scale < 1e9) {
        x += (*--end - '0') * scale;
        scale *= 10;
    }
    *start = end;
    return x;
}

/* "96GB", "96 GB": the number before a unit; NaN when there is none. */
static double number_before(const char *text, const char *unit)
{
    for (const char *at = strcasestr(text, unit); at; at = strcasestr(at + 1, unit)) {
        const char *start;
        double x = number_at(text, at, &start);

        if (!isalnum((unsigned char)at[strlen(unit)]) && x > 0)
            return x;
    }
    return (double)NAN;
}

double words_power(const char *text)
{
    return number_before(text, "W");
}

int words_gpu(const struct gpus *g, const char *text, const struct gpu_row **ret, double *memory_b,
              double *power_w, struct err *e)
{
    bool card = strcasestr(text, "pcie") != NULL;
    char word[WORD_MAX], name[WORD_MAX + 16];
    const char *at = text;
    int rc = gpus_find(g, text, ret, e);

    *memory_b = number_before(text, "GB") * 1e9;
    *power_w = words_power(text);
    /* "8xB200" */
    if (strspn(at, "0123456789") > 0 && at[strspn(at, "0123456789")] == 'x')
        at += strspn(at, "0123456789") + 1;
    while (rc < 0 && rc != -ENOMEM && next_word(&at, word)) {
        snprintf(name, sizeof(name), "%s-%.0fGB", word, *memory_b / 1e9);
        if (*memory_b > 0 && !card)
            rc = gpus_find(g, name, ret, NULL);
        snprintf(name, sizeof(name), "%s%s", word, card ? "-PCIe" : "");
        if (rc < 0)
            rc = gpus_find(g, name, ret, NULL);
    }
    return rc;
}

/* ---- precision ---- */

int words_precision(const char *text)
{
    static const struct {
        const char *word;
        enum plan_precision p;
    } words[] = {
        { "nvfp4", PLAN_NVFP4 },  { "fp4", PLAN_NVFP4 },     { "mxfp8", PLAN_MXFP8 },
        { "fp8-mx", PLAN_MXFP8 }, { "fp8_mx", PLAN_MXFP8 },  { "fp8 mx", PLAN_MXFP8 },
        { "fp8", PLAN_FP8 },      { "float8", PLAN_FP8 },    { "f8", PLAN_FP8 },
        { "bf16", PLAN_BF16 },    { "bfloat16", PLAN_BF16 }, { "fp16", PLAN_FP16 },
        { "float16", PLAN_FP16 }, { "half", PLAN_FP16 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        if (!strcasestr(text, words[i].word))
            continue;
        if (words[i].p == PLAN_FP8 && strcasestr(text, "row"))
            return PLAN_FP8_ROWS;
        if (words[i].p == PLAN_FP8 && (strcasestr(text, "block") || strcasestr(text, "subchannel")))
            return PLAN_FP8_BLOCKS;
        return (int)words[i].p;
    }
    return -1;
}
