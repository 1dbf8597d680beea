/* The devices of a node as a person draws them: below their NUMA domain, PCIe switches as inner
 * nodes, everything else of the PCIe tree left out (host bridges, root and downstream ports,
 * switches that belong to an accelerator's board or lead to nothing that is shown, NVSwitches). */
#ifndef BRIM_RENDER_MACHINE_OUTLINE_H
#define BRIM_RENDER_MACHINE_OUTLINE_H
#include "model/machine/machine.h"

struct outline_item {
    int device;   /* index; ABSENT for a switch */
    int pci;      /* whose link joins it to what is above; ABSENT for a device off PCI */
    int parent;   /* the item of the switch above, ABSENT directly below the domain */
    int numa;     /* index of the domain; ABSENT when not known */
    int depth;    /* 0 directly below the domain */
    int n_leaves; /* devices at or below it */
    bool last;    /* of its siblings */
};

struct outline {
    struct arena arena;
    struct outline_item *items; /* by domain (that which is not known last), depth first */
    size_t count;
    int max_depth;
};

/* 0 or -ENOMEM. */
int outline_build(struct outline *ret, const struct node *n) CHECK_RESULT;
void outline_done(struct outline *o);

#endif
