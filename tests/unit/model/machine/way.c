#include "model/machine/way.h"

#include "nodes.h"
#include "tap.h"

static void is_way(const struct node *n, int a, int b, const char *want, int gbs)
{
    struct way w = way_between(n, a, b), back = way_between(n, b, a);
    char buf[WAY_TEXT];

    is_str(way_text(&w, buf), want, "the way of %d and %d is %s", a, b, want);
    is_int((long long)w.gbs, gbs, "the way of %d and %d moves %d GB/s", a, b, gbs);
    is_str(way_text(&back, buf), want, "the way back of %d and %d is %s", b, a, want);
    is_int((long long)back.gbs, gbs, "the way back of %d and %d moves %d GB/s", b, a, gbs);
}

/* A switch with two devices, one with a second function; a switch below it with two more; another
 * root port of the same host bridge; another host bridge of the domain; the other domain. */
struct tree {
    struct node *n;
    int top, low;                                           /* upstream ports */
    int gpu, audio, nic, deep, deep_too, port, domain, far; /* devices */
};

static struct tree plant(void)
{
    struct tree t = { .n = nodes_new(2) };
    struct node *n = t.n;
    int port = nodes_root(n, 0, "00:00.0", "00:01.0"), other;

    t.top = nodes_switch(n, port, 0x10);
    other = nodes_pci(n, PCI_SWITCH_DOWN, t.top, "11:02.0");
    t.low = nodes_switch(n, t.top + 2, 0x20);
    t.gpu = nodes_device(n, DEVICE_ACCELERATOR, t.top + 1, "12:00.0");
    t.audio = nodes_device(n, DEVICE_NIC, t.top + 1, "12:00.1");
    t.nic = nodes_device(n, DEVICE_NIC, other, "13:00.0");
    t.deep = nodes_device(n, DEVICE_ACCELERATOR, t.low + 1, "22:00.0");
    t.deep_too = nodes_device(n, DEVICE_NIC, t.low + 2, "23:00.0");
    port = nodes_pci(n, PCI_ROOT_PORT, 0, "00:02.0");
    t.port = nodes_device(n, DEVICE_NIC, port, "30:00.0");
    t.domain = nodes_device(n, DEVICE_NVME, nodes_root(n, 0, "40:00.0", "40:01.0"), "41:00.0");
    t.far = nodes_device(n, DEVICE_NIC, nodes_root(n, 1, "80:00.0", "80:01.0"), "81:00.0");
    return t;
}

static void test_classes(void)
{
    struct tree t = plant();

    is_way(t.n, t.gpu, t.gpu, "X", ABSENT);
    is_way(t.n, t.gpu, t.nic, "PIX", 63);
    is_way(t.n, t.gpu, t.audio, "PIX", ABSENT); /* one card: no link is between */
    is_way(t.n, t.deep, t.deep_too, "PIX", 63);
    is_way(t.n, t.gpu, t.deep, "PXB", 63);
    is_way(t.n, t.deep_too, t.nic, "PXB", 63);
    is_way(t.n, t.gpu, t.port, "PHB", 63);
    is_way(t.n, t.deep, t.port, "PHB", 63);
    is_way(t.n, t.gpu, t.domain, "NODE", 63);
    is_way(t.n, t.gpu, t.far, "SYS", 63);
    is_way(t.n, t.domain, t.far, "SYS", 63);
    node_free(t.n);
}

/* As in NCCL's XML: of a switch only the upstream port is there. */
static void test_without_downstream(void)
{
    CLEANUP(node_freep) struct node *n = nodes_new(1);
    int host = nodes_pci(n, PCI_HOST_BRIDGE, ABSENT, "00:00.0");
    int top = nodes_pci(n, PCI_SWITCH_UP, host, "10:00.0");
    int low = nodes_pci(n, PCI_SWITCH_UP, top, "20:00.0");
    int a = nodes_device(n, DEVICE_ACCELERATOR, top, "12:00.0");
    int b = nodes_device(n, DEVICE_NIC, top, "13:00.0");
    int c = nodes_device(n, DEVICE_NIC, low, "21:00.0");
    int d = nodes_device(n, DEVICE_NIC, host, "30:00.0");

    is_way(n, a, b, "PIX", 63);
    is_way(n, a, c, "PXB", 63);
    is_way(n, a, d, "PHB", 63);
    c = nodes_device(n, DEVICE_NIC, host, "30:00.1");
    is_way(n, c, d, "PIX", ABSENT); /* one card, without the port that its functions share */
    n->pcis[n->devices[c].pci].gts = ABSENT;
    is_way(n, c, d, "PHB", 63); /* built into the CPU: no card */
}

