/* Intel accelerators without a library. Device memory is what the second BAR maps (the i915 and xe
 * drivers resize it to all of it); Gaudi says more in its own class. */
#include <errno.h>
#include <string.h>

#include "base/parse.h"
#include "probe/source/fact.h"

enum { VENDOR_INTEL = 0x8086, VENDOR_HABANA = 0x1da3, BAR_MEMORY = 2, BAR_GAUDI = 4 };

/* The size of a BAR: line i of the resource file, "0xSTART 0xEND 0xFLAGS". */
static int64_t bar_size(const char *text, int bar)
{
    uint64_t start, end;
    int digits;

    for (int i = 0; i < bar; i++) {
        text = strchr(text, '\n');
        if (!text)
            return ABSENT;
        text++;
    }
    digits = strncmp(text, "0x", 2) ? 0 : parse_digits(text + 2, 16, 16, &start);
    text += 2 + digits;
    if (!digits || strncmp(text, " 0x", 3) != 0 || !parse_digits(text + 3, 16, 16, &end) ||
        end <= start || end - start >= INT64_MAX)
        return ABSENT;
    return (int64_t)(end - start + 1);
}

static int read_device(struct probe *p, struct node *n, struct device *d)
{
    const struct pci *f = &n->pcis[d->pci];
    char path[TREE_PATH], text[2048];
    int rc;

    if (fact_path(path, f->path, "resource") == 0 &&
        tree_read(p->tree, path, text, sizeof(text)) > 0)
        d->acc.memory_b = bar_size(text, f->vendor == VENDOR_HABANA ? BAR_GAUDI : BAR_MEMORY);
    rc = fact_text(p, n, f->path, "vbios_version", &d->acc.vbios);
    if (rc == 0)
        rc = fact_text(p, n, f->path, "unique_id", &d->acc.uuid);
    return rc;
}

static int intel_read(struct probe *p, struct node *n, struct err *e)
{
    int rc = 0;

    for (size_t i = 0; i < n->n_devices && rc == 0; i++) {
        struct device *d = &n->devices[i];
        const struct pci *f = node_pci(n, d->pci);
        uint16_t vendor = f ? f->vendor : 0;

        if (d->kind == DEVICE_ACCELERATOR && (vendor == VENDOR_INTEL || vendor == VENDOR_HABANA))
            rc = read_device(p, n, d);
    }
    return rc < 0 ? err_nomem(e) : 0;
}

const struct source_ops source_intel = {
    .name = "intel",
    .what = "Intel accelerators, from sysfs",
    .read = intel_read,
};
