#include <errno.h>

#include "base/json.h"
#include "model/machine/way.h"
#include "render/machine/describe.h"

/* Significant digits of rates: enough for any link there is. */
enum { DIGITS = 6 };

/* What is absent is left out. */
static void put_text(struct json *j, const char *key, const char *value)
{
    if (value)
        json_string(j, key, value);
}

static void put_int(struct json *j, const char *key, int64_t value)
{
    if (value >= 0)
        json_int(j, key, value);
}

static void put_number(struct json *j, const char *key, double value)
{
    if (value >= 0)
        json_number(j, key, value, DIGITS);
}

static void put_flag(struct json *j, const char *key, int value)
{
    if (value >= 0)
        json_bool(j, key, value != 0);
}

static void put_hex(struct json *j, const char *key, int digits, unsigned value)
{
    char text[16];

    snprintf(text, sizeof(text), "0x%0*x", digits, value);
    json_string(j, key, text);
}

static void put_address(struct json *j, const char *key, const struct node *n, int pci)
{
    char text[PCI_ADDRESS_TEXT];

    if (pci >= 0)
        json_string(j, key, pci_address_text(n->pcis[pci].at, text));
}

static void put_domain(struct json *j, const struct node *n, int numa)
{
    if (numa >= 0)
        json_int(j, "numa", n->numas[numa].id);
}

/* ---- the host ---- */

static void put_host(struct json *j, const struct node *n)
{
    put_text(j, "name", n->name);
    put_text(j, "board", n->board);
    put_flag(j, "virtual_machine", n->virtual_machine);
    put_text(j, "kernel", n->kernel);
    put_int(j, "memory_b", n->memory_b);
    json_object(j, "cpu");
    put_text(j, "model", n->cpu_model);
    put_text(j, "arch", n->cpu_arch);
    put_text(j, "vendor", n->cpu_vendor);
    put_int(j, "family", n->cpu_family);
    put_int(j, "model_number", n->cpu_number);
    json_end(j);
}

static void put_settings(struct json *j, const struct settings *s)
{
    json_object(j, "settings");
    put_text(j, "governor", s->governor);
    put_text(j, "clocksource", s->clocksource);
    put_text(j, "transparent_huge_pages", s->thp);
    put_text(j, "kernel_command_line", s->cmdline);
    put_flag(j, "numa_balancing", s->numa_balancing);
    if (s->memlock_b == INT64_MAX)
        json_string(j, "memlock_b", "unlimited");
    else
        put_int(j, "memlock_b", s->memlock_b);
    if (s->nofile == INT64_MAX)
        json_string(j, "open_files", "unlimited");
    else
        put_int(j, "open_files", s->nofile);
    put_int(j, "shm_b", s->shm_b);
    put_int(j, "swap_b", s->swap_b);
    put_int(j, "iommu_groups", s->iommu_groups);
    put_text(j, "iommu_type", s->iommu_type);
    put_flag(j, "peermem", s->peermem);
    put_flag(j, "dmabuf", s->dmabuf);
    put_text(j, "gpu_driver", s->gpu_driver);
    put_flag(j, "open_driver", s->open_driver);
    json_end(j);
}

static void put_sockets(struct json *j, const struct node *n)
{
    json_array(j, "sockets");
    for (size_t i = 0; i < n->n_sockets; i++) {
        const struct socket *s = &n->sockets[i];

        json_object(j, NULL);
        json_int(j, "id", s->id);
        put_text(j, "cpus", s->cpus);
        put_int(j, "cores", s->cores);
        put_int(j, "threads", s->threads);
        json_end(j);
    }
    json_end(j);
}

static void put_domains(struct json *j, const struct node *n)
{
    json_array(j, "numa_domains");
    for (size_t i = 0; i < n->n_numas; i++) {
        const struct numa *d = &n->numas[i];

        json_object(j, NULL);
        json_int(j, "id", d->id);
        if (d->socket >= 0)
            json_int(j, "socket", n->sockets[d->socket].id);
        put_text(j, "cpus", d->cpus);
        put_int(j, "threads", d->threads);
        put_int(j, "memory_b", d->memory_b);
        if (d->distance) {
            json_array(j, "distances");
            for (size_t k = 0; k < n->n_numas; k++)
                json_int(j, NULL, d->distance[k]);
            json_end(j);
        }
        json_end(j);
    }
    json_end(j);
}

/* ---- PCIe ---- */

static void put_acs(struct json *j, const struct pci *p)
{
    static const struct {
        enum acs_bits bit;
        const char *name;
    } bits[] = {
        { ACS_SOURCE, "source_validation" },
        { ACS_REQUEST, "request_redirect" },
        { ACS_COMPLETION, "completion_redirect" },
        { ACS_FORWARD, "upstream_forwarding" },
    };

    json_bool(j, "config_seen", p->config_seen);
    if (p->acs < 0)
        return;
    json_array(j, "acs");
    for (size_t i = 0; i < ARRAY_SIZE(bits); i++)
        if (p->acs & (int)bits[i].bit)
            json_string(j, NULL, bits[i].name);
    json_end(j);
}

