/* A feature of a simulation: what a workload, a policy or an option switches on. Each is a file and
 * a row of feature_list.c. A function that a feature does not need is NULL; those of a feature that
 * is off are never called. What it keeps hangs off the simulation (sim_private.h). For src/sim. */
#ifndef BRIM_SIM_FEATURE_H
#define BRIM_SIM_FEATURE_H
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct sim;

struct sim_feature {
    /* 1: it is on, 0: it is off, -ENOMEM, -EINVAL with a sentence. The scheduler is open, and so
     * are the features before it. */
    int (*open)(struct sim *m, struct err *e);
    void (*close)(struct sim *m);

    /* ---- what happens to a job ---- */

    /* It starts (starts), or stops, on the devices that it has: what it has left takes another
     * time there. */
    void (*scales)(struct sim *m, uint32_t job, bool starts);

    /* It starts at since_ms. What its start takes longer is added to delay_ms. -ENOMEM. */
    int (*started)(struct sim *m, uint32_t job, int64_t *delay_ms);

    /* It stops running; since_ms is still that of its start. */
    void (*stops)(struct sim *m, uint32_t job);

    /* ---- time ---- */

    /* Nothing happens up to at_ms; now_ms is still that of before. */
    void (*passes)(struct sim *m, int64_t at_ms);

    /* When something happens by itself; WORK_UNKNOWN. Let it happen, if it is due: 1 when the
     * scheduler has to be asked, 0 when not, -ENOMEM. */
    int64_t (*next_ms)(const struct sim *m);
    int (*happens)(struct sim *m);

    /* What the scheduler decided was carried out. When it has to be asked again; WORK_UNKNOWN. */
    int64_t (*acted)(struct sim *m);

    /* The simulation has come to its end. */
    void (*ended)(struct sim *m);
};

enum { SIM_FEATURES = 8 };

/* Those that there are, in the order in which they are opened and called; NULL behind the last. */
extern const struct sim_feature *const sim_features[SIM_FEATURES + 1];

#endif
