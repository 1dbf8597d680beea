/* Settings of the machine, which need an operator's word. What they gain is not known: a trial
 * tells. */
#include <math.h>
#include <string.h>

#include "model/signal/quantity.h"
#include "tune/propose/propose_private.h"

static const double near_limit = 0.7;  /* of a device's power */
static const double lower_limit = 0.8; /* of the limit of now */
static const double readahead_kb = 4096;
static const double disk_room = 0.9; /* busy for less of the time, it has room for more */

/* The last clocks take the most energy. */
static void add_power(struct proposer *p)
{
    double limit = facts_number(&p->facts, "power.limit");
    double watts = facts_signal(&p->facts, RUN_GPU_WATTS) / facts_signal(&p->facts, RUN_GPUS);
    double share;

    /* Where nobody may set it nobody has asked; the driver's own word is 30 s old at most. */
    if (isnan(limit))
        limit = watts / facts_signal(&p->facts, RUN_GPU_POWER);
    share = watts / limit;
    if (p->about->energy && share >= near_limit && limit > 0)
        propose_number(p, "power.limit", round(lower_limit * limit), limit, (double)NAN,
                       "devices draw %s of their limit: the last clocks take the most energy",
                       quantity_share(share).text);
}

/* A load that draws far below the limit of power, as one that waits for memory, takes less at a
 * lower clock, and is hardly slower. */
static void add_clock(struct proposer *p)
{
    double limit = facts_number(&p->facts, "clock.limit");
    double share = facts_signal(&p->facts, RUN_GPU_POWER);

    if (p->about->energy && limit > 0 && share < near_limit)
        propose_number(
            p, "clock.limit", round(lower_limit * limit), limit, (double)NAN,
            "devices draw %s of their limit of power, which a lower one would not reach: "
            "a lower clock takes less energy",
            quantity_share(share).text);
}

/* Reads that wait for a disk that could do more. */
static void add_disk(struct proposer *p)
{
    bool waits = propose_item(p, CAUSE_STORAGE_LATENCY) || propose_item(p, CAUSE_STORAGE_BANDWIDTH);
    double now = facts_number(&p->facts, "disk.readahead");

    if (waits && now < readahead_kb && !(facts_signal(&p->facts, RUN_DISK_BUSY) > disk_room))
        propose_number(p, "disk.readahead", readahead_kb, now, (double)NAN,
                       "data is waited for %s of the step, and the kernel reads %.0f KiB ahead",
                       quantity_share(p->wait_s / p->step_s).text, now);
}

static void add_governor(struct proposer *p)
{
    const char *now = facts_look(&p->facts, "cpu.governor");
    bool on_cpus = !(facts_signal(&p->facts, RUN_GPUS) > 0) || propose_item(p, CAUSE_LOADER_CPU) ||
                   propose_item(p, CAUSE_FEW_WORKERS);

    if (now && on_cpus && !p->about->energy)
        propose_add(p, "cpu.governor", "performance", now, (double)NAN,
                    "the job computes on CPUs, whose clocks the governor '%s' sets", now);
}

void propose_machine(struct proposer *p)
{
    add_power(p);
    add_clock(p);
    add_disk(p);
    add_governor(p);
}
