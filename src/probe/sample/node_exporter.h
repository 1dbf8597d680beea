/* What node_exporter tells beyond brim's own sets, under its names: for "brim agent --compat" only,
 * in a tick of its own. */
#ifndef BRIM_PROBE_SAMPLE_NODE_EXPORTER_H
#define BRIM_PROBE_SAMPLE_NODE_EXPORTER_H
#include "probe/sample/sampler.h"

/* One row of the set "node", whose signals are metrics of node_exporter without "node_". It is none
 * of those that samplers_open() opens. */
extern const struct sampler_ops sampler_compat;

#endif
