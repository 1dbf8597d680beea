/* What rows of measurements were understood to say, with the number of rows for each. */
#ifndef BRIM_CMD_PLAN_UNDERSTOOD_H
#define BRIM_CMD_PLAN_UNDERSTOOD_H
#include "base/json.h"
#include "plan/measured/rows.h"

/* A line for each topic and for what was taken in some rows: "  network     12 rows   400 Gbit/s a
 * node: '4x100Gb' in notes". Rows that cannot be modelled do not count. */
void understood_add_text(struct str *out, const struct plan_row *rows, size_t n);

/* The same as an array under "understood". */
void understood_add_json(struct json *j, const struct plan_row *rows, size_t n);

#endif
