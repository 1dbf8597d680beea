#include "diagnose/verdict/judge.h"

#include <errno.h>

#include "base/clock.h"
#include "diagnose/verdict/explain.h"
#include "diagnose/verdict/judge_private.h"
#include "rules_thresholds_ini.h"

enum { AGREE_MANY = 4 };

/* ---- the end ---- */

/* Each signal that agrees halves the doubt; fewer than steps-sure steps add to it. */
static double confidence(const struct judge *j, double agree)
{
    double seen = fmin(1, (double)j->steps / j->l.steps_sure);

    return (1 - pow(0.5, agree)) * (0.5 + seen / 2);
}

static enum severity severity(const struct judge *j, const struct verdict_item *i)
{
    if (i->cause == CAUSE_MEMORY_UNUSED || i->cause == CAUSE_NONE ||
        !(i->share >= j->l.wait_warning / 2))
        return i->cause == CAUSE_UNKNOWN ? SEVERITY_UNKNOWN : SEVERITY_NOTE;
    if (i->share >= j->l.wait_critical && i->confidence >= 0.5)
        return SEVERITY_CRITICAL;
    return i->share >= j->l.wait_warning ? SEVERITY_WARNING : SEVERITY_NOTE;
}

/* What an item is ordered by. A run that is slower than before has a reason, and a cause that costs
 * a third as much goes before it. A part of communication stays whatever a user does, and ranks
 * that are not equal cause another part. */
static double weight(const struct verdict_item *i)
{
    switch (i->cause) {
    case CAUSE_SLOWER_THAN_BEFORE:
        return i->share / 3;
    case CAUSE_COMMUNICATION:
        return 0.8 * i->share;
    default:
        return i->share;
    }
}

/* 'Nothing limits it' goes first and advice last; of the others the one that costs more, and one of
 * unknown cost behind one of known cost. */
static bool is_before(const struct verdict_item *a, const struct verdict_item *b)
{
    bool advice_a = a->cause == CAUSE_MEMORY_UNUSED, advice_b = b->cause == CAUSE_MEMORY_UNUSED;

    if (advice_a != advice_b)
        return advice_b;
    if (a->cause == CAUSE_NONE || b->cause == CAUSE_NONE)
        return a->cause == CAUSE_NONE;
    if (isnan(a->share) || isnan(b->share))
        return !isnan(a->share) && isnan(b->share);
    return weight(a) > weight(b);
}

/* Whether what is judged is steps. Where none were marked and nothing repeats itself, shares are of
 * the time: what a job would gain cannot be told of them. */
static bool has_rhythm(const struct run *r)
{
    return !r->inferred || r->inferred_confidence > 0;
}

/* In order of cost, equal ones as they were found. */
static void rank_items(struct judge *j)
{
    struct verdict *v = j->v;

    for (size_t i = 0; i < v->count; i++) {
        struct verdict_item *at = &v->items[i];

        at->share = at->share > 0.99 ? 0.99 : at->share;
        at->gain = at->cause == CAUSE_NONE || !has_rhythm(j->r) ? (double)NAN
                                                                : judge_gain(at->share);
        at->confidence = confidence(j, at->confidence);
        at->severity = severity(j, at);
    }
    for (size_t i = 1; i < v->count; i++)
        for (size_t k = i; k > 0 && is_before(&v->items[k], &v->items[k - 1]); k--) {
            struct verdict_item swap = v->items[k];

            v->items[k] = v->items[k - 1];
            v->items[k - 1] = swap;
        }
}

static void say_all(struct judge *j)
{
    const struct verdict_item *first = &j->v->items[0];
    char cost[128] = "", sure[32] = "";

    if (!j->v->count)
        return;
    if (first->cause != CAUSE_NONE && first->share > 0 && isnan(first->gain))
        snprintf(cost, sizeof(cost), "; %s of the time", quantity_share(first->share).text);
    else if (first->cause != CAUSE_NONE && first->share > 0)
        snprintf(cost, sizeof(cost), "; costs %s of the step, at most %.*fx faster without it",
                 quantity_share(first->share).text, first->gain < 1.995 ? 2 : 1, first->gain);
    if (first->confidence > 0)
        snprintf(sure, sizeof(sure), " (%s sure)", quantity_share(first->confidence).text);
    j->v->sentence = arena_printf(&j->v->arena, "%s%s%s", first->sentence, cost, sure);
    if (!j->v->sentence)
        j->v->no_memory = true;
}

