/* Settings that trade memory for time, with what they would take or give: where memory is short, or
 * nearly used up. */
#include <math.h>

#include "model/signal/quantity.h"
#include "tune/propose/propose_private.h"

static const double near_full = 0.9; /* of the devices' memory in use */
/* A weight and its gradient, and the two averages of Adam: of the size of a gradient each. */
static const double states = 4;

/* What a batch takes on the devices beside weights and what goes with those: at most. */
static double activations_b(const struct proposer *p, double used_b)
{
    double gradients = facts_number(&p->facts, "gradients.bytes");
    double devices = facts_signal(&p->facts, RUN_GPUS);

    return gradients > 0 && devices > 0 ? fmax(0, used_b - states * gradients * devices) : used_b;
}

static void add_device(struct proposer *p)
{
    double share = facts_signal(&p->facts, RUN_GPU_MEMORY);
    double used_b = facts_signal(&p->facts, RUN_GPU_MEMORY_USED);
    double batch = facts_number(&p->facts, "loader.batch");
    double most_b = activations_b(p, used_b);

    if (!(share >= near_full) || !(most_b > 0))
        return;
    if (batch >= 2)
        propose_number(p, "batch.size", floor(batch / 2), batch, (double)NAN,
                       "%s of the devices' memory is in use: half the batch gives back up to %s, "
                       "and two of them make a step with batch.accumulation=2",
                       quantity_share(share).text, quantity_bytes(most_b / 2).text);
    propose_add(p, "model.recompute", "yes", "no", (double)NAN,
                "%s of the devices' memory is in use: activations that are not kept give back up "
                "to %s, for about a third more computing",
                quantity_share(share).text, quantity_bytes(most_b).text);
}

/* Workers that wait for memory, or have others wait. */
static void add_host(struct proposer *p)
{
    const struct verdict_item *item = propose_item(p, CAUSE_MEMORY_PRESSURE);
    double workers = facts_number(&p->facts, "loader.workers"), half = floor(workers / 2);
    double resident = facts_signal(&p->facts, RUN_JOB_RESIDENT);
    double processes = facts_signal(&p->facts, RUN_JOB_PROCESSES);

    if (!item || !(workers >= 2) || !(resident > 0) || !(processes >= 1))
        return;
    propose_number(p, "loader.workers", half, workers, item->gain,
                   "memory is short: %.0f workers less give back up to %s", workers - half,
                   quantity_bytes((workers - half) * resident / processes).text);
}

void propose_memory(struct proposer *p)
{
    add_device(p);
    add_host(p);
}
