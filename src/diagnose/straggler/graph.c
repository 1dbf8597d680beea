/* What must be over before an operation can begin. A stage computes one operation at a time, in the
 * order of the trace; each kind of transfer is a stream of its own; collectives stand between the
 * last computation and the optimizer. */
#include "diagnose/straggler/graph.h"

#include <errno.h>

struct maker {
    struct op_graph *g;
    struct op_trace *t;
    struct arena scratch;
    unsigned *room;   /* for the operations of a stage */
    unsigned *left;   /* of a group: operations that it waits for */
    bool out_of_room; /* an operation would have more dependencies than there is room for */
};

/* Of rank 0 in the first step. */
static double begin_of(const struct op_trace *t, unsigned op)
{
    return t->begin[(size_t)op * t->n_dp];
}

static double end_of(const struct op_trace *t, unsigned op)
{
    return begin_of(t, op) + t->seconds[(size_t)op * t->n_dp];
}

static int nth(const struct op_trace *t, unsigned stage, enum op_type type, unsigned seq)
{
    const struct op_range *r = &t->ranges[stage][type];

    return seq < r->count ? (int)(r->first + seq) : OP_NONE;
}

static void depend(struct maker *m, int op, int on)
{
    int i = 0;

    if (op == OP_NONE || on == OP_NONE || op == on)
        return;
    while (i < OP_DEPS_MAX && m->g->deps[op][i] != OP_NONE && m->g->deps[op][i] != on)
        i++;
    if (i == OP_DEPS_MAX)
        m->out_of_room = true;
    else
        m->g->deps[op][i] = on;
}

/* Put operations in the order of their begins: few and nearly in order already. */
static void sort(const struct op_trace *t, unsigned *ops, unsigned n)
{
    for (unsigned i = 1; i < n; i++)
        for (unsigned k = i; k > 0 && begin_of(t, ops[k]) < begin_of(t, ops[k - 1]); k--) {
            unsigned swap = ops[k];

            ops[k] = ops[k - 1];
            ops[k - 1] = swap;
        }
}

static unsigned add_range(const struct op_trace *t, unsigned stage, enum op_type type,
                          unsigned *ops, unsigned n)
{
    const struct op_range *r = &t->ranges[stage][type];

    for (unsigned i = 0; i < r->count; i++)
        ops[n++] = r->first + i;
    return n;
}

static void chain(struct maker *m, const unsigned *ops, unsigned n)
{
    for (unsigned i = 1; i < n; i++)
        depend(m, (int)ops[i], (int)ops[i - 1]);
}

/* A chain of the operations of up to two kinds, by time. Returns how many are in m->room. */
static unsigned chain_of(struct maker *m, unsigned stage, enum op_type a, enum op_type b)
{
    unsigned n = add_range(m->t, stage, a, m->room, 0);

    if (b != a)
        n = add_range(m->t, stage, b, m->room, n);
    sort(m->t, m->room, n);
    chain(m, m->room, n);
    return n;
}

/* Transfers to and from the computations of the same number. What receives the first gradients is
 * posted two computations before they are used. */
static void link_transfers(struct maker *m, unsigned s, enum op_type compute, enum op_type send,
                           enum op_type recv)
{
    for (unsigned i = 0; i < m->t->ranges[s][compute].count; i++) {
        int op = nth(m->t, s, compute, i), in = nth(m->t, s, recv, i);

        depend(m, nth(m->t, s, send, i), op);
        depend(m, op, in);
        if (i)
            depend(m, in, nth(m->t, s, compute, i - 1));
    }
    chain_of(m, s, send, send);
    chain_of(m, s, recv, recv);
}

/* The computations, in m->room, with what stands before the first and behind the last of them. */
static int link_computing(struct maker *m, unsigned s)
{
    unsigned n = chain_of(m, s, OP_FORWARD, OP_BACKWARD), back = 0;
    int last;

    if (!n)
        return OP_NONE;
    while (back < n && m->t->ops[m->room[back]].type != OP_BACKWARD)
        back++;
    if (back >= 2 && back < n) {
        depend(m, nth(m->t, s, OP_BACKWARD_RECV, 0), (int)m->room[back - 2]);
        depend(m, nth(m->t, s, OP_BACKWARD_SEND, 0), (int)m->room[back - 2]);
    }
    if (back)
        depend(m, (int)m->room[0], nth(m->t, s, OP_PARAMS_GATHER, 0));
    last = (int)m->room[0];
    for (unsigned i = 1; i < n; i++)
        if (end_of(m->t, m->room[i]) > end_of(m->t, (unsigned)last))
            last = (int)m->room[i];
    return last;
}

