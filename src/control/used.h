/* How many of their devices jobs kept busy, told when they have ended: for who submits the same job
 * again (plugins/slurm/brim_hooks.lua reads it). Pure. */
#ifndef BRIM_CONTROL_USED_H
#define BRIM_CONTROL_USED_H
#include "base/str.h"
#include "control/watch.h"

enum {
    USED_SAMPLES = 4,    /* of each device at least: of a job that was seen less nothing is told */
    USED_NAME = 64,      /* bytes of a name */
    USED_DEVICES = 4096, /* a job that has more is not looked at */
};

struct used;

int used_open(struct used **ret) CHECK_RESULT;
void used_close(struct used *u);
DEFINE_CLEANUP(struct used, used_close)

/* A look at all jobs that hold devices. 0 or -ENOMEM: it is passed over then. */
int used_see(struct used *u, const struct site *site, const struct control_answers *answers)
    CHECK_RESULT;

/* Add a line for each job that was seen, and runs no longer as it did: its user, its name, the
 * devices that it had, and those that were busy for more than a hundredth of the time, with tabs
 * between them. Control characters of a name are "?". Failures stick in out. */
void used_end(struct used *u, const struct site *site, struct str *out);

#endif
