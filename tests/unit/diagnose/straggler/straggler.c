/* Stragglers in traces of operations: made ones, three public ones with published results, what
 * is no trace, and every allocation failing once. */
#include "diagnose/straggler/straggler.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/str.h"
#include "oom_arena.h"
#include "others.h"
#include "tap.h"

enum { TEXT_MAX = 64 << 20, EVERY_DP = 1 << 20 };

static const char *const header =
    "dp_rank\tstage\trank\tstep\toptype\tstart_ts\tduration\tseq_id\tmc\tmb_id\tgmc\n";

/* A job of two stages and n ranks, with micro-batches that follow each other without overlap; the
 * worker of a rank and stage computes 'slow' times as long. */
struct made_trace {
    unsigned n_dp, steps, batches;
    unsigned slow_dp,
        slow_stage; /* of one rank of data parallelism, or of EVERY_DP, where stages overlap */
    double slow;
    unsigned lengths; /* micro-batches of a rank and step of this number take longer; 0: none */
};

static void add_op(struct str *out, unsigned dp, unsigned stage, unsigned step, const char *type,
                   double begin, double seconds, unsigned seq)
{
    str_addf(out, "%u\t%u\t%u\t%u\t%s\t%.9g\t%.9g\t%u\t0\t%u\t0\n", dp, stage, dp * 2 + stage, step,
             type, begin, seconds, seq, seq);
}

static double made_work(const struct made_trace *m, unsigned dp, unsigned stage, unsigned step,
                        unsigned batch)
{
    bool chosen = (m->slow_dp == EVERY_DP || m->slow_dp == dp) && stage == m->slow_stage;
    double x = chosen ? m->slow : 1;

    return m->lengths && (dp + step + batch) % m->lengths == 0 ? x * 6 : x;
}

/* One rank's step: forward through both stages, back, and so on; returns when it computed. */
static double add_rank(struct str *out, const struct made_trace *m, unsigned dp, unsigned step)
{
    double at = 0;

    for (unsigned i = 0; i < m->batches; i++) {
        double first = made_work(m, dp, 0, step, i), second = made_work(m, dp, 1, step, i);

        add_op(out, dp, 0, step, "forward-compute", at, first, i);
        at += first;
        add_op(out, dp, 0, step, "forward-send", at, 0.01, i);
        add_op(out, dp, 1, step, "forward-recv", at - 0.001, 0.011, i);
        at += 0.01;
        add_op(out, dp, 1, step, "forward-compute", at, second, i);
        at += second;
        add_op(out, dp, 1, step, "backward-compute", at, 2 * second, i);
        at += 2 * second;
        add_op(out, dp, 1, step, "backward-send", at, 0.01, i);
        add_op(out, dp, 0, step, "backward-recv", at, 0.01, i);
        at += 0.01;
        add_op(out, dp, 0, step, "backward-compute", at, 2 * first, i);
        at += 2 * first;
    }
    return at;
}

/* The same, but each stage begins with a micro-batch as soon as it has it: the second stage works
 * on one while the first works on the next, so a slow stage holds the other one up. */
static double add_rank_overlapped(struct str *out, const struct made_trace *m, unsigned dp,
                                  unsigned step)
{
    double at[2] = { 0, 0 }, there[64], back[64];

    for (unsigned i = 0; i < m->batches; i++) {
        double work = made_work(m, dp, 0, step, i);

        add_op(out, dp, 0, step, "forward-compute", at[0], work, i);
        at[0] += work;
        add_op(out, dp, 0, step, "forward-send", at[0], 0.01, i);
        there[i] = at[0] + 0.01;
    }
    for (unsigned i = 0; i < m->batches; i++) {
        double work = made_work(m, dp, 1, step, i);

        at[1] = fmax(at[1], there[i]);
        add_op(out, dp, 1, step, "forward-recv", at[1] - 0.01, 0.01, i);
        add_op(out, dp, 1, step, "forward-compute", at[1], work, i);
        at[1] += work;
        add_op(out, dp, 1, step, "backward-compute", at[1], 2 * work, i);
        at[1] += 2 * work;
        add_op(out, dp, 1, step, "backward-send", at[1], 0.01, i);
        back[i] = at[1] + 0.01;
    }
    for (unsigned i = 0; i < m->batches; i++) {
        double work = made_work(m, dp, 0, step, i);

        at[0] = fmax(at[0], back[i]);
        add_op(out, dp, 0, step, "backward-recv", at[0] - 0.01, 0.01, i);
        add_op(out, dp, 0, step, "backward-compute", at[0], 2 * work, i);
        at[0] += 2 * work;
    }
    return at[0];
}

