/* Where the data of jobs are: what it says, and that a placement which looks at it finds as good a
 * place as one that does not, with as much of the data as there can be. */
#include <errno.h>

#include "model/machine/node_names.h"
#include "oom_arena.h"
#include "sched/place/place.h"
#include "sched/place/place_scored.h"
#include "sched/place/wiring.h"
#include "tap.h"

enum { ROUNDS = 3000, NODES = 24 };

/* Numbers that repeat. */
static int below(uint64_t *state, int n)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((*state >> 33) % (uint64_t)n);
}

/* ---- what they are called ---- */

static void test_locate(void)
{
    static const struct {
        const char *text;
        size_t n;
        uint32_t nodes[6];
    } good[] = {
        { "n3", 1, { 3 } },           { "n11+n2+n11", 2, { 2, 11 } },
        { "leaf:2", 2, { 2, 3 } },    { "spine:3+n0", 5, { 0, 8, 9, 10, 11 } },
        { "n99+n5", 1, { 5 } },       { "n4+", 1, { 4 } },
        { "domain:4", 2, { 9, 10 } }, { "rack:3", 4, { 8, 9, 10, 11 } },
    };
    static const char *const bad[] = { "",      "+",       "n12",    "leaf:7", "leaf:0", "leaf:-1",
                                       "leaf:", "leaf:2x", "rack:4", "n",      "N1" };
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct pool p = { .n_nodes = 0 };
    struct node_names_found x = { .n = 0 };
    struct node_names l;
    struct err e;

    if (!ok(pool_parse(&p, "12x4/2/2", &e) == 0 && node_names_init(&l, &a, &p) == 0,
            "a pool of 12 nodes is parsed"))
        return;
    for (int32_t i = 0; i < 11; i++) {
        p.nodes[i].domain = i / 3 + 1;
        p.nodes[i].rack = i / 4 + 1;
    }
    p.nodes[11].rack = 3;
    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        is_int(node_names_find(&l, good[i].text, &a, &x), 0, "node_names_find knows '%s'",
               good[i].text);
        ok(x.n == good[i].n && !memcmp(x.nodes, good[i].nodes, x.n * sizeof(*x.nodes)),
           "'%s' names %zu nodes", good[i].text, x.n);
    }
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        is_int(node_names_find(&l, bad[i], &a, &x), -ENOENT, "node_names_find does not know '%s'",
               bad[i]);
    pool_done(&p);
}

static void test_oom(void)
{
    struct pool p = { .n_nodes = 0 };
    struct err e;
    bool failed;

    if (!ok(pool_parse(&p, "12x4/2/2", &e) == 0, "a pool is parsed before memory is short"))
        return;
    oom_restart();
    do {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        struct node_names_found x = { .n = 0 };
        struct node_names l;
        int rc;

        oom_next();
        rc = node_names_init(&l, &a, &p);
        if (rc == 0)
            rc = node_names_find(&l, "n1+leaf:2", &a, &x);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc == 0 && x.n == 3,
           "node_names_find with allocation %d failing returns %d", oom_at, rc);
    } while (failed);
    pool_done(&p);
}

/* ---- placements ---- */

struct scene {
    struct arena arena;
    struct pool pool;
    struct free_capacity room;
    struct workload work;
    struct scores scores;
    struct wiring wiring;
    uint32_t near[NODES];
    struct nearby list;
    struct fit without, with;
    struct part parts[2][NODES];
};

/* Some devices of each node are taken; the data are on some nodes. */
static bool set(struct scene *s, uint64_t *chance)
{
    struct err e;

    *s = (struct scene){ .without.parts = s->parts[0], .with.parts = s->parts[1] };
    s->work.n_shapes = 1;
    if (pool_parse(&s->pool, "24x4/4/2", &e) != 0 || free_capacity_init(&s->room, &s->pool) != 0 ||
        scores_init(&s->scores, &s->arena, &s->pool, &s->work) != 0 ||
        wiring_init(&s->wiring, &s->arena, &s->pool) != 0)
        return false;
    s->room.scores = &s->scores;
    s->room.wiring = &s->wiring;
    for (uint32_t i = 0; i < NODES; i++) {
        const struct work w = { .devices = below(chance, 5), .milli = WORK_WHOLE };
        uint32_t part;

        s->with.n = 0;
        free_capacity_fit_add(&s->room, &s->with, i, w.devices);
        if (below(chance, 2) && free_capacity_take(&s->room, &w, &s->with, &part) < 0)
            return false;
        if (below(chance, 4) == 0)
            s->near[s->list.n++] = i;
    }
    s->list.nodes = s->near;
    return true;
}

static void end(struct scene *s)
{
    free_capacity_done(&s->room);
    pool_done(&s->pool);
    arena_done(&s->arena);
}

static int count_near(const struct scene *s, const struct fit *f)
{
    int n = 0;

    for (uint32_t i = 0; i < f->n; i++)
        n += nearby_has(&s->list, f->parts[i].node);
    return n;
}

