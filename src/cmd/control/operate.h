/* What operators do to the book of a control. */
#ifndef BRIM_CMD_CONTROL_OPERATE_H
#define BRIM_CMD_CONTROL_OPERATE_H
#include "control/book.h"

/* Let an action that was proposed be done. -ENOENT with a sentence where none of that number is. */
int operate_approve(struct control_book *b, uint64_t id, struct err *e) CHECK_RESULT;

#endif
