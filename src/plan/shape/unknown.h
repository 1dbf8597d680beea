/* Fields of a config.json that no reader asked for and that may stand for parameters. */
#ifndef BRIM_PLAN_SHAPE_UNKNOWN_H
#define BRIM_PLAN_SHAPE_UNKNOWN_H
#include "plan/shape/families.h"

/* When all that a family knows was asked for: -EINVAL with "config.json:9:3: num_mixers is not
 * known of llama: ..." for the first such field. Values that switch nothing on (0, false, null,
 * texts, fractions) are passed over, and so are fields that are known to change no parameter. */
int shape_check_unknown(const struct shape_file *c, const struct shape_family *f) CHECK_RESULT;

#endif
