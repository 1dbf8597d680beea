#include "probe/source/driver_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int ask(struct probe *p, const struct driver_source *lib, void **ret, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(lib->text_max);
    CLEANUP(freep) void *reading = NULL;
    int rc = watch_run(&lib->work, p->patience_ns, &reading, e);

    if (rc < 0)
        return rc;
    lib->write(reading, &text);
    if (str_error(&text))
        return err_set(e, str_error(&text), "%s: what the driver says does not fit a recording",
                       lib->note);
    tree_record_note(p->tree, lib->note, str_text(&text), text.len);
    *ret = steal(&reading);
    return 1;
}

static int recall(struct probe *p, const struct driver_source *lib, void **ret, struct err *e)
{
    CLEANUP(freep) char *text = malloc(lib->text_max);
    CLEANUP(freep) void *reading = calloc(1, lib->work.size);
    ssize_t len;
    int rc;

    if (!text || !reading)
        return err_nomem(e);
    len = tree_read(p->tree, lib->note, text, lib->text_max);
    if (len == -ENOENT || len == -ENOTDIR)
        return 0;
    if (len < 0)
        return err_set(e, (int)len, "%s: %s", lib->note, strerror((int)-len));
    rc = lib->read(lib->note, text, (size_t)len, reading, e);
    if (rc < 0)
        return rc;
    *ret = steal(&reading);
    return 1;
}

/* Whether there is an accelerator that the library is there for. */
static bool is_missed(const struct driver_source *lib, const struct node *n)
{
    for (size_t i = 0; i < n->n_devices; i++) {
        const struct device *d = &n->devices[i];

        if (d->kind == DEVICE_ACCELERATOR && d->pci >= 0 && n->pcis[d->pci].vendor == lib->vendor)
            return true;
    }
    return false;
}

int driver_source_read(struct probe *p, const struct driver_source *lib, const struct node *n,
                       void **ret, struct err *e)
{
    struct err said = { "" };
    int rc = tree_is_live(p->tree) ? ask(p, lib, ret, &said) : recall(p, lib, ret, &said);

    if (rc == -ENODEV) {
        if (is_missed(lib, n))
            probe_trouble(p, lib->source, "%s", said.text);
        return 0;
    }
    return rc < 0 ? err_set(e, rc, "%s", said.text) : rc;
}

int driver_source_device(struct node *n, const struct pci_address *at)
{
    int i = at ? node_find_device_at(n, *at) : ABSENT;
    struct device *d;

    if (i >= 0 && n->devices[i].kind == DEVICE_ACCELERATOR)
        return i;
    d = node_add_device(n, DEVICE_ACCELERATOR);
    if (!d)
        return -ENOMEM;
    d->pci = at ? node_find_pci(n, *at) : ABSENT;
    if (d->pci >= 0)
        d->numa = n->pcis[d->pci].numa;
    return (int)n->n_devices - 1;
}

size_t driver_source_rank(const struct node *n, int device)
{
    size_t rank = 0;

    for (int i = 0; i < device; i++)
        rank += n->devices[i].kind == DEVICE_ACCELERATOR;
    return rank;
}
