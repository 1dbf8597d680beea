/* What a step costs by what the user wants: seconds, joules, or money. Pure. */
#ifndef BRIM_OPTIMIZE_GOAL_H
#define BRIM_OPTIMIZE_GOAL_H
#include "model/job/run.h"
#include "tune/session.h"

struct goal {
    enum session_goal kind;
    double price_hour; /* of all that the job runs on */
    double price_kwh;
    bool gpus, cpus; /* whose power can be read here */
    bool looks;      /* that of devices is looked at, and not counted */
};

/* Whether the power has to be read to tell what a step costs. */
bool goal_needs_power(const struct goal *g);

/* Drawn by what can be read; NaN: the moment does not tell. */
double goal_watts(const struct goal *g, const struct run_moment *m);

/* Of a step of so many seconds at so many watts. */
double goal_price(const struct goal *g, double seconds, double watts);

#endif
