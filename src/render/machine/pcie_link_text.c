#include "render/machine/pcie_link_text.h"

#include "render/text.h"

enum { VENDOR_AMD_GPU = 0x1002, VENDOR_AMD = 0x1022, VENDOR_NVIDIA = 0x10de };

static const struct device *accelerator_at(const struct node *n, int pci)
{
    for (size_t i = 0; i < n->n_devices; i++)
        if (n->devices[i].kind == DEVICE_ACCELERATOR && n->devices[i].pci == pci)
            return &n->devices[i];
    return NULL;
}

/* AMD's boards put the accelerator below a switch of their own, with AMD's vendor id. */
static bool is_board_switch(const struct pci *p)
{
    return (p->kind == PCI_SWITCH_UP || p->kind == PCI_SWITCH_DOWN) &&
           (p->vendor == VENDOR_AMD_GPU || p->vendor == VENDOR_AMD);
}

int pcie_link_board_port(const struct node *n, const struct device *d)
{
    int port = d->pci;

    if (port < 0 || d->kind != DEVICE_ACCELERATOR || n->pcis[port].vendor != VENDOR_AMD_GPU)
        return port;
    for (int p = n->pcis[port].parent; p >= 0 && is_board_switch(&n->pcis[p]);
         p = n->pcis[p].parent)
        if (n->pcis[p].kind == PCI_SWITCH_UP)
            port = p;
    return port;
}

/* The port above a function, whose link is the same; NULL when it is not in the tree. */
static const struct pci *port_above(const struct node *n, const struct pci *p)
{
    const struct pci *above = node_pci(n, p->parent);

    return above && (above->kind == PCI_ROOT_PORT || above->kind == PCI_SWITCH_DOWN) ? above : NULL;
}

static struct pcie_link_text look(const struct node *n, int pci, const struct device *d)
{
    struct pcie_link_text l = { LINK_UNKNOWN, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT };
    const struct pci *p = node_pci(n, pci), *above;

    if (!p || p->gts <= 0 || p->width <= 0)
        return l;
    l = (struct pcie_link_text){ LINK_FINE, p->gts,       p->gts_max,
                                 p->width,  p->width_max, pcie_gbs(p->gts, p->width) };
    if (d && l.able_gts <= 0 && d->acc.gen_max > 0)
        l.able_gts = pcie_gts(d->acc.gen_max);
    above = port_above(n, p);
    if (above && above->gts_max > 0 && above->gts_max < l.able_gts)
        l.able_gts = above->gts_max;
    if (above && above->width_max > 0 && above->width_max < l.able_width)
        l.able_width = above->width_max;
    l.able_gts = MAX(l.able_gts, l.gts);
    l.able_width = MAX(l.able_width, l.width);
    if (l.width < l.able_width)
        l.state = LINK_DEGRADED;
    else if (l.gts < l.able_gts)
        l.state = d && (n->pcis[d->pci].vendor == VENDOR_NVIDIA ||
                        n->pcis[d->pci].vendor == VENDOR_AMD_GPU)
                      ? LINK_IDLE
                      : LINK_DEGRADED;
    return l;
}

struct pcie_link_text pcie_link_text_at(const struct node *n, int pci)
{
    return look(n, pci, accelerator_at(n, pci));
}

struct pcie_link_text pcie_link_text_of(const struct node *n, const struct device *d)
{
    return look(n, pcie_link_board_port(n, d), d->kind == DEVICE_ACCELERATOR ? d : NULL);
}

void pcie_link_add_rate(struct str *out, double gts, int width)
{
    if (pcie_gen(gts))
        str_addf(out, "Gen%d x%d", pcie_gen(gts), width);
    else
        str_addf(out, "%g GT/s x%d", gts, width);
}

void pcie_link_add_text(struct str *out, const struct pcie_link_text *l)
{
    if (l->state == LINK_UNKNOWN)
        return;
    pcie_link_add_rate(out, l->gts, l->width);
    if (l->state == LINK_IDLE)
        str_addf(out, " (idle; Gen%d able)", pcie_gen(l->able_gts));
    if (l->state == LINK_DEGRADED) {
        str_add(out, ", could be ");
        pcie_link_add_rate(out, l->able_gts, l->able_width);
    }
}
