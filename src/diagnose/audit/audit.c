#include "diagnose/audit/audit.h"

#include <errno.h>

#include "diagnose/audit/check.h"

/* In the order in which a person would look: wires first, settings last. */
static const struct check *const tables[] = {
    checks_pcie,    checks_path, checks_place, checks_accelerator,
    checks_network, checks_host, checks_same,
};

int audit_node(const struct node *n, const struct catalogue *c, struct findings *out)
{
    struct audit a = { .n = n, .c = c, .out = out };

    for (size_t t = 0; t < ARRAY_SIZE(tables); t++)
        for (const struct check *check = tables[t]; check->name; check++) {
            a.check = check->name;
            a.found = 0;
            if (check->run(&a) && !a.found)
                out->passed++;
        }
    return out->no_memory ? -ENOMEM : 0;
}

const char *audit_check_name(size_t i)
{
    for (size_t t = 0; t < ARRAY_SIZE(tables); t++)
        for (const struct check *check = tables[t]; check->name; check++)
            if (i-- == 0)
                return check->name;
    return NULL;
}
