#include "model/machine/machine.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

static struct pci_address at(uint8_t bus)
{
    return (struct pci_address){ .bus = bus };
}

static void test_absent(void)
{
    CLEANUP(node_freep) struct node *n = node_new();
    const struct device *d = node_add_device(n, DEVICE_ACCELERATOR);
    const struct pci *f = node_add_pci(n, at(1));
    const struct numa *m = node_add_numa(n, 7);
    const struct socket *s = node_add_socket(n, 3);
    const struct link *l = node_add_link(n, LINK_XGMI, 0, 1);

    ok(!n->name && !n->kernel && !n->board && !n->set.governor && !n->peers,
       "texts of a new node are NULL");
    ok(n->virtual_machine == ABSENT && n->memory_b == ABSENT && n->cpu_family == ABSENT &&
           n->cpu_number == ABSENT,
       "numbers of a new node are absent");
    ok(n->set.numa_balancing == ABSENT && n->set.memlock_b == ABSENT && n->set.nofile == ABSENT &&
           n->set.shm_b == ABSENT && n->set.swap_b == ABSENT && n->set.iommu_groups == ABSENT &&
           n->set.peermem == ABSENT && n->set.dmabuf == ABSENT && n->set.open_driver == ABSENT,
       "settings of a new node are absent");
    ok(d->pci == ABSENT && d->numa == ABSENT && d->catalogue == ABSENT && d->capacity_b == ABSENT,
       "numbers of a new device are absent");
    ok(d->acc.memory_b == ABSENT && d->acc.ecc == ABSENT && d->acc.fabric == ABSENT &&
           d->acc.links_up == ABSENT && d->acc.power_limit_mw == ABSENT && !d->acc.lost,
       "numbers of a new accelerator are absent");
    ok(f->kind == PCI_ENDPOINT && f->parent == ABSENT && f->numa == ABSENT && f->width == ABSENT &&
           f->acs == ABSENT && (int)f->gts == ABSENT && f->at.bus == 1,
       "numbers of a new function are absent");
    ok(m->id == 7 && m->socket == ABSENT && m->memory_b == ABSENT && !*m->cpus && !m->distance,
       "numbers of a new domain are absent but for its id");
    ok(s->id == 3 && s->cores == ABSENT && s->threads == ABSENT && !*s->cpus,
       "numbers of a new socket are absent but for its id");
    ok(l->kind == LINK_XGMI && l->a == 0 && l->b == 1 && l->numa == ABSENT && l->count == 1 &&
           (int)l->gbs == ABSENT,
       "the rate of a new link is absent");
}

/* Who reaches whom stays where it was when one more accelerator comes; no NIC changes it. */
static void test_add_peers(void)
{
    static const uint8_t want[9] = { 1, 2, 0, 3, 4, 0, 0, 0, 0 };
    CLEANUP(node_freep) struct node *n = node_new();

    ok(node_add_device(n, DEVICE_ACCELERATOR) && node_add_device(n, DEVICE_ACCELERATOR),
       "node_add_device adds two accelerators");
    n->peers = arena_alloc(&n->arena, 4);
    for (size_t i = 0; i < 4; i++)
        n->peers[i] = (uint8_t)(i + 1);
    ok(node_add_device(n, DEVICE_ACCELERATOR) && node_add_device(n, DEVICE_NIC),
       "node_add_device adds a third accelerator and a NIC");
    is_int((long long)n->n_acc, 3, "a node has three accelerators");
    ok(!memcmp(n->peers, want, sizeof(want)), "the peers of two accelerators stay theirs");
}

static void test_ports(void)
{
    CLEANUP(node_freep) struct node *n = node_new();
    struct device *d = node_add_device(n, DEVICE_NIC);
    const struct nic_port *p = node_add_port(n, &d->nic);

    ok(p->number == 1 && p->up == ABSENT && p->mtu == ABSENT && (int)p->gbps == ABSENT,
       "a port is absent but for its number");
    ok(node_add_port(n, &d->nic) && d->nic.n_ports == 2, "node_add_port adds a second port");
    is_int((long long)n->n_acc, 0, "a NIC is no accelerator");
}

static void test_find(void)
{
    CLEANUP(node_freep) struct node *n = node_new();
    struct pci *host = node_add_pci(n, at(1)), *f;

    host->kind = PCI_HOST_BRIDGE;
    f = node_add_pci(n, at(1));
    f->parent = 0;
    f = node_add_pci(n, at(2));
    f->parent = 1;
    ok(node_add_device(n, DEVICE_NIC) && node_add_device(n, DEVICE_NVME),
       "node_add_device adds two devices");
    n->devices[1].pci = 2;
    ok(node_add_numa(n, 4) && node_add_numa(n, 0), "node_add_numa adds two domains");

    is_int(node_find_pci(n, at(1)), 1, "node_find_pci passes over a host bridge");
    is_int(node_find_pci(n, at(3)), ABSENT, "node_find_pci is ABSENT for an unknown address");
    is_int(node_find_device_at(n, at(2)), 1, "node_find_device_at finds the device of a function");
    is_int(node_find_device_at(n, at(1)), ABSENT,
           "node_find_device_at is ABSENT where no device is");
    n->devices[0].pci = 0;
    is_int(node_find_device_at(n, at(1)), 0,
           "node_find_device_at finds the device of the first function");
    ok(node_pci(n, 0) == &n->pcis[0] && node_pci(n, 2) == &n->pcis[2] && !node_pci(n, ABSENT),
       "node_pci has the functions of all indices but that of none");
    is_int(node_find_numa(n, 0), 1, "node_find_numa finds a domain by its number");
    is_int(node_find_numa(n, 1), ABSENT, "node_find_numa is ABSENT for an unknown domain");
}

