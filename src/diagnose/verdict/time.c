/* What happens now and then, and what was better before. */
#include <string.h>

#include "model/signal/sorted.h"

#include "diagnose/verdict/failslow.h"
#include "diagnose/verdict/judge_private.h"

/* Spikes at random have gaps that equal in one of a hundred runs with eight of them, in one of
 * three with three (40,000 draws of geometric gaps against spike-regular). */
enum { SPIKES_LEAST = 8, ENVIRONMENT_SHOWN = 4, WHOLE_STEP = BRIM_STAGES };

/* ---- pauses ---- */

/* A flush to disks behind a checkpoint is in no stage. It is what a step that saves has outside of
 * all stages, beyond the mean of the steps that do not save. */
struct judge_saving judge_saving(const struct judge_rank *r)
{
    struct judge_saving c = { .of = r->n };
    double total = 0, lost = 0, other = 0, usual;

    for (size_t i = 0; i < r->n; i++) {
        const struct step *s = &r->steps[i];

        if (!(s->host_s[BRIM_STAGE_CHECKPOINT] > 0))
            other += s->host_s[BRIM_STAGE_OTHER];
        c.n += s->host_s[BRIM_STAGE_CHECKPOINT] > 0;
        total += step_seconds(s);
    }
    usual = c.n < r->n ? other / (double)(r->n - c.n) : (double)NAN;
    for (size_t i = 0; i < r->n; i++) {
        const struct step *s = &r->steps[i];
        double took = s->host_s[BRIM_STAGE_CHECKPOINT];
        double behind = s->host_s[BRIM_STAGE_OTHER] - usual;

        if (took > 0 && behind > usual && behind > 0) {
            c.flushed++;
            took += behind;
        }
        lost += took;
        c.longest_s = fmax(c.longest_s, took);
    }
    c.share = total > 0 ? lost / total : 0;
    return c;
}

struct judge_saving judge_saving_most(const struct judge *j, double *sum)
{
    struct judge_saving most = judge_saving(&j->ranks[0]);

    *sum = most.share;
    for (size_t i = 1; i < j->n_ranks; i++) {
        struct judge_saving c = judge_saving(&j->ranks[i]);

        *sum += c.share;
        if (c.share > most.share)
            most = c;
    }
    return most;
}

static void judge_checkpoints(struct judge *j)
{
    double sum, share;
    struct judge_saving c = judge_saving_most(j, &sum);
    struct verdict_item *to;

    share = fmax(c.share, j->v->share[BRIM_STAGE_CHECKPOINT]);

    if (!(share >= j->l.checkpoint))
        return;
    to = judge_add(j, CAUSE_CHECKPOINT, -1, share);
    judge_says(j, to, "training stands still while checkpoints are written");
    judge_agrees(j, to, "%zu checkpoints in %zu steps, the longest %s", c.n, c.of,
                 quantity_seconds(c.longest_s).text);
    if (j->n_ranks > 1 && sum < 1.5 * share)
        judge_tells(j, to, "one rank saves, the others wait for it");
    if (c.flushed)
        judge_tells(j, to, "%zu with time behind saving: they are flushed", c.flushed);
    judge_agrees(j, to, "%s of the time", quantity_share(share).text);
    if (judge_mean(j, RUN_JOB_WRITE) >= j->l.bytes_some)
        judge_agrees(j, to, "%s written", quantity_rate(judge_mean(j, RUN_JOB_WRITE)).text);
    judge_advises(j, to,
                  "write them less often, or beside training "
                  "(torch.distributed.checkpoint.async_save)");
}

/* Steps that are much longer than the median, and not by waiting, copies or communication. Steps
 * that save are none: their flushes are in no stage. */
struct spikes {
    size_t n;
    double share;   /* of the time, what is above the median */
    double regular; /* deviation to mean of the steps between them */
};

