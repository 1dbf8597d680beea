#include "optimize/goal.h"

#include <math.h>

static const double hour_s = 3600, kwh_j = 3.6e6;

bool goal_needs_power(const struct goal *g)
{
    return g->kind == GOAL_ENERGY || (g->kind == GOAL_COST && g->price_kwh > 0);
}

double goal_watts(const struct goal *g, const struct run_moment *m)
{
    double watts = 0;

    if (g->gpus)
        watts += m->values[RUN_GPU_WATTS];
    if (g->cpus)
        watts += m->values[RUN_CPU_WATTS];
    return watts > 0 ? watts : (double)NAN;
}

double goal_price(const struct goal *g, double seconds, double watts)
{
    if (g->kind == GOAL_ENERGY)
        return seconds * watts;
    if (g->kind == GOAL_COST && g->price_kwh > 0)
        return seconds * (g->price_hour / hour_s + watts * g->price_kwh / kwh_j);
    return g->kind == GOAL_COST ? seconds * g->price_hour / hour_s : seconds;
}
