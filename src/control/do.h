/* Carries one step out on the cluster. */
#ifndef BRIM_CONTROL_DO_H
#define BRIM_CONTROL_DO_H
#include "control/cycle_private.h"

/* 0 when the cluster took it; as site engines answer, with a sentence. */
int control_do(struct cycle *c, const struct control_step *s, struct err *e) CHECK_RESULT;

/* Whether what a row is about has happened, as far as the cluster tells: of one that was being
 * carried out when its control ended. */
bool control_happened(const struct cycle *c, const struct control_row *row);

#endif
