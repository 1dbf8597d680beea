/* The catalogue of devices: what the product can do (data/devices.csv). */
#ifndef BRIM_MODEL_MACHINE_CATALOGUE_H
#define BRIM_MODEL_MACHINE_CATALOGUE_H
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum { PRODUCT_IDS = 12 };
enum product_kind { PRODUCT_ACCELERATOR, PRODUCT_NIC, PRODUCT_SWITCH };

/* One row. What is not confirmed is blank in the table and ABSENT here. */
struct product {
    const char *name; /* "H100-SXM5-80GB" */
    const char *vendor;
    enum product_kind kind;
    uint16_t pci_vendor;
    uint16_t ids[PRODUCT_IDS];
    size_t n_ids;
    double mem_gb, mem_bw_gbs;
    double bf16_tflops;
    int pcie_gen, pcie_width;
    int links;                /* NVLink or xGMI ports */
    double link_gbs;          /* each, one direction */
    const char *scaleup_link; /* "NVLink4" */
    double tdp_w;
    double port_gbps; /* NIC: the fastest port that it is sold with */
};

struct catalogue {
    struct arena arena;
    struct product *products;
    size_t n_products;
};

/* Read the table. Columns are found by the names in its first row; unknown ones are skipped.
 * -EINVAL with "devices.csv:LINE: ..." for a row that is no product. */
int catalogue_load(struct catalogue *ret, const char *text, size_t len, struct err *e) CHECK_RESULT;
void catalogue_done(struct catalogue *c);

/* The row of a PCI id, or of a name (case does not matter); an index, or ABSENT. */
int catalogue_find(const struct catalogue *c, uint16_t vendor, uint16_t device);
int catalogue_find_name(const struct catalogue *c, const char *name);

#endif
