#include "trace/activity.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Shares, and quantiles at each 5 %, of the samples of GPU utilization in
 * data/utilization/util_pkl of github.com/InternLM/AcmeTrace (CC-BY-4.0; its philly series is from
 * github.com/msr-fiddle/philly-traces, CC-BY-4.0). The means of all samples are 47.2, 66.1 and
 * 62.0 per cent. */
static const struct activity activities[] = {
    { "philly", 0.328, { 1.2,  9.7,  20.6, 31.2, 40.4, 47.8, 54.3, 61.3, 68.6, 75.6, 81.8,
                         87.0, 90.7, 93.3, 96.3, 98.0, 98.8, 99.2, 100,  100,  100 } },
    { "seren", 0.315, { 2,  82.2, 96, 98,  98,  98,  99,  99,  99,  99, 99,
                        99, 99,   99, 100, 100, 100, 100, 100, 100, 100 } },
    { "kalos", 0.34, { 3,   57,  86.9, 95,  96,  97,  98,  99,  99,  99, 100,
                       100, 100, 100,  100, 100, 100, 100, 100, 100, 100 } },
};

const struct activity *activity_at(size_t i)
{
    return i < ARRAY_SIZE(activities) ? &activities[i] : NULL;
}

const struct activity *activity_named(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(activities); i++)
        if (!strcmp(activities[i].name, name))
            return &activities[i];
    return NULL;
}

/* splitmix64, as a number from 0 up to, but not, 1. */
static double chance(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15U;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

/* A length with that mean: how much of it has passed says nothing of what is left. */
static int64_t draw_ms(double mean_ms, uint64_t *state)
{
    double ms = -mean_ms * log1p(-chance(state));

    return (int64_t)llround(ms) + 1;
}

static int draw_busy(const struct activity *a, uint64_t *state)
{
    double at = chance(state) * (ACTIVITY_QUANTILES - 1);
    int below = (int)at;
    double percent = a->busy[below] + (at - below) * (a->busy[below + 1] - a->busy[below]);
    int milli = (int)lround(percent * 10);

    return MAX(WORK_IDLE + 1, milli);
}

static int draw_job(struct workload *w, struct work *job, const struct activity *a, double idle_ms,
                    uint64_t state)
{
    double work_ms = idle_ms * (1 - a->idle) / a->idle;
    int busy = draw_busy(a, &state);
    bool idle = chance(&state) < a->idle;
    int64_t left = job->length_ms;

    while (left > 0) {
        int64_t drawn = draw_ms(idle ? idle_ms : work_ms, &state), ms = MIN(left, drawn);

        int rc = work_stretch_add(w, job, ms, idle ? 0 : busy);

        if (rc < 0)
            return rc;
        left -= ms;
        idle = !idle;
    }
    return 0;
}

int activity_draw(struct workload *w, const struct activity *a, int64_t stretch_ms, uint64_t seed,
                  struct err *e)
{
    for (size_t i = 0; i < w->n_jobs; i++) {
        uint64_t state = seed ^ ((uint64_t)i + 1) * 0xd1342543de82ef95U;
        int rc = 0;

        if (w->jobs[i].n_stretches == 0)
            rc = draw_job(w, &w->jobs[i], a, (double)stretch_ms, state);
        if (rc == -E2BIG)
            return err_set(e, rc, "idle stretches are too short for jobs this long");
        if (rc < 0)
            return err_nomem(e);
    }
    return 0;
}
