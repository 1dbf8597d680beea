#include "probe/source/nccl_xml.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "model/machine/way.h"
#include "tap.h"

static const char products[] = "name,kind,pci_vendor,pci_devices\n"
                               "H100,accelerator,10de,2330\n"
                               "MI300X,accelerator,1002,74a1\n"
                               "CX7,nic,15b3,1021\n";

static struct node *read_xml(const char *name, const char *text, int *rc, struct err *e)
{
    CLEANUP(catalogue_done) struct catalogue c = { .n_products = 0 };
    struct node *n = NULL;

    if (catalogue_load(&c, products, strlen(products), e) < 0)
        exit(1);
    *rc = nccl_xml_read(name, text, strlen(text), &c, &n, e);
    for (size_t i = 0; n && i < n->n_devices; i++) /* the catalogue goes: keep what it named */
        if (n->devices[i].product)
            n->devices[i].product = arena_strdup(&n->arena, n->devices[i].product);
    return n;
}

static struct node *good_xml(const char *text)
{
    struct err e = { "" };
    int rc;
    struct node *n = read_xml("some/where/topo.xml", text, &rc, &e);

    is_int(rc, 0, "nccl_xml_read reads a topology: %s", e.text);
    if (!n)
        exit(1);
    return n;
}

static void is_way(const struct node *n, int a, int b, const char *want)
{
    struct way w = way_between(n, a, b);
    char buf[WAY_TEXT];

    is_str(way_text(&w, buf), want, "the way of %s to %s is as NCCL's", n->devices[a].name,
           n->devices[b].name);
}

/* As NCCL 2.20 dumps a DGX H100, less of everything: two GPUs on switches, NVSwitches unseen. */
static const char nvidia[] =
    "<?xml version=\"1.0\"?>\n"
    "<system version=\"1\">\n"
    "  <cpu host_hash=\"0x5\" numaid=\"0\" affinity=\"00000000,0000000f,0000000f\" arch=\"x86_64\" "
    "vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"143\">\n"
    "    <pci busid=\"0000:16:00.0\" class=\"0x060400\" vendor=\"0x1000\" device=\"0xc030\" "
    "subsystem_vendor=\"0x1000\" subsystem_device=\"0x1005\" link_speed=\"32.0 GT/s PCIe\" "
    "link_width=\"16\">\n"
    "      <pci busid=\"0000:18:00.0\" class=\"0x020700\" vendor=\"0x15b3\" device=\"0x1021\" "
    "subsystem_vendor=\"0x15b3\" subsystem_device=\"0x0023\" link_speed=\"32.0 GT/s PCIe\" "
    "link_width=\"16\">\n"
    "        <nic>\n"
    "          <net name=\"mlx5_0\" dev=\"0\" latency=\"0\" speed=\"400000\" port=\"1\" "
    "guid=\"0x6d2e0003b2daf9a0\" maxconn=\"131072\" gdr=\"1\"/>\n"
    "        </nic>\n"
    "      </pci>\n"
    "      <pci busid=\"0000:1b:00.0\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x2330\" "
    "subsystem_vendor=\"0x10de\" subsystem_device=\"0x16c1\" link_speed=\"32.0 GT/s PCIe\" "
    "link_width=\"16\">\n"
    "        <gpu dev=\"0\" sm=\"90\" rank=\"0\" gdr=\"1\">\n"
    "          <nvlink target=\"fffffff:ffff:ff\" count=\"18\" tclass=\"0x068000\"/>\n"
    "        </gpu>\n"
    "      </pci>\n"
    "    </pci>\n"
    "  </cpu>\n"
    "  <cpu host_hash=\"0x5\" numaid=\"1\" affinity=\"ffffffff,00000000,00000000\">\n"
    "    <pci busid=\"0000:9b:00.0\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x2330\" "
    "link_speed=\"Unknown\" link_width=\"8\">\n"
    "      <gpu dev=\"1\" sm=\"90\"><nvlink target=\"fffffff:ffff:ff\" count=\"18\"/></gpu>\n"
    "    </pci>\n"
    "  </cpu>\n"
    "</system>\n";

static void test_host(void)
{
    CLEANUP(node_freep) struct node *n = good_xml(nvidia);

    is_str(n->name, "topo.xml", "the node is named as the topology's file");
    is_str(n->cpu_arch, "x86_64", "the node has the architecture of its CPUs");
    is_str(n->cpu_vendor, "GenuineIntel", "the node has the vendor of its CPUs");
    is_int((long long)n->n_numas, 2, "the node has two domains");
    is_int(n->numas[1].id, 1, "the second domain has its number");
    is_str(n->numas[0].cpus, "0-3,32-35", "the first domain has its CPUs");
    is_int(n->numas[0].threads, 8, "the CPUs of the first domain are counted");
    is_str(n->numas[1].cpus, "64-95", "the second domain has its CPUs");
    is_int((long long)n->n_acc, 2, "the node has two GPUs");
    is_int((long long)n->n_devices, 3, "the node has a NIC beside its GPUs");
    is_int((long long)n->n_pcis, 6, "devices lie on four functions and two host bridges");
}

