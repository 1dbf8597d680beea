/* A machine that is made of files by hand, and what the sources know of it. */
#ifndef BRIM_TESTS_MADE_MACHINE_H
#define BRIM_TESTS_MADE_MACHINE_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "probe/kernel/pack.h"
#include "probe/sources.h"

enum { MADE_ROOM = 1 << 20, MADE_LIST = 8192 };

struct made {
    struct str pack;
    size_t entries;
    char functions[MADE_LIST]; /* names of PCI functions, a line each */
    const char *fake;          /* accelerators to invent; NULL */
    struct probe probe;        /* troubles of the last node */
};

#define MADE_INIT \
    { \
        .pack = STR_INIT(MADE_ROOM) \
    }

static inline void made_done(struct made *m)
{
    str_done(&m->pack);
}

static inline void made_add(struct made *m, char type, const char *path, const void *data,
                            size_t len)
{
    if (!m->entries++)
        pack_begin(&m->pack);
    pack_add(&m->pack, type, path, data, len);
}

static inline void made_file(struct made *m, const char *path, const char *text)
{
    made_add(m, 'f', path, text, strlen(text));
}

static inline void made_link(struct made *m, const char *path, const char *target)
{
    made_add(m, 'l', path, target, strlen(target));
}

/* A folder with these names in it, a line each. */
static inline void made_folder(struct made *m, const char *path, const char *names)
{
    made_add(m, 'd', path, names, strlen(names));
}

/* A file of a folder. */
static inline void made_in(struct made *m, const char *folder, const char *name, const char *text)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    made_file(m, path, text);
}

/* A PCI function: its folder below sys/devices, class, vendor and device ("0x8086"). */
static inline void made_function(struct made *m, const char *folder, const char *class,
                                 const char *vendor, const char *device)
{
    const char *name = strrchr(folder, '/') + 1;
    char path[512], target[512];
    size_t len = strlen(m->functions);

    snprintf(m->functions + len, sizeof(m->functions) - len, "%s\n", name);
    snprintf(path, sizeof(path), "sys/bus/pci/devices/%s", name);
    snprintf(target, sizeof(target), "../../../%s", strchr(folder, '/') + 1);
    made_link(m, path, target);
    made_in(m, folder, "class", class);
    made_in(m, folder, "vendor", vendor);
    made_in(m, folder, "device", device);
}

/* What is known of the machine; the test ends when that is nothing. */
static inline struct node *made_node(struct made *m, const struct catalogue *c)
{
    struct node *n = NULL;
    struct err e = { "" };

    if (*m->functions)
        made_folder(m, "sys/bus/pci/devices", m->functions);
    if (!m->entries)
        pack_begin(&m->pack);
    pack_end(&m->pack, m->entries);
    m->probe = (struct probe){ .catalogue = c, .fake = m->fake };
    if (tree_open_pack(&m->probe.tree, "made", str_text(&m->pack), m->pack.len, &e) != 0 ||
        probe_node(&m->probe, &n, &e) != 0) {
        printf("Bail out! %s\n", e.text);
        exit(1);
    }
    tree_close(m->probe.tree);
    return n;
}

/* The function of an address, or the device on it; NULL when there is none. */
static inline const struct pci *made_pci(const struct node *n, const char *address)
{
    struct pci_address at;

    return pci_address_parse(address, &at) < 0 ? NULL : node_pci(n, node_find_pci(n, at));
}

static inline const struct device *made_device(const struct node *n, const char *address)
{
    struct pci_address at;
    int i = pci_address_parse(address, &at) < 0 ? ABSENT : node_find_device_at(n, at);

    return i < 0 ? NULL : &n->devices[i];
}

#endif
