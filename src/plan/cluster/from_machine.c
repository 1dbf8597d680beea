#include "plan/cluster/from_machine.h"

#include <errno.h>
#include <math.h>

#include "plan/cluster/cluster_read.h"

static const char *product(const struct catalogue *c, const struct device *d)
{
    if (d->catalogue >= 0 && (size_t)d->catalogue < c->n_products)
        return c->products[d->catalogue].name;
    return d->product;
}

/* NULL: not known, and why is in e. */
static const struct gpu_row *find_gpu(const struct gpus *g, const struct catalogue *c,
                                      const struct device *d, struct err *e)
{
    const char *name = product(c, d);
    const struct gpu_row *row = NULL;

    if (!name) {
        err_set(e, -EINVAL, "%s: its kind is not known", d->name ? d->name : "a GPU");
        return NULL;
    }
    if (gpus_find(g, name, &row, NULL) == 0 ||
        gpus_find(g, d->product ? d->product : name, &row, e) == 0)
        return row;
    return NULL;
}

/* GB/s of the links of device a to other devices, and to switches that are not seen. */
static double link_gbs(const struct node *n, int a)
{
    double sum = 0;

    for (size_t i = 0; i < n->n_links; i++) {
        const struct link *l = &n->links[i];

        if ((l->a == a || l->b == a) && l->numa == ABSENT && l->count > 0 && l->gbs > 0)
            sum += l->count * l->gbs;
    }
    return sum;
}

/* Of what the driver says that a GPU has, what a process can have: a part is the driver's own. More
 * than its kind is sold with: another kind, of which that part is not known. A vendor's GB may be
 * GiB. */
static double usable(const struct gpu_row *row, double has_b)
{
    return has_b > row->sold_b * 1.08 ? has_b : fmin(has_b, row->usable_b);
}

/* One node's GPUs: all of the kind of the first. */
static int look_at_gpus(struct cluster_wish *w, const struct gpus *g, const struct catalogue *c,
                        const struct node *n, struct err *e)
{
    int count = 0;

    for (size_t i = 0; i < n->n_devices; i++) {
        const struct device *d = &n->devices[i];
        const struct gpu_row *row;

        if (d->kind != DEVICE_ACCELERATOR || d->acc.lost || d->acc.cores > 0)
            continue;
        row = find_gpu(g, c, d, e);
        if (!row)
            return err_context(e, -EINVAL, "%s: ", n->name ? n->name : "this machine");
        if (w->gpu && row != w->gpu)
            return err_set(e, -EINVAL, "%s has a %s beside %s: plan for one kind at a time",
                           n->name ? n->name : "this machine", row->gpu.name, w->gpu->gpu.name);
        w->gpu = row;
        count++;
        if (d->acc.memory_b > 0)
            w->memory_b = fmin(w->memory_b, usable(row, (double)d->acc.memory_b));
        if (isnan(w->c.link_rate) && link_gbs(n, (int)i) > 0)
            w->c.link_rate = link_gbs(n, (int)i) * 1e9;
    }
    if (w->c.per_node && count != w->c.per_node)
        return err_set(e, -EINVAL, "%s has %d GPUs, where another node has %d",
                       n->name ? n->name : "this machine", count, w->c.per_node);
    w->c.per_node = count;
    return 0;
}

/* The fastest port of a NIC that is up, Gbit/s; 0 when none is. */
static double nic_gbps(const struct nic *nic)
{
    double most = 0;

    for (size_t i = 0; i < nic->n_ports; i++)
        if (nic->ports[i].up == 1 && nic->ports[i].gbps > most)
            most = nic->ports[i].gbps;
    return most;
}

static void look_at_nics(struct cluster_wish *w, const struct node *n)
{
    double most = 0;
    int count = 0;

    for (size_t i = 0; i < n->n_devices; i++) {
        double gbps = n->devices[i].kind == DEVICE_NIC ? nic_gbps(&n->devices[i].nic) : 0;

        if (gbps > most)
            count = 0;
        most = fmax(most, gbps);
        count += gbps > 0 && gbps >= most;
    }
    count = MIN(count, w->c.per_node);
    if (!w->nics_said || count < w->c.nics)
        w->c.nics = count;
    w->c.nic_rate = w->nics_said ? fmin(w->c.nic_rate, most * 1e9 / 8) : most * 1e9 / 8;
    w->nics_said = true;
}

int cluster_from_machine(struct cluster *ret, const struct gpus *g, const struct catalogue *c,
                         const struct machine *m, struct err *e)
{
    struct cluster_wish w;
    bool linked;

    cluster_wish_init(&w);
    for (size_t i = 0; i < m->n_nodes; i++) {
        int rc = look_at_gpus(&w, g, c, m->nodes[i], e);

        if (rc < 0)
            return rc;
        look_at_nics(&w, m->nodes[i]);
    }
    if (!w.gpu)
        return err_set(e, -EINVAL,
                       "this machine has no GPUs: describe a cluster, such as 1x8xH100");
    w.c.nodes = (int)MIN(m->n_nodes, (size_t)INT32_MAX);
    linked = !isnan(w.c.link_rate);
    /* that nodes share a rack's links cannot be seen from them */
    w.c.domain = w.c.per_node;
    if (!linked && !isnan(w.gpu->pcie_rate))
        w.c.link_rate = w.gpu->pcie_rate;
    w.nics_said = w.nics_said && w.c.nics > 0;
    return cluster_settle(ret, &w, e);
}
