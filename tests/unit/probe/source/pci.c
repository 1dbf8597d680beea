/* PCI functions: which are devices and of which kind, the bridges above them, what their links and
 * configuration say, empty slots, and the IOMMU. */
#include "devices_csv.h"
#include "made_machine.h"
#include "tap.h"

#define ROOT "sys/devices/pci0000:15"
#define PORT ROOT "/0000:15:01.0"

static const struct catalogue no_catalogue = { .n_products = 0 };

/* Of the function of that address; ABSENT when there is none. */
static int kind_of(const struct node *n, const char *address)
{
    const struct pci *f = made_pci(n, address);

    return f ? (int)f->kind : ABSENT;
}

static int pch_of(const struct node *n, const char *address)
{
    const struct pci *f = made_pci(n, address);

    return f ? f->pch : ABSENT;
}

static void test_kinds(void)
{
    enum { NONE = -1 };
    static const struct {
        const char *class, *vendor;
        int kind;
    } cases[] = {
        { "0x030200", "0x10de", DEVICE_ACCELERATOR },
        { "0x030000", "0x1002", DEVICE_ACCELERATOR },
        { "0x030000", "0x8086", NONE },
        { "0x120000", "0x8086", DEVICE_ACCELERATOR },
        { "0x120000", "0x1da3", DEVICE_ACCELERATOR },
        { "0x068000", "0x10de", DEVICE_SWITCH },
        { "0x068000", "0x8086", NONE },
        { "0x020000", "0x8086", DEVICE_NIC },
        { "0x020700", "0x15b3", DEVICE_NIC },
        { "0x010802", "0x144d", DEVICE_NVME },
        { "0x010601", "0x144d", NONE },
        { "0x060000", "0x10de", NONE },
        { "0x060100", "0x10de", NONE },
        { "0x088000", "0x10de", NONE },
        { "what", "0x10de", NONE },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct made m = MADE_INIT;
        struct node *n;
        const struct device *d;

        made_function(&m, ROOT "/0000:15:00.0", cases[i].class, cases[i].vendor, "0x1");
        n = made_node(&m, &no_catalogue);
        d = made_device(n, "0000:15:00.0");
        is_int(d ? (int)d->kind : NONE, cases[i].kind, "a function of class %s and vendor %s is %d",
               cases[i].class, cases[i].vendor, cases[i].kind);
        node_free(n);
        made_done(&m);
    }
}

/* Products of the catalogue are known by their numbers, whatever their class; but not where a
 * server has its timers. */
static void test_products(void)
{
    static const struct {
        const char *class, *vendor, *device;
        int kind;
        const char *product;
    } cases[] = {
        { "0x038000", "0x8086", "0x0bd5", DEVICE_ACCELERATOR, "Max-1550" },
        { "0x088000", "0x8086", "0x0bd5", -1, NULL },
        { "0x118000", "0x8086", "0x0bd5", -1, NULL },
        { "0x088000", "0x10de", "0x2330", DEVICE_ACCELERATOR, "H100-SXM5-80GB" },
        { "0x038000", "0x8086", "0x0bd4", -1, NULL },
        { "what", "0x10de", "0x2330", -1, NULL },
    };
    CLEANUP(catalogue_done) struct catalogue c = { .n_products = 0 };

    if (!ok(catalogue_load(&c, data_devices_csv, data_devices_csv_len, NULL) == 0,
            "the catalogue is read"))
        return;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct made m = MADE_INIT;
        struct node *n;
        const struct device *d;

        made_function(&m, ROOT "/0000:15:00.0", cases[i].class, cases[i].vendor, cases[i].device);
        n = made_node(&m, &c);
        d = made_device(n, "0000:15:00.0");
        is_int(d ? (int)d->kind : -1, cases[i].kind, "a product %s:%s of class %s is %d",
               cases[i].vendor, cases[i].device, cases[i].class, cases[i].kind);
        is_str(d ? d->product : NULL, cases[i].product, "a product %s:%s of class %s has its name",
               cases[i].vendor, cases[i].device, cases[i].class);
        node_free(n);
        made_done(&m);
    }
}

