#include "model/machine/machine.h"

#include <errno.h>
#include <string.h>

static const struct settings settings_absent = {
    .numa_balancing = ABSENT,
    .memlock_b = ABSENT,
    .nofile = ABSENT,
    .shm_b = ABSENT,
    .swap_b = ABSENT,
    .iommu_groups = ABSENT,
    .peermem = ABSENT,
    .dmabuf = ABSENT,
    .open_driver = ABSENT,
};

static const struct pci pci_absent = {
    .kind = PCI_ENDPOINT,
    .parent = ABSENT,
    .numa = ABSENT,
    .gts = ABSENT,
    .gts_max = ABSENT,
    .width = ABSENT,
    .width_max = ABSENT,
    .max_payload_b = ABSENT,
    .max_payload_cap_b = ABSENT,
    .max_read_b = ABSENT,
    .relaxed_ordering = ABSENT,
    .acs = ABSENT,
};

static const struct accelerator accelerator_absent = {
    .memory_b = ABSENT,
    .minor = ABSENT,
    .persistence = ABSENT,
    .ecc = ABSENT,
    .ecc_pending = ABSENT,
    .mig = ABSENT,
    .power_limit_mw = ABSENT,
    .power_default_mw = ABSENT,
    .sm_clock_mhz = ABSENT,
    .sm_clock_max_mhz = ABSENT,
    .app_clock_mhz = ABSENT,
    .app_clock_default_mhz = ABSENT,
    .gen_max = ABSENT,
    .width_max = ABSENT,
    .links_up = ABSENT,
    .links_down = ABSENT,
    .fabric = ABSENT,
};

static const struct nic_port port_absent = {
    .number = 1,
    .up = ABSENT,
    .gbps = ABSENT,
    .mtu = ABSENT,
};

struct node *node_new(void)
{
    struct node *n = calloc(1, sizeof(*n));

    if (!n)
        return NULL;
    n->set = settings_absent;
    n->virtual_machine = ABSENT;
    n->memory_b = ABSENT;
    n->cpu_family = ABSENT;
    n->cpu_number = ABSENT;
    return n;
}

void node_free(struct node *n)
{
    if (!n)
        return;
    arena_done(&n->arena);
    free(n);
}

void machine_done(struct machine *m)
{
    for (size_t i = 0; i < m->n_nodes; i++)
        node_free(m->nodes[i]);
    free(m->nodes);
    *m = (struct machine){ 0 };
}

int machine_add(struct machine *m, struct node *n)
{
    if ((m->n_nodes & (m->n_nodes - 1)) == 0) {
        size_t room = m->n_nodes ? m->n_nodes * 2 : 1;
        struct node **more = realloc(m->nodes, room * sizeof(struct node *));

        if (!more)
            return -ENOMEM;
        m->nodes = more;
    }
    m->nodes[m->n_nodes++] = n;
    return 0;
}

struct pci *node_add_pci(struct node *n, struct pci_address at)
{
    struct pci *p = ARENA_PUSH(&n->arena, &n->pcis, &n->n_pcis);

    if (p) {
        *p = pci_absent;
        p->at = at;
    }
    return p;
}

/* The peers of one more accelerator: a row and a column of which nothing is known. */
static int grow_peers(struct node *n, uint8_t **ret)
{
    size_t before = n->n_acc, now = before + 1;
    uint8_t *peers = arena_alloc(&n->arena, now * now);

    if (!peers)
        return -ENOMEM;
    for (size_t row = 0; row < before; row++)
        memcpy(peers + row * now, n->peers + row * before, before);
    *ret = peers;
    return 0;
}

struct device *node_add_device(struct node *n, enum device_kind kind)
{
    uint8_t *peers = n->peers;
    struct device *d;

    if (kind == DEVICE_ACCELERATOR && peers && grow_peers(n, &peers) < 0)
        return NULL;
    d = ARENA_PUSH(&n->arena, &n->devices, &n->n_devices);
    if (!d)
        return NULL;
    d->kind = kind;
    d->catalogue = ABSENT;
    d->pci = ABSENT;
    d->numa = ABSENT;
    d->capacity_b = ABSENT;
    d->acc = accelerator_absent;
    n->n_acc += kind == DEVICE_ACCELERATOR;
    n->peers = peers;
    return d;
}

struct nic_port *node_add_port(struct node *n, struct nic *nic)
{
    struct nic_port *p = ARENA_PUSH(&n->arena, &nic->ports, &nic->n_ports);

    if (p)
        *p = port_absent;
    return p;
}

struct link *node_add_link(struct node *n, enum link_kind kind, int a, int b)
{
    struct link *l = ARENA_PUSH(&n->arena, &n->links, &n->n_links);

    if (l)
        *l = (struct link){
            .kind = kind, .a = a, .b = b, .numa = ABSENT, .count = 1, .gbs = ABSENT
        };
    return l;
}

struct numa *node_add_numa(struct node *n, int id)
{
    struct numa *d = ARENA_PUSH(&n->arena, &n->numas, &n->n_numas);

    if (d)
        *d = (struct numa){ .id = id, .socket = ABSENT, .cpus = "", .memory_b = ABSENT };
    return d;
}

struct socket *node_add_socket(struct node *n, int id)
{
    struct socket *s = ARENA_PUSH(&n->arena, &n->sockets, &n->n_sockets);

    if (s)
        *s = (struct socket){ .id = id, .cpus = "", .cores = ABSENT, .threads = ABSENT };
    return s;
}

int node_find_pci(const struct node *n, struct pci_address at)
{
    for (size_t i = 0; i < n->n_pcis; i++)
        if (n->pcis[i].kind != PCI_HOST_BRIDGE && !pci_address_cmp(n->pcis[i].at, at))
            return (int)i;
    return ABSENT;
}

int node_find_device_at(const struct node *n, struct pci_address at)
{
    for (size_t i = 0; i < n->n_devices; i++) {
        int pci = n->devices[i].pci;

        if (pci >= 0 && !pci_address_cmp(n->pcis[pci].at, at))
            return (int)i;
    }
    return ABSENT;
}

const struct pci *node_pci(const struct node *n, int index)
{
    return index >= 0 ? &n->pcis[index] : NULL;
}

int node_find_numa(const struct node *n, int id)
{
    for (size_t i = 0; i < n->n_numas; i++)
        if (n->numas[i].id == id)
            return (int)i;
    return ABSENT;
}
