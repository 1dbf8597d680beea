/* Clusters: what can be, as they are read, and out of machines. */
#include <errno.h>
#include <math.h>

#include "gpus_csv.h"
#include "oom_arena.h"
#include "plan/cluster/cluster_read.h"
#include "plan/cluster/from_machine.h"
#include "tap.h"

static bool near(double got, double want)
{
    return fabs(got - want) <= 1e-9 * want;
}

static struct gpus table(void)
{
    struct gpus g = { .n_rows = 0 };
    struct err e = { "" };

    if (gpus_load(&g, data_gpus_csv, data_gpus_csv_len, &e) != 0)
        printf("Bail out! %s\n", e.text);
    return g;
}

static struct cluster good(const struct gpus *g, const char *spec)
{
    struct cluster c = { .nodes = 0 };
    struct err e = { "" };

    is_int(cluster_from_spec(&c, g, spec, &e), 0, "cluster_from_spec reads %s: %s", spec, e.text);
    return c;
}

static void test_spec(const struct gpus *g)
{
    struct cluster c = good(g, "64x8xH100-SXM,nic=4x200G,domain=16,leaf=32,price=2.5");

    is_str(c.gpu.name, "H100-SXM5-80GB", "the GPU of a spec has its full name");
    ok(c.nodes == 64 && c.per_node == 8 && c.domain == 16 && c.leaf_nodes == 32,
       "a spec has its nodes, GPUs, domain and leaf");
    ok(c.nics == 4 && near(c.nic_rate, 25e9) && near(c.price, 2.5),
       "a spec has its ports, their rate and the price");
    ok(near(c.oversubscribed, 1) && isnan(c.mtbf_s), "what a spec lacks is usual or absent");
    is_str(c.assumed, "", "nothing is assumed of ports that a spec states");
    c = good(g, "64x8xh100_80gb");
    ok(c.nics == 8 && near(c.nic_rate, 50e9) && c.domain == 8,
       "H100 nodes without ports in the spec are as a DGX H100");
    ok(near(c.link_rate, 450e9) && near(c.link_latency_s, 1.9e-6) && near(c.nic_latency_s, 4e-6),
       "H100 nodes have their links' rates and latencies");
    is_str(c.assumed, "8 ports of 400 Gbit/s a node, as in DGX H100",
           "the assumption of ports names DGX H100");
    c = good(g, "512xA100");
    ok(c.nodes == 64 && c.per_node == 8 && near(c.nic_rate, 25e9),
       "512 A100 make nodes as the vendor builds them");
    c = good(g, "16x4xA100");
    ok(c.nics == 4 && c.domain == 4, "half of a node has half of its ports");
    c = good(g, "8x1xV100");
    is_str(c.assumed, "1 port of 100 Gbit/s a node, as in DGX-1",
           "a node of one GPU has one port at least");
    c = good(g, "36xGB200");
    ok(c.nodes == 9 && c.per_node == 4 && c.domain == 36 && c.nics == 0,
       "36 GB200 are a part of a rack without a network");
    c = good(g, "32x8xGB200");
    ok(c.domain == 72 && c.nics == 8, "GB200 in nodes of eight have racks as domains");
    c = good(g, "H100");
    ok(c.nodes == 1 && c.per_node == 1 && c.domain == 1 && c.nics == 0,
       "a single GPU has no network");
    c = good(g, "8xL40S");
    ok(c.nodes == 1 && c.domain == 8 && near(c.link_rate, 31e9),
       "GPUs without links have PCIe as link");
    ok(near(c.link_latency_s, 2.5e-6), "PCIe has a longer latency than links");
    c = good(g, "2x8xH100-NVL,nic=100G,link=40,oversubscribed=2,nic_latency=3,link_latency=0,"
                "memory=90,mtbf=50000,domain=2");
    ok(c.domain == 2 && near(c.link_rate, 40e9) && c.nics == 1,
       "pairs of H100-NVL are domains with the link's rate");
    ok(near(good(g, "8xH100,power=500").power_w, 500), "a spec has its limit of power");
    ok(near(good(g, "8xH100,power=350").power_w, 350) &&
           near(good(g, "8xH100,power=700").power_w, 700),
       "a limit of power is half of a GPU's own to all of it");
    ok(near(good(g, "2x8xH100,nic=8x400").nic_rate, 50e9) &&
           near(good(g, "2x8xH100,nic=400").nic_rate, 50e9) &&
           near(good(g, "2x8xH100,nic=8x400G").nic_rate, 50e9),
       "a rate of ports has a G behind it or not");
    ok(near(c.gpu.memory_b, 90e9) && near(c.mtbf_s, 1.8e8) && near(c.nic_latency_s, 3e-6),
       "a spec has its memory, MTBF and latency of ports");
}