/* A bridge of unknown type counts as one switch when it stands alone, two are several. */
static void test_bridges(void)
{
    CLEANUP(node_freep) struct node *n = nodes_new(1);
    int port = nodes_root(n, 0, "00:00.0", "00:01.0");
    int top = nodes_pci(n, PCI_SWITCH_UP, port, "10:00.0");
    int bridge = nodes_pci(n, PCI_BRIDGE, top, "11:00.0");
    int second = nodes_pci(n, PCI_BRIDGE, bridge, "12:00.0");
    int a = nodes_device(n, DEVICE_ACCELERATOR, top, "20:00.0");
    int b = nodes_device(n, DEVICE_NIC, bridge, "21:00.0");
    int c = nodes_device(n, DEVICE_NIC, second, "22:00.0");

    is_way(n, a, b, "PIX", 63);
    is_way(n, a, c, "PXB", 63);
    is_way(n, b, c, "PIX", 63);
}

static void test_bottleneck(void)
{
    struct tree t = plant();
    struct way w;
    int far = t.n->devices[t.far].pci;

    t.n->pcis[t.low].width = 8;
    w = way_between(t.n, t.gpu, t.deep);
    is_int(w.limit, t.low, "the narrow uplink of the lower switch limits");
    is_int((long long)(w.gbs * 10), 315, "the narrow uplink limits the way to 31.5 GB/s");
    w = way_between(t.n, t.deep, t.deep_too);
    is_int((long long)w.gbs, 63, "the narrow uplink does not limit what stays below it");
    w = way_between(t.n, t.gpu, t.far);
    is_int((long long)w.gbs, 63, "the narrow uplink does not limit what does not pass it");

    t.n->pcis[far].gts = 16;
    t.n->pcis[far].width = 4;
    w = way_between(t.n, t.deep, t.far);
    is_int(w.limit, far, "the slower of two narrow links limits");
    is_int((long long)(w.gbs * 100), 787, "the slower of two narrow links limits to 7.87 GB/s");

    t.n->pcis[t.top + 1].width = 1;
    w = way_between(t.n, t.gpu, t.nic);
    is_int((long long)w.gbs, 63, "the rate of a port is that of the function below it");

    for (size_t i = 0; i < t.n->n_pcis; i++)
        t.n->pcis[i].gts = ABSENT;
    w = way_between(t.n, t.gpu, t.nic);
    ok(w.class == WAY_PIX && (int)w.gbs == ABSENT && w.limit == ABSENT,
       "without any rate the class is known and the bottleneck is not");
    t.n->pcis[t.n->devices[t.nic].pci].gts = 8;
    w = way_between(t.n, t.gpu, t.nic);
    is_int((long long)w.gbs, 15, "one known rate on a way is its rate");
    node_free(t.n);
}

static void test_meet(void)
{
    struct tree t = plant();
    const struct device *d = t.n->devices;

    is_int(way_meet(t.n, d[t.gpu].pci, d[t.deep].pci), t.top,
           "two functions meet at the switch above both");
    is_int(way_meet(t.n, d[t.deep].pci, d[t.gpu].pci), t.top,
           "two functions meet at the same place from either side");
    is_int(way_meet(t.n, d[t.gpu].pci, d[t.audio].pci), t.top + 1,
           "functions of one card meet at the port above both");
    is_int(way_meet(t.n, d[t.gpu].pci, d[t.port].pci), 0,
           "functions below two root ports meet at the host bridge");
    is_int(way_meet(t.n, d[t.gpu].pci, d[t.far].pci), ABSENT,
           "functions of two sockets do not meet below the CPU");
    is_int(way_meet(t.n, d[t.gpu].pci, d[t.gpu].pci), d[t.gpu].pci,
           "a function meets itself at itself");
    is_int(way_meet(t.n, d[t.gpu].pci, ABSENT), ABSENT, "a function does not meet an absent one");
    node_free(t.n);
}

/* A tree that is a ring, as no machine has it: the walk ends all the same. */
static void test_ring(void)
{
    CLEANUP(node_freep) struct node *n = nodes_new(1);
    int a = nodes_pci(n, PCI_BRIDGE, ABSENT, "01:00.0");
    int b = nodes_pci(n, PCI_BRIDGE, a, "02:00.0");

    n->pcis[a].parent = b;
    is_int(way_meet(n, a, b), b, "a ring is walked once");
}

static void test_nvlink_direct(void)
{
    struct tree t = plant();
    struct way w;

    nodes_link(t.n, LINK_NVLINK, t.gpu, t.deep, 4);
    is_way(t.n, t.gpu, t.deep, "NV4", 100);
    nodes_link(t.n, LINK_NVLINK, t.deep, t.gpu, 2);
    is_way(t.n, t.gpu, t.deep, "NV6", 150);
    is_way(t.n, t.gpu, t.nic, "PIX", 63);
    w = way_over_pcie(t.n, t.gpu, t.deep);
    is_int(w.class, WAY_PXB, "way_over_pcie tells the PCIe way beside NVLink");
    t.n->links[1].gbs = ABSENT;
    w = way_between(t.n, t.gpu, t.deep);
    ok(w.class == WAY_NV && w.count == 6, "links of unknown rate are still links");
    node_free(t.n);
}

