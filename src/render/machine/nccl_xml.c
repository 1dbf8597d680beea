/* NCCL's topology file (NCCL_TOPO_FILE), as NCCL's own src/graph/xml.cc writes it. It describes one
 * node: of several the first. The functions of one NIC, which NCCL joins under the first, are kept
 * apart, so that each port keeps its name and address. What NCCL has no word for (HCCS, Xe Link,
 * accelerators that are CPU cores) is left out, and so is NVMe. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "model/machine/cpulist.h"
#include "render/machine/render.h"
#include "render/text.h"

enum { CLASS_GPU = 0x030200, CLASS_NVSWITCH = 0x068000, DEPTH_MAX = 32 };

struct writer {
    const struct node *node;
    struct str *out;
    bool *wanted; /* PCI functions: holds or leads to a device that is written */
    int *cpu;     /* of those: the domain in whose <cpu> they stand */
    int net;      /* ports so far */
};

static void attr(struct writer *w, const char *name, const char *value)
{
    str_addf(w->out, " %s=\"", name);
    text_add_xml(w->out, value);
    str_add_char(w->out, '"');
}

static void indent(struct writer *w, int depth)
{
    str_fill(w->out, ' ', 2 * depth);
}

static bool is_written(const struct device *d)
{
    return d->pci >= 0 && (d->kind == DEVICE_ACCELERATOR || d->kind == DEVICE_NIC);
}

/* ---- links of a GPU ---- */

static uint32_t class_of(const struct node *n, int device)
{
    int pci = n->devices[device].pci;

    if (pci >= 0 && n->pcis[pci].class_code)
        return n->pcis[pci].class_code;
    return n->devices[device].kind == DEVICE_SWITCH ? CLASS_NVSWITCH : CLASS_GPU;
}

static void add_bundle(struct writer *w, const struct link *l, int from, int depth)
{
    const struct node *n = w->node;
    int to = l->a == from ? l->b : l->a;
    bool visible = to >= 0 && n->devices[to].pci >= 0;
    char address[PCI_ADDRESS_TEXT];

    indent(w, depth);
    str_addf(w->out, "<%s target=\"%s\" count=\"%d\" tclass=\"0x%06x\"/>\n",
             l->kind == LINK_XGMI ? "xgmi" : "nvlink",
             visible ? pci_address_text(n->pcis[n->devices[to].pci].at, address)
                     : "fffffff:ffff:ff",
             l->count, to >= 0 ? class_of(n, to) : (unsigned)CLASS_NVSWITCH);
}

/* NCCL will not read a link to the CPU without its rate, in MB/s. */
static void add_c2c(struct writer *w, const struct link *l, int depth)
{
    if (l->gbs <= 0)
        return;
    indent(w, depth);
    str_addf(w->out, "<c2c bw=\"%.0f\" count=\"%d\"/>\n", l->gbs * 1000, l->count);
}

static void add_links(struct writer *w, int device, int depth)
{
    for (size_t i = 0; i < w->node->n_links; i++) {
        const struct link *l = &w->node->links[i];

        if (l->a != device && l->b != device)
            continue;
        if (l->kind == LINK_C2C)
            add_c2c(w, l, depth);
        else if (l->kind == LINK_NVLINK || l->kind == LINK_XGMI)
            add_bundle(w, l, device, depth);
    }
}

static bool has_links(const struct node *n, int device)
{
    for (size_t i = 0; i < n->n_links; i++) {
        const struct link *l = &n->links[i];

        if ((l->a == device || l->b == device) &&
            (l->kind == LINK_NVLINK || l->kind == LINK_XGMI || (l->kind == LINK_C2C && l->gbs > 0)))
            return true;
    }
    return false;
}

/* ---- devices ---- */

/* The compute capability as a number: 90 for sm90; for AMD major and minor of the target, 94 for
 * gfx942, whose last two digits are minor and stepping. 0 when there is none. */
static int compute_capability(const char *arch)
{
    size_t len = arch ? strlen(arch) : 0;
    char major[8] = "";
    uint64_t number;

    if (len > 2 && len < 7 && !strncmp(arch, "sm", 2))
        return parse_u64(arch + 2, &number) < 0 ? 0 : (int)number;
    if (len < 6 || len > 8 || strncmp(arch, "gfx", 3) != 0)
        return 0;
    memcpy(major, arch + 3, len - 5);
    if (parse_u64(major, &number) < 0 || arch[len - 2] < '0' || arch[len - 2] > '9')
        return 0;
    return (int)number * 10 + (arch[len - 2] - '0');
}

