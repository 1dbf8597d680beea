#include "diagnose/straggler/straggler.h"

#include <errno.h>
#include <math.h>

#include "diagnose/straggler/graph.h"
#include "model/signal/sorted.h"

static const double worst_workers = 0.03; /* of all: as in the paper */
static const double most = 0.5;           /* of the loss: it is the cause */
static const double lengths = 0.9;        /* correlation: as in the paper */
static const double slow_least = 1.1;     /* S: as in the paper */

/* Which operations take the time they took; all others take that of their kind. */
struct choice {
    int dp, stage, type; /* -1: any */
    const bool *workers; /* instead of the above: these, by stage and rank; NULL */
    bool inverse;        /* all but these */
};

struct simulator {
    struct op_trace *t;
    struct op_graph g;
    struct arena scratch;
    double *actual; /* seconds of each cell; of communication without waiting for the others */
    double ideal[OP_TYPES];
    double *end; /* of each operation and rank, in the step that runs */
};

/* ---- how long operations take ---- */

/* When the last of a group began, for one rank. */
static double last_begin(const struct simulator *s, const struct op_group *k, size_t step,
                         unsigned dp)
{
    double last = -(double)INFINITY;

    for (unsigned i = k->first; i < k->first + k->count; i++)
        last = fmax(last, s->t->begin[(step * s->t->n_ops + s->g.members[i]) * s->t->n_dp + dp]);
    return last;
}

static void measure_group(struct simulator *s, const struct op_group *k, size_t step)
{
    unsigned n_dp = s->t->n_dp;
    double last = -(double)INFINITY;

    for (unsigned dp = 0; k->all_ranks && dp < n_dp; dp++)
        last = fmax(last, last_begin(s, k, step, dp));
    for (unsigned dp = 0; dp < n_dp; dp++) {
        double begin = k->all_ranks ? last : last_begin(s, k, step, dp);

        for (unsigned i = k->first; i < k->first + k->count; i++) {
            size_t cell = (step * s->t->n_ops + s->g.members[i]) * n_dp + dp;
            double end = s->t->begin[cell] + s->t->seconds[cell];

            s->actual[cell] = k->waits ? fmax(0, end - begin) : s->t->seconds[cell];
        }
    }
}

static bool is_computing(enum op_type t)
{
    return t == OP_FORWARD || t == OP_BACKWARD || t == OP_OPTIMIZER || t == OP_GC;
}

/* The time of a kind: the mean of what computes, the median of what communicates. */
static double ideal_of(const struct simulator *s, enum op_type type, double *room)
{
    const struct op_trace *t = s->t;
    size_t n = 0;
    double sum = 0;

    for (size_t step = 0; step < t->n_steps; step++)
        for (unsigned op = 0; op < t->n_ops; op++)
            for (unsigned dp = 0; t->ops[op].type == type && dp < t->n_dp; dp++) {
                room[n] = s->actual[(step * t->n_ops + op) * t->n_dp + dp];
                sum += room[n++];
            }
    if (!n)
        return 0;
    return is_computing(type) ? sum / (double)n : sorted_median(room, n);
}

static int measure(struct simulator *s)
{
    size_t cells = op_trace_cells(s->t);
    double *room = arena_alloc(&s->scratch, cells * sizeof(*room));

    s->actual = arena_alloc(&s->scratch, cells * sizeof(*s->actual));
    s->end = arena_alloc(&s->scratch, (size_t)s->t->n_ops * s->t->n_dp * sizeof(*s->end));
    if (!room || !s->actual || !s->end)
        return -ENOMEM;
    for (size_t step = 0; step < s->t->n_steps; step++)
        for (unsigned i = 0; i < s->g.n_groups; i++)
            measure_group(s, &s->g.groups[i], step);
    for (unsigned type = 0; type < OP_TYPES; type++)
        s->ideal[type] = ideal_of(s, type, room);
    return 0;
}

/* ---- what would have been ---- */

