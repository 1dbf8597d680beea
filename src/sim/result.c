#include "sim/sim.h"

void sim_result_done(struct sim_result *r)
{
    arena_done(&r->arena);
    *r = (struct sim_result){ .events = 0 };
}
