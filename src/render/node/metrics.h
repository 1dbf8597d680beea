/* A tick as metrics for Prometheus: its text format, or OpenMetrics 1.0. */
#ifndef BRIM_RENDER_NODE_METRICS_H
#define BRIM_RENDER_NODE_METRICS_H
#include "base/str.h"
#include "model/signal/signal.h"

enum metrics_format { METRICS_PROMETHEUS, METRICS_OPENMETRICS };

/* Add all signals that are present, family by family, as brim_SET_NAME{thing="..."}. Failures stick
 * in out. */
void metrics_render(const struct tick *t, enum metrics_format format, struct str *out);

/* The same as JSON, "schema": "brim.sample.v1"; absent values are left out. */
void metrics_render_json(const struct tick *t, struct str *out);

#endif
