/* All sources together, in the order in which they run: later ones add to earlier ones. */
#ifndef BRIM_PROBE_SOURCES_H
#define BRIM_PROBE_SOURCES_H
#include "probe/source/source.h"

/* Run all sources. A source that fails is noted in p->troubles and the others still run; only
 * -ENOMEM ends it. */
int probe_node(struct probe *p, struct node **ret, struct err *e) CHECK_RESULT;

#endif