static bool is_spike(const struct judge *j, const struct judge_rank *r, const struct step *s)
{
    double named = s->host_s[BRIM_STAGE_WAIT] + s->host_s[BRIM_STAGE_COPY] +
                   s->host_s[BRIM_STAGE_COMMUNICATION];
    double usual = r->share[BRIM_STAGE_WAIT] + r->share[BRIM_STAGE_COPY] +
                   r->share[BRIM_STAGE_COMMUNICATION];

    return !(s->host_s[BRIM_STAGE_CHECKPOINT] > 0) &&
           step_seconds(s) - fmax(0, named - usual * r->step_s) >= j->l.spike * r->step_s;
}

static struct spikes find_spikes(const struct judge *j, const struct judge_rank *r)
{
    struct spikes s = { .regular = (double)NAN };
    double excess = 0, total = 0, gaps = 0, squares = 0, n, mean;
    size_t last = 0;

    for (size_t i = 0; i < r->n; i++) {
        total += step_seconds(&r->steps[i]);
        if (!is_spike(j, r, &r->steps[i]))
            continue;
        excess += step_seconds(&r->steps[i]) - r->step_s;
        gaps += s.n ? (double)(i - last) : 0;
        squares += s.n ? (double)(i - last) * (double)(i - last) : 0;
        last = i;
        s.n++;
    }
    if (s.n < SPIKES_LEAST)
        return s;
    n = (double)s.n - 1;
    mean = gaps / n;
    s.regular = sqrt(fmax(0, squares / n - mean * mean)) / mean;
    s.share = excess / total;
    return s;
}

/* Pauses of the garbage collector, as the shim has counted them; of a job that counts none, steps
 * that are long at equal distances, on a CPU. */
static void judge_gc(struct judge *j)
{
    const struct judge_rank *r = &j->ranks[0];
    double told = judge_number(j, "gc", "seconds") * j->v->steps_per_s /
                  (double)(r->r->n_steps + r->r->dropped);
    struct spikes s = find_spikes(j, r);
    /* the shim counts collections: without a count there was none */
    bool watched = r->r->framework && !strncmp(r->r->framework, "torch", 5);
    bool seen = isnan(told) && !watched && s.regular <= j->l.spike_regular && s.share >= j->l.gc &&
                judge_mean(j, RUN_RANK_CPU) >= j->l.launch_cpu - 0.1 &&
                !(judge_mean(j, RUN_JOB_THROTTLED) >= j->l.cpu_throttled);
    struct verdict_item *to;

    if (!(told >= j->l.gc) && !seen)
        return;
    to = judge_add(j, CAUSE_GC, -1, fmax(told, seen ? s.share : 0));
    judge_says(j, to, "regular pauses%s",
               told >= j->l.gc ? " of Python's garbage collector"
                               : ", as Python's garbage collector makes");
    if (told >= j->l.gc)
        judge_agrees(j, to, "the collector ran %s of the time", quantity_share(told).text);
    if (seen) {
        judge_agrees(j, to, "%zu of %zu steps take %.1f times the median and more", s.n, r->n,
                     j->l.spike);
        judge_agrees(j, to, "at equal distances, on a CPU, with no stage that tells");
    }
    judge_advises(j, to,
                  "gc.freeze() after the first steps and gc.collect() at a fixed step of all "
                  "ranks");
    judge_tells_line(j, to, BRIM_STAGE_OTHER);
}

void judge_pauses(struct judge *j)
{
    judge_checkpoints(j);
    judge_gc(j);
}

/* ---- the past ---- */

/* The stage that takes more of the time than before, in a run that got slower. */
static unsigned grown_stage(const struct judge_rank *r, size_t at)
{
    double sums[2][BRIM_STAGES] = { { 0 } }, most = 0;
    unsigned found = 0;

    for (size_t i = 0; i < r->n; i++)
        for (unsigned s = 0; s < BRIM_STAGES; s++)
            sums[i >= at][s] += r->steps[i].host_s[s] / (double)(i >= at ? r->n - at : at);
    for (unsigned s = 0; s < BRIM_STAGES; s++)
        if (sums[1][s] - sums[0][s] > most) {
            most = sums[1][s] - sums[0][s];
            found = s;
        }
    return found;
}