static void add_end(struct str *out, unsigned dp, unsigned step, double own, double all)
{
    for (unsigned s = 0; s < 2; s++) {
        add_op(out, dp, s, step, "gc", own, 0, 0);
        add_op(out, dp, s, step, "grads-reduce-scatter", own, all + 0.1 - own, 0);
        add_op(out, dp, s, step, "optimizer-clip-main-grad", all + 0.1, 0.01, 0);
        add_op(out, dp, s, step, "optimizer", all + 0.11, 0.05, 0);
    }
}

static void made_text(struct str *out, const struct made_trace *m)
{
    double own[64], all;

    str_add(out, header);
    for (unsigned step = 0; step < m->steps; step++) {
        all = 0;
        for (unsigned dp = 0; dp < m->n_dp; dp++) {
            own[dp] = m->slow_dp == EVERY_DP ? add_rank_overlapped(out, m, dp, step)
                                             : add_rank(out, m, dp, step);
            all = fmax(all, own[dp]);
        }
        for (unsigned dp = 0; dp < m->n_dp; dp++)
            add_end(out, dp, step, own[dp], all);
    }
}

static int judge_text(const struct str *text, struct straggler *r, struct err *e)
{
    struct op_trace t;
    int rc = op_trace_load(&t, "t", str_text(text), text->len, e);

    if (rc < 0)
        return rc;
    rc = straggler_judge(&t, r, e);
    op_trace_done(&t);
    return rc;
}

static void test_made(const struct made_trace *m, enum straggler_class want, const char *what)
{
    CLEANUP(str_done) struct str text = STR_INIT(TEXT_MAX);
    struct straggler r;
    struct err e = { "" };

    made_text(&text, m);
    is_int(judge_text(&text, &r, &e), 0, "straggler_judge judges the trace '%s': %s", what, e.text);
    is_int(r.class, want, "%s: S %.3f M_W %.2f M_S %.2f correlation %.2f", what, r.slowdown,
           r.worker, r.stage, r.correlation);
    if (want == STRAGGLER_WORKER)
        ok(r.worst_dp == m->slow_dp && r.worst_stage == m->slow_stage,
           "the worst worker is rank %u of stage %u", r.worst_dp, r.worst_stage);
}

static void test_all_made(void)
{
    const struct made_trace equal = { 4, 3, 4, 0, 0, 1, 0 }, worker = { 8, 3, 4, 5, 1, 2, 0 },
                            stage = { 8, 3, 4, EVERY_DP, 1, 2, 0 },
                            uneven = { 8, 7, 4, 0, 0, 1, 7 };

    test_made(&equal, STRAGGLER_NONE, "equal work");
    test_made(&worker, STRAGGLER_WORKER, "a slow worker");
    test_made(&stage, STRAGGLER_STAGE, "a slow stage");
    test_made(&uneven, STRAGGLER_LENGTHS, "unequal samples");
}

/* ByteDance's traces with what their analysis found (ByteDance-Seed/StragglerAnalysis): others'
 * data. */
static void test_public(const char *shared)
{
    static const struct {
        const char *name;
        double slowdown, worker, stage, stage_0, rank_0, forward;
        enum straggler_class class;
    } known[] = {
        { "AR", 1.97305, 1.0017, -0.0012, 1.97919, 1.97304, 1.36889, STRAGGLER_WORKER },
        { "ST", 1.17870, 0.0314, 1.2194, 0.99805, 1.17308, 1.08750, STRAGGLER_STAGE },
        { "SE", 1.53736, 0.0251, 0.6877, 1.16781, 1.15334, 1.14596, STRAGGLER_LENGTHS },
    };

    for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
        CLEANUP(str_done) struct str text = STR_INIT(TEXT_MAX);
        char command[1024], buf[65536];
        struct straggler r;
        struct err e = { "" };
        clock_t began;
        size_t n;
        FILE *f;

        snprintf(command, sizeof(command),
                 "gzip -dc '%s/data/faults/bytedance_straggler_%s.tsv.gz' 2>&1", shared,
                 known[i].name);
        f = popen(command, "r");
        while (f && (n = fread(buf, 1, sizeof(buf), f)) > 0)
            str_add_n(&text, buf, n);
        if (!f || pclose(f) != 0 || text.len < 1000) {
            ok(true, "the trace %s " OTHERS_MISSING, known[i].name);
            continue;
        }
        began = clock();
        is_int(judge_text(&text, &r, &e), 0, "straggler_judge judges the published trace %s: %s",
               known[i].name, e.text);
        ok(fabs(r.slowdown / known[i].slowdown - 1) < 0.01,
           "the slowdown S is %.4f, published as %.4f (%.2f s)", r.slowdown, known[i].slowdown,
           (double)(clock() - began) / CLOCKS_PER_SEC);
        ok(fabs(r.worker - known[i].worker) < 0.03,
           "the workers' part M_W is %.3f, published as %.3f", r.worker, known[i].worker);
        ok(fabs(r.stage - known[i].stage) < 0.03, "the stages' part M_S is %.3f, published as %.3f",
           r.stage, known[i].stage);
        ok(fabs(r.by_stage[0] / known[i].stage_0 - 1) < 0.01,
           "the slowdown of stage 0 is %.4f, published as %.4f", r.by_stage[0], known[i].stage_0);
        ok(fabs(r.by_type[OP_FORWARD] / known[i].forward - 1) < 0.01,
           "the slowdown of forward is %.4f, published as %.4f", r.by_type[OP_FORWARD],
           known[i].forward);
        is_int(r.class, known[i].class, "the trace has its class, with correlation %.3f",
               r.correlation);
    }
}

