/* The PCIe tree from sysfs: every function that is a device of a kind we know, and the bridges
 * above it. The path of a function's directory is its place in the tree:
 *     sys/devices/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "probe/kernel/kparse.h"
#include "probe/source/fact.h"
#include "probe/source/pciconf.h"

enum { CLASS_NVME = 0x0108, CLASS_BRIDGE = 0x0604, CLASS_OTHER_BRIDGE = 0x0680 };
enum { SLOT_WIDTH = 8 }; /* narrower slots take no accelerator */
enum { VENDOR_AMD = 0x1022, VENDOR_ATI = 0x1002, VENDOR_NVIDIA = 0x10de, VENDOR_INTEL = 0x8086 };

static double speed(struct probe *p, const char *dir, const char *file)
{
    char path[TREE_PATH], text[64];

    if (fact_path(path, dir, file) < 0 || tree_line(p->tree, path, text, sizeof(text)) <= 0)
        return ABSENT;
    return kparse_gts(text);
}

/* The last part of the link dir/file, in the arena; NULL when there is none. */
static int link_name(struct probe *p, struct node *n, const char *dir, const char *file,
                     const char **ret)
{
    char path[TREE_PATH], target[TREE_PATH];
    const char *slash;

    if (fact_path(path, dir, file) < 0 || tree_link(p->tree, path, target, sizeof(target)) < 0)
        return 0;
    slash = strrchr(target, '/');
    *ret = arena_strdup(&n->arena, slash ? slash + 1 : target);
    return *ret ? 0 : -ENOMEM;
}

static enum pci_kind bridge_kind(const struct node *n, const struct pci *f, int port_type)
{
    static const enum pci_kind by_type[] = {
        [4] = PCI_ROOT_PORT, [5] = PCI_SWITCH_UP, [6] = PCI_SWITCH_DOWN
    };
    const struct pci *above = node_pci(n, f->parent);

    if (port_type >= 4 && port_type <= 6)
        return by_type[port_type];
    if (port_type >= 0 || !above)
        return PCI_BRIDGE;
    /* without the right to read the capability the place in the tree tells the port type */
    if (above->kind == PCI_HOST_BRIDGE)
        return PCI_ROOT_PORT;
    return above->kind == PCI_SWITCH_UP ? PCI_SWITCH_DOWN : PCI_SWITCH_UP;
}

/* The chipset instead of the CPU: on Intel its root ports are devices 1b to 1d of bus 0; on AMD it
 * is a PCIe switch with ids 43b0 to 43ff (pci.ids: "Chipset Switch Upstream Port"). */
static bool is_chipset(const struct pci *f)
{
    if (f->class_code >> 8 != CLASS_BRIDGE)
        return false;
    if (f->vendor == VENDOR_INTEL)
        return !f->at.domain && !f->at.bus && f->at.dev >= 0x1b && f->at.dev <= 0x1d;
    return f->vendor == VENDOR_AMD && f->device >= 0x43b0 && f->device <= 0x43ff;
}

static void read_link(struct probe *p, const char *dir, struct pci *f)
{
    f->gts = speed(p, dir, "current_link_speed");
    f->gts_max = speed(p, dir, "max_link_speed");
    f->width = (int)fact_number(p, dir, "current_link_width");
    f->width_max = (int)fact_number(p, dir, "max_link_width");
    if (f->width == 0 || f->width == 255)
        f->width = ABSENT; /* nothing is plugged in, or the function does not answer */
    if (f->width_max == 0 || f->width_max == 255)
        f->width_max = ABSENT;
}

static void read_config(struct probe *p, const char *dir, struct pciconf *ret)
{
    uint8_t bytes[PCICONF_SIZE + 1];
    char path[TREE_PATH];
    ssize_t len = -1;

    if (fact_path(path, dir, "config") == 0)
        len = tree_read(p->tree, path, bytes, sizeof(bytes));
    pciconf_parse(bytes, len > 0 ? (size_t)len : 0, ret);
}

/* A vendor or device number; 0, which no vendor has, when it is absent. */
static uint16_t id(struct probe *p, const char *dir, const char *file)
{
    long long value = fact_number(p, dir, file);

    return value > 0 ? (uint16_t)value : 0;
}

