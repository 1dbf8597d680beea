/* Memory, copies to devices, clocks of devices, and steps with too little to do. */
#include <string.h>

#include "diagnose/verdict/judge_private.h"

/* Bytes that the job read from disks before it began to read the same ones again: about all that it
 * works on, where it was observed from the begin. */
static double worked_on(const struct judge *j)
{
    double sum = 0;

    for (size_t i = 0; i < j->r->n_moments; i++) {
        const double *x = j->r->moments[i].values;

        if (x[RUN_REFAULTS] >= j->l.read_again * x[RUN_DISK_READ] &&
            x[RUN_REFAULTS] >= j->l.bytes_some)
            break;
        if (x[RUN_JOB_READ] > 0)
            sum += x[RUN_JOB_READ] * j->r->moments[i].seconds;
    }
    return sum;
}

/* Whether the job reads files again that would stay in memory under a higher limit of its cgroup.
 * The node has the memory for it. */
static bool is_read_again(const struct judge *j)
{
    double again = judge_mean(j, RUN_REFAULTS), limit = judge_mean(j, RUN_JOB_MEMORY_LIMIT);

    return j->wait >= j->l.wait_warning && again >= j->l.bytes_some &&
           again >= j->l.read_again * judge_mean(j, RUN_DISK_READ) &&
           judge_mean(j, RUN_JOB_MEMORY) >= j->l.memory_full * limit &&
           worked_on(j) <= judge_mean(j, RUN_MEMORY_AVAILABLE);
}

/* What was found of memory. */
struct memory {
    double pressure, waits, swap, faults, available; /* available: share */
    bool again, swaps;
};

static void tell_memory(struct judge *j, struct verdict_item *to, const struct memory *m)
{
    double again = judge_mean(j, RUN_REFAULTS), reads = judge_mean(j, RUN_DISK_READ);

    if (m->again) {
        judge_agrees(j, to, "%s of the %s that are read had been in memory",
                     quantity_share(fmin(1, again / reads)).text, quantity_rate(reads).text);
        judge_agrees(j, to, "its cgroup uses %s of %s",
                     quantity_bytes(judge_mean(j, RUN_JOB_MEMORY)).text,
                     quantity_bytes(judge_mean(j, RUN_JOB_MEMORY_LIMIT)).text);
        judge_tells(j, to, "the node has %s to spare",
                    quantity_bytes(judge_mean(j, RUN_MEMORY_AVAILABLE)).text);
        judge_tells_wait(j, to);
    }
    if (m->pressure >= j->l.memory_pressure)
        judge_agrees(j, to, "memory pressure %s", quantity_share(m->pressure).text);
    if (m->waits >= j->l.memory_pressure)
        judge_agrees(j, to, "its threads wait for memory %s of the time",
                     quantity_share(fmin(1, m->waits)).text);
    if (m->swap >= j->l.swapping)
        judge_agrees(j, to, "%s swapped", quantity_rate(m->swap).text);
    if (m->faults >= j->l.major_faults)
        judge_agrees(j, to, "%s major faults/s", quantity_count(m->faults).text);
    if (m->available < 2 * j->l.memory_low)
        judge_agrees(j, to, "%s of the memory is available", quantity_share(m->available).text);
}

void judge_memory(struct judge *j)
{
    struct memory m = { .pressure = judge_mean(j, RUN_MEMORY_PRESSURE),
                        .waits = judge_mean(j, RUN_JOB_MEMORY_WAIT) / (double)MAX(j->n_ranks, 1),
                        .swap = judge_mean(j, RUN_SWAP),
                        .faults = judge_mean(j, RUN_JOB_MAJOR_FAULTS),
                        .again = is_read_again(j) };
    struct verdict_item *to;

    m.available = judge_mean(j, RUN_MEMORY_AVAILABLE) / judge_mean(j, RUN_MEMORY_TOTAL);
    m.swaps = m.swap >= j->l.swapping ||
              (m.faults >= j->l.major_faults && m.available < j->l.memory_low);
    if (!(m.pressure >= j->l.memory_pressure) && !(m.waits >= j->l.memory_pressure) && !m.swaps &&
        !m.again)
        return;
    to = judge_add(
        j, CAUSE_MEMORY_PRESSURE, -1,
        fmax(fmin(1, fmax(m.pressure, m.waits)), m.swaps || m.again ? fmax(j->wait, 0) : 0));
    if (m.again)
        judge_says(j, to,
                   "its memory limit is too low: files that it read are dropped and read "
                   "again");
    else
        judge_says(j, to,
                   m.swaps ? "memory is full: pages are read back from disk"
                           : "memory is short: the kernel searches for free pages");
    tell_memory(j, to, &m);
    judge_advises(j, to,
                  "fewer workers or a smaller prefetch_factor; raise the limit "
                  "(memory.max, --mem)");
}

