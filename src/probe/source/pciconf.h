/* PCI configuration space: the capabilities that decide how data moves. */
#ifndef BRIM_PROBE_SOURCE_PCICONF_H
#define BRIM_PROBE_SOURCE_PCICONF_H
#include <stddef.h>
#include <stdint.h>

enum { PCICONF_SIZE = 4096 };

/* What was found; ABSENT (-1) where the space was not readable so far, or has no such
 * capability. */
struct pciconf {
    int port_type; /* of the PCI Express capability: 0 endpoint, 4 root port, 5 up, 6 down */
    int max_payload_b, max_payload_cap_b, max_read_b;
    int relaxed_ordering; /* 1 on, 0 off */
    int acs;              /* control bits */
    int slot;             /* 1: the port leads to a slot, 0: to a part soldered on, or to nothing */
    int extended;         /* 1: the extended space was readable, so acs ABSENT means "has none" */
};

/* Read the first len bytes of a function's space. Walks the capability lists with a bound; broken
 * ones end where they break. */
void pciconf_parse(const uint8_t *bytes, size_t len, struct pciconf *ret);

#endif
