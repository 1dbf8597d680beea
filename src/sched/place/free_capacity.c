#include "sched/place/free_capacity.h"

#include <assert.h>
#include <errno.h>

/* All of a node is free. */
static void open_node(struct free_capacity *r, uint32_t node)
{
    const struct pool_node *from = &r->pool->nodes[node];
    struct free_capacity_node *n = &r->nodes[node];

    n->memory_mib = from->memory_mib ? from->memory_mib : INT64_MAX / 2;
    n->cpus_milli = from->cpus_milli ? from->cpus_milli : INT32_MAX / 2;
    n->whole = (uint16_t)((1U << from->devices) - 1);
    n->n_whole = from->devices;
    for (int d = 0; d < from->devices; d++)
        n->left[d] = WORK_WHOLE;
    n->version++;
    r->wholes[node] = n->n_whole;
    bits_add(&r->level[n->n_whole], node);
}

int free_capacity_init(struct free_capacity *r, const struct pool *pool)
{
    *r = (struct free_capacity){ .pool = pool, .spare = NO_PART };
    r->nodes = arena_alloc(&r->arena, pool->n_nodes * sizeof(*r->nodes));
    r->wholes = arena_alloc(&r->arena, pool->n_nodes);
    if (!r->nodes || !r->wholes)
        return -ENOMEM;
    for (int i = 0; i <= POOL_DEVICES; i++)
        if (bits_init(&r->level[i], &r->arena, (uint32_t)pool->n_nodes) < 0)
            return -ENOMEM;
    for (uint32_t i = 0; i < pool->n_nodes; i++)
        open_node(r, i);
    if (pool->n_kinds > 1) {
        r->taken = arena_alloc(&r->arena, pool->n_kinds * sizeof(*r->taken));
        if (!r->taken)
            return -ENOMEM;
    }
    r->whole = pool->devices;
    r->milli = pool->devices * WORK_WHOLE;
    return 0;
}

void free_capacity_done(struct free_capacity *r)
{
    arena_done(&r->arena);
}

bool free_capacity_suits(const struct free_capacity *r, uint32_t node, const struct work *w,
                         int need)
{
    const struct free_capacity_node *n = &r->nodes[node];

    if (w->kinds && !(w->kinds >> r->pool->nodes[node].kind & 1))
        return false;
    if (r->closed && r->closed[node])
        return false;
    if (n->cpus_milli < w->cpus_milli || n->memory_mib < w->memory_mib)
        return false;
    if (r->keep && need > 0 && n->n_whole < need + r->keep[node])
        return false;
    return !r->spare_of || r->spare_of[node] >= need;
}

void free_capacity_fit_add(const struct free_capacity *r, struct fit *f, uint32_t node, int need)
{
    uint16_t whole = r->nodes[node].whole, taken = 0;

    for (; need > 0; need--) {
        uint16_t lowest = whole & (uint16_t)-whole;

        taken |= lowest;
        whole ^= lowest;
    }
    f->parts[f->n++] = (struct part){ node, taken, WORK_WHOLE, NO_PART };
}

/* A slot of the table of parts. */
static struct part *new_part(struct free_capacity *r, uint32_t *number)
{
    struct part *p;

    if (r->spare != NO_PART) {
        *number = r->spare;
        p = &r->parts[*number];
        r->spare = p->next;
        return p;
    }
    p = ARENA_PUSH(&r->arena, &r->parts, &r->n_parts);
    *number = (uint32_t)r->n_parts - 1;
    return p;
}

/* Add sign * what a part holds to what its node has free. */
static void change(struct free_capacity *r, const struct part *p, const struct work *w, int sign)
{
    struct free_capacity_node *n = &r->nodes[p->node];
    uint8_t before = n->n_whole;
    uint16_t whole = n->whole;
    int gained = 0;
    int64_t milli = 0;

    for (uint32_t left = p->devices; left; left &= left - 1) {
        int d = __builtin_ctz(left), had = n->left[d], has = had + sign * p->milli;

        assert(has >= 0 && has <= WORK_WHOLE);
        n->left[d] = (int16_t)has;
        n->slices[d] ^= p->slices;
        milli += p->milli;
        gained += (has == WORK_WHOLE) - (had == WORK_WHOLE);
        whole &= (uint16_t) ~(1U << d);
        whole |= (uint16_t)((unsigned)(has == WORK_WHOLE) << d);
    }
    n->whole = whole;
    r->milli += sign * milli;
    if (r->taken)
        r->taken[r->pool->nodes[p->node].kind] -= sign * milli;
    n->cpus_milli += sign * w->cpus_milli;
    n->memory_mib += (int64_t)sign * w->memory_mib;
    n->version++;
    if (gained == 0)
        return;
    n->n_whole = (uint8_t)(before + gained);
    r->wholes[p->node] = n->n_whole;
    bits_remove(&r->level[before], p->node);
    bits_add(&r->level[n->n_whole], p->node);
    r->whole += gained;
}

int free_capacity_take(struct free_capacity *r, const struct work *w, const struct fit *f,
                       uint32_t *ret)
{
    uint32_t first = NO_PART;

    for (uint32_t i = f->n; i-- > 0;) {
        uint32_t number;
        struct part *p = new_part(r, &number);

        if (!p) {
            free_capacity_give(r, w, first);
            return -ENOMEM;
        }
        *p = (struct part){ f->parts[i].node, f->parts[i].devices, f->parts[i].milli, first,
                            f->parts[i].slices };
        if (w->mig)
            p->slices = mig_place(r->nodes[p->node].slices[__builtin_ctz(p->devices)], w->mig);
        first = number;
        change(r, p, w, -1);
    }
    *ret = first;
    return 0;
}

void free_capacity_lift(struct free_capacity *r, const struct work *w, uint32_t first, bool up)
{
    for (; first != NO_PART; first = r->parts[first].next)
        change(r, &r->parts[first], w, up ? 1 : -1);
}

/* Jobs that need no device look at CPUs and memory alone: a lost node has less than none. */
void free_capacity_lose(struct free_capacity *r, uint32_t node)
{
    struct free_capacity_node *n = &r->nodes[node];
    int devices = r->pool->nodes[node].devices;

    assert(n->n_whole == devices);
    bits_remove(&r->level[n->n_whole], node);
    bits_add(&r->level[0], node);
    r->wholes[node] = 0;
    *n = (struct free_capacity_node){ .memory_mib = -1,
                                      .cpus_milli = -1,
                                      .version = n->version + 1 };
    r->whole -= devices;
    r->milli -= (int64_t)devices * WORK_WHOLE;
    r->lost += (int64_t)devices * WORK_WHOLE;
}

int free_capacity_close(struct free_capacity *r, uint32_t node, bool closed)
{
    if (!r->closed && closed) {
        r->closed = arena_alloc(&r->arena, r->pool->n_nodes);
        if (!r->closed)
            return -ENOMEM;
    }
    if (r->closed)
        r->closed[node] = closed;
    return 0;
}

void free_capacity_regain(struct free_capacity *r, uint32_t node)
{
    int devices = r->pool->nodes[node].devices;

    bits_remove(&r->level[0], node);
    open_node(r, node);
    r->whole += devices;
    r->milli += (int64_t)devices * WORK_WHOLE;
    r->lost -= (int64_t)devices * WORK_WHOLE;
}

void free_capacity_give(struct free_capacity *r, const struct work *w, uint32_t first)
{
    while (first != NO_PART) {
        struct part *p = &r->parts[first];
        uint32_t next = p->next;

        change(r, p, w, 1);
        p->next = r->spare;
        r->spare = first;
        first = next;
    }
}
