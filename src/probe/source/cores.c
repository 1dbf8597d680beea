/* CPU cores as the accelerator of a machine that has no other: one device, so that every command
 * has something to work on. */
#include <errno.h>

#include "probe/source/source.h"

static int cores_read(struct probe *p, struct node *n, struct err *e)
{
    struct device *d;

    (void)p;
    if (n->n_acc || !n->n_sockets)
        return 0;
    d = node_add_device(n, DEVICE_ACCELERATOR);
    if (!d)
        return err_nomem(e);
    d->name = "CPU";
    d->product = n->cpu_model;
    d->numa = n->n_numas == 1 ? 0 : ABSENT;
    d->acc.arch = n->cpu_arch;
    d->acc.memory_b = n->memory_b;
    d->acc.cores = 0;
    for (size_t i = 0; i < n->n_sockets; i++)
        d->acc.cores += MAX(n->sockets[i].cores, 0);
    return 0;
}

const struct source_ops source_cores = {
    .name = "cores",
    .what = "CPU cores, where there is no other accelerator",
    .read = cores_read,
};