static void test_nvidia(void)
{
    CLEANUP(node_freep) struct node *n = good_xml(nvidia);
    const struct device *gpu = &n->devices[0], *nic = &n->devices[2];
    const struct pci *f = &n->pcis[gpu->pci];

    is_str(gpu->name, "GPU0", "the first GPU is named GPU0");
    is_str(gpu->product, "H100", "a GPU of a known id has its product");
    is_str(gpu->acc.arch, "sm90", "a GPU has its architecture");
    ok(gpu->numa == 0 && n->devices[1].numa == 1, "each GPU lies in its domain");
    is_int(gpu->acc.links_up, 18, "a GPU has 18 links");
    ok((int)f->gts == 32 && f->width == 16 && f->vendor == 0x10de && f->sub_device == 0x16c1,
       "the function of a GPU has its rate and ids");
    is_int(n->pcis[f->parent].kind, PCI_SWITCH_UP, "a GPU lies below a switch");
    is_int(n->pcis[n->pcis[f->parent].parent].kind, PCI_HOST_BRIDGE,
           "the switch of a GPU lies below a host bridge");
    f = &n->pcis[n->devices[1].pci];
    ok((int)f->gts == ABSENT && f->width == 8, "an unknown rate is absent");
    is_str(nic->name, "mlx5_0", "a NIC has its name");
    is_str(nic->nic.rdma, "mlx5_0", "a NIC has its RDMA device");
    is_str(nic->nic.ports[0].guid, "0x6d2e0003b2daf9a0", "a NIC's port has its GUID");
    ok((int)nic->nic.ports[0].gbps == 400 && nic->nic.ports[0].number == 1,
       "a NIC's port has its rate and number");
    is_int((long long)n->n_links, 2, "each GPU has one bundle of links");
    ok(n->links[0].b == ABSENT && n->links[0].numa == ABSENT && (int)n->links[0].gbs == 25,
       "links to switches that are not seen lead nowhere");
    is_way(n, 0, 1, "NV18");
    is_way(n, 0, 2, "PIX");
    is_way(n, 1, 2, "SYS");
}

#define GPU(bus, links) \
    "<pci busid=\"0000:" bus ":00.0\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x2330\" " \
    "link_speed=\"16.0 GT/s PCIe\" link_width=\"16\"><gpu sm=\"80\">" links "</gpu></pci>\n"
#define LINK(bus, count) "<nvlink target=\"0000:" bus ":00.0\" count=\"" count "\"/>"
#define SYSTEM(inside) "<system><cpu numaid=\"0\">" inside "</cpu></system>"

static void test_direct(void)
{
    CLEANUP(node_freep)
    struct node *n = good_xml(SYSTEM(GPU("03", LINK("02", "4") LINK("04", "2"))
                                         GPU("02", LINK("03", "4")) GPU("04", LINK("03", "2"))));

    is_int((long long)n->n_links, 2, "a pair that is named from both ends counts once");
    is_way(n, 0, 1, "NV4");
    is_way(n, 1, 2, "NV2");
    is_way(n, 0, 2, "PHB");
    is_int(n->devices[1].acc.links_up, 6, "links are counted at each end");
    is_int(n->devices[0].acc.links_up, 4, "links of the other GPU are counted too");
}

/* One of the two was cut from the file by hand, or does not name its end. */
static void test_one_sided(void)
{
    CLEANUP(node_freep)
    struct node *n = good_xml(SYSTEM(GPU("02", "") GPU("03", LINK("02", "4") LINK("03", "1"))));

    is_way(n, 0, 1, "NV4");
    is_int((long long)n->n_links, 1, "a link to itself is none");
}

static void test_switches(void)
{
    static const char text[] = SYSTEM(GPU("02", LINK("c1", "6") LINK("c2", "6"))
                                          GPU("03", LINK("c1", "6") LINK("c2", "6")));
    CLEANUP(node_freep) struct node *n = good_xml(text);

    is_int((long long)n->n_links, 4, "links to switches that are no devices of the file are kept");
    is_way(n, 0, 1, "NV12");
    is_int((int)n->links[0].gbs, 25, "NVLink3 moves 25 GB/s a link");
}