/* 64 bytes of configuration, then an Express capability: a port of that type, with a slot. */
static void add_config(struct made *m, const char *folder, int port_type, bool slot)
{
    uint8_t bytes[256] = { 0x86, 0x80, [6] = 0x10, [0x34] = 0x40, [0x40] = 0x10 };
    char path[512];

    bytes[0x42] = (uint8_t)(port_type << 4 | 2);
    bytes[0x43] = slot;
    bytes[0x44] = 2;               /* can 512 bytes */
    bytes[0x48] = 1 << 5 | 1 << 4; /* 256 bytes, relaxed ordering */
    bytes[0x49] = 5 << 4;          /* reads of 4,096 bytes */
    snprintf(path, sizeof(path), "%s/config", folder);
    made_add(m, 'f', path, bytes, sizeof(bytes));
}

static void test_function(void)
{
    struct made m = MADE_INIT;
    struct node *n;
    const struct pci *f;
    const struct device *d;

    made_folder(&m, "sys/devices/system/node", "node0\nnode3\n");
    made_function(&m, PORT, "0x060400", "0x8086", "0x352a");
    made_in(&m, PORT, "numa_node", "3\n");
    made_function(&m, PORT "/0000:16:00.0", "0x030200", "0x10de", "0x2330");
    made_in(&m, PORT "/0000:16:00.0", "numa_node", "-1\n");
    made_in(&m, PORT "/0000:16:00.0", "subsystem_vendor", "0x10df\n");
    made_in(&m, PORT "/0000:16:00.0", "subsystem_device", "0x16c1\n");
    made_in(&m, PORT "/0000:16:00.0", "current_link_speed", "16.0 GT/s PCIe\n");
    made_in(&m, PORT "/0000:16:00.0", "max_link_speed", "32.0 GT/s PCIe\n");
    made_in(&m, PORT "/0000:16:00.0", "current_link_width", "8\n");
    made_in(&m, PORT "/0000:16:00.0", "max_link_width", "16\n");
    made_link(&m, PORT "/0000:16:00.0/driver", "../../../../bus/pci/drivers/nvidia");
    add_config(&m, PORT "/0000:16:00.0", 0, false);
    n = made_node(&m, &no_catalogue);
    f = made_pci(n, "0000:16:00.0");
    d = made_device(n, "0000:16:00.0");
    if (ok(f && d, "a GPU behind a port is a device")) {
        ok(f->class_code == 0x030200 && f->vendor == 0x10de && f->device == 0x2330,
           "a function has its class, vendor and device");
        ok(f->sub_vendor == 0x10df && f->sub_device == 0x16c1,
           "a function has the numbers of its board");
        ok(f->gts == 16 && f->gts_max == 32, "a function has the speeds of its link");
        ok(f->width == 8 && f->width_max == 16, "a function has the widths of its link");
        ok(f->max_payload_b == 256 && f->max_payload_cap_b == 512 && f->max_read_b == 4096,
           "a function has the sizes of its packets");
        ok(f->relaxed_ordering == 1 && f->acs == ABSENT && !f->config_seen,
           "a function whose configuration ends at 256 bytes has no ACS that is known");
        is_str(f->driver, "nvidia", "a function has its driver");
        is_str(f->path, PORT "/0000:16:00.0", "a function has its folder");
        is_int(f->numa, ABSENT, "a function without a domain has none");
        is_int(d->numa, 1, "a device without a domain is in that of the port above it");
    }
    f = made_pci(n, "0000:15:01.0");
    ok(f && f->kind == PCI_ROOT_PORT && f->numa == 1, "the port above a device is a root port");
    ok(f && node_pci(n, f->parent) && node_pci(n, f->parent)->kind == PCI_HOST_BRIDGE &&
           node_pci(n, f->parent)->at.bus == 0x15,
       "the host bridge is above a root port");
    ok(!made_device(n, "0000:15:01.0"), "a port is no device");
    node_free(n);
    made_done(&m);
}

