/* The audit of a machine: what is wired or set badly, as findings. Pure: a machine in, findings
 * out. */
#ifndef BRIM_DIAGNOSE_AUDIT_AUDIT_H
#define BRIM_DIAGNOSE_AUDIT_AUDIT_H
#include "model/machine/catalogue.h"
#include "model/machine/machine.h"
#include "model/verdict/finding.h"

/* Make every check on one node. A check that cannot be made adds a finding of SEVERITY_UNKNOWN that
 * says why: absent is not good. 0 or -ENOMEM. */
int audit_node(const struct node *n, const struct catalogue *c, struct findings *out) CHECK_RESULT;

/* Compare nodes of one machine with each other, or, when fleet is not NULL, with those of the
 * fleet: versions, counts and settings in which a node differs from most. 0 or -ENOMEM. */
int audit_fleet(const struct machine *m, const struct machine *fleet, struct findings *out)
    CHECK_RESULT;

/* The name of the i-th check, NULL behind the last. */
const char *audit_check_name(size_t i);

#endif