static void test_rates(void)
{
    static const struct {
        const char *sm;
        int gbs;
    } rates[] = { { "60", 20 }, { "70", 25 }, { "90", 25 }, { "100", 50 }, { "120", 50 } };

    for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
        CLEANUP(node_freep) struct node *n = NULL;
        char text[512];

        snprintf(text, sizeof(text),
                 SYSTEM("<pci busid=\"2:00.0\"><gpu sm=\"%s\"><nvlink target=\"x\"/></gpu></pci>"),
                 rates[i].sm);
        n = good_xml(text);
        is_int((int)n->links[0].gbs, rates[i].gbs, "a link of sm%s has its rate", rates[i].sm);
    }
}

static void test_amd(void)
{
    static const char text[] =
        "<system version=\"2\"><cpu numaid=\"0\" arch=\"x86_64\" vendor=\"AuthenticAMD\">"
        "<pci busid=\"0000:0c:00.0\" class=\"0x120000\" vendor=\"0x1002\" device=\"0x74a1\">"
        "<gpu dev=\"0\" sm=\"94\" gcn=\"gfx942\"><xgmi target=\"0000:22:00.0\" count=\"1\"/></gpu>"
        "</pci><pci busid=\"0000:22:00.0\" class=\"0x120000\" vendor=\"0x1002\" device=\"0x74a1\">"
        "<gpu dev=\"1\" sm=\"94\" gcn=\"gfx942\"><xgmi target=\"0000:0c:00.0\" count=\"1\"/></gpu>"
        "</pci></cpu></system>";
    CLEANUP(node_freep) struct node *n = good_xml(text);

    is_str(n->devices[0].acc.arch, "gfx942", "a GPU of AMD has its gcn as architecture");
    is_str(n->devices[0].product, "MI300X", "a GPU of AMD has its product");
    is_int((long long)n->n_links, 1, "two GPUs of AMD have one xGMI link");
    is_int((int)n->links[0].gbs, ABSENT, "an xGMI link has no known rate");
    is_way(n, 0, 1, "XG1");
}

static void test_c2c(void)
{
    static const char text[] = SYSTEM(GPU("02", "<c2c bw=\"449400\" count=\"1\"/>")
                                          GPU("03", "<c2c count=\"1\"/>"));
    CLEANUP(node_freep) struct node *n = good_xml(text);

    ok(n->n_links == 2 && n->links[0].kind == LINK_C2C, "two GPUs have links to their CPU");
    ok(n->links[0].b == ABSENT && n->links[0].numa == 0, "a link to the CPU leads to its domain");
    is_int(n->devices[0].acc.links_up, 0, "links to the CPU are no links to accelerators");
    is_way(n, 0, 1, "PHB");
}

static void test_loose(void)
{
    CLEANUP(node_freep)
    struct node *n = good_xml(
        "<system version=\"1\"><cpu><nic><net name=\"eth0\" speed=\"\"/></nic>"
        "<unknown><gpu/></unknown></cpu></system>");

    is_int(n->numas[0].id, 0, "a domain without a number is 0");
    is_str(n->numas[0].cpus, "", "a domain without an affinity has no CPUs");
    ok(n->n_devices == 2 && n->devices[0].pci == ABSENT && n->devices[1].pci == ABSENT,
       "devices may have no function");
    ok(!n->devices[0].acc.arch, "a GPU without sm has no architecture");
    is_str(n->devices[1].name, "eth0", "a socket interface has its name");
    is_int((long long)n->devices[1].nic.ports[0].gbps, ABSENT,
           "a port without a speed has an absent rate");
}

/* All CPUs of the largest machine, every other one: a long list. */
static void test_long_affinity(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(64 << 10);
    CLEANUP(node_freep) struct node *n = NULL;

    str_add(&text, "<system><cpu affinity=\"");
    for (int i = 0; i < 128; i++)
        str_addf(&text, "%s55555555", i ? "," : "");
    str_add(&text, "\"/></system>");
    n = good_xml(str_text(&text));
    is_int(n->numas[0].threads, 2048, "an affinity of 4,096 bits has 2,048 CPUs");
}

/* A guest: the firmware does not say where anything is. */
static void test_unknown_domain(void)
{
    CLEANUP(node_freep)
    struct node *n = good_xml("<system><cpu numaid=\"-1\" affinity=\"f\">" GPU("02", "")
                                  GPU("03", "") "</cpu></system>");
    CLEANUP(node_freep)
    struct node *two = good_xml("<system><cpu numaid=\"-1\" affinity=\"f\">" GPU(
        "02", "") "</cpu><cpu numaid=\"0\" affinity=\"f0\">" GPU("03", "") "</cpu></system>");

    ok(n->n_numas == 1 && n->numas[0].id == 0, "the only domain has number 0");
    is_str(n->numas[0].cpus, "0-3", "the only domain has its CPUs");
    ok(n->devices[0].numa == 0 && n->devices[1].numa == 0, "the only domain has all devices");
    ok(two->n_numas == 1 && two->devices[0].numa == ABSENT && two->devices[1].numa == 0,
       "a domain of number -1 beside a known one stays unknown");
    is_str(two->numas[0].cpus, "4-7", "the known domain keeps its CPUs");
}