/* ---- nothing, or nothing known ---- */

/* Whether a share of the time is more than chance, and more than what healthy jobs lose: it is
 * large (threshold 'mostly'); or less ('agreed'), and four signals agree on the cause; or still
 * less ('named'), and there in most parts of the run. */
static bool is_for_sure(const struct judge *j, double share, double least, double agree)
{
    return share >= j->l.mostly || (share >= j->l.agreed && agree >= AGREE_MANY) ||
           (share >= j->l.named && !(least < j->l.wait_warning));
}

static bool has_steps(const struct run *r)
{
    for (size_t i = 0; i < r->n_ranks; i++)
        if (r->ranks[i].n_steps || r->ranks[i].total.number)
            return true;
    return false;
}

/* It has ended, and nobody saw a step of it: of one that failed there is nothing to judge. */
static void add_stepless(struct judge *j)
{
    struct verdict_item *to = judge_add(j, CAUSE_UNKNOWN, -1, (double)NAN);
    const struct run *r = j->r;
    bool failed = r->end == RUN_KILLED || (r->end == RUN_EXITED && r->status != 0);

    if (r->end == RUN_KILLED)
        judge_says(j, to, "signal %d ended it before its first step", r->status);
    else if (failed)
        judge_says(j, to, "it failed with exit status %d before its first step", r->status);
    else
        judge_says(j, to, "it ended without a step that could be seen");
    judge_tells(j, to, "it took %s",
                quantity_seconds((double)(r->end_ns - r->begin_ns) / NS_PER_S).text);
    if (failed)
        judge_advises(j, to, "see what it wrote last: what failed is in the job, not in its speed");
    else
        judge_advises(j, to, "mark its steps: include/brim/step.h, or run it with PyTorch's shim");
}

/* What its processes read and write, a second; what was not measured is not counted. */
static double bytes_moved(const struct judge *j)
{
    static const enum run_signal moved[] = { RUN_JOB_READ, RUN_JOB_WRITE, RUN_JOB_IO_READ,
                                             RUN_JOB_IO_WRITTEN };
    double most = 0;

    for (size_t i = 0; i < ARRAY_SIZE(moved); i++)
        most = fmax(most, judge_mean(j, moved[i]));
    return most;
}

/* A shell that waits for its user, say: no steps, and nothing is used of the machine. What it waits
 * for is not known, and that it would be faster without is not said. */
static bool is_idle(const struct judge *j)
{
    return !has_rhythm(j->r) && judge_mean(j, RUN_JOB_CPU) < j->l.idle_cpus &&
           bytes_moved(j) < j->l.idle_bytes && !(judge_mean(j, RUN_GPU_BUSY) >= j->l.idle_cpus);
}

static void add_idle(struct judge *j)
{
    struct verdict_item *to = judge_add(j, CAUSE_UNKNOWN, -1, (double)NAN);

    judge_says(j, to,
               "it does no steps that could be seen, and uses nothing: it is idle, or waits "
               "for something outside of it");
    judge_tells(j, to, "it uses %.3f CPUs", judge_mean(j, RUN_JOB_CPU));
    judge_tells(j, to, "it reads or writes %s", quantity_rate(bytes_moved(j)).text);
    if (judge_line(j, BRIM_STAGE_OTHER))
        judge_advises(j, to, "if it should work, see what it waits for there");
    else
        judge_advises(j, to, "if it should work, see where it waits: py-spy dump --pid PID");
    judge_at(j, to, BRIM_STAGE_OTHER);
}

