/* Made traces of pipelines of several shapes: what waits for what, what ends together, in which
 * order, and all figures that are made of it.
 *
 *     t_diagnose_straggler_whole FILE */
#include "base/str.h"
#include "diagnose/straggler/graph.h"
#include "golden.h"

enum { ROOM = 4 << 20 };

struct shape {
    unsigned n_dp, stages, steps, batches;
    bool rounds; /* each forward is followed by its backward, where a stage has it */
    bool ends;   /* collectives, the optimizer and the collector */
    unsigned slow_dp, slow_stage;
    double slow;
    unsigned seed;
};

/* A number from 1 to 2, another one each time; the same in each run. */
static double chance(unsigned *seed)
{
    *seed = *seed * 1103515245U + 12345U;
    return 1 + (double)(*seed >> 16 & 0x3ff) / 1024;
}

static void add_op(struct str *out, unsigned dp, unsigned stage, unsigned step, const char *type,
                   double begin, double seconds, unsigned seq)
{
    str_addf(out, "%u\t%u\t%u\t%u\t%s\t%.9g\t%.9g\t%u\t0\t%u\t0\n", dp, stage, dp, step + 7, type,
             begin, seconds, seq, seq);
}

/* What one worker does in one step, from 'at' on; the others' times are as good as its own. */
static double add_worker(struct str *out, const struct shape *s, unsigned dp, unsigned stage,
                         unsigned step, unsigned *seed)
{
    double at = 0.5 * stage, x = dp == s->slow_dp && stage == s->slow_stage ? s->slow : 1;

    if (s->ends)
        add_op(out, dp, stage, step, "params-all-gather", at - 0.3, 0.2 * chance(seed), 0);
    for (unsigned i = 0; i < 2 * s->batches; i++) {
        unsigned batch = s->rounds ? i / 2 : i % s->batches;
        bool back = s->rounds ? i % 2 : i >= s->batches;
        bool sends = back ? stage > 0 : stage + 1 < s->stages;
        bool takes = back ? stage + 1 < s->stages : stage > 0;
        double seconds = x * (back ? 2 : 1) * chance(seed);

        if (takes)
            add_op(out, dp, stage, step, back ? "backward-recv" : "forward-recv", at - 0.05,
                   0.05 * chance(seed), batch);
        add_op(out, dp, stage, step, back ? "backward-compute" : "forward-compute", at, seconds,
               batch);
        at += seconds;
        if (sends)
            add_op(out, dp, stage, step, back ? "backward-send" : "forward-send", at,
                   0.05 * chance(seed), batch);
        at += 0.01;
    }
    return at;
}

static void add_end(struct str *out, const struct shape *s, unsigned dp, unsigned stage,
                    unsigned step, double at, unsigned *seed)
{
    static const char *const types[] = { "gc",
                                         "layernorm-grads-all-reduce",
                                         "embedding-grads-all-reduce",
                                         "grads-reduce-scatter",
                                         "optimizer-clip-main-grad",
                                         "optimizer" };

    for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
        double seconds = 0.1 * (double)(i + 1) * chance(seed);

        if (i == 2 && stage > 0 && stage + 1 < s->stages)
            continue;
        add_op(out, dp, stage, step, types[i], at, seconds, 0);
        at += seconds;
    }
    add_op(out, dp, stage, step, "gc", at, 0.03, 1);
}

static void add_trace(struct str *out, const struct shape *s)
{
    unsigned seed = s->seed;

    str_add(out,
            "dp_rank\tstage\trank\tstep\toptype\tstart_ts\tduration\tseq_id\tmc\tmb_id\tgmc\n");
    for (unsigned step = 0; step < s->steps; step++)
        for (unsigned dp = 0; dp < s->n_dp; dp++)
            for (unsigned stage = 0; stage < s->stages; stage++) {
                double at = add_worker(out, s, dp, stage, step, &seed);

                if (s->ends)
                    add_end(out, s, dp, stage, step, at, &seed);
            }
}

static void name_op(struct str *out, const struct op_trace *t, unsigned op)
{
    str_addf(out, "%u.%s.%u", t->ops[op].stage, op_type_name(t->ops[op].type), t->ops[op].seq);
}

