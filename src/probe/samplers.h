/* All samplers together: the list of them, and a tick of those that this machine has. */
#ifndef BRIM_PROBE_SAMPLERS_H
#define BRIM_PROBE_SAMPLERS_H
#include "probe/sample/sampler.h"

/* All samplers that this machine has something for. */
struct samplers;

int samplers_open(struct samplers **ret, const struct sampler_env *env, struct err *e) CHECK_RESULT;
int samplers_sample(struct samplers *s, struct tick *t) CHECK_RESULT;
void samplers_close(struct samplers *s);
DEFINE_CLEANUP(struct samplers, samplers_close)

/* The i-th of all sets that there are samplers for, whether or not this machine has something for
 * them; NULL behind the last. */
const struct signal_set *samplers_set(size_t i);

#endif
