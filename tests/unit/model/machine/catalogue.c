#include "model/machine/catalogue.h"

#include <errno.h>
#include <string.h>

#include "model/machine/pcie.h"
#include "tap.h"

static int load(struct catalogue *c, const char *text, struct err *e)
{
    return catalogue_load(c, text, strlen(text), e);
}

static void test_row(void)
{
    CLEANUP(catalogue_done) struct catalogue c = { .n_products = 0 };
    const struct product *p;
    struct err e = { "" };

    is_int(load(&c,
                "# a comment\n"
                "name,vendor,kind,pci_vendor,pci_devices,notes,mem_gb,mem_bw_gbs,bf16_dense_tflops,"
                "pcie_gen,pcie_width,links,link_gbs,scaleup_link,tdp_w,port_gbps\n"
                "\n"
                "X1,Maker,accelerator,10de,2330 2331,\"a, b\",80,3350,989.5,5,16,18,25,NV4,700,\n"
                "S1,,switch,,,,,,,,,,,,,\n"
                "N1,Maker,nic,15b3,1021,,,,,5,16,,,,,400\n",
                &e),
           0, "catalogue_load reads a table");
    is_int((long long)c.n_products, 3, "the catalogue has the table's three rows");
    p = &c.products[0];
    is_str(p->name, "X1", "a product has its name");
    is_str(p->vendor, "Maker", "a product has its vendor");
    is_int(p->kind, PRODUCT_ACCELERATOR, "a product has its kind");
    ok(p->pci_vendor == 0x10de && p->n_ids == 2 && p->ids[1] == 0x2331,
       "a product has its vendor's number and two ids");
    ok(p->mem_gb > 79.9 && p->mem_gb < 80.1 && p->mem_bw_gbs > 3349 && p->bf16_tflops > 989.4,
       "a product has its memory, bandwidth and rate");
    ok(p->pcie_gen == 5 && p->pcie_width == 16 && p->links == 18,
       "a product has its generation, lanes and links");
    ok(p->link_gbs > 24 && p->tdp_w > 699, "a product has the rate of a link and its power");
    is_str(p->scaleup_link, "NV4", "a product has the name of its links");
    is_int((long long)p->port_gbps, ABSENT, "a blank in a row is absent");
    p = &c.products[1];
    is_int(p->kind, PRODUCT_SWITCH, "a switch is read as one");
    ok(!p->vendor && !p->scaleup_link && p->pci_vendor == 0 && p->n_ids == 0,
       "blank texts of a switch are NULL");
    ok(p->links == ABSENT && (int)p->mem_gb == ABSENT && p->pcie_gen == ABSENT,
       "blank numbers of a switch are absent");
    is_int((long long)c.products[2].port_gbps, 400, "a NIC has the rate of its port");
}

static void test_short_rows(void)
{
    CLEANUP(catalogue_done) struct catalogue c = { .n_products = 0 };
    struct err e = { "" };

    is_int(load(&c, "name,links,mem_gb\nX1\nX2,4,80,extra\n", &e), 0,
           "catalogue_load takes rows that are short or long");
    ok(c.products[0].links == ABSENT && (int)c.products[0].mem_gb == ABSENT,
       "what a short row lacks is absent");
    ok(c.products[0].pcie_gen == ABSENT && (int)c.products[0].tdp_w == ABSENT,
       "a column that the table lacks is absent");
    is_int(c.products[1].links, 4, "fields behind the last column are skipped");
}

static void test_empty(void)
{
    CLEANUP(catalogue_done) struct catalogue c = { .n_products = 0 };
    struct err e = { "" };

    is_int(load(&c, "", &e), 0, "an empty table is read");
    is_int((long long)c.n_products, 0, "an empty table has no rows");
    is_int(catalogue_find(&c, 0x10de, 0x2330), ABSENT,
           "catalogue_find finds nothing in an empty table");
    is_int(catalogue_find_name(&c, "X1"), ABSENT,
           "catalogue_find_name finds nothing in an empty table");
}

static void test_find(void)
{
    CLEANUP(catalogue_done) struct catalogue c = { .n_products = 0 };
    struct err e = { "" };

    is_int(load(&c,
                "name,pci_vendor,pci_devices\n"
                "One,10de,2330\nTwo,1002,74a1  74a9\nThree,10de,2331 74a9\n",
                &e),
           0, "catalogue_load reads three products");
    is_int(catalogue_find(&c, 0x10de, 0x2330), 0, "catalogue_find finds a product by its only id");
    is_int(catalogue_find(&c, 0x1002, 0x74a9), 1,
           "catalogue_find finds a product by its second id");
    is_int(catalogue_find(&c, 0x10de, 0x74a9), 2, "catalogue_find tells vendors with one id apart");
    is_int(catalogue_find(&c, 0x10de, 0x9999), ABSENT,
           "catalogue_find is ABSENT for an unknown device");
    is_int(catalogue_find(&c, 0x8086, 0x2330), ABSENT,
           "catalogue_find is ABSENT for an unknown vendor");
    is_int(catalogue_find_name(&c, "tWO"), 1, "catalogue_find_name finds a name in any case");
    is_int(catalogue_find_name(&c, "Tw"), ABSENT, "catalogue_find_name finds no part of a name");
}

static void test_errors(void)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        { "name,kind\nX,gadget\n", "devices.csv:2: 'gadget' is no kind" },
        { "name,mem_gb\nX,many\n", "devices.csv:2: 'many' is no mem_gb" },
        { "name,mem_gb\nX,-1\n", "devices.csv:2: '-1' is no mem_gb" },
        { "name,links\n#\nX,4 8\n", "devices.csv:3: '4 8' is no links" },
        { "name,links\nX,4.5\n", "devices.csv:2: '4.5' is no links" },
        { "name,links\nX,99999999999\n", "devices.csv:2: '99999999999' is no links" },
        { "name,pci_vendor\nX,10dex\n", "devices.csv:2: '10dex' is no pci_vendor" },
        { "name,pci_vendor\nX,10000\n", "devices.csv:2: '10000' is no pci_vendor" },
        { "name,pci_devices\nX,2330 zz\n", "devices.csv:2: '2330 zz' is no pci_devices" },
        { "name,pci_devices\nX,12345\n", "devices.csv:2: '12345' is no pci_devices" },
        { "name,pci_devices\nX,123456789\n", "devices.csv:2: '123456789' is no pci_devices" },
        { "name,pci_devices\nX,1 2 3 4 5 6 7 8 9 a b c d\n",
          "devices.csv:2: '1 2 3 4 5 6 7 8 9 a b c d' is no pci_devices" },
        { "name,kind\n,nic\n", "devices.csv:2: the product has no name" },
        { "kind\nnic\n", "devices.csv:2: the product has no name" },
        { "name\n\"X\n", "devices.csv:2: the row cannot be read" },
        { "\"name\n", "devices.csv:1: the row cannot be read" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct catalogue c = { .n_products = 7 };
        struct err e = { "" };

        is_int(load(&c, rows[i].text, &e), -EINVAL, "catalogue_load refuses: %s", rows[i].want);
        is_str(e.text, rows[i].want, "catalogue_load says: %s", rows[i].want);
        ok(c.n_products == 7 && !c.arena.chunks, "a catalogue with an error is left alone: %s",
           rows[i].want);
    }
}

int main(void)
{
    test_row();
    test_short_rows();
    test_empty();
    test_find();
    test_errors();
    return done();
}