/* Fill in a function from its directory. */
static int read_function(struct probe *p, struct node *n, int index, const char *dir)
{
    struct pci *f = &n->pcis[index];
    int numa = (int)fact_number(p, dir, "numa_node");
    struct pciconf conf;

    f->class_code = (uint32_t)fact_number(p, dir, "class") & 0xffffff;
    f->vendor = id(p, dir, "vendor");
    f->device = id(p, dir, "device");
    f->sub_vendor = id(p, dir, "subsystem_vendor");
    f->sub_device = id(p, dir, "subsystem_device");
    f->numa = numa < 0 ? ABSENT : node_find_numa(n, numa);
    read_link(p, dir, f);
    read_config(p, dir, &conf);
    f->max_payload_b = conf.max_payload_b;
    f->max_payload_cap_b = conf.max_payload_cap_b;
    f->max_read_b = conf.max_read_b;
    f->relaxed_ordering = conf.relaxed_ordering;
    f->acs = conf.acs;
    f->config_seen = conf.extended;
    if (f->class_code >> 8 == CLASS_BRIDGE)
        f->kind = bridge_kind(n, f, conf.port_type);
    f->pch = is_chipset(f) || (f->parent >= 0 && n->pcis[f->parent].pch);
    f->path = arena_strdup(&n->arena, dir);
    if (!f->path)
        return -ENOMEM;
    return link_name(p, n, dir, "driver", &f->driver);
}

/* The host bridge "pciDDDD:BB", an index; added when it is new. */
static int host_bridge(struct node *n, const char *name)
{
    uint64_t domain, bus;
    struct pci *f;
    int digits = parse_digits(name + 3, 16, 8, &domain);

    if (!digits || name[3 + digits] != ':' || !parse_digits(name + 4 + digits, 16, 2, &bus))
        return -EINVAL;
    for (size_t i = 0; i < n->n_pcis; i++)
        if (n->pcis[i].kind == PCI_HOST_BRIDGE && n->pcis[i].at.domain == domain &&
            n->pcis[i].at.bus == bus)
            return (int)i;
    f = node_add_pci(n, (struct pci_address){ .domain = (uint32_t)domain, .bus = (uint8_t)bus });
    if (!f)
        return -ENOMEM;
    f->kind = PCI_HOST_BRIDGE;
    return (int)n->n_pcis - 1;
}

/* Add the functions on the way of dir that are not there yet. Returns the index of the last. */
static int add_path(struct probe *p, struct node *n, const char *dir)
{
    char part[TREE_PATH], name[32];
    int parent = ABSENT;
    size_t end = 0;

    while (dir[end]) {
        size_t start = end + (dir[end] == '/');
        struct pci_address at;
        int index, rc;

        end = start + strcspn(dir + start, "/");
        snprintf(name, sizeof(name), "%.*s", (int)(end - start), dir + start);
        if (parent < 0 && !strncmp(name, "pci", 3) && strchr(name, ':')) {
            parent = host_bridge(n, name);
            if (parent == -ENOMEM)
                return -ENOMEM;
        }
        if (strlen(name) < 12 || pci_address_parse(name, &at) < 0)
            continue; /* a domain behind a volume controller (VMD) hangs off that controller */
        index = node_find_pci(n, at);
        if (index < 0) {
            struct pci *f = node_add_pci(n, at);

            if (!f)
                return -ENOMEM;
            index = (int)n->n_pcis - 1;
            f->parent = parent;
            snprintf(part, sizeof(part), "%.*s", (int)end, dir);
            rc = read_function(p, n, index, part);
            if (rc < 0)
                return rc;
        }
        parent = index;
    }
    return parent;
}

/* The kind of device that a function is; false when it is none that we follow. */
static bool device_kind(uint32_t class_code, uint16_t vendor, int row, const struct catalogue *c,
                        enum device_kind *ret)
{
    unsigned base = class_code >> 16, class = class_code >> 8;
    bool maker = vendor == VENDOR_NVIDIA || vendor == VENDOR_ATI;

    if (row >= 0 && c->products[row].kind == PRODUCT_ACCELERATOR)
        *ret = DEVICE_ACCELERATOR;
    else if ((base == 0x03 && maker) || base == 0x12)
        *ret = DEVICE_ACCELERATOR;
    else if (row >= 0 && c->products[row].kind == PRODUCT_SWITCH)
        *ret = DEVICE_SWITCH;
    else if (class == CLASS_OTHER_BRIDGE && vendor == VENDOR_NVIDIA)
        *ret = DEVICE_SWITCH;
    else if (base == 0x02)
        *ret = DEVICE_NIC;
    else if (class == CLASS_NVME)
        *ret = DEVICE_NVME;
    else
        return false;
    return true;
}

/* Functions that a server has by the hundred and that are no devices: host and ISA bridges, and the
 * CPU's timers and counters. */
static bool is_plumbing(uint32_t class_code, uint16_t vendor)
{
    unsigned base = class_code >> 16;

    if (base == 0x06)
        return class_code >> 8 != CLASS_OTHER_BRIDGE;
    return (base == 0x08 || base == 0x11) && (vendor == VENDOR_INTEL || vendor == VENDOR_AMD);
}

/* Whether a function is a device that we follow, and of which kind. A virtual function is none: its
 * port is that of the physical one. */
static bool is_device(struct probe *p, const char *dir, uint32_t class_code, enum device_kind *kind,
                      int *row)
{
    char path[TREE_PATH], physical[TREE_PATH];
    uint16_t vendor = id(p, dir, "vendor");

    if (is_plumbing(class_code, vendor))
        return false;
    *row = catalogue_find(p->catalogue, vendor, id(p, dir, "device"));
    if (!device_kind(class_code, vendor, *row, p->catalogue, kind))
        return false;
    return fact_path(path, dir, "physfn") == 0 &&
           tree_link(p->tree, path, physical, sizeof(physical)) < 0;
}

