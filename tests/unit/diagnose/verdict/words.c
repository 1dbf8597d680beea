/* Every word of a verdict: runs of each cause and beside each threshold, those of them that say
 * something which no run before said, with all figures, against a file.
 *
 *     t_diagnose_verdict_words FILE            compare
 *     t_diagnose_verdict_words --write FILE    write what is said today: script/regenerate does
 */
#include <stdlib.h>
#include <string.h>

#include "limits/rows.h"
#include "tap.h"

enum { SEEDS = 8, PARTS_MAX = 4096, VERDICT_MAX = 16384 };

/* Parts of texts that were said, without their digits. */
struct said {
    char *parts[PARTS_MAX];
    size_t n;
};

/* Whether a part is new; it is not afterwards. */
static bool is_new(struct said *s, const char *part, size_t len)
{
    char *text = calloc(1, len + 1);
    size_t at = 0;

    if (!text)
        abort();
    for (size_t i = 0; i < len; i++)
        if (!strchr("0123456789.", part[i]))
            text[at++] = part[i];
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->parts[i], text) == 0) {
            free(text);
            return false;
        }
    if (s->n == PARTS_MAX)
        abort();
    s->parts[s->n++] = text;
    return true;
}

/* Whether a verdict says something new: each line, and each part of one. */
static bool says_new(struct said *s, const char *verdict)
{
    bool found = false;

    for (const char *at = verdict; *at; at += strspn(at, ";\n")) {
        size_t len = strcspn(at, ";\n");

        found |= is_new(s, at, len);
        at += len;
    }
    return found;
}

/* Take what was written since the last time; add it to the text where it is new. */
static void take(struct said *s, FILE *all, const char *what, double x, char *verdict, size_t size)
{
    fflush(limits_shown);
    verdict[size] = 0;
    if (says_new(s, verdict))
        fprintf(all, "[%s %g]\n%s\n", what, x, verdict);
    rewind(limits_shown);
}

static void show_causes(struct said *s, FILE *all, char *verdict)
{
    for (enum cause c = CAUSE_NONE; c < CAUSE_UNKNOWN; c++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct made m = made_like(c, seed);
            struct run r;

            m.noise = 0;
            for (int k = 0; k < RUN_SIGNALS; k++)
                m.wild[k] = 0;
            made_build(&m, &r);
            limits_judge(&r, NULL);
            take(s, all, cause_name(c), (double)seed, verdict, (size_t)ftell(limits_shown));
        }
}

static void show_row(struct said *s, FILE *all, const struct limit_row *row, char *verdict)
{
    const double values[] = { row->no, row->yes };

    for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
        row->holds(values[i]);
        take(s, all, row->name ? row->name : row->what, values[i], verdict,
             (size_t)ftell(limits_shown));
    }
}

/* All that is said; the caller frees it. */
static char *show_all(void)
{
    char *text = NULL, *verdict = calloc(1, VERDICT_MAX);
    struct said *s = calloc(1, sizeof(*s));
    size_t size = 0;
    FILE *all = open_memstream(&text, &size);

    limits_shown = verdict ? fmemopen(verdict, VERDICT_MAX, "w") : NULL;
    if (!all || !s || !limits_shown)
        abort();
    show_causes(s, all, verdict);
    for (size_t i = 0; limits_all[i]; i++)
        for (size_t k = 0; k < limits_all[i]->n; k++)
            show_row(s, all, &limits_all[i]->rows[k], verdict);
    fclose(all);
    fclose(limits_shown);
    for (size_t i = 0; i < s->n; i++)
        free(s->parts[i]);
    free(s);
    free(verdict);
    return text;
}

static char *read_file(const char *name)
{
    FILE *f = fopen(name, "r");
    char *text = NULL;
    size_t size = 0;

    if (!f || getdelim(&text, &size, 0, f) < 0)
        text = NULL;
    if (f)
        fclose(f);
    return text;
}

/* A verdict after the other, so that what fails is named by its run. */
static void compare(char *got, char *want)
{
    char *next_got = NULL, *next_want = NULL;

    for (; got && want && *got && *want; got = next_got, want = next_want) {
        next_got = strstr(got, "\n\n");
        next_want = strstr(want, "\n\n");
        if (next_got)
            *next_got = 0, next_got += 2;
        if (next_want)
            *next_want = 0, next_want += 2;
        is_str(got, want, "the verdict of the run %.*s is as it was", (int)strcspn(got, "\n"), got);
    }
    ok(got && want && *got == 0 && *want == 0, "there are as many verdicts as there were");
}

int main(int argc, char **argv)
{
    bool writes = argc == 3 && strcmp(argv[1], "--write") == 0;
    char *got = show_all(), *want = NULL;
    FILE *f;

    if (argc != 2 && !writes)
        return 2;
    if (writes) {
        f = fopen(argv[2], "w");
        if (!f || fputs(got, f) < 0 || fclose(f) != 0)
            return 1;
    } else {
        want = read_file(argv[1]);
        compare(got, want);
    }
    free(got);
    free(want);
    return writes ? 0 : done();
}