/* From the last computation to the optimizer. */
static void link_end(struct maker *m, unsigned s, int last)
{
    static const enum op_type order[] = {
        OP_GC, OP_LAYERNORM_REDUCE, OP_EMBEDDING_REDUCE, OP_GRADS_SCATTER, OP_CLIP, OP_OPTIMIZER
    };

    for (size_t i = 0; i < ARRAY_SIZE(order); i++)
        for (unsigned k = 0; k < m->t->ranges[s][order[i]].count; k++) {
            int op = nth(m->t, s, order[i], k);

            depend(m, op, last);
            last = op;
        }
}

/* ---- groups ---- */

static void add_group(struct maker *m, bool all_ranks, bool waits)
{
    struct op_graph *g = m->g;
    unsigned first = g->n_groups
                         ? g->groups[g->n_groups - 1].first + g->groups[g->n_groups - 1].count
                         : 0;

    g->groups[g->n_groups++] = (struct op_group){ first, 0, all_ranks, waits };
}

static void add_member(struct maker *m, int op)
{
    struct op_group *k = &m->g->groups[m->g->n_groups - 1];

    if (op == OP_NONE)
        return;
    m->g->members[k->first + k->count++] = (unsigned)op;
    m->g->group_of[op] = m->g->n_groups - 1;
}

static bool is_receive(enum op_type t)
{
    return t == OP_FORWARD_RECV || t == OP_BACKWARD_RECV;
}

/* The other end of a transfer; OP_NONE. */
static int peer_of(const struct op_trace *t, const struct op_info *o)
{
    switch (o->type) {
    case OP_FORWARD_SEND:
        return o->stage + 1 < t->n_stages ? nth(t, o->stage + 1, OP_FORWARD_RECV, o->seq) : OP_NONE;
    case OP_BACKWARD_SEND:
        return o->stage > 0 ? nth(t, o->stage - 1, OP_BACKWARD_RECV, o->seq) : OP_NONE;
    case OP_FORWARD_RECV:
        return o->stage > 0 ? nth(t, o->stage - 1, OP_FORWARD_SEND, o->seq) : OP_NONE;
    case OP_BACKWARD_RECV:
        return o->stage + 1 < t->n_stages ? nth(t, o->stage + 1, OP_BACKWARD_SEND, o->seq)
                                          : OP_NONE;
    default:
        return OP_NONE;
    }
}

/* The same operation of all stages, or of the first and the last one. */
static void group_stages(struct maker *m, const struct op_info *o)
{
    if (o->stage)
        return; /* it is in the group of stage 0 */
    add_group(m, o->type == OP_CLIP, true);
    for (unsigned s = 0; s < m->t->n_stages; s++)
        if (o->type == OP_CLIP || s == 0 || s == m->t->n_stages - 1)
            add_member(m, nth(m->t, s, o->type, o->seq));
}

static void make_groups(struct maker *m)
{
    for (unsigned op = 0; op < m->t->n_ops; op++) {
        const struct op_info *o = &m->t->ops[op];
        bool sync = o->type == OP_PARAMS_GATHER || o->type == OP_GRADS_SCATTER;
        int peer = peer_of(m->t, o);

        if (peer != OP_NONE && is_receive(o->type))
            continue; /* it is in the group of what sends */
        if ((o->type == OP_CLIP || o->type == OP_EMBEDDING_REDUCE) &&
            nth(m->t, 0, o->type, o->seq) != OP_NONE &&
            (o->type == OP_CLIP || o->stage == 0 || o->stage == m->t->n_stages - 1)) {
            group_stages(m, o);
            continue;
        }
        add_group(m, sync,
                  sync || (o->type >= OP_FORWARD_SEND && o->type <= OP_BACKWARD_RECV) ||
                      o->type == OP_CLIP || o->type == OP_EMBEDDING_REDUCE);
        add_member(m, (int)op);
        add_member(m, peer);
    }
}

/* ---- order ---- */

/* How many dependencies on other groups a group has left. */
static void count_left(struct maker *m)
{
    for (unsigned op = 0; op < m->t->n_ops; op++)
        for (int i = 0; i < OP_DEPS_MAX && m->g->deps[op][i] != OP_NONE; i++)
            m->left[m->g->group_of[op]]++;
}

