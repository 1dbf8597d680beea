/* The fields of a machine, with values to set them to: for sweeps that ask what each is worth. */
#ifndef BRIM_TESTS_MACHINE_FIELDS_H
#define BRIM_TESTS_MACHINE_FIELDS_H
#include <stdio.h>
#include <string.h>

#include "model/machine/machine.h"
#include "new_lines.h"

enum { FIELD_VALUES = 12, FIELD_NAME = 64, FIELD_ROOM = 8 << 20 };

enum field_type { FIELD_INT, FIELD_INT64, FIELD_WORD, FIELD_BOOL, FIELD_DOUBLE, FIELD_TEXT };

/* What has the field. */
enum field_of { OF_NODE, OF_SOCKET, OF_NUMA, OF_PCI, OF_DEVICE, OF_PORT, OF_LINK, OF_SLOT };

struct field {
    enum field_of of;
    const char *name;
    enum field_type type;
    size_t offset;
    double values[FIELD_VALUES]; /* a 7 behind the last */
    const char *texts[FIELD_VALUES];
};

#define FIELD_END 7
#define FIELD_NUMBER(of_, struct_, member, type_, ...) \
    { \
        of_, #member, type_, offsetof(struct struct_, member), { __VA_ARGS__, FIELD_END }, \
        { \
            NULL \
        } \
    }
#define FIELD_WORDS(of_, struct_, member, ...) \
    { \
        of_, #member, FIELD_TEXT, offsetof(struct struct_, member), { 0 }, \
        { \
            __VA_ARGS__, NULL \
        } \
    }

