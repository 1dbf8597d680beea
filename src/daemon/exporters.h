/* Metrics under the names of other exporters, so that their dashboards work unchanged: what the
 * tick has, and what only these names need. */
#ifndef BRIM_DAEMON_EXPORTERS_H
#define BRIM_DAEMON_EXPORTERS_H
#include "base/str.h"
#include "probe/sample/sampler.h"

struct exporters;

int exporters_open(struct exporters **ret, const struct sampler_env *env, struct err *e)
    CHECK_RESULT;
void exporters_close(struct exporters *c);
DEFINE_CLEANUP(struct exporters, exporters_close)

/* Sample the rest now and add all of it as Prometheus text. 0 or -ENOMEM; other failures stick in
 * out. */
int exporters_add(struct exporters *c, const struct tick *t, struct str *out) CHECK_RESULT;

#endif