/* Step times before and behind a moment, and what others took of the CPUs. */
struct past {
    double before_s, now_s;
    double others_before, others_now; /* CPUs */
    double steal_before, steal_now;   /* share of the CPUs */
    double busy;                      /* the CPUs now, share */
};

/* Whether other processes or a hypervisor are why: they take more of the CPUs than before, by a
 * quarter of the slowdown at least, and no CPUs are left beside them. */
static bool is_by_others(const struct judge *j, const struct past *p)
{
    double more = (p->others_now - p->others_before) / j->cpus;
    double steal = p->steal_now - p->steal_before;

    more = (isnan(more) ? 0 : more) + (steal > 0 ? steal : 0);
    return more >= fmax(j->l.other_share, (1 - p->before_s / p->now_s) / 4) &&
           p->busy + (p->steal_now > 0 ? p->steal_now : 0) >= j->l.cpus_free;
}

static void tell_others(struct judge *j, struct verdict_item *to, const struct past *p)
{
    if (p->others_now > p->others_before)
        judge_agrees(j, to, "other processes use %.1f CPUs, %.1f before", p->others_now,
                     p->others_before);
    if (p->steal_now - p->steal_before >= j->l.other_share)
        judge_agrees(j, to, "the hypervisor takes %s of the CPUs, %s before",
                     quantity_share(p->steal_now).text, quantity_share(p->steal_before).text);
}

/* The item for a slowdown: of the other processes, where these are why, else of its own. An item of
 * other processes that is there already costs as much as the slowdown at least. */
static struct verdict_item *add_past(struct judge *j, const struct past *p)
{
    double share = 1 - p->before_s / p->now_s;
    struct verdict_item *to = judge_find(j, CAUSE_CPU_NEIGHBOURS);

    if (!is_by_others(j, p))
        return judge_add(j, CAUSE_SLOWER_THAN_BEFORE, -1, share);
    if (!to)
        to = judge_add(j, CAUSE_CPU_NEIGHBOURS, -1, share);
    to->share = fmax(to->share, share);
    return to;
}

/* The median of the steps from one to before another, or of a stage of them; NaN without memory.
 * *quarter: what a quarter of them stays below; NULL: not wanted. */
static double median_of(struct judge *j, const struct judge_rank *r, size_t from, size_t to,
                        unsigned stage, double *quarter)
{
    double *room = arena_alloc(&j->scratch, (to - from + 1) * sizeof(*room)), median;

    if (!room) {
        j->v->no_memory = true;
        return (double)NAN;
    }
    for (size_t i = from; i < to; i++)
        room[i - from] = stage == WHOLE_STEP ? step_seconds(&r->steps[i])
                                             : r->steps[i].host_s[stage];
    median = sorted_median(room, to - from);
    if (quarter)
        *quarter = room[(to - from) / 4];
    return median;
}

/* The step since when a rank's steps are longer; 0: none. A change of level counts when the median
 * of all behind it, and of the later half of that, is above the one before, and the faster steps
 * behind it are as well: steps that take longer now and then, or in turns, are no change. */
static size_t slower_since(struct judge *j, const struct judge_rank *r, struct past *p)
{
    struct failslow_change c;
    struct failslow f;
    double all, late, quarter = 0;
    size_t at = 0;

    failslow_init(&f);
    for (size_t i = 0; i < r->n; i++)
        if (failslow_step(&f, step_seconds(&r->steps[i]), &c) && c.after > c.before)
            at = (size_t)c.step;
    if (!at || (double)(r->n - at) < j->l.steps_sure)
        return 0;
    p->before_s = median_of(j, r, 0, at, WHOLE_STEP, NULL);
    late = median_of(j, r, at + (r->n - at) / 2, r->n, WHOLE_STEP, NULL);
    all = median_of(j, r, at, r->n, WHOLE_STEP, &quarter);
    p->now_s = fmin(all, late);
    return p->now_s >= j->l.slower * p->before_s && quarter >= sqrt(j->l.slower) * p->before_s ? at
                                                                                               : 0;
}

