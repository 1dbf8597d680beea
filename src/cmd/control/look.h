/* Looking at a cluster: once, or again and again. */
#ifndef BRIM_CMD_CONTROL_LOOK_H
#define BRIM_CMD_CONTROL_LOOK_H
#include "cmd/control/session.h"

/* Look, and print what was found. */
int control_once(struct control_session *s, struct err *e) CHECK_RESULT;

/* Until SIGTERM or SIGINT. */
int control_run(struct control_session *s, struct err *e) CHECK_RESULT;

#endif
