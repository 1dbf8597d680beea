/* The metrics of other exporters out of brim's ticks, so that dashboards made for them work:
 * node_exporter's (Grafana dashboard 1860) and those of NVIDIA's DCGM exporter (12239), with their
 * names, labels, units and types. */
#ifndef BRIM_RENDER_NODE_EXPORTERS_H
#define BRIM_RENDER_NODE_EXPORTERS_H
#include <sys/utsname.h>

#include "base/str.h"
#include "model/signal/signal.h"

/* Add what there is of it. t is the tick of brim's own sets; more, which may be NULL, has a row of
 * probe/sample/node_exporter.h; host names the node. Prometheus' text format only. */
void exporters_render(const struct tick *t, const struct tick *more, const struct utsname *host,
                      struct str *out);

#endif
