/* Instances of divided devices: their placements, against the published table, and a room in which
 * they come and go with shares and whole devices. */
#include "model/machine/mig.h"

#include "sched/place/place.h"
#include "sched/place/place_scored.h"
#include "tap.h"

enum { NODES = 3, EACH = 2, JOBS = 24, ROUNDS = 20000 };

/* Numbers that repeat. */
static int below(uint64_t *state, int n)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((*state >> 33) % (uint64_t)n);
}

static void test_words(void)
{
    static const char *const bad[] = { "", "g", "0g", "5g", "6g", "8g", "1", "1gb", "3g.40gb" };

    is_int(mig_slices("1g"), 1, "1g has one slice");
    is_int(mig_slices("4g"), 4, "4g has four slices");
    is_int(mig_slices("7g"), 7, "7g has seven slices");
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        is_int(mig_slices(bad[i]), 0, "'%s' is no instance", bad[i]);
    ok(mig_divides("A100-SXM4-80GB"), "MIG divides an A100");
    ok(mig_divides("NVIDIA GH200 480GB"), "MIG divides a GH200");
    ok(mig_divides(""), "a kind without a name");
    ok(mig_divides("H200") && mig_divides("H20") && !mig_divides("RTX A1000"),
       "the model's whole number decides whether MIG divides it");
    ok(!mig_divides("V100M32") && !mig_divides("L40S") && !mig_divides("A10"), "others are not");
}

/* The instances that a device holds, placed one after the other: "1112" and so on. */
static int holds(const char *instances)
{
    uint8_t taken = 0;
    int n = 0;

    for (; *instances; instances++) {
        uint8_t memory = mig_place(taken, *instances - '0');

        if (!memory)
            break;
        taken |= memory;
        n++;
    }
    return n;
}

static void test_places(void)
{
    is_int(holds("11111111"), 7, "seven of one slice fit, and no eighth");
    is_int(holds("2222"), 3, "three of two slices fit");
    is_int(holds("2221"), 4, "three of two slices leave room for one of one");
    is_int(holds("333"), 2, "two of three take all memory");
    is_int(holds("331"), 2, "three slices twice leave no memory for one slice");
    is_int(holds("34"), 2, "three slices and four slices fit");
    is_int(holds("43"), 2, "four slices and three slices fit");
    is_int(holds("44"), 1, "four begins at the first slice only");
    is_int(holds("1114"), 4, "small ones leave that free");
    is_int(holds("124"), 3, "instances of one, two and four slices fit");
    is_int(holds("322"), 3, "one of three slices and two of two fit");
    is_int(holds("31111"), 5, "one of three slices and four of one fit");
    is_int(mig_place(0x04, 1), 0x08, "beside another one, so that four slices are left");
    is_int(holds("223"), 2, "what came first does not move");
}

static void test_fits(void)
{
    int wrong = 0;

    for (int taken = 0; taken < 256; taken++)
        for (int slices = 0; slices <= MIG_SLICES; slices++)
            wrong += mig_fits((uint8_t)taken, slices) != (mig_place((uint8_t)taken, slices) != 0);
    is_int(wrong, 0, "what fits has a place");
}

struct world {
    struct pool pool;
    struct free_capacity room;
    struct scores scores;
    struct workload work;
    struct arena arena;
    struct part parts[NODES];
    struct fit fit;
    struct work jobs[JOBS];
    uint32_t part[JOBS];
    bool runs[JOBS];
};

static struct work job_of(uint64_t *chance)
{
    static const int slices[] = { 1, 1, 2, 3, 4 };
    struct work w = { .devices = 1, .milli = WORK_WHOLE };
    int kind = below(chance, 6);

    if (kind == 0)
        w.devices = 1 + below(chance, EACH);
    else if (kind == 1)
        w.milli = (int16_t)(100 + below(chance, 800));
    else
        w.mig = (uint8_t)slices[below(chance, ARRAY_SIZE(slices))];
    if (w.mig)
        w.milli = (int16_t)mig_milli(w.mig);
    return w;
}

/* Where an instance may lie: those of the table of its size. */
static bool is_published(int slices, uint8_t memory)
{
    static const uint8_t three[] = { 0x0f, 0xf0 }, two[] = { 0x03, 0x0c, 0x30 };

    if (slices == 4)
        return memory == 0x0f;
    if (slices == 3)
        return memory == three[0] || memory == three[1];
    if (slices == 2)
        return memory == two[0] || memory == two[1] || memory == two[2];
    return slices == 1 && memory && !(memory & (memory - 1)) && memory < 0x80;
}

/* Whether what runs is what the room has, no slice is given twice, and no device both divided and
 * shared. */