static bool is_chosen(const struct simulator *s, const struct choice *c, const struct op_info *o,
                      unsigned dp)
{
    bool yes;

    if (c->workers)
        yes = c->workers[(size_t)o->stage * s->t->n_dp + dp];
    else
        yes = (c->dp < 0 || c->dp == (int)dp) && (c->stage < 0 || c->stage == (int)o->stage) &&
              (c->type < 0 || c->type == (int)o->type);
    return yes != c->inverse;
}

/* When an operation of one rank can begin. */
static double ready(const struct simulator *s, unsigned op, unsigned dp)
{
    double at = 0;

    for (int i = 0; i < OP_DEPS_MAX && s->g.deps[op][i] != OP_NONE; i++)
        at = fmax(at, s->end[(size_t)s->g.deps[op][i] * s->t->n_dp + dp]);
    return at;
}

static double group_ready(const struct simulator *s, const struct op_group *k, unsigned dp)
{
    double at = 0;

    for (unsigned i = k->first; i < k->first + k->count; i++)
        at = fmax(at, ready(s, s->g.members[i], dp));
    return at;
}

static void run_group(struct simulator *s, const struct op_group *k, const struct choice *c,
                      size_t step)
{
    unsigned n_dp = s->t->n_dp;
    double all = 0;

    for (unsigned dp = 0; k->all_ranks && dp < n_dp; dp++)
        all = fmax(all, group_ready(s, k, dp));
    for (unsigned dp = 0; dp < n_dp; dp++) {
        double begin = k->all_ranks ? all : group_ready(s, k, dp);

        for (unsigned i = k->first; i < k->first + k->count; i++) {
            unsigned op = s->g.members[i];
            const struct op_info *o = &s->t->ops[op];
            size_t cell = (step * s->t->n_ops + op) * n_dp + dp;

            s->end[(size_t)op * n_dp + dp] = begin + (is_chosen(s, c, o, dp) ? s->actual[cell]
                                                                             : s->ideal[o->type]);
        }
    }
}

/* Mean time of a step. */
static double simulate(struct simulator *s, const struct choice *c)
{
    double total = 0;

    for (size_t step = 0; step < s->t->n_steps; step++) {
        double longest = 0;

        for (unsigned i = 0; i < s->g.n_groups; i++)
            run_group(s, &s->g.groups[i], c, step);
        for (size_t i = 0; i < (size_t)s->t->n_ops * s->t->n_dp; i++)
            longest = fmax(longest, s->end[i]);
        total += longest;
    }
    return total / s->t->n_steps;
}

static const struct choice all = { -1, -1, -1, NULL, false };
static const struct choice none = { -1, -1, -1, NULL, true };

/* ---- who it is ---- */

static void decompose(struct simulator *s, struct straggler *r)
{
    struct choice c = all;

    for (c.type = 0; c.type < OP_TYPES; c.type++)
        r->by_type[c.type] = simulate(s, &c) / r->ideal_s;
    c = all;
    for (c.stage = 0; c.stage < (int)s->t->n_stages; c.stage++)
        r->by_stage[c.stage] = simulate(s, &c) / r->ideal_s;
    c = all;
    for (c.dp = 0; c.dp < (int)s->t->n_dp; c.dp++)
        r->by_dp[c.dp] = simulate(s, &c) / r->ideal_s;
}

/* A worker is as slow as the less slow one of its stage and its rank. */
static double score(const struct straggler *r, unsigned stage, unsigned dp)
{
    return fmin(r->by_stage[stage], r->by_dp[dp]);
}

/* Mark the slowest workers, one after the other. */
static void choose_workers(const struct simulator *s, struct straggler *r, bool *chosen)
{
    unsigned n_dp = s->t->n_dp, workers = n_dp * s->t->n_stages;
    unsigned wanted = (unsigned)ceil(worst_workers * workers - 1e-9);

    for (unsigned i = 0; i < wanted; i++) {
        unsigned best = workers;

        for (unsigned k = 0; k < workers; k++)
            if (!chosen[k] && (best == workers ||
                               score(r, k / n_dp, k % n_dp) > score(r, best / n_dp, best % n_dp)))
                best = k;
        chosen[best] = true;
        if (i == 0) {
            r->worst_stage = best / n_dp;
            r->worst_dp = best % n_dp;
        }
    }
}