static void test_machine(void)
{
    struct machine m = { .n_nodes = 0 };
    bool good = true;

    for (int i = 0; i < 9; i++) {
        struct node *n = node_new();

        n->memory_b = i;
        good = good && machine_add(&m, n) == 0;
    }
    for (int i = 0; i < 9; i++)
        good = good && m.nodes[i]->memory_b == i;
    ok(good && m.n_nodes == 9, "a machine keeps its nodes in order");
    machine_done(&m);
    ok(!m.nodes && !m.n_nodes, "a machine is empty after machine_done");
    machine_done(&m);
    node_free(NULL);
}

/* Devices in a bad order, with links and peers between them; bus 0 is no function. */
static struct node *shuffled(void)
{
    static const struct {
        enum device_kind kind;
        uint8_t bus;
    } parts[] = {
        { DEVICE_NVME, 9 },        { DEVICE_ACCELERATOR, 7 }, { DEVICE_NIC, 5 },
        { DEVICE_ACCELERATOR, 0 }, { DEVICE_SWITCH, 4 },      { DEVICE_ACCELERATOR, 3 },
        { DEVICE_NIC, 2 },         { DEVICE_ACCELERATOR, 0 },
    };
    struct node *n = node_new();

    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        struct device *d = node_add_device(n, parts[i].kind);

        d->capacity_b = (int64_t)i;
        if (!parts[i].bus || !node_add_pci(n, at(parts[i].bus)))
            continue;
        d->pci = (int)n->n_pcis - 1;
    }
    return n;
}

static void test_settle(void)
{
    static const int order[] = { 5, 1, 3, 7, 6, 2, 0, 4 };
    static const char *const names[] = { "GPU0",   "GPU1", "GPU2",  "GPU3",
                                         "mlx5_0", "NIC1", "nvme0", "NVSwitch0" };
    static const int indices[] = { 0, 1, 2, 3, 0, 1, 0, 0 };
    CLEANUP(node_freep) struct node *n = shuffled();

    n->devices[6].name = "mlx5_0";
    is_int(node_settle(n), 0, "node_settle succeeds on a shuffled node");
    for (int i = 0; i < 8; i++) {
        is_int(n->devices[i].capacity_b, order[i], "place %d has the device that belongs there", i);
        is_str(n->devices[i].name, names[i], "place %d has the name that belongs there", i);
        is_int(n->devices[i].index, indices[i], "place %d has the number that belongs there", i);
    }
}

static void test_settle_links(void)
{
    CLEANUP(node_freep) struct node *n = shuffled();

    ok(node_add_link(n, LINK_NVLINK, 1, 5) && node_add_link(n, LINK_NVLINK, 5, ABSENT) &&
           node_add_link(n, LINK_NVLINK, 3, 4),
       "node_add_link adds three links");
    is_int(node_settle(n), 0, "node_settle succeeds on a node with links");
    ok(n->links[0].a == 1 && n->links[0].b == 0, "a link follows its devices");
    ok(n->links[1].a == 0 && n->links[1].b == ABSENT,
       "a link without a second device follows its device");
    ok(n->links[2].a == 2 && n->links[2].b == 7, "a link to a switch follows its devices");
}

/* peers[a][b] is 10 a + b by the first numbers of accelerators: 0 to 3 are devices 1, 3, 5, 7. */
static void test_settle_peers(void)
{
    static const uint8_t was[] = { 2, 0, 1, 3 }; /* by the final number */
    CLEANUP(node_freep) struct node *n = shuffled();
    bool good = true;

    n->peers = arena_alloc(&n->arena, 16);
    for (int i = 0; i < 16; i++)
        n->peers[i] = (uint8_t)(i / 4 * 10 + i % 4);
    is_int(node_settle(n), 0, "node_settle succeeds on a node with peers");
    for (int i = 0; i < 16; i++)
        good = good && n->peers[i] == was[i / 4] * 10 + was[i % 4];
    ok(good, "peers follow their accelerators");
}

/* As a reader does that learns of a device late: it has room, and those before stay. */
static void test_settle_add(void)
{
    CLEANUP(node_freep) struct node *n = node_new();

    for (int i = 0; i < 3; i++)
        ok(node_add_device(n, i ? DEVICE_NIC : DEVICE_NVME), "device %d has room", i);
    is_int(node_settle(n), 0, "node_settle succeeds on a node of three devices");
    ok(node_add_device(n, DEVICE_NVME) && node_add_device(n, DEVICE_NIC),
       "two devices come behind those that settled");
    is_int(node_settle(n), 0, "node_settle succeeds with two more devices");
    is_str(n->devices[2].name, "NIC2", "the last device is in its place");
    is_str(n->devices[4].name, "nvme1", "the device before the last is in its place");
}

static void test_settle_empty(void)
{
    CLEANUP(node_freep) struct node *n = node_new();

    is_int(node_settle(n), 0, "a node without devices settles");
    is_int((long long)n->n_devices, 0, "a node without devices has none after it settles");
}

int main(void)
{
    test_absent();
    test_add_peers();
    test_ports();
    test_find();
    test_machine();
    test_settle();
    test_settle_links();
    test_settle_peers();
    test_settle_add();
    test_settle_empty();
    return done();
}