static void test_spec_refused(const struct gpus *g)
{
    static const struct {
        const char *spec, *said;
    } cases[] = {
        { "64x8xH10,nic=8x400G",
          "cluster '64x8xH10,nic=8x400G', character 6: unknown GPU 'H10' (did you mean H100?)" },
        { "64x8x", "cluster '64x8x', character 6: the kind of GPU is missing: write "
                   "64x8xH100-SXM, say" },
        { "", "cluster '', character 1: the kind of GPU is missing: write 64x8xH100-SXM, say" },
        { "0x8xH100",
          "cluster '0x8xH100', character 1: a count is a whole number from 1 to 2147483647, not "
          "'0'" },
        { "64x99999999999xH100", "cluster '64x99999999999xH100', character 4: a count is a whole "
                                 "number from 1 to 2147483647, not '99999999999'" },
        { "12xH100", "cluster '12xH100', character 4: 12 GPUs are no whole number of nodes with "
                     "8: write nodes x GPUs, such as 1x8" },
        { "8xH100,", "cluster '8xH100,', character 8: behind the GPUs stand key=value, parted by "
                     "commas" },
        { "8xH100,nics=8", "cluster '8xH100,nics=8', character 8: unknown key 'nics' (did you mean "
                           "nic?)" },
        { "8xH100,nodes=8", "cluster '8xH100,nodes=8', character 8: unknown key 'nodes'" },
        { "8xH100,nic=8xG", "cluster '8xH100,nic=8xG', character 8: the rate of a port is Gbit/s, "
                            "such as 400G, not 'G'" },
        { "8xH100,nic=ax1", "cluster '8xH100,nic=ax1', character 8: nic is ports x Gbit/s, such as "
                            "8x400G, not 'ax1'" },
        { "8xH100,leaf=x", "cluster '8xH100,leaf=x', character 8: leaf is a whole number from 1 "
                           "to 2147483647, not 'x'" },
        { "8xH100,price=-1", "cluster '8xH100,price=-1', character 8: price is a number from 0 on, "
                             "not '-1'" },
        { "8xH100,leaf=1,leaf=2", "cluster '8xH100,leaf=1,leaf=2', character 15: 'leaf' stands "
                                  "twice" },
        { "8xH100,power=300", "cluster '8xH100,power=300': a limit of power is 350 to 700 W for "
                              "H100-SXM5-80GB, half of its own to all, not 300" },
        { "8xH100,power=701", "cluster '8xH100,power=701': a limit of power is 350 to 700 W for "
                              "H100-SXM5-80GB, half of its own to all, not 701" },
        { "8xA10G,power=100", "cluster '8xA10G,power=100': A10G: its power is not known, so that "
                              "no limit of it can be told" },
        { "2x8xL40S", "cluster '2x8xL40S': the network beyond a fast domain is not known: add "
                      "nic=8x400G, say" },
        { "2x8xH100,nic=0", "cluster '2x8xH100,nic=0': the network beyond a fast domain is not "
                            "known: add nic=8x400G, say" },
        { "2x8xH100,domain=12", "cluster '2x8xH100,domain=12': a fast domain of 12 GPUs does not "
                                "go with nodes of 8: whole nodes, or whole parts of one" },
        { "2000000x8xH100", "cluster '2000000x8xH100': a cluster has 1 to 1000000 nodes, not "
                            "2000000" },
        { "8x2000xH100", "cluster '8x2000xH100': a node has 1 to 1024 GPUs, not 2000" },
        { "8xH100,oversubscribed=0.5", "cluster '8xH100,oversubscribed=0.5': a network is "
                                       "oversubscribed 1 (not at all) to 1000 times" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct cluster c = { .nodes = 77 };
        struct err e = { "" };

        is_int(cluster_from_spec(&c, g, cases[i].spec, &e), -EINVAL,
               "cluster_from_spec refuses: %s", cases[i].said);
        is_str(e.text, cases[i].said, "cluster_from_spec says: %s", cases[i].said);
        is_int(c.nodes, 77, "the cluster is left alone after: %s", cases[i].said);
    }
}

static int from_ini(struct cluster *c, const struct gpus *g, const char *text, struct err *e)
{
    return cluster_from_ini(c, g, "c.ini", text, strlen(text), e);
}

static void test_ini(const struct gpus *g)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        { "[cluster]\nnodes = 2\n", "c.ini: 'gpu' is missing in [cluster]" },
        { "[cluster]\ngpu = H10\n", "c.ini:2: unknown GPU 'H10' (did you mean H100?)" },
        { "[cluster]\ngpu = H100\ngpu = A100\n", "c.ini:3: 'gpu' stands twice" },
        { "[cluster]\nnode = 2\n", "c.ini:2: unknown key 'node' (did you mean nodes?)" },
        { "[cluster]\ngpu = L40S\nnodes = 2\n",
          "c.ini: the network beyond a fast domain is not known: add nic=8x400G, say" },
        { "[cluster\n", "c.ini:1: the section header has no ']'" },
    };
    struct cluster c = { .nodes = 0 };
    struct err e = { "" };

    is_int(from_ini(&c, g,
                    "[other]\nanything = 1\n[cluster]\nnic = 8x400G\nprice = 2.5\ngpu = H100-SXM\n"
                    "nodes = 64\ngpus = 8\nleaf = 32\n",
                    &e),
           0, "cluster_from_ini reads a file: %s", e.text);
    ok(c.nodes == 64 && c.per_node == 8 && c.nics == 8 && c.leaf_nodes == 32,
       "a file has its nodes, GPUs, ports and leaf");
    ok(near(c.nic_rate, 50e9) && near(c.price, 2.5) && !c.assumed[0],
       "a file has its rate and price, and nothing is assumed");
    is_int(from_ini(&c, g, "[cluster]\ngpu = B200\n", &e), 0,
           "cluster_from_ini reads a file with a GPU alone: %s", e.text);
    ok(c.nodes == 1 && c.per_node == 8,
       "a file with a GPU alone is one node as its vendor builds it");
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        is_int(from_ini(&c, g, cases[i].text, &e), -EINVAL, "cluster_from_ini refuses: %s",
               cases[i].said);
        is_str(e.text, cases[i].said, "cluster_from_ini says: %s", cases[i].said);
    }
}

