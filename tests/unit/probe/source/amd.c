/* AMD accelerators: what amdgpu's files say of each, and the xGMI links of the KFD topology. */
#include "made_machine.h"
#include "tap.h"

#define ROOT "sys/devices/pci0000:00"
#define NODES "sys/class/kfd/kfd/topology/nodes"

static const struct catalogue no_catalogue = { .n_products = 0 };

/* GPUs at 0000:01:00.0, 0000:02:00.0, 0000:03:00.0 and 0001:04:1e.5, and a NIC at 0000:09:00.0. */
static void add_gpus(struct made *m)
{
    made_function(m, ROOT "/0000:01:00.0", "0x120000", "0x1002", "0x74a1");
    made_function(m, ROOT "/0000:02:00.0", "0x120000", "0x1002", "0x74a1");
    made_function(m, ROOT "/0000:03:00.0", "0x120000", "0x1002", "0x74a1");
    made_function(m, "sys/devices/pci0001:00/0001:04:1e.5", "0x120000", "0x1002", "0x74a1");
    made_function(m, ROOT "/0000:09:00.0", "0x020000", "0x1002", "0x74a1");
}

/* KFD node i: with so many SIMDs, at that place of the bus, of that target. */
static void add_node(struct made *m, int i, int simds, unsigned location, const char *more)
{
    char path[128], text[256];

    snprintf(path, sizeof(path), NODES "/%d/properties", i);
    snprintf(text, sizeof(text), "cpu_cores_count 0\nsimd_count %d\nlocation_id %u\n%s", simds,
             location, more);
    made_file(m, path, text);
}

static void add_link(struct made *m, int i, int link, const char *text)
{
    char path[128];

    snprintf(path, sizeof(path), NODES "/%d/io_links/%d/properties", i, link);
    made_file(m, path, text);
}

static void add_links(struct made *m, int i, const char *names)
{
    char path[128];

    snprintf(path, sizeof(path), NODES "/%d/io_links", i);
    made_folder(m, path, names);
}

static void test_files(void)
{
    struct made m = MADE_INIT;
    const struct device *d;
    struct node *n;

    add_gpus(&m);
    made_in(&m, ROOT "/0000:01:00.0", "mem_info_vram_total", "206141652992\n");
    made_in(&m, ROOT "/0000:01:00.0", "vbios_version", "113-M3000100-102\n");
    made_in(&m, ROOT "/0000:01:00.0", "unique_id", "1d2b3c4d5e6f7081\n");
    made_in(&m, ROOT "/0000:01:00.0", "product_name", "AMD Instinct MI300X OAM\n");
    made_function(&m, ROOT "/0000:0a:00.0", "0x120000", "0x10de", "0x1");
    made_in(&m, ROOT "/0000:0a:00.0", "product_name", "of another maker\n");
    n = made_node(&m, &no_catalogue);
    d = made_device(n, "0000:01:00.0");
    if (ok(d != NULL, "an accelerator of AMD is a device")) {
        ok(d->acc.memory_b == 206141652992, "an accelerator has its memory");
        is_str(d->acc.vbios, "113-M3000100-102", "an accelerator has its firmware");
        is_str(d->acc.uuid, "1d2b3c4d5e6f7081", "an accelerator has its unique id");
        is_str(d->product, "AMD Instinct MI300X OAM", "an accelerator has its product");
    }
    d = made_device(n, "0000:02:00.0");
    ok(d && d->acc.memory_b == ABSENT && !d->acc.vbios && !d->acc.uuid && !d->product,
       "an accelerator without files has nothing of them");
    ok(d && !d->acc.arch && d->acc.links_up == ABSENT, "an accelerator without KFD has no target");
    d = made_device(n, "0000:0a:00.0");
    ok(d && !d->product, "an accelerator of another maker is not asked");
    node_free(n);
    made_done(&m);
}

/* The product of the catalogue counts more than what the driver calls it. */
static void test_product(void)
{
    static struct product product = {
        .name = "MI300X", .pci_vendor = 0x1002, .ids = { 0x74a1 }, .n_ids = 1
    };
    const struct catalogue c = { .products = &product, .n_products = 1 };
    struct made m = MADE_INIT;
    const struct device *d;
    struct node *n;

    made_function(&m, ROOT "/0000:01:00.0", "0x120000", "0x1002", "0x74a1");
    made_in(&m, ROOT "/0000:01:00.0", "product_name", "AMD Instinct MI300X OAM\n");
    n = made_node(&m, &c);
    d = made_device(n, "0000:01:00.0");
    is_str(d ? d->product : NULL, "MI300X", "a product of the catalogue keeps its name");
    node_free(n);
    made_done(&m);
}

