/* Where users of this machine ask a control that runs: a socket. Who asks is told by the kernel,
 * and what he may do by Slurm (sacctmgr): operators and administrators all, coordinators what is
 * about jobs of their accounts, others to look. */
#ifndef BRIM_CMD_CONTROL_DOOR_H
#define BRIM_CMD_CONTROL_DOOR_H
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct door_config {
    const char *path;  /* of the socket */
    const char *where; /* the book is, which is open elsewhere */
    const char *conf;  /* slurm.conf; NULL */
    int64_t patience_ms;
    bool own; /* who does not operate is told of its own jobs alone */
};

struct door;

/* Listen, in a thread. The configuration is borrowed. 0, or a negative errno with a sentence. */
int door_open(struct door **ret, const struct door_config *config, struct err *e) CHECK_RESULT;
void door_close(struct door *d);

/* Ask: an order as a text ("approve 12"); the answer is added to out. The control's own error, with
 * its sentence, or another negative errno. */
int door_ask(const char *path, const char *order, struct str *out, struct err *e) CHECK_RESULT;

#endif
