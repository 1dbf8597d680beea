#include "render/machine/outline.h"

#include <errno.h>

#include "render/machine/pcie_link_text.h"

/* Work space, one element per PCI function or device. */
struct scratch {
    const struct node *node;
    struct outline *out;
    bool *shown; /* PCI functions: is a switch that is shown */
    bool *own;   /* PCI functions: belongs to the board of a device */
    int *numa;   /* PCI functions: domain of what is below, where they do not say themselves */
};

/* The switch that is shown above a function, ABSENT for none. */
static int switch_above(const struct scratch *s, int pci)
{
    if (pci < 0)
        return ABSENT;
    for (pci = s->node->pcis[pci].parent; pci >= 0; pci = s->node->pcis[pci].parent)
        if (s->shown[pci])
            return pci;
    return ABSENT;
}

static void mark(struct scratch *s, const struct device *d)
{
    const struct node *n = s->node;
    int port = pcie_link_board_port(n, d);

    for (int p = d->pci; p >= 0; p = n->pcis[p].parent) {
        if (s->numa[p] < 0)
            s->numa[p] = d->numa;
        if (p != d->pci && p >= port)
            s->own[p] = true;
        s->shown[p] |= p < port && n->pcis[p].kind == PCI_SWITCH_UP;
    }
}

/* The domain below which an item at the top stands. */
static int domain_of(const struct scratch *s, int pci, const struct device *d)
{
    int numa = d ? d->numa : ABSENT;

    for (int p = pci; p >= 0 && numa < 0; p = s->node->pcis[p].parent)
        numa = s->node->pcis[p].numa;
    if (numa < 0 && pci >= 0)
        numa = s->numa[pci];
    if (numa < 0 && s->node->n_numas == 1)
        numa = 0; /* only one domain: the firmware need not say which */
    return numa;
}

/* What hangs directly below a switch (or, for above ABSENT, a domain): the shown switches and the
 * devices, in the order of their PCI functions. next is where to go on, 0 at first: functions, then
 * the devices that have none. Returns false behind the last. */
static bool next_below(const struct scratch *s, int above, int numa, size_t *next,
                       struct outline_item *ret)
{
    const struct node *n = s->node;
    size_t slots = n->n_devices + 1; /* of a function: itself as a switch, then each device on it */

    for (; *next < (n->n_pcis + 1) * slots; ++*next) {
        size_t at = *next / slots, slot = *next % slots;
        int pci = at < n->n_pcis ? (int)at : ABSENT;
        const struct device *d = slot ? &n->devices[slot - 1] : NULL;

        if (d ? d->pci != pci || d->kind == DEVICE_SWITCH : pci < 0 || !s->shown[pci])
            continue;
        if (switch_above(s, pci) != above || (above < 0 && domain_of(s, pci, d) != numa))
            continue;
        *ret = (struct outline_item){ .device = d ? (int)slot - 1 : ABSENT,
                                      .pci = d ? pcie_link_board_port(n, d) : pci,
                                      .parent = ABSENT,
                                      .numa = numa };
        ++*next;
        return true;
    }
    return false;
}

static int add_below(struct scratch *s, int parent, int numa)
{
    struct outline *o = s->out;
    int above = parent >= 0 ? o->items[parent].pci : ABSENT;
    int depth = parent >= 0 ? o->items[parent].depth + 1 : 0, previous = ABSENT;
    struct outline_item one;
    size_t next = 0;

    while (next_below(s, above, numa, &next, &one)) {
        struct outline_item *item = ARENA_PUSH(&o->arena, &o->items, &o->count);
        int at = (int)o->count - 1;

        if (!item)
            return -ENOMEM;
        *item = one;
        item->parent = parent;
        item->depth = depth;
        item->last = true;
        if (previous >= 0)
            o->items[previous].last = false;
        previous = at;
        o->max_depth = MAX(o->max_depth, depth);
        for (int up = one.device >= 0 ? at : ABSENT; up >= 0; up = o->items[up].parent)
            o->items[up].n_leaves++;
        if (one.device < 0 && add_below(s, at, numa) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int build(struct scratch *s)
{
    const struct node *n = s->node;
    int rc = 0;

    for (size_t i = 0; i < n->n_pcis; i++)
        s->numa[i] = ABSENT;
    for (size_t i = 0; i < n->n_devices; i++)
        if (n->devices[i].kind != DEVICE_SWITCH)
            mark(s, &n->devices[i]);
    for (size_t i = 0; i < n->n_pcis; i++)
        s->shown[i] = s->shown[i] && !s->own[i];
    for (int numa = 0; numa < (int)n->n_numas && rc == 0; numa++)
        rc = add_below(s, ABSENT, numa);
    return rc < 0 ? rc : add_below(s, ABSENT, ABSENT);
}

int outline_build(struct outline *ret, const struct node *n)
{
    CLEANUP(freep) bool *flags = calloc(2 * n->n_pcis + 1, sizeof(*flags));
    CLEANUP(freep) int *numa = calloc(n->n_pcis + 1, sizeof(*numa));
    struct outline o = { .count = 0 };
    struct scratch s = { n, &o, flags, flags ? flags + n->n_pcis : NULL, numa };

    if (!flags || !numa)
        return -ENOMEM;
    if (build(&s) < 0) {
        outline_done(&o);
        return -ENOMEM;
    }
    *ret = o;
    return 0;
}

void outline_done(struct outline *o)
{
    arena_done(&o->arena);
    *o = (struct outline){ .count = 0 };
}