static bool is_sound(const struct world *t)
{
    int16_t left[NODES][EACH];
    uint8_t slices[NODES][EACH] = { { 0 } };
    bool shared[NODES][EACH] = { { false } };

    for (int n = 0; n < NODES; n++)
        for (int d = 0; d < EACH; d++)
            left[n][d] = WORK_WHOLE;
    for (int i = 0; i < JOBS; i++) {
        const struct part *p;

        if (!t->runs[i])
            continue;
        p = &t->room.parts[t->part[i]];
        for (int d = 0; d < EACH; d++) {
            if (!(p->devices >> d & 1))
                continue;
            left[p->node][d] = (int16_t)(left[p->node][d] - p->milli);
            if (slices[p->node][d] & p->slices)
                return false;
            slices[p->node][d] |= p->slices;
            shared[p->node][d] |= !t->jobs[i].mig;
        }
        if (t->jobs[i].mig ? !is_published(t->jobs[i].mig, p->slices) : p->slices)
            return false;
    }
    for (int n = 0; n < NODES; n++)
        for (int d = 0; d < EACH; d++)
            if (left[n][d] < 0 || (slices[n][d] && shared[n][d]) ||
                left[n][d] != t->room.nodes[n].left[d] ||
                slices[n][d] != t->room.nodes[n].slices[d])
                return false;
    return true;
}

/* Whether no device has room for an instance that found none. */
static bool is_refused(const struct world *t, const struct work *w)
{
    for (int n = 0; n < NODES; n++)
        for (int d = 0; d < EACH; d++) {
            const struct free_capacity_node *node = &t->room.nodes[n];
            bool open = node->slices[d] || node->left[d] == WORK_WHOLE;

            if (w->mig && open && mig_place(node->slices[d], w->mig))
                return false;
        }
    return true;
}

static bool turn(struct world *t, const struct place_ops *place, uint64_t *chance)
{
    int i = below(chance, JOBS);
    struct work *w = &t->jobs[i];

    if (t->runs[i]) {
        free_capacity_lift(&t->room, w, t->part[i], true);
        free_capacity_lift(&t->room, w, t->part[i], false);
        if (below(chance, 3) == 0)
            return is_sound(t);
        free_capacity_give(&t->room, w, t->part[i]);
        t->runs[i] = false;
        return is_sound(t);
    }
    *w = job_of(chance);
    if (!place->find(&t->room, w, &t->fit))
        return is_refused(t, w);
    if (free_capacity_take(&t->room, w, &t->fit, &t->part[i]) < 0)
        return false;
    t->runs[i] = true;
    return is_sound(t);
}

static void world_open(struct world *t, const char *nodes)
{
    t->fit.parts = t->parts;
    if (pool_parse(&t->pool, nodes, NULL) != 0 || free_capacity_init(&t->room, &t->pool) != 0 ||
        scores_init(&t->scores, &t->arena, &t->pool, &t->work) != 0)
        abort();
    t->scores.made = NULL; /* the jobs have no shapes */
    t->room.scores = &t->scores;
}

static void world_free(struct world *t)
{
    free_capacity_done(&t->room);
    pool_done(&t->pool);
    arena_done(&t->arena);
    free(t);
}

static void test_room(const char *name)
{
    struct world *t = calloc(1, sizeof(*t));
    uint64_t chance = 7;
    int good = 0;

    if (!t)
        abort();
    world_open(t, "3x2");
    while (good < ROUNDS && turn(t, place_named(name), &chance))
        good++;
    is_int(good, ROUNDS, "place %s keeps its books over rounds of coming and going", name);
    world_free(t);
}

/* Shares of devices: of those with room the fullest, of equally full ones the lowest. */
static void test_shares(const char *name)
{
    static const struct {
        int milli;
        unsigned device;
    } jobs[] = { { 400, 0 }, { 700, 1 }, { 600, 0 }, { 300, 1 }, { 1, 2 } };
    struct world *t = calloc(1, sizeof(*t));

    if (!t)
        abort();
    world_open(t, "1x3");
    for (size_t i = 0; i < ARRAY_SIZE(jobs); i++) {
        const struct work w = { .devices = 1, .milli = jobs[i].milli };

        if (!place_named(name)->find(&t->room, &w, &t->fit) ||
            free_capacity_take(&t->room, &w, &t->fit, &t->part[i]) < 0)
            abort();
        is_int(t->parts[0].devices, 1U << jobs[i].device,
               "place %s puts a share of %d on device %u", name, jobs[i].milli, jobs[i].device);
    }
    world_free(t);
}

int main(void)
{
    test_words();
    test_places();
    test_fits();
    test_room("consolidate");
    test_room("best-fit");
    test_room("fgd");
    test_shares("best-fit");
    test_shares("consolidate");
    return done();
}
