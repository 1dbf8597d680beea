/* What nobody said of a cluster. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "base/str.h"

#include "plan/cluster/cluster_read.h"

/* Links that join more GPUs than any machine holds go through a rack. */
enum { MACHINE_GPUS = 16 };

/* us; a step of a ring in NCCL's model of itself: src/graph/tuning.cc, hwLatencies, ring, LL128. */
static const double link_latency_us = 1.9, pcie_latency_us = 2.5, nic_latency_us = 4;

void cluster_wish_init(struct cluster_wish *w)
{
    *w = (struct cluster_wish){ .memory_b = (double)NAN };
    w->c.link_rate = w->c.nic_rate = w->c.nic_latency_s = w->c.link_latency_s = (double)NAN;
    w->c.oversubscribed = w->c.price = w->c.mtbf_s = (double)NAN;
}

/* The fast domain, its rate and its latency. */
static void settle_links(struct cluster *c, const struct gpu_row *r)
{
    int64_t all = (int64_t)c->nodes * c->per_node;
    bool linked = r->gpu.domain >= c->per_node && r->gpu.domain > 1;

    if (c->domain) {
        linked = linked || c->domain <= r->gpu.domain;
    } else {
        c->domain = linked && r->gpu.domain > MACHINE_GPUS ? r->gpu.domain : c->per_node;
        if (c->domain > c->per_node) /* whole nodes in a rack */
            c->domain -= c->domain % c->per_node;
    }
    c->domain = (int)MIN((int64_t)c->domain, all);
    if (isnan(c->link_rate))
        c->link_rate = linked || isnan(r->pcie_rate) ? r->gpu.link_rate : r->pcie_rate;
    if (isnan(c->link_latency_s))
        c->link_latency_s = (linked ? link_latency_us : pcie_latency_us) * 1e-6;
}

static void settle_nics(struct cluster *c, const struct cluster_wish *w)
{
    const struct gpu_row *r = w->gpu;

    if (isnan(c->nic_latency_s))
        c->nic_latency_s = nic_latency_us * 1e-6;
    if (w->nics_said || !r->node || c->domain >= (int64_t)c->nodes * c->per_node)
        return;
    c->nics = (int)MAX((int64_t)c->per_node * r->node_nics / r->node_gpus, 1);
    c->nic_rate = r->node_nic_rate;
    snprintf(c->assumed, sizeof(c->assumed), "%d port%s of %.0f Gbit/s a node, as in %s", c->nics,
             str_plural(c->nics), c->nic_rate * 8 / 1e9, r->node);
}

int cluster_settle(struct cluster *ret, const struct cluster_wish *w, struct err *e)
{
    struct cluster c = w->c;
    int rc;

    c.gpu = w->gpu->gpu;
    c.assumed[0] = '\0';
    if (!isnan(w->memory_b))
        c.gpu.memory_b = w->memory_b;
    if (isnan(c.oversubscribed))
        c.oversubscribed = 1;
    if (c.nodes > 0 && c.per_node > 0) {
        settle_links(&c, w->gpu);
        settle_nics(&c, w);
    }
    if (!c.nics)
        c.nic_rate = 0;
    rc = cluster_check(&c, e);
    if (rc < 0)
        return rc;
    *ret = c;
    return 0;
}