/* ---- copies ---- */

static bool is_pageable(struct judge *j)
{
    const char *pin = judge_setting(j, j->ranks[0].r, "loader", "pin");

    return pin && (!strcmp(pin, "no") || !strcmp(pin, "0") || !strcmp(pin, "False"));
}

void judge_copies(struct judge *j)
{
    double copy = j->v->share[BRIM_STAGE_COPY], width = judge_mean(j, RUN_GPU_PCIE_WIDTH);
    double load = judge_mean(j, RUN_GPU_PCIE);
    bool is_narrow = width < j->l.pcie_width, is_full = load >= j->l.pcie_load;
    struct verdict_item *to;

    if (!(copy >= j->l.copy_warning))
        return;
    if (is_narrow || is_full) {
        to = judge_add(j, CAUSE_PCIE, -1, copy * (is_narrow ? 1 - width / 2 : 1));
        judge_says(j, to,
                   is_narrow ? "a GPU's PCIe link runs below what GPU and slot can do"
                             : "the PCIe link to the GPUs is full");
        judge_agrees(j, to, "copies take %s of the step", quantity_share(copy).text);
        if (is_narrow)
            judge_agrees(j, to, "the link has %s of its rate", quantity_share(width).text);
        if (is_full)
            judge_agrees(j, to, "it is %s full", quantity_share(load).text);
        judge_advises(j, to, "brim machine --audit says which link, and why");
        return;
    }
    if (!is_pageable(j))
        return;
    to = judge_add(j, CAUSE_PAGEABLE_COPY, -1, copy);
    judge_says(j, to, "batches are copied to the device from memory that is not pinned");
    judge_agrees(j, to, "copies take %s of the step", quantity_share(copy).text);
    judge_agrees(j, to, "pin_memory is off");
    if (!isnan(load))
        judge_agrees(j, to, "the PCIe link is %s full", quantity_share(load).text);
    judge_advises(j, to, "DataLoader(pin_memory=True) and .to(device, non_blocking=True)");
}

/* ---- clocks ---- */

void judge_gpus(struct judge *j)
{
    double hot = judge_mean(j, RUN_GPU_THROTTLED), capped = judge_mean(j, RUN_GPU_CAPPED);
    double clock = judge_mean(j, RUN_GPU_CLOCK);
    double lost = clock < 1 ? 1 - clock : (double)NAN;
    struct verdict_item *to;

    if (hot >= j->l.gpu_throttled) {
        to = judge_add(j, CAUSE_THERMAL, -1, j->compute * fmin(lost, hot)); /* lost: or NaN */
        judge_says(j, to, "the GPUs slow down for heat or a power brake");
        judge_agrees(j, to, "throttled %s of the time", quantity_share(hot).text);
        if (clock < j->l.gpu_clock)
            judge_agrees(j, to, "clocks at %s of the highest", quantity_share(clock).text);
        judge_advises(j, to,
                      "look at fans, inlet temperature and power supplies: "
                      "nvidia-smi -q -d TEMPERATURE,PERFORMANCE");
    }
    if (capped >= j->l.gpu_capped && clock < j->l.gpu_clock_capped) {
        to = judge_add(j, CAUSE_POWER_CAP, -1, j->compute * lost);
        judge_says(j, to, "the power limit holds the GPUs' clocks at %s",
                   quantity_share(clock).text);
        judge_agrees(j, to, "at the limit %s of the time", quantity_share(capped).text);
        judge_agrees(j, to, "clocks at %s of the highest", quantity_share(clock).text);
        judge_advises(j, to, "raise the limit if the site allows: nvidia-smi -q -d POWER");
    }
}

