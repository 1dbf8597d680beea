/* How many workers keep up, how far they should be ahead, and how batches reach the device. */
#include <math.h>
#include <string.h>

#include "model/quantity.h"
#include "tune/propose_view.h"
#include "tune/sequence.h"

static const double margin = 1.15;      /* over Little's law, for workers that take turns */
static const double worker_b = 300e6;   /* of a worker whose size is not known: Python and torch */
static const double memory_part = 0.5;  /* of what is free, for all workers */
static const double waits_least = 0.05; /* share of the step, for workers to be busy always */
static const double tail = 3;           /* p99 to median of waiting, from where bursts count */
enum { WORKERS_MAX = 64, PREFETCH_USUAL = 2 /* torch's */, PREFETCH_MAX = 32 };

/* How much of the time that fetching takes is on a CPU. */
static double cpu_share(const struct proposer *p, double workers, double wait)
{
    double share;

    if (workers > 0)
        share = facts_signal(&p->facts, RUN_WORKER_CPU);
    else if (propose_item(p, CAUSE_LOADER_WAITS))
        share = 0.1;
    else if (propose_item(p, CAUSE_LOADER_CPU))
        share = 1;
    else
        share = (facts_signal(&p->facts, RUN_RANK_CPU) - (1 - wait)) / wait;
    return isnan(share) ? 1 : fmax(0, fmin(1, share));
}

/* The most workers that cores, memory and /dev/shm carry. */
static double most_workers(const struct proposer *p, double share)
{
    double most = WORKERS_MAX, available = facts_signal(&p->facts, RUN_MEMORY_AVAILABLE);
    double resident = facts_signal(&p->facts, RUN_JOB_RESIDENT);
    double processes = facts_signal(&p->facts, RUN_JOB_PROCESSES);
    double batch = facts_number(&p->facts, "loader.batch_bytes");
    double ranks = facts_ranks_here(&p->facts);
    double each = resident > 0 && processes >= 1 ? resident / processes : worker_b;

    if (p->cpus > 0 && share > 0)
        most = fmin(most, fmax(1, floor(p->cpus / share)));
    if (available >= 0)
        most = fmin(most, floor(memory_part * available / ranks / each));
    if (p->about->shm_free_b >= 0 && batch > 0)
        most = fmin(most, floor(memory_part * p->about->shm_free_b / ranks /
                                (batch * (PREFETCH_USUAL + 1))));
    return most;
}

static void add_workers(struct proposer *p, double workers)
{
    double wait = p->wait_s / p->step_s, fetch_s, compute_s, share, n, then_s;

    if (workers > 0 && wait < waits_least)
        return;
    fetch_s = workers > 0 ? workers * p->step_s : p->wait_s;
    compute_s = fmax(p->compute_s, 0.001 * p->step_s);
    share = cpu_share(p, workers, wait);
    n = fmin(ceil(margin * fetch_s / compute_s), most_workers(p, share));
    if (!(n > workers))
        return;
    then_s = fmax(p->compute_s, fetch_s / n);
    /* Loading and computing share the CPUs. */
    if (p->cpus > 0)
        then_s = fmax(then_s, (share * fetch_s + p->compute_s) / p->cpus);
    propose_number(p, "loader.workers", n, workers, p->step_s / then_s,
                   "fetching a batch takes %s, %s of it on a CPU, and the rest of a step %s: %.0f "
                   "workers keep up, as far as CPUs and memory carry them",
                   quantity_seconds(fetch_s).text, quantity_share(share).text,
                   quantity_seconds(compute_s).text, n);
}

static void add_fewer(struct proposer *p, double workers)
{
    const struct verdict_item *item = propose_item(p, CAUSE_MANY_WORKERS);
    double n = fmax(1, floor(p->cpus) - 1);

    if (item && p->cpus > 0 && n < workers)
        propose_number(p, "loader.workers", n, workers, item->gain,
                       "%.0f workers of a rank share %.0f CPUs with it", workers, p->cpus);
}

/* Waits that come in bursts are tails of fetching, which a deeper queue hides. */
static void add_prefetch(struct proposer *p, double workers)
{
    const struct run_rank *r = &p->about->run->ranks[0];
    double before = facts_number(&p->facts, "loader.prefetch"), middle, late, sum = 0, wanted;
    double *waits;

    if (!(workers >= 1) || r->n_steps < 20)
        return;
    waits = arena_alloc(&p->scratch, r->n_steps * sizeof(*waits));
    if (!waits) {
        p->no_memory = true;
        return;
    }
    for (size_t i = 0; i < r->n_steps; i++) {
        waits[i] = fmax(0, r->steps[i].host_s[BRIM_STAGE_WAIT]);
        sum += waits[i];
    }
    middle = tune_median(waits, r->n_steps);
    late = waits[r->n_steps - 1 - r->n_steps / 100];
    before = before >= 1 ? before : PREFETCH_USUAL;
    if (!(late > tail * middle) || !(late > waits_least * p->step_s))
        return;
    wanted = fmin(PREFETCH_MAX, ceil(before + late / fmax(p->compute_s, 1e-6) / workers));
    propose_number(p, "loader.prefetch", wanted, before,
                   propose_without(p, sum / (double)r->n_steps - middle),
                   "data is waited for %s in the middle and %s once in a hundred steps: batches "
                   "loaded further ahead bridge that",
                   quantity_seconds(middle).text, quantity_seconds(late).text);
}

void propose_loader(struct proposer *p)
{
    double workers = facts_number(&p->facts, "loader.workers");
    const struct verdict_item *copies = propose_item(p, CAUSE_PAGEABLE_COPY);

    if (p->about->run->n_ranks && workers >= 0) {
        add_workers(p, workers);
        add_fewer(p, workers);
        add_prefetch(p, workers);
    }
    if (copies)
        propose_add(p, "loader.pin", "yes", "no", copies->gain,
                    "copies to the device take %s of the step, from memory that is not pinned",
                    quantity_share(copies->share).text);
}
