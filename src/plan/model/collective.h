/* Time of collectives over a group of GPUs, with the ways between them: the fast domain inside, the
 * node's network cards, shared among the groups of a node, and the switches above. */
#ifndef BRIM_PLAN_MODEL_COLLECTIVE_H
#define BRIM_PLAN_MODEL_COLLECTIVE_H
#include "plan/cluster/cluster.h"

/* 'size' GPUs, one of every 'stride'. Made once for a layout, used for many sizes of message. */
struct collective_group {
    int size;
    int inside;  /* members in one fast domain */
    int domains; /* that it spans */
    /* Of a ring through all: the time that a byte of bus traffic takes, on the slowest hop. */
    double byte_s, gather_byte_s; /* all-reduce; all-gather, reduce-scatter */
    /* All-to-all, of a byte that leaves the GPU: what goes to its domain and to others, at once. */
    double near_byte_s, away_byte_s;
    double tree_s, ring_s; /* latency of an all-reduce; of a ring's once around */
    double busy;           /* of that time, the share that its copies on the GPU take */
    double fill_s;         /* until a large message flows, see gpu.link_fill_s */
};

struct collective_group collective_group_make(const struct cluster *c, int size, int stride);

/* The same, but collectives between domains have no more of the network than each GPU's own part of
 * its node's ports. */
struct collective_group collective_group_of_ports(const struct cluster *c, int size, int stride);

/* Seconds for 'bytes' of the whole message: what every GPU has after an all-gather, before a
 * reduce-scatter, and before and after an all-reduce; what it sends to all others and itself in an
 * all-to-all. 0 for a group of one. */
double all_reduce_time(const struct collective_group *g, double bytes);
double all_gather_time(const struct collective_group *g, double bytes);
double all_to_all_time(const struct collective_group *g, double bytes);

/* Rows to experts: 'copies' of each, in sum bytes. A row crosses to a domain once, and is copied
 * there (DeepEP and its like), so fewer bytes leave the domain; it goes to 'most' domains at
 * most. */
double dispatch_time(const struct collective_group *g, double bytes, double copies, double most);

/* One GPU to the one 'stride' further: every GPU of its node does so at the same time. */
double send_time(const struct cluster *c, int stride, double bytes);

#endif
