/* What tables of measured runs say of the network between nodes, in words. */
#ifndef BRIM_PLAN_MEASURED_ROWS_NETWORK_H
#define BRIM_PLAN_MEASURED_ROWS_NETWORK_H
#include <stdbool.h>

enum { ROW_PHRASE = 56 };

/* A node as its vendor builds it, for what a text leaves out. */
struct row_node {
    const char *gpu; /* as the table calls it */
    bool is_new;     /* Hopper or later */
    int gpus;
    int ports; /* of the vendor's node, in proportion to its GPUs; 0: not known, one for each GPU */
};

struct row_network {
    double rate;             /* bytes a second of all network cards of a node; 0: not understood */
    char phrase[ROW_PHRASE]; /* the words that say so, or that were not understood */
    bool ports_assumed;      /* a rate of one port is stated and not their number */
};

/* A rate is that of a node ("800Gb/s", "1.6 Tb/s per node"), of each GPU ("400 Gb/s per GPU") or of
 * each port ("4x100Gb", "8xHDR 200Gb/s per node", "8 NICs of 400 Gb/s", "200 Gb/s HDR", "NDR"), by
 * the words beside it. Generations of InfiniBand, Omni-Path, Slingshot and ConnectX have the rate
 * of one of their ports, EFA that of Amazon's nodes. Rates of NVLink, memory and storage are none
 * of a network. Where the rates of several GPUs are stated, the one behind the name of this one.
 * False: the text says nothing of a network; else *ret is set. */
bool row_network_read(const char *text, const struct row_node *node, struct row_network *ret);

#endif