static void add_gpu(struct writer *w, int device, int depth)
{
    const struct device *d = &w->node->devices[device];
    int sm = compute_capability(d->acc.arch);

    indent(w, depth);
    str_addf(w->out, "<gpu dev=\"%d\"", d->index);
    if (sm > 0)
        str_addf(w->out, " sm=\"%d\"", sm);
    if (sm > 0 && !strncmp(d->acc.arch, "gfx", 3))
        attr(w, "gcn", d->acc.arch);
    str_addf(w->out, " rank=\"%d\" gdr=\"1\"", d->index);
    if (!has_links(w->node, device)) {
        str_add(w->out, "/>\n");
        return;
    }
    str_add(w->out, ">\n");
    add_links(w, device, depth + 1);
    indent(w, depth);
    str_add(w->out, "</gpu>\n");
}

/* One port. A speed of 0 is what NCCL takes its default for. */
static void add_net(struct writer *w, const struct device *d, const struct nic_port *p, int depth)
{
    double mbps = p && p->gbps > 0 ? MIN(p->gbps * 1000, 1e9) : 0;

    indent(w, depth);
    str_add(w->out, "<net");
    attr(w, "name", d->nic.rdma ? d->nic.rdma : d->name);
    str_addf(w->out, " dev=\"%d\" latency=\"0.000000\" speed=\"%.0f\" port=\"%d\"", w->net++, mbps,
             p && p->number > 0 ? p->number : 1);
    if (p && p->guid)
        attr(w, "guid", p->guid);
    str_addf(w->out, " maxconn=\"131072\" gdr=\"%d\"/>\n", d->nic.rdma != NULL);
}

static void add_nic(struct writer *w, int device, int depth)
{
    const struct device *d = &w->node->devices[device];

    indent(w, depth);
    str_add(w->out, "<nic>\n");
    for (size_t i = 0; i < d->nic.n_ports; i++)
        add_net(w, d, &d->nic.ports[i], depth + 1);
    if (!d->nic.n_ports)
        add_net(w, d, NULL, depth + 1);
    indent(w, depth);
    str_add(w->out, "</nic>\n");
}

/* ---- the PCIe tree ---- */

/* The lesser of two maxima of which either may be absent. */
static double lesser(double a, double b)
{
    if (a <= 0 || b <= 0)
        return MAX(a, b);
    return MIN(a, b);
}

/* NCCL takes what a link can do: the lesser of the function's and the port's best. */
static void add_link(struct writer *w, const struct pci *p)
{
    const struct pci *above = node_pci(w->node, p->parent);
    double gts = p->gts_max, width = p->width_max;

    if (above && (above->kind == PCI_ROOT_PORT || above->kind == PCI_SWITCH_DOWN)) {
        gts = lesser(gts, above->gts_max);
        width = lesser(width, (double)above->width_max);
    }
    if (gts > 0)
        str_addf(w->out, " link_speed=\"%.1f GT/s PCIe\"", gts);
    else
        str_add(w->out, " link_speed=\"\"");
    str_addf(w->out, " link_width=\"%d\"", MAX((int)width, 0));
}

/* The function that encloses another in the file: the nearest upstream port above it. */
static int enclosing(const struct node *n, int pci)
{
    for (pci = n->pcis[pci].parent; pci >= 0; pci = n->pcis[pci].parent)
        if (n->pcis[pci].kind == PCI_SWITCH_UP)
            return pci;
    return ABSENT;
}

static void add_below(struct writer *w, int above, int cpu, int depth);

static void add_pci(struct writer *w, int pci, int depth)
{
    const struct pci *p = &w->node->pcis[pci];
    char address[PCI_ADDRESS_TEXT];

    indent(w, depth);
    str_addf(w->out,
             "<pci busid=\"%s\" class=\"0x%06x\" vendor=\"0x%04x\" device=\"0x%04x\""
             " subsystem_vendor=\"0x%04x\" subsystem_device=\"0x%04x\"",
             pci_address_text(p->at, address), p->class_code, p->vendor, p->device, p->sub_vendor,
             p->sub_device);
    add_link(w, p);
    str_add(w->out, ">\n");
    for (int i = 0; i < (int)w->node->n_devices; i++) {
        const struct device *d = &w->node->devices[i];

        if (d->pci != pci || !is_written(d))
            continue;
        if (d->kind == DEVICE_ACCELERATOR)
            add_gpu(w, i, depth + 1);
        else
            add_nic(w, i, depth + 1);
    }
    if (p->kind == PCI_SWITCH_UP && depth < DEPTH_MAX)
        add_below(w, pci, ABSENT, depth + 1);
    indent(w, depth);
    str_add(w->out, "</pci>\n");
}