#define NO_NUMBER "t:2: dp_rank, stage, step or seq_id is no such number"
#define NO_TIME "t:2: start_ts or duration is no time"

static void test_bad(void)
{
    static const struct {
        const char *rows, *sentence;
        int rc;
    } bad[] = {
        { "", "t:1: no operations", -EINVAL },
        { "0\t0\t0\t1\tgc\t0\t0\t0\t0\t0\n", "t:2: 11 columns are wanted", -EINVAL },
        { "0\t0\t0\t1\tgx\t0\t0\t0\t0\t0\t0\n", "t:2: unknown operation 'gx'", -EINVAL },
        { "0\t0\t0\t1\tgc\t0\t-1\t0\t0\t0\t0\n", "t:2: start_ts or duration is no time", -EINVAL },
        { "0\t0\t0\t1\tgc\t0\t0\t0\tx\t0\t0\n", "t:2: 'x' is no number", -EINVAL },
        { "0\t0\t0\t1\tgc\t0\t0\t0\t1\t0\t0\n",
          "t:2: interleaved schedules (mc above 0) are not known", -ENOTSUP },
        { "99999\t0\t0\t1\tgc\t0\t0\t0\t0\t0\t0\n",
          "t:2: dp_rank, stage, step or seq_id is no such number", -EINVAL },
        { "1\t0\t0\t1\tgc\t0\t0\t0\t0\t0\t0\n",
          "t:1: steps differ: 1 rows for 1 steps of 1 operations on 2 ranks", -EINVAL },
        { "0\t0\t0\t1\tgc\t0\t0\t0\t0\t0\t0\n0\t0\t0\t1\tgc\t0\t0\t0\t0\t0\t0\n",
          "t:1: steps differ: 2 rows for 1 steps of 1 operations on 1 ranks", -EINVAL },
        { "0\t0\t0\t1\tgc\t0\t1\t0\t0\t0\t0\n0\t0\t0\t1\tgc\t0\t1\t0\t0\t0\t0\n"
          "1\t0\t0\t2\tgc\t0\t1\t0\t0\t0\t0\n1\t0\t0\t1\tgc\t0\t1\t0\t0\t0\t0\n",
          "t:1: step 1 has gc 0 of stage 0, rank 0 twice", -EINVAL },
        { "0\t0\t0\t1\tgc\t0\t0\t0\t0\t0\t0\n0\t0\t0\t1\tgc\t0\t0\t0\t0\t0\t0\n"
          "1\t0\t0\t2\tgc\t0\t0\t0\t0\t0\t0\n1\t0\t0\t1\tgc\t0\t0\t0\t0\t0\t0\n",
          "t:1: step 1 has gc 0 of stage 0, rank 0 twice", -EINVAL },
        { "0\t0\t0\t1\tgc\t9.9e11\t0\t0\t0\t0\t0\n", "the operations take no time", -EINVAL },
        { "0\t0\t0\t1\tgc\t0\t0\t0\t0\t0\t0\n", "the operations take no time", -EINVAL },
        { "0\t0\t0\t1\tgc\t0\t0\t0\t-1\t0\t0\r\n\n", "the operations take no time", -EINVAL },
        { "0\t0\t0\t1\tgc\t0\t0\t0\t0\t0\t0", "the operations take no time", -EINVAL },
        { "0\t0\t0\t1\tgc\t0\t0\t0\t0\t0\t0\t0\n", "t:2: 11 columns are wanted", -EINVAL },
        { "16384\t0\t0\t1\tgc\t0\t0\t0\t0\t0\t0\n", NO_NUMBER, -EINVAL },
        { "16383\t0\t0\t1\tgc\t0\t0\t0\t0\t0\t0\n",
          "t:1: steps differ: 1 rows for 1 steps of 1 operations on 16384 ranks", -EINVAL },
        { "0\t256\t0\t1\tgc\t0\t0\t0\t0\t0\t0\n", NO_NUMBER, -EINVAL },
        { "0\t0\t0\t1\tgc\t0\t0\t65536\t0\t0\t0\n", NO_NUMBER, -EINVAL },
        { "0\t0\t0\t1\tgc\t0\t0\t65535\t0\t0\t0\n",
          "t:1: steps differ: 1 rows for 1 steps of 65536 operations on 1 ranks", -EINVAL },
        { "0\t0\t0\t1\tgc\t0\t0\tx\t0\t0\t0\n", NO_NUMBER, -EINVAL },
        { "0\t0\t0\tx\tgc\t0\t0\t0\t0\t0\t0\n", NO_NUMBER, -EINVAL },
        { "0\tx\t0\t1\tgc\t0\t0\t0\t0\t0\t0\n", NO_NUMBER, -EINVAL },
        { "x\t0\t0\t1\tgc\t0\t0\t0\t0\t0\t0\n", NO_NUMBER, -EINVAL },
        { "0\t0\t0\t1\tgc\t1e12\t1\t0\t0\t0\t0\n", NO_TIME, -EINVAL },
        { "0\t0\t0\t1\tgc\t-1e12\t1\t0\t0\t0\t0\n", NO_TIME, -EINVAL },
        { "0\t0\t0\t1\tgc\t0\t1e9\t0\t0\t0\t0\n", NO_TIME, -EINVAL },
        { "0\t0\t0\t1\tgc\tx\t1\t0\t0\t0\t0\n", NO_TIME, -EINVAL },
        { "0\t0\t0\t1\tgc\t0\tx\t0\t0\t0\t0\n", NO_TIME, -EINVAL },
    };

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        CLEANUP(str_done) struct str text = STR_INIT(TEXT_MAX);
        struct straggler r;
        struct err e = { "" };

        str_add(&text, header);
        str_add(&text, bad[i].rows);
        is_int(judge_text(&text, &r, &e), bad[i].rc, "straggler_judge refuses bad trace %d",
               (int)i);
        is_str(e.text, bad[i].sentence, "the error explains what is wrong in bad trace %d", (int)i);
    }
}

