/* The pool that is made of a Slurm cluster: types of GPUs, partitions, nodes that are away. */
#include "cmd/sim/cluster.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

static struct err e;

static struct site_node nodes[] = {
    { .name = "a0", .devices = 8, .kind = "a100" },
    { .name = "a1", .devices = 8, .kind = "a100", .state = SITE_NODE_DOWN },
    { .name = "h0", .devices = 4, .kind = "h100" },
    { .name = "h1", .devices = 4, .kind = "h100" },
    { .name = "h2", .devices = 4, .kind = "h100", .drained = true },
    { .name = "c0" },
    { .name = "big", .devices = 64, .kind = "h100" },
    { .name = "x0", .devices = 2, .drained = true },
    { .name = "z0", .devices = 2, .kind = "z", .state = SITE_NODE_OFF },
};

/* With partitions: old has a*, new has h*, debug has h0 and c0, all has everything but x0. */
static void open_cluster(struct sim_cluster *c, size_t n)
{
    static const char *const lines[] = { "old|a[0-1]",    "new|h[0-2],big",
                                         "debug|h0,c0",   "all|a[0-1],h[0-2],c0,big,z0",
                                         "nothing",       "bad|h[",
                                         "unknown|q[0-3]" };

    memset(c, 0, sizeof(*c));
    c->site.nodes = nodes;
    c->site.n_nodes = n;
    ok(site_index(&c->site) == 0 && sim_cluster_begin(c, &e) == 0, "a cluster is opened");
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        char line[64];

        snprintf(line, sizeof(line), "%s", lines[i]);
        if (sim_cluster_partition(c, line) < 0)
            ok(false, "%s is a line", lines[i]);
    }
    is_int(sim_cluster_partition(c, NULL), 0, "a line that is too long is nobody's");
}

/* The nodes of a pool that a job may get: "h0 h1". */
static const char *may_get(const struct pool *p, uint64_t kinds)
{
    static char text[128];
    size_t len = 0;

    text[0] = '\0';
    for (size_t i = 0; i < p->n_nodes; i++)
        if (!kinds || kinds & (UINT64_C(1) << p->nodes[i].kind))
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", len ? " " : "",
                                    p->nodes[i].name);
    return text;
}

static void test_pool(void)
{
    static const struct {
        const char *partition, *type, *nodes;
    } cases[] = {
        { "old", "", "a0" },          { "new", "", "h0 h1" },        { "debug", "", "h0" },
        { "all", "", "a0 h0 h1 z0" }, { "all", "h100", "h0 h1" },    { "all", "z", "z0" },
        { "new", "h100", "h0 h1" },   { "elsewhere", "a100", "a0" },
    };
    struct work jobs[ARRAY_SIZE(cases)];
    struct workload work = { .jobs = jobs, .n_jobs = ARRAY_SIZE(cases) };
    struct pool p = { .n_nodes = 0 };
    struct sim_cluster c;

    open_cluster(&c, ARRAY_SIZE(nodes));
    is_int(sim_cluster_end(&c, &e), 0, "a cluster has its kinds");
    memset(jobs, 0, sizeof(jobs));
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        jobs[i].kinds = sim_cluster_kinds(&c, cases[i].partition, cases[i].type);
    sim_cluster_had(&c, "h[0-1],z0");
    sim_cluster_had(&c, "None assigned");
    is_int(sim_cluster_pool(&p, &c, &work, &e), 0, "a cluster becomes a pool");
    is_str(may_get(&p, 0), "a0 h0 h1 z0", "nodes with GPUs that are there");
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        is_str(may_get(&p, jobs[i].kinds), cases[i].nodes, "%s of %s", cases[i].type,
               cases[i].partition);
    is_int((int)c.away, 3, "nodes that are away and had no job are counted");
    is_int((int)c.large, 1, "nodes with too many GPUs are counted");
    ok(pool_kind(&p, "a100") >= 0 && pool_kind(&p, "h100@new+debug+all") >= 0 &&
           pool_kind(&p, "h100@new+all") >= 0,
       "a type that is in other partitions elsewhere has them in its name");
    pool_done(&p);
    site_done(&c.site);
    sim_cluster_done(&c);
}

/* A node that is drained today, and had jobs, was there. */
static void test_drained(void)
{
    struct workload work = { .n_jobs = 0 };
    struct pool p = { .n_nodes = 0 };
    struct sim_cluster c;

    open_cluster(&c, ARRAY_SIZE(nodes));
    is_int(sim_cluster_end(&c, &e), 0, "a cluster has its kinds");
    sim_cluster_had(&c, "a1,x0");
    is_int(sim_cluster_pool(&p, &c, &work, &e), 0, "a cluster becomes a pool");
    is_str(may_get(&p, 0), "a0 a1 h0 h1 x0 z0", "nodes on which jobs were count");
    pool_done(&p);
    site_done(&c.site);
    sim_cluster_done(&c);
}

static void test_none(void)
{
    struct site_node plain[] = { { .name = "c0" } };
    struct workload work = { .n_jobs = 0 };
    struct pool p = { .n_nodes = 0 };
    struct sim_cluster c = { .site = { .nodes = plain, .n_nodes = 1 } };

    ok(sim_cluster_begin(&c, &e) == 0, "a cluster without GPUs");
    is_int(sim_cluster_end(&c, &e), -ENODEV, "a cluster without GPUs is none to replay on");
    ok(strstr(e.text, "--nodes 64x8"), "what to do is said: %s", e.text);
    sim_cluster_done(&c);
    c = (struct sim_cluster){ .site = { .nodes = &nodes[1], .n_nodes = 1 } };
    ok(sim_cluster_begin(&c, &e) == 0 && sim_cluster_end(&c, &e) == 0, "a cluster that is down");
    is_int(sim_cluster_pool(&p, &c, &work, &e), -ENODEV,
           "a cluster whose nodes are all down is none, either");
    pool_done(&p);
    sim_cluster_done(&c);
}

int main(void)
{
    test_pool();
    test_drained();
    test_none();
    return done();
}
