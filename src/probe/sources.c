#include "probe/sources.h"

#include <errno.h>

extern const struct source_ops source_host, source_cpus, source_pci, source_nic, source_nvme,
    source_nvml, source_amd, source_intel, source_dcmi, source_fake, source_cores;

/* In the order in which they run: later ones add to what earlier ones found. */
static const struct source_ops *const sources[] = {
    &source_host, &source_cpus, &source_pci,   &source_nic,  &source_nvme,  &source_nvml,
    &source_amd,  &source_dcmi, &source_intel, &source_fake, &source_cores,
};

int probe_node(struct probe *p, struct node **ret, struct err *e)
{
    CLEANUP(node_freep) struct node *n = node_new();

    if (!n)
        return err_nomem(e);
    for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
        struct err why = { "" };
        size_t told = p->n_troubles;
        int rc = sources[i]->read(p, n, &why);

        if (rc == -ENOMEM)
            return err_nomem(e);
        p->hung |= rc == -ETIMEDOUT;
        if (rc < 0 && p->n_troubles == told)
            probe_trouble(p, sources[i]->name, "%s", why.text);
    }
    if (node_settle(n) < 0)
        return err_nomem(e);
    *ret = steal(&n);
    return 0;
}