static void add_unknown(struct judge *j)
{
    struct verdict_item *to;

    if ((j->r->end == RUN_EXITED || j->r->end == RUN_KILLED) && !has_steps(j->r)) {
        add_stepless(j);
        return;
    }
    if (j->steps < (size_t)j->l.steps_least) {
        to = judge_add(j, CAUSE_UNKNOWN, -1, (double)NAN);
        judge_says(j, to, "%s",
                   j->n_ranks || has_steps(j->r) ? "too few steps were seen to tell"
                                                 : "no steps were seen");
        judge_tells(j, to, "%zu ranks, %zu steady steps", j->n_ranks, j->steps);
        judge_advises(j, to, "let it run for %.0f steps and more", j->l.steps_sure);
        return;
    }
    if (is_for_sure(j, j->wait, j->wait_least, 0) && !judge_is_handing_over(j)) {
        to = judge_add(j, CAUSE_UNKNOWN, -1, j->wait);
        judge_says(j, to, "waits for data, and what was measured does not tell why");
        judge_at(j, to, BRIM_STAGE_WAIT);
        judge_tells_wait(j, to);
        if (!j->n_whole)
            judge_advises(j, to,
                          "let it run for longer: its start was measured, its steps were not");
        return;
    }
    if (isnan(j->wait)) {
        to = judge_add(j, CAUSE_UNKNOWN, -1, (double)NAN);
        judge_says(j, to, "its steps were not marked, and nothing measured tells what it does");
        judge_at(j, to, BRIM_STAGE_OTHER);
        judge_tells(j, to, "%zu steps without stages", j->steps);
        judge_advises(j, to, "mark its steps: include/brim/step.h, or run it with PyTorch's shim");
        return;
    }
    if (j->marked && !(j->v->share[BRIM_STAGE_OTHER] < j->l.other_unknown) &&
        !(judge_mean(j, RUN_GPU_BUSY) >= j->l.gpu_busy)) {
        to = judge_add(j, CAUSE_UNKNOWN, -1, j->v->share[BRIM_STAGE_OTHER]);
        judge_says(j, to, "much of the step is in no stage that is marked");
        judge_at(j, to, BRIM_STAGE_OTHER);
        judge_agrees(j, to, "%s of the step is outside of all stages",
                     quantity_share(to->share).text);
        judge_advises(j, to, "mark it: include/brim/step.h");
    }
}

/* The highest cost of an item; 0: there is none of known cost. */
static double costliest(const struct judge *j)
{
    double most = 0;

    for (size_t i = 0; i < j->v->count; i++)
        most = fmax(most, j->v->items[i].share);
    return most;
}

static void add_none(struct judge *j)
{
    double share = j->marked ? j->compute : (double)NAN, most = costliest(j);
    struct verdict_item *to = judge_add(j, CAUSE_NONE, -1, share);

    if (most >= j->l.named)
        judge_says(j, to, "nothing limits it all the time: what it loses it loses now and then");
    else if (most >= j->l.wait_warning / 2)
        judge_says(j, to, "nothing limits it much: what it loses is less than %s of the step",
                   quantity_share(j->l.named).text);
    else
        judge_says(j, to, "nothing limits it but computing");
    if (j->marked)
        judge_agrees(j, to, "computes %s of the step", quantity_share(j->compute).text);
    if (judge_is_handing_over(j))
        judge_tells(j, to, "its loader's workers take %s to hand a batch over",
                    quantity_seconds(j->wait * j->v->step_s).text);
    else if (j->wait < j->l.wait_warning)
        judge_agrees(j, to, "waits %s%s of %s", j->marked ? "for data " : "",
                     quantity_share(fmax(0, j->wait)).text, j->marked ? "it" : "the time");
    if (judge_mean(j, RUN_GPU_BUSY) >= j->l.gpu_busy)
        judge_agrees(j, to, "GPUs are %s busy", quantity_share(judge_mean(j, RUN_GPU_BUSY)).text);
    else if (judge_mean(j, RUN_RANK_CPU) >= j->l.launch_cpu)
        judge_agrees(j, to, "each rank uses %.1f CPUs", judge_mean(j, RUN_RANK_CPU));
    judge_advises(j, to, "compare with other batch sizes and precisions: brim optimize");
}

