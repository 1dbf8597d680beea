/* What the loop does beside loading and training, and what keeps it from running at all. */
#include <string.h>

#include "model/signal/sorted.h"

#include "diagnose/verdict/judge_private.h"

static const double rare_factor = 5; /* of the median: a step with something special in it */
static const double mostly = 0.6;    /* of the time outside of stages: what has it is the reason */
/* Of computing, on a CPU: a first thread that has more is not kept off by a lock. */
static const double awake_most = 0.6;

static double known(double x)
{
    return isnan(x) ? 0 : x;
}

/* What of the time outside of stages lies in few steps: a validation, the begin of an epoch. */
struct rare {
    size_t n;
    double share; /* of all steps' time */
    double every; /* steps from one to the next, in the mean; NaN */
    double longest_s;
};

static struct rare find_rare(struct judge *j, const struct judge_rank *r)
{
    double *room = arena_alloc(&j->scratch, r->n * sizeof(*room)), usual, total = 0;
    struct rare found = { .every = (double)NAN };
    size_t first = 0, last = 0;

    if (!room) {
        j->v->no_memory = true;
        return found;
    }
    for (size_t i = 0; i < r->n; i++)
        room[i] = r->steps[i].host_s[BRIM_STAGE_OTHER];
    usual = sorted_median(room, r->n);
    for (size_t i = 0; i < r->n; i++) {
        double other = r->steps[i].host_s[BRIM_STAGE_OTHER];

        total += step_seconds(&r->steps[i]);
        if (!(other >= rare_factor * usual) || !(other >= r->step_s / 2))
            continue;
        first = found.n ? first : i;
        last = i;
        found.n++;
        found.share += other - usual;
        found.longest_s = fmax(found.longest_s, other);
    }
    found.share = total > 0 ? found.share / total : 0;
    if (found.n >= 2)
        found.every = (double)(last - first) / (double)(found.n - 1);
    return found;
}

/* How much of the time outside of stages the first thread is on a CPU, or could be; NaN. */
static double on_cpu(const struct judge *j, double share)
{
    double thread = judge_mean(j, RUN_RANK_THREAD_CPU) + judge_mean(j, RUN_RANK_THREAD_WAIT);

    if (!(j->wait < j->l.wait_warning))
        return (double)NAN;
    return (thread - j->compute - j->v->share[BRIM_STAGE_COPY]) / share;
}

/* CPUs that processes of the job use which are neither ranks nor workers. */
static double started(const struct judge *j)
{
    return judge_mean(j, RUN_JOB_CPU) - judge_mean(j, RUN_RANK_CPU) * (double)j->n_ranks -
           known(judge_mean(j, RUN_WORKERS)) * known(judge_mean(j, RUN_WORKER_CPU));
}

static bool waits_for_disks(const struct judge *j, double share)
{
    double waits = fmax(judge_mean(j, RUN_JOB_IO_WAIT), judge_mean(j, RUN_JOB_BLOCKED));

    return waits >= j->l.io_waiting * share || judge_mean(j, RUN_IO_PRESSURE) >= share / 2;
}

/* Whether the loop waits for disks that it writes to: healthy jobs have no such time, so that less
 * of it counts. */
static bool writes(const struct judge *j, double share)
{
    return judge_mean(j, RUN_JOB_WRITE) > known(judge_mean(j, RUN_JOB_READ)) &&
           waits_for_disks(j, share);
}

/* Add to the evidence what the loop does outside of stages, and return the words for the sentence;
 * "" where that is not known. */
static const char *tell_kind(struct judge *j, struct verdict_item *to, double share)
{
    double cpu = on_cpu(j, share), processes = started(j);

    if (processes >= j->l.io_waiting * share && !(cpu >= mostly)) {
        judge_agrees(j, to, "processes that it starts use %.1f CPUs", processes);
        return ", waiting for processes that it starts";
    }
    if (cpu >= mostly) {
        judge_agrees(j, to, "its first thread is on a CPU meanwhile");
        return ", on a CPU";
    }
    if (!(cpu <= 1 - mostly))
        return "";
    if (waits_for_disks(j, share)) {
        judge_agrees(j, to, "it waits for disks meanwhile");
        return ", waiting for a disk (logs, files)";
    }
    judge_agrees(j, to, "its first thread sleeps meanwhile, and no disk is waited for");
    return ", asleep (a service on the network, a lock, a sleep)";
}

/* What it does in each step: the line, where that is known. */
static void say_each(struct judge *j, struct verdict_item *to, double share, const char *kind)
{
    const struct verdict_line *line = judge_line(j, BRIM_STAGE_OTHER);

    if (!line) {
        judge_says(j, to,
                   "in each step the loop does something else than loading and training: metrics, "
                   "logging or preparing of batches%s",
                   kind);
        judge_advises(j, to,
                      "see what it is: py-spy record -d 10 -p PID; do it every 10th step, "
                      "or in the loader's workers");
        return;
    }
    to->line = line;
    judge_says(j, to, "the loop between steps takes %s of a step: %s, %s of it%s",
               quantity_share(share).text, line->text, quantity_share(line->of_stage).text, kind);
    judge_advises(j, to, "do what %s does every 10th step, or in the loader's workers",
                  line->place);
}

