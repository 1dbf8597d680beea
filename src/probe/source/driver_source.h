/* What the sources that ask a driver's library have in common: on the machine itself the library is
 * asked under watch, and its answers go into the recording; in a recording they are found there. */
#ifndef BRIM_PROBE_SOURCE_DRIVER_SOURCE_H
#define BRIM_PROBE_SOURCE_DRIVER_SOURCE_H
#include "probe/source/source.h"
#include "probe/thread/watch.h"

struct driver_source {
    const char *source;     /* its name */
    const char *note;       /* where its answers are in a recording */
    uint16_t vendor;        /* PCI vendor of what it drives */
    size_t text_max;        /* of that text, in bytes */
    struct watch_work work; /* asks the library */
    void (*write)(const void *reading, struct str *out);
    int (*read)(const char *name, const char *text, size_t len, void *reading, struct err *e);
};

/* Get a reading. Returns 1 with *ret (for the caller to free()), 0 when there is none: a recording
 * without one, or no library or kernel driver, which is noted as a trouble only when the node shows
 * that they are missed. Else a negative errno with e set: -ETIMEDOUT for a driver that hangs. */
int driver_source_read(struct probe *p, const struct driver_source *lib, const struct node *n,
                       void **ret, struct err *e) CHECK_RESULT;

/* The accelerator that the driver has at a PCI address (NULL: it does not say), by device index;
 * added when the node has none there. -ENOMEM. */
int driver_source_device(struct node *n, const struct pci_address *at) CHECK_RESULT;

/* How many accelerators come before a device: its row in the matrix of peers. */
size_t driver_source_rank(const struct node *n, int device);

#endif
