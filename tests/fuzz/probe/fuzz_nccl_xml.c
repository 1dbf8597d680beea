#include <errno.h>

#include "fuzz_node.h"
#include "probe/source/nccl_xml.h"

static const char products[] = "name,kind,pci_vendor,pci_devices\n"
                               "H100,accelerator,10de,2330\n"
                               "ConnectX-7,nic,15b3,1021\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(catalogue_done) struct catalogue c = { .n_products = 0 };
    CLEANUP(node_freep) struct node *n = NULL;
    struct err e = { "" };
    int rc;

    check(catalogue_load(&c, products, sizeof(products) - 1, NULL) == 0);
    rc = nccl_xml_read("f.xml", (const char *)data, size, &c, &n, &e);
    check(rc == 0 || rc == -EINVAL);
    check((rc == 0) == (e.text[0] == '\0') && (rc == 0) == (n != NULL));
    if (rc < 0)
        check(!strncmp(e.text, "f.xml:", 6));
    else
        check_node(n, c.n_products);
    return 0;
}
