/* Metrics under the names of other exporters, so that their dashboards work unchanged: what the
 * tick has, and what only these names need. */
#ifndef BRIM_DAEMON_EXPORTERS_H
#define BRIM_DAEMON_EXPORTERS_H
#include "base/str.h"
#include "probe/sample/sampler.h"

struct compat;

int compat_open(struct compat **ret, const struct sampler_env *env, struct err *e) CHECK_RESULT;
void compat_close(struct compat *c);
DEFINE_CLEANUP(struct compat, compat_close)

/* Sample the rest now and add all of it as Prometheus text. 0 or -ENOMEM; other failures stick in
 * out. */
int compat_add(struct compat *c, const struct tick *t, struct str *out) CHECK_RESULT;

#endif
