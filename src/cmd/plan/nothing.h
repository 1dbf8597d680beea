/* What to say when no layout does. */
#ifndef BRIM_CMD_PLAN_NOTHING_H
#define BRIM_CMD_PLAN_NOTHING_H
#include "cmd/plan/search.h"

/* Why no layout of these pins fits or is legal, in a sentence that says what would do. Returns
 * -EINVAL, or -ENOMEM. */
int plan_nothing(const struct plan_ask *a, const struct pins *pins, bool fewer, struct err *e);

#endif
