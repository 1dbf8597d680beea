/* What brim submit is asked for, whichever engine carries it out. */
#ifndef BRIM_CMD_QUEUE_SUBMIT_OPTS_H
#define BRIM_CMD_QUEUE_SUBMIT_OPTS_H
#include <stdbool.h>
#include <stdint.h>

struct submit_opts {
    bool hold, requeue, share, dry, wait, watch, no_watch;
    const char *json, *name, *team, *class, *after, *array, *output, *error, *directory, *chdir,
        *engine;
    const char *signal; /* NULL: SIGTERM */
    uint64_t devices, least, cpus, memory_gb;
    int64_t priority, limit_ns, warn_ns;
    int64_t grace_ns, deadline_ns; /* below 0: not said */
};

#endif
