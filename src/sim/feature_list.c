#include "base/compiler.h"
#include "sim/feature.h"
#include "sim/sim_private.h"

const struct sim_feature *const sim_features[SIM_FEATURES + 1] = {
    &sim_known,   /* what the scheduler is told of lengths */
    &sim_tiers,   /* services, spot jobs, a cap of power */
    &sim_elastic, /* jobs on more devices, or fewer */
    &sim_speeds,  /* devices that are not as fast */
    &sim_data,    /* where a job's data are */
    &sim_spans,   /* when each job ran on how much */
    &sim_over,    /* the leaves of switches that gangs lie over */
    &sim_lost,    /* nodes that fail */
    NULL,
};
