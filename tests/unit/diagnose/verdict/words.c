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

enum { SEEDS = 8, TWISTED = 4, PARTS_MAX = 4096, VERDICT_MAX = 16384 };

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

/* What is different about a run: before it is made, and after. */
struct twist {
    const char *name;
    void (*before)(struct made *m);
    void (*after)(struct run *r);
};

/* Steps that were found from outside have no stages. */
static void leave_unmarked(struct made *m)
{
    for (int s = 0; s < BRIM_STAGES; s++)
        m->share[s] = s == BRIM_STAGE_OTHER;
}

/* Nothing is measured, and nothing told. */
static void leave_unmeasured(struct made *m)
{
    for (int s = 0; s < RUN_SIGNALS; s++)
        m->s[s] = (double)NAN;
    m->notes[0][0] = NULL;
}

static void leave_unknown(struct made *m)
{
    leave_unmarked(m);
    leave_unmeasured(m);
}

static void make_few(struct made *m)
{
    m->steps = 1;
}

static void share_cpus(struct made *m)
{
    m->s[RUN_OTHER_CPU] = 0.3 * m->s[RUN_CPUS];
    m->s[RUN_JOB_RUN_WAIT] = m->s[RUN_JOB_CPU];
    m->s[RUN_CPU_STEAL] = 0.05;
}

/* Every 20th step saves for a moment, and flushes behind its stage for as long as four steps. */
static void flush(struct run *r)
{
    int64_t late = 0;

    for (size_t i = 0; i < r->ranks[0].n_steps; i++) {
        double more_s = i % 20 == 19 ? 4 * step_seconds(&r->ranks[0].steps[1]) : 0;

        for (size_t k = 0; k < r->n_ranks; k++) {
            struct step *s = &r->ranks[k].steps[i];

            s->host_s[BRIM_STAGE_CHECKPOINT] += more_s / 100;
            s->host_s[BRIM_STAGE_OTHER] += more_s * 0.99;
            s->begin_ns += late;
            s->end_ns += late + (int64_t)(more_s * 1e9);
        }
        late += (int64_t)(more_s * 1e9);
    }
}

static const struct twist twists[] = {
    { "as it is", NULL, NULL },
    { "without stages", leave_unmarked, NULL },
    { "unmeasured", leave_unmeasured, NULL },
    { "unknown", leave_unknown, NULL },
    { "short", make_few, NULL },
    { "beside others", share_cpus, NULL },
    { "with flushes", NULL, flush },
};

static struct run_note was[] = { { "torch", "1.13.1" }, { "cpus.smt", "1" } };
static struct run_note is[] = { { "torch", "2.5.0" }, { "cpus.smt", "1" } };

/* A run of a cause; every second one after a run that was faster, with another version. */
static void show_cause(enum cause cause, uint64_t seed, const struct twist *twist)
{
    struct made m = made_like(cause, seed), past;
    struct run r, before;

    m.noise = 0;
    for (int k = 0; k < RUN_SIGNALS; k++)
        m.wild[k] = 0;
    if (twist->before)
        twist->before(&m);
    past = m;
    past.step_s /= 1.3;
    made_build(&m, &r);
    made_build(&past, &before);
    r.environment = is;
    before.environment = was;
    r.n_environment = before.n_environment = ARRAY_SIZE(is);
    if (twist->after)
        twist->after(&r);
    if (seed % 2) {
        limits_judge(&r, &before);
    } else {
        limits_judge(&r, NULL);
        run_done(&before);
    }
}

static void show_causes(struct said *s, FILE *all, char *verdict)
{
    char name[96];

    for (size_t t = 0; t < ARRAY_SIZE(twists); t++)
        for (enum cause c = CAUSE_NONE; c < CAUSE_UNKNOWN; c++)
            for (uint64_t seed = 0; seed < (t ? TWISTED : SEEDS); seed++) {
                show_cause(c, seed, &twists[t]);
                snprintf(name, sizeof(name), "%s, %s", cause_name(c), twists[t].name);
                take(s, all, name, (double)seed, verdict, (size_t)ftell(limits_shown));
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