/* ---- too little to do ---- */

static void tell_launches(struct judge *j, struct verdict_item *to)
{
    judge_agrees(j, to, "a rank's own process uses %.2f CPUs", judge_mean(j, RUN_RANK_CPU));
    if (j->samples > 0)
        judge_tells(j, to, "%s samples per step", quantity_count(j->samples).text);
    judge_advises(j, to, "a larger batch if the memory has room%s",
                  !judge_is_compiled(j) ? "; torch.compile or CUDA graphs"
                  : j->has_gpus         ? "; torch.compile(mode=\"reduce-overhead\")"
                                        : "");
}

bool judge_is_compiled(struct judge *j)
{
    const char *compiled = j->n_ranks ? judge_setting(j, j->ranks[0].r, "torch", "compile") : NULL;

    return compiled && !strcmp(compiled, "yes");
}

/* Whether a step is so short that calls cost most, on however many CPUs its operators run. */
static bool is_tiny(const struct judge *j)
{
    return !j->has_gpus && j->v->step_s < j->l.tiny_step;
}

/* The share of the step that calls take: computing and, in a tiny step, the call of the loader as
 * well. A loader that takes longer than computing does more than be called. */
static double calling(const struct judge *j)
{
    bool loads = is_tiny(j) && !(j->workers > 0) && j->wait < j->compute;

    return j->compute + (loads ? j->wait : 0);
}

/* CPUs that a rank uses, or that its first thread would use if other threads left it one. */
static double wanted_cpus(const struct judge *j)
{
    return fmax(judge_mean(j, RUN_RANK_CPU),
                judge_mean(j, RUN_RANK_THREAD_CPU) + judge_mean(j, RUN_RANK_THREAD_WAIT));
}

/* Whether a rank's own process is busy. In a tiny step threads that share operators wait for each
 * other a little, in each of them. */
static bool is_busy(const struct judge *j)
{
    return wanted_cpus(j) >= j->l.launch_cpu - (is_tiny(j) ? 0.1 : 0);
}

void judge_launches(struct judge *j)
{
    double busy = judge_mean(j, RUN_GPU_BUSY), active = judge_mean(j, RUN_GPU_SM_ACTIVE);
    double rank = wanted_cpus(j), calls = calling(j);
    struct verdict_item *to;

    if (!is_busy(j) || !(calls >= j->l.compute_most))
        return;
    if (active < j->l.sm_active || busy < j->l.gpu_busy - 0.1) {
        to = judge_add(j, CAUSE_SMALL_BATCH, -1,
                       j->compute * fmax(1 - busy, j->l.launch_cost * (1 - active)));
        judge_says(j, to, "the GPU waits for launches: kernels are too small");
        judge_agrees(j, to, "the GPU is %s busy, %s of its multiprocessors work",
                     quantity_share(busy).text, quantity_share(active).text);
        tell_launches(j, to);
    } else if (!j->has_gpus && j->marked &&
               (is_tiny(j) || (j->v->step_s < j->l.short_step && rank < 1.5))) {
        to = judge_add(j, CAUSE_SMALL_BATCH, -1, calls * j->l.launch_cost);
        judge_says(j, to, "the steps are so short that calling operators costs more than they do");
        judge_agrees(j, to, "a step takes %s", quantity_seconds(j->v->step_s).text);
        tell_launches(j, to);
    }
}

/* ---- advice ---- */

void judge_room(struct judge *j)
{
    double used = judge_mean(j, RUN_GPU_MEMORY);
    struct verdict_item *to;

    if (!(used < j->l.gpu_memory_unused) || !(j->compute >= j->l.compute_most))
        return;
    to = judge_add(j, CAUSE_MEMORY_UNUSED, -1, (double)NAN);
    judge_says(j, to, "%s of the GPUs' memory is free: there is room for larger batches",
               quantity_share(1 - used).text);
    judge_agrees(j, to, "%s in use", quantity_share(used).text);
    judge_advises(j, to, "brim optimize --allow numeric -- COMMAND");
}
