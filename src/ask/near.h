/* Asks the agent of this machine for one of its pages, and waits: for commands that ask once. */
#ifndef BRIM_ASK_NEAR_H
#define BRIM_ASK_NEAR_H
#include <stdint.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"

enum { NEAR_SYSTEM = 999 /* the last user that is no person: SYS_UID_MAX */ };

struct near_config {
    const char *address; /* of this machine, in numbers */
    unsigned port;
    const char *token;   /* NULL: none is sent */
    const char *path;    /* "/api/v1/live.json" */
    int64_t patience_ns; /* for all of it */
    const struct clock *clock;
};

/* The text of the page, into ret, whose ceiling bounds it. 0, or a negative errno with a sentence.
 * One that a user started, and not the system, is not asked (-EPERM): on a port that no agent has
 * any user could say what he likes. */
int near_ask(struct str *ret, const struct near_config *c, struct err *e) CHECK_RESULT;

/* The greatest number of those users who listen on a port, by the text of /proc/net/tcp or tcp6;
 * -1: nobody does. */
int64_t near_listener(FILE *table, unsigned port);

#endif
