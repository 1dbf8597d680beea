#include "plan/search/checkpoint.h"

#include <math.h>

/* The state between two checkpoints has no memory, so that a segment's expected time has a closed
 * form. With T = interval + stall, w = write, R = restart and M = mtbf, all waiting included:
 *
 *     E = M exp((R + w) / M) (exp(T / M) - 1)
 *
 * After a failure the segment takes R (which may fail too), and T + w until the next checkpoint is
 * whole; otherwise T, since its writing overlaps with what follows. w = 0 is Daly's formula (Future
 * Generation Computer Systems 22, 2006). */
static double segment_s(const struct checkpoint_cost *c, double mtbf_s, double interval_s)
{
    return mtbf_s * exp((c->restart_s + c->write_s) / mtbf_s) *
           expm1((interval_s + c->stall_s) / mtbf_s);
}

/* The x = interval / M with the least E / interval: the derivative is 0 where
 * -log(1 - x) - x = stall / M, whose left side grows from 0 at 0 without end at 1. */
static double best_share(double stall)
{
    double low = 0, high = 1, x = 0.5;

    /* Bisection until two doubles are neighbours: 60 steps, and no case to think about. */
    while (low < x && x < high) {
        double left = x < 1e-4 ? x * x * (0.5 + x * (1. / 3 + x / 4)) : -log1p(-x) - x;

        if (left < stall)
            low = x;
        else
            high = x;
        x = low + (high - low) / 2;
    }
    return x;
}

static double young_s(double stall_s, double mtbf_s)
{
    return sqrt(2 * stall_s * mtbf_s);
}

static double daly_s(double stall_s, double mtbf_s)
{
    double half = stall_s / (2 * mtbf_s);

    if (stall_s >= 2 * mtbf_s)
        return mtbf_s;
    return young_s(stall_s, mtbf_s) * (1 + sqrt(half) / 3 + half / 9) - stall_s;
}

struct checkpoint_interval checkpoint_interval(const struct checkpoint_cost *c, double mtbf_s)
{
    struct checkpoint_interval ret = { .young_s = young_s(c->stall_s, mtbf_s),
                                       .daly_s = daly_s(c->stall_s, mtbf_s),
                                       .best_s = mtbf_s * best_share(c->stall_s / mtbf_s) };

    if (ret.best_s < c->write_s) {
        ret.best_s = c->write_s;
        ret.by_storage = true;
    }
    return ret;
}

struct checkpoint_share checkpoint_share(const struct checkpoint_cost *c, double mtbf_s,
                                         double interval_s)
{
    double work = fmax(interval_s, c->write_s), all = segment_s(c, mtbf_s, work);
    struct checkpoint_share ret = { .useful = work / all, .saving = c->stall_s / all };

    /* Restarting is when the last failure is less than R ago. */
    ret.restart = -expm1(-c->restart_s / mtbf_s);
    ret.repeated = fmax(1 - ret.useful - ret.saving - ret.restart, 0);
    return ret;
}

double checkpoint_state_b(double parameters)
{
    return parameters * (2 + 4 + 4 + 4);
}
