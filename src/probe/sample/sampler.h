/* A sampler: what is measured again and again. Each is one file, keeps its files open and reads
 * them anew (probe/kernel/kept_file.h), and adds rows to a tick; probe/samplers.c lists them. */
#ifndef BRIM_PROBE_SAMPLE_SAMPLER_H
#define BRIM_PROBE_SAMPLE_SAMPLER_H
#include <stdbool.h>

#include "base/err.h"
#include "model/signal/signal.h"

/* What samplers work on. */
struct sampler_env {
    int root;                /* of the file system, or of a copy of one (tests) */
    bool live;               /* it is this machine's: drivers, netlink and /dev may be asked, too */
    const char *fake;        /* accelerators that are not there (probe/gpu/fake_spec.h); NULL */
    int64_t patience_ns;     /* how long a driver call may take before it counts as hung */
    const char *const *only; /* the names of those that are opened, ends with NULL; NULL: all */
};

#define SAMPLER_PATIENCE_NS 5000000000

/* One sampler. open() returns 0 and a state, or a negative errno; -ENOENT: the machine has nothing
 * of the kind. sample() adds rows and events; what cannot be read is left absent; it never waits
 * for a driver or a network; -ENOMEM is the only failure that ends a tick. */
struct sampler_ops {
    const char *name;
    const struct signal_set *set; /* the one of them that names it */
    int (*open)(void **state, const struct sampler_env *env, struct err *e);
    int (*sample)(void *state, struct tick *t);
    void (*close)(void *state);
    const struct signal_set *const *more; /* other sets that it adds rows of, ends with NULL; NULL:
                                           * none */
};

#endif