static const struct field fields[] = {
    /* clang-format off */
    FIELD_WORDS(OF_NODE, node, board, "-", "b<1>"),
    FIELD_WORDS(OF_NODE, node, kernel, "-", "k"),
    FIELD_WORDS(OF_NODE, node, cpu_model, "-", "AMD EPYC 9654 96-Core Processor", "c"),
    FIELD_WORDS(OF_NODE, node, cpu_arch, "-", "aarch64"),
    FIELD_WORDS(OF_NODE, node, cpu_vendor, "-", "AuthenticAMD"),
    FIELD_NUMBER(OF_NODE, node, cpu_family, FIELD_INT, -1, 25),
    FIELD_NUMBER(OF_NODE, node, cpu_number, FIELD_INT, -1, 85),
    FIELD_NUMBER(OF_NODE, node, virtual_machine, FIELD_INT, -1, 0, 1),
    FIELD_NUMBER(OF_NODE, node, memory_b, FIELD_INT64, -1, 0, 1e9, 549755813888.0, 1e12, 9e12),
    FIELD_WORDS(OF_NODE, node, set.governor, "-", "performance", "powersave", "mixed"),
    FIELD_WORDS(OF_NODE, node, set.clocksource, "-", "tsc", "hpet", "kvm-clock", "arch_sys_counter",
                "hyperv_clocksource_tsc_page"),
    FIELD_WORDS(OF_NODE, node, set.thp, "-", "always", "never", "madvise"),
    FIELD_WORDS(OF_NODE, node, set.cmdline, "-", "", "iommu=on"),
    FIELD_NUMBER(OF_NODE, node, set.numa_balancing, FIELD_INT, -1, 0, 1, 2),
    FIELD_NUMBER(OF_NODE, node, set.memlock_b, FIELD_INT64, -1, 0, 65536, 549755813887.0,
                 549755813888.0),
    FIELD_NUMBER(OF_NODE, node, set.nofile, FIELD_INT64, -1, 0, 1024, 65535, 65536),
    FIELD_NUMBER(OF_NODE, node, set.shm_b, FIELD_INT64, -1, 0, 67108864, 494780232454.0,
                 494780232465.0),
    FIELD_NUMBER(OF_NODE, node, set.swap_b, FIELD_INT64, -1, 0, 1, 8589934592.0),
    FIELD_NUMBER(OF_NODE, node, set.iommu_groups, FIELD_INT, -1, 0, 1, 90),
    FIELD_WORDS(OF_NODE, node, set.iommu_type, "-", "identity", "DMA", "DMA-FQ"),
    FIELD_NUMBER(OF_NODE, node, set.peermem, FIELD_INT, -1, 0, 1),
    FIELD_NUMBER(OF_NODE, node, set.dmabuf, FIELD_INT, -1, 0, 1),
    FIELD_WORDS(OF_NODE, node, set.gpu_driver, "-", "d"),
    FIELD_NUMBER(OF_NODE, node, set.open_driver, FIELD_INT, -1, 0, 1),
    FIELD_NUMBER(OF_SOCKET, socket, id, FIELD_INT, 5),
    FIELD_NUMBER(OF_SOCKET, socket, cores, FIELD_INT, -1, 0, 9),
    FIELD_NUMBER(OF_SOCKET, socket, threads, FIELD_INT, -1, 0, 9),
    FIELD_NUMBER(OF_NUMA, numa, id, FIELD_INT, 5),
    FIELD_NUMBER(OF_NUMA, numa, socket, FIELD_INT, -1, 0, 1),
    FIELD_WORDS(OF_NUMA, numa, cpus, "", "0-127"),
    FIELD_NUMBER(OF_NUMA, numa, threads, FIELD_INT, -1, 0, 9),
    FIELD_NUMBER(OF_NUMA, numa, memory_b, FIELD_INT64, -1, 0, 1, 85899345920.0, 66e9),
    FIELD_NUMBER(OF_PCI, pci, kind, FIELD_INT, 1, 2, 3, 4, 5),
    FIELD_NUMBER(OF_PCI, pci, parent, FIELD_INT, -1, 0),
    FIELD_NUMBER(OF_PCI, pci, numa, FIELD_INT, -1, 0, 1),
    FIELD_NUMBER(OF_PCI, pci, class_code, FIELD_INT, 0, 197120, 196608, 133120),
    FIELD_NUMBER(OF_PCI, pci, vendor, FIELD_WORD, 0, 0x1000, 0x1002, 0x1022, 0x10de, 0x10b5, 0x11f8,
                 0x1b21, 0x8086),
    FIELD_WORDS(OF_PCI, pci, driver, "-", "nouveau", "vfio-pci"),
    FIELD_WORDS(OF_PCI, pci, path, "-", "p"),
    FIELD_NUMBER(OF_PCI, pci, gts, FIELD_DOUBLE, -1, 0, 2.5, 12, 16, 31.98, 31.995, 64),
    FIELD_NUMBER(OF_PCI, pci, gts_max, FIELD_DOUBLE, -1, 0, 8, 12, 16, 24, 64),
    FIELD_NUMBER(OF_PCI, pci, width, FIELD_INT, -1, 0, 1, 8, 15, 32),
    FIELD_NUMBER(OF_PCI, pci, width_max, FIELD_INT, -1, 0, 1, 8, 12, 13, 32),
    FIELD_NUMBER(OF_PCI, pci, max_payload_b, FIELD_INT, -1, 0, 128, 129, 512),
    FIELD_NUMBER(OF_PCI, pci, max_payload_cap_b, FIELD_INT, -1, 128, 256),
    FIELD_NUMBER(OF_PCI, pci, max_read_b, FIELD_INT, -1, 0, 512, 4095, 4096),
    FIELD_NUMBER(OF_PCI, pci, relaxed_ordering, FIELD_INT, -1, 0, 1),
    FIELD_NUMBER(OF_PCI, pci, acs, FIELD_INT, -1, 0, 1, 4, 8, 16, 29),
    FIELD_NUMBER(OF_PCI, pci, config_seen, FIELD_BOOL, 0, 1),
    FIELD_NUMBER(OF_PCI, pci, pch, FIELD_BOOL, 0, 1),
    FIELD_NUMBER(OF_DEVICE, device, kind, FIELD_INT, 0, 1, 2, 3),
    FIELD_WORDS(OF_DEVICE, device, product, "-", "MODULE", "p&q"),
    FIELD_NUMBER(OF_DEVICE, device, catalogue, FIELD_INT, -1, 0, 1, 2),
    FIELD_NUMBER(OF_DEVICE, device, pci, FIELD_INT, -1),
    FIELD_NUMBER(OF_DEVICE, device, numa, FIELD_INT, -1, 0, 1),
    FIELD_WORDS(OF_DEVICE, device, acc.uuid, "u"),
    FIELD_WORDS(OF_DEVICE, device, acc.vbios, "-", "v"),
    FIELD_WORDS(OF_DEVICE, device, acc.arch, "-", "gfx942", "sm80", "a"),
    FIELD_NUMBER(OF_DEVICE, device, acc.memory_b, FIELD_INT64, -1, 0, 1e9, 85e9, 96e9),
    FIELD_NUMBER(OF_DEVICE, device, acc.persistence, FIELD_INT, -1, 0, 1),
    FIELD_NUMBER(OF_DEVICE, device, acc.ecc, FIELD_INT, -1, 0, 1),
    FIELD_NUMBER(OF_DEVICE, device, acc.ecc_pending, FIELD_INT, -1, 0, 1),
    FIELD_NUMBER(OF_DEVICE, device, acc.mig, FIELD_INT, -1, 0, 1),
    FIELD_NUMBER(OF_DEVICE, device, acc.power_limit_mw, FIELD_INT64, -1, 0, 1, 349000, 350000, 4e5),
    FIELD_NUMBER(OF_DEVICE, device, acc.power_default_mw, FIELD_INT64, -1, 0, 351000),
    FIELD_NUMBER(OF_DEVICE, device, acc.sm_clock_mhz, FIELD_INT, -1, 0, 900, 1980),
    FIELD_NUMBER(OF_DEVICE, device, acc.sm_clock_max_mhz, FIELD_INT, -1, 0, 900, 2500),
    FIELD_NUMBER(OF_DEVICE, device, acc.app_clock_mhz, FIELD_INT, -1, 0, 900, 1979, 1981),
    FIELD_NUMBER(OF_DEVICE, device, acc.app_clock_default_mhz, FIELD_INT, -1, 0, 1981),
    FIELD_NUMBER(OF_DEVICE, device, acc.gen_max, FIELD_INT, -1, 0, 3, 6),
    FIELD_NUMBER(OF_DEVICE, device, acc.width_max, FIELD_INT, -1, 8, 32),
    FIELD_NUMBER(OF_DEVICE, device, acc.links_up, FIELD_INT, -1, 0, 1, 17, 18),
    FIELD_NUMBER(OF_DEVICE, device, acc.links_down, FIELD_INT, -1, 0, 1, 18),
    FIELD_NUMBER(OF_DEVICE, device, acc.fabric, FIELD_INT, -1, 0, 1),
    FIELD_NUMBER(OF_DEVICE, device, acc.lost, FIELD_BOOL, 0, 1),
    FIELD_NUMBER(OF_DEVICE, device, acc.cores, FIELD_INT, -1, 0, 1, 56),
    FIELD_WORDS(OF_DEVICE, device, nic.rdma, "-", "mlx5_9"),
    FIELD_WORDS(OF_DEVICE, device, nic.firmware, "-", "f"),
    FIELD_WORDS(OF_DEVICE, device, nic.board_id, "-", "i"),
    FIELD_NUMBER(OF_DEVICE, device, capacity_b, FIELD_INT64, -1, 0, 999, 1e9, 3.84e12),
    FIELD_WORDS(OF_DEVICE, device, firmware, "-", "f"),
    FIELD_NUMBER(OF_PORT, nic_port, number, FIELD_INT, 2),
    FIELD_NUMBER(OF_PORT, nic_port, layer, FIELD_INT, 0, 1),
    FIELD_NUMBER(OF_PORT, nic_port, up, FIELD_INT, -1, 0, 1),
    FIELD_WORDS(OF_PORT, nic_port, state, "-", "s"),
    FIELD_NUMBER(OF_PORT, nic_port, gbps, FIELD_DOUBLE, -1, 0, 2.5, 99.9, 100, 399, 400, 800),
    FIELD_WORDS(OF_PORT, nic_port, netdev, "-", "eth7"),
    FIELD_NUMBER(OF_PORT, nic_port, mtu, FIELD_INT, -1, 0, 1500, 2043, 2044, 8999, 9000),
    FIELD_WORDS(OF_PORT, nic_port, guid, "-", "0x1"),
    FIELD_NUMBER(OF_LINK, link, kind, FIELD_INT, 0, 1, 2, 3, 4, 5),
    FIELD_NUMBER(OF_LINK, link, a, FIELD_INT, 0, 1, 2),
    FIELD_NUMBER(OF_LINK, link, b, FIELD_INT, -1, 0, 2),
    FIELD_NUMBER(OF_LINK, link, numa, FIELD_INT, -1, 0, 1),
    FIELD_NUMBER(OF_LINK, link, count, FIELD_INT, 0, 1, 2, 18),
    FIELD_NUMBER(OF_LINK, link, gbs, FIELD_DOUBLE, -1, 0, 3, 50, 64),
    FIELD_NUMBER(OF_SLOT, slot, numa, FIELD_INT, -1, 0, 1),
    FIELD_NUMBER(OF_SLOT, slot, gts_max, FIELD_DOUBLE, -1, 16, 31.98, 31.995, 64),
    FIELD_NUMBER(OF_SLOT, slot, width_max, FIELD_INT, -1, 8, 9, 32),
    /* clang-format on */
};