static void test_widths(void)
{
    static const struct {
        const char *text;
        int width;
    } cases[] = {
        { "0", ABSENT }, { "1", 1 },        { "16", 16 },
        { "254", 254 },  { "255", ABSENT }, { "", ABSENT },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct made m = MADE_INIT;
        struct node *n;
        const struct pci *f;

        made_function(&m, ROOT "/0000:15:00.0", "0x020000", "0x8086", "0x1");
        made_in(&m, ROOT "/0000:15:00.0", "current_link_width", cases[i].text);
        made_in(&m, ROOT "/0000:15:00.0", "max_link_width", cases[i].text);
        n = made_node(&m, &no_catalogue);
        f = made_pci(n, "0000:15:00.0");
        is_int(f ? f->width : 0, cases[i].width, "a width of '%s' is %d lanes", cases[i].text,
               cases[i].width);
        is_int(f ? f->width_max : 0, cases[i].width, "a greatest width of '%s' is %d lanes",
               cases[i].text, cases[i].width);
        ok(f && f->gts == ABSENT && f->gts_max == ABSENT, "a link without a speed has none");
        node_free(n);
        made_done(&m);
    }
}

/* What kind of bridge each is that leads to a NIC, by its configuration, or by its place. */
static void test_bridges(void)
{
    static const struct {
        int port_type; /* -1: none can be read */
        enum pci_kind kind;
    } cases[] = {
        { 3, PCI_BRIDGE },      { 4, PCI_ROOT_PORT }, { 5, PCI_SWITCH_UP },
        { 6, PCI_SWITCH_DOWN }, { 7, PCI_BRIDGE },
    };
    struct made m = MADE_INIT;
    struct node *n;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct made one = MADE_INIT;

        made_function(&one, PORT, "0x060400", "0x8086", "0x352a");
        add_config(&one, PORT, cases[i].port_type, true);
        made_function(&one, PORT "/0000:16:00.0", "0x020000", "0x15b3", "0x1021");
        n = made_node(&one, &no_catalogue);
        is_int(kind_of(n, "0000:15:01.0"), cases[i].kind, "a port of type %d is %d",
               cases[i].port_type, cases[i].kind);
        node_free(n);
        made_done(&one);
    }
    made_function(&m, PORT, "0x060400", "0x8086", "0x352a");
    made_function(&m, PORT "/0000:16:00.0", "0x060400", "0x1000", "0xc030");
    made_function(&m, PORT "/0000:16:00.0/0000:17:00.0", "0x060400", "0x1000", "0xc030");
    made_function(&m, PORT "/0000:16:00.0/0000:17:00.0/0000:18:00.0", "0x060400", "0x1", "0x1");
    made_function(&m, PORT "/0000:16:00.0/0000:17:00.0/0000:18:00.0/0000:19:00.0", "0x020000",
                  "0x15b3", "0x1021");
    n = made_node(&m, &no_catalogue);
    is_int(kind_of(n, "0000:15:01.0"), PCI_ROOT_PORT, "below the host is a root port");
    is_int(kind_of(n, "0000:16:00.0"), PCI_SWITCH_UP, "below a root port is a switch");
    is_int(kind_of(n, "0000:17:00.0"), PCI_SWITCH_DOWN,
           "below the upper port of a switch is a lower one");
    is_int(kind_of(n, "0000:18:00.0"), PCI_SWITCH_UP,
           "below the lower port of a switch is another switch");
    is_int(kind_of(n, "0000:19:00.0"), PCI_ENDPOINT, "a NIC is an endpoint");
    node_free(n);
    made_done(&m);
}

