/* Checks of the ways that data takes between accelerators and NICs: ACS, IOMMU, peer memory,
 * request and payload sizes, ordering. */
#include <stdio.h>
#include <string.h>

#include "diagnose/audit/check.h"

enum { REDIRECT = ACS_REQUEST | ACS_COMPLETION | ACS_FORWARD };

/* A NIC below the same PCIe switch as an accelerator, or another accelerator there. */
static bool is_near_pair(const struct node *n, size_t a, size_t b)
{
    const struct device *x = &n->devices[a], *y = &n->devices[b];
    struct way w;

    if (x->kind != DEVICE_ACCELERATOR || x->pci < 0 || y->pci < 0 || a == b)
        return false;
    if (y->kind != DEVICE_ACCELERATOR && !check_is_fabric_nic(y))
        return false;
    w = way_over_pcie(n, (int)a, (int)b);
    return w.class == WAY_PIX || w.class == WAY_PXB;
}

/* Mark the ports between a function and the bridge 'to'. */
static void mark(const struct node *n, int from, int to, bool *on_path)
{
    for (int p = n->pcis[from].parent; p >= 0 && p != to; p = n->pcis[p].parent)
        on_path[p] = true;
}

/* Every port between an accelerator and its near peers, once; false when memory is out. */
static bool *near_ports(const struct node *n)
{
    bool *on_path = calloc(n->n_pcis + 1, sizeof(*on_path));

    for (size_t i = 0; on_path && i < n->n_devices; i++)
        for (size_t k = 0; k < n->n_devices; k++) {
            int meet;

            if (!is_near_pair(n, i, k))
                continue;
            meet = way_meet(n, n->devices[i].pci, n->devices[k].pci);
            mark(n, n->devices[i].pci, meet, on_path);
            mark(n, n->devices[k].pci, meet, on_path);
        }
    return on_path;
}

static void acs_finding(struct audit *a, const struct pci *f, int pci)
{
    char address[PCI_ADDRESS_TEXT], names[NAMES_TEXT];
    struct finding *one;

    check_below(a->n, pci, names);
    one = check_add(a, SEVERITY_WARNING,
                    "ACS at switch port %s sends peer traffic of %s through the CPU",
                    pci_address_text(f->at, address), names);
    check_text(
        a, &one->evidence,
        "ACS control 0x%04x: request redirect %s, completion redirect %s, upstream forwarding %s",
        (unsigned)f->acs, f->acs & ACS_REQUEST ? "on" : "off",
        f->acs & ACS_COMPLETION ? "on" : "off", f->acs & ACS_FORWARD ? "on" : "off");
    check_text(a, &one->effect,
               "GPU-NIC and GPU-GPU transfers leave the switch and come back: the links above it "
               "are shared and may halve the rate");
    check_text(
        a, &one->action,
        "setpci -s %s ECAP_ACS+6.w=0000  (until reboot; for good: disable ACS in the firmware)",
        address);
}

static bool acs_check(struct audit *a)
{
    CLEANUP(freep) bool *on_path = near_ports(a->n);
    bool any = false, hidden = false;

    if (!on_path) {
        a->out->no_memory = true;
        return false;
    }
    for (size_t i = 0; i < a->n->n_pcis; i++)
        any |= on_path[i];
    if (!any || a->n->virtual_machine == 1)
        return false; /* in a guest ACS has to be on: the hypervisor isolates with it */
    for (size_t i = 0; i < a->n->n_pcis; i++) {
        const struct pci *f = &a->n->pcis[i];

        if (!on_path[i])
            continue;
        hidden |= f->acs < 0 && !f->config_seen;
        if (f->acs > 0 && f->acs & REDIRECT)
            acs_finding(a, f, (int)i);
    }
    if (hidden && !a->found)
        check_unknown(a, "the ACS bits of the switches are not readable; run as root");
    return true;
}

/* Accelerators with RDMA NICs beside them: those that GPUDirect is for. */
static bool has_rdma_and_gpu(const struct node *n)
{
    bool gpu = false, rdma = false;

    for (size_t i = 0; i < n->n_devices; i++) {
        gpu |= check_is(n, i, DEVICE_ACCELERATOR);
        rdma |= n->devices[i].kind == DEVICE_NIC && n->devices[i].nic.rdma;
    }
    return gpu && rdma;
}

