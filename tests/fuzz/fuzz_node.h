/* What holds of every node that was read, however bad the text was. */
#ifndef BRIM_TESTS_FUZZ_NODE_H
#define BRIM_TESTS_FUZZ_NODE_H
#include "fuzz.h"
#include "model/machine/way.h"

static inline bool fuzz_in(int index, size_t count)
{
    return index == ABSENT || (index >= 0 && (size_t)index < count);
}

static inline void check_parts(const struct node *n)
{
    for (size_t i = 0; i < n->n_pcis; i++) {
        check(fuzz_in(n->pcis[i].parent, i)); /* parents before children */
        check(fuzz_in(n->pcis[i].numa, n->n_numas));
        check(n->pcis[i].kind <= PCI_ENDPOINT);
    }
    for (size_t i = 0; i < n->n_numas; i++)
        check(fuzz_in(n->numas[i].socket, n->n_sockets) && n->numas[i].cpus);
    for (size_t i = 0; i < n->n_slots; i++)
        check(fuzz_in(n->slots[i].numa, n->n_numas));
    for (size_t i = 0; i < n->n_links; i++) {
        check(n->links[i].a >= 0 && fuzz_in(n->links[i].a, n->n_devices));
        check(fuzz_in(n->links[i].b, n->n_devices) && fuzz_in(n->links[i].numa, n->n_numas));
        check(n->links[i].a != n->links[i].b && n->links[i].count >= 0);
    }
}

static inline void check_devices(const struct node *n, size_t n_products)
{
    size_t accelerators = 0;

    for (size_t i = 0; i < n->n_devices; i++) {
        const struct device *d = &n->devices[i];

        check(d->name && fuzz_in(d->pci, n->n_pcis) && fuzz_in(d->numa, n->n_numas));
        check(fuzz_in(d->catalogue, n_products));
        check(i == 0 || n->devices[i - 1].kind <= d->kind);
        check(i == 0 || n->devices[i - 1].kind < d->kind ||
              n->devices[i - 1].index + 1 == d->index);
        accelerators += d->kind == DEVICE_ACCELERATOR;
    }
    check(accelerators == n->n_acc);
}

/* Ways are symmetric, and a bottleneck is no faster than any link. */
static inline void check_ways(const struct node *n)
{
    size_t count = MIN(n->n_devices, (size_t)16);
    char buf[WAY_TEXT];

    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < count; b++) {
            struct way w = way_between(n, (int)a, (int)b), back = way_between(n, (int)b, (int)a);

            check((w.class == WAY_SELF) == (a == b));
            check(w.class == back.class && w.count == back.count);
            check(fuzz_in(w.limit, n->n_pcis) && w.class <= WAY_UNKNOWN);
            check(strlen(way_text(&w, buf)) < WAY_TEXT);
        }
}

static inline void check_node(const struct node *n, size_t n_products)
{
    check(n->name);
    check_parts(n);
    check_devices(n, n_products);
    check_ways(n);
}

#endif
