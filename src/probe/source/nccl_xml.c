#include "probe/source/nccl_xml.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "base/xml.h"
#include "model/machine/cpulist.h"
#include "probe/kernel/kparse.h"

/* A link as the file names it: its other end may come later in the file. */
struct target {
    int device;
    bool known; /* at is an address; else a switch that is not visible */
    struct pci_address at;
    enum link_kind kind;
    int count;
};

struct reader {
    struct xml xml;
    const struct catalogue *catalogue;
    struct node *node;
    int above[XML_DEPTH + 2]; /* by depth: the PCI function that encloses a tag */
    int n_cpus;               /* <cpu> tags so far */
    int numa;
    const char *unplaced; /* CPUs of a <cpu> whose NUMA domain is not known; NULL */
    int device;           /* of the <gpu> or <nic> that is open; ABSENT */
    struct target *targets;
    size_t n_targets;
};

static int bad(const struct reader *r, const char *attr, struct err *e)
{
    const char *value = xml_attr(&r->xml, attr);

    if (!value)
        return err_set(e, -EINVAL, "%s:%d: <%s> has no %s", r->xml.file, r->xml.line, r->xml.tag,
                       attr);
    return err_set(e, -EINVAL, "%s:%d: <%s> has a broken %s: '%s'", r->xml.file, r->xml.line,
                   r->xml.tag, attr, value);
}

/* A number attribute within 0 to max; fallback when it is not there or empty, -EINVAL when
 * broken. */
static int attr_number(const struct reader *r, const char *name, int max, int fallback)
{
    const char *text = xml_attr(&r->xml, name);
    uint64_t value;
    int rc;

    if (!text || !*text)
        return fallback;
    rc = !strncmp(text, "0x", 2) ? parse_hex(text, &value) : parse_u64(text, &value);
    return rc < 0 || value > (uint64_t)max ? -EINVAL : (int)value;
}

static int copy_attr(struct reader *r, const char *name, const char **to)
{
    const char *text = xml_attr(&r->xml, name);

    if (!text)
        return 0;
    *to = arena_strdup(&r->node->arena, text);
    return *to ? 0 : -ENOMEM;
}

/* NCCL writes version 1, AMD's RCCL 2 (its documentation, NCCL_TOPO_FILE); both read alike. */
static int open_system(struct reader *r, struct err *e)
{
    const char *version = xml_attr(&r->xml, "version");

    if (version && strcmp(version, "1") != 0 && strcmp(version, "2") != 0)
        return err_set(e, -EINVAL, "%s:%d: topology version '%s' is not known (1 and 2 are)",
                       r->xml.file, r->xml.line, version);
    return 0;
}

static int add_domain(struct reader *r, int id, const char *cpus)
{
    struct numa *d = node_add_numa(r->node, id);

    if (!d)
        return -ENOMEM;
    d->cpus = cpus;
    d->threads = cpulist_count(cpus);
    r->numa = (int)r->node->n_numas - 1;
    return 0;
}

/* The list of CPUs of the tag's affinity, "" when it has none. */
static int read_affinity(struct reader *r, const char **ret, struct err *e)
{
    CLEANUP(str_done) struct str cpus = STR_INIT(64 << 10);
    const char *mask = xml_attr(&r->xml, "affinity");

    if (mask && cpulist_from_mask(&cpus, mask) < 0)
        return bad(r, "affinity", e);
    *ret = str_error(&cpus) ? NULL : arena_strdup(&r->node->arena, str_text(&cpus));
    return *ret ? 0 : err_nomem(e);
}

/* A CPU is a NUMA domain and, for want of better, one host bridge. Its number is -1 where the
 * firmware does not say, as in guests. */