#define IN_CPU(tag) "<system>\n<cpu>" tag "</cpu></system>"
#define IN_PCI(tag) IN_CPU("<pci busid=\"1b:00.0\">" tag "</pci>")
#define IN_GPU(tag) IN_PCI("<gpu>" tag "</gpu>")

static void test_errors(void)
{
    static const struct {
        const char *text, *want;
    } files[] = {
        { "", "t.xml:1: there is no tag; is this XML?" },
        { "<system/>", "t.xml: is no NCCL topology: it has no <cpu>" },
        { "<graphs/>",
          "t.xml:1: is no NCCL topology: it starts with <graphs> instead of <system>" },
        { "<system version=\"3\"/>", "t.xml:1: topology version '3' is not known (1 and 2 are)" },
        { "<system>\n<cpu numaid=\"x\"/></system>", "t.xml:2: <cpu> has a broken numaid: 'x'" },
        { "<system>\n<cpu numaid=\"-2\"/></system>", "t.xml:2: <cpu> has a broken numaid: '-2'" },
        { "<system>\n<cpu affinity=\"0-3\"/></system>",
          "t.xml:2: <cpu> has a broken affinity: '0-3'" },
        { IN_CPU("<pci/>"), "t.xml:2: <pci> has no busid" },
        { IN_CPU("<pci busid=\"1b\"/>"), "t.xml:2: <pci> has a broken busid: '1b'" },
        { IN_CPU("<pci busid=\"1b:00.0\" class=\"0x1000000\"/>"),
          "t.xml:2: <pci> has a broken class: '0x1000000'" },
        { IN_CPU("<pci busid=\"1b:00.0\" link_width=\"65\"/>"),
          "t.xml:2: <pci> has a broken link_width: '65'" },
        { IN_CPU("<pci busid=\"1b:00.0\" vendor=\"NVIDIA\"/>"),
          "t.xml:2: <pci> has a broken vendor: 'NVIDIA'" },
        { IN_CPU("<pci busid=\"1b:00.0\" device=\"0x10000\"/>"),
          "t.xml:2: <pci> has a broken device: '0x10000'" },
        { IN_CPU("<pci busid=\"1b:00.0\" subsystem_vendor=\"-\"/>"),
          "t.xml:2: <pci> has a broken subsystem_vendor: '-'" },
        { IN_CPU("<pci busid=\"1b:00.0\" subsystem_device=\"-\"/>"),
          "t.xml:2: <pci> has a broken subsystem_device: '-'" },
        { IN_PCI("<gpu sm=\"ninety\"/>"), "t.xml:2: <gpu> has a broken sm: 'ninety'" },
        { IN_PCI("<net/>"), "t.xml:2: <net> is not inside a <nic>" },
        { IN_GPU("<net/>"), "t.xml:2: <net> is not inside a <nic>" },
        { IN_PCI("<nic><net speed=\"fast\"/></nic>"), "t.xml:2: <net> has a broken speed: 'fast'" },
        { IN_PCI("<nic><net port=\"x\"/></nic>"), "t.xml:2: <net> has a broken port: 'x'" },
        { IN_PCI("<nvlink/>"), "t.xml:2: <nvlink> is not inside a <gpu>" },
        { IN_PCI("<nic><xgmi/></nic>"), "t.xml:2: <xgmi> is not inside a <gpu>" },
        { IN_PCI("<gpu/><nvlink/>"), "t.xml:2: <nvlink> is not inside a <gpu>" },
        { IN_GPU("<nvlink count=\"many\"/>"), "t.xml:2: <nvlink> has a broken count: 'many'" },
        { IN_GPU("<nvlink count=\"1025\"/>"), "t.xml:2: <nvlink> has a broken count: '1025'" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        struct err e = { "" };
        int rc;
        struct node *n = read_xml("t.xml", files[i].text, &rc, &e);

        is_int(rc, -EINVAL, "nccl_xml_read refuses: %s", files[i].want);
        is_str(e.text, files[i].want, "nccl_xml_read says: %s", files[i].want);
        ok(!n, "no node is handed out after: %s", files[i].want);
    }
}

int main(void)
{
    test_host();
    test_nvidia();
    test_direct();
    test_one_sided();
    test_switches();
    test_rates();
    test_amd();
    test_c2c();
    test_loose();
    test_long_affinity();
    test_unknown_domain();
    test_errors();
    return done();
}
