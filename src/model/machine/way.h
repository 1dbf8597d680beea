/* The ways between devices of a node: their class, named as `nvidia-smi topo -m` does, and
 * bottleneck. */
#ifndef BRIM_MODEL_MACHINE_WAY_H
#define BRIM_MODEL_MACHINE_WAY_H
#include "model/machine/machine.h"

enum way_class {
    WAY_SELF, /* X */
    WAY_NV,   /* NV#: # NVLinks, direct or through NVSwitch (XG#: xGMI, HC#: HCCS, XL#: Xe Link) */
    WAY_C2C,
    WAY_PIX,  /* one PCIe switch at most */
    WAY_PXB,  /* several PCIe switches, no host bridge */
    WAY_PHB,  /* through one host bridge */
    WAY_NODE, /* between host bridges of one NUMA domain */
    WAY_SYS,  /* across NUMA domains */
    WAY_UNKNOWN,
};

struct way {
    enum way_class class;
    enum link_kind link; /* WAY_NV */
    int count;           /* WAY_NV: links that carry it */
    double gbs;          /* bottleneck, one direction; ABSENT when unknown */
    int limit;           /* the PCI function whose link is the bottleneck; ABSENT */
};

/* The way between devices a and b: pure, O(depth of the PCIe tree + links). */
struct way way_between(const struct node *n, int a, int b);

/* The PCIe way alone, as if there were no NVLink: what a NIC or a copy to the host sees. */
struct way way_over_pcie(const struct node *n, int a, int b);

/* "NV18", "PIX", "SYS"; "?" when unknown. */
enum { WAY_TEXT = 16 };
const char *way_text(const struct way *w, char buf[WAY_TEXT]);

/* The bridge at which the ways of two functions meet, an index; ABSENT when they meet nowhere below
 * the CPU (different host bridges). */
int way_meet(const struct node *n, int pci_a, int pci_b);

#endif