/* Host bridges: one for each domain and bus; a domain behind a volume controller has none. */
static void test_hosts(void)
{
    struct made m = MADE_INIT;
    struct node *n;
    int hosts = 0;
    const struct pci *f;

    made_function(&m, PORT, "0x060400", "0x8086", "0x352a");
    made_function(&m, PORT "/0000:16:00.0", "0x020000", "0x15b3", "0x1021");
    made_function(&m, PORT "/0000:16:00.1", "0x020000", "0x15b3", "0x1021");
    made_link(&m, PORT "/0000:16:00.2/physfn", "../0000:16:00.0");
    made_function(&m, PORT "/0000:16:00.2", "0x020000", "0x15b3", "0x101e");
    made_function(&m, "sys/devices/pci0001:15/0001:15:01.0", "0x020000", "0x15b3", "0x1021");
    made_function(&m, "sys/devices/pci0000:16/0000:20:01.0", "0x020000", "0x15b3", "0x1021");
    made_function(&m, ROOT "/0000:15:0e.0/pci10000:e0/10000:e0:06.0", "0x010802", "0x144d", "0x1");
    made_in(&m, ROOT "/0000:15:0e.0", "class", "0x010400");
    made_function(&m, "sys/devices/pcix/0000:30:00.0", "0x020000", "0x15b3", "0x1021");
    made_function(&m, "sys/devices/pci0000:zz/0000:31:00.0", "0x020000", "0x15b3", "0x1021");
    made_function(&m, "sys/devices/pci:07/0000:32:00.0", "0x020000", "0x15b3", "0x1021");
    n = made_node(&m, &no_catalogue);
    for (size_t i = 0; i < n->n_pcis; i++)
        hosts += n->pcis[i].kind == PCI_HOST_BRIDGE;
    is_int(hosts, 3, "each domain and bus has one host bridge");
    ok(made_device(n, "0000:16:00.0") && made_device(n, "0000:16:00.1"),
       "two functions of one port are two devices");
    ok(!made_device(n, "0000:16:00.2"), "a virtual function is no device");
    f = made_pci(n, "10000:e0:06.0");
    ok(f && node_pci(n, f->parent) && node_pci(n, f->parent)->at.dev == 0x0e,
       "a drive behind a volume controller hangs off that controller");
    f = made_pci(n, "0001:15:01.0");
    ok(f && node_pci(n, f->parent) && node_pci(n, f->parent)->at.domain == 1,
       "a device of another domain hangs off the host bridge of that");
    f = made_pci(n, "0000:30:00.0");
    ok(f && f->parent == ABSENT, "a device below no host bridge hangs off none");
    f = made_pci(n, "0000:31:00.0");
    ok(f && f->parent < 0, "a device below a host bridge with a broken name hangs off none");
    f = made_pci(n, "0000:32:00.0");
    ok(f && f->parent < 0, "a device below a host bridge without a domain hangs off none");
    node_free(n);
    made_done(&m);
}

/* A bridge below no host bridge is the first function of all, and there once. */
static void test_first(void)
{
    struct made m = MADE_INIT;
    struct node *n;

    made_function(&m, "sys/devices/x/0000:30:00.0/0000:31:00.0", "0x020000", "0x15b3", "0x1021");
    made_function(&m, "sys/devices/x/0000:30:00.0/0000:31:00.1", "0x020000", "0x15b3", "0x1021");
    made_in(&m, "sys/devices/x/0000:30:00.0", "class", "0x060400");
    n = made_node(&m, &no_catalogue);
    is_int((int)n->n_pcis, 3, "a bridge of two functions is there once");
    is_int(kind_of(n, "0000:30:00.0"), PCI_BRIDGE, "a bridge below no host bridge is any bridge");
    node_free(n);
    made_done(&m);
}

