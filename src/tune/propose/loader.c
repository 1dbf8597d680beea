/* How many workers keep up, how far they should be ahead, and how batches reach the device. */
#include <math.h>
#include <string.h>

#include "base/parse.h"
#include "model/signal/sorted.h"

#include "model/signal/quantity.h"
#include "tune/propose/propose_private.h"
#include "tune/trial/sequence.h"

static const double forked_b = 8.5e6;    /* of a worker by fork, its own (Pss of 48, measured) */
static const double waits_least = 0.05;  /* share of the step, for workers to be busy always */
static const double tail = 3;            /* p99 to median of waiting, from where bursts count */
static const double cache_least_b = 1e9; /* for files that are read early to stay until wanted */
static const double hidden = 0.5; /* of the wait: opening a file still takes its time (measured) */
static const double start_s = 0.01;  /* of a worker, by fork: nine in 90 ms (docs/shim/loader.md) */
static const double busy_part = 0.5; /* of the CPUs, for workers to be too many for them */
static const double short_part = 0.05; /* of an epoch, that the start of workers takes */
enum { READAHEAD = 4 /* batches */, TAKES = 48 };
enum { PREFETCH_USUAL = LOADER_PREFETCH, PREFETCH_MAX = 32, WAITS_LEAST = 20 };

/* A dataset without indices, of which one worker alone can read ahead. */
static bool is_stream(const struct proposer *p)
{
    const char *kind = facts_look(&p->facts, "loader.kind");

    return kind && !strcmp(kind, "iterable");
}

/* What the verdict knows, and what is known here beside that. */
static struct loader_need need_of(const struct proposer *p)
{
    struct loader_need n = p->about->verdict->loader;
    const struct profile_setting *refused = p->about->won
                                                ? profile_memo(p->about->won, PROFILE_REFUSED,
                                                               "loader.workers")
                                                : NULL;

    n.shm_b = p->about->shm_free_b / facts_ranks_here(&p->facts);
    if (!refused || parse_double(refused->value, &n.refused) < 0)
        n.refused = (double)NAN;
    return n;
}

/* What more workers take: pages of their own, and batches on the way. Of jobs without torch it is
 * not known what a worker is. */
static void say_memory(struct proposer *p, double more, char text[TAKES])
{
    double batch = facts_number(&p->facts, "loader.batch_bytes");

    text[0] = '\0';
    if (facts_look(&p->facts, "process.torch"))
        snprintf(text, TAKES, ", with some %s of memory",
                 quantity_bytes(more * (forked_b + fmax(0, batch) * (PREFETCH_USUAL + 1))).text);
}

/* Whether so many workers, started anew in each epoch of steps of then_s, take much of it: they are
 * to stay then. Those of the job itself stay or end as it says. */
static bool is_epoch_short(const struct proposer *p, double n, double workers, double then_s)
{
    double epoch = facts_number(&p->facts, "loader.epoch");
    const char *persistent = facts_look(&p->facts, "loader.persistent");

    return workers < 1 && epoch > 0 && !(persistent && !strcmp(persistent, "yes")) &&
           !is_stream(p) && n * start_s > short_part * epoch * then_s;
}

static void add_workers(struct proposer *p, double workers)
{
    const struct loader_need need = need_of(p);
    double n = loader_workers(&need), fetch_s, compute_s, share = need.on_cpu, then_s;
    double epoch = need.epoch, starting = need.starting * p->step_s;
    char takes[TAKES];
    bool stay;

    if (!(n > workers) || (workers > 0 && propose_item(p, CAUSE_MEMORY_PRESSURE)))
        return;
    fetch_s = loader_fetch(&need) * p->step_s;
    compute_s = loader_compute(&need) * p->step_s;
    then_s = fmax(p->compute_s, fetch_s / n) + starting;
    /* Loading and computing share the CPUs; fmax() passes over a number that nobody knows. */
    then_s = fmax(then_s, (share * fetch_s + p->compute_s) / p->cpus);
    /* The first batch of an epoch is waited for whole. */
    if (epoch >= 1)
        then_s = fmin(p->step_s, then_s + fetch_s / epoch);
    stay = is_epoch_short(p, n, workers, then_s);
    p->also = stay ? knobs_find(p->about->knobs, "loader.persistent") : NULL;
    say_memory(p, n - workers, takes);
    propose_number(p, "loader.workers", n, workers, p->step_s / then_s,
                   "fetching a batch takes %s, %s of it on a CPU, and the rest of a step %s: %.0f "
                   "%s%s%s",
                   quantity_seconds(fetch_s).text, quantity_share(share).text,
                   quantity_seconds(compute_s).text, n,
                   is_stream(p) ? "worker can read a stream ahead"
                   : n > 1      ? "workers keep up, as far as CPUs and memory carry them"
                                : "worker keeps up, as far as CPUs and memory carry it",
                   stay ? (n > 1 ? ", and stay from one short epoch to the next"
                                 : ", and stays from one short epoch to the next")
                        : "",
                   takes);
}