/* Nodes of a place by how many free devices they have. */
static void count_levels(const struct scene *s, const struct fit *f, int levels[5])
{
    memset(levels, 0, 5 * sizeof(*levels));
    for (uint32_t i = 0; i < f->n; i++)
        levels[s->room.nodes[f->parts[i].node].n_whole]++;
}

static int count_leaves(const struct scene *s, const struct fit *f)
{
    uint32_t seen = 0;

    for (uint32_t i = 0; i < f->n; i++)
        seen |= 1U << s->pool.nodes[f->parts[i].node].leaf;
    return __builtin_popcount(seen);
}

/* What is wrong with a place beside the one without data; NULL. */
static const char *wrong_with(const struct scene *s, const struct place_ops *place)
{
    bool fragments = place->scores && strcmp(place->name, "best-fit") != 0;
    int with[5], without[5];

    if (s->with.n != s->without.n)
        return "it has more nodes, or fewer";
    if (count_near(s, &s->with) < count_near(s, &s->without))
        return "it is farther from the data";
    if (fragments || !strcmp(place->name, "first")) /* others may be as good */
        return NULL;
    count_levels(s, &s->with, with);
    count_levels(s, &s->without, without);
    if (memcmp(with, without, sizeof(with)) != 0)
        return "its nodes are not as full";
    if (place->wiring && count_leaves(s, &s->with) != count_leaves(s, &s->without))
        return "it lies on other numbers of leaves";
    if (place->wiring || s->with.n != 1 || count_near(s, &s->with) == 1)
        return NULL;
    for (uint32_t n = 0; n < NODES; n++)
        if (nearby_has(&s->list, n) &&
            s->room.nodes[n].n_whole == s->room.nodes[s->with.parts[0].node].n_whole)
            return "another one is as good, and has the data";
    return NULL;
}

static void test_places(void)
{
    static const char *const names[] = { "consolidate", "topology", "best-fit", "fgd",
                                         "balance",     "first",    "scatter" };

    for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
        const struct place_ops *place = place_named(names[k]);
        bool looks = strcmp(names[k], "scatter") != 0;
        const char *wrong = NULL;
        uint64_t chance = 5;
        int nearer = 0, found = 0;

        for (int round = 0; round < ROUNDS && !wrong; round++) {
            struct work w = { .devices = 1 + below(&chance, 4), .milli = WORK_WHOLE };
            struct scene s;
            bool is, was;

            if (below(&chance, 3) == 0)
                w.devices = 4 * (1 + below(&chance, 4));
            if (!set(&s, &chance))
                return;
            was = place->find(&s.room, &w, &s.without);
            s.room.near = &s.list;
            is = place->find(&s.room, &w, &s.with);
            if (is != was)
                wrong = "one finds a place where the other one finds none";
            else if (is && looks)
                wrong = wrong_with(&s, place);
            else if (is && count_near(&s, &s.with) != count_near(&s, &s.without))
                wrong = "it looks at data";
            found += is;
            nearer += is && count_near(&s, &s.with) > count_near(&s, &s.without);
            end(&s);
        }
        ok(!wrong, "%s with data nearby finds a place: %s", names[k], wrong ? wrong : "as good");
        ok(found > ROUNDS / 3 && (nearer > ROUNDS / 30) == looks,
           "%s looks for data unless it scatters: %d of %d places are nearer", names[k], nearer,
           found);
    }
}

/* A share of a device, and a job without any. */
static void test_shares(void)
{
    const struct work share = { .devices = 1, .milli = 300 }, none = { .milli = WORK_WHOLE };
    const struct place_ops *place = place_named("consolidate");
    struct scene s;
    uint32_t part;

    s = (struct scene){ .with.parts = s.parts[1], .near = { 7, 20 } };
    s.list = (struct nearby){ s.near, 2 };
    if (pool_parse(&s.pool, "24x4", NULL) != 0 || free_capacity_init(&s.room, &s.pool) != 0)
        return;
    s.room.near = &s.list;
    ok(place->find(&s.room, &share, &s.with) && s.with.parts[0].node == 7,
       "a share of a device goes where the data are");
    s.room.near = NULL;
    ok(place->find(&s.room, &share, &s.with) && s.with.parts[0].node == 0,
       "a share of a device goes on the first node without data");
    if (free_capacity_take(&s.room, &share, &s.with, &part) < 0)
        return;
    s.room.near = &s.list;
    ok(place->find(&s.room, &share, &s.with) && s.with.parts[0].node == 0,
       "a share of a device goes on a fuller node before one with data");
    ok(place->find(&s.room, &none, &s.with) && s.with.parts[0].node == 7,
       "a job without devices goes where the data are");
    end(&s);
}

int main(void)
{
    test_locate();
    test_oom();
    test_places();
    test_shares();
    return done();
}
