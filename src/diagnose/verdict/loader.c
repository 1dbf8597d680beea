/* Why data is waited for, when it is not storage: the loader computes, or waits for something. */
#include "diagnose/verdict/judge_private.h"

static const char do_less[] =
    "do less for each sample: prepare it on disk, decode it faster, or on "
    "the GPU";
static const char see_worker[] =
    "see what a worker does: py-spy dump --pid PID, or strace -f -p PID";

/* The same of the line, where it is known. */
static void do_less_there(struct judge *j, struct verdict_item *to)
{
    const struct verdict_line *line = judge_line(j, BRIM_STAGE_WAIT);

    if (line)
        judge_advises(j, to,
                      "do less for each sample at %s: prepare it on disk, decode it faster, or on "
                      "the GPU",
                      line->place);
    else
        judge_advises(j, to, "%s", do_less);
}

static void see_it_there(struct judge *j, struct verdict_item *to)
{
    const struct verdict_line *line = judge_line(j, BRIM_STAGE_WAIT);

    if (line)
        judge_advises(j, to, "see what %s waits for, and have it there before", line->place);
    else
        judge_advises(j, to, "%s", see_worker);
}

static bool has_room(const struct judge *j)
{
    return judge_mean(j, RUN_CPU_BUSY) < j->l.cpus_free;
}

void judge_tells_wait(struct judge *j, struct verdict_item *to)
{
    struct quantity share = quantity_share(j->wait);

    if (j->marked)
        judge_agrees(j, to, "%s of the step waits for data", share.text);
    else if (judge_mean(j, RUN_GPU_BUSY) >= 0)
        judge_agrees(j, to, "the GPUs are idle %s of the time", share.text);
    else
        judge_agrees(j, to, "its own process is off the CPUs %s of the time", share.text);
}

static void tell_wait(struct judge *j, struct verdict_item *to)
{
    judge_tells_wait(j, to);
    if (j->workers >= 0)
        judge_tells(j, to, "%.0f workers", j->workers);
}

/* As many as brim optimize would try; where no more keep up, something else: otherwise. */
static void advise_workers(struct judge *j, struct verdict_item *to,
                           void (*otherwise)(struct judge *j, struct verdict_item *to))
{
    const struct loader_need need = judge_loader_need(j);
    double n = loader_workers(&need);

    if (n > need.workers)
        judge_advises(j, to, "num_workers=%.0f (brim optimize would try it live)", n);
    else
        otherwise(j, to);
}

static void tell_cpus(struct judge *j, struct verdict_item *to)
{
    if (j->workers > 0)
        judge_agrees(j, to, "a worker is on a CPU %s of the time",
                     quantity_share(judge_mean(j, RUN_WORKER_CPU)).text);
    else if (j->guessed)
        judge_tells(j, to, "the rank's own process loads and computes, and uses %.2f CPUs",
                    judge_mean(j, RUN_RANK_CPU));
    else
        judge_agrees(j, to, "the rank's own process loads, and uses %.2f CPUs",
                     judge_mean(j, RUN_RANK_CPU));
}

/* The loader computes: it costs the waiting, and the CPUs that it takes from the training
 * meanwhile. */
static void add_decoding(struct judge *j)
{
    double taken = j->workers > 0 && !judge_find(j, CAUSE_MANY_WORKERS) ? judge_taken(j) : 0;
    struct verdict_item *to = judge_add(j, CAUSE_LOADER_CPU, -1, fmin(1, j->wait + taken)), *few;

    judge_says(j, to,
               j->workers > 0 ? "the loader's workers are busy on CPUs: decoding and augmenting"
                              : "the training process itself decodes: it has no workers");
    tell_wait(j, to);
    tell_cpus(j, to);
    if (taken > 0)
        judge_tells_taken(j, to);
    if (judge_mean(j, RUN_JOB_IO_WAIT) < j->l.io_waiting * j->wait)
        judge_agrees(j, to, "disks are not waited for");
    if (!has_room(j)) {
        do_less_there(j, to);
        return;
    }
    advise_workers(j, to, do_less_there);
    few = judge_add(j, CAUSE_FEW_WORKERS, -1, j->wait);
    judge_says(j, few, "more workers would load in parallel");
    judge_agrees(j, few, "%s of the CPUs are busy",
                 quantity_share(judge_mean(j, RUN_CPU_BUSY)).text);
    advise_workers(j, few, do_less_there);
}

/* The loader waits for something that was not measured. */
static void add_waiting(struct judge *j)
{
    struct verdict_item *to = judge_add(j, CAUSE_LOADER_WAITS, -1, j->wait);

    judge_says(j, to,
               j->marked ? "the loader waits for something that is neither CPU nor disk: a remote "
                           "store, a sleep or a lock"
                         : "it waits for something that is neither CPU nor disk: a remote store, "
                           "other ranks, a sleep or a lock");
    tell_wait(j, to);
    tell_cpus(j, to);
    if (judge_mean(j, RUN_DISK_BUSY) < j->l.disk_idle)
        judge_agrees(j, to, "disks are %s busy", quantity_share(judge_mean(j, RUN_DISK_BUSY)).text);
    if (judge_mean(j, RUN_JOB_BLOCKED) >= j->l.io_waiting * j->wait)
        judge_tells(j, to, "%.1f processes sleep uninterruptibly, as on a network file system",
                    judge_mean(j, RUN_JOB_BLOCKED));
    if (judge_mean(j, RUN_NET_RECEIVED) >= j->l.bytes_some)
        judge_tells(j, to, "%s come in by network",
                    quantity_rate(judge_mean(j, RUN_NET_RECEIVED)).text);
    if (j->marked)
        advise_workers(j, to, see_it_there);
    else if (judge_line(j, BRIM_STAGE_WAIT))
        judge_advises(j, to, "see what it waits for there%s",
                      j->r->id ? "" : "; brim run tells its stages");
    else
        judge_advises(j, to, "see where it waits: py-spy dump --pid PID%s",
                      j->r->id ? "" : ", or start it by brim run");
}

/* Workers that neither compute nor wait most of the time, with room on the CPUs. */
static void add_few(struct judge *j)
{
    struct verdict_item *to = judge_add(j, CAUSE_FEW_WORKERS, -1, j->wait);

    judge_says(j, to,
               "too few workers: they compute and wait in turn, and nothing is at its limit");
    tell_wait(j, to);
    tell_cpus(j, to);
    judge_agrees(j, to, "%s of the CPUs are busy",
                 quantity_share(judge_mean(j, RUN_CPU_BUSY)).text);
    judge_at(j, to, BRIM_STAGE_WAIT);
    advise_workers(j, to, see_it_there);
}

bool judge_is_handing_over(const struct judge *j)
{
    /* a batch of several tensors takes longer: that counts, too, while it is little of the step */
    double most = j->l.handing_over * (j->wait < j->l.wait_critical ? 2 : 1);

    return j->wait >= j->l.wait_warning && j->cpu_waiting <= j->l.loader_asleep && j->workers > 0 &&
           j->wait * j->v->step_s < most;
}

void judge_loader(struct judge *j)
{
    if (!(j->wait >= j->l.wait_warning))
        return;
    if (j->cpu_waiting >= j->l.loader_on_cpu ||
        (j->cpu_waiting > j->l.loader_asleep && judge_mean(j, RUN_CPU_BUSY) >= j->l.cpus_free))
        add_decoding(j);
    else if (j->cpu_waiting <= j->l.loader_asleep && !judge_is_handing_over(j))
        add_waiting(j);
    else if (j->cpu_waiting > j->l.loader_asleep && has_room(j))
        add_few(j);
}