/* A line of that length, and what is said of it. */
static void test_line(int length, char filled, const char *sentence)
{
    CLEANUP(str_done) struct str text = STR_INIT(TEXT_MAX);
    struct op_trace t;
    struct err e = { "" };

    str_add(&text, header);
    str_fill(&text, filled, length);
    str_add_char(&text, '\n');
    is_int(op_trace_load(&t, "t", str_text(&text), text.len, &e), -EINVAL,
           "op_trace_load refuses a line of %d bytes", length);
    is_str(e.text, sentence, "the error tells of a line of %d bytes", length);
}

static void test_lines(void)
{
    struct op_trace t;
    struct err e = { "" };

    test_line(511, 'x', "t:2: 11 columns are wanted");
    test_line(512, 'x', "t:2: no line of a trace");
    test_line(3, '\0', "t:2: no line of a trace");
    is_int(op_trace_load(&t, "t", "", 0, &e), -EINVAL, "op_trace_load refuses an empty text");
    is_str(e.text, "t:1: the columns are not those of a trace", "the error tells of the columns");
    is_int(op_trace_load(&t, "t", "dp\n", 3, &e), -EINVAL, "op_trace_load refuses other columns");
    is_str(e.text, "t:1: the columns are not those of a trace", "the error tells of other columns");
}

/* Lines as Windows ends them, the first one too. */
static void test_line_ends(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(TEXT_MAX), other = STR_INIT(TEXT_MAX);
    const struct made_trace m = {
        .n_dp = 4, .steps = 2, .batches = 3, .slow_dp = 1, .slow_stage = 1, .slow = 2
    };
    struct straggler r, same;
    struct err e = { "" };

    made_text(&text, &m);
    for (const char *at = str_text(&text); *at; at++) {
        if (*at == '\n')
            str_add_char(&other, '\r');
        str_add_char(&other, *at);
    }
    is_int(judge_text(&text, &r, &e), 0, "straggler_judge judges lines that end in LF: %s", e.text);
    is_int(judge_text(&other, &same, &e), 0, "straggler_judge judges lines that end in CRLF: %s",
           e.text);
    ok(r.actual_s == same.actual_s && r.ideal_s == same.ideal_s && r.class == same.class,
       "the ends of lines make no difference");
}