/* Share of the loss that is gone when what is chosen takes the time of its kind. */
static double explained(struct simulator *s, const struct straggler *r, struct choice c)
{
    double lost = r->actual_s - r->ideal_s;

    c.inverse = true;
    return lost > 1e-6 * r->ideal_s ? (r->actual_s - simulate(s, &c)) / lost : (double)NAN;
}

/* How forward and backward times of the same micro-batch go together, within each worker. */
static double correlate(const struct simulator *s)
{
    const struct op_trace *t = s->t;
    double xy = 0, xx = 0, yy = 0;

    for (unsigned w = 0; w < t->n_stages * t->n_dp; w++) {
        const struct op_range *f = &t->ranges[w / t->n_dp][OP_FORWARD];
        const struct op_range *b = &t->ranges[w / t->n_dp][OP_BACKWARD];
        size_t n = (size_t)t->n_steps * MIN(f->count, b->count);
        double x = 0, y = 0, sxy = 0, sxx = 0, syy = 0;

        for (size_t i = 0; i < n; i++) {
            size_t step = i / MIN(f->count, b->count), seq = i % MIN(f->count, b->count);
            double p = s->actual[(step * t->n_ops + f->first + seq) * t->n_dp + w % t->n_dp];
            double q = s->actual[(step * t->n_ops + b->first + seq) * t->n_dp + w % t->n_dp];

            x += p;
            y += q;
            sxy += p * q;
            sxx += p * p;
            syy += q * q;
        }
        if (!n)
            continue;
        xy += sxy - x * y / (double)n;
        xx += sxx - x * x / (double)n;
        yy += syy - y * y / (double)n;
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : (double)NAN;
}

enum straggler_class straggler_classify(const struct straggler *r)
{
    if (!(r->slowdown >= slow_least))
        return STRAGGLER_NONE;
    if (r->worker >= most)
        return STRAGGLER_WORKER;
    if (r->correlation >= lengths)
        return STRAGGLER_LENGTHS;
    return r->stage >= most ? STRAGGLER_STAGE : STRAGGLER_SPREAD;
}

static int judge(struct simulator *s, struct straggler *r, struct err *e)
{
    struct choice c = all;
    bool *chosen;
    int rc = op_graph_make(&s->g, s->t, e);

    if (rc < 0)
        return rc;
    r->by_dp = arena_alloc(&s->t->arena, s->t->n_dp * sizeof(*r->by_dp));
    chosen = arena_alloc(&s->scratch, (size_t)s->t->n_dp * s->t->n_stages * sizeof(*chosen));
    if (!r->by_dp || !chosen || measure(s) < 0)
        return err_nomem(e);
    r->actual_s = simulate(s, &all);
    r->ideal_s = simulate(s, &none);
    if (!(r->ideal_s > 0))
        return err_set(e, -EINVAL, "the operations take no time");
    r->slowdown = r->actual_s / r->ideal_s;
    decompose(s, r);
    choose_workers(s, r, chosen);
    c.workers = chosen;
    r->worker = explained(s, r, c);
    c = all;
    c.stage = (int)s->t->n_stages - 1;
    r->stage = explained(s, r, c);
    r->correlation = correlate(s);
    r->class = straggler_classify(r);
    return 0;
}

int straggler_judge(struct op_trace *t, struct straggler *ret, struct err *e)
{
    struct simulator s = { .t = t };
    struct straggler r = { .slowdown = (double)NAN };
    int rc = judge(&s, &r, e);

    arena_done(&s.scratch);
    if (rc == 0)
        *ret = r;
    return rc;
}
