#include "model/verdict/loader_need.h"

#include <math.h>

static const double usual_b = 300e6;    /* of a worker whose size is not known: Python and torch */
static const double part = 0.5;         /* of what is free, for all workers */
static const double rest_least = 0.001; /* of a step, that is not fetching */
static const double waits_least = 0.05; /* share of the step, for workers to be busy always */
static const double nearly = 0.1;       /* of a worker's work, that is no other worker */

double loader_fetch(const struct loader_need *n)
{
    return n->workers > 0 ? n->workers * (1 - n->starting) : n->wait;
}

double loader_compute(const struct loader_need *n)
{
    return fmax(1 - n->wait, rest_least);
}

static double carried(const struct loader_need *n)
{
    double on_cpu = isnan(n->on_cpu) ? 1 : n->on_cpu, most = LOADER_WORKERS_MOST;

    if (n->refused > 0)
        most = fmin(most, floor(n->refused / 2));
    if (n->cpus > 0 && on_cpu > 0)
        most = fmin(most, fmax(1, floor(n->cpus / on_cpu)));
    if (n->memory_b >= 0)
        most = fmin(most, floor(part * n->memory_b / (n->worker_b > 0 ? n->worker_b : usual_b)));
    if (n->shm_b >= 0 && n->batch_b > 0)
        most = fmin(most, floor(part * n->shm_b / (n->batch_b * (LOADER_PREFETCH + 1))));
    if (n->epoch >= 1)
        most = fmin(most, n->epoch); /* there are no more batches to load at a time */
    return n->stream ? fmin(1, most) : most;
}

double loader_workers(const struct loader_need *n)
{
    if (!(n->workers >= 0) || !(n->wait > 0) || !(n->margin > 0))
        return 0;
    if (n->workers > 0 && n->wait - n->starting < waits_least)
        return n->workers;
    return fmin(ceil(n->margin * loader_fetch(n) / loader_compute(n)), carried(n));
}

double loader_fewer(const struct loader_need *n)
{
    double on_cpu = n->on_cpu / (1 - n->queued); /* of the time that it does not wait */
    double filled, needed;

    if (!(n->queued < 1) || !(on_cpu < 1))
        on_cpu = 1;
    filled = floor((floor(n->cpus) - 1) / on_cpu);
    needed = ceil(n->workers * n->on_cpu / on_cpu - nearly);
    return fmin(LOADER_WORKERS_MOST, fmax(1, fmax(filled, needed)));
}
