#include "diagnose/audit/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

PRINTF(3, 0)
static struct finding *add(struct audit *a, enum severity severity, const char *fmt, va_list ap)
{
    struct finding *f = findings_add(a->out, a->check, severity, a->n->name);
    char text[512];

    vsnprintf(text, sizeof(text), fmt, ap);
    check_text(a, &f->sentence, "%s", text);
    a->found++;
    return f;
}

struct finding *check_add(struct audit *a, enum severity severity, const char *fmt, ...)
{
    struct finding *f;
    va_list ap;

    va_start(ap, fmt);
    f = add(a, severity, fmt, ap);
    va_end(ap);
    return f;
}

void check_unknown(struct audit *a, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add(a, SEVERITY_UNKNOWN, fmt, ap);
    va_end(ap);
}

const char *check_label(const struct node *n, int device, char buf[LABEL_TEXT])
{
    const struct device *d = &n->devices[device];
    char address[PCI_ADDRESS_TEXT];

    if (d->pci >= 0)
        snprintf(buf, LABEL_TEXT, "%.36s (%s)", d->name,
                 pci_address_text(n->pcis[d->pci].at, address));
    else
        snprintf(buf, LABEL_TEXT, "%.60s", d->name);
    return buf;
}

bool check_is(const struct node *n, size_t device, enum device_kind kind)
{
    return n->devices[device].kind == kind && n->devices[device].pci >= 0;
}

bool check_is_fabric_nic(const struct device *d)
{
    if (d->kind != DEVICE_NIC)
        return false;
    for (size_t i = 0; i < d->nic.n_ports; i++)
        if (d->nic.ports[i].gbps >= 100)
            return true;
    return d->nic.rdma != NULL;
}

void check_append(char buf[NAMES_TEXT], const char *name)
{
    static const char more[] = "...";
    size_t len = strlen(buf), end = strlen(more);
    bool fits = len + strlen(name) + 8 < NAMES_TEXT; /* with ", ..." behind it */

    if (len < end || strcmp(buf + len - end, more) != 0) /* a shorter one is not put behind it */
        snprintf(buf + len, NAMES_TEXT - len, "%s%s", len ? ", " : "", fits ? name : more);
}

int check_below(const struct node *n, int pci, char buf[NAMES_TEXT])
{
    int count = 0;

    buf[0] = 0;
    for (size_t i = 0; i < n->n_devices; i++) {
        int at = n->devices[i].pci;

        while (at >= 0 && at != pci)
            at = n->pcis[at].parent;
        if (at < 0)
            continue;
        check_append(buf, n->devices[i].name);
        count++;
    }
    return count;
}
