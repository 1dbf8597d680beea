/* NCCL's topology file, written and read back: the same ways. */
#include "model/machine/way.h"
#include "probe/source/nccl_xml.h"
#include "render_node.h"
#include "tap.h"

static struct str out = STR_INIT(1 << 20);

static bool has(const char *part)
{
    return strstr(str_text(&out), part) != NULL;
}

static struct node *read_back(const struct machine *m)
{
    struct catalogue c = { .n_products = 0 };
    struct err e = { "" };
    struct node *n = NULL;

    is_int(render_as("nccl-xml", m, &out), 0, "the NCCL file is written");
    is_int(nccl_xml_read("n1.xml", str_text(&out), out.len, &c, &n, &e), 0,
           "the NCCL file is read back: %s", e.text);
    return n;
}

static int device_named(const struct node *n, const char *name)
{
    for (size_t i = 0; i < n->n_devices; i++)
        if (!strcmp(n->devices[i].name, name))
            return (int)i;
    return ABSENT;
}

/* The file knows no host bridges: PHB and NODE are one, and so is what nobody knew. */
static bool alike(enum way_class was, enum way_class is)
{
    bool near = is == WAY_PHB || is == WAY_NODE;

    if (was == WAY_PHB || was == WAY_NODE)
        return near;
    return was == WAY_UNKNOWN ? near || is == WAY_SYS : was == is;
}

static void compare(const struct node *was, const struct node *is)
{
    for (int a = 0; a < (int)was->n_devices; a++)
        for (int b = a + 1; b < (int)was->n_devices; b++) {
            const struct device *x = &was->devices[a], *y = &was->devices[b];
            struct way before, after;

            if (x->kind > DEVICE_NIC || y->kind > DEVICE_NIC)
                continue;
            before = way_between(was, a, b);
            after = way_between(is, device_named(is, x->name), device_named(is, y->name));
            ok(alike(before.class, after.class) && before.count == after.count,
               "the way from %s to %s has class %d, then %d", x->name, y->name, before.class,
               after.class);
        }
}

static void test_round(void)
{
    struct machine m = machine_of(test_node("n1"));
    struct node *again;

    add_nvlink(m.nodes[0]);
    again = read_back(&m);
    compare(m.nodes[0], again);
    ok(has("<cpu numaid=\"0\" affinity=\"0000000f\" arch=\"x86_64\" vendor=\"GenuineIntel\""
           " familyid=\"6\" modelid=\"143\">"),
       "the CPU stands in the NCCL file");
    ok(has("<gpu dev=\"0\" sm=\"90\" rank=\"0\" gdr=\"1\">"),
       "the first GPU stands in the NCCL file");
    ok(has("<nvlink target=\"0000:82:00.0\" count=\"4\" tclass=\"0x030200\"/>") &&
           has("<nvlink target=\"0000:04:00.0\" count=\"4\""),
       "links are named from both ends");
    ok(has("busid=\"0000:82:00.0\" class=\"0x030200\"") && has("link_speed=\"16.0 GT/s PCIe\""),
       "the link of the port has its best speed, not today's");
    ok(has("<net name=\"mlx5_0\" dev=\"0\" latency=\"0.000000\" speed=\"400000\" port=\"1\""
           " maxconn=\"131072\" gdr=\"1\"/>"),
       "the NIC stands in the NCCL file");
    ok(!has("disk") && !has("0000:08:00.0"), "the NVMe disk is left out of the NCCL file");
    node_free(again);
    machine_done(&m);
}

/* NVSwitches that a guest does not see; AMD's xGMI; a coherent link to the CPU. */
static void test_links(void)
{
    struct machine m = machine_of(test_node("n1"));
    struct node *n = m.nodes[0], *again;
    struct link *l;

    for (int i = 0; i < 2; i++) {
        l = node_add_link(n, LINK_NVLINK, i, ABSENT);
        assert(l);
        l->count = 18;
    }
    l = node_add_link(n, LINK_C2C, 0, ABSENT);
    assert(l);
    l->numa = 0;
    l->gbs = 450;
    again = read_back(&m);
    compare(n, again);
    ok(has("target=\"fffffff:ffff:ff\" count=\"18\" tclass=\"0x068000\""),
       "links to unseen switches go to the address fffffff:ffff:ff");
    ok(has("<c2c bw=\"450000\" count=\"1\"/>"), "the NCCL file has the C2C link");
    node_free(again);
    n->n_links = 0;
    l = node_add_link(n, LINK_XGMI, 0, 1);
    assert(l);
    n->devices[0].acc.arch = n->devices[1].acc.arch = "gfx942";
    again = read_back(&m);
    compare(n, again);
    ok(has("<xgmi target=") && has("sm=\"94\"") && has("gcn=\"gfx942\""),
       "AMD accelerators have XGMI links and an architecture");
    node_free(again);
    machine_done(&m);
}

/* Architectures as a number: what is none is 0. */
static void test_architectures(void)
{
    static const struct {
        const char *arch, *sm;
    } cases[] = {
        { "sm90", "sm=\"90\"" },
        { "sm9999", "sm=\"9999\"" },
        { "sm99999", NULL },
        { "sm", NULL },
        { "smx", NULL },
        { "gfx942", "sm=\"94\"" },
        { "gfx90a", "sm=\"90\"" },
        { "gfx1100", "sm=\"110\"" },
        { "gfx992", "sm=\"99\"" },
        { "gfx9a2", NULL },
        { "gfxx42", NULL },
        { "gfx42", NULL },
        { "gfx99942", "sm=\"9994\"" },
        { "gfx999942", NULL },
        { "gfy942", NULL },
        { "gfx9/2", NULL },
        { "gfx9:2", NULL },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct machine m = machine_of(test_node("n1"));

        m.nodes[0]->devices[0].acc.arch = m.nodes[0]->devices[1].acc.arch = cases[i].arch;
        is_int(render_as("nccl-xml", &m, &out), 0, "a node of accelerators is written");
        ok(cases[i].sm ? has(cases[i].sm) : !has("sm=") || has("sm=\"0\""),
           "the architecture %s has its number", cases[i].arch);
        machine_done(&m);
    }
}

/* No domains, no devices: still a file that reads. */
static void test_bare(void)
{
    struct node *n = node_new();
    struct machine m;

    n->name = "bare";
    m = machine_of(n);
    n = read_back(&m);
    ok(n && n->n_devices == 0, "a file without devices reads as none");
    node_free(n);
    machine_done(&m);
}

int main(void)
{
    test_round();
    test_links();
    test_architectures();
    test_bare();
    str_done(&out);
    return done();
}
