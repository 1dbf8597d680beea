/* A directory of recordings. */
#ifndef BRIM_PROBE_FLEET_H
#define BRIM_PROBE_FLEET_H
#include "probe/source/source.h"

/* Load every recording in dir, on all cores. */
int recording_load_fleet(struct probe *p, const char *dir, struct machine *m, struct err *e)
    CHECK_RESULT;

#endif
