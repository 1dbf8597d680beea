#include "plan/cluster/cluster.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

enum { NODES_MAX = 1000000, PER_NODE_MAX = 1024, NICS_MAX = 1024, GPU_GB_MAX = 100000 };

static bool is_positive(double value)
{
    return isfinite(value) && value > 0;
}

static int check_gpu(const struct gpu *g, struct err *e)
{
    bool fast = false;

    for (int i = 0; i < PLAN_PRECISIONS; i++) {
        if (!isnan(g->flops[i]) && !is_positive(g->flops[i]))
            return err_set(e, -EINVAL, "%s: the speed of a GPU is above 0", g->name);
        fast = fast || is_positive(g->flops[i]);
    }
    if (!fast)
        return err_set(e, -EINVAL, "%s: its speed is not known", g->name);
    if (!is_positive(g->memory_b) || !is_positive(g->memory_rate))
        return err_set(e, -EINVAL, "%s: the size and the rate of its memory are not known",
                       g->name);
    if (g->memory_b > GPU_GB_MAX * 1e9)
        return err_set(e, -EINVAL, "a GPU has up to %d GB of memory, not %g", GPU_GB_MAX,
                       g->memory_b / 1e9);
    return 0;
}

/* A limit of power: below what the GPU takes, and not so low that nothing is known of it. */
static int check_power(const struct cluster *c, struct err *e)
{
    double most = c->gpu.tdp_w;

    if (!(c->power_w > 0))
        return 0;
    if (!is_positive(most))
        return err_set(e, -EINVAL, "%s: its power is not known, so that no limit of it can be told",
                       c->gpu.name);
    if (c->power_w > most || c->power_w < most / 2)
        return err_set(e, -EINVAL,
                       "a limit of power is %.0f to %.0f W for %s, half of its own to all, not %g",
                       most / 2, most, c->gpu.name, c->power_w);
    return 0;
}

static int check_counts(const struct cluster *c, struct err *e)
{
    if (c->nodes < 1 || c->nodes > NODES_MAX)
        return err_set(e, -EINVAL, "a cluster has 1 to %d nodes, not %d", NODES_MAX, c->nodes);
    if (c->per_node < 1 || c->per_node > PER_NODE_MAX)
        return err_set(e, -EINVAL, "a node has 1 to %d GPUs, not %d", PER_NODE_MAX, c->per_node);
    if (c->nics < 0 || c->nics > NICS_MAX)
        return err_set(e, -EINVAL, "a node has 0 to %d network ports, not %d", NICS_MAX, c->nics);
    if (c->leaf_nodes < 0 || c->leaf_nodes > NODES_MAX)
        return err_set(e, -EINVAL, "a switch has 0 to %d nodes below it, not %d", NODES_MAX,
                       c->leaf_nodes);
    if (c->domain < 1 || c->domain > c->nodes * c->per_node)
        return err_set(e, -EINVAL, "a fast domain has 1 GPU to all %d of the cluster, not %d",
                       c->nodes * c->per_node, c->domain);
    if (c->domain % c->per_node != 0 && c->per_node % c->domain != 0)
        return err_set(
            e, -EINVAL,
            "a fast domain of %d GPUs does not go with nodes of %d: whole nodes, or whole "
            "parts of one",
            c->domain, c->per_node);
    return 0;
}

static int check_rates(const struct cluster *c, struct err *e)
{
    if (c->domain > 1 && !is_positive(c->link_rate))
        return err_set(e, -EINVAL, "the rate between the GPUs of a node is not known");
    if (c->domain < c->nodes * c->per_node && (c->nics == 0 || !is_positive(c->nic_rate)))
        return err_set(e, -EINVAL,
                       "the network beyond a fast domain is not known: add nic=8x400G, say");
    if (!(c->nic_latency_s >= 0 && c->nic_latency_s < 1 && c->link_latency_s >= 0 &&
          c->link_latency_s < 1))
        return err_set(e, -EINVAL, "a latency is 0 to 1 s");
    if (!(c->oversubscribed >= 1 && c->oversubscribed <= 1000))
        return err_set(e, -EINVAL, "a network is oversubscribed 1 (not at all) to 1000 times");
    if (!isnan(c->price) && !(c->price >= 0 && c->price <= CLUSTER_PRICE_MOST))
        return err_set(e, -EINVAL, "the price of a GPU for an hour is from 0 to %d",
                       CLUSTER_PRICE_MOST);
    if (!isnan(c->mtbf_s) && !is_positive(c->mtbf_s))
        return err_set(e, -EINVAL, "the time between failures of a GPU is above 0");
    return 0;
}

int cluster_check(const struct cluster *c, struct err *e)
{
    int rc = check_gpu(&c->gpu, e);

    if (rc == 0)
        rc = check_power(c, e);
    if (rc == 0)
        rc = check_counts(c, e);
    return rc < 0 ? rc : check_rates(c, e);
}
