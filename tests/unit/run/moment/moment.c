/* Moments, whole: what becomes of the node's signals and of the growth of a job's processes. The
 * file is a transcript: "< SET THING SIGNAL=VALUE..." is a row of both ticks ("BEFORE:NOW" of a
 * counter, SIGNAL{LABEL} of one with a label, "-" for a value that is absent), "$ moment SECONDS
 * KEY=VALUE..." makes one of the rows since the last one; below it is all that is known.
 *
 *     t_run_moment_moment FILE */
#include "run/moment/moment.h"

#include "base/parse.h"
#include "base/str.h"
#include "golden.h"

enum { ROOM = 1 << 20, WORDS = 40, SETS = 24, DEFS = 40, LINES = 100 };

struct made_set {
    struct signal_set set;
    struct signal_def defs[DEFS];
};

struct moment_lines {
    char *words[LINES][WORDS + 1];
    size_t n;
    struct made_set sets[SETS];
    size_t n_sets;
};

#define GROWTH(member) \
    { \
#member, offsetof(struct family_growth, member) \
    }
static const struct {
    const char *name;
    size_t at;
} growths[] = {
    GROWTH(processes),
    GROWTH(threads),
    GROWTH(cpu_s),
    GROWTH(run_wait_s),
    GROWTH(io_wait_s),
    GROWTH(memory_wait_s),
    GROWTH(blocked),
    GROWTH(read_b),
    GROWTH(written_b),
    GROWTH(io_read_b),
    GROWTH(io_written_b),
    GROWTH(read_calls),
    GROWTH(write_calls),
    GROWTH(resident_b),
    GROWTH(major_faults),
    GROWTH(preemptions),
    GROWTH(ranks),
    GROWTH(rank_cpu_s),
    GROWTH(thread_cpu_s),
    GROWTH(thread_run_wait_s),
    GROWTH(workers),
    GROWTH(worker_cpu_s),
    GROWTH(worker_io_wait_s),
    GROWTH(worker_blocked),
};

static double number(const char *text)
{
    return *text == '-' && !text[1] ? (double)NAN : strtod(text, NULL);
}

static struct made_set *find_set(struct moment_lines *l, char *name)
{
    struct made_set *s = l->sets;

    while (s < l->sets + l->n_sets && strcmp(s->set.name, name) != 0)
        s++;
    if (s == l->sets + l->n_sets) {
        s->set = (struct signal_set){ .name = name, .thing = "thing", .defs = s->defs };
        l->n_sets++;
    }
    return s;
}

/* Where the signal of "NAME{LABEL}=BEFORE:NOW" stands in its set; the word is cut into parts. */
static size_t find_signal(struct made_set *s, char *word, char **value)
{
    char *label = NULL, *end;
    size_t i;

    end = strchr(word, '}');
    *value = strchr(end ? end : word, '=');
    *(*value)++ = 0;
    if (end) {
        *end = 0;
        label = strchr(word, '{');
        *label++ = 0;
    }
    i = signal_index(&s->set, word, label);
    if (i == s->set.n_defs)
        s->defs[s->set.n_defs++] = (struct signal_def){ word, "", SIGNAL_COUNTER, label };
    return i;
}

/* Rows have as many values as their set has signals in the end: the lines are read twice. */
static void make_ticks(struct moment_lines *l, double seconds, struct tick ticks[2])
{
    size_t at[LINES][WORDS];
    char *values[LINES][WORDS];

    for (size_t i = 0; i < l->n; i++) {
        struct made_set *s = find_set(l, l->words[i][0]);

        for (size_t k = 2; l->words[i][k]; k++)
            at[i][k] = find_signal(s, l->words[i][k], &values[i][k]);
    }
    for (int t = 0; t < 2; t++) {
        tick_begin(&ticks[t], (1000 + 7 * t) * INT64_C(1000000000),
                   INT64_C(5000000000) + (t ? (int64_t)(seconds * 1e9) : 0));
        for (size_t i = 0; i < l->n; i++) {
            struct signal_row *row = tick_add(&ticks[t], &find_set(l, l->words[i][0])->set,
                                              l->words[i][1]);

            for (size_t k = 2; l->words[i][k]; k++) {
                const char *now = strchr(values[i][k], ':');

                row->values[at[i][k]] = number(t && now ? now + 1 : values[i][k]);
            }
        }
        tick_group(&ticks[t]);
    }
}

static bool has_gpu(const void *arg, const char *gpu)
{
    return strstr(arg, gpu) != NULL;
}

static void add_moment(const struct run_moment *m, struct str *out)
{
    str_addf(out, "%.9g s to %lld, %lld\n", m->seconds, (long long)m->wall_ns,
             (long long)m->monotonic_ns);
    for (int i = 0; i < RUN_SIGNALS; i++)
        if (!isnan(m->values[i]))
            str_addf(out, "%s=%.9g\n", run_signal_name((enum run_signal)i), m->values[i]);
}

static void moment(struct moment_lines *l, char **words, struct str *out)
{
    struct family_growth growth = { .processes = 0 };
    struct moment_job job = { .cgroup = "" };
    struct tick ticks[2] = { { .n_rows = 0 } };
    struct run_moment m;

    for (size_t i = 0; i < ARRAY_SIZE(growths); i++)
        *(double *)((char *)&growth + growths[i].at) = (double)NAN;
    make_ticks(l, strtod(words[0], NULL), ticks);
    for (words++; *words; words++) {
        char *value = strchr(*words, '=');

        *value++ = 0;
        if (!strcmp(*words, "cgroup"))
            job.cgroup = value;
        if (!strcmp(*words, "gpus")) {
            job.has_gpu = has_gpu;
            job.arg = value;
        }
        for (size_t i = 0; i < ARRAY_SIZE(growths); i++)
            if (!strcmp(growths[i].name, *words))
                *(double *)((char *)&growth + growths[i].at) = number(value);
    }
    moment_make(&ticks[0], &ticks[1], &growth, &job, &m);
    add_moment(&m, out);
    tick_done(&ticks[0]);
    tick_done(&ticks[1]);
    memset(l, 0, sizeof(*l));
}

int main(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);
    static struct moment_lines l;
    char *file, *line, *at;

    if (argc != 2) {
        printf("Bail out! FILE\n");
        return 1;
    }
    file = at = golden_read(argv[1]);
    while ((line = strsep(&at, "\n"))) {
        char *words[WORDS + 1] = { NULL }, *rest = line + 2;
        size_t n = 0;

        if (strncmp(line, "$ ", 2) != 0 && strncmp(line, "< ", 2) != 0)
            continue;
        str_addf(&out, "%s\n", line);
        while (rest && n < WORDS)
            words[n++] = strsep(&rest, " ");
        if (*line == '<' && l.n < LINES)
            memcpy(l.words[l.n++], words, sizeof(words));
        else
            moment(&l, words + 1, &out);
    }
    golden(argv[1], str_text(&out));
    free(file);
    return done();
}
