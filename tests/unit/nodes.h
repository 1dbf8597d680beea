/* Machines built by hand, as small as a test needs; a program that runs out of memory here ends. */
#ifndef BRIM_TESTS_NODES_H
#define BRIM_TESTS_NODES_H
#include "base/str.h"
#include "model/machine/catalogue.h"
#include "model/machine/machine.h"
#include "model/verdict/finding.h"

/* A node with that many NUMA domains, each of a socket of its own: "0-3", "4-7" ... */
struct node *nodes_new(int domains);

/* Add a PCI function or a host bridge: Gen5 x16, all else well set, in the NUMA domain of its
 * parent (ABSENT: of none). Returns its index. */
int nodes_pci(struct node *n, enum pci_kind kind, int parent, const char *address);

/* A host bridge with a NUMA domain and a root port below it; returns the root port. */
int nodes_root(struct node *n, int domain, const char *bridge, const char *port);

/* An upstream port and two downstream ports below it: bus:00.0, bus+1:00.0, bus+1:01.0. Returns the
 * index of the upstream port; the others follow it. */
int nodes_switch(struct node *n, int parent, unsigned bus);

/* A device with its function below 'parent': an NVIDIA GPU, a ConnectX with a port of 400 Gb/s, a
 * drive, an NVSwitch. Without an address it has no function. Returns its index. */
int nodes_device(struct node *n, enum device_kind kind, int parent, const char *address);

/* Links between devices a and b (ABSENT: to a fabric), 25 GB/s each. */
void nodes_link(struct node *n, enum link_kind kind, int a, int b, int count);

/* A machine on which every check of the audit passes, and what one check says about it. Two
 * sockets; on each a switch with a GPU and an RDMA NIC below it:
 *
 *     0000:00 - 00:01.0 - switch 10:00.0 - 11:00.0 - GPU0 12:00.0
 *                                        - 11:01.0 - mlx5_0 13:00.0
 *     0000:80 - 80:01.0 - switch 90:00.0 - 91:00.0 - GPU1 92:00.0
 *                                        - 91:01.0 - mlx5_1 93:00.0 */
struct scene {
    struct node *n;
    struct device *gpu[2], *nic[2];
    struct pci *gpu_pci[2], *nic_pci[2];
    struct catalogue catalogue;
    struct findings found;
    struct str said;
};

void scene_init(struct scene *s);
void scene_done(struct scene *s);

/* Point gpu, nic and so on at the parts again, after some were added. */
void scene_look(struct scene *s);

/* What a check says: "passed", "silent" (its subject is not there), or a line for each finding:
 * "warning: SENTENCE". Valid until the next call. */
const char *scene_check(struct scene *s, const char *check);

/* The other texts of finding i of that check: "evidence\neffect\naction". */
const char *scene_told(struct scene *s, size_t i);

#endif
