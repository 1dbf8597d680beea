/* Which causes explain others. Private to src/diagnose/verdict and its tests. */
#ifndef BRIM_DIAGNOSE_VERDICT_EXPLAIN_H
#define BRIM_DIAGNOSE_VERDICT_EXPLAIN_H
#include <stdbool.h>
#include <stddef.h>

#include "model/verdict/verdict.h"

/* Leave out each of n items that another one explains; the rest stay in their order. stolen: the
 * hypervisor takes so much of the CPUs that this is a cause. Looks at nothing but cause and share.
 * Returns how many stay. */
size_t judge_explain(struct verdict_item *items, size_t n, bool stolen);

#endif
