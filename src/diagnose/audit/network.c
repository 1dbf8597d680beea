/* Checks of network ports. */
#include <stdio.h>
#include <string.h>

#include "diagnose/audit/check.h"

enum { MTU_FABRIC = 9000, MTU_IB = 2044 };

/* "mlx5_0", or "mlx5_0 port 2". */
static const char *port_label(const struct device *d, const struct nic_port *p,
                              char buf[LABEL_TEXT])
{
    if (d->nic.n_ports > 1)
        snprintf(buf, LABEL_TEXT, "%.40s port %d", d->name, p->number);
    else
        snprintf(buf, LABEL_TEXT, "%.60s", d->name);
    return buf;
}

static const char *fact(const char *text)
{
    return text ? text : "unknown";
}

static bool port_check(struct audit *a)
{
    char label[LABEL_TEXT];
    bool any = false;

    for (size_t i = 0; i < a->n->n_devices; i++) {
        const struct device *d = &a->n->devices[i];

        if (!check_is_fabric_nic(d))
            continue;
        for (size_t k = 0; k < d->nic.n_ports; k++) {
            const struct nic_port *p = &d->nic.ports[k];
            struct finding *f;

            any = true;
            if (p->up != 0)
                continue;
            f = check_add(a, SEVERITY_WARNING, "%s is down", port_label(d, p, label));
            check_text(a, &f->evidence, "state: %s; interface: %s", fact(p->state),
                       fact(p->netdev));
            check_text(a, &f->effect,
                       "collectives use the remaining ports, or go the long way round");
            if (p->netdev)
                check_text(
                    a, &f->action,
                    "ip link set dev %s up; if it stays down: check the cable and the switch port",
                    p->netdev);
            else
                check_text(a, &f->action, "ibstat %s; check the cable and the switch port",
                           d->name);
        }
    }
    return any;
}

/* What the port should run at: the most among NICs of the same product here, else the product's. */
static double rate_wanted(const struct audit *a, const struct device *d, bool *peer)
{
    double most = ABSENT;

    for (size_t i = 0; i < a->n->n_devices; i++) {
        const struct device *o = &a->n->devices[i];

        if (o->kind != DEVICE_NIC || !o->product || !d->product ||
            strcmp(o->product, d->product) != 0)
            continue;
        for (size_t k = 0; k < o->nic.n_ports; k++)
            if (o->nic.ports[k].up == 1)
                most = MAX(most, o->nic.ports[k].gbps);
    }
    *peer = most > 0;
    if (d->catalogue >= 0 && a->c->products[d->catalogue].port_gbps > most) {
        *peer = false;
        most = a->c->products[d->catalogue].port_gbps;
    }
    return most;
}

static bool rate_check(struct audit *a)
{
    char label[LABEL_TEXT];
    bool any = false;

    for (size_t i = 0; i < a->n->n_devices; i++) {
        const struct device *d = &a->n->devices[i];
        bool peer;
        double wanted = rate_wanted(a, d, &peer);

        for (size_t k = 0; check_is_fabric_nic(d) && k < d->nic.n_ports; k++) {
            const struct nic_port *p = &d->nic.ports[k];
            struct finding *f;

            if (p->up != 1 || p->gbps < 0)
                continue;
            any = true;
            if (p->gbps >= wanted)
                continue;
            f = check_add(a, peer ? SEVERITY_WARNING : SEVERITY_NOTE,
                          "%s runs at %.0f Gb/s and could run at %.0f Gb/s",
                          port_label(d, p, label), p->gbps, wanted);
            check_text(a, &f->evidence,
                       peer ? "another %s in this node reaches it" : "the fastest model of %s",
                       fact(d->product));
            check_text(a, &f->effect, "%.0f %% of the port's rate", 100 * p->gbps / wanted);
            check_text(a, &f->action, "check cable, transceiver and switch port: mlxlink -d %s -m",
                       d->name);
        }
    }
    return any;
}

static bool mtu_check(struct audit *a)
{
    char label[LABEL_TEXT];
    bool any = false;

    for (size_t i = 0; i < a->n->n_devices; i++) {
        const struct device *d = &a->n->devices[i];

        for (size_t k = 0; check_is_fabric_nic(d) && k < d->nic.n_ports; k++) {
            const struct nic_port *p = &d->nic.ports[k];
            int wanted = p->layer == PORT_INFINIBAND ? MTU_IB : MTU_FABRIC;
            struct finding *f;

            if (p->mtu <= 0 || !p->netdev || p->up != 1)
                continue;
            any = true;
            if (p->mtu >= wanted)
                continue;
            f = check_add(a, SEVERITY_NOTE, "%s has an MTU of %d", port_label(d, p, label), p->mtu);
            check_text(a, &f->evidence, "interface %s; %d is usual on a fabric of this kind",
                       p->netdev, wanted);
            check_text(
                a, &f->effect,
                "RoCE packets of 1,024 instead of 4,096 bytes, and more work per byte for TCP");
            check_text(a, &f->action, "ip link set dev %s mtu %d  (after the switches allow it)",
                       p->netdev, wanted);
        }
    }
    return any;
}

const struct check checks_network[] = {
    { "port-down", port_check }, /* every fast port is up */
    { "port-rate", rate_check }, /* every fast port runs at its rate */
    { "mtu", mtu_check },        /* fast ports use large packets */
    { NULL, NULL },
};
