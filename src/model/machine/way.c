#include "model/machine/way.h"

#include <stdio.h>

/* Bridges from a function up to its host bridge; the tree is never deeper in the world. */
enum { DEPTH_MAX = 64 };

int way_meet(const struct node *n, int pci_a, int pci_b)
{
    int above_a[DEPTH_MAX], depth = 0;

    for (int p = pci_a; p >= 0 && depth < DEPTH_MAX; p = n->pcis[p].parent)
        above_a[depth++] = p;
    for (int p = pci_b, steps = 0; p >= 0 && steps < DEPTH_MAX; p = n->pcis[p].parent, steps++)
        for (int i = 0; i < depth; i++)
            if (above_a[i] == p)
                return p;
    return ABSENT;
}

/* Lower w->gbs to the slowest link from a function up to (not including) the bridge 'to'. Each link
 * is counted once, at its lower end; to ABSENT walks up to the host bridge. Returns how much stands
 * strictly between: 2 for each further switch, 1 for a bridge of unknown type. */
static int narrow(const struct node *n, int from, int to, struct way *w)
{
    int between = 0;

    for (int p = from, steps = 0; p >= 0 && p != to && steps < DEPTH_MAX;
         p = n->pcis[p].parent, steps++) {
        const struct pci *at = &n->pcis[p];
        double gbs = pcie_gbs(at->gts, at->width);

        if (at->kind == PCI_SWITCH_UP)
            between += 2;
        between += at->kind == PCI_BRIDGE;
        if (at->kind != PCI_ENDPOINT && at->kind != PCI_SWITCH_UP)
            continue; /* this port's link is the one that the function below has reported */
        if (gbs > 0 && (w->gbs < 0 || gbs < w->gbs)) {
            w->gbs = gbs;
            w->limit = p;
        }
    }
    return between;
}

/* NUMA domain of a function: its own, or that of a bridge above it. */
static int numa_of(const struct node *n, int device)
{
    int numa = n->devices[device].numa;

    for (int p = n->devices[device].pci; p >= 0 && numa < 0; p = n->pcis[p].parent)
        numa = n->pcis[p].numa;
    return numa;
}

/* Functions of one card, behind one link: NCCL's files show them without the port that they
 * share. */
static bool one_card(const struct node *n, int a, int b)
{
    const struct pci *x = node_pci(n, a), *y = node_pci(n, b);

    return x && y && x->gts > 0 && y->gts > 0 && x->parent == y->parent &&
           x->at.domain == y->at.domain && x->at.bus == y->at.bus && x->at.dev == y->at.dev;
}

struct way way_over_pcie(const struct node *n, int a, int b)
{
    struct way w = { .class = WAY_UNKNOWN, .gbs = ABSENT, .limit = ABSENT };
    int pci_a = n->devices[a].pci, pci_b = n->devices[b].pci, meet, side_a, side_b;
    int numa_a = numa_of(n, a), numa_b = numa_of(n, b);

    if (a == b) {
        w.class = WAY_SELF;
        return w;
    }
    meet = pci_a >= 0 && pci_b >= 0 ? way_meet(n, pci_a, pci_b) : ABSENT;
    if (one_card(n, pci_a, pci_b)) {
        w.class = WAY_PIX;
        return w;
    }
    side_a = narrow(n, pci_a, meet, &w);
    side_b = narrow(n, pci_b, meet, &w);
    if (meet >= 0 && n->pcis[meet].kind != PCI_HOST_BRIDGE)
        w.class = side_a <= 1 && side_b <= 1 ? WAY_PIX : WAY_PXB;
    else if (meet >= 0)
        w.class = WAY_PHB;
    else if (numa_a >= 0 && numa_b >= 0)
        w.class = numa_a == numa_b ? WAY_NODE : WAY_SYS;
    else if (n->n_numas == 1)
        w.class = WAY_NODE; /* only one domain: the firmware need not say which */
    return w;
}

/* How many links of a device lead into a switch fabric, of which kind and rate. */
static int fabric_links(const struct node *n, int device, const struct link **one)
{
    int count = 0;

    for (size_t i = 0; i < n->n_links; i++) {
        const struct link *l = &n->links[i];
        bool fabric = l->b < 0 ? l->numa < 0 : n->devices[l->b].kind == DEVICE_SWITCH;

        if (l->a != device || !fabric)
            continue;
        count += l->count;
        *one = l;
    }
    return count;
}

/* The way over direct links, else through the switches that both hang off. */
static struct way way_over_links(const struct node *n, int a, int b)
{
    struct way w = { .class = WAY_UNKNOWN, .gbs = ABSENT, .limit = ABSENT };
    const struct link *one = NULL, *other = NULL;

    for (size_t i = 0; i < n->n_links; i++) {
        const struct link *l = &n->links[i];

        if ((l->a == a && l->b == b) || (l->a == b && l->b == a)) {
            w.count += l->count;
            one = l;
        }
    }
    if (!w.count) {
        int from = fabric_links(n, a, &one), to = fabric_links(n, b, &other);

        w.count = one && other && one->kind == other->kind ? MIN(from, to) : 0;
    }
    if (!w.count)
        return w;
    w.class = one->kind == LINK_C2C ? WAY_C2C : WAY_NV;
    w.link = one->kind;
    w.gbs = one->gbs > 0 ? one->gbs * w.count : ABSENT;
    return w;
}

struct way way_between(const struct node *n, int a, int b)
{
    struct way w = way_over_links(n, a, b);

    if (a == b || w.class == WAY_UNKNOWN)
        return way_over_pcie(n, a, b);
    return w;
}

const char *way_text(const struct way *w, char buf[WAY_TEXT])
{
    static const char *const names[] = {
        [WAY_SELF] = "X",  [WAY_C2C] = "C2C",   [WAY_PIX] = "PIX", [WAY_PXB] = "PXB",
        [WAY_PHB] = "PHB", [WAY_NODE] = "NODE", [WAY_SYS] = "SYS", [WAY_UNKNOWN] = "?"
    };
    static const char *const bundles[] = {
        [LINK_NVLINK] = "NV", [LINK_XGMI] = "XG",   [LINK_HCCS] = "HC",
        [LINK_XELINK] = "XL", [LINK_FABRIC] = "FB", [LINK_C2C] = "C2C"
    };

    if (w->class == WAY_NV)
        snprintf(buf, WAY_TEXT, "%s%d", bundles[w->link], w->count);
    else
        snprintf(buf, WAY_TEXT, "%s", names[w->class]);
    return buf;
}
