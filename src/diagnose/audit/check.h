/* What the files with checks share. Private to src/diagnose. */
#ifndef BRIM_DIAGNOSE_AUDIT_CHECK_H
#define BRIM_DIAGNOSE_AUDIT_CHECK_H
#include "diagnose/audit/audit.h"
#include "model/machine/way.h"

struct audit {
    const struct node *n;
    const struct catalogue *c;
    struct findings *out;
    const char *check; /* that runs now */
    size_t found;      /* findings that it has added */
};

/* One check. It adds findings, or "unknown" ones; nothing added means passed. A check whose subject
 * is not there (no InfiniBand port, say) returns false: it does not count. */
struct check {
    const char *name;
    bool (*run)(struct audit *a);
};

/* Tables of checks, each ended by a row without a name. */
extern const struct check checks_pcie[], checks_path[], checks_place[], checks_accelerator[],
    checks_network[], checks_host[], checks_same[];

/* Add a finding of the running check with its sentence. */
struct finding *check_add(struct audit *a, enum severity severity, const char *fmt, ...)
    PRINTF(3, 4);

/* Say why the running check cannot be made. */
void check_unknown(struct audit *a, const char *fmt, ...) PRINTF(2, 3);

/* Set a text of a finding. */
#define check_text(a, to, ...) findings_text((a)->out, (to), __VA_ARGS__)

/* "GPU3 (0000:9d:00.0)"; a device without an address is just its name. */
enum { LABEL_TEXT = 64 };
const char *check_label(const struct node *n, int device, char buf[LABEL_TEXT]);

/* True for a device behind PCIe of that kind. */
bool check_is(const struct node *n, size_t device, enum device_kind kind);

/* True for a NIC that collectives would use: it has an RDMA device, or a port of 100 Gb/s or
 * more. */
bool check_is_fabric_nic(const struct device *d);

/* The names of the devices at or below a PCI function, with commas, into buf; returns how many. */
enum { NAMES_TEXT = 256 };
int check_below(const struct node *n, int pci, char buf[NAMES_TEXT]);

/* Append a name to a list with commas; "..." when it is full, and nothing more then. */
void check_append(char buf[NAMES_TEXT], const char *name);

#endif
