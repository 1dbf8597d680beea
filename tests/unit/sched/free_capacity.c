/* What of nodes is free: what is taken, given, lent for a look, lost and closed, by each number
 * that is kept of it; and whom a node suits. */
#include "sched/place/free_capacity.h"

#include "tap.h"

enum { NODES = 3, EACH = 4 };

struct world {
    struct pool pool;
    struct free_capacity room;
    struct part parts[NODES];
    struct fit fit;
};

/* Two nodes of kind A and one of kind B, with 8 CPUs and 1,000 MiB each. */
static void make(struct world *t)
{
    struct err e = { "" };
    bool good;

    *t = (struct world){ .fit = { .n = 0 } };
    t->fit.parts = t->parts;
    good = pool_parse(&t->pool, "2x4:A,1x4:B", &e) == 0;
    for (int i = 0; i < NODES && good; i++) {
        t->pool.nodes[i].cpus_milli = 8000;
        t->pool.nodes[i].memory_mib = 1000;
    }
    if (!good || free_capacity_init(&t->room, &t->pool) != 0) {
        printf("Bail out! %s\n", e.text);
        exit(1);
    }
}

static void drop(struct world *t)
{
    free_capacity_done(&t->room);
    pool_done(&t->pool);
}

static struct work job_of(int devices, int cpus_milli, int memory_mib)
{
    return (struct work){
        .devices = devices, .milli = WORK_WHOLE, .cpus_milli = cpus_milli, .memory_mib = memory_mib
    };
}

static uint32_t take(struct world *t, const struct work *w)
{
    uint32_t part = NO_PART;

    is_int(free_capacity_take(&t->room, w, &t->fit, &part), 0, "a place is taken");
    return part;
}

/* All that is kept, in a line: of each node devices, CPUs and memory; then the sums. */
static const char *state(const struct world *t, char ret[256])
{
    const struct free_capacity *r = &t->room;
    int len = 0;

    for (int i = 0; i < NODES; i++) {
        const struct free_capacity_node *n = &r->nodes[i];

        len += snprintf(ret + len, 256 - (size_t)len, "%d:%x,%d,%d,%d ", n->n_whole, n->whole,
                        r->wholes[i], (int)n->cpus_milli, (int)n->memory_mib);
        for (int level = 0; level <= EACH; level++)
            if ((bits_next(&r->level[level], (uint32_t)i) == i) != (level == n->n_whole))
                return "a node stands at another level than that of its free devices";
    }
    snprintf(ret + len, 256 - (size_t)len, "all %d,%d,%d A %d B %d", (int)r->whole, (int)r->milli,
             (int)r->lost, (int)r->taken[0], (int)r->taken[1]);
    return ret;
}

#define ALL_FREE "4:f,4,8000,1000 4:f,4,8000,1000 4:f,4,8000,1000 all 12,12000,0 A 0 B 0"