/* Note a port of x8 or wider with an empty slot behind it. */
static int visit_port(struct probe *p, struct node *n, const char *name, const char *dir)
{
    struct pci_address at;
    struct pciconf conf;
    struct slot *s;
    int numa, width = (int)fact_number(p, dir, "max_link_width");

    if (width < SLOT_WIDTH || width > 32 || fact_number(p, dir, "current_link_width") != 0)
        return 0;
    read_config(p, dir, &conf);
    if (conf.slot == 0 || conf.port_type == 5 || pci_address_parse(name, &at) < 0)
        return 0;
    s = ARENA_PUSH(&n->arena, &n->slots, &n->n_slots);
    if (!s)
        return -ENOMEM;
    numa = (int)fact_number(p, dir, "numa_node");
    s->at = at;
    s->numa = numa < 0 ? ABSENT : node_find_numa(n, numa);
    s->width_max = width;
    s->gts_max = speed(p, dir, "max_link_speed");
    return 0;
}

/* Look at one function of the bus; add it when it is a device. */
static int visit(struct probe *p, struct node *n, const char *name)
{
    char path[TREE_PATH], dir[TREE_PATH];
    enum device_kind kind;
    struct device *d;
    long long class_code;
    int index, row;

    if (fact_path(path, "sys/bus/pci/devices", name) < 0 ||
        tree_link(p->tree, path, dir, sizeof(dir)) < 0)
        return 0;
    class_code = fact_number(p, dir, "class");
    if (class_code >> 8 == CLASS_BRIDGE)
        return visit_port(p, n, name, dir);
    if (class_code < 0 || !is_device(p, dir, (uint32_t)class_code, &kind, &row))
        return 0;
    index = add_path(p, n, dir);
    if (index < 0)
        return index == -ENOMEM ? index : 0;
    d = node_add_device(n, kind);
    if (!d)
        return -ENOMEM;
    d->pci = index;
    d->catalogue = row;
    d->product = row >= 0 ? p->catalogue->products[row].name : NULL;
    for (int at = index; at >= 0 && d->numa < 0; at = n->pcis[at].parent)
        d->numa = n->pcis[at].numa;
    return 0;
}

/* The type of the IOMMU group of a function: "identity", "DMA"; NULL when it is in none. */
static int iommu_type(struct probe *p, struct node *n, const struct pci *f, const char **ret)
{
    char path[TREE_PATH], group[TREE_PATH];

    if (fact_path(path, f->path, "iommu_group") < 0 ||
        tree_link(p->tree, path, group, sizeof(group)) < 0)
        return 0;
    return fact_text(p, n, group, "type", ret);
}

/* How many IOMMU groups there are, and of which type those of accelerators and NICs are. */
static int read_iommu(struct probe *p, struct node *n)
{
    CLEANUP(str_done) struct str groups = STR_INIT(TREE_FILE_MAX);
    int rc = tree_list(p->tree, "sys/kernel/iommu_groups", &groups);

    if (rc < 0)
        return rc == -ENOMEM ? rc : 0;
    n->set.iommu_groups = rc;
    for (size_t i = 0; i < n->n_devices && n->set.iommu_groups > 0; i++) {
        const struct device *d = &n->devices[i];
        const char *type = NULL;

        if (d->kind != DEVICE_ACCELERATOR && d->kind != DEVICE_NIC)
            continue;
        rc = iommu_type(p, n, &n->pcis[d->pci], &type);
        if (rc < 0)
            return rc;
        if (!type)
            continue;
        if (n->set.iommu_type && strcmp(n->set.iommu_type, type) != 0)
            type = "mixed";
        n->set.iommu_type = type;
    }
    return 0;
}

static int pci_read(struct probe *p, struct node *n, struct err *e)
{
    CLEANUP(str_done) struct str names = STR_INIT(TREE_LIST_MAX);
    int rc = tree_list(p->tree, "sys/bus/pci/devices", &names);

    if (rc == -ENOENT)
        return 0;
    if (rc == -ENOMEM)
        return err_nomem(e);
    if (rc < 0)
        return err_set(e, rc, "cannot list /sys/bus/pci/devices: %s", strerror(-rc));
    rc = 0;
    for (char *at = names.data, *name; rc == 0 && (name = fact_next(&at)) != NULL;)
        rc = visit(p, n, name);
    if (rc == 0)
        rc = read_iommu(p, n);
    return rc == -ENOMEM ? err_nomem(e) : rc;
}

const struct source_ops source_pci = {
    .name = "pci",
    .what = "the PCIe tree, link speeds, ACS and IOMMU, from sysfs",
    .read = pci_read,
};
