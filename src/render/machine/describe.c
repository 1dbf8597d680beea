#include "render/machine/describe.h"

#include <string.h>

#include "render/text.h"

/* A number with one decimal below 10, else none: "7.9", "63". */
static void add_short(struct str *out, double value)
{
    str_addf(out, value < 9.95 ? "%.1f" : "%.0f", value);
}

/* A number with a decimal only where it has one: "2.5", "400". */
static void add_exact(struct str *out, double value)
{
    str_addf(out, "%.4g", value);
}

static void add_size(struct str *out, int64_t bytes, double step, const char *const units[4])
{
    double value = (double)bytes / (step * step);
    size_t unit = 0;

    if (bytes < 0)
        return;
    while (value >= step && unit < 3) {
        value /= step;
        unit++;
    }
    add_short(out, value);
    str_addf(out, " %s", units[unit]);
}

void describe_ram(struct str *out, int64_t bytes)
{
    static const char *const units[] = { "MiB", "GiB", "TiB", "PiB" };

    add_size(out, bytes, 1024, units);
}

void describe_storage(struct str *out, int64_t bytes)
{
    static const char *const units[] = { "MB", "GB", "TB", "PB" };

    add_size(out, bytes, 1000, units);
}

void describe_gbps(struct str *out, double gbps)
{
    if (gbps < 0)
        return;
    add_exact(out, gbps);
    str_add(out, " Gbit/s");
}

void describe_gbs(struct str *out, double gbs)
{
    if (gbs < 0)
        return;
    add_short(out, gbs);
    str_add(out, " GB/s");
}

static const struct product *product_of(const struct machine_view *v, const struct device *d)
{
    if (!v->catalogue || d->catalogue < 0 || (size_t)d->catalogue >= v->catalogue->n_products)
        return NULL;
    return &v->catalogue->products[d->catalogue];
}

const char *describe_product(const struct machine_view *v, const struct device *d)
{
    const struct product *p = product_of(v, d);

    return p ? p->name : d->product;
}

void describe_device_memory(struct str *out, const struct machine_view *v, const struct device *d)
{
    const struct product *p = product_of(v, d);
    double gb = (double)d->acc.memory_b / 1e9;

    if (d->acc.memory_b < 0)
        return;
    if (d->acc.cores > 0) {
        describe_ram(out, d->acc.memory_b);
        return;
    }
    /* Sold in units between 1e9 and 2^30 bytes, less what the driver keeps. */
    if (p && p->mem_gb > 0 && gb > p->mem_gb * 0.9 && gb < p->mem_gb * 1.1)
        gb = p->mem_gb;
    add_short(out, gb);
    str_add(out, " GB");
}

static void describe_port(struct str *out, const struct nic_port *p, const char *name)
{
    describe_gbps(out, p->gbps);
    str_add(out, p->gbps < 0 ? "" : " ");
    str_add(out, p->layer == PORT_INFINIBAND ? "InfiniBand" : "Ethernet");
    if (p->up >= 0)
        str_add(out, p->up ? " up" : " DOWN");
    if (p->netdev && strcmp(p->netdev, name) != 0) {
        str_add(out, ", ");
        text_add(out, p->netdev);
    }
}

void describe_device(struct str *out, const struct machine_view *v, const struct device *d)
{
    switch (d->kind) {
    case DEVICE_ACCELERATOR:
        if (d->acc.lost)
            str_add(out, "LOST");
        else
            describe_device_memory(out, v, d);
        break;
    case DEVICE_NIC:
        for (size_t i = 0; i < d->nic.n_ports; i++) {
            str_add(out, i ? "; " : "");
            describe_port(out, &d->nic.ports[i], d->name);
        }
        break;
    case DEVICE_NVME:
        describe_storage(out, d->capacity_b);
        break;
    case DEVICE_SWITCH:
        break;
    }
}

void describe_address(struct str *out, const struct node *n, int pci)
{
    char text[PCI_ADDRESS_TEXT];
    bool domains = false;

    if (pci < 0)
        return;
    for (size_t i = 0; i < n->n_pcis; i++)
        domains |= n->pcis[i].at.domain != 0;
    pci_address_text(n->pcis[pci].at, text);
    str_add(out, domains ? text : text + strlen("0000:"));
}

const char *describe_switch_vendor(uint16_t vendor)
{
    static const struct {
        uint16_t id;
        const char *name;
    } vendors[] = {
        { 0x1000, "Broadcom" }, { 0x1002, "AMD" },     { 0x1022, "AMD" },
        { 0x10b5, "PLX" },      { 0x10de, "NVIDIA" },  { 0x11f8, "Microchip" },
        { 0x15b3, "Mellanox" }, { 0x1b21, "ASMedia" }, { 0x8086, "Intel" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(vendors); i++)
        if (vendors[i].id == vendor)
            return vendors[i].name;
    return NULL;
}

const char *describe_link_kind(enum link_kind kind)
{
    static const char *const names[] = {
        [LINK_NVLINK] = "NVLink", [LINK_XGMI] = "xGMI",      [LINK_C2C] = "NVLink-C2C",
        [LINK_HCCS] = "HCCS",     [LINK_XELINK] = "Xe Link", [LINK_FABRIC] = "fabric",
    };

    return names[kind];
}
