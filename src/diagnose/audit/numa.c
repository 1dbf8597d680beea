/* Checks of placement: which accelerators and NICs are near each other. */
#include <stdio.h>

#include "diagnose/audit/check.h"

enum { DOMAINS = 64 };

/* The socket of a device, an index; ABSENT when its NUMA domain is unknown, or of no socket. */
static int socket_of(const struct node *n, const struct device *d)
{
    if (n->n_sockets == 1)
        return 0;
    return d->numa >= 0 ? n->numas[d->numa].socket : ABSENT;
}

/* An empty slot on a socket that would take the card, of at least half its lanes; an index, or
 * ABSENT. */
static int free_slot(const struct node *n, int socket, const struct pci *card)
{
    for (size_t i = 0; i < n->n_slots; i++) {
        const struct slot *s = &n->slots[i];

        if (s->numa >= 0 && n->numas[s->numa].socket == socket &&
            s->width_max * 2 > card->width_max && s->gts_max >= card->gts_max - 0.01)
            return (int)i;
    }
    return ABSENT;
}

/* Accelerators on each socket, of those without fast links of their own. */
static bool count_sockets(const struct node *n, int counts[DOMAINS])
{
    bool any = false;

    for (size_t i = 0; i < n->n_devices; i++) {
        int socket = socket_of(n, &n->devices[i]);

        if (!check_is(n, i, DEVICE_ACCELERATOR) || n->devices[i].acc.links_up > 0 || socket < 0 ||
            socket >= DOMAINS)
            continue;
        counts[socket]++;
        any = true;
    }
    return any;
}

/* A few accelerators on one socket, more on another, and room there for the few. */
static bool sockets_check(struct audit *a)
{
    const struct node *n = a->n;
    int counts[DOMAINS] = { 0 }, most = 0;
    char label[LABEL_TEXT], address[PCI_ADDRESS_TEXT];

    if (n->n_sockets < 2 || n->virtual_machine == 1 || !count_sockets(n, counts))
        return false;
    for (int i = 1; i < DOMAINS; i++)
        if (counts[i] > counts[most])
            most = i;
    for (size_t i = 0; i < n->n_devices; i++) {
        const struct device *d = &n->devices[i];
        int socket = socket_of(n, d), slot;
        struct finding *f;

        if (!check_is(n, i, DEVICE_ACCELERATOR) || d->acc.links_up > 0 || socket < 0 ||
            socket >= DOMAINS || counts[socket] * 2 > counts[most])
            continue;
        slot = free_slot(n, most, &n->pcis[d->pci]);
        if (slot < 0)
            continue;
        f = check_add(a, SEVERITY_WARNING,
                      "%s is alone on socket %d while most accelerators are on socket %d",
                      check_label(n, (int)i, label), n->sockets[socket].id, n->sockets[most].id);
        check_text(a, &f->evidence,
                   "%d on socket %d, %d on socket %d; the x%d slot at %s on socket %d is empty",
                   counts[socket], n->sockets[socket].id, counts[most], n->sockets[most].id,
                   n->slots[slot].width_max, pci_address_text(n->slots[slot].at, address),
                   n->sockets[most].id);
        check_text(a, &f->effect,
                   "its exchanges with the others cross the link between the sockets, without "
                   "peer-to-peer");
        check_text(a, &f->action, "move the card to the slot behind port %s", address);
    }
    return true;
}

/* The NIC with the best way to an accelerator; of equal ones that with the least load (NULL:
 * none). */
static enum way_class best_nic(const struct node *n, size_t gpu, const int *load, int *ret)
{
    enum way_class best = WAY_UNKNOWN;

    *ret = ABSENT;
    for (size_t i = 0; i < n->n_devices; i++) {
        struct way w;

        if (!check_is_fabric_nic(&n->devices[i]) || n->devices[i].pci < 0)
            continue;
        w = way_over_pcie(n, (int)gpu, (int)i);
        if (w.class < best || (w.class == best && *ret >= 0 && load && load[i] < load[*ret])) {
            best = w.class;
            *ret = (int)i;
        }
    }
    return best;
}

static size_t count_kind(const struct node *n, bool nic)
{
    size_t count = 0;

    for (size_t i = 0; i < n->n_devices; i++)
        count += nic ? check_is_fabric_nic(&n->devices[i]) && n->devices[i].pci >= 0
                     : check_is(n, i, DEVICE_ACCELERATOR);
    return count;
}

/* Two domains of one socket (sub-NUMA clusters) are near each other. */
static bool on_one_socket(const struct node *n, int a, int b)
{
    int socket = socket_of(n, &n->devices[a]);

    return socket >= 0 && socket == socket_of(n, &n->devices[b]);
}