static bool has_gpu(const struct node *n)
{
    for (size_t i = 0; i < n->n_devices; i++)
        if (check_is(n, i, DEVICE_ACCELERATOR))
            return true;
    return false;
}

/* Something that an accelerator could exchange data with directly. */
static bool has_peers(const struct node *n)
{
    return n->n_acc > 1 || has_rdma_and_gpu(n);
}

static bool iommu_check(struct audit *a)
{
    const struct settings *s = &a->n->set;
    struct finding *f;

    if (!has_gpu(a->n) || a->n->virtual_machine == 1)
        return false;
    if (s->iommu_groups == 0)
        return true;
    if (s->iommu_groups < 0 || !s->iommu_type) {
        check_unknown(a, "the kernel does not say of which type the IOMMU groups are");
        return true;
    }
    if (!strcmp(s->iommu_type, "identity"))
        return true;
    f = check_add(a, has_peers(a->n) ? SEVERITY_WARNING : SEVERITY_NOTE,
                  "the IOMMU translates the addresses of accelerators and NICs");
    check_text(a, &f->evidence, "group type %s; on the kernel command line: %s", s->iommu_type,
               s->cmdline && *s->cmdline ? s->cmdline : "nothing about it");
    check_text(a, &f->effect,
               "every transfer pays a look-up, and peer-to-peer between devices goes through the "
               "CPU or fails");
    check_text(a, &f->action,
               "add iommu=pt to the kernel command line (GRUB_CMDLINE_LINUX in /etc/default/grub), "
               "run update-grub, reboot");
    return true;
}

static bool peer_memory_check(struct audit *a)
{
    const struct settings *s = &a->n->set;
    struct finding *f;

    if (!has_rdma_and_gpu(a->n))
        return false;
    if (s->peermem == 1 || s->dmabuf == 1)
        return true;
    if (s->peermem < 0 || s->dmabuf < 0) {
        check_unknown(a, "no accelerator driver is loaded that could hand memory to NICs");
        return true;
    }
    f = check_add(a, SEVERITY_WARNING, "NICs cannot read GPU memory directly (no GPUDirect RDMA)");
    check_text(a, &f->evidence,
               "nvidia_peermem is not loaded, and dma-buf needs the open driver and Linux 5.12 "
               "(here: %s driver, Linux %s)",
               s->open_driver == 1 ? "open" : "proprietary",
               a->n->kernel ? a->n->kernel : "unknown");
    check_text(a, &f->effect,
               "traffic between nodes is copied through host memory first, at about half the rate");
    check_text(
        a, &f->action,
        "modprobe nvidia_peermem && echo nvidia_peermem > /etc/modules-load.d/nvidia_peermem.conf");
    return true;
}

/* What a NIC asks for in one read; ConnectX and Thor reach their rate only with large requests. */
static bool read_request_check(struct audit *a)
{
    enum { WANTED = 4096 };
    char label[LABEL_TEXT], address[PCI_ADDRESS_TEXT];
    bool any = false, hidden = false;

    for (size_t i = 0; i < a->n->n_devices; i++) {
        const struct device *d = &a->n->devices[i];
        const struct pci *f = node_pci(a->n, d->pci);
        struct finding *one;

        if (!f || !check_is_fabric_nic(d) || a->n->virtual_machine == 1)
            continue;
        any = true;
        hidden |= f->max_read_b < 0;
        if (f->max_read_b < 0 || f->max_read_b >= WANTED)
            continue;
        one = check_add(a, SEVERITY_WARNING, "%s asks for only %d bytes in one PCIe read",
                        check_label(a->n, (int)i, label), f->max_read_b);
        check_text(a, &one->evidence, "MaxReadReq is %d bytes; %d is the largest", f->max_read_b,
                   WANTED);
        check_text(a, &one->effect,
                   "sending from GPU or host memory does not reach the port's rate");
        check_text(a, &one->action, "setpci -s %s CAP_EXP+8.w=5000:7000  (until reboot)",
                   pci_address_text(f->at, address));
    }
    if (hidden && !a->found)
        check_unknown(a, "the PCIe capability of the NICs is not readable; run as root");
    return any;
}

