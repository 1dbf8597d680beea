#include "render/machine/describe.h"

#include "render/machine/pcie_link_text.h"
#include "render_node.h"
#include "tap.h"

static struct str out = STR_INIT(4096);

#define DESCRIBE(call, want) \
    do { \
        str_reset(&out); \
        call; \
        is_str(str_text(&out), want, "%s writes '%s'", #call, want); \
    } while (0)

static void test_sizes(void)
{
    DESCRIBE(describe_ram(&out, 2163589775360), "2.0 TiB");
    DESCRIBE(describe_ram(&out, 1081794887680), "1008 GiB");
    DESCRIBE(describe_ram(&out, 0), "0.0 MiB");
    DESCRIBE(describe_ram(&out, ABSENT), "");
    DESCRIBE(describe_storage(&out, 960197124096), "960 GB");
    DESCRIBE(describe_storage(&out, 3840755982336), "3.8 TB");
    DESCRIBE(describe_storage(&out, INT64_MAX), "9223 PB");
    DESCRIBE(describe_gbps(&out, 2.5), "2.5 Gbit/s");
    DESCRIBE(describe_gbps(&out, 400), "400 Gbit/s");
    DESCRIBE(describe_gbs(&out, 63.015), "63 GB/s");
    DESCRIBE(describe_gbs(&out, 7.877), "7.9 GB/s");
    DESCRIBE(describe_gbs(&out, ABSENT), "");
}

static void test_memory(void)
{
    struct product p[] = { { .name = "H100", .mem_gb = 80 }, { .name = "behind the last" } };
    struct catalogue c = { .products = p, .n_products = 1 };
    struct machine_view v = { .catalogue = &c };
    struct device d = { .kind = DEVICE_ACCELERATOR, .catalogue = 0, .acc.memory_b = 85520809984 };

    DESCRIBE(describe_device_memory(&out, &v, &d), "80 GB");
    is_str(describe_product(&v, &d), "H100", "the catalogue's name");
    d.acc.memory_b = 42949672960;
    DESCRIBE(describe_device_memory(&out, &v, &d), "43 GB");
    d.acc.memory_b = 72000000000;
    DESCRIBE(describe_device_memory(&out, &v, &d), "72 GB");
    d.acc.memory_b = 72000000001;
    DESCRIBE(describe_device_memory(&out, &v, &d), "80 GB");
    p[0].mem_gb = 5;
    d.acc.memory_b = 5500000000;
    DESCRIBE(describe_device_memory(&out, &v, &d), "5.5 GB");
    d.acc.memory_b = 5499999999;
    DESCRIBE(describe_device_memory(&out, &v, &d), "5.0 GB");
    p[0].mem_gb = ABSENT;
    DESCRIBE(describe_device_memory(&out, &v, &d), "5.5 GB");
    d.catalogue = 1;
    is_str(describe_product(&v, &d), NULL, "a row that is not there");
    d.acc.memory_b = ABSENT;
    DESCRIBE(describe_device_memory(&out, &v, &d), "");
    d.acc.lost = true;
    DESCRIBE(describe_device(&out, &v, &d), "LOST");
}

/* "Gen5 x16" and so on, of one function. */
static const char *link_text(const struct node *n, int pci)
{
    struct pcie_link_text l = pcie_link_text_at(n, pci);

    str_reset(&out);
    pcie_link_add_text(&out, &l);
    return str_text(&out);
}

static void test_links(void)
{
    struct node *n = test_node("n1");

    is_str(link_text(n, F_UP), "Gen5 x16",
           "a link that is as fast as it can be has its rate alone");
    is_str(link_text(n, F_GPU0), "Gen5 x8, could be Gen5 x16",
           "a link of half its lanes has both rates in its text");
    is_str(link_text(n, F_GPU1), "Gen1 x16 (idle; Gen4 able)", "idle; the port sets the best");
    n->pcis[F_DOWN0].gts_max = n->pcis[F_DOWN0].width_max = 0;
    is_str(link_text(n, F_GPU0), "Gen5 x8, could be Gen5 x16",
           "a port of which nothing is known sets no best");
    n->pcis[F_GPU1].vendor = 0x8086;
    is_str(link_text(n, F_GPU1), "Gen1 x16, could be Gen4 x16", "others do not go idle");
    is_str(link_text(n, F_NIC1), "", "a link of unknown rate has no text");
    n->pcis[F_NIC0].gts = 8;
    is_str(link_text(n, F_NIC0), "Gen3 x16, could be Gen5 x16", "NICs do not go idle");
    n->pcis[F_DOWN1].gts_max = 8;
    is_str(link_text(n, F_NIC0), "Gen3 x16", "a slow slot is no fault");
    n->pcis[F_NIC0].gts = 12.5;
    is_str(link_text(n, F_NIC0), "12.5 GT/s x16", "a rate that is no generation's");
    node_free(n);
}

/* AMD: the accelerator sits below a switch of its own board. */
static void test_board(void)
{
    struct node *n = node_new();

    add_function(n, 0, PCI_HOST_BRIDGE, ABSENT);
    add_function(n, 1, PCI_ROOT_PORT, 0);
    add_function(n, 2, PCI_SWITCH_UP, 1)->vendor = 0x1002;
    add_function(n, 3, PCI_SWITCH_DOWN, 2)->vendor = 0x1002;
    add_function(n, 4, PCI_ENDPOINT, 3);
    add_device(n, DEVICE_ACCELERATOR, 4, ABSENT);
    n->pcis[4].vendor = 0x1002;
    is_int(pcie_link_board_port(n, &n->devices[0]), 2, "the board's port counts");
    n->pcis[2].gts = 2.5;
    is_int(pcie_link_text_of(n, &n->devices[0]).state, LINK_IDLE,
           "the link is idle when the board's port is idle");
    n->pcis[4].vendor = 0x10de;
    is_int(pcie_link_board_port(n, &n->devices[0]), 4, "NVIDIA's have none");
    node_free(n);
}

static void test_node_lines(void)
{
    struct node *n = test_node("n1");

    DESCRIBE(describe_host(&out, n), "ACME X1, bare metal, Linux 6.1.0");
    DESCRIBE(describe_cpus(&out, n), "2x Intel(R) Xeon(R) Gold 6430, 8 cores, 8 threads, 1.0 TiB");
    DESCRIBE(describe_cpus_short(&out, n), "2x Xeon Gold 6430");
    is_int(describe_only_cores(n), false, "a node with accelerators has more than cores");
    node_free(n);
}

static void test_node_parts(void)
{
    struct node *n = test_node("n1");
    struct machine_view v = { .machine = NULL };

    DESCRIBE(describe_products(&out, &v, n, DEVICE_ACCELERATOR), "2x NVIDIA H100");
    DESCRIBE(describe_products(&out, &v, n, DEVICE_SWITCH), "");
    DESCRIBE(describe_fabric(&out, n), "only PCIe seen between them");
    n->devices[0].acc.links_up = 0;
    DESCRIBE(describe_fabric(&out, n), "PCIe alone between them");
    DESCRIBE(describe_fabric_short(&out, n), "PCIe");
    add_nvlink(n);
    DESCRIBE(describe_fabric(&out, n), "NV4 between all pairs");
    DESCRIBE(describe_fabric_short(&out, n), "NV4");
    DESCRIBE(describe_address(&out, n, F_NIC0), "06:00.0");
    n->pcis[0].at.domain = 1;
    DESCRIBE(describe_address(&out, n, F_NIC0), "0000:06:00.0");
    is_int(describe_memory_owner(n, 2), 0, "memory beside the first accelerator has it as owner");
    n->numas[2].memory_b = 1 << 30;
    is_int(describe_memory_owner(n, 2), ABSENT,
           "memory of a domain without an accelerator has no owner");
    node_free(n);
}

static void test_pairs(void)
{
    struct node *n = node_new();
    struct link *l;

    for (int i = 0; i < 4; i++)
        add_device(n, DEVICE_ACCELERATOR, ABSENT, ABSENT);
    is_int(node_settle(n), 0, "node_settle settles a node of four accelerators");
    l = node_add_link(n, LINK_NVLINK, 0, 1);
    assert(l);
    l->count = 12;
    l = node_add_link(n, LINK_NVLINK, 2, 3);
    assert(l);
    l->count = 12;
    DESCRIBE(describe_fabric(&out, n), "NV12 between GPU0-GPU1, GPU2-GPU3");
    DESCRIBE(describe_fabric_short(&out, n), "NV12, 2 of 6 pairs");
    l->count = 11;
    DESCRIBE(describe_fabric(&out, n), "NVLink between GPU0-GPU1, GPU2-GPU3");
    for (int i = 0; i < 3; i++) {
        ok(node_add_link(n, LINK_NVLINK, i % 2, 2 + i / 2), "one more pair is joined");
        if (i == 1)
            DESCRIBE(describe_fabric(&out, n),
                     "NVLink between GPU0-GPU1, GPU0-GPU2, GPU1-GPU2, GPU2-GPU3");
    }
    DESCRIBE(describe_fabric(&out, n), "NVLink between 5 of 6 pairs");
    node_free(n);
    n = node_new();
    DESCRIBE(describe_fabric(&out, n), "");
    DESCRIBE(describe_fabric_short(&out, n), "");
    DESCRIBE(describe_cpus(&out, n), "CPU");
    DESCRIBE(describe_host(&out, n), "");
    node_free(n);
}

int main(void)
{
    test_sizes();
    test_memory();
    test_links();
    test_board();
    test_node_lines();
    test_node_parts();
    test_pairs();
    str_done(&out);
    return done();
}
