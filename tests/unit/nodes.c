#include "nodes.h"

#include <stdio.h>
#include <string.h>

#include "diagnose/audit/check.h"

static const char products[] =
    "name,vendor,kind,pci_vendor,pci_devices,pcie_gen,pcie_width,links,port_gbps\n"
    "MODULE,V,accelerator,10de,2330,5,16,18,\n"
    "CARD,V,accelerator,10de,26b9,5,16,,\n"
    "HCA,V,nic,15b3,1021,5,16,,400\n";

/* Rows of the table above. */
enum { ROW_CARD = 1, ROW_HCA = 2 };

static void need(bool good)
{
    if (good)
        return;
    printf("Bail out! no memory, or a bad address\n");
    exit(1);
}

struct node *nodes_new(int domains)
{
    struct node *n = node_new();

    need(n);
    n->name = "n1";
    for (int i = 0; i < domains; i++) {
        struct numa *d = node_add_numa(n, i);
        struct socket *s = node_add_socket(n, i);

        need(d && s);
        d->socket = i;
        d->cpus = s->cpus = arena_printf(&n->arena, "%d-%d", i * 4, i * 4 + 3);
        d->threads = s->threads = s->cores = 4;
        need(d->cpus);
    }
    return n;
}

int nodes_pci(struct node *n, enum pci_kind kind, int parent, const char *address)
{
    struct pci_address at;
    struct pci *f;

    need(pci_address_parse(address, &at) == 0);
    f = node_add_pci(n, at);
    need(f);
    f->kind = kind;
    f->parent = parent;
    f->numa = parent >= 0 ? n->pcis[parent].numa : ABSENT;
    if (kind == PCI_HOST_BRIDGE)
        return (int)n->n_pcis - 1;
    f->gts = f->gts_max = 32;
    f->width = f->width_max = 16;
    f->max_payload_b = 256;
    f->max_payload_cap_b = 512;
    f->max_read_b = 4096;
    f->relaxed_ordering = 1;
    f->config_seen = true;
    f->acs = kind == PCI_SWITCH_DOWN ? 0 : ABSENT;
    f->path = "sys/devices/any";
    f->driver = "any";
    return (int)n->n_pcis - 1;
}

int nodes_root(struct node *n, int domain, const char *bridge, const char *port)
{
    int host = nodes_pci(n, PCI_HOST_BRIDGE, ABSENT, bridge);

    n->pcis[host].numa = domain;
    return nodes_pci(n, PCI_ROOT_PORT, host, port);
}

int nodes_switch(struct node *n, int parent, unsigned bus)
{
    char address[PCI_ADDRESS_TEXT];
    int up;

    snprintf(address, sizeof(address), "%02x:00.0", bus);
    up = nodes_pci(n, PCI_SWITCH_UP, parent, address);
    for (unsigned i = 0; i < 2; i++) {
        snprintf(address, sizeof(address), "%02x:%02x.0", bus + 1, i);
        nodes_pci(n, PCI_SWITCH_DOWN, up, address);
    }
    return up;
}

static void add_port(struct node *n, struct nic *nic)
{
    struct nic_port *p = node_add_port(n, nic);

    need(p);
    p->layer = PORT_ETHERNET;
    p->up = 1;
    p->state = "4: ACTIVE";
    p->gbps = 400;
    p->mtu = 9000;
    p->netdev = "eth0";
}

int nodes_device(struct node *n, enum device_kind kind, int parent, const char *address)
{
    static const uint16_t ids[][2] = {
        [DEVICE_ACCELERATOR] = { 0x10de, 0x26b9 },
        [DEVICE_NIC] = { 0x15b3, 0x1021 },
        [DEVICE_NVME] = { 0x144d, 0xa80a },
        [DEVICE_SWITCH] = { 0x10de, 0x22a3 },
    };
    int pci = address ? nodes_pci(n, PCI_ENDPOINT, parent, address) : ABSENT;
    struct device *d = node_add_device(n, kind);

    need(d);
    d->pci = pci;
    if (pci >= 0) {
        n->pcis[pci].vendor = ids[kind][0];
        n->pcis[pci].device = ids[kind][1];
        d->numa = n->pcis[pci].numa;
    }
    if (kind == DEVICE_NIC) {
        d->nic.rdma = d->name = arena_printf(&n->arena, "mlx5_%zu", n->n_devices - 1);
        need(d->name);
        d->product = "HCA";
        d->catalogue = ROW_HCA;
        add_port(n, &d->nic);
    } else {
        d->name = arena_printf(&n->arena, "%s%zu", kind == DEVICE_ACCELERATOR ? "GPU" : "other",
                               n->n_devices - 1);
        need(d->name);
    }
    return (int)n->n_devices - 1;
}

