/* Network ports: Ethernet interfaces and InfiniBand or RoCE devices of the NICs found on PCIe. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probe/kernel/kparse.h"
#include "probe/source/fact.h"

/* One port of an RDMA device: "4: ACTIVE", "400 Gb/sec (4X NDR)", "InfiniBand" or "Ethernet". */
static int read_rdma_port(struct probe *p, struct node *n, struct nic *nic, const char *dir)
{
    struct nic_port *port = node_add_port(n, nic);
    const char *rate = NULL, *layer = NULL;
    int rc;

    if (!port)
        return -ENOMEM;
    port->number = (int)nic->n_ports;
    rc = fact_text(p, n, dir, "state", &port->state);
    if (rc == 0)
        rc = fact_text(p, n, dir, "rate", &rate);
    if (rc == 0)
        rc = fact_text(p, n, dir, "link_layer", &layer);
    port->gbps = rate ? kparse_gbps(rate) : ABSENT;
    port->layer = layer && !strcmp(layer, "InfiniBand") ? PORT_INFINIBAND : PORT_ETHERNET;
    port->up = port->state ? strstr(port->state, "ACTIVE") != NULL : ABSENT;
    return rc;
}

/* "0c42:a103:0003:7b8a" as NCCL writes it: 0x0c42a10300037b8a. */
static int read_guid(struct probe *p, struct node *n, const char *dir, const char **to)
{
    const char *text = NULL;
    char digits[32] = "0x";
    size_t len = 2;
    int rc = fact_text(p, n, dir, "node_guid", &text);

    for (; text && *text && len < sizeof(digits) - 1; text++)
        if (*text != ':')
            digits[len++] = *text;
    if (rc < 0 || len == 2)
        return rc;
    *to = arena_strndup(&n->arena, digits, len);
    return *to ? 0 : -ENOMEM;
}

static int read_rdma(struct probe *p, struct node *n, struct device *d, const char *dir)
{
    CLEANUP(str_done) struct str names = STR_INIT(TREE_FILE_MAX);
    char path[TREE_PATH], rdma[TREE_PATH], ports[TREE_PATH], *at;
    const char *guid = NULL, *name;
    int rc;

    if (fact_path(path, dir, "infiniband") < 0)
        return 0;
    rc = fact_list(p, path, &names);
    at = names.data;
    name = rc == 0 ? fact_next(&at) : NULL;
    if (!name)
        return rc;
    d->nic.rdma = arena_strdup(&n->arena, name);
    if (!d->nic.rdma)
        return -ENOMEM;
    d->name = d->nic.rdma;
    if (fact_path(rdma, path, d->nic.rdma) < 0 || fact_path(ports, rdma, "ports") < 0)
        return 0;
    rc = fact_text(p, n, rdma, "fw_ver", &d->nic.firmware);
    if (rc == 0)
        rc = fact_text(p, n, rdma, "board_id", &d->nic.board_id);
    if (rc == 0)
        rc = read_guid(p, n, rdma, &guid);
    if (rc == 0)
        rc = fact_list(p, ports, &names);
    if (rc < 0)
        return rc;
    for (at = names.data; rc == 0 && (name = fact_next(&at)) != NULL;)
        if (fact_path(path, ports, name) == 0)
            rc = read_rdma_port(p, n, &d->nic, path);
    for (size_t i = 0; i < d->nic.n_ports; i++)
        d->nic.ports[i].guid = guid;
    return rc;
}

/* The interface of a port: joins the RDMA port it belongs to, or is a port of its own. */
static int read_netdev(struct probe *p, struct node *n, struct device *d, const char *dir,
                       const char *name)
{
    struct nic_port *port = d->nic.n_ports == 1 && !d->nic.ports[0].netdev ? d->nic.ports : NULL;
    char path[TREE_PATH];
    const char *state = NULL;
    long long mbps;
    int rc;

    if (fact_path(path, dir, name) < 0)
        return 0;
    if (!port)
        port = node_add_port(n, &d->nic);
    if (!port)
        return -ENOMEM;
    port->number = (int)(port - d->nic.ports) + 1;
    port->netdev = arena_strdup(&n->arena, name);
    if (!port->netdev)
        return -ENOMEM;
    port->mtu = (int)fact_number(p, path, "mtu");
    rc = fact_text(p, n, path, "operstate", &state);
    if (!port->state)
        port->state = state;
    if (port->up < 0 && state && strcmp(state, "unknown") != 0)
        port->up = !strcmp(state, "up");
    mbps = fact_number(p, path, "speed");
    if (port->gbps < 0 && mbps > 0)
        port->gbps = (double)mbps / 1000;
    if (!d->name)
        d->name = port->netdev;
    return rc;
}

static int read_netdevs(struct probe *p, struct node *n, struct device *d, const char *dir)
{
    CLEANUP(str_done) struct str names = STR_INIT(TREE_FILE_MAX);
    char path[TREE_PATH];
    int rc;

    if (fact_path(path, dir, "net") < 0)
        return 0;
    rc = fact_list(p, path, &names);
    for (char *at = names.data, *name; rc == 0 && (name = fact_next(&at)) != NULL;)
        rc = read_netdev(p, n, d, path, name);
    return rc;
}

/* A paravirtual NIC keeps its interface one level lower: .../virtio2/net/eth0. */
static int read_virtio(struct probe *p, struct node *n, struct device *d, const char *dir)
{
    CLEANUP(str_done) struct str names = STR_INIT(TREE_FILE_MAX);
    char path[TREE_PATH];
    int rc = fact_list(p, dir, &names);

    for (char *at = names.data, *name; rc == 0 && (name = fact_next(&at)) != NULL;)
        if (!strncmp(name, "virtio", 6) && fact_path(path, dir, name) == 0)
            rc = read_netdevs(p, n, d, path);
    return rc;
}

static int nic_read(struct probe *p, struct node *n, struct err *e)
{
    int rc = 0;

    for (size_t i = 0; i < n->n_devices && rc == 0; i++) {
        struct device *d = &n->devices[i];
        const struct pci *f = node_pci(n, d->pci);

        if (d->kind != DEVICE_NIC || !f)
            continue;
        rc = read_rdma(p, n, d, f->path);
        if (rc == 0)
            rc = read_netdevs(p, n, d, f->path);
        if (rc == 0 && f->driver && !strcmp(f->driver, "virtio-pci"))
            rc = read_virtio(p, n, d, f->path);
    }
    return rc < 0 ? err_nomem(e) : 0;
}

const struct source_ops source_nic = {
    .name = "nic",
    .what = "network and InfiniBand ports, from sysfs",
    .read = nic_read,
};