static void test_chipset(void)
{
    static const struct {
        const char *folder, *address, *vendor, *device;
        bool pch;
    } cases[] = {
        { "sys/devices/pci0000:00/0000:00:1a.7", "0000:00:1a.7", "0x8086", "0x1", false },
        { "sys/devices/pci0000:00/0000:00:1b.0", "0000:00:1b.0", "0x8086", "0x1", true },
        { "sys/devices/pci0000:00/0000:00:1d.7", "0000:00:1d.7", "0x8086", "0x1", true },
        { "sys/devices/pci0000:00/0000:00:1e.0", "0000:00:1e.0", "0x8086", "0x1", false },
        { "sys/devices/pci0000:01/0000:01:1c.0", "0000:01:1c.0", "0x8086", "0x1", false },
        { "sys/devices/pci0001:00/0001:00:1c.0", "0001:00:1c.0", "0x8086", "0x1", false },
        { "sys/devices/pci0000:00/0000:00:1c.0", "0000:00:1c.0", "0x10de", "0x1", false },
        { "sys/devices/pci0000:00/0000:00:01.0", "0000:00:01.0", "0x1022", "0x43af", false },
        { "sys/devices/pci0000:00/0000:00:01.0", "0000:00:01.0", "0x1022", "0x43b0", true },
        { "sys/devices/pci0000:00/0000:00:01.0", "0000:00:01.0", "0x1022", "0x43ff", true },
        { "sys/devices/pci0000:00/0000:00:01.0", "0000:00:01.0", "0x1022", "0x4400", false },
        { "sys/devices/pci0000:00/0000:00:01.0", "0000:00:01.0", "0x1002", "0x43b0", false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct made m = MADE_INIT;
        struct node *n;
        char below[128];

        made_function(&m, cases[i].folder, "0x060400", cases[i].vendor, cases[i].device);
        snprintf(below, sizeof(below), "%s/0000:40:00.0", cases[i].folder);
        made_function(&m, below, "0x020000", "0x8086", "0x1");
        n = made_node(&m, &no_catalogue);
        is_int(pch_of(n, cases[i].address), cases[i].pch, "port %s, %s:%s, is of the chipset",
               cases[i].address, cases[i].vendor, cases[i].device);
        is_int(pch_of(n, "0000:40:00.0"), cases[i].pch,
               "what is below port %s, %s:%s, is as the port is", cases[i].address, cases[i].vendor,
               cases[i].device);
        node_free(n);
        made_done(&m);
    }
}

static void test_chipset_device(void)
{
    struct made m = MADE_INIT;
    struct node *n;

    made_function(&m, "sys/devices/pci0000:00/0000:00:1c.0", "0x020000", "0x8086", "0x1");
    n = made_node(&m, &no_catalogue);
    is_int(pch_of(n, "0000:00:1c.0"), false, "a NIC with the number of a port is no port");
    node_free(n);
    made_done(&m);
}

static void test_slots(void)
{
    static const struct {
        const char *width_max, *width;
        int port_type; /* -1: no configuration */
        bool slot;
        int slots;
    } cases[] = {
        { "8", "0", 4, true, 1 },   { "16", "0", 6, true, 1 },  { "32", "0", 4, true, 1 },
        { "7", "0", 4, true, 0 },   { "33", "0", 4, true, 0 },  { "16", "1", 4, true, 0 },
        { "16", "0", 4, false, 0 }, { "16", "0", 5, true, 0 },  { "16", "0", -1, false, 1 },
        { "16", "", 4, true, 0 },   { "255", "0", 4, true, 0 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct made m = MADE_INIT;
        struct node *n;

        made_folder(&m, "sys/devices/system/node", "node0\nnode3\n");
        made_function(&m, PORT, "0x060400", "0x8086", "0x352a");
        made_in(&m, PORT, "max_link_width", cases[i].width_max);
        made_in(&m, PORT, "current_link_width", cases[i].width);
        made_in(&m, PORT, "max_link_speed", "32.0 GT/s PCIe\n");
        made_in(&m, PORT, "numa_node", "3\n");
        if (cases[i].port_type >= 0)
            add_config(&m, PORT, cases[i].port_type, cases[i].slot);
        n = made_node(&m, &no_catalogue);
        is_int((int)n->n_slots, cases[i].slots,
               "a port of type %d, x%s of x%s, has empty slots: %d", cases[i].port_type,
               cases[i].width, cases[i].width_max, cases[i].slots);
        if (n->n_slots == 1)
            ok(n->slots[0].at.bus == 0x15 && n->slots[0].at.dev == 1 && n->slots[0].numa == 1 &&
                   n->slots[0].gts_max == 32 &&
                   n->slots[0].width_max == (int)strtol(cases[i].width_max, NULL, 10),
               "an empty slot of x%s has the numbers of its port", cases[i].width_max);
        node_free(n);
        made_done(&m);
    }
}

/* An accelerator, a NIC and a drive, each in a group of its own. */
static void test_iommu(void)
{
    static const struct {
        const char *types[3], *groups, *want;
        int count;
    } cases[] = {
        { { "DMA", "DMA", "identity" }, "0\n1\n2\n", "DMA", 3 },
        { { "DMA", "identity", "DMA" }, "0\n1\n2\n", "mixed", 3 },
        { { NULL, "identity", "DMA" }, "1\n2\n", "identity", 2 },
        { { "DMA", "DMA", "DMA" }, "", NULL, 0 },
        { { NULL, NULL, "DMA" }, "2\n", NULL, 1 },
        { { "DMA", NULL, "DMA" }, "0\n2\n", "DMA", 2 },
    };
    static const char *const folders[] = { ROOT "/0000:15:00.0", ROOT "/0000:15:01.0",
                                           ROOT "/0000:15:02.0" };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct made m = MADE_INIT;
        struct node *n;

        made_function(&m, folders[0], "0x120000", "0x10de", "0x1");
        made_function(&m, folders[1], "0x020000", "0x8086", "0x1");
        made_function(&m, folders[2], "0x010802", "0x144d", "0x1");
        made_folder(&m, "sys/kernel/iommu_groups", cases[i].groups);
        for (int k = 0; k < 3; k++) {
            char path[128], target[64];

            snprintf(path, sizeof(path), "%s/iommu_group", folders[k]);
            snprintf(target, sizeof(target), "../../../kernel/iommu_groups/%d", k);
            if (cases[i].types[k])
                made_link(&m, path, target);
            snprintf(path, sizeof(path), "sys/kernel/iommu_groups/%d/type", k);
            if (cases[i].types[k])
                made_file(&m, path, cases[i].types[k]);
        }
        n = made_node(&m, &no_catalogue);
        is_int(n->set.iommu_groups, cases[i].count, "the groups of case %zu are counted", i);
        is_str(n->set.iommu_type, cases[i].want, "the type of the groups of case %zu is %s", i,
               cases[i].want);
        node_free(n);
        made_done(&m);
    }
}

static void test_refused(void)
{
    struct made m = MADE_INIT;
    struct node *n;

    made_add(&m, 'e', "sys/bus/pci/devices", "13", 2);
    n = made_node(&m, &no_catalogue);
    is_int((int)m.probe.n_troubles, 1, "a bus that may not be listed is told");
    is_str(m.probe.troubles[0].text, "cannot list /sys/bus/pci/devices: Permission denied",
           "the sentence says what may not be listed");
    is_str(m.probe.troubles[0].source, "pci", "the sentence names its source");
    is_int(n->set.iommu_groups, ABSENT, "the groups of a bus that may not be listed are not known");
    node_free(n);
    made_done(&m);
}

static void test_none(void)
{
    struct made m = MADE_INIT;
    struct node *n = made_node(&m, &no_catalogue);

    is_int((int)m.probe.n_troubles, 0, "a machine without PCI is no trouble");
    is_int((int)n->n_pcis, 0, "a machine without PCI has no functions");
    node_free(n);
    made_done(&m);
}

int main(void)
{
    test_kinds();
    test_products();
    test_function();
    test_widths();
    test_bridges();
    test_hosts();
    test_first();
    test_chipset();
    test_chipset_device();
    test_slots();
    test_iommu();
    test_refused();
    test_none();
    return done();
}