static void put_link(struct json *j, const struct pci *p)
{
    put_number(j, "link_gts", p->gts);
    put_number(j, "link_gts_max", p->gts_max);
    put_int(j, "link_width", p->width);
    put_int(j, "link_width_max", p->width_max);
    put_number(j, "link_gbs", pcie_gbs(p->gts, p->width));
    put_int(j, "max_payload_b", p->max_payload_b);
    put_int(j, "max_payload_cap_b", p->max_payload_cap_b);
    put_int(j, "max_read_request_b", p->max_read_b);
    put_flag(j, "relaxed_ordering", p->relaxed_ordering);
}

static void put_function(struct json *j, const struct node *n, const struct pci *p)
{
    static const char *const kinds[] = {
        [PCI_HOST_BRIDGE] = "host-bridge",
        [PCI_ROOT_PORT] = "root-port",
        [PCI_SWITCH_UP] = "switch-upstream",
        [PCI_SWITCH_DOWN] = "switch-downstream",
        [PCI_BRIDGE] = "bridge",
        [PCI_ENDPOINT] = "endpoint",
    };
    char text[PCI_ADDRESS_TEXT];

    json_object(j, NULL);
    json_string(j, "address", pci_address_text(p->at, text));
    json_string(j, "kind", kinds[p->kind]);
    if (p->parent >= 0)
        json_int(j, "parent", p->parent);
    put_domain(j, n, p->numa);
    if (p->kind != PCI_HOST_BRIDGE) {
        put_hex(j, "class", 6, p->class_code);
        put_hex(j, "vendor", 4, p->vendor);
        put_hex(j, "device", 4, p->device);
        if (p->sub_vendor) {
            put_hex(j, "subsystem_vendor", 4, p->sub_vendor);
            put_hex(j, "subsystem_device", 4, p->sub_device);
        }
        put_text(j, "driver", p->driver);
        put_link(j, p);
        put_acs(j, p);
        json_bool(j, "behind_chipset", p->pch);
    }
    put_text(j, "sysfs_path", p->path);
    json_end(j);
}

/* ---- devices ---- */

static void put_accelerator(struct json *j, const struct accelerator *a)
{
    put_text(j, "uuid", a->uuid);
    put_text(j, "vbios", a->vbios);
    put_text(j, "arch", a->arch);
    put_int(j, "memory_b", a->memory_b);
    put_int(j, "minor", a->minor);
    put_flag(j, "persistence", a->persistence);
    put_flag(j, "ecc", a->ecc);
    put_flag(j, "ecc_pending", a->ecc_pending);
    put_flag(j, "mig", a->mig);
    put_int(j, "power_limit_mw", a->power_limit_mw);
    put_int(j, "power_default_mw", a->power_default_mw);
    put_int(j, "sm_clock_mhz", a->sm_clock_mhz);
    put_int(j, "sm_clock_max_mhz", a->sm_clock_max_mhz);
    put_int(j, "app_clock_mhz", a->app_clock_mhz);
    put_int(j, "app_clock_default_mhz", a->app_clock_default_mhz);
    put_int(j, "pcie_gen_max", a->gen_max);
    put_int(j, "pcie_width_max", a->width_max);
    put_int(j, "links_up", a->links_up);
    put_int(j, "links_down", a->links_down);
    put_flag(j, "fabric_ready", a->fabric);
    json_bool(j, "lost", a->lost);
    if (a->cores > 0)
        json_int(j, "cpu_cores", a->cores);
}

static void put_nic(struct json *j, const struct nic *nic)
{
    put_text(j, "rdma", nic->rdma);
    put_text(j, "firmware", nic->firmware);
    put_text(j, "board_id", nic->board_id);
    json_array(j, "ports");
    for (size_t i = 0; i < nic->n_ports; i++) {
        const struct nic_port *p = &nic->ports[i];

        json_object(j, NULL);
        json_int(j, "number", p->number);
        json_string(j, "layer", p->layer == PORT_INFINIBAND ? "infiniband" : "ethernet");
        put_flag(j, "up", p->up);
        put_text(j, "state", p->state);
        put_number(j, "rate_gbps", p->gbps);
        put_text(j, "netdev", p->netdev);
        put_int(j, "mtu_b", p->mtu);
        put_text(j, "guid", p->guid);
        json_end(j);
    }
    json_end(j);
}