static void test_check(const struct gpus *g)
{
    struct cluster base = good(g, "2x8xH100"), c = base;
    struct err e = { "" };

    c.gpu.memory_b = (double)NAN;
    is_int(cluster_check(&c, &e), -EINVAL, "cluster_check refuses a GPU without memory");
    is_str(e.text, "H100-SXM5-80GB: the size and the rate of its memory are not known",
           "the error names the GPU without memory");
    c = base;
    for (int i = 0; i < PLAN_PRECISIONS; i++)
        c.gpu.flops[i] = (double)NAN;
    is_int(cluster_check(&c, &e), -EINVAL, "cluster_check refuses a GPU without speed");
    is_str(e.text, "H100-SXM5-80GB: its speed is not known",
           "the error names the GPU without speed");
    c.gpu.flops[0] = -1;
    is_int(cluster_check(&c, NULL), -EINVAL, "cluster_check refuses a speed below 0");
    c = base;
    c.domain = 17;
    is_int(cluster_check(&c, &e), -EINVAL, "cluster_check refuses a domain beyond the cluster");
    is_str(e.text, "a fast domain has 1 GPU to all 16 of the cluster, not 17",
           "the error names the domain's size and the cluster's");
    c = base;
    c.nic_latency_s = (double)NAN;
    is_int(cluster_check(&c, NULL), -EINVAL, "cluster_check refuses a latency that is no number");
    c = base;
    c.link_rate = (double)NAN;
    is_int(cluster_check(&c, NULL), -EINVAL, "cluster_check refuses links without a rate");
    c = base;
    c.nics = -1;
    is_int(cluster_check(&c, NULL), -EINVAL, "cluster_check refuses ports below 0");
    c = base;
    c.leaf_nodes = -1;
    is_int(cluster_check(&c, NULL), -EINVAL, "cluster_check refuses nodes of a leaf below 0");
    c = base;
    c.mtbf_s = 0;
    is_int(cluster_check(&c, NULL), -EINVAL, "cluster_check refuses an MTBF of 0");
    c = base;
    c.price = -1;
    is_int(cluster_check(&c, NULL), -EINVAL, "cluster_check refuses a price below 0");
}