/* The i-th thing that may have a field; NULL behind the last, or where the field is none of its. */
static inline void *field_owner(struct node *n, enum field_of of, size_t i)
{
    size_t at = 0;

    switch (of) {
    case OF_NODE:
        return i < 1 ? n : NULL;
    case OF_SOCKET:
        return i < n->n_sockets ? &n->sockets[i] : NULL;
    case OF_NUMA:
        return i < n->n_numas ? &n->numas[i] : NULL;
    case OF_PCI:
        return i < n->n_pcis ? &n->pcis[i] : NULL;
    case OF_DEVICE:
        return i < n->n_devices ? &n->devices[i] : NULL;
    case OF_LINK:
        return i < n->n_links ? &n->links[i] : NULL;
    case OF_SLOT:
        return i < n->n_slots ? &n->slots[i] : NULL;
    case OF_PORT:
        for (size_t d = 0; d < n->n_devices; d++)
            for (size_t p = 0; p < n->devices[d].nic.n_ports; p++)
                if (at++ == i)
                    return &n->devices[d].nic.ports[p];
        return NULL;
    }
    return NULL;
}

/* Set a field of the i-th owner to its k-th value, and say so in 'name': false behind the last. */
static inline bool field_set(struct node *n, const struct field *f, size_t i, size_t k,
                             char name[FIELD_NAME])
{
    static const char *const owners[] = { "node",   "socket", "numa", "pci",
                                          "device", "port",   "link", "slot" };
    char *at = field_owner(n, f->of, i);
    double x = k < FIELD_VALUES ? f->values[k] : FIELD_END;
    const char *text = k < FIELD_VALUES ? f->texts[k] : NULL;

    if (!at || (f->type == FIELD_TEXT ? !text : x > FIELD_END - 0.5 && x < FIELD_END + 0.5))
        return false;
    if (!strcmp(f->name, "parent") && x >= (double)i)
        return false; /* what is above comes first */
    at += f->offset;
    if (f->type == FIELD_TEXT) {
        *(const char **)(void *)at = strcmp(text, "-") ? text : NULL;
        snprintf(name, FIELD_NAME, "%s %zu %s %s", owners[f->of], i, f->name, text);
        return true;
    }
    if (f->type == FIELD_INT)
        *(int *)(void *)at = (int)x;
    else if (f->type == FIELD_INT64)
        *(int64_t *)(void *)at = (int64_t)x;
    else if (f->type == FIELD_WORD)
        *(uint16_t *)(void *)at = (uint16_t)x;
    else if (f->type == FIELD_BOOL)
        *(bool *)(void *)at = x > 0;
    else
        *(double *)(void *)at = x;
    snprintf(name, FIELD_NAME, "%s %zu %s %.12g", owners[f->of], i, f->name, x);
    return true;
}