static void add_graph(struct str *out, const struct op_trace *t, const struct op_graph *g)
{
    for (unsigned op = 0; op < t->n_ops; op++) {
        str_add(out, "  ");
        name_op(out, t, op);
        str_add(out, " after");
        for (int i = 0; i < OP_DEPS_MAX && g->deps[op][i] != OP_NONE; i++) {
            str_add_char(out, ' ');
            name_op(out, t, (unsigned)g->deps[op][i]);
        }
        str_add_char(out, '\n');
    }
    for (unsigned i = 0; i < g->n_groups; i++) {
        const struct op_group *k = &g->groups[i];

        str_addf(out, "  group%s%s:", k->all_ranks ? " of all ranks" : "",
                 k->waits ? " that waits" : "");
        for (unsigned n = k->first; n < k->first + k->count; n++) {
            str_add_char(out, ' ');
            name_op(out, t, g->members[n]);
        }
        str_add_char(out, '\n');
    }
}

static void add_judged(struct str *out, const struct op_trace *t, const struct straggler *r)
{
    static const char *const classes[] = { "none", "worker", "stage", "lengths", "spread" };

    str_addf(out,
             "  S %.6g of %.6g and %.6g, worker %.6g, stage %.6g, correlation %.6g: %s, the worst "
             "is rank %u of stage %u\n  by kind",
             r->slowdown, r->actual_s, r->ideal_s, r->worker, r->stage, r->correlation,
             classes[r->class], r->worst_dp, r->worst_stage);
    for (unsigned i = 0; i < OP_TYPES; i++)
        str_addf(out, " %.6g", r->by_type[i]);
    str_add(out, "\n  by stage");
    for (unsigned i = 0; i < t->n_stages; i++)
        str_addf(out, " %.6g", r->by_stage[i]);
    str_add(out, "\n  by rank");
    for (unsigned i = 0; i < t->n_dp; i++)
        str_addf(out, " %.6g", r->by_dp[i]);
    str_add_char(out, '\n');
}

static void add_shape(struct str *out, const struct shape *s)
{
    CLEANUP(str_done) struct str text = STR_INIT(ROOM);
    CLEANUP(op_trace_done) struct op_trace t = { .n_dp = 0 };
    struct op_graph g;
    struct straggler r;
    struct err e = { "" };

    add_trace(&text, s);
    str_addf(out, "%u x %u, %u steps of %u%s%s, rank %u of stage %u is %g times as slow\n", s->n_dp,
             s->stages, s->steps, s->batches, s->rounds ? ", in rounds" : "",
             s->ends ? ", with ends" : "", s->slow_dp, s->slow_stage, s->slow);
    if (op_trace_load(&t, "t", str_text(&text), text.len, &e) != 0 ||
        op_graph_make(&g, &t, &e) != 0) {
        str_addf(out, "  %s\n", e.text);
        return;
    }
    str_addf(out, "  %u ranks, %u stages, %u steps, %u operations\n", t.n_dp, t.n_stages, t.n_steps,
             t.n_ops);
    if (s->steps == 1 && s->n_dp == 1)
        add_graph(out, &t, &g);
    if (straggler_judge(&t, &r, &e) != 0)
        str_addf(out, "  %s\n", e.text);
    else
        add_judged(out, &t, &r);
}

int main(int argc, char **argv)
{
    static const struct shape shapes[] = {
        { 1, 1, 1, 1, false, false, 0, 0, 1, 1 },  { 1, 1, 1, 3, false, true, 0, 0, 1, 2 },
        { 1, 2, 1, 1, false, true, 0, 0, 1, 3 },   { 1, 2, 1, 3, true, true, 0, 0, 1, 4 },
        { 1, 3, 1, 3, false, true, 0, 0, 1, 5 },   { 1, 4, 1, 2, true, false, 0, 0, 1, 6 },
        { 3, 2, 3, 4, false, true, 1, 1, 3, 7 },   { 3, 2, 3, 4, true, true, 2, 0, 1.3, 8 },
        { 4, 1, 2, 3, false, true, 3, 0, 1.8, 9 }, { 2, 4, 2, 4, false, true, 0, 3, 6, 10 },
        { 34, 1, 2, 2, false, true, 5, 0, 4, 11 }, { 17, 4, 1, 2, true, true, 5, 3, 9, 12 },
        { 2, 3, 4, 2, false, false, 0, 2, 2, 13 }, { 1, 3, 3, 2, false, true, 0, 2, 8, 14 },
    };
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);

    if (argc < 2)
        return 1;
    for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
        add_shape(&out, &shapes[i]);
    is_int(str_error(&out), 0, "the text of all shapes has room");
    golden(argv[1], str_text(&out));
    return done();
}