/* Each limit of a class, at it and just below. */
static void test_classes(void)
{
    const double nan = (double)NAN;
    static const double s = 1.1, most = 0.5, alike = 0.9;
    const struct {
        double slowdown, worker, stage, correlation;
        enum straggler_class want;
    } cases[] = {
        { s, 1, 0, 0, STRAGGLER_WORKER },
        { nextafter(s, 0), 1, 1, 1, STRAGGLER_NONE },
        { nan, 1, 1, 1, STRAGGLER_NONE },
        { 2, most, 1, 1, STRAGGLER_WORKER },
        { 2, nextafter(most, 0), 1, alike, STRAGGLER_LENGTHS },
        { 2, nan, 1, alike, STRAGGLER_LENGTHS },
        { 2, 0, most, nextafter(alike, 0), STRAGGLER_STAGE },
        { 2, 0, nextafter(most, 0), nextafter(alike, 0), STRAGGLER_SPREAD },
        { 2, nan, most, nan, STRAGGLER_STAGE },
        { 2, nan, nan, nan, STRAGGLER_SPREAD },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct straggler r = { .slowdown = cases[i].slowdown,
                                     .worker = cases[i].worker,
                                     .stage = cases[i].stage,
                                     .correlation = cases[i].correlation };

        is_int(straggler_classify(&r), cases[i].want,
               "a slowdown of %.17g, worker %.17g, stage %.17g, correlation %.17g has its class",
               r.slowdown, r.worker, r.stage, r.correlation);
    }
}

/* As many steps as there may be, and one more; times as long as they may be. */
static void test_most(void)
{
    for (unsigned more = 0; more < 2; more++) {
        CLEANUP(str_done) struct str text = STR_INIT(TEXT_MAX);
        struct straggler r;
        struct err e = { "" };

        str_add(&text, header);
        for (unsigned step = 0; step < TRACE_STEPS_MAX + more; step++)
            add_op(&text, 0, 0, step, "forward-compute", 0, 9.9e8, 0);
        is_int(judge_text(&text, &r, &e), more ? -EINVAL : 0, "a trace of %u steps is read, or not",
               TRACE_STEPS_MAX + more);
        if (!more)
            ok(fabs(r.actual_s / 9.9e8 - 1) < 1e-9 && fabs(r.slowdown - 1) < 1e-9,
               "equal steps have no slowdown");
    }
}

static void test_circle(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(TEXT_MAX);
    struct straggler r;
    struct err e = { "" };

    /* Each stage waits for what the other sends after it has received. */
    str_add(&text, header);
    add_op(&text, 0, 0, 1, "backward-compute", 0, 1, 0);
    add_op(&text, 0, 0, 1, "backward-recv", 0, 1, 0);
    add_op(&text, 0, 0, 1, "forward-compute", 1, 1, 0);
    add_op(&text, 0, 0, 1, "forward-send", 2, 1, 0);
    add_op(&text, 0, 1, 1, "forward-recv", 2, 1, 0);
    add_op(&text, 0, 1, 1, "forward-compute", 3, 1, 0);
    add_op(&text, 0, 1, 1, "backward-compute", 4, 1, 0);
    add_op(&text, 0, 1, 1, "backward-send", 5, 1, 0);
    is_int(judge_text(&text, &r, &e), -EINVAL, "straggler_judge refuses operations in a circle");
    is_str(e.text, "the operations wait for each other in a circle",
           "the error names the circle of operations");
}

static void test_oom(void)
{
    const struct made_trace m = { 2, 2, 2, 0, 0, 2, 0 };
    CLEANUP(str_done) struct str text = STR_INIT(TEXT_MAX);
    bool failed;
    int bad = 0, rc;

    made_text(&text, &m);
    oom_restart();
    do {
        struct straggler r;
        struct err e;

        oom_next();
        rc = judge_text(&text, &r, &e);
        failed = oom_end();
        bad += failed ? rc != -ENOMEM : rc != 0;
    } while (failed);
    is_int(bad, 0, "straggler_judge fails with -ENOMEM for each of %d allocations", oom_at - 1);
}

int main(int argc, char **argv)
{
    test_all_made();
    test_bad();
    test_lines();
    test_line_ends();
    test_classes();
    test_most();
    test_circle();
    test_public(others_folder(argc, argv));
    test_oom();
    return done();
}