static void put_device(struct json *j, const struct machine_view *v, const struct node *n,
                       const struct device *d)
{
    static const char *const kinds[] = {
        [DEVICE_ACCELERATOR] = "accelerator",
        [DEVICE_NIC] = "nic",
        [DEVICE_NVME] = "nvme",
        [DEVICE_SWITCH] = "nvswitch",
    };

    json_object(j, NULL);
    put_text(j, "name", d->name);
    json_string(j, "kind", kinds[d->kind]);
    json_int(j, "index", d->index);
    put_text(j, "product", d->product);
    if (d->catalogue >= 0)
        put_text(j, "catalogue", describe_product(v, d));
    put_address(j, "pci", n, d->pci);
    put_domain(j, n, d->numa);
    if (d->kind == DEVICE_ACCELERATOR)
        put_accelerator(j, &d->acc);
    if (d->kind == DEVICE_NIC)
        put_nic(j, &d->nic);
    if (d->kind == DEVICE_NVME) {
        put_int(j, "capacity_b", d->capacity_b);
        put_text(j, "firmware", d->firmware);
    }
    json_end(j);
}

/* ---- links and ways ---- */

static void put_links(struct json *j, const struct node *n)
{
    json_array(j, "links");
    for (size_t i = 0; i < n->n_links; i++) {
        const struct link *l = &n->links[i];

        json_object(j, NULL);
        json_string(j, "kind", describe_link_kind(l->kind));
        put_text(j, "from", n->devices[l->a].name);
        if (l->b >= 0)
            put_text(j, "to", n->devices[l->b].name);
        else
            json_string(j, "to", l->numa >= 0 ? "cpu" : "switch");
        put_domain(j, n, l->numa);
        json_int(j, "count", l->count);
        put_number(j, "each_gbs", l->gbs);
        json_end(j);
    }
    json_end(j);
}

static void put_peers(struct json *j, const struct node *n)
{
    static const char *const words[] = {
        [PEER_UNKNOWN] = "unknown",
        [PEER_OK] = "ok",
        [PEER_CHIPSET] = "chipset-not-supported",
        [PEER_GPU] = "gpu-not-supported",
        [PEER_TOPOLOGY] = "topology-not-supported",
        [PEER_DISABLED] = "disabled",
        [PEER_NO] = "not-supported",
    };

    if (!n->peers)
        return;
    json_array(j, "peer_access");
    for (size_t a = 0; a < n->n_acc; a++) {
        json_array(j, NULL);
        for (size_t b = 0; b < n->n_acc; b++) {
            uint8_t peer = n->peers[a * n->n_acc + b];

            json_string(j, NULL, peer < ARRAY_SIZE(words) ? words[peer] : "unknown");
        }
        json_end(j);
    }
    json_end(j);
}

static void put_ways(struct json *j, const struct node *n)
{
    static const char *const classes[] = {
        [WAY_SELF] = "X",  [WAY_NV] = "NV",   [WAY_C2C] = "C2C",   [WAY_PIX] = "PIX",
        [WAY_PXB] = "PXB", [WAY_PHB] = "PHB", [WAY_NODE] = "NODE", [WAY_SYS] = "SYS",
    };

    json_array(j, "ways");
    for (int a = 0; a < (int)n->n_devices; a++)
        for (int b = a + 1; b < (int)n->n_devices; b++) {
            struct way w;

            if (n->devices[a].kind > DEVICE_NIC || n->devices[b].kind > DEVICE_NIC)
                continue;
            w = way_between(n, a, b);
            json_object(j, NULL);
            put_text(j, "from", n->devices[a].name);
            put_text(j, "to", n->devices[b].name);
            if (w.class != WAY_UNKNOWN)
                json_string(j, "class", classes[w.class]);
            if (w.class == WAY_NV || w.class == WAY_C2C) {
                json_string(j, "link", describe_link_kind(w.link));
                json_int(j, "count", w.count);
            }
            put_number(j, "gbs", w.gbs);
            put_address(j, "bottleneck", n, w.limit);
            json_end(j);
        }
    json_end(j);
}

static void put_node(struct json *j, const struct machine_view *v, const struct node *n)
{
    json_object(j, NULL);
    put_host(j, n);
    put_settings(j, &n->set);
    put_sockets(j, n);
    put_domains(j, n);
    json_array(j, "pci_functions");
    for (size_t i = 0; i < n->n_pcis; i++)
        put_function(j, n, &n->pcis[i]);
    json_end(j);
    json_array(j, "devices");
    for (size_t i = 0; i < n->n_devices; i++)
        put_device(j, v, n, &n->devices[i]);
    json_end(j);
    put_links(j, n);
    put_peers(j, n);
    put_ways(j, n);
    json_end(j);
}

static int render(const struct machine_view *v, struct str *out)
{
    struct json j = JSON_INIT(out);

    json_object(&j, NULL);
    json_string(&j, "schema", "brim.machine.v1");
    json_array(&j, "nodes");
    for (size_t i = 0; i < v->machine->n_nodes; i++)
        put_node(&j, v, v->machine->nodes[i]);
    json_end(&j);
    json_end(&j);
    return str_error(out);
}

const struct machine_renderer machine_json = {
    "json",
    "everything that is known, schema brim.machine.v1",
    render,
};
