/* The source "dcmi": Ascend NPUs as their driver knows them. */
#include "probe/ascend/dcmi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/source/driver_source.h"

enum { VENDOR_HUAWEI = 0x19e5 };

static int fill_device(struct node *n, struct device *d, const struct dcmi_chip *c)
{
    if (c->name[0]) {
        d->product = arena_printf(&n->arena, "%s%s%s", c->type, c->type[0] ? " " : "", c->name);
        d->acc.arch = arena_printf(&n->arena, "%s%s", c->type, c->name);
        if (!d->product || !d->acc.arch)
            return -ENOMEM;
    }
    if (c->memory_b != ABSENT)
        d->acc.memory_b = c->memory_b;
    d->acc.lost = c->lost;
    return 0;
}

int dcmi_apply(const struct dcmi_reading *r, struct node *n)
{
    for (unsigned i = 0; i < r->n_chips; i++) {
        const struct dcmi_chip *c = &r->chips[i];
        struct pci_address at;
        bool placed = pci_address_parse(c->bdf, &at) == 0;
        int d = driver_source_device(n, placed ? &at : NULL);

        if (d < 0 || fill_device(n, &n->devices[d], c) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* ---- the source ---- */

static int run(void *result, struct watch_where *where, struct err *e)
{
    return dcmi_lib_read(result, where, e);
}

static void write_text(const void *reading, struct str *out)
{
    dcmi_text_write(reading, out);
}

static int read_text(const char *name, const char *text, size_t len, void *reading, struct err *e)
{
    return dcmi_text_read(name, text, len, reading, e);
}

static const struct driver_source library_dcmi = {
    .source = "dcmi",
    .note = "brim/dcmi.ini",
    .vendor = VENDOR_HUAWEI,
    .text_max = DCMI_TEXT_MAX,
    .work = { run, sizeof(struct dcmi_reading), "NPU",
              "look at npu-smi info and dmesg; an NPU whose driver hangs needs a reset or a "
              "reboot" },
    .write = write_text,
    .read = read_text,
};

static int read_dcmi(struct probe *p, struct node *n, struct err *e)
{
    CLEANUP(freep) void *reading = NULL;
    int rc = driver_source_read(p, &library_dcmi, n, &reading, e);

    if (rc <= 0)
        return rc;
    return dcmi_apply(reading, n) < 0 ? err_nomem(e) : 0;
}

const struct source_ops source_dcmi = {
    .name = "dcmi",
    .what = "Ascend NPUs, from the driver's library DCMI",
    .read = read_dcmi,
};