/* The operations that depend on each one, as lists: next[first[op] ... first[op + 1]). */
struct followers {
    unsigned *first, *next;
};

static int find_followers(struct maker *m, struct followers *f)
{
    unsigned n = m->t->n_ops, *at;

    f->first = arena_alloc(&m->scratch, (n + 2) * sizeof(*f->first));
    f->next = arena_alloc(&m->scratch, (size_t)n * OP_DEPS_MAX * sizeof(*f->next));
    at = arena_alloc(&m->scratch, (n + 1) * sizeof(*at));
    if (!f->first || !f->next || !at)
        return -ENOMEM;
    for (unsigned op = 0; op < n; op++)
        for (int i = 0; i < OP_DEPS_MAX && m->g->deps[op][i] != OP_NONE; i++)
            f->first[m->g->deps[op][i] + 1]++;
    for (unsigned op = 0; op < n; op++) {
        f->first[op + 1] += f->first[op];
        at[op] = f->first[op];
    }
    for (unsigned op = 0; op < n; op++)
        for (int i = 0; i < OP_DEPS_MAX && m->g->deps[op][i] != OP_NONE; i++)
            f->next[at[m->g->deps[op][i]]++] = op;
    return 0;
}

/* Bring the groups into an order in which each stands behind what it waits for. */
static int order_groups(struct maker *m, struct err *e)
{
    struct op_graph *g = m->g;
    struct op_group *sorted = arena_alloc(&m->t->arena, g->n_groups * sizeof(*sorted));
    unsigned *queue = arena_alloc(&m->scratch, g->n_groups * sizeof(*queue));
    struct followers f;
    unsigned begin = 0, end = 0;

    if (!sorted || !queue || find_followers(m, &f) < 0)
        return err_nomem(e);
    count_left(m);
    for (unsigned i = 0; i < g->n_groups; i++)
        if (!m->left[i])
            queue[end++] = i;
    for (; begin < end; begin++) {
        const struct op_group *k = &g->groups[queue[begin]];

        sorted[begin] = *k;
        for (unsigned i = k->first; i < k->first + k->count; i++)
            for (unsigned n = f.first[g->members[i]]; n < f.first[g->members[i] + 1]; n++)
                if (--m->left[g->group_of[f.next[n]]] == 0)
                    queue[end++] = g->group_of[f.next[n]];
    }
    if (end < g->n_groups)
        return err_set(e, -EINVAL, "the operations wait for each other in a circle");
    g->groups = sorted;
    return 0;
}

static int make(struct maker *m, struct err *e)
{
    struct op_graph *g = m->g;
    size_t n = m->t->n_ops;

    g->deps = arena_alloc(&m->t->arena, n * sizeof(*g->deps));
    g->members = arena_alloc(&m->t->arena, n * sizeof(*g->members));
    g->group_of = arena_alloc(&m->t->arena, n * sizeof(*g->group_of));
    g->groups = arena_alloc(&m->scratch, n * sizeof(*g->groups));
    m->room = arena_alloc(&m->scratch, n * sizeof(*m->room));
    m->left = arena_alloc(&m->scratch, n * sizeof(*m->left));
    if (!g->deps || !g->members || !g->group_of || !g->groups || !m->room || !m->left)
        return err_nomem(e);
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < OP_DEPS_MAX; k++)
            g->deps[i][k] = OP_NONE;
    for (unsigned s = 0; s < m->t->n_stages; s++) {
        link_transfers(m, s, OP_FORWARD, OP_FORWARD_SEND, OP_FORWARD_RECV);
        link_transfers(m, s, OP_BACKWARD, OP_BACKWARD_SEND, OP_BACKWARD_RECV);
        chain_of(m, s, OP_PARAMS_GATHER, OP_GRADS_SCATTER);
        link_end(m, s, link_computing(m, s));
    }
    if (m->out_of_room)
        return err_set(e, -EINVAL, "an operation waits for more than %d others", OP_DEPS_MAX);
    make_groups(m);
    return order_groups(m, e);
}

int op_graph_make(struct op_graph *g, struct op_trace *t, struct err *e)
{
    struct maker m = { .g = g, .t = t };
    int rc;

    *g = (struct op_graph){ .n_groups = 0 };
    rc = make(&m, e);
    arena_done(&m.scratch);
    return rc;
}
