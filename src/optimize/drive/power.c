/* Goals that want the power. It is told once a moment, so that the steps of a moment make a group;
 * their mean time and the mean power say what one of them costs. */
#include <math.h>

#include "optimize/drive/drive_private.h"

/* A group is a second, not a step: what is counted in steps by the usual plan. */
enum { OBSERVE = 10, CANARY = 4, GUARD = 30 };

/* Four looks at a power that goes up and down may all be of the one or the other. */
enum { CANARY_SLOW = 20 };

void drive_plan_power(struct session_plan *plan)
{
    plan->observe = OBSERVE;
    plan->canary = CANARY;
    plan->guard = GUARD;
    plan->canary_slow = CANARY_SLOW;
    plan->chance = 1;
}

/* Whether all of a moment had what is in force now. */
static bool is_whole(const struct drive *d, const struct run_moment *m)
{
    return !d->order.open && !d->session.switching && !d->settle &&
           run_snapshot_begin_ns(m) >= d->since_ns;
}

/* What the setting on trial costs in speed is a question of its own. */
static void add_pace(struct drive *d)
{
    struct drive_pace *p = &d->power.pace[d->session.in_force];

    p->steps += d->n;
    p->seconds += d->group_s;
}

double drive_speed(const struct drive *d)
{
    const struct drive_pace *without = &d->power.pace[0], *with = &d->power.pace[1];

    return with->seconds > 0 && without->seconds > 0
               ? with->steps / with->seconds / (without->steps / without->seconds) - 1
               : (double)NAN;
}

bool drive_end_moment(struct drive *d, const struct run_moment *m, double *seconds)
{
    double watts = goal_watts(&d->c.goal, m), price;

    if (!goal_needs_power(&d->c.goal))
        return false;
    if (isnan(watts) || !is_whole(d, m)) {
        drive_begin_group(d);
        return false;
    }
    d->power.joules += watts * m->seconds;
    d->power.seconds += m->seconds;
    if (!d->n)
        return false;
    add_pace(d);
    price = goal_price(&d->c.goal, d->group_s / d->n, d->power.joules / d->power.seconds);
    /* The session's plan is in seconds: one that is scaled so that the first moment costs what it
     * takes. Only ratios count. */
    if (!(d->power.scale > 0))
        d->power.scale = d->power.seconds / price;
    drive_begin_group(d);
    *seconds = price * d->power.scale;
    return true;
}
