#include "sched/core/waiting.h"

#include <errno.h>

int waiting_init(struct waiting *q, struct arena *a, size_t n_jobs, size_t n_groups)
{
    q->nodes = arena_alloc(a, n_jobs * sizeof(*q->nodes));
    q->roots = arena_alloc(a, n_groups * sizeof(*q->roots));
    if (!q->nodes || !q->roots)
        return -ENOMEM;
    for (size_t i = 0; i < n_groups; i++)
        q->roots[i] = WAITING_NONE;
    return 0;
}

/* Who is nearer to the root: by chance, which hangs on the number alone, so that it repeats. */
static uint32_t height(uint32_t job)
{
    uint64_t hash = (job + 1) * 0x9e3779b97f4a7c15ULL;

    return (uint32_t)((hash ^ hash >> 31) >> 16);
}

static int64_t shortest(const struct waiting *q, uint32_t job)
{
    return job == WAITING_NONE ? INT64_MAX : q->nodes[job].shortest;
}

static uint32_t size(const struct waiting *q, uint32_t job)
{
    return job == WAITING_NONE ? 0 : q->nodes[job].size;
}

static void settle(struct waiting *q, uint32_t job)
{
    struct waiting_node *n = &q->nodes[job];
    int64_t left = shortest(q, n->left), right = shortest(q, n->right);

    n->shortest = MIN(n->length, MIN(left, right));
    n->size = 1 + size(q, n->left) + size(q, n->right);
}

/* Part the jobs below 'at' into those before a key and the others. */
static void part(struct waiting *q, uint32_t at, const struct order_key *key, uint32_t *before,
                 uint32_t *others)
{
    struct waiting_node *n;

    if (at == WAITING_NONE) {
        *before = *others = WAITING_NONE;
        return;
    }
    n = &q->nodes[at];
    if (order_compare(&n->key, key) < 0) {
        part(q, n->right, key, &n->right, others);
        *before = at;
    } else {
        part(q, n->left, key, before, &n->left);
        *others = at;
    }
    settle(q, at);
}

/* Join two, where all of a are before all of b. */
static uint32_t join(struct waiting *q, uint32_t a, uint32_t b)
{
    if (a == WAITING_NONE)
        return b;
    if (b == WAITING_NONE)
        return a;
    if (height(a) > height(b)) {
        q->nodes[a].right = join(q, q->nodes[a].right, b);
        settle(q, a);
        return a;
    }
    q->nodes[b].left = join(q, a, q->nodes[b].left);
    settle(q, b);
    return b;
}

static uint32_t add(struct waiting *q, uint32_t at, uint32_t job)
{
    struct waiting_node *n = &q->nodes[job], *here;

    if (at == WAITING_NONE || height(job) > height(at)) {
        part(q, at, &n->key, &n->left, &n->right);
        settle(q, job);
        return job;
    }
    here = &q->nodes[at];
    if (order_compare(&n->key, &here->key) < 0)
        here->left = add(q, here->left, job);
    else
        here->right = add(q, here->right, job);
    settle(q, at);
    return at;
}

void waiting_add(struct waiting *q, uint32_t group, uint32_t job, const struct order_key *key,
                 int64_t length)
{
    q->nodes[job] = (struct waiting_node){ *key, length, length, WAITING_NONE, WAITING_NONE, 1 };
    q->roots[group] = add(q, q->roots[group], job);
}

static uint32_t take(struct waiting *q, uint32_t at, uint32_t job)
{
    struct waiting_node *n = &q->nodes[at];

    if (at == job)
        return join(q, n->left, n->right);
    if (order_compare(&q->nodes[job].key, &n->key) < 0)
        n->left = take(q, n->left, job);
    else
        n->right = take(q, n->right, job);
    settle(q, at);
    return at;
}

void waiting_remove(struct waiting *q, uint32_t group, uint32_t job)
{
    q->roots[group] = take(q, q->roots[group], job);
}

static uint32_t find(const struct waiting *q, uint32_t at, const struct order_key *after,
                     int64_t longest)
{
    while (at != WAITING_NONE && q->nodes[at].shortest <= longest) {
        const struct waiting_node *n = &q->nodes[at];

        if (!after || order_compare(after, &n->key) < 0) {
            uint32_t found = find(q, n->left, after, longest);

            if (found != WAITING_NONE)
                return found;
            if (n->length <= longest)
                return at;
            after = NULL; /* all that follow are behind it */
        }
        at = n->right;
    }
    return WAITING_NONE;
}

uint32_t waiting_next(const struct waiting *q, uint32_t group, const struct order_key *after,
                      int64_t longest)
{
    return find(q, q->roots[group], after, longest);
}

uint32_t waiting_before(const struct waiting *q, uint32_t group, const struct order_key *key)
{
    uint32_t at = q->roots[group], n = 0;

    while (at != WAITING_NONE) {
        const struct waiting_node *x = &q->nodes[at];

        if (order_compare(&x->key, key) < 0) {
            n += 1 + size(q, x->left);
            at = x->right;
        } else {
            at = x->left;
        }
    }
    return n;
}