#define COUNT(member, ...) \
    { \
#member, offsetof(struct cluster, member), true, __VA_ARGS__ \
    }
#define NUMBER(member, ...) \
    { \
#member, offsetof(struct cluster, member), false, __VA_ARGS__ \
    }

/* Each number at the least and the most that it may be, and beyond. */
static void test_bounds(const struct gpus *g)
{
    static const struct {
        const char *name;
        size_t at;
        bool whole;
        double below, least, most, above;
    } bounds[] = {
        COUNT(nodes, 0, 1, 1e6, 1e6 + 1),
        COUNT(per_node, 0, 1, 1024, 1025),
        COUNT(nics, 0, 1, 1024, 1025),
        COUNT(leaf_nodes, -1, 0, 1e6, 1e6 + 1),
        COUNT(domain, 0, 1, 16, 17),
        COUNT(domain, 3, 4, 8, 12),
        NUMBER(gpu.memory_b, 0, 1, 1e14, 1.1e14),
        NUMBER(link_rate, 0, 1, 1e15, (double)INFINITY),
        NUMBER(nic_rate, 0, 1, 1e15, (double)INFINITY),
        NUMBER(nic_latency_s, -1e-9, 0, .999, 1),
        NUMBER(link_latency_s, -1e-9, 0, .999, 1),
        NUMBER(oversubscribed, .999, 1, 1000, 1000.1),
        NUMBER(price, -.01, 0, CLUSTER_PRICE_MOST, CLUSTER_PRICE_MOST + .01),
        NUMBER(mtbf_s, 0, 1e-9, 1e12, (double)INFINITY),
    };

    for (size_t i = 0; i < ARRAY_SIZE(bounds); i++) {
        const double values[] = { bounds[i].below, bounds[i].least, bounds[i].most,
                                  bounds[i].above };

        for (size_t k = 0; k < ARRAY_SIZE(values); k++) {
            struct cluster c = good(g, "2x8xH100");
            void *to = (char *)&c + bounds[i].at;

            if (bounds[i].at != offsetof(struct cluster, link_rate))
                c.domain = 1;
            if (bounds[i].whole)
                memcpy(to, &(int){ (int)values[k] }, sizeof(int));
            else
                memcpy(to, &values[k], sizeof(double));
            is_int(cluster_check(&c, NULL), k == 1 || k == 2 ? 0 : -EINVAL,
                   "cluster_check takes %s at %.9g, or refuses it", bounds[i].name, values[k]);
        }
    }
    for (int domain = 1; domain <= 2; domain++) {
        struct cluster c = good(g, "2x8xH100");

        c.domain = domain;
        c.link_rate = (double)NAN;
        is_int(cluster_check(&c, NULL), domain == 1 ? 0 : -EINVAL,
               "links between %d GPUs need a rate or not", domain);
    }
    for (int nodes = 1; nodes <= 2; nodes++) {
        struct cluster c = good(g, "2x8xH100");

        c.nodes = nodes;
        c.nics = 0;
        is_int(cluster_check(&c, NULL), nodes == 1 ? 0 : -EINVAL,
               "a cluster of %d nodes needs a network or not", nodes);
    }
}

