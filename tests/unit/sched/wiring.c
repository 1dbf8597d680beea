/* Placement by wiring: whatever is taken, a gang lies on the fewest leaves, compared with counting
 * them; and on the fewest spines when one has room. */
#include "sched/place/wiring.h"

#include "tap.h"

enum { ROUNDS = 400, LEAVES = 8, OF_LEAF = 4, NODES = LEAVES * OF_LEAF, EACH = 4 };

/* Numbers that repeat. */
static int below(uint64_t *state, int n)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((*state >> 33) % (uint64_t)n);
}

struct world {
    struct pool pool;
    struct free_capacity room;
    struct wiring wiring;
    struct arena arena;
    struct part parts[NODES];
    struct fit fit;
};

static bool make(struct world *t, const char *nodes)
{
    struct err e;

    *t = (struct world){ .fit = { .n = 0 } };
    if (pool_parse(&t->pool, nodes, &e) != 0 || free_capacity_init(&t->room, &t->pool) != 0 ||
        wiring_init(&t->wiring, &t->arena, &t->pool) != 0)
        return false;
    t->fit.parts = t->parts;
    t->room.wiring = &t->wiring;
    return true;
}

static void drop(struct world *t)
{
    free_capacity_done(&t->room);
    arena_done(&t->arena);
    pool_done(&t->pool);
}

static struct work job_of(int devices)
{
    return (struct work){ .devices = devices, .milli = WORK_WHOLE };
}

/* Take some devices of a node, or all. */
static void occupy(struct world *t, uint32_t node, int devices)
{
    const struct work w = job_of(devices);
    uint32_t part;

    t->fit.n = 0;
    free_capacity_fit_add(&t->room, &t->fit, node, devices);
    if (free_capacity_take(&t->room, &w, &t->fit, &part) < 0)
        t->fit.n = 0;
}

/* How many nodes of a leaf have 'each' free devices. */
static int usable(const struct world *t, int leaf, int each)
{
    int n = 0;

    for (int i = 0; i < OF_LEAF; i++)
        n += t->room.nodes[leaf * OF_LEAF + i].n_whole >= each;
    return n;
}

/* The fewest leaves that have n such nodes: the fullest first; 0: there are not enough. */
static int fewest(const struct world *t, int n, int each)
{
    bool used[LEAVES] = { false };
    int leaves = 0;

    while (n > 0) {
        int best = -1;

        for (int i = 0; i < LEAVES; i++)
            if (!used[i] && (best < 0 || usable(t, i, each) > usable(t, best, each)))
                best = i;
        if (best < 0 || usable(t, best, each) == 0)
            return 0;
        used[best] = true;
        n -= usable(t, best, each);
        leaves++;
    }
    return leaves;
}

/* Units of the nodes of a place, by their leaves or spines. */
static int units(const struct world *t, bool spines)
{
    uint64_t seen = 0;

    for (uint32_t i = 0; i < t->fit.n; i++) {
        const struct pool_node *n = &t->pool.nodes[t->parts[i].node];

        seen |= 1ULL << (spines ? n->spine : n->leaf);
    }
    return __builtin_popcountll(seen);
}

/* Whether one spine, of four leaves, has n such nodes. */
static bool one_spine(const struct world *t, int n, int each)
{
    for (int s = 0; s < LEAVES; s += 4) {
        int sum = 0;

        for (int i = s; i < s + 4; i++)
            sum += usable(t, i, each);
        if (sum >= n)
            return true;
    }
    return false;
}

static const char *check(uint64_t seed, bool spines)
{
    int n = 1 + below(&seed, 12), each = 1 + below(&seed, EACH), want;
    struct work w = job_of(n * each);
    const char *wrong = NULL;
    struct world t;
    bool found;

    if (!make(&t, spines ? "32x4/4/4" : "32x4/4"))
        return "it cannot be made";
    w.per_node = each == EACH ? 0 : each;
    for (int i = below(&seed, NODES); i > 0; i--) {
        uint32_t node = (uint32_t)below(&seed, NODES);

        if (t.room.nodes[node].n_whole == EACH)
            occupy(&t, node, 1 + below(&seed, EACH));
    }
    want = fewest(&t, n, each);
    found = place_topology(&t.room, &w, &t.fit);
    if (found != (want > 0))
        wrong = found ? "a place that is none" : "a place was missed";
    else if (found && (!spines || want == 1) && units(&t, false) != want)
        wrong = "more leaves than it takes";
    else if (found && spines && units(&t, true) != 2 - one_spine(&t, n, each))
        wrong = "more spines than it takes";
    else if (found && t.fit.n != (uint32_t)n)
        wrong = "another number of nodes";
    for (uint32_t i = 0; found && i < t.fit.n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (t.parts[i].node == t.parts[k].node)
                wrong = "a node twice";
    drop(&t);
    return wrong;
}

static void test_fewest(void)
{
    for (int spines = 0; spines < 2; spines++) {
        const char *wrong = NULL;
        uint64_t seed = 0;

        while (!wrong && seed++ < ROUNDS)
            wrong = check(seed, spines);
        ok(!wrong, "gangs are placed right: %s (seed %d)", wrong ? wrong : "on the fewest",
           (int)seed);
    }
}

static void test_levels(void)
{
    struct work w = job_of(24);
    struct world t;

    if (!ok(make(&t, "32x4=2/4/4"), "domains of 2, leaves of 4, spines of 16 nodes"))
        return;
    is_int(t.wiring.n_levels, 3, "the wiring of domains, leaves and spines has three levels");
    for (int leaf = 0; leaf < 4; leaf++)
        occupy(&t, (uint32_t)(leaf * OF_LEAF), 4);
    ok(place_topology(&t.room, &w, &t.fit) && units(&t, true) == 1 && units(&t, false) == 2,
       "six nodes below one spine, on two leaves");
    w.devices = 8;
    ok(place_topology(&t.room, &w, &t.fit) && t.fit.n == 2 &&
           t.pool.nodes[t.parts[0].node].domain == t.pool.nodes[t.parts[1].node].domain,
       "eight devices go to two nodes of a domain");
    ok(t.parts[0].node < 16, "where less is free");
    w.devices = 1;
    ok(place_topology(&t.room, &w, &t.fit) && t.parts[0].node == 1,
       "one device goes beside those that are taken");
    w.devices = 10;
    ok(place_topology(&t.room, &w, &t.fit) && t.fit.n == 3 && units(&t, false) == 1,
       "ten devices go to the same leaf");
    drop(&t);
}

/* Without wiring it is as it was. */
static void test_none(void)
{
    struct work w = job_of(9);
    struct world t;

    if (!ok(make(&t, "8x4"), "nodes without wiring make a world"))
        return;
    is_int(t.wiring.n_levels, 0, "nodes without wiring have no level");
    ok(place_topology(&t.room, &w, &t.fit) && t.fit.n == 3,
       "place_topology spreads nine devices over three nodes without wiring");
    drop(&t);
}

int main(void)
{
    test_fewest();
    test_levels();
    test_none();
    return done();
}
