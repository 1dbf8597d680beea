/* Verdicts of a run of each cause when one signal is another: what is found, with its figures,
 * where that is not what was found before.
 *
 *     t_diagnose_verdict_sweep FILE */
#include "base/str.h"
#include "diagnose/verdict/judge.h"
#include "golden.h"
#include "run_made.h"

enum { ROOM = 4 << 20, FOUND = 1024 };

static struct made quiet(enum cause cause)
{
    struct made m = made_like(cause, 3);

    m.noise = 0;
    m.steps = m.steps > 60 && !m.pause_every ? 60 : m.steps;
    m.slow_from = m.slow_from ? m.steps / 2 : 0;
    for (int s = 0; s < RUN_SIGNALS; s++)
        m.wild[s] = 0;
    return m;
}

/* "storage-latency! 0.49 (0.40) x1.96 92 %; ...": share of the step, at least, gain, how sure; a
 * mark for each degree of severity. */
static void find(struct made *m, char text[FOUND])
{
    static const char *const marks[] = { "", "!", "!!", "!!!" };
    CLEANUP(run_done) struct run r = { .id = NULL };
    CLEANUP(verdict_done) struct verdict v = { .count = 0 };
    size_t len = 0;

    made_build(m, &r);
    if (judge_run(&r, NULL, &v) != 0)
        abort();
    for (size_t i = 0; i < v.count && len < FOUND; i++) {
        const struct verdict_item *item = &v.items[i];

        len += (size_t)snprintf(text + len, FOUND - len, "%s%s%s %.3f (%.3f) x%.2f %.0f %%",
                                i ? "; " : "", cause_name(item->cause),
                                marks[(unsigned)item->severity % ARRAY_SIZE(marks)], item->share,
                                item->least, item->gain, 100 * item->confidence);
    }
}

/* A verdict, where it is another one than that of the run as it is. */
static void add_other(struct str *out, struct made *m, const char *is, const char *what, double x)
{
    char found[FOUND];

    find(m, found);
    if (strcmp(found, is) != 0)
        str_addf(out, "  %s %g: %s\n", what, x, found);
}

/* The shape of the run itself: its ranks, the length of its steps and where they go, what is sent,
 * who is slow, what the job tells. */
static void add_shapes(enum cause cause, const char *is, struct str *out)
{
    static const double factors[] = { 0.05, 0.3, 0.8, 1.25, 4 };
    static const char *const notes[] = { "0", "1", "1000" };

    for (size_t f = 0; f < ARRAY_SIZE(factors); f++) {
        double x = factors[f];
        struct made m = quiet(cause);

        m.step_s *= x;
        add_other(out, &m, is, "step x", x);
        m = quiet(cause);
        m.collective_b *= x;
        add_other(out, &m, is, "sent x", x);
        m = quiet(cause);
        m.pause_s *= x;
        add_other(out, &m, is, "pauses x", x);
        m = quiet(cause);
        m.level *= x;
        m.slow_from = m.steps / 2;
        add_other(out, &m, is, "later steps x", x);
        m = quiet(cause);
        m.ranks = 4;
        m.slow[2] = x;
        add_other(out, &m, is, "rank 2 of 4 x", x);
        m.samples[2] = 32 * x;
        add_other(out, &m, is, "rank 2 of 4, with its samples, x", x);
    }
    for (int stage = 0; stage < BRIM_STAGES; stage++)
        for (int part = 1; part < 10; part += 3) {
            struct made m = quiet(cause);

            made_stage(&m, stage, 0.1 * part);
            add_other(out, &m, is, step_stage_name((enum brim_stage)stage), 0.1 * part);
        }
    for (size_t n = 0; n < ARRAY_SIZE(notes); n++) {
        struct made m = quiet(cause);

        for (size_t i = 0; i < ARRAY_SIZE(m.notes) && m.notes[i][0]; i++)
            m.notes[i][1] = notes[n];
        add_other(out, &m, is, "each note", strtod(notes[n], NULL));
    }
}

static void add_cause(enum cause cause, struct str *out)
{
    static const double factors[] = { 0, 0.5, 0.9, 1.2, 3 };
    struct made base = quiet(cause);
    char is[FOUND], last[FOUND];

    find(&base, is);
    str_addf(out, "%s: %s\n", cause_name(cause), is);
    for (int s = 0; s < RUN_SIGNALS; s++) {
        snprintf(last, sizeof(last), "%s", is);
        for (size_t f = 0; f <= ARRAY_SIZE(factors) && !isnan(base.s[s]); f++) {
            bool absent = f == ARRAY_SIZE(factors);
            struct made m = quiet(cause);
            char found[FOUND];

            m.s[s] = absent ? (double)NAN : m.s[s] * factors[f];
            find(&m, found);
            if (!strcmp(found, is) || !strcmp(found, last))
                continue;
            snprintf(last, sizeof(last), "%s", found);
            if (absent)
                str_addf(out, "  no %s: %s\n", run_signal_name((enum run_signal)s), found);
            else
                str_addf(out, "  %s x%g: %s\n", run_signal_name((enum run_signal)s), factors[f],
                         found);
        }
    }
    add_shapes(cause, is, out);
}

int main(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);

    if (argc != 2) {
        printf("Bail out! FILE\n");
        return 1;
    }
    for (enum cause c = CAUSE_NONE; c < CAUSE_UNKNOWN; c++)
        add_cause(c, &out);
    is_int(str_error(&out), 0, "all verdicts have room");
    golden(argv[1], str_text(&out));
    return done();
}