/* Fill in what other processes and the hypervisor took of the CPUs before a step and since. */
static void look_at_others(const struct judge *j, const struct judge_rank *r, size_t at,
                           struct past *p)
{
    int64_t begin = r->steps[0].begin_ns, since = r->steps[at].begin_ns;
    int64_t end = r->steps[r->n - 1].end_ns;

    p->others_before = judge_mean_between(j, RUN_OTHER_CPU, begin, since);
    p->others_now = judge_mean_between(j, RUN_OTHER_CPU, since, end);
    p->steal_before = judge_mean_between(j, RUN_CPU_STEAL, begin, since);
    p->steal_now = judge_mean_between(j, RUN_CPU_STEAL, since, end);
    p->busy = judge_mean_between(j, RUN_CPU_BUSY, since, end);
}

/* Whether each quarter of the run is slower than the one before, in a stage of the steps or all of
 * them; how long it took in the first and the last. */
static bool grows(struct judge *j, const struct judge_rank *r, unsigned stage, double *first_s,
                  double *last_s)
{
    *first_s = *last_s = 0;
    for (size_t i = 0; i < 4; i++) {
        double now = median_of(j, r, i * r->n / 4, (i + 1) * r->n / 4, stage, NULL);

        if (i && !(now >= sqrt(j->l.slower) * *last_s))
            return false;
        *first_s = i ? *first_s : now;
        *last_s = now;
    }
    return true;
}

/* Whether steps get longer all the time, as of a list that grows: they do as a whole, or in a stage
 * while the others come and go with the machine. Where they have become twice as long, half as many
 * steps are enough. */
static bool is_growing(struct judge *j, const struct judge_rank *r, struct past *p)
{
    double enough = 4 * j->l.steps_sure, first_s, last_s;
    double factor = (double)r->n < enough ? 2 : j->l.slower_run;
    bool found;

    if ((double)r->n < enough / 2)
        return false;
    found = grows(j, r, WHOLE_STEP, &p->before_s, &p->now_s) && p->now_s >= factor * p->before_s;
    for (unsigned stage = 0; stage < BRIM_STAGES && !found; stage++) {
        if (!grows(j, r, stage, &first_s, &last_s))
            continue;
        p->now_s = median_of(j, r, 3 * r->n / 4, r->n, WHOLE_STEP, NULL);
        p->before_s = p->now_s - (last_s - first_s);
        found = p->now_s >= factor * p->before_s;
    }
    look_at_others(j, r, r->n / 2, p);
    return found && !is_by_others(j, p);
}

/* Steps that get longer all the time: for a reason of the job's own. */
static void add_growing(struct judge *j, const struct judge_rank *r, const struct past *p)
{
    struct verdict_item *to = judge_add(j, CAUSE_SLOWER_THAN_BEFORE, -1,
                                        1 - p->before_s / p->now_s);
    unsigned stage = grown_stage(r, r->n / 2);

    judge_says(j, to, "its steps get longer all the time: by %s, to %s in the last quarter",
               quantity_seconds(p->now_s - p->before_s).text, quantity_seconds(p->now_s).text);
    judge_agrees(j, to, "each quarter of the run is slower than the one before");
    judge_agrees(j, to, "what grew most is '%s'", step_stage_name(stage));
    judge_tells_line(j, to, stage);
    judge_advises(j, to,
                  "look for what the job keeps and goes through each step: lists of losses, logs, "
                  "a graph that is not detached");
}