/* ---- machines ---- */

/* Add a node with so many GPUs of a kind and NICs of so many Gbit/s; NVLink to a fabric where
 * said. */
static struct node *add_node(struct machine *m, int gpus, const char *kind, int nics, double gbps,
                             bool linked)
{
    struct node *n = node_new();

    n->name = "n1";
    for (int i = 0; i < gpus; i++) {
        struct device *d = node_add_device(n, DEVICE_ACCELERATOR);

        d->product = kind;
        d->acc.memory_b = 84000000000 - i * 1000000;
        if (linked)
            (*node_add_link(n, LINK_NVLINK, i, ABSENT)).count = 18;
        if (linked)
            n->links[n->n_links - 1].gbs = 25;
    }
    for (int i = 0; i < nics; i++) {
        struct device *d = node_add_device(n, DEVICE_NIC);
        struct nic_port *p = node_add_port(n, &d->nic);

        p->up = 1;
        p->gbps = gbps;
    }
    if (machine_add(m, n) < 0)
        printf("Bail out! out of memory\n");
    return n;
}

static void test_machine(const struct gpus *g)
{
    static const struct catalogue catalogue = { .n_products = 0 };
    CLEANUP(machine_done) struct machine m = { .n_nodes = 0 };
    struct cluster c = { .nodes = 0 };
    struct device *d;
    struct node *n;
    struct err e = { "" };

    is_int(cluster_from_machine(&c, g, &catalogue, &m, &e), -EINVAL,
           "cluster_from_machine refuses a machine without nodes");
    is_str(e.text, "this machine has no GPUs: describe a cluster, such as 1x8xH100",
           "the error says that the machine has no GPUs");
    add_node(&m, 8, "NVIDIA H100 80GB HBM3", 10, 400, true);
    is_int(cluster_from_machine(&c, g, &catalogue, &m, &e), 0,
           "cluster_from_machine takes a node: %s", e.text);
    is_str(c.gpu.name, "H100-SXM5-80GB", "the cluster has the machine's GPU by its full name");
    ok(c.nodes == 1 && c.per_node == 8 && c.domain == 8 && near(c.link_rate, 450e9),
       "the cluster has the machine's domain and rate of links");
    ok(c.nics == 8 && near(c.nic_rate, 50e9) && !c.assumed[0],
       "a machine with more ports than GPUs has a port for each GPU");
    ok(near(c.gpu.memory_b, 83993000000), "the GPU with the least memory counts");
    add_node(&m, 8, "H100-SXM", 4, 200, true);
    is_int(cluster_from_machine(&c, g, &catalogue, &m, &e), 0,
           "cluster_from_machine takes two nodes: %s", e.text);
    ok(c.nodes == 2 && c.nics == 4 && near(c.nic_rate, 25e9),
       "the fewest and slowest ports of two nodes count");
    n = add_node(&m, 4, "H100-SXM", 4, 200, true);
    is_int(cluster_from_machine(&c, g, &catalogue, &m, &e), -EINVAL,
           "cluster_from_machine refuses a smaller node");
    is_str(e.text, "n1 has 4 GPUs, where another node has 8",
           "the error names the smaller node and both counts");
    d = &n->devices[0];
    d->product = "A100";
    is_int(cluster_from_machine(&c, g, &catalogue, &m, &e), -EINVAL,
           "cluster_from_machine refuses other GPUs in a node");
    is_str(e.text, "n1 has a A100-SXM4-80GB beside H100-SXM5-80GB: plan for one kind at a time",
           "the error names the node and both kinds of GPU");
    d->product = "Tesla X";
    is_int(cluster_from_machine(&c, g, &catalogue, &m, &e), -EINVAL,
           "cluster_from_machine refuses an unknown GPU");
    is_str(e.text,
           "n1: unknown GPU 'Tesla X' (there is Tesla-V100-PCIE-16GB, Tesla-V100-PCIE-32GB, "
           "Tesla-V100S-PCIE-32GB, Tesla-T4)",
           "the error names the node and the unknown GPU");
    d->product = NULL;
    is_int(cluster_from_machine(&c, g, &catalogue, &m, &e), -EINVAL,
           "cluster_from_machine refuses a GPU without a name");
    is_str(e.text, "n1: a GPU: its kind is not known",
           "the error names the node of the GPU without a name");
}