static void test_nvlink_switches(void)
{
    struct tree t = plant();
    int chip[2];

    for (int i = 0; i < 2; i++)
        chip[i] = nodes_device(t.n, DEVICE_SWITCH, 0, i ? "00:06.0" : "00:05.0");
    for (int i = 0; i < 2; i++) {
        nodes_link(t.n, LINK_NVLINK, t.gpu, chip[i], 9);
        nodes_link(t.n, LINK_NVLINK, t.deep, chip[i], i ? 8 : 9);
    }
    is_way(t.n, t.gpu, t.deep, "NV17", 425); /* the weaker side */
    is_way(t.n, t.gpu, t.far, "SYS", 63);
    node_free(t.n);
}

static void test_nvlink_unseen(void)
{
    struct tree t = plant();

    nodes_link(t.n, LINK_NVLINK, t.gpu, ABSENT, 18);
    is_way(t.n, t.gpu, t.deep, "PXB", 63); /* only one side has links */
    nodes_link(t.n, LINK_NVLINK, t.deep, ABSENT, 18);
    is_way(t.n, t.gpu, t.deep, "NV18", 450);
    t.n->links[1].kind = LINK_XGMI;
    is_way(t.n, t.gpu, t.deep, "PXB", 63); /* links of two kinds lead nowhere */
    t.n->links[1].kind = LINK_NVLINK;
    t.n->links[1].count = 0;
    is_way(t.n, t.gpu, t.deep, "PXB", 63); /* no link is up */
    node_free(t.n);
}

static void test_kinds(void)
{
    static const struct {
        enum link_kind kind;
        const char *text;
    } kinds[] = { { LINK_XGMI, "XG1" },
                  { LINK_HCCS, "HC1" },
                  { LINK_XELINK, "XL1" },
                  { LINK_C2C, "C2C" },
                  { LINK_FABRIC, "FB1" } };
    struct tree t = plant();

    nodes_link(t.n, LINK_NVLINK, t.gpu, t.deep, 1);
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        t.n->links[0].kind = kinds[i].kind;
        is_way(t.n, t.gpu, t.deep, kinds[i].text, 25);
    }
    node_free(t.n);
}

/* A C2C link to a CPU is no way to another accelerator that has one too. */
static void test_c2c_to_cpu(void)
{
    struct tree t = plant();

    nodes_link(t.n, LINK_C2C, t.gpu, ABSENT, 1);
    nodes_link(t.n, LINK_C2C, t.deep, ABSENT, 1);
    t.n->links[0].numa = 0;
    t.n->links[1].numa = 1;
    is_way(t.n, t.gpu, t.deep, "PXB", 63);
    node_free(t.n);
}

static void test_unknown_numa(void)
{
    CLEANUP(node_freep) struct node *n = nodes_new(2);
    CLEANUP(node_freep) struct node *one = nodes_new(1);
    int a = nodes_device(n, DEVICE_ACCELERATOR, nodes_root(n, 0, "00:00.0", "00:01.0"), "01:00.0");
    int b = nodes_device(n, DEVICE_NIC, nodes_root(n, ABSENT, "80:00.0", "80:01.0"), "81:00.0");

    is_way(n, a, b, "?", 63);
    n->pcis[n->pcis[n->devices[b].pci].parent].numa = 1;
    is_way(n, a, b, "SYS", 63); /* a bridge above tells */
    n->devices[b].numa = 0;
    is_way(n, a, b, "NODE", 63); /* the device itself comes first */

    a = nodes_device(one, DEVICE_NIC, nodes_root(one, ABSENT, "00:00.0", "00:01.0"), "01:00.0");
    b = nodes_device(one, DEVICE_NIC, nodes_root(one, ABSENT, "80:00.0", "80:01.0"), "81:00.0");
    is_way(one, a, b, "NODE", 63); /* with one domain the firmware need not say */
}

static void test_without_pci(void)
{
    CLEANUP(node_freep) struct node *n = nodes_new(2);
    int cpu = nodes_device(n, DEVICE_ACCELERATOR, ABSENT, NULL);
    int nic = nodes_device(n, DEVICE_NIC, nodes_root(n, 1, "80:00.0", "80:01.0"), "81:00.0");

    is_way(n, cpu, nic, "?", 63);
    n->devices[cpu].numa = 0;
    is_way(n, cpu, nic, "SYS", 63);
    n->devices[cpu].numa = 1;
    is_way(n, cpu, nic, "NODE", 63);
    is_way(n, cpu, cpu, "X", ABSENT);
}

int main(void)
{
    test_classes();
    test_without_downstream();
    test_bridges();
    test_bottleneck();
    test_meet();
    test_ring();
    test_nvlink_direct();
    test_nvlink_switches();
    test_nvlink_unseen();
    test_kinds();
    test_c2c_to_cpu();
    test_unknown_numa();
    test_without_pci();
    return done();
}