/* The smallest of a value over a function and the ports above it; ABSENT when one is not
 * readable. */
static int least_above(const struct node *n, int pci, size_t offset)
{
    int least = ABSENT;

    for (int p = pci; p >= 0 && n->pcis[p].kind != PCI_HOST_BRIDGE; p = n->pcis[p].parent) {
        int value = *(const int *)(const void *)((const char *)&n->pcis[p] + offset);

        if (value < 0)
            return ABSENT;
        least = least < 0 ? value : MIN(least, value);
    }
    return least;
}

/* A device whose packets are the smallest on its way, or of the 128 bytes that firmware sets when
 * it does not know better. 256 is what most firmware chooses, and costs little. */
static bool payload_check(struct audit *a)
{
    enum { LEAST = 128, BYTES_AROUND = 24 };
    char label[LABEL_TEXT];
    bool any = false, hidden = false;

    for (size_t i = 0; i < a->n->n_devices; i++) {
        const struct device *d = &a->n->devices[i];
        struct finding *f;
        int can, set;

        if (d->pci < 0 || a->n->virtual_machine == 1 ||
            (d->kind != DEVICE_ACCELERATOR && !check_is_fabric_nic(d)))
            continue;
        any = true;
        can = least_above(a->n, d->pci, offsetof(struct pci, max_payload_cap_b));
        set = least_above(a->n, d->pci, offsetof(struct pci, max_payload_b));
        hidden |= can < 0 || set < 0;
        if (can < 0 || set < 0 || set > LEAST || set >= can)
            continue;
        f = check_add(a, SEVERITY_NOTE, "%s is held to PCIe packets of %d bytes",
                      check_label(a->n, (int)i, label), set);
        check_text(a, &f->evidence, "MaxPayload on its way: %d bytes set, %d possible", set, can);
        check_text(a, &f->effect,
                   "each packet has about 24 bytes around it: %.0f %% of the link is lost instead "
                   "of %.0f %%",
                   100.0 * BYTES_AROUND / (set + BYTES_AROUND),
                   100.0 * BYTES_AROUND / (can + BYTES_AROUND));
        check_text(a, &f->action, "add pci=pcie_bus_perf to the kernel command line and reboot");
    }
    if (hidden && !a->found)
        check_unknown(a, "the PCIe capability of some devices is not readable; run as root");
    return any;
}

static bool ordering_check(struct audit *a)
{
    char label[LABEL_TEXT], address[PCI_ADDRESS_TEXT];
    bool any = false, hidden = false;

    for (size_t i = 0; i < a->n->n_devices; i++) {
        const struct device *d = &a->n->devices[i];
        const struct pci *f = node_pci(a->n, d->pci);
        struct finding *one;

        if (!f || !check_is_fabric_nic(d))
            continue;
        any = true;
        hidden |= f->relaxed_ordering < 0;
        if (f->relaxed_ordering != 0)
            continue;
        one = check_add(a, SEVERITY_WARNING, "%s does not use relaxed ordering",
                        check_label(a->n, (int)i, label));
        check_text(a, &one->evidence, "RlxdOrd is off in its PCIe device control");
        check_text(a, &one->effect,
                   "writes wait for each other; on AMD hosts and in guests the receive rate drops "
                   "by up to half");
        check_text(a, &one->action,
                   "setpci -s %s CAP_EXP+8.w=0010:0010  (and mlxconfig -d %s set PCI_WR_ORDERING=1 "
                   "for good)",
                   pci_address_text(f->at, address), address);
    }
    if (hidden && !a->found)
        check_unknown(a, "the PCIe capability of some NICs is not readable; run as root");
    return any;
}

const struct check checks_path[] = {
    { "acs", acs_check },                   /* ACS lets peers below a switch talk directly */
    { "iommu", iommu_check },               /* the IOMMU is off or passes through */
    { "peer-memory", peer_memory_check },   /* NICs can reach GPU memory */
    { "read-request", read_request_check }, /* NICs ask for 4,096 bytes at a time */
    { "payload", payload_check },           /* PCIe packets are as large as the path allows */
    { "ordering", ordering_check },         /* NICs use relaxed ordering */
    { NULL, NULL },
};