static void test_takes(void)
{
    struct work w = job_of(3, 2500, 300), share = job_of(1, 0, 0);
    uint32_t first, second, third;
    struct world t;
    char text[256];

    make(&t);
    is_str(state(&t, text), ALL_FREE, "all of a pool is free at first");
    free_capacity_fit_add(&t.room, &t.fit, 0, 2);
    free_capacity_fit_add(&t.room, &t.fit, 2, 1);
    ok(t.fit.n == 2 && t.parts[0].devices == 3 && t.parts[1].devices == 1 && t.parts[1].node == 2 &&
           t.parts[0].milli == WORK_WHOLE,
       "a place has the free devices with the lowest numbers");
    first = take(&t, &w);
    is_str(state(&t, text),
           "2:c,2,5500,700 4:f,4,8000,1000 3:e,3,5500,700 all 9,9000,0 A 2000 B 1000",
           "each node of a job gives its devices, CPUs and memory");
    is_int(t.room.parts[first].node, 0, "the first part of a job is that of its first node");
    share.milli = 300;
    t.fit.n = 1;
    t.parts[0] = (struct part){ 1, 1 << 2, 300, NO_PART, 0 };
    second = take(&t, &share);
    is_str(state(&t, text),
           "2:c,2,5500,700 3:b,3,8000,1000 3:e,3,5500,700 all 8,8700,0 A 2300 B 1000",
           "a device of which a share is taken is not wholly free");
    is_int(t.room.nodes[1].left[2], 700, "the rest of a shared device is left");
    free_capacity_lift(&t.room, &w, first, true);
    is_str(state(&t, text),
           "4:f,4,8000,1000 3:b,3,8000,1000 4:f,4,8000,1000 all 11,11700,0 A 300 B 0",
           "a job that is lifted counts as free");
    free_capacity_lift(&t.room, &w, first, false);
    free_capacity_give(&t.room, &share, second);
    is_str(state(&t, text),
           "2:c,2,5500,700 4:f,4,8000,1000 3:e,3,5500,700 all 9,9000,0 A 2000 B 1000",
           "a share that is given back is free, and a job that was lifted is there again");
    t.fit.n = 0;
    free_capacity_fit_add(&t.room, &t.fit, 1, 4);
    third = take(&t, &w);
    is_int(t.room.n_parts, 3, "a part that was given back is used again");
    free_capacity_give(&t.room, &w, first);
    free_capacity_give(&t.room, &w, third);
    is_str(state(&t, text), ALL_FREE, "all is free when all was given back");
    t.fit.n = 0;
    for (uint32_t node = 0; node < NODES; node++)
        free_capacity_fit_add(&t.room, &t.fit, node, 1);
    (void)take(&t, &w);
    is_int(t.room.n_parts, 3, "all parts that were given back are used again");
    drop(&t);
}

static void test_versions(void)
{
    struct work w = job_of(1, 0, 0);
    struct world t;
    uint32_t part, before;

    make(&t);
    before = t.room.nodes[1].version;
    free_capacity_fit_add(&t.room, &t.fit, 1, 1);
    part = take(&t, &w);
    ok(t.room.nodes[1].version != before, "a node of which something is taken is another one");
    before = t.room.nodes[1].version;
    free_capacity_give(&t.room, &w, part);
    ok(t.room.nodes[1].version != before, "a node that gets something back is another one");
    before = t.room.nodes[1].version;
    free_capacity_lose(&t.room, 1);
    ok(t.room.nodes[1].version != before, "a node that is lost is another one");
    before = t.room.nodes[1].version;
    free_capacity_regain(&t.room, 1);
    ok(t.room.nodes[1].version != before, "a node that is back is another one");
    drop(&t);
}

static void test_losses(void)
{
    struct work none = job_of(0, 0, 0), one = job_of(1, 0, 0);
    struct world t;
    char text[256];

    make(&t);
    free_capacity_lose(&t.room, 1);
    is_str(state(&t, text), "4:f,4,8000,1000 0:0,0,-1,-1 4:f,4,8000,1000 all 8,8000,4000 A 0 B 0",
           "a lost node has no devices, and less than no CPUs and memory");
    ok(!free_capacity_suits(&t.room, 1, &none, 0), "a lost node suits not even a job of nothing");
    ok(free_capacity_suits(&t.room, 0, &none, 0), "another node suits a job of nothing");
    free_capacity_regain(&t.room, 1);
    is_str(state(&t, text), ALL_FREE, "a node that is back is wholly free");
    ok(free_capacity_suits(&t.room, 1, &one, 1), "a node that is back suits a job");
    drop(&t);
}

static void test_closed(void)
{
    struct work w = job_of(1, 0, 0);
    struct world t;

    make(&t);
    is_int(free_capacity_close(&t.room, 0, false), 0, "a node is opened that was never closed");
    ok(!t.room.closed, "opening a node makes no list of closed ones");
    is_int(free_capacity_close(&t.room, 0, true), 0, "a node is closed");
    is_int(free_capacity_close(&t.room, 2, true), 0, "another node is closed");
    ok(!free_capacity_suits(&t.room, 0, &w, 1) && !free_capacity_suits(&t.room, 2, &w, 1),
       "closed nodes suit nobody");
    ok(free_capacity_suits(&t.room, 1, &w, 1), "a node between closed ones suits a job");
    is_int(free_capacity_close(&t.room, 0, false), 0, "a closed node is opened");
    ok(free_capacity_suits(&t.room, 0, &w, 1) && !free_capacity_suits(&t.room, 2, &w, 1),
       "a node that is opened suits a job, and the other one stays closed");
    drop(&t);
}