static void add_fewer(struct proposer *p, double workers)
{
    const struct verdict_item *item = propose_item(p, CAUSE_MANY_WORKERS);
    const struct loader_need need = need_of(p);
    double n = loader_fewer(&need);
    double busy = workers * facts_signal(&p->facts, RUN_WORKER_CPU);

    /* Those that sleep share nothing. */
    if (busy < busy_part * p->cpus)
        return;
    if (item && !isnan(p->cpus) && n < workers)
        propose_number(p, "loader.workers", n, workers, item->gain,
                       "%.0f workers of a rank share %.0f CPUs with it", workers, p->cpus);
}

/* The steps' waits, as many taken into one as there are workers: these end a batch each at about
 * the same time, so that one step in so many waits for all. How many; 0: too few. */
static size_t take_waits(struct proposer *p, double workers, double **ret, double *mean)
{
    const struct run_rank *r = &p->about->run->ranks[0];
    size_t each = (size_t)workers, n = r->n_steps / each;
    double *waits;

    if (n < WAITS_LEAST)
        return 0;
    waits = arena_alloc(&p->scratch, n * sizeof(*waits));
    if (!waits) {
        p->no_memory = true;
        return 0;
    }
    *mean = 0;
    for (size_t i = 0; i < n; i++) {
        waits[i] = 0;
        for (size_t k = 0; k < each; k++)
            waits[i] += fmax(0, r->steps[i * each + k].host_s[BRIM_STAGE_WAIT]);
        *mean += waits[i] / (double)n;
    }
    *ret = waits;
    return n;
}

/* Waits that are much longer now and then are tails of fetching, which a deeper queue hides. */
static void add_prefetch(struct proposer *p, double workers)
{
    double before = facts_number(&p->facts, "loader.prefetch"), middle, late, mean, wanted;
    double *waits;
    size_t n = workers >= 1 ? take_waits(p, workers, &waits, &mean) : 0;

    if (!n)
        return;
    middle = sorted_median(waits, n);
    late = waits[n - 1 - n / 100];
    before = before >= 1 ? before : PREFETCH_USUAL;
    if (!(late > tail * middle) || !(late > waits_least * p->step_s * workers))
        return;
    wanted = fmin(PREFETCH_MAX, ceil(before + late / fmax(p->compute_s, 1e-6) / workers));
    propose_number(p, "loader.prefetch", wanted, before,
                   propose_without(p, (mean - middle) / workers),
                   "%.0f batches are waited for %s in the middle and %s once in a hundred times: "
                   "batches loaded further ahead bridge that",
                   workers, quantity_seconds(middle).text, quantity_seconds(late).text);
}

/* Workers that wait for storage read at the same time; so does the kernel for a job without. */
static void add_readahead(struct proposer *p)
{
    const struct verdict_item *latency = propose_item(p, CAUSE_STORAGE_LATENCY);
    const struct verdict_item *small = propose_item(p, CAUSE_SMALL_FILES);
    double available = facts_signal(&p->facts, RUN_MEMORY_AVAILABLE);
    double before = facts_number(&p->facts, "loader.readahead");

    if ((!latency && !small) || available < cache_least_b || before > 0)
        return;
    propose_number(p, "loader.readahead", READAHEAD, 0, propose_without(p, hidden * p->wait_s),
                   "%s: the kernel can read the files of the next %d batches meanwhile",
                   latency ? latency->sentence : small->sentence, (int)READAHEAD);
}

void propose_loader(struct proposer *p)
{
    double workers = facts_number(&p->facts, "loader.workers");
    const struct verdict_item *copies = propose_item(p, CAUSE_PAGEABLE_COPY);

    if (p->about->run->n_ranks && workers >= 0) {
        add_workers(p, workers);
        add_fewer(p, workers);
        add_prefetch(p, workers);
        add_readahead(p);
    }
    if (copies)
        propose_add(p, "loader.pin", "yes", "no", copies->gain,
                    "copies to the device take %s of the step, from memory that is not pinned",
                    quantity_share(copies->share).text);
}
