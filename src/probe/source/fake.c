/* Invented accelerators: "8xH100-SXM5-80GB", or those of a script, on top of the machine that is
 * there. For trying out
 * commands and for tests; every product of the catalogue can be invented. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/opt.h"
#include "probe/gpu/fake_spec.h"
#include "probe/source/source.h"

static const char *accelerator_name(const void *catalogue, size_t i)
{
    const struct product *p = &((const struct catalogue *)catalogue)->products[i];

    return p->kind == PRODUCT_ACCELERATOR ? p->name : "";
}

/* "8xNAME" or "NAME": the count and the row of the catalogue; ERR_USAGE with a sentence. */
static int parse(const struct catalogue *c, const char *spec, int *count, int *row, struct err *e)
{
    const char *name, *near;

    if (fake_read_count(spec, count, &name) < 0)
        return err_usage(e, "--fake %s: between 1 and %d devices can be invented", spec, FAKE_GPUS);
    *row = catalogue_find_name(c, name);
    if (*row >= 0 && c->products[*row].kind == PRODUCT_ACCELERATOR)
        return 0;
    near = opt_nearest(name, c->n_products, accelerator_name, c);
    if (!near)
        near = opt_nearest_family(name, c->n_products, accelerator_name, c);
    return err_usage(e, "--fake: no accelerator '%s' in the catalogue (%s%s%s)", name,
                     near ? "did you mean '" : "data/devices.csv lists them", near ? near : "",
                     near ? "'?" : "");
}

int probe_fake_check(const struct catalogue *c, const char *spec, struct err *e)
{
    struct fake_script script;
    int count, row, rc;

    if (!fake_is_script(spec))
        return parse(c, spec, &count, &row, e);
    rc = fake_script_load(&script, spec, e);
    if (rc == 0)
        fake_script_done(&script);
    return rc;
}

/* Addresses from domain ffff on, where no firmware puts anything. */
static int add_one(struct node *n, const struct product *product, int row, int i)
{
    struct pci *f = node_add_pci(n, (struct pci_address){ .domain = 0xffff, .bus = (uint8_t)i });
    struct device *d = f ? node_add_device(n, DEVICE_ACCELERATOR) : NULL;
    struct link *l;

    if (!d)
        return -ENOMEM;
    f->vendor = product->pci_vendor;
    f->device = product->n_ids ? product->ids[0] : 0;
    f->numa = n->n_numas ? i % (int)n->n_numas : ABSENT;
    f->gts = f->gts_max = product->pcie_gen > 0 ? pcie_gts(product->pcie_gen) : ABSENT;
    f->width = f->width_max = product->pcie_width;
    d->pci = (int)n->n_pcis - 1;
    d->numa = f->numa;
    d->catalogue = row;
    d->product = product->name;
    d->acc.memory_b = product->mem_gb > 0 ? clock_ns(product->mem_gb) : ABSENT;
    if (product->links <= 0)
        return 0;
    d->acc.links_up = product->links;
    d->acc.links_down = 0;
    l = node_add_link(n, product->pci_vendor == 0x1002 ? LINK_XGMI : LINK_NVLINK,
                      (int)n->n_devices - 1, ABSENT);
    if (!l)
        return -ENOMEM;
    l->count = product->links;
    l->gbs = product->link_gbs;
    return 0;
}

/* Those of a script. A model that the catalogue does not have is a name alone. */
static int add_script(struct probe *p, struct node *n, struct err *e)
{
    struct fake_script script;
    int rc = fake_script_load(&script, p->fake, e);

    if (rc < 0)
        return rc;
    for (int i = 0; i < script.count && rc == 0; i++) {
        struct product unknown = { .pcie_width = ABSENT };
        struct gpu_reading r;
        int row;

        fake_script_play(&script, i, 0, &r);
        row = catalogue_find_name(p->catalogue, r.facts[GPU_MODEL]);
        unknown.name = arena_strdup(&n->arena, *r.facts[GPU_MODEL] ? r.facts[GPU_MODEL] : "GPU");
        if (row >= 0 && p->catalogue->products[row].kind != PRODUCT_ACCELERATOR)
            row = ABSENT;
        rc = unknown.name ? add_one(n, row >= 0 ? &p->catalogue->products[row] : &unknown, row, i)
                          : -ENOMEM;
    }
    fake_script_done(&script);
    return rc < 0 ? err_nomem(e) : 0;
}

static int fake_read(struct probe *p, struct node *n, struct err *e)
{
    int count = 0, row = 0, rc;

    if (!p->fake)
        return 0;
    if (fake_is_script(p->fake))
        return add_script(p, n, e);
    rc = parse(p->catalogue, p->fake, &count, &row, e);
    for (int i = 0; i < count && rc == 0; i++) {
        rc = add_one(n, &p->catalogue->products[row], row, i);
        if (rc < 0)
            return err_nomem(e);
    }
    return rc;
}

const struct source_ops source_fake = {
    .name = "fake",
    .what = "accelerators invented by --fake",
    .read = fake_read,
};