static int open_cpu(struct reader *r, struct err *e)
{
    const char *numaid = xml_attr(&r->xml, "numaid"), *cpus = NULL;
    bool unknown = numaid && !strcmp(numaid, "-1");
    int id = unknown ? 0 : attr_number(r, "numaid", 1 << 16, 0), rc;
    struct pci_address at = { .bus = (uint8_t)r->n_cpus++ };
    struct pci *f;

    if (id < 0)
        return bad(r, "numaid", e);
    rc = read_affinity(r, &cpus, e);
    if (rc < 0)
        return rc;
    r->numa = ABSENT;
    if (unknown)
        r->unplaced = cpus;
    else if (add_domain(r, id, cpus) < 0)
        return err_nomem(e);
    f = node_add_pci(r->node, at);
    if (!f || copy_attr(r, "arch", &r->node->cpu_arch) < 0 ||
        copy_attr(r, "vendor", &r->node->cpu_vendor) < 0)
        return err_nomem(e);
    f->kind = PCI_HOST_BRIDGE;
    f->numa = r->numa;
    r->node->cpu_family = MAX(attr_number(r, "familyid", 1 << 16, ABSENT), ABSENT);
    r->node->cpu_number = MAX(attr_number(r, "modelid", 1 << 16, ABSENT), ABSENT);
    r->above[r->xml.depth + 1] = (int)r->node->n_pcis - 1;
    return 0;
}

/* Where no domain is known there is one, and all is in it. */
static int place(struct reader *r)
{
    struct node *n = r->node;

    if (n->n_numas)
        return 0;
    if (add_domain(r, 0, r->unplaced) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < n->n_pcis; i++)
        n->pcis[i].numa = 0;
    for (size_t i = 0; i < n->n_devices; i++)
        n->devices[i].numa = 0;
    return 0;
}

static int open_pci(struct reader *r, struct err *e)
{
    static const struct {
        const char *attr;
        size_t offset;
    } ids[] = {
        { "vendor", offsetof(struct pci, vendor) },
        { "device", offsetof(struct pci, device) },
        { "subsystem_vendor", offsetof(struct pci, sub_vendor) },
        { "subsystem_device", offsetof(struct pci, sub_device) },
    };
    const char *busid = xml_attr(&r->xml, "busid"), *speed = xml_attr(&r->xml, "link_speed");
    int class_code = attr_number(r, "class", 0xffffff, 0), width;
    struct pci_address at;
    struct pci *f;

    if (!busid || pci_address_parse(busid, &at) < 0)
        return bad(r, "busid", e);
    if (class_code < 0)
        return bad(r, "class", e);
    width = attr_number(r, "link_width", 64, 0);
    if (width < 0)
        return bad(r, "link_width", e);
    f = node_add_pci(r->node, at);
    if (!f)
        return err_nomem(e);
    f->parent = r->above[r->xml.depth];
    f->numa = r->numa;
    f->class_code = (uint32_t)class_code;
    f->kind = class_code >> 8 == 0x0604 ? PCI_SWITCH_UP : PCI_ENDPOINT;
    for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
        int value = attr_number(r, ids[i].attr, 0xffff, 0);

        if (value < 0)
            return bad(r, ids[i].attr, e);
        *(uint16_t *)(void *)((char *)f + ids[i].offset) = (uint16_t)value;
    }
    f->gts = f->gts_max = speed ? kparse_gts(speed) : ABSENT;
    f->width = f->width_max = width > 0 ? width : ABSENT;
    r->above[r->xml.depth + 1] = (int)r->node->n_pcis - 1;
    return 0;
}

/* The device that <gpu> or <nic> makes of the PCI function around it. */
static int add_device(struct reader *r, enum device_kind kind, struct err *e)
{
    int pci = r->above[r->xml.depth];
    const struct pci *f = node_pci(r->node, pci);
    struct device *d = node_add_device(r->node, kind);

    if (!d)
        return err_nomem(e);
    r->device = (int)r->node->n_devices - 1;
    d->numa = r->numa;
    if (f && f->kind != PCI_HOST_BRIDGE) {
        d->pci = pci;
        d->catalogue = catalogue_find(r->catalogue, f->vendor, f->device);
        if (d->catalogue >= 0)
            d->product = r->catalogue->products[d->catalogue].name;
    }
    return 0;
}

