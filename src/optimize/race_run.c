#include "optimize/race_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/signal/sorted.h"
#include "tune/trial/sequence.h"

enum { BLOCKS_MOST = 64, BLOCKS_LEAST = 5, BLOCK = 8 };

struct race_run_plan race_run_plan_usual(double start_s, double step_s)
{
    return (struct race_run_plan){ .warm_up = 5,
                                   .least = 8,
                                   .steps = 40,
                                   .least_s = 1,
                                   .seconds = 15,
                                   .slow_s = 3 * step_s,
                                   .start_most = fmax(30, 5 * start_s),
                                   .quiet_most = fmax(30, 100 * step_s) };
}

void race_run_init(struct race_run *h, const struct race_run_plan *plan)
{
    memset(h, 0, sizeof(*h));
    h->plan = *plan;
    h->plan.steps = MIN(h->plan.steps, HEAT_STEPS);
    h->begin_s = h->last_s = (double)NAN;
    for (size_t i = 0; i < HEAT_LOSSES; i++)
        h->loss[i] = (double)NAN;
}

static bool is_enough(const struct race_run *h)
{
    if (h->n < h->plan.least)
        return false;
    return (h->n >= h->plan.steps && h->total_s >= h->plan.least_s) ||
           h->total_s >= h->plan.seconds || h->n == HEAT_STEPS ||
           h->total_s / h->n > h->plan.slow_s;
}

void race_run_step(struct race_run *h, const struct join_step *s)
{
    if (h->state != HEAT_RUNS)
        return;
    if (s->saves) {
        h->state = HEAT_SAVED;
        return;
    }
    h->last_s = (double)NAN; /* the next tick is its time */
    if (h->seen < HEAT_LOSSES)
        h->loss[h->seen] = s->loss;
    if (h->seen++ < h->plan.warm_up || !(s->seconds > 0))
        return;
    h->values[h->n] = s->seconds;
    h->samples[h->n++] = s->samples;
    h->total_s += s->seconds;
    if (is_enough(h))
        h->state = HEAT_ENOUGH;
}

void race_run_fail(struct race_run *h, const char *why)
{
    if (h->state != HEAT_RUNS)
        return;
    h->state = HEAT_FAILED;
    snprintf(h->why, sizeof(h->why), "%s", why);
}

void race_run_tick(struct race_run *h, double now_s)
{
    double most = h->seen ? h->plan.quiet_most : h->plan.start_most;
    char why[HEAT_TEXT];

    if (isnan(h->begin_s))
        h->begin_s = now_s;
    if (isnan(h->last_s))
        h->last_s = h->seen ? now_s : h->begin_s;
    if (!(now_s - h->last_s > most))
        return;
    snprintf(why, sizeof(why), "it has made no step for %.0f s", now_s - h->last_s);
    race_run_fail(h, why);
}

void race_run_end(struct race_run *h, const char *how)
{
    char why[HEAT_TEXT];

    if (h->state == HEAT_RUNS && h->n >= h->plan.least && !how) {
        h->state = HEAT_ENOUGH;
        return;
    }
    snprintf(why, sizeof(why), "it ended after %u steps%s%s", h->seen, how ? ": " : "",
             how ? how : "");
    race_run_fail(h, why);
}

double race_run_seconds(const struct race_run *h, bool *per_sample)
{
    unsigned block = MAX((unsigned)BLOCK, h->n / BLOCKS_MOST + 1), n = 0;
    double means[BLOCKS_MOST + 1], seconds = 0, samples = 0;
    bool told = h->n > 0;

    *per_sample = false;
    if (h->state != HEAT_ENOUGH || !h->n)
        return (double)NAN;
    for (unsigned i = 0; i < h->n; i++)
        told = told && h->samples[i] > 0;
    if (h->n / block < BLOCKS_LEAST)
        block = MAX(1, h->n / BLOCKS_LEAST);
    for (unsigned i = 0; i < h->n / block * block; i++) {
        seconds += h->values[i];
        samples += told ? h->samples[i] : 1;
        if ((i + 1) % block)
            continue;
        means[n++] = seconds / samples;
        seconds = samples = 0;
    }
    *per_sample = told;
    return sorted_median(means, n);
}