static void judge_own_past(struct judge *j)
{
    const struct judge_rank *r = &j->ranks[0];
    struct past p = { .before_s = 0 }, growth = { .before_s = 0 };
    size_t at = slower_since(j, r, &p);
    struct verdict_item *to;

    if (is_growing(j, r, &growth)) {
        add_growing(j, r, &growth);
        return;
    }
    if (!at)
        return;
    look_at_others(j, r, at, &p);
    to = add_past(j, &p);
    if (to->cause == CAUSE_CPU_NEIGHBOURS) {
        judge_says(j, to, "other processes use its CPUs since step %llu: %s per step, %s before",
                   (unsigned long long)r->steps[at].number, quantity_seconds(p.now_s).text,
                   quantity_seconds(p.before_s).text);
        tell_others(j, to, &p);
        judge_advises(j, to,
                      "see which: brim top --sort cpu; give the job CPUs of its own: taskset, "
                      "cpuset, --exclusive");
        return;
    }
    if ((double)(r->steps[r->n - 1].end_ns - r->steps[at].begin_ns) < 1e9 * j->l.slower_for)
        to->least = 0; /* so short that it can be over soon */
    judge_says(j, to, "slower since step %llu: %s per step, %s before",
               (unsigned long long)r->steps[at].number, quantity_seconds(p.now_s).text,
               quantity_seconds(p.before_s).text);
    judge_agrees(j, to, "the level of step times rose by %.0f %%",
                 100 * (p.now_s / p.before_s - 1));
    judge_agrees(j, to, "it stayed there for %zu steps", r->n - at);
    judge_agrees(j, to, "what grew most is '%s'", step_stage_name(grown_stage(r, at)));
    judge_tells_line(j, to, grown_stage(r, at));
    judge_advises(j, to, "see what changed on the node then: brim alerts, brim top");
}

/* Add to the evidence what differs in the environments of both runs. */
static void tell_differences(struct judge *j, struct verdict_item *to)
{
    int shown = 0;

    for (size_t i = 0; i < j->r->n_environment && shown < ENVIRONMENT_SHOWN; i++) {
        const struct run_note *n = &j->r->environment[i];
        const char *was = judge_environment(j->earlier, n->name);

        if (!was || !n->value || !strcmp(was, n->value))
            continue;
        judge_tells(j, to, "%s was %.80s, is %.80s", n->name, was, n->value);
        shown++;
    }
}

/* Compare with the earlier run, whose steady part is found in the same way. */
static void judge_earlier(struct judge *j)
{
    struct verdict past = { .count = 0 };
    struct judge e = { .r = j->earlier, .v = &past, .l = j->l };
    struct verdict_item *to;
    struct past p;
    double ratio;

    if (!j->earlier)
        return;
    if (judge_look(&e) < 0 || past.no_memory)
        j->v->no_memory = true;
    ratio = j->v->step_s / past.step_s;
    if (e.steps >= (size_t)j->l.steps_least && ratio >= j->l.slower_run &&
        e.n_ranks == j->n_ranks && !(fabs(j->samples / e.samples - 1) >= j->l.samples_differ)) {
        p = (struct past){ .before_s = past.step_s,
                           .now_s = j->v->step_s,
                           .others_before = judge_mean(&e, RUN_OTHER_CPU),
                           .others_now = judge_mean(j, RUN_OTHER_CPU),
                           .steal_before = judge_mean(&e, RUN_CPU_STEAL),
                           .steal_now = judge_mean(j, RUN_CPU_STEAL),
                           .busy = judge_mean(j, RUN_CPU_BUSY) };
        to = add_past(j, &p);
        judge_says(j, to, "%sslower than the run before (%s): %s per step, %s then",
                   to->cause == CAUSE_CPU_NEIGHBOURS ? "other processes use its CPUs: " : "",
                   j->earlier->id ? j->earlier->id : "no name", quantity_seconds(j->v->step_s).text,
                   quantity_seconds(past.step_s).text);
        if (to->cause == CAUSE_CPU_NEIGHBOURS)
            tell_others(j, to, &p);
        judge_agrees(j, to, "the median step takes %.2f times as long", ratio);
        judge_agrees(j, to, "the same number of ranks and samples");
        tell_differences(j, to);
        judge_advises(j, to, "compare both: brim why %s", j->earlier->id ? j->earlier->id : "RUN");
    }
    arena_done(&e.scratch);
    verdict_done(&past);
}

void judge_past(struct judge *j)
{
    size_t count = j->v->count;

    judge_own_past(j);
    if (j->v->count == count)
        judge_earlier(j);
}
