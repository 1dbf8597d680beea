#include "sim/fill_test.h"

#include <errno.h>
#include <math.h>

#include "sched/place/place.h"
#include "sched/place/place_scored.h"

struct pack {
    const struct policy *policy;
    const struct pool *pool;
    const struct workload *work;
    struct arena arena;
    uint32_t *order; /* of jobs, some more than once */
    size_t n, room_n;
    uint64_t chance;
};

/* splitmix64 */
static uint64_t next(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15U;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

static int64_t asked(const struct pack *p, uint32_t job)
{
    return (int64_t)p->work->jobs[job].devices * p->work->jobs[job].milli;
}

static int add(struct pack *p, uint32_t job)
{
    if (p->n == p->room_n) {
        size_t n = p->room_n ? 2 * p->room_n : 1024;
        uint32_t *grown = reallocarray(p->order, n, sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        p->order = grown;
        p->room_n = n;
    }
    p->order[p->n++] = job;
    return 0;
}

static void shuffle(struct pack *p)
{
    for (size_t i = p->n; i > 1; i--) {
        size_t other = next(&p->chance) % i;
        uint32_t job = p->order[i - 1];

        p->order[i - 1] = p->order[other];
        p->order[other] = job;
    }
}

/* All jobs in a random order; more of them, or fewer, until as much is asked for as wanted. */
static int make_order(struct pack *p, int64_t wanted)
{
    int64_t sum = 0;

    p->n = 0;
    for (size_t i = 0; i < p->work->n_jobs; i++) {
        if (add(p, (uint32_t)i) < 0)
            return -ENOMEM;
        sum += asked(p, (uint32_t)i);
    }
    while (sum < wanted && p->work->n_jobs > 0) {
        uint32_t job = (uint32_t)(next(&p->chance) % p->work->n_jobs);

        if (add(p, job) < 0)
            return -ENOMEM;
        sum += asked(p, job);
    }
    shuffle(p);
    while (p->n > 0 && sum > wanted)
        sum -= asked(p, p->order[--p->n]);
    return 0;
}

static int place_all(struct pack *p, struct free_capacity *room, struct fit *fit,
                     struct fill_test_result *ret)
{
    int64_t total = p->pool->devices * WORK_WHOLE, sum = 0;
    double full = -1;

    for (size_t i = 0; i < p->n; i++) {
        const struct work *w = &p->work->jobs[p->order[i]];
        uint32_t part;

        if (full < 0 && sum >= total)
            full = 1 - (double)room->milli / (double)total;
        sum += asked(p, p->order[i]);
        if (!p->policy->place->find(room, w, fit))
            ret->turned_away++;
        else if (free_capacity_take(room, w, fit, &part) < 0)
            return -ENOMEM;
    }
    ret->at_end += 1 - (double)room->milli / (double)total;
    ret->at_full += full < 0 ? 1 - (double)room->milli / (double)total : full;
    ret->jobs += p->n;
    return 0;
}

/* The pool with its nodes in a random order, since the first of equals is taken. */
static int shuffle_nodes(struct pack *p, struct arena *a, struct pool *ret)
{
    *ret = *p->pool;
    ret->nodes = arena_alloc(a, p->pool->n_nodes * sizeof(*ret->nodes));
    if (!ret->nodes)
        return -ENOMEM;
    for (size_t i = 0; i < ret->n_nodes; i++) {
        size_t other = next(&p->chance) % (i + 1);

        ret->nodes[i] = ret->nodes[other];
        ret->nodes[other] = p->pool->nodes[i];
    }
    return 0;
}

static int one_round(struct pack *p, const struct fill_test_options *o, int round,
                     struct fill_test_result *ret)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct scores scores = { .made = NULL };
    struct fit fit = { .n = 0 };
    struct free_capacity room = { .n_parts = 0 };
    struct pool pool;
    int rc;

    p->chance = o->seed + (uint64_t)round;
    fit.parts = arena_alloc(&a, p->pool->n_nodes * sizeof(*fit.parts));
    if (!fit.parts || shuffle_nodes(p, &a, &pool) < 0 ||
        scores_init(&scores, &a, &pool, p->work) < 0)
        return -ENOMEM;
    rc = free_capacity_init(&room, &pool);
    room.scores = &scores;
    if (rc == 0)
        rc = make_order(p, (int64_t)(o->load * (double)pool.devices * WORK_WHOLE));
    if (rc == 0)
        rc = place_all(p, &room, &fit, ret);
    free_capacity_done(&room);
    return rc;
}

int fill_test_run(struct fill_test_result *ret, const struct policy *policy,
                  const struct pool *pool, const struct workload *work,
                  const struct fill_test_options *o, struct err *e)
{
    struct pack p = { .policy = policy, .pool = pool, .work = work };
    struct fill_test_result r = { .jobs = 0 };
    int64_t sum = 0;
    int rc = 0;

    for (size_t i = 0; i < work->n_jobs; i++)
        sum += asked(&p, (uint32_t)i);
    if (sum == 0)
        return err_set(e, -EINVAL, "no job asks for a device");
    for (int i = 0; i < o->rounds && rc == 0; i++)
        rc = one_round(&p, o, i, &r);
    free(p.order);
    if (rc < 0)
        return err_nomem(e);
    r.at_full = o->load < 1 ? (double)NAN : r.at_full / o->rounds;
    r.at_end /= o->rounds;
    r.turned_away = r.jobs ? r.turned_away / (double)r.jobs : (double)NAN;
    *ret = r;
    return 0;
}