/* Ports that are slow, and those beside faster ones. */
static void test_slow_ports(const struct gpus *g)
{
    static const struct catalogue catalogue = { .n_products = 0 };
    static const double rates[] = { 0.5, 1, 2.5, 10 };

    for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
        CLEANUP(machine_done) struct machine m = { .n_nodes = 0 };
        struct cluster c = { .nodes = 0 };
        struct node *n = add_node(&m, 4, "H100-SXM", 3, rates[i], true);

        ok(cluster_from_machine(&c, g, &catalogue, &m, NULL) == 0 && c.nics == 3 &&
               near(c.nic_rate, rates[i] * 1e9 / 8),
           "three ports of %g Gbit/s count", rates[i]);
        n->devices[5].nic.ports[0].gbps = 2 * rates[i];
        ok(cluster_from_machine(&c, g, &catalogue, &m, NULL) == 0 && c.nics == 1 &&
               near(c.nic_rate, 2 * rates[i] * 1e9 / 8),
           "one port of %g Gbit/s counts, and none that is slower", 2 * rates[i]);
        n->devices[5].nic.ports[0].up = 0;
        ok(cluster_from_machine(&c, g, &catalogue, &m, NULL) == 0 && c.nics == 2 &&
               near(c.nic_rate, rates[i] * 1e9 / 8),
           "a port that is down does not count beside two of %g Gbit/s", rates[i]);
    }
}

static void test_plain_machine(const struct gpus *g)
{
    static struct product product = { .name = "L40S" };
    const struct catalogue catalogue = { .products = &product, .n_products = 1 };
    CLEANUP(machine_done) struct machine m = { .n_nodes = 0 };
    struct cluster c = { .nodes = 0 };
    struct node *n = add_node(&m, 2, "?", 0, 0, false);
    struct err e = { "" };

    n->devices[0].catalogue = n->devices[1].catalogue = 0;
    is_int(cluster_from_machine(&c, g, &catalogue, &m, &e), 0,
           "cluster_from_machine finds GPUs by their catalogue row: %s", e.text);
    is_str(c.gpu.name, "L40S", "the cluster has the GPU of the catalogue's row");
    ok(c.domain == 2 && near(c.link_rate, 31e9) && c.nics == 0,
       "GPUs without links have PCIe, and there are no ports");
    n->devices[1].acc.lost = true;
    is_int(cluster_from_machine(&c, g, &catalogue, &m, &e), 0,
           "cluster_from_machine takes a node with a lost GPU: %s", e.text);
    is_int(c.per_node, 1, "a lost GPU does not count in its node");
}

static void test_oom(const struct gpus *g)
{
    bool failed;

    oom_restart();
    do {
        struct cluster c;
        struct err e = { "" };
        int rc;

        oom_next();
        rc = cluster_from_spec(&c, g, "64x8xH100,nic=8x400G,price=2.5", &e);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc == 0,
           "cluster_from_spec with allocation %d failing returns %d", oom_at, rc);
    } while (failed);
}

int main(void)
{
    CLEANUP(gpus_done) struct gpus g = table();

    test_spec(&g);
    test_spec_refused(&g);
    test_ini(&g);
    test_check(&g);
    test_bounds(&g);
    test_machine(&g);
    test_slow_ports(&g);
    test_plain_machine(&g);
    test_oom(&g);
    return done();
}
