/* How far brim control goes, for each thing that it decides about. Pure. */
#ifndef BRIM_CONTROL_MODES_H
#define BRIM_CONTROL_MODES_H
#include "base/err.h"
#include "control/step.h"

enum control_mode {
    CONTROL_OBSERVE, /* only says what it would do */
    CONTROL_PROPOSE, /* does what an operator approved */
    CONTROL_ACT,
};

/* "act" is for all; "faults=propose,idle=act" for those that are named: the others observe.
 * ERR_USAGE with a sentence. */
int control_modes_read(const char *text, enum control_mode ret[CONTROL_POLICIES], struct err *e)
    CHECK_RESULT;

#endif
