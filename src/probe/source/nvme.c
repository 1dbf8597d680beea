/* NVMe drives: model, firmware and size. */
#include <errno.h>
#include <string.h>

#include "probe/source/fact.h"

/* The size of the first namespace: "nvme0n1" stands among the controller's entries. */
static int read_capacity(struct probe *p, const char *dir, struct device *d)
{
    CLEANUP(str_done) struct str names = STR_INIT(TREE_FILE_MAX);
    char path[TREE_PATH];
    int rc = fact_list(p, dir, &names);

    if (rc < 0)
        return rc;
    for (char *at = names.data, *name; (name = fact_next(&at)) != NULL;) {
        long long sectors;

        if (strncmp(name, "nvme", 4) != 0 || fact_path(path, dir, name) < 0)
            continue;
        sectors = fact_number(p, path, "size");
        if (sectors > 0 && sectors < INT64_MAX / 512) {
            d->capacity_b = sectors * 512;
            break;
        }
    }
    return 0;
}

static int read_drive(struct probe *p, struct node *n, struct device *d)
{
    CLEANUP(str_done) struct str names = STR_INIT(TREE_FILE_MAX);
    char folder[TREE_PATH], drive[TREE_PATH], *at, *name;
    int rc;

    if (fact_path(folder, n->pcis[d->pci].path, "nvme") < 0)
        return 0;
    rc = fact_list(p, folder, &names);
    at = names.data;
    name = rc == 0 ? fact_next(&at) : NULL;
    if (!name)
        return rc;
    d->name = arena_strdup(&n->arena, name);
    if (!d->name)
        return -ENOMEM;
    if (fact_path(drive, folder, d->name) < 0)
        return 0;
    rc = fact_text(p, n, drive, "model", &d->product);
    if (rc == 0)
        rc = fact_text(p, n, drive, "firmware_rev", &d->firmware);
    return rc == 0 ? read_capacity(p, drive, d) : rc;
}

static int nvme_read(struct probe *p, struct node *n, struct err *e)
{
    int rc = 0;

    for (size_t i = 0; i < n->n_devices && rc == 0; i++)
        if (n->devices[i].kind == DEVICE_NVME && n->devices[i].pci >= 0)
            rc = read_drive(p, n, &n->devices[i]);
    return rc < 0 ? err_nomem(e) : 0;
}

const struct source_ops source_nvme = {
    .name = "nvme",
    .what = "NVMe drives, from sysfs",
    .read = nvme_read,
};