/* A machine made anew for each value, and what is told of it, each line with its end. */
struct fields_ops {
    struct node *(*make)(void *ctx);
    void (*tell)(void *ctx, struct str *out);
    void (*done)(void *ctx);
};

/* What is told of the machine, and of it with each value of each field the lines that are new. */
static inline void fields_sweep(const struct fields_ops *ops, void *ctx, struct str *out)
{
    CLEANUP(str_done) struct str before = STR_INIT(FIELD_ROOM), now = STR_INIT(FIELD_ROOM);

    ops->make(ctx);
    ops->tell(ctx, &before);
    ops->done(ctx);
    str_add(out, str_text(&before));
    for (const struct field *f = fields; f < fields + ARRAY_SIZE(fields); f++)
        for (size_t i = 0, k = 0;;) {
            struct node *n = ops->make(ctx);
            bool there = field_owner(n, f->of, i) != NULL;
            char name[FIELD_NAME] = "";

            if (field_set(n, f, i, k++, name)) {
                str_reset(&now);
                ops->tell(ctx, &now);
                if (strcmp(str_text(&now), str_text(&before)) != 0) {
                    str_addf(out, "%s\n", name);
                    new_lines(out, str_text(&now), str_text(&before));
                }
            } else {
                i++;
                k = 0;
            }
            ops->done(ctx);
            if (!there)
                break;
        }
}

#endif
