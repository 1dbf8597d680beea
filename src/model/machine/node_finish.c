/* The last step of building a node: devices in their final order, with numbers and names. */
#include "model/machine/machine.h"

#include <errno.h>
#include <string.h>

/* Accelerators first, in PCI order, as drivers count them; a device without a PCI function keeps
 * its place behind those that have one. */
static int device_cmp(const struct node *n, int a, int b)
{
    const struct device *x = &n->devices[a], *y = &n->devices[b];
    int order = COMPARE(x->kind, y->kind);

    if (!order)
        order = (x->pci < 0) - (y->pci < 0);
    if (!order && x->pci >= 0)
        order = pci_address_cmp(n->pcis[x->pci].at, n->pcis[y->pci].at);
    return order ? order : COMPARE(a, b);
}

/* Insertion sort: a node has tens of devices, mostly in order already. */
static void sort_order(const struct node *n, int *order)
{
    for (int i = 0; i < (int)n->n_devices; i++) {
        int at = i;

        for (; at > 0 && device_cmp(n, i, order[at - 1]) < 0; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

static int name_devices(struct node *n)
{
    static const char *const stem[] = {
        [DEVICE_ACCELERATOR] = "GPU",
        [DEVICE_SWITCH] = "NVSwitch",
        [DEVICE_NIC] = "NIC",
        [DEVICE_NVME] = "nvme",
    };
    int counts[ARRAY_SIZE(stem)] = { 0 };

    for (size_t i = 0; i < n->n_devices; i++) {
        struct device *d = &n->devices[i];

        d->index = counts[d->kind]++;
        if (!d->name)
            d->name = arena_printf(&n->arena, "%s%d", stem[d->kind], d->index);
        if (!d->name)
            return -ENOMEM;
    }
    return 0;
}

/* The peers of accelerators move with them. rank[i] is the number of device i among
 * accelerators. */
static int permute_peers(struct node *n, const int *order, const int *rank)
{
    uint8_t *moved = arena_alloc(&n->arena, n->n_acc * n->n_acc);

    if (!moved)
        return -ENOMEM;
    for (size_t a = 0; a < n->n_acc; a++)
        for (size_t b = 0; b < n->n_acc; b++)
            moved[a * n->n_acc + b] =
                n->peers[(size_t)rank[order[a]] * n->n_acc + (size_t)rank[order[b]]];
    n->peers = moved;
    return 0;
}

int node_settle(struct node *n)
{
    size_t count = n->n_devices;
    int *order = arena_alloc(&n->arena, count * sizeof(*order));
    int *place = arena_alloc(&n->arena, count * sizeof(*place));
    int *rank = arena_alloc(&n->arena, count * sizeof(*rank));
    struct device *sorted = arena_alloc(&n->arena, count * sizeof(*sorted));
    int accelerators = 0;

    if (!order || !place || !rank || !sorted)
        return -ENOMEM;
    sort_order(n, order);
    for (size_t i = 0; i < count; i++) {
        rank[i] = n->devices[i].kind == DEVICE_ACCELERATOR ? accelerators++ : 0;
        sorted[i] = n->devices[order[i]];
        place[order[i]] = (int)i;
    }
    if (n->peers && permute_peers(n, order, rank) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < n->n_links; i++) {
        n->links[i].a = place[n->links[i].a];
        if (n->links[i].b >= 0)
            n->links[i].b = place[n->links[i].b];
    }
    if (count > 0) /* where they were: another may come behind them */
        memcpy(n->devices, sorted, count * sizeof(*sorted));
    return name_devices(n);
}
