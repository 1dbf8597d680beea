/* AMD accelerators without a library: amdgpu's files in sysfs and the KFD topology, which knows the
 * xGMI links. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probe/kernel/kparse.h"
#include "probe/source/fact.h"

static const char kfd_nodes[] = "sys/class/kfd/kfd/topology/nodes";

enum {
    VENDOR = 0x1002,
    KFD_MAX = 64,     /* KFD nodes: CPUs and GPU partitions of one host */
    IOLINK_XGMI = 11, /* CRAT io-link type of the amdkfd driver */
};

/* Per xGMI link and direction, GB/s: AMD Instinct MI200 and MI300 data sheets (50 and 64). */
static double xgmi_gbs(int64_t gfx)
{
    return gfx >= 90400 ? 64 : gfx >= 90010 ? 50 : ABSENT;
}

static int read_gpu(struct probe *p, struct node *n, struct device *d)
{
    const char *dir = n->pcis[d->pci].path, *unique = NULL;
    int rc;

    d->acc.memory_b = fact_number(p, dir, "mem_info_vram_total");
    rc = fact_text(p, n, dir, "vbios_version", &d->acc.vbios);
    if (rc == 0)
        rc = fact_text(p, n, dir, "unique_id", &unique);
    if (rc == 0 && unique)
        d->acc.uuid = unique;
    if (rc == 0 && !d->product)
        rc = fact_text(p, n, dir, "product_name", &d->product);
    return rc;
}

/* The PCI address of a KFD node: bus, device and function are packed in location_id. */
static struct pci_address address(const char *properties)
{
    int64_t location = kparse_property(properties, "location_id");
    int64_t domain = kparse_property(properties, "domain");

    return (struct pci_address){
        .domain = domain > 0 ? (uint32_t)domain : 0,
        .bus = (uint8_t)(location >> 8 & 0xff),
        .dev = (uint8_t)(location >> 3 & 0x1f),
        .fn = (uint8_t)(location & 7),
    };
}

/* gfx_target_version 90402 is gfx942: major, minor and stepping in two decimal digits each, the
 * last two written in hexadecimal. */
static int set_arch(struct node *n, struct device *d, int64_t gfx)
{
    if (gfx <= 0 || d->acc.arch)
        return 0;
    d->acc.arch = arena_printf(&n->arena, "gfx%d%x%x", (int)(gfx / 10000 % 100),
                               (unsigned)(gfx / 100 % 100), (unsigned)(gfx % 100));
    return d->acc.arch ? 0 : -ENOMEM;
}

/* Map KFD node numbers to devices: device[i] is an index, or ABSENT. */
static int map_nodes(struct probe *p, struct node *n, int device[KFD_MAX], int64_t gfx[KFD_MAX])
{
    char dir[TREE_PATH], path[TREE_PATH], text[TREE_FILE_MAX / 8];

    for (int i = 0; i < KFD_MAX; i++) {
        int found, rc;

        device[i] = ABSENT;
        gfx[i] = ABSENT;
        snprintf(dir, sizeof(dir), "%s/%d", kfd_nodes, i);
        if (fact_path(path, dir, "properties") < 0 ||
            tree_read(p->tree, path, text, sizeof(text)) <= 0 ||
            kparse_property(text, "simd_count") <= 0)
            continue;
        found = node_find_device_at(n, address(text));
        if (found < 0 || n->devices[found].kind != DEVICE_ACCELERATOR)
            continue;
        device[i] = found;
        gfx[i] = kparse_property(text, "gfx_target_version");
        rc = set_arch(n, &n->devices[device[i]], gfx[i]);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* The xGMI links of KFD node i to nodes above it, so that each pair comes once. */
static int read_links(struct probe *p, struct node *n, int i, const int device[KFD_MAX],
                      const int64_t gfx[KFD_MAX])
{
    CLEANUP(str_done) struct str names = STR_INIT(TREE_FILE_MAX);
    char dir[TREE_PATH], path[TREE_PATH], text[2048];
    int rc;

    snprintf(dir, sizeof(dir), "%s/%d/io_links", kfd_nodes, i);
    rc = fact_list(p, dir, &names);
    if (rc < 0)
        return rc;
    for (char *at = names.data, *name; (name = fact_next(&at)) != NULL;) {
        int64_t to;
        struct link *l;

        if (snprintf(path, sizeof(path), "%s/%s/properties", dir, name) >= (int)sizeof(path) ||
            tree_read(p->tree, path, text, sizeof(text)) <= 0 ||
            kparse_property(text, "type") != IOLINK_XGMI)
            continue;
        to = kparse_property(text, "node_to");
        if (to < 0 || to >= KFD_MAX || device[to] < 0 || device[to] == device[i])
            continue;
        if (n->devices[device[i]].acc.links_up < 0)
            n->devices[device[i]].acc.links_up = 0;
        n->devices[device[i]].acc.links_up++;
        if (to < i)
            continue;
        l = node_add_link(n, LINK_XGMI, device[i], device[to]);
        if (!l)
            return -ENOMEM;
        l->gbs = xgmi_gbs(gfx[i]);
    }
    return 0;
}

static int amd_read(struct probe *p, struct node *n, struct err *e)
{
    int device[KFD_MAX], rc = 0;
    int64_t gfx[KFD_MAX];
    bool any = false;

    for (size_t i = 0; i < n->n_devices && rc == 0; i++) {
        struct device *d = &n->devices[i];

        if (d->kind != DEVICE_ACCELERATOR || d->pci < 0 || n->pcis[d->pci].vendor != VENDOR)
            continue;
        any = true;
        rc = read_gpu(p, n, d);
    }
    if (!any || rc < 0)
        return rc < 0 ? err_nomem(e) : 0;
    rc = map_nodes(p, n, device, gfx);
    for (int i = 0; i < KFD_MAX && rc == 0; i++)
        if (device[i] >= 0)
            rc = read_links(p, n, i, device, gfx);
    return rc < 0 ? err_nomem(e) : 0;
}

const struct source_ops source_amd = {
    .name = "amd",
    .what = "AMD accelerators and xGMI links, from sysfs and the KFD topology",
    .read = amd_read,
};
