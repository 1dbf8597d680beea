/* Nodes built by hand for the tests of the renderers: two sockets, a switch with a GPU on a narrow
 * link and a NIC, an idle GPU, a disk behind the chipset, a NIC that is nowhere. */
#ifndef BRIM_TESTS_RENDER_NODE_H
#define BRIM_TESTS_RENDER_NODE_H
#include <assert.h>

#include "render/machine/render.h"

static struct pci *add_function(struct node *n, int bus, enum pci_kind kind, int parent)
{
    struct pci *p = node_add_pci(n, (struct pci_address){ 0, (uint8_t)bus, 0, 0 });

    assert(p);
    p->kind = kind;
    p->parent = parent;
    if (kind != PCI_HOST_BRIDGE) {
        p->gts = p->gts_max = 32;
        p->width = p->width_max = 16;
        p->class_code = kind == PCI_ENDPOINT ? 0x020700 : 0x060400;
    }
    return p;
}

static inline struct device *add_device(struct node *n, enum device_kind kind, int pci, int numa)
{
    struct device *d = node_add_device(n, kind);

    assert(d);
    d->pci = pci;
    d->numa = numa;
    if (pci >= 0 && kind == DEVICE_ACCELERATOR) {
        n->pcis[pci].vendor = 0x10de;
        n->pcis[pci].class_code = 0x030200;
        d->product = "NVIDIA H100";
        d->acc.memory_b = 85520809984;
        d->acc.arch = "sm90";
    }
    return d;
}

static inline struct nic_port *add_port(struct node *n, struct device *d, double gbps, int up,
                                        const char *netdev)
{
    struct nic_port *p = node_add_port(n, &d->nic);

    assert(p);
    p->gbps = gbps;
    p->up = up;
    p->netdev = netdev;
    return p;
}

static void add_host(struct node *n)
{
    static const char *const cpus[] = { "0-3", "4-7", "" };

    n->board = "ACME X1";
    n->kernel = "6.1.0";
    n->cpu_model = "Intel(R) Xeon(R) Gold 6430";
    n->cpu_arch = "x86_64";
    n->cpu_vendor = "GenuineIntel";
    n->cpu_family = 6;
    n->cpu_number = 143;
    n->virtual_machine = 0;
    n->memory_b = 1LL << 40;
    n->set.gpu_driver = "550.90";
    for (int i = 0; i < 2; i++) {
        struct socket *s = node_add_socket(n, i);

        assert(s);
        s->cpus = cpus[i];
        s->cores = s->threads = 4;
    }
    for (int i = 0; i < 3; i++) {
        struct numa *d = node_add_numa(n, i);

        assert(d);
        d->socket = i < 2 ? i : ABSENT;
        d->cpus = cpus[i];
        d->memory_b = i < 2 ? 1LL << 39 : 85899345920;
    }
}

/* The functions' indices. */
enum {
    F_BRIDGE0,
    F_ROOT0,
    F_UP,
    F_DOWN0,
    F_GPU0,
    F_DOWN1,
    F_NIC0,
    F_PCH,
    F_NVME,
    F_BRIDGE1,
    F_ROOT1,
    F_GPU1,
    F_BRIDGE2,
    F_NIC1
};

static inline void add_functions(struct node *n)
{
    add_function(n, 0, PCI_HOST_BRIDGE, ABSENT);
    add_function(n, 1, PCI_ROOT_PORT, F_BRIDGE0)->numa = 0;
    add_function(n, 2, PCI_SWITCH_UP, F_ROOT0)->vendor = 0x1000;
    add_function(n, 3, PCI_SWITCH_DOWN, F_UP);
    add_function(n, 4, PCI_ENDPOINT, F_DOWN0)->width = 8;
    add_function(n, 5, PCI_SWITCH_DOWN, F_UP);
    add_function(n, 6, PCI_ENDPOINT, F_DOWN1)->vendor = 0x15b3;
    add_function(n, 7, PCI_ROOT_PORT, F_BRIDGE0)->pch = true;
    add_function(n, 8, PCI_ENDPOINT, F_PCH)->pch = true;
    add_function(n, 0x80, PCI_HOST_BRIDGE, ABSENT);
    add_function(n, 0x81, PCI_ROOT_PORT, F_BRIDGE1)->gts_max = 16;
    add_function(n, 0x82, PCI_ENDPOINT, F_ROOT1)->gts = 2.5;
    add_function(n, 0xc0, PCI_HOST_BRIDGE, ABSENT);
    add_function(n, 0xc1, PCI_ENDPOINT, F_BRIDGE2)->gts = ABSENT;
}

static inline struct node *test_parts(const char *name)
{
    struct node *n = node_new();
    struct device *d;

    assert(n);
    n->name = name;
    add_host(n);
    add_functions(n);
    add_device(n, DEVICE_ACCELERATOR, F_GPU0, 0);
    add_device(n, DEVICE_ACCELERATOR, F_GPU1, 1);
    d = add_device(n, DEVICE_NIC, F_NIC0, 0);
    d->name = d->nic.rdma = "mlx5_0";
    add_port(n, d, 400, 1, "ib0")->layer = PORT_INFINIBAND;
    d = add_device(n, DEVICE_NIC, F_NIC1, ABSENT);
    d->name = "eth1";
    add_port(n, d, 2.5, 0, "eth1");
    d = add_device(n, DEVICE_NVME, F_NVME, 0);
    d->product = "disk";
    d->capacity_b = 960197124096;
    return n;
}

/* The same, settled. */
static inline struct node *test_node(const char *name)
{
    struct node *n = test_parts(name);
    int rc = node_settle(n);

    assert(rc == 0);
    (void)rc;
    return n;
}

/* Join the two accelerators by four NVLinks. */
static inline void add_nvlink(struct node *n)
{
    struct link *l = node_add_link(n, LINK_NVLINK, 0, 1);

    assert(l);
    l->count = 4;
    l->gbs = 25;
}

/* A machine of one node, which it takes over. */
static inline struct machine machine_of(struct node *n)
{
    struct machine m = { .n_nodes = 0 };
    int rc = machine_add(&m, n);

    assert(rc == 0);
    (void)rc;
    return m;
}

/* Render m, which is a machine of the test; out is emptied first. */
static inline int render_as(const char *renderer, const struct machine *m, struct str *out)
{
    struct machine_view v = { .machine = m };

    str_reset(out);
    return machine_renderer_find(renderer)->render(&v, out);
}

#endif