static int open_gpu(struct reader *r, struct err *e)
{
    int sm = attr_number(r, "sm", 10000, 0), rc;
    const char *gcn = xml_attr(&r->xml, "gcn");
    struct device *d;

    if (sm < 0)
        return bad(r, "sm", e);
    rc = add_device(r, DEVICE_ACCELERATOR, e);
    if (rc < 0)
        return rc;
    d = &r->node->devices[r->device];
    if (gcn)
        d->acc.arch = arena_strdup(&r->node->arena, gcn);
    else if (sm > 0)
        d->acc.arch = arena_printf(&r->node->arena, "sm%d", sm);
    return (gcn || sm > 0) && !d->acc.arch ? err_nomem(e) : 0;
}

static int open_nic(struct reader *r, struct err *e)
{
    return add_device(r, DEVICE_NIC, e);
}

/* NCCL's XML has no link layer; a card that was set to InfiniBand has another class, 0x0207. */
static bool is_ethernet(const struct node *n, const struct device *d)
{
    return d->pci >= 0 && n->pcis[d->pci].class_code >> 8 == 0x0200;
}

static int open_net(struct reader *r, struct err *e)
{
    struct device *d = r->device >= 0 ? &r->node->devices[r->device] : NULL;
    int mbps = attr_number(r, "speed", 1 << 30, 0);
    int number = attr_number(r, "port", 1 << 16, 1);
    struct nic_port *port;

    if (!d || d->kind != DEVICE_NIC)
        return err_set(e, -EINVAL, "%s:%d: <net> is not inside a <nic>", r->xml.file, r->xml.line);
    if (mbps < 0)
        return bad(r, "speed", e);
    if (number < 0)
        return bad(r, "port", e);
    port = node_add_port(r->node, &d->nic);
    if (!port || copy_attr(r, "guid", &port->guid) < 0)
        return err_nomem(e);
    port->number = number;
    port->gbps = mbps > 0 ? mbps / 1000.0 : ABSENT;
    port->layer = is_ethernet(r->node, d) ? PORT_ETHERNET : PORT_INFINIBAND;
    if (!d->name && (copy_attr(r, "name", &d->nic.rdma) < 0))
        return err_nomem(e);
    d->name = d->nic.rdma;
    return 0;
}

static int open_link(struct reader *r, struct err *e)
{
    const char *at = xml_attr(&r->xml, "target");
    int count = attr_number(r, "count", 1024, 1);
    struct target *t;

    if (r->device < 0 || r->node->devices[r->device].kind != DEVICE_ACCELERATOR)
        return err_set(e, -EINVAL, "%s:%d: <%s> is not inside a <gpu>", r->xml.file, r->xml.line,
                       r->xml.tag);
    if (count < 0)
        return bad(r, "count", e);
    t = ARENA_PUSH(&r->node->arena, &r->targets, &r->n_targets);
    if (!t)
        return err_nomem(e);
    t->device = r->device;
    t->count = count;
    t->kind = !strcmp(r->xml.tag, "xgmi")  ? LINK_XGMI
              : !strcmp(r->xml.tag, "c2c") ? LINK_C2C
                                           : LINK_NVLINK;
    t->known = at && pci_address_parse(at, &t->at) == 0;
    return 0;
}

static const struct {
    const char *tag;
    int (*open)(struct reader *r, struct err *e);
} tags[] = {
    { "system", open_system }, { "cpu", open_cpu },   { "pci", open_pci },
    { "gpu", open_gpu },       { "nic", open_nic },   { "net", open_net },
    { "nvlink", open_link },   { "xgmi", open_link }, { "c2c", open_link },
};