void nodes_link(struct node *n, enum link_kind kind, int a, int b, int count)
{
    struct link *l = node_add_link(n, kind, a, b);

    need(l);
    l->count = count;
    l->gbs = 25;
}

/* Every value of an accelerator as it should be. */
static void set_well(struct accelerator *acc)
{
    acc->vbios = "96.00";
    acc->persistence = acc->ecc = acc->ecc_pending = 1;
    acc->mig = 0;
    acc->power_limit_mw = acc->power_default_mw = 350000;
    acc->app_clock_mhz = acc->app_clock_default_mhz = 1980;
    acc->sm_clock_max_mhz = 1980;
    acc->links_up = acc->links_down = 0;
}

void scene_look(struct scene *s)
{
    for (int i = 0; i < 2; i++) {
        s->gpu[i] = &s->n->devices[i];
        s->nic[i] = &s->n->devices[i + 2];
        s->gpu_pci[i] = &s->n->pcis[s->gpu[i]->pci];
        s->nic_pci[i] = &s->n->pcis[s->nic[i]->pci];
    }
}

static const struct settings settings_good = {
    .governor = "performance",
    .clocksource = "tsc",
    .thp = "madvise",
    .cmdline = "ro quiet",
    .memlock_b = INT64_MAX,
    .nofile = 1 << 20,
    .shm_b = 512LL << 30,
    .peermem = 1,
    .dmabuf = 1,
    .gpu_driver = "550.54.15",
    .open_driver = 1,
};

void scene_init(struct scene *s)
{
    static const char *const gpus[] = { "12:00.0", "92:00.0" };
    static const char *const nics[] = { "13:00.0", "93:00.0" };
    int switches[2];

    *s = (struct scene){ .n = nodes_new(2), .said = STR_INIT(64 << 10) };
    need(catalogue_load(&s->catalogue, products, sizeof(products) - 1, NULL) == 0);
    switches[0] = nodes_switch(s->n, nodes_root(s->n, 0, "00:00.0", "00:01.0"), 0x10);
    switches[1] = nodes_switch(s->n, nodes_root(s->n, 1, "80:00.0", "80:01.0"), 0x90);
    for (int i = 0; i < 2; i++) {
        int gpu = nodes_device(s->n, DEVICE_ACCELERATOR, switches[i] + 1, gpus[i]);
        struct device *d = &s->n->devices[gpu];

        d->product = "CARD";
        d->catalogue = ROW_CARD;
        set_well(&d->acc);
    }
    for (int i = 0; i < 2; i++) {
        int nic = nodes_device(s->n, DEVICE_NIC, switches[i] + 2, nics[i]);
        struct device *d = &s->n->devices[nic];

        d->name = d->nic.rdma = i ? "mlx5_1" : "mlx5_0";
        d->nic.firmware = "28.39";
    }
    s->n->peers = arena_alloc(&s->n->arena, 4);
    need(s->n->peers);
    s->n->peers[1] = s->n->peers[2] = PEER_OK;
    s->n->set = settings_good;
    s->n->virtual_machine = 0;
    s->n->memory_b = 1024LL << 30;
    s->n->kernel = "6.8.0";
    scene_look(s);
}

void scene_done(struct scene *s)
{
    node_free(s->n);
    catalogue_done(&s->catalogue);
    findings_done(&s->found);
    str_done(&s->said);
}

static const struct check *check_of(const char *name)
{
    static const struct check *const tables[] = {
        checks_pcie,    checks_path, checks_place, checks_accelerator,
        checks_network, checks_host, checks_same,
    };

    for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
        for (const struct check *c = tables[i]; c->name; c++)
            if (!strcmp(c->name, name))
                return c;
    return NULL;
}

const char *scene_check(struct scene *s, const char *check)
{
    const struct check *c = check_of(check);
    struct audit a = { .n = s->n, .c = &s->catalogue, .out = &s->found, .check = check };
    bool counts;

    findings_done(&s->found);
    if (!c)
        return "there is no such check";
    counts = c->run(&a);
    str_reset(&s->said);
    if (!a.found)
        return counts ? "passed" : "silent";
    for (size_t i = 0; i < s->found.count; i++)
        str_addf(&s->said, "%s%s: %s", i ? "\n" : "", severity_text(s->found.list[i].severity),
                 s->found.list[i].sentence);
    return str_text(&s->said);
}

const char *scene_told(struct scene *s, size_t i)
{
    const struct finding *f = &s->found.list[i];

    if (i >= s->found.count)
        return "there is no such finding";
    str_reset(&s->said);
    str_addf(&s->said, "%s\n%s\n%s", f->evidence ? f->evidence : "-", f->effect ? f->effect : "-",
             f->action ? f->action : "-");
    return str_text(&s->said);
}
