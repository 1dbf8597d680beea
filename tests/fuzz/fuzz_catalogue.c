#include <errno.h>

#include "fuzz.h"
#include "model/machine/catalogue.h"
#include "model/machine/pcie.h"

static bool is_number(double value)
{
    return (value >= 0 && value < 1e308) || (int)value == ABSENT;
}

static void check_product(const struct catalogue *c, const struct product *p)
{
    check(p->name && p->name[0] && p->n_ids <= PRODUCT_IDS && p->kind <= PRODUCT_SWITCH);
    check(is_number(p->mem_gb) && is_number(p->mem_bw_gbs) && is_number(p->bf16_tflops));
    check(is_number(p->link_gbs) && is_number(p->tdp_w) && is_number(p->port_gbps));
    check(p->pcie_gen >= ABSENT && p->pcie_width >= ABSENT && p->links >= ABSENT);
    check((unsigned)catalogue_find_name(c, p->name) <= (unsigned)(p - c->products));
    for (size_t i = 0; i < p->n_ids; i++)
        check((unsigned)catalogue_find(c, p->pci_vendor, p->ids[i]) <= (unsigned)(p - c->products));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(catalogue_done) struct catalogue c = { .n_products = 0 };
    const char *text = (const char *)data;
    struct err e = { "" };
    int rc = catalogue_load(&c, text, size, &e);

    check(rc == 0 || rc == -EINVAL);
    check((rc == 0) == (e.text[0] == '\0'));
    if (rc < 0) {
        long line = line_told(e.text, "devices.csv:");

        check(line >= 1 && line <= count_lines(text, size));
    }
    for (size_t i = 0; i < c.n_products && i < 100; i++)
        check_product(&c, &c.products[i]);
    return 0;
}