static void test_suits(void)
{
    const uint8_t keep[NODES] = { 2, 0, 0 }, spare[NODES] = { 3, 0, 4 };
    struct work w = job_of(1, 8000, 1000);
    struct world t;

    make(&t);
    ok(free_capacity_suits(&t.room, 0, &w, 1), "a node suits a job that needs all of its CPUs");
    w.cpus_milli = 8001;
    ok(!free_capacity_suits(&t.room, 0, &w, 1), "a node does not suit a job that needs more CPUs");
    w.cpus_milli = 0;
    w.memory_mib = 1001;
    ok(!free_capacity_suits(&t.room, 0, &w, 1),
       "a node does not suit a job that needs more memory");
    w.memory_mib = 0;
    w.kinds = 2;
    ok(!free_capacity_suits(&t.room, 1, &w, 1) && free_capacity_suits(&t.room, 2, &w, 1),
       "a node suits jobs of its kind");
    w.kinds = 0;
    t.room.keep = keep;
    ok(free_capacity_suits(&t.room, 0, &w, 2) && !free_capacity_suits(&t.room, 0, &w, 3),
       "a node of which two of four devices are kept suits a job of two");
    ok(free_capacity_suits(&t.room, 0, &w, 0), "what is kept is no matter to a job of no device");
    t.room.keep = NULL;
    t.room.spare_of = spare;
    ok(free_capacity_suits(&t.room, 0, &w, 3) && !free_capacity_suits(&t.room, 0, &w, 4),
       "a node with three devices to spare suits a job of three");
    ok(!free_capacity_suits(&t.room, 1, &w, 1), "a node with nothing to spare suits nobody");
    drop(&t);
}

/* A pool that says nothing of CPUs and memory has enough of both, and one kind is not counted. */
static void test_uncounted(void)
{
    struct work w = job_of(1, INT32_MAX / 4, INT32_MAX);
    struct free_capacity r;
    struct pool pool = { .n_nodes = 0 };

    if (!ok(pool_parse(&pool, "1x4", NULL) == 0 && free_capacity_init(&r, &pool) == 0,
            "a pool is made that says nothing of CPUs"))
        return;
    ok(free_capacity_suits(&r, 0, &w, 1), "a node that says nothing of CPUs has enough");
    ok(!r.taken, "what is taken of the only kind is not counted");
    free_capacity_done(&r);
    pool_done(&pool);
}

/* A node may have as many devices as a pool lets it have. */
static void test_large_node(void)
{
    struct work w = job_of(1, 0, 0);
    struct free_capacity r;
    struct pool pool = { .n_nodes = 0 };
    struct part part;
    struct fit fit = { &part, 0 };
    uint32_t first;

    if (!ok(pool_parse(&pool, "1x16", NULL) == 0 && free_capacity_init(&r, &pool) == 0,
            "a pool is made of a node with 16 devices"))
        return;
    is_int(bits_next(&r.level[16], 0), 0, "a node with 16 free devices stands at level 16");
    free_capacity_fit_add(&r, &fit, 0, 16);
    is_int(part.devices, 0xffff, "16 devices are all of a node with 16");
    is_int(free_capacity_take(&r, &w, &fit, &first), 0, "16 devices are taken");
    is_int(bits_next(&r.level[0], 0), 0, "a node without a free device stands at level 0");
    free_capacity_done(&r);
    pool_done(&pool);
}

static void test_nearby(void)
{
    static const uint32_t nodes[] = { 2, 3, 7, 8, 11 };
    const struct nearby near = { nodes, 5 }, none = { nodes, 0 };
    int wrong = 0;

    for (uint32_t node = 0; node < 14; node++)
        wrong += nearby_has(&near, node) !=
                 (node == 2 || node == 3 || node == 7 || node == 8 || node == 11);
    is_int(wrong, 0, "data are on those nodes that the list has");
    ok(!nearby_has(&none, 2), "data of an empty list are on no node");
}

int main(void)
{
    test_takes();
    test_versions();
    test_losses();
    test_closed();
    test_suits();
    test_uncounted();
    test_large_node();
    test_nearby();
    return done();
}