/* Set what items cost at least, where their share is the waiting or the communication of the run.
 * The rules of other causes have set it. */
static void look_at_least(struct judge *j)
{
    for (size_t i = 0; i < j->v->count; i++) {
        struct verdict_item *k = &j->v->items[i];

        switch (k->cause) {
        case CAUSE_STORAGE_BANDWIDTH:
        case CAUSE_STORAGE_LATENCY:
        case CAUSE_STORAGE_CONTENTION:
        case CAUSE_SMALL_FILES:
        case CAUSE_LOADER_CPU:
        case CAUSE_LOADER_WAITS:
        case CAUSE_FEW_WORKERS:
            if (k->share == j->wait)
                k->least = j->wait_least;
            break;
        case CAUSE_COMMUNICATION:
        case CAUSE_SLOW_LINK:
        case CAUSE_LOSSY_NETWORK:
            k->least = j->exposed_least;
            break;
        default:
            break;
        }
    }
}

/* Whether an item may stand first. What is only a share of the time can be chance or what the job
 * is like: it has to cost more than what warns, and in most parts of the run. What was counted, as
 * checkpoints, or compared, as a rank with its peers, has to cost half as much. */
static bool limits(const struct judge *j, const struct verdict_item *i)
{
    double half = j->l.wait_warning / 2;

    switch (i->cause) {
    case CAUSE_MEMORY_UNUSED:
        return false;
    case CAUSE_CHECKPOINT:
    case CAUSE_GC:
    case CAUSE_THERMAL:
    case CAUSE_POWER_CAP:
    case CAUSE_CPU_QUOTA:
    case CAUSE_MEMORY_PRESSURE:
    case CAUSE_SLOW_RANK:
        return i->share >= half && !(i->least < half);
    default:
        return is_for_sure(j, i->share, i->least, i->confidence);
    }
}

/* Whether there is an item that may stand first. */
static bool is_limited(const struct judge *j)
{
    for (size_t i = 0; i < j->v->count; i++)
        if (limits(j, &j->v->items[i]))
            return true;
    return false;
}

static void apply_rules(struct judge *j)
{
    bool on_storage = false;

    judge_find_lines(j);
    if (j->steps < (size_t)j->l.steps_least) {
        j->v->too_few = true;
        add_unknown(j);
        return;
    }
    if (is_idle(j)) {
        add_idle(j);
        return;
    }
    judge_slow_ranks(j);
    judge_communication(j);
    judge_memory(j);
    judge_cpus(j);
    judge_numerics(j);
    judge_storage(j, &on_storage);
    if (!on_storage)
        judge_loader(j);
    judge_copies(j);
    judge_gpus(j);
    judge_launches(j);
    judge_pauses(j);
    judge_past(j);
    judge_loop(j);
    judge_python_lock(j);
    j->v->count = judge_explain(j->v->items, j->v->count,
                                judge_mean(j, RUN_CPU_STEAL) >= j->l.cpu_stolen);
    look_at_least(j);
    judge_locate(j);
    if (!is_limited(j))
        add_unknown(j);
    if (!is_limited(j) && !judge_find(j, CAUSE_UNKNOWN))
        add_none(j);
    judge_room(j);
}

int judge_run(const struct run *r, const struct run *earlier, struct verdict *v)
{
    struct judge j = { .r = r, .earlier = earlier, .v = v };
    struct err e;
    int rc;

    if (judge_limits_load(&j.l, "thresholds.ini", data_rules_thresholds_ini,
                          data_rules_thresholds_ini_len, &e) < 0)
        abort(); /* a test reads the file that is built in */
    rc = judge_look(&j);
    if (rc == 0) {
        apply_rules(&j);
        v->loader = judge_loader_need(&j);
    }
    if (rc == 0 && !v->no_memory)
        rank_items(&j);
    if (rc == 0 && !v->no_memory)
        say_all(&j);
    arena_done(&j.scratch);
    return rc == 0 && v->no_memory ? -ENOMEM : rc;
}
