/* The CPUs' and the device's own work: threads, libraries, binding, batch, precision; pauses. */
#include <math.h>
#include <string.h>

#include "model/signal/quantity.h"
#include "tune/propose/propose_private.h"

static const double room = 0.45;          /* of the device's memory in use, for twice the batch */
static const double tensor_idle = 0.3;    /* of the time that tensor cores work */
static const double half_precision = 0.5; /* of the time of computing that it takes away, at most */
static const double compiled = 0.1;       /* of a launch-bound step; ours */
static const double reference_part = 0.85; /* of computing; as blas-cost of thresholds.ini */

static void add_threads(struct proposer *p)
{
    const struct verdict_item *item = propose_item(p, CAUSE_CPU_THREADS);
    double now = facts_number(&p->facts, "threads.intra"), wanted = fmax(1, floor(p->cpus));

    if (!item || isnan(p->cpus))
        return;
    if (isnan(now))
        now = facts_number(&p->facts, "process.threads");
    propose_number(p, "threads.intra", wanted, now, item->gain,
                   "a rank has %.0f CPUs for %.0f threads", wanted, now);
}

static void add_waiting(struct proposer *p)
{
    const struct verdict_item *item = propose_item(p, CAUSE_CPU_SPINNING);

    if (item)
        propose_add(p, "threads.waiting", "passive", NULL, item->gain,
                    "threads without work hold CPUs by spinning, for which others of the job wait");
}

/* A verdict that names threads leaves the BLAS out, which is slow on any number of them. */
static bool has_reference_blas(const struct proposer *p)
{
    const char *name = facts_look(&p->facts, "process.blas");

    return name && !strcmp(name, "reference") && !(facts_number(&p->facts, "gpus") > 0);
}

static void add_libraries(struct proposer *p)
{
    const struct verdict_item *blas = propose_item(p, CAUSE_BLAS);
    const struct verdict_item *numa = propose_item(p, CAUSE_NUMA);

    if (blas || has_reference_blas(p))
        propose_add(p, "blas.library", "openblas", NULL,
                    blas ? blas->gain : propose_without(p, reference_part * p->compute_s),
                    "matrix products run in a BLAS that was not made for these CPUs");
    if (numa)
        propose_add(p, "cpu.binding", "numa", "none", numa->gain,
                    "memory is read across sockets, which costs %s of the step",
                    quantity_share(numa->share).text);
}

/* What a setting is now, by the job's notes; fallback where they do not say. */
static const char *told(const struct proposer *p, const char *knob, const char *fallback)
{
    const char *now = facts_look(&p->facts, knob);

    return now ? now : fallback;
}

/* A batch twice as large, where the device's memory has room: changes what is learnt. */
static void add_batch(struct proposer *p)
{
    const struct verdict_item *small = propose_item(p, CAUSE_SMALL_BATCH);
    double now = facts_number(&p->facts, "loader.batch");
    double used = facts_signal(&p->facts, RUN_GPU_MEMORY);

    if (!small)
        return;
    if (now >= 1 && used < room)
        propose_number(p, "batch.size", 2 * now, now, fmin(2, small->gain),
                       "kernels are too small for the device; %s of its memory is in use, and with "
                       "twice the batch %s at most",
                       quantity_share(used).text, quantity_share(2 * used).text);
    propose_add(p, "torch.compile", "yes", told(p, "torch.compile", "no"),
                propose_without(p, compiled * p->compute_s),
                "launching kernels takes longer than running them: fused ones are fewer");
}

static void add_precision(struct proposer *p)
{
    double tensor = facts_signal(&p->facts, RUN_GPU_TENSOR_ACTIVE);
    double busy = facts_signal(&p->facts, RUN_GPU_BUSY);
    const double *share = p->about->verdict->share;
    double compute = (share[BRIM_STAGE_FORWARD] + share[BRIM_STAGE_BACKWARD]) * p->step_s;
    double gain = propose_without(p, half_precision * compute);

    if (!(tensor < tensor_idle) || !(busy > 0.8))
        return;
    propose_add(p, "precision.autocast", "bf16", told(p, "precision.autocast", "none"), gain,
                "tensor cores work %s of the time: half precision would use them",
                quantity_share(tensor).text);
    propose_add(p, "precision.tf32", "yes", told(p, "precision.tf32", "no"),
                propose_without(p, half_precision / 2 * compute),
                "tensor cores work %s of the time: TF32 would use them",
                quantity_share(tensor).text);
}

/* Young's interval: the square root of twice the time of a checkpoint times that between
 * failures. */
static void add_checkpoint(struct proposer *p)
{
    double now = facts_number(&p->facts, "checkpoint.interval");
    double takes = facts_number(&p->facts, "checkpoint.seconds");
    double share = p->about->verdict->share[BRIM_STAGE_CHECKPOINT], best;

    if (!(p->about->mtbf_s > 0) || !(takes > 0) || !(now > 0))
        return;
    best = round(sqrt(2 * takes * p->about->mtbf_s));
    if (best > now)
        propose_number(p, "checkpoint.interval", best, now,
                       propose_without(p, share * (1 - now / best) * p->step_s),
                       "a checkpoint takes %s and one is written every %s: every %s loses least",
                       quantity_seconds(takes).text, quantity_seconds(now).text,
                       quantity_seconds(best).text);
}

void propose_compute(struct proposer *p)
{
    add_threads(p);
    add_waiting(p);
    add_libraries(p);
    add_batch(p);
    add_precision(p);
    add_checkpoint(p);
}