/* The functions below an upstream port, or (above ABSENT) below a CPU. */
static void add_below(struct writer *w, int above, int cpu, int depth)
{
    for (int i = 0; i < (int)w->node->n_pcis; i++)
        if (w->wanted[i] && enclosing(w->node, i) == above && (above >= 0 || w->cpu[i] == cpu))
            add_pci(w, i, depth);
}

static void add_cpu(struct writer *w, int numa)
{
    const struct node *n = w->node;
    const struct numa *d = n->n_numas ? &n->numas[numa] : NULL;

    indent(w, 1);
    str_addf(w->out, "<cpu numaid=\"%d\" affinity=\"", d ? d->id : 0);
    cpulist_add_mask(w->out, d ? d->cpus : "");
    str_add_char(w->out, '"');
    if (n->cpu_arch)
        attr(w, "arch", !strcmp(n->cpu_arch, "aarch64") ? "arm64" : n->cpu_arch);
    if (n->cpu_vendor)
        attr(w, "vendor", n->cpu_vendor);
    if (n->cpu_family >= 0)
        str_addf(w->out, " familyid=\"%d\"", n->cpu_family);
    if (n->cpu_number >= 0)
        str_addf(w->out, " modelid=\"%d\"", n->cpu_number);
    str_add(w->out, ">\n");
    add_below(w, ABSENT, numa, 2);
    indent(w, 1);
    str_add(w->out, "</cpu>\n");
}

/* A domain without CPUs (memory of an accelerator) is written only where devices hang off it. */
static bool has_cpu(const struct writer *w, int numa)
{
    const struct node *n = w->node;

    if (numa == 0 || *n->numas[numa].cpus)
        return true;
    for (int i = 0; i < (int)n->n_pcis; i++)
        if (w->wanted[i] && w->cpu[i] == numa)
            return true;
    return false;
}

/* The domain of a function: its own, that of a bridge above it, or what the driver of a device
 * says. */
static int domain_of(const struct node *n, int pci, const struct device *d)
{
    int numa = ABSENT;

    for (; pci >= 0 && numa < 0; pci = n->pcis[pci].parent)
        numa = n->pcis[pci].numa;
    return numa < 0 ? d->numa : numa;
}

/* Fill wanted and cpu. Devices without a domain go to the first CPU. */
static void choose(struct writer *w)
{
    const struct node *n = w->node;

    for (size_t i = 0; i < n->n_devices; i++) {
        const struct device *d = &n->devices[i];

        for (int p = is_written(d) ? d->pci : ABSENT; p >= 0; p = n->pcis[p].parent) {
            w->wanted[p] |= p == d->pci || n->pcis[p].kind == PCI_SWITCH_UP;
            w->cpu[p] = MAX(domain_of(n, p, d), 0);
        }
    }
}

static int render(const struct machine_view *v, struct str *out)
{
    const struct node *n = v->machine->n_nodes ? v->machine->nodes[0] : NULL;
    CLEANUP(freep) bool *wanted = calloc(n ? n->n_pcis + 1 : 1, sizeof(*wanted));
    CLEANUP(freep) int *cpu = calloc(n ? n->n_pcis + 1 : 1, sizeof(*cpu));
    struct writer w = { .node = n, .out = out, .wanted = wanted, .cpu = cpu };

    if (!wanted || !cpu) {
        str_fail(out, -ENOMEM);
        return -ENOMEM;
    }
    str_add(out, "<system version=\"1\">\n");
    if (n)
        choose(&w);
    for (int numa = 0; n && (numa == 0 || numa < (int)n->n_numas); numa++)
        if (!n->n_numas || has_cpu(&w, numa))
            add_cpu(&w, numa);
    str_add(out, "</system>\n");
    return str_error(out);
}

const struct machine_renderer machine_nccl_xml = {
    "nccl-xml",
    "NCCL's topology file, for NCCL_TOPO_FILE; of several nodes the first",
    render,
};
