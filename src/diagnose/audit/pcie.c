/* Checks of PCIe links: width, generation, slot, chipset. */
#include <stdio.h>

#include "diagnose/audit/check.h"

/* A link, named by the function at its lower end, with what both of its ends can do. */
struct wire {
    const struct pci *low, *port;
    double gts_cap;
    int width_cap;
};

/* The link above a function that has one: endpoints and upstream ports. */
static bool wire_above(const struct node *n, int pci, struct wire *w)
{
    const struct pci *f = node_pci(n, pci), *port;

    if (!f || (f->kind != PCI_ENDPOINT && f->kind != PCI_SWITCH_UP))
        return false;
    port = node_pci(n, f->parent);
    if (port && port->kind == PCI_HOST_BRIDGE)
        port = NULL; /* built into the CPU: no link */
    if (n->virtual_machine == 1)
        port = NULL; /* the hypervisor's invention */
    w->low = f;
    w->port = port;
    w->gts_cap = f->gts_max;
    w->width_cap = f->width_max;
    if (port && port->gts_max > 0 && port->gts_max < w->gts_cap)
        w->gts_cap = port->gts_max;
    if (port && port->width_max > 0 && port->width_max < w->width_cap)
        w->width_cap = port->width_max;
    return true;
}

/* What to call the upper end of a link. */
static const char *port_label(const struct wire *w, char buf[LABEL_TEXT])
{
    static const char *const names[] = {
        [PCI_ROOT_PORT] = "root port",     [PCI_SWITCH_UP] = "switch port",
        [PCI_SWITCH_DOWN] = "switch port", [PCI_BRIDGE] = "bridge",
        [PCI_HOST_BRIDGE] = "host bridge", [PCI_ENDPOINT] = "port",
    };
    char address[PCI_ADDRESS_TEXT];

    if (w->port)
        snprintf(buf, LABEL_TEXT, "%s %s", names[w->port->kind],
                 pci_address_text(w->port->at, address));
    else
        snprintf(buf, LABEL_TEXT, "the port above");
    return buf;
}

/* "Gen5 x16", or "unknown" where either part is. */
enum { RATE_TEXT = 24 };
static const char *rate(double gts, int width, char buf[RATE_TEXT])
{
    if (pcie_gen(gts) && width > 0)
        snprintf(buf, RATE_TEXT, "Gen%d x%d", pcie_gen(gts), width);
    else
        snprintf(buf, RATE_TEXT, "unknown");
    return buf;
}

/* Evidence, effect and action that all findings about a slow link share. */
static void explain(struct audit *a, struct finding *f, const struct wire *w, int pci)
{
    char address[PCI_ADDRESS_TEXT], port[LABEL_TEXT], names[NAMES_TEXT];
    char is[RATE_TEXT], can[RATE_TEXT], above[RATE_TEXT];
    double now = pcie_gbs(w->low->gts, w->low->width);
    double full = pcie_gbs(w->low->gts_max, w->low->width_max);
    int count = check_below(a->n, pci, names);

    check_text(a, &f->evidence, "link of %s to %s: %s now, the device can %s, the port %s",
               pci_address_text(w->low->at, address), port_label(w, port),
               rate(w->low->gts, w->low->width, is), rate(w->low->gts_max, w->low->width_max, can),
               w->port ? rate(w->port->gts_max, w->port->width_max, above) : "unknown");
    if (now > 0 && full > 0)
        check_text(a, &f->effect, "%.1f of %.1f GB/s in each direction%s%s%s", now, full,
                   count > 1 ? ", shared by " : "", count > 1 ? names : "",
                   w->low->width < w->width_cap ? "; mending the link restores it" : "");
}

/* "GPU2" or, for a switch, "switch 0000:16:00.0 (above GPU2, mlx5_1)". */
static const char *subject(struct audit *a, int pci, char *buf, size_t size)
{
    char address[PCI_ADDRESS_TEXT], names[NAMES_TEXT];
    const struct pci *f = &a->n->pcis[pci];

    check_below(a->n, pci, names);
    if (f->kind == PCI_ENDPOINT)
        snprintf(buf, size, "%s", names);
    else
        snprintf(buf, size, "the switch at %s, above %s,", pci_address_text(f->at, address), names);
    return buf;
}

static bool leads_to_device(const struct node *n, int pci)
{
    char names[NAMES_TEXT];

    return check_below(n, pci, names) > 0;
}

static bool width_check(struct audit *a)
{
    char who[NAMES_TEXT + LABEL_TEXT], address[PCI_ADDRESS_TEXT];
    size_t known = 0, links = 0;
    struct wire w;

    for (size_t i = 0; i < a->n->n_pcis; i++) {
        struct finding *f;

        if (!wire_above(a->n, (int)i, &w) || !leads_to_device(a->n, (int)i))
            continue;
        links++;
        if (w.low->width < 0 || w.width_cap < 0)
            continue;
        known++;
        if (w.low->width >= w.width_cap)
            continue;
        f = check_add(a, SEVERITY_WARNING, "%s runs on %d of %d PCIe lanes",
                      subject(a, (int)i, who, sizeof(who)), w.low->width, w.width_cap);
        explain(a, f, &w, (int)i);
        check_text(a, &f->action,
                   "reseat the card or cable, then compare: lspci -s %s -vv | grep LnkSta",
                   pci_address_text(w.low->at, address));
    }
    if (links && !known && !a->found)
        check_unknown(a, "the kernel shows no link width of any device (virtual PCIe)");
    return links > 0;
}

