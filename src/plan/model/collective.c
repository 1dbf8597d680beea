#include "plan/model/collective.h"

#include <math.h>

/* Bytes at which half of the time is paid that it takes until a message flows: NCCL's buffers. */
static const double fill_b = 8 << 20;

/* The part of its rate that a network card reaches in NCCL, next to an isolated run of the wire. */
static const double nic_best = 0.85;

struct collective_group collective_group_make(const struct cluster *c, int size, int stride)
{
    struct collective_group g = { .size = size };
    double few, link, nic, ring, gather, away;

    if (size <= 1)
        return g;
    stride = MAX(stride, 1);
    g.inside = MIN(MAX(c->domain / stride, 1), size);
    g.domains = (size + g.inside - 1) / g.inside;
    few = 1 - c->gpu.link_few / MAX(g.inside, 2);
    link = c->link_rate * c->gpu.link_best;
    ring = link * (1 - c->gpu.link_few / 2 / MAX(g.inside, 2));
    gather = link * few;
    g.near_byte_s = 1 / gather;
    if (g.domains > 1) {
        /* The groups beside this one use the same cards: a ring that enters a domain once has the
         * share of its members there. */
        nic = c->nics * c->nic_rate * nic_best * c->domain / c->per_node;
        ring = fmin(g.inside > 1 ? ring : (double)INFINITY, nic * g.inside / c->domain);
        gather = fmin(g.inside > 1 ? gather : (double)INFINITY, nic * g.inside / c->domain);
        away = (double)(size - g.inside) / (size - 1);
        if (c->leaf_nodes > 0 && c->oversubscribed > 1)
            nic /= c->oversubscribed;
        g.near_byte_s *= 1 - away;
        g.away_byte_s = away * c->domain / nic;
    }
    g.byte_s = 1 / ring;
    g.busy = fmin(gather / (link * few), 1);
    g.gather_byte_s = 1 / gather;
    g.fill_s = g.inside > 1 ? c->gpu.link_fill_s : 0;
    g.tree_s = c->link_latency_s * (g.inside + 1) +
               (g.domains > 1 ? 2 * log2(g.domains) * c->nic_latency_s : 0);
    g.ring_s = c->link_latency_s * (g.inside * .7 + 1) +
               (g.domains > 1 ? (g.domains - 1) * c->nic_latency_s : 0);
    return g;
}

struct collective_group collective_group_of_ports(const struct cluster *c, int size, int stride)
{
    struct collective_group g = collective_group_make(c, size, stride);
    double port_s = 1 / (c->nics * c->nic_rate * nic_best / c->per_node);

    if (g.domains > 1) {
        g.byte_s = MAX(g.byte_s, port_s);
        g.gather_byte_s = MAX(g.gather_byte_s, port_s);
    }
    return g;
}

static double flow(const struct collective_group *g, double bytes, double byte_s)
{
    return bytes * byte_s + g->fill_s * bytes / (bytes + fill_b);
}

double all_reduce_time(const struct collective_group *g, double bytes)
{
    double share = g->size > 1 ? (g->size - 1.0) / g->size : 0;

    return share > 0 ? g->tree_s + flow(g, 2 * share * bytes, g->byte_s) : 0;
}

double all_gather_time(const struct collective_group *g, double bytes)
{
    double share = g->size > 1 ? (g->size - 1.0) / g->size : 0;

    return share > 0 ? g->ring_s + flow(g, share * bytes, g->gather_byte_s) : 0;
}

double all_to_all_time(const struct collective_group *g, double bytes)
{
    double share = g->size > 1 ? (g->size - 1.0) / g->size : 0;

    if (!(share > 0))
        return 0;
    return g->ring_s + flow(g, share * bytes, fmax(g->near_byte_s, g->away_byte_s));
}

double dispatch_time(const struct collective_group *g, double bytes, double copies, double most)
{
    double share = g->size > 1 ? (g->size - 1.0) / g->size : 0, n = g->domains, reached;

    if (!(share > 0))
        return 0;
    reached = n * (1 - pow(1 - 1 / n, copies)); /* domains that a row goes to, in the mean */
    reached = fmin(reached, most);
    return g->ring_s +
           flow(g, share * bytes, fmax(g->near_byte_s, g->away_byte_s * fmin(reached / copies, 1)));
}

double send_time(const struct cluster *c, int stride, double bytes)
{
    double nic = c->nics * c->nic_rate * nic_best / c->per_node;

    if (stride < c->domain)
        return c->link_latency_s * 2 + bytes / (c->link_rate * c->gpu.link_best);
    return c->nic_latency_s * 2 + bytes / nic;
}