static int open_tag(struct reader *r, struct err *e)
{
    int depth = r->xml.depth;

    if (depth == 1 && strcmp(r->xml.tag, "system") != 0)
        return err_set(e, -EINVAL,
                       "%s:%d: is no NCCL topology: it starts with <%s> instead of <system>",
                       r->xml.file, r->xml.line, r->xml.tag);
    r->above[depth + 1] = r->above[depth];
    for (size_t i = 0; i < ARRAY_SIZE(tags); i++)
        if (!strcmp(tags[i].tag, r->xml.tag))
            return tags[i].open(r, e);
    return 0;
}

/* GB/s of a link in one direction, by the compute capability of the GPU (NVIDIA's published
 * rates). */
static double link_gbs(const struct device *d, enum link_kind kind)
{
    uint64_t sm;

    if (kind != LINK_NVLINK || !d->acc.arch || strncmp(d->acc.arch, "sm", 2) != 0 ||
        parse_u64(d->acc.arch + 2, &sm) < 0)
        return ABSENT;
    return sm >= 100 ? 50 : sm >= 70 ? 25 : 20;
}

/* The device at the other end of a link, ABSENT when it is none of the file. */
static int other_end(const struct node *n, const struct target *t)
{
    return t->known ? node_find_device_at(n, t->at) : ABSENT;
}

/* Whether an earlier device names the same link: a pair named from both ends counts once. */
static bool is_named(const struct reader *r, const struct target *t, int other)
{
    for (size_t i = 0; other >= 0 && other < t->device && i < r->n_targets; i++)
        if (r->targets[i].device == other && other_end(r->node, &r->targets[i]) == t->device)
            return true;
    return false;
}

static int connect(struct reader *r, struct err *e)
{
    struct node *n = r->node;

    for (size_t i = 0; i < r->n_targets; i++) {
        const struct target *t = &r->targets[i];
        int other = other_end(n, t);
        struct device *d = &n->devices[t->device];
        struct link *l;

        if (other == t->device)
            continue;
        d->acc.links_up = MAX(d->acc.links_up, 0) + (t->kind == LINK_C2C ? 0 : t->count);
        if (is_named(r, t, other))
            continue;
        l = node_add_link(n, t->kind, t->device, other);
        if (!l)
            return err_nomem(e);
        l->count = t->count;
        l->gbs = link_gbs(d, t->kind);
        l->numa = t->kind == LINK_C2C ? d->numa : ABSENT;
    }
    return 0;
}

static int read_all(struct reader *r, struct err *e)
{
    int token, rc = 0;

    while (rc == 0 && (token = xml_next(&r->xml, e)) != XML_END) {
        if (token < 0)
            return token;
        if (token == XML_OPEN)
            rc = open_tag(r, e);
        else if (!strcmp(r->xml.tag, "gpu") || !strcmp(r->xml.tag, "nic"))
            r->device = ABSENT;
    }
    if (rc < 0)
        return rc;
    if (!r->n_cpus)
        return err_set(e, -EINVAL, "%s: is no NCCL topology: it has no <cpu>", r->xml.file);
    return place(r) < 0 ? err_nomem(e) : connect(r, e);
}

int nccl_xml_read(const char *name, const char *text, size_t len, const struct catalogue *c,
                  struct node **ret, struct err *e)
{
    CLEANUP(freep) struct reader *r = calloc(1, sizeof(*r));
    CLEANUP(node_freep) struct node *n = node_new();
    const char *slash = strrchr(name, '/');
    int rc;

    if (!r || !n)
        return err_nomem(e);
    xml_init(&r->xml, name, text, len);
    r->node = n;
    r->catalogue = c;
    r->numa = r->device = ABSENT;
    r->above[0] = r->above[1] = ABSENT;
    rc = read_all(r, e);
    if (rc < 0)
        return rc;
    n->name = arena_strdup(&n->arena, slash ? slash + 1 : name);
    if (!n->name || node_settle(n) < 0)
        return err_nomem(e);
    *ret = steal(&n);
    return 0;
}