static void test_targets(void)
{
    static const struct {
        const char *more, *arch;
        double gbs;
    } cases[] = {
        { "gfx_target_version 90402\n", "gfx942", 64 },
        { "gfx_target_version 90400\n", "gfx940", 64 },
        { "gfx_target_version 90399\n", "gfx9363", 50 },
        { "gfx_target_version 90010\n", "gfx90a", 50 },
        { "gfx_target_version 90009\n", "gfx909", ABSENT },
        { "gfx_target_version 110001\n", "gfx1101", 64 },
        { "gfx_target_version 0\n", NULL, ABSENT },
        { "", NULL, ABSENT },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct made m = MADE_INIT;
        const struct device *d;
        struct node *n;

        add_gpus(&m);
        add_node(&m, 1, 304, 0x100, cases[i].more);
        add_node(&m, 2, 304, 0x200, cases[i].more);
        add_links(&m, 1, "0\n");
        add_link(&m, 1, 0, "type 11\nnode_to 2\n");
        n = made_node(&m, &no_catalogue);
        d = made_device(n, "0000:01:00.0");
        is_str(d ? d->acc.arch : NULL, cases[i].arch, "the target of '%s' is %s", cases[i].more,
               cases[i].arch);
        ok(n->n_links == 1 && n->links[0].gbs == cases[i].gbs, "a link of '%s' has its rate",
           cases[i].more);
        node_free(n);
        made_done(&m);
    }
}

/* Which devices the nodes are: CPUs, nodes without files and addresses of others are none. */
static void test_nodes(void)
{
    struct made m = MADE_INIT;
    struct node *n;
    int known = 0;

    add_gpus(&m);
    add_node(&m, 0, 0, 0x200, "gfx_target_version 90402\n");
    add_node(&m, 2, 304, 0x100, "gfx_target_version 90402\n");
    add_node(&m, 3, 304, 0x900, "gfx_target_version 90402\n");
    add_node(&m, 4, 304, 0x700, "gfx_target_version 90402\n");
    add_node(&m, 63, 304, 0x300, "gfx_target_version 90402\n");
    add_node(&m, 5, 304, 0x4f5, "domain 1\ngfx_target_version 90402\n");
    n = made_node(&m, &no_catalogue);
    for (size_t i = 0; i < n->n_devices; i++)
        known += n->devices[i].acc.arch != NULL;
    is_int(known, 3, "three devices have a target");
    ok(made_device(n, "0000:01:00.0")->acc.arch != NULL, "the node of a bus is its device");
    ok(made_device(n, "0000:03:00.0")->acc.arch != NULL, "the last node is a device");
    ok(made_device(n, "0001:04:1e.5")->acc.arch != NULL,
       "a node has the device and function of its address, and its domain");
    ok(!made_device(n, "0000:09:00.0")->acc.arch, "a NIC has no target");
    is_int((int)n->n_links, 0, "nodes without links have none");
    node_free(n);
    made_done(&m);
}

/* Nodes 0 and 1 are CPUs, 2, 3 and 4 GPUs. */
static void test_links(void)
{
    struct made m = MADE_INIT;
    const struct device *d;
    struct node *n;

    add_gpus(&m);
    add_node(&m, 2, 304, 0x100, "gfx_target_version 90402\n");
    add_node(&m, 3, 304, 0x200, "gfx_target_version 90402\n");
    add_node(&m, 4, 304, 0x300, "gfx_target_version 90402\n");
    add_links(&m, 2, "0\n1\n2\n3\n4\n5\n6\n7\n");
    add_link(&m, 2, 0, "type 2\nnode_to 3\n");
    add_link(&m, 2, 1, "type 11\nnode_to 3\n");
    add_link(&m, 2, 3, "type 11\nnode_to 4\n");
    add_link(&m, 2, 4, "type 11\nnode_to 2\n");
    add_link(&m, 2, 5, "type 11\nnode_to 0\n");
    add_link(&m, 2, 6, "type 11\nnode_to 64\n");
    add_link(&m, 2, 7, "type 11\n");
    add_links(&m, 3, "0\n1\n");
    add_link(&m, 3, 0, "type 11\nnode_to 2\n");
    add_link(&m, 3, 1, "type 11\nnode_to 4\n");
    add_links(&m, 4, "0\n");
    add_link(&m, 4, 0, "");
    n = made_node(&m, &no_catalogue);
    is_int((int)n->n_links, 3, "each pair has one link");
    ok(n->n_links == 3 && n->links[0].kind == LINK_XGMI && n->links[0].a == 0 &&
           n->links[0].b == 1 && n->links[1].b == 2 && n->links[2].a == 1 && n->links[2].b == 2,
       "links join the devices of their nodes");
    d = made_device(n, "0000:01:00.0");
    is_int(d ? d->acc.links_up : 0, 2, "a device counts its links to others");
    d = made_device(n, "0000:02:00.0");
    is_int(d ? d->acc.links_up : 0, 2, "a device counts a link that the other one has, too");
    d = made_device(n, "0000:03:00.0");
    is_int(d ? d->acc.links_up : 0, ABSENT, "a device that names no link counts none");
    node_free(n);
    made_done(&m);
}

int main(void)
{
    test_files();
    test_product();
    test_targets();
    test_nodes();
    test_links();
    return done();
}