static void add_loop(struct judge *j, double share, double least)
{
    struct verdict_item *to = judge_add(j, CAUSE_LOOP, -1, share);
    struct rare rare = find_rare(j, &j->ranks[0]);
    bool now_and_then = rare.n > 1 && rare.share >= mostly * share;
    const char *kind = tell_kind(j, to, share);

    to->least = least;
    if (now_and_then) {
        judge_says(j, to,
                   "about every %.0f steps the loop does something else than loading and training: "
                   "a validation or the begin of an epoch%s",
                   rare.every, kind);
        judge_at(j, to, BRIM_STAGE_OTHER);
        judge_agrees(j, to, "%zu of %zu steps have it, the longest %s", rare.n, j->ranks[0].n,
                     quantity_seconds(rare.longest_s).text);
    } else {
        say_each(j, to, share, kind);
    }
    judge_agrees(j, to, "%s of the time is outside of all stages", quantity_share(share).text);
    if (now_and_then)
        judge_advises(j, to, "%s",
                      j->workers > 0
                          ? "DataLoader(persistent_workers=True) if epochs begin there; else "
                            "validate less often, or on less"
                          : "validate or log less often, or on less");
}

/* So much of the step outside of all stages is more than what may be hidden there: of a job that is
 * compiled some of the forward pass (the loss) is not marked, and takes less than all that is. */
static double loop_least(struct judge *j, double share)
{
    double least = writes(j, share) ? j->l.wait_warning : j->l.loop;

    return judge_is_compiled(j) ? fmax(least, j->compute) : least;
}

/* Time of flushes and of collections of garbage is not the loop's. Where steps got slower, that is
 * the cause, unless the loop costs more than twice as much. */
void judge_loop(struct judge *j)
{
    const struct judge_rank *r = &j->ranks[0];
    const struct verdict_item *gc = judge_find(j, CAUSE_GC);
    const struct verdict_item *slower = judge_find(j, CAUSE_SLOWER_THAN_BEFORE);
    double share = j->v->share[BRIM_STAGE_OTHER];
    struct judge_parts parts = { .n = r->n };

    share -= fmax(0, judge_saving(r).share - r->share[BRIM_STAGE_CHECKPOINT]);
    share -= gc ? gc->share : 0;
    if (!j->marked || !(share >= loop_least(j, share)) ||
        judge_mean(j, RUN_GPU_BUSY) >= j->l.gpu_busy ||
        (slower && !(slower->least < j->l.wait_warning) &&
         slower->share >= fmax(j->l.named, share / 2)))
        return;
    for (size_t i = 0; i < r->n; i++)
        judge_parts_add(&parts, i, r->steps[i].host_s[BRIM_STAGE_OTHER],
                        step_seconds(&r->steps[i]));
    add_loop(j, share, judge_parts_least(&parts));
}

/* ---- Python's lock ---- */

/* On CPUs the first thread takes part in all that is computed. Where it sleeps in these stages and
 * other threads of its process are busy, one of them has Python's lock. */
void judge_python_lock(struct judge *j)
{
    double thread = judge_mean(j, RUN_RANK_THREAD_CPU) + judge_mean(j, RUN_RANK_THREAD_WAIT);
    double asleep = j->compute - thread, rest = judge_mean(j, RUN_RANK_CPU) - thread;
    struct verdict_item *to;

    if (j->has_gpus || !j->marked || j->n_ranks > 1 || j->ranks[0].r->world > 1 ||
        !(thread <= awake_most * j->compute) || !(asleep >= j->l.lock_asleep) ||
        !(rest >= j->l.lock_others) || judge_mean(j, RUN_JOB_THROTTLED) >= j->l.cpu_throttled)
        return;
    to = judge_add(j, CAUSE_PYTHON_LOCK, -1, asleep);
    judge_says(j, to,
               "its first thread may not run: other threads of the process hold a lock, as a "
               "second thread in Python does (GIL)");
    judge_agrees(j, to, "it computes %s of the step, and its first thread is on a CPU %s of it",
                 quantity_share(j->compute).text, quantity_share(thread).text);
    judge_agrees(j, to, "other threads of the process use %.1f CPUs", rest);
    judge_at(j, to, LINES_THREAD);
    if (to->line)
        judge_advises(j, to, "move what %s does to a process of its own", to->line->place);
    else
        judge_advises(j, to,
                      "see which: py-spy dump --pid PID; move its work to a process of its own");
}
