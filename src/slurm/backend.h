/* What a way to Slurm can do. It runs in a process of its own (worker.h), which may be killed at
 * any time: nothing here has a limit of time. */
#ifndef BRIM_SLURM_BACKEND_H
#define BRIM_SLURM_BACKEND_H
#include "base/err.h"
#include "base/str.h"
#include "slurm/slurm.h"

struct slurm_backend {
    /* 0 with *state, and in how what it is, with its version. */
    int (*open)(void **state, const struct slurm_config *config, struct str *how, struct err *e);
    void (*close)(void *state);
    /* As slurm_read(); the site is used before the next call, and borrows from the state. */
    int (*read)(void *state, struct site *ret, struct err *e);
    int (*act)(void *state, const struct site_deed *deed, struct err *e); /* as slurm_act() */
};

extern const struct slurm_backend slurm_by_library, slurm_by_commands;

#endif
