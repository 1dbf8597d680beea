/* What GPUs' time went into, in hours and money, as JSON. */
#ifndef BRIM_CMD_CONTROL_WASTE_JSON_H
#define BRIM_CMD_CONTROL_WASTE_JSON_H
#include "base/json.h"
#include "cmd/common/device_prices.h"
#include "control/board/waste_book.h"

/* Add a member "waste" to an object that is open: since the book began, and of a day. 0 or
 * -ENOMEM. */
int waste_add_json(const struct waste_sums *all, const struct waste_sums *day,
                   struct device_prices *prices, struct json *j, struct err *e) CHECK_RESULT;

#endif