/* Each accelerator should reach a NIC without crossing between sockets. */
static bool near_nic_check(struct audit *a)
{
    const struct node *n = a->n;
    bool unknown = false;

    if (!count_kind(n, true) || !count_kind(n, false))
        return false;
    for (size_t i = 0; i < n->n_devices; i++) {
        char label[LABEL_TEXT], way[WAY_TEXT];
        enum way_class class;
        struct way w;
        struct finding *f;
        int nic;

        if (!check_is(n, i, DEVICE_ACCELERATOR))
            continue;
        class = best_nic(n, i, NULL, &nic);
        unknown |= class == WAY_UNKNOWN;
        if (class != WAY_SYS || on_one_socket(n, (int)i, nic))
            continue;
        w = way_over_pcie(n, (int)i, nic);
        f = check_add(a, SEVERITY_WARNING,
                      "%s has no NIC on its side: the nearest is across the sockets",
                      check_label(n, (int)i, label));
        check_text(a, &f->evidence, "way to %s: %s", n->devices[nic].name, way_text(&w, way));
        check_text(a, &f->effect,
                   "traffic to other nodes crosses the link between the sockets and is copied "
                   "through host memory");
        check_text(a, &f->action,
                   "put a NIC below the same switch or CPU as %s; until then bind its rank to %s's "
                   "side and set NCCL_NET_GDR_LEVEL=SYS only after measuring",
                   n->devices[i].name, n->devices[nic].name);
    }
    if (unknown && !a->found)
        check_unknown(a, "the firmware does not say on which NUMA domain devices are");
    return true;
}

/* Deal the accelerators out to their nearest NICs, evenly. nic[i] is the NIC of device i. */
static void deal(const struct node *n, int *load, int *nic)
{
    for (size_t i = 0; i < n->n_devices; i++) {
        nic[i] = ABSENT;
        if (check_is(n, i, DEVICE_ACCELERATOR) && best_nic(n, i, load, &nic[i]) < WAY_SYS)
            load[nic[i]]++;
        else
            nic[i] = ABSENT;
    }
}

static void shared_finding(struct audit *a, size_t shared, int load, const int *nic)
{
    const struct node *n = a->n;
    size_t gpus = count_kind(n, false), nics = count_kind(n, true);
    bool enough = nics >= gpus;
    char names[NAMES_TEXT] = "";
    struct finding *f;

    for (size_t i = 0; i < n->n_devices; i++)
        if (nic[i] == (int)shared)
            check_append(names, n->devices[i].name);
    f = check_add(a, enough ? SEVERITY_WARNING : SEVERITY_NOTE,
                  "%s is the nearest NIC of %d accelerators: %s", n->devices[shared].name, load,
                  names);
    check_text(a, &f->evidence, "accelerators in this node: %zu, fast NICs: %zu", gpus, nics);
    if (n->devices[shared].nic.n_ports && n->devices[shared].nic.ports[0].gbps > 0)
        check_text(a, &f->effect, "they share one port of %.0f Gb/s when all send at once",
                   n->devices[shared].nic.ports[0].gbps);
    check_text(a, &f->action, "%s",
               enough ? "spread the NICs so that each accelerator has one below its own switch"
                      : "add NICs, one near each accelerator, if jobs span nodes");
}

/* Two accelerators on one nearest NIC. */
static bool shared_nic_check(struct audit *a)
{
    const struct node *n = a->n;
    CLEANUP(freep) int *load = calloc(n->n_devices + 1, sizeof(*load));
    CLEANUP(freep) int *nic = calloc(n->n_devices + 1, sizeof(*nic));

    if (!load || !nic) {
        a->out->no_memory = true;
        return false;
    }
    if (count_kind(n, false) < 2 || !count_kind(n, true) || n->virtual_machine == 1)
        return false;
    deal(n, load, nic);
    for (size_t k = 0; k < n->n_devices; k++)
        if (load[k] > 1)
            shared_finding(a, k, load[k], nic);
    return true;
}

static bool numa_known_check(struct audit *a)
{
    char names[NAMES_TEXT] = "";
    struct finding *f;

    if (a->n->n_numas < 2)
        return false;
    for (size_t i = 0; i < a->n->n_devices; i++)
        if (check_is(a->n, i, DEVICE_ACCELERATOR) && a->n->devices[i].numa < 0)
            check_append(names, a->n->devices[i].name);
    if (!*names)
        return true;
    f = check_add(a, SEVERITY_WARNING, "the firmware does not say to which NUMA domain %s belong",
                  names);
    check_text(a, &f->evidence, "numa_node is -1 with %zu domains", a->n->n_numas);
    check_text(a, &f->effect,
               "processes and buffers are placed by chance, half of them on the far side");
    check_text(a, &f->action,
               a->n->virtual_machine == 1
                   ? "ask for a virtual machine type with a NUMA-aware PCI layout"
                   : "update the firmware, or set the NUMA option of the PCIe slots in it");
    return true;
}

const struct check checks_place[] = {
    { "sockets", sockets_check },       /* accelerators sit together where they could */
    { "near-nic", near_nic_check },     /* each accelerator has a NIC on its side */
    { "shared-nic", shared_nic_check }, /* no two accelerators share their nearest NIC */
    { "numa-known", numa_known_check }, /* the NUMA domain of each accelerator is known */
    { NULL, NULL },
};