/* Accelerators lower the speed of their link when idle, so only other parts tell by a glance. */
static bool speed_check(struct audit *a)
{
    char who[NAMES_TEXT + LABEL_TEXT], address[PCI_ADDRESS_TEXT], idle[NAMES_TEXT] = "";
    size_t known = 0, links = 0;
    struct wire w;

    for (size_t i = 0; i < a->n->n_pcis; i++) {
        struct finding *f;
        int device;

        if (!wire_above(a->n, (int)i, &w) || !leads_to_device(a->n, (int)i))
            continue;
        links++;
        if (w.low->gts < 0 || w.gts_cap < 0)
            continue;
        known++;
        if (w.low->gts >= w.gts_cap - 0.01)
            continue;
        device = node_find_device_at(a->n, w.low->at);
        if (device >= 0 && a->n->devices[device].kind == DEVICE_ACCELERATOR) {
            check_append(idle, a->n->devices[device].name);
            continue;
        }
        f = check_add(a, SEVERITY_WARNING, "%s runs at PCIe Gen%d instead of Gen%d",
                      subject(a, (int)i, who, sizeof(who)), pcie_gen(w.low->gts),
                      pcie_gen(w.gts_cap));
        explain(a, f, &w, (int)i);
        check_text(a, &f->action,
                   "set the slot's speed to auto in the firmware and reseat; then compare: lspci "
                   "-s %s -vv | grep LnkSta",
                   pci_address_text(w.low->at, address));
    }
    if (*idle)
        check_unknown(
            a, "the link speed of %s is low now, as it is when idle; run the audit under load",
            idle);
    else if (links && !known)
        check_unknown(a, "the kernel shows no link speed of any device (virtual PCIe)");
    return links > 0;
}

/* The device can do more than the place where it sits. */
static bool slot_check(struct audit *a)
{
    char label[LABEL_TEXT], port[LABEL_TEXT];
    size_t known = 0;
    struct wire w;

    for (size_t i = 0; i < a->n->n_devices; i++) {
        const struct device *d = &a->n->devices[i];
        struct finding *f;
        double can, has;

        if (d->kind == DEVICE_SWITCH || !wire_above(a->n, d->pci, &w) || !w.port || w.low->pch)
            continue; /* the chipset has its own finding */
        can = pcie_gbs(w.low->gts_max, w.low->width_max);
        has = pcie_gbs(w.gts_cap, w.width_cap);
        if (can < 0 || has < 0)
            continue;
        known++;
        if (has > can * 0.75)
            continue;
        f = check_add(a, d->kind == DEVICE_NVME ? SEVERITY_NOTE : SEVERITY_WARNING,
                      "%s sits in a place of Gen%d x%d and could use Gen%d x%d",
                      check_label(a->n, (int)i, label), pcie_gen(w.gts_cap), w.width_cap,
                      pcie_gen(w.low->gts_max), w.low->width_max);
        check_text(a, &f->evidence, "%s can Gen%d x%d", port_label(&w, port),
                   pcie_gen(w.port->gts_max), w.port->width_max);
        check_text(a, &f->effect, "%.1f of %.1f GB/s in each direction", has, can);
        check_text(a, &f->action, "move the card to a Gen%d x%d slot", pcie_gen(w.low->gts_max),
                   w.low->width_max);
    }
    return known > 0;
}

static bool chipset_check(struct audit *a)
{
    char label[LABEL_TEXT];
    bool any = false;

    for (size_t i = 0; i < a->n->n_devices; i++) {
        const struct device *d = &a->n->devices[i];
        struct finding *f;

        if (d->pci < 0 || (d->kind != DEVICE_ACCELERATOR && !check_is_fabric_nic(d)))
            continue;
        any = true;
        if (!a->n->pcis[d->pci].pch)
            continue;
        f = check_add(a, d->kind == DEVICE_ACCELERATOR ? SEVERITY_CRITICAL : SEVERITY_WARNING,
                      "%s hangs off the chipset (PCH), not off a CPU",
                      check_label(a->n, (int)i, label));
        check_text(a, &f->evidence,
                   "its root port belongs to the chipset; all its traffic shares the chipset's "
                   "uplink of about 4 lanes with disks and USB");
        check_text(a, &f->effect,
                   "at most 4 to 8 GB/s to memory and no peer-to-peer; a CPU slot gives the card "
                   "its full link");
        check_text(a, &f->action,
                   "move the card to a slot that the board's manual lists as a CPU slot");
    }
    return any;
}

const struct check checks_pcie[] = {
    { "pcie-width", width_check },     /* every PCIe link has all its lanes */
    { "pcie-speed", speed_check },     /* every PCIe link runs at its generation */
    { "pcie-slot", slot_check },       /* no card is in a slot that is less than the card */
    { "pcie-chipset", chipset_check }, /* no accelerator or fast NIC hangs off the chipset */
    { NULL, NULL },
};
