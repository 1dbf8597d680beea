/* The steady part of a run, and what was measured in it. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "model/signal/sorted.h"

#include "base/parse.h"
#include "diagnose/verdict/judge_private.h"

enum {
    WARM_UP_LEAST = 5 /* steps; of fewer none is left out */,
    VARIATION_LEAST = 5,
    WHOLE_LEAST = 3,
    STRETCH_LEAST = 20 /* steps of the last stretch, for it to be judged alone */
};

static const double settled = 1.2;       /* of the median: what comes before is warming up */
static const double whole = 0.9;         /* of a moment, inside the steady time */
static const double marked_least = 0.01; /* of the time, in any stage */

/* ---- steps ---- */

/* The index of the first steady step. A job warms up while the median of five steps is above that
 * of the second half, and for half of the run at most. The first step is never steady. */
static size_t settle(const struct step *steps, size_t n, double *room)
{
    double half, window[WARM_UP_LEAST];
    size_t at = 1;

    for (size_t i = n / 2; i < n; i++)
        room[i - n / 2] = step_seconds(&steps[i]);
    half = sorted_median(room, n - n / 2);
    for (; at < n / 2 && at + WARM_UP_LEAST <= n; at++) {
        for (size_t i = 0; i < WARM_UP_LEAST; i++)
            window[i] = step_seconds(&steps[at + i]);
        if (sorted_median(window, WARM_UP_LEAST) <= settled * half &&
            step_seconds(&steps[at]) <= 2 * settled * half)
            break;
    }
    return at;
}

/* Seconds of a step without those in which the rank waits for others. */
static double own_seconds(const struct step *s)
{
    return step_seconds(s) - s->host_s[BRIM_STAGE_COMMUNICATION];
}

static void sum_up(struct judge_rank *to, double *room)
{
    double total = 0, samples = 0;

    for (size_t i = 0; i < to->n; i++)
        room[i] = step_seconds(&to->steps[i]);
    to->step_s = sorted_median(room, to->n);
    for (size_t i = 0; i < to->n; i++)
        room[i] = own_seconds(&to->steps[i]);
    to->own_s = sorted_median(room, to->n);
    for (size_t i = 0; i < to->n; i++) {
        total += step_seconds(&to->steps[i]);
        samples += to->steps[i].samples;
        for (int k = 0; k < BRIM_STAGES; k++)
            to->share[k] += to->steps[i].host_s[k];
    }
    for (int k = 0; k < BRIM_STAGES; k++)
        to->share[k] = total > 0 ? to->share[k] / total : 0;
    to->samples = samples / (double)to->n;
}

/* The steps of a rank that lie in a span of time. */
static const struct step *steps_in(const struct run_rank *r, const struct run_span *s, size_t *n)
{
    size_t first = 0, end = r->n_steps;

    while (first < end && r->steps[first].begin_ns < s->from_ns)
        first++;
    while (end > first && r->steps[end - 1].end_ns > s->to_ns)
        end--;
    *n = end - first;
    return *n ? r->steps + first : NULL;
}

/* Add a rank that has steady steps. */
static void look_at_rank(struct judge *j, const struct run_rank *r, double *room)
{
    size_t first = 0, end;
    const struct step *steps = steps_in(r, &j->span, &end);
    struct judge_rank *to;

    if (end > WARM_UP_LEAST) {
        first = settle(steps, end, room);
        end--;
    }
    if (first >= end)
        return;
    to = &j->ranks[j->n_ranks++];
    *to = (struct judge_rank){ .r = r, .steps = steps + first, .n = end - first };
    sum_up(to, room);
}

/* Whether each rank that has steps has enough of them in a span. */
static bool is_enough(const struct run *r, const struct run_span *s)
{
    for (size_t i = 0; i < r->n_ranks; i++) {
        size_t n = 0;

        if (r->ranks[i].n_steps)
            (void)steps_in(&r->ranks[i], s, &n);
        if (r->ranks[i].n_steps && n < STRETCH_LEAST)
            return false;
    }
    return true;
}

/* What is judged of a run that was optimized: how it was in the end, not what was tried. All of it
 * where it ended before it made steps like that. */
static void look_at_stretch(struct judge *j)
{
    const struct run *r = j->r;
    struct run_span seen = { INT64_MAX, INT64_MIN }, last;

    j->span = (struct run_span){ INT64_MIN, INT64_MAX };
    for (size_t i = 0; i < r->n_ranks; i++)
        if (r->ranks[i].n_steps) {
            seen.from_ns = MIN(seen.from_ns, r->ranks[i].steps[0].begin_ns);
            seen.to_ns = MAX(seen.to_ns, r->ranks[i].steps[r->ranks[i].n_steps - 1].end_ns);
        }
    if (!r->tuning || !r->tuning->n_trials || seen.from_ns >= seen.to_ns)
        return;
    last = run_tuning_stretch(r->tuning, seen.from_ns, seen.to_ns);
    if ((last.from_ns > seen.from_ns || last.to_ns < seen.to_ns) && is_enough(r, &last)) {
        j->span = last;
        j->v->stretch_s = clock_seconds(last.to_ns - last.from_ns);
    }
}

/* What j->wait is at least: of the rank whose share it is. */
static double wait_least(const struct judge *j)
{
    for (size_t i = 0; i < j->n_ranks; i++) {
        const struct judge_rank *k = &j->ranks[i];
        struct judge_parts parts = { .n = k->n };

        if (k->share[BRIM_STAGE_WAIT] != j->wait)
            continue;
        for (size_t s = 0; s < k->n; s++)
            judge_parts_add(&parts, s, k->steps[s].host_s[BRIM_STAGE_WAIT],
                            step_seconds(&k->steps[s]));
        return judge_parts_least(&parts);
    }
    return (double)NAN;
}

static void look_at_shares(struct judge *j, double *room)
{
    double n = (double)j->n_ranks, any = 0, bytes = 0, steps = 0;

    for (size_t i = 0; i < j->n_ranks; i++)
        room[i] = j->ranks[i].share[BRIM_STAGE_WAIT];
    sorted_put(room, j->n_ranks);
    j->wait = room[(j->n_ranks - 1) / 2];
    j->wait_least = wait_least(j);
    j->exposed = (double)INFINITY;
    for (size_t i = 0; i < j->n_ranks; i++) {
        const struct judge_rank *k = &j->ranks[i];

        j->exposed = fmin(j->exposed, k->share[BRIM_STAGE_COMMUNICATION]);
        for (int s = 0; s < BRIM_STAGES; s++)
            j->v->share[s] += k->share[s] / n;
        for (size_t s = 0; s < k->n; s++)
            bytes += k->steps[s].collective_b;
        steps += (double)k->n;
        j->samples = (i ? j->samples : 0) + k->samples;
    }
    j->bytes = bytes > 0 ? bytes / steps : (double)NAN;
    j->compute = j->v->share[BRIM_STAGE_FORWARD] + j->v->share[BRIM_STAGE_BACKWARD] +
                 j->v->share[BRIM_STAGE_OPTIMIZER];
    for (int s = 1; s < BRIM_STAGES; s++)
        any += j->v->share[s];
    j->marked = any >= marked_least;
}

static void look_at_speed(struct judge *j, double *room)
{
    const struct judge_rank *slowest = &j->ranks[0];
    double total = 0;

    for (size_t i = 1; i < j->n_ranks; i++)
        slowest = j->ranks[i].step_s > slowest->step_s ? &j->ranks[i] : slowest;
    for (size_t i = 0; i < slowest->n; i++) {
        room[i] = step_seconds(&slowest->steps[i]);
        total += room[i];
    }
    j->v->step_s = sorted_median(room, slowest->n);
    j->v->step_p90_s = room[slowest->n * 9 / 10];
    j->v->step_best_s = room[0];
    j->v->steps_per_s = total > 0 ? (double)slowest->n / total : (double)NAN;
    j->v->samples_per_s = j->samples * j->v->steps_per_s;
}

static int look_at_steps(struct judge *j)
{
    size_t most = j->r->n_ranks;
    double *room;

    for (size_t i = 0; i < j->r->n_ranks; i++)
        most = MAX(most, j->r->ranks[i].n_steps);
    room = arena_alloc(&j->scratch, most * sizeof(*room));
    j->ranks = arena_alloc(&j->scratch, j->r->n_ranks * sizeof(*j->ranks));
    if (!room || !j->ranks)
        return -ENOMEM;
    look_at_stretch(j);
    for (size_t i = 0; i < j->r->n_ranks; i++)
        look_at_rank(j, &j->r->ranks[i], room);
    if (!j->n_ranks)
        return 0;
    j->steps = SIZE_MAX;
    for (size_t i = 0; i < j->n_ranks; i++)
        j->steps = MIN(j->steps, j->ranks[i].n);
    look_at_shares(j, room);
    look_at_speed(j, room);
    return 0;
}

/* ---- moments ---- */

/* Whether the clock of a rank's steps is that of the moments. */
static bool is_here(const struct judge *j, const struct judge_rank *k)
{
    return !k->r->host || !j->r->host || !strcmp(k->r->host, j->r->host);
}

/* The time of the steady steps, by the clock of this host. */
static void steady_time(const struct judge *j, int64_t *begin, int64_t *end)
{
    *begin = INT64_MAX;
    *end = INT64_MIN;
    for (size_t i = 0; i < j->n_ranks; i++) {
        const struct judge_rank *k = &j->ranks[i];

        if (!is_here(j, k))
            continue;
        *begin = MIN(*begin, k->steps[0].begin_ns);
        *end = MAX(*end, k->steps[k->n - 1].end_ns);
    }
}

/* Seconds of a moment that lie between begin and end; all of them where nothing is steady. */
static double overlap(const struct run_moment *m, int64_t begin, int64_t end)
{
    double first = (double)m->monotonic_ns - m->seconds * 1e9;
    double from = fmax(first, (double)begin), to = fmin((double)m->monotonic_ns, (double)end);

    return begin > end ? m->seconds : fmax(0, to - from) / 1e9;
}

/* Whether a rank of this host still started in a moment: its first step begins in it or behind. */
static bool starts_in(const struct judge *j, const struct run_moment *m)
{
    double begin = (double)m->monotonic_ns - m->seconds * 1e9;

    for (size_t i = 0; i < j->n_ranks; i++)
        if (is_here(j, &j->ranks[i]) && begin < (double)j->ranks[i].r->steps[0].begin_ns)
            return true;
    return false;
}

/* Whether a moment counts of which so many seconds are steady. One that lies in the steady time as
 * a whole does. Of the others, where those are few, the ones do in which nothing of the job's start
 * lies: what it imports is not what its steps do. */
static bool counts(const struct judge *j, const struct run_moment *m, double seconds)
{
    return seconds > 0 &&
           (seconds >= whole * m->seconds || (j->n_whole < WHOLE_LEAST && !starts_in(j, m)));
}

static void look_at_signal(struct judge *j, int s, int64_t begin, int64_t end)
{
    double time = 0, sum = 0, squares = 0;
    size_t n = 0;

    for (size_t i = 0; i < j->r->n_moments; i++) {
        const struct run_moment *m = &j->r->moments[i];
        double t = overlap(m, begin, end), x = m->values[s];

        if (!counts(j, m, t) || !isfinite(x))
            continue;
        time += t;
        sum += t * x;
        squares += t * x * x;
        n++;
    }
    j->s[s] = (struct judge_signal){ (double)NAN, (double)NAN };
    if (!n)
        return;
    j->s[s].mean = sum / time;
    if (n >= VARIATION_LEAST) /* of a mean of 0 it is not known */
        j->s[s].variation = sqrt(fmax(0, squares / time - j->s[s].mean * j->s[s].mean)) /
                            j->s[s].mean;
}

double judge_mean_between(const struct judge *j, enum run_signal s, int64_t begin, int64_t end)
{
    double time = 0, sum = 0;

    for (size_t i = 0; i < j->r->n_moments; i++) {
        const struct run_moment *m = &j->r->moments[i];
        double t = begin < end ? overlap(m, begin, end) : 0;

        if (t > 0 && isfinite(m->values[s])) {
            time += t;
            sum += t * m->values[s];
        }
    }
    return time > 0 ? sum / time : (double)NAN;
}

static void look_at_moments(struct judge *j)
{
    int64_t begin, end;

    steady_time(j, &begin, &end);
    for (size_t i = 0; i < j->r->n_moments; i++) {
        double t = overlap(&j->r->moments[i], begin, end);

        j->n_moments += t > 0;
        j->n_whole += t > 0 && t >= whole * j->r->moments[i].seconds;
    }
    for (int s = 0; s < RUN_SIGNALS; s++)
        look_at_signal(j, s, begin, end);
}

/* ---- settings ---- */

/* The word behind a key in "loader 1: workers 4, batch 16". */
static const char *word_behind(struct judge *j, const char *text, const char *key)
{
    size_t len = strlen(key);

    for (const char *at = text; (at = strstr(at, key)); at += len) {
        if (at != text && at[-1] != ' ')
            continue;
        if (at[len] == ' ') {
            const char *word = arena_strndup(&j->scratch, at + len + 1,
                                             strcspn(at + len + 1, ", "));

            j->v->no_memory |= !word;
            return word;
        }
    }
    return NULL;
}

/* The word behind a key in the last note that has it and begins with these words; NULL. */
static const char *word_in(struct judge *j, const struct run_rank *r, const char *begin,
                           const char *key)
{
    size_t len = strlen(begin);

    for (size_t i = r->n_notes; i-- > 0;) {
        const struct run_note *n = &r->notes[i];

        if (n->value && (!strncmp(n->name, begin, len) || !strncmp(n->value, begin, len))) {
            const char *found = word_behind(j, n->value, key);

            if (found)
                return found;
        }
    }
    return NULL;
}

const char *judge_setting(struct judge *j, const struct run_rank *r, const char *group,
                          const char *key)
{
    char name[64];
    const char *found;

    snprintf(name, sizeof(name), "%s.%s", group, key);
    found = run_setting(j->r, r, name);
    if (found)
        return found;
    /* The first loader is the one that trains, as a rule; others validate. */
    snprintf(name, sizeof(name), "%s 1:", group);
    found = word_in(j, r, name, key);
    return found ? found : word_in(j, r, group, key);
}

double judge_number(struct judge *j, const char *group, const char *key)
{
    double value;

    for (size_t i = 0; i < j->r->n_ranks; i++) {
        const char *text = judge_setting(j, &j->r->ranks[i], group, key);

        if (text && parse_double(text, &value) == 0)
            return value;
    }
    return (double)NAN;
}

const char *judge_environment(const struct run *r, const char *name)
{
    for (size_t i = 0; i < r->n_environment; i++)
        if (!strcmp(r->environment[i].name, name))
            return r->environment[i].value;
    return NULL;
}

/* ---- what follows from them ---- */

/* How much of the time a thread would run that uses so much of a CPU and waits for one so much of
 * the time, if it did not have to wait. What sleeps and is kept from a CPU now and then by others
 * does not come near to 1; what computes all the time does. */
static double unstarved(double cpu, double waits)
{
    return waits > 0 && waits < 1 ? cpu / (1 - waits) : cpu;
}

/* Find j->cpu_waiting. Workers load all the time; without them the rank's first thread loads, and
 * computes the rest of the time. Where that thread was not measured, its process was: the rest of
 * the time it computes on one CPU at least, and on as many as it has threads at most. The middle
 * counts, and is a guess where the loader would sleep at one end and work at the other. */
static void look_at_waiting(struct judge *j)
{
    double wants = j->starved < 0.95 ? 1 / (1 - j->starved) : 1; /* to run, not only running */
    double rank = judge_mean(j, RUN_RANK_CPU) * wants, most = 1, low, high;
    double worker = judge_mean(j, RUN_WORKER_CPU);
    double thread = unstarved(judge_mean(j, RUN_RANK_THREAD_CPU),
                              judge_mean(j, RUN_RANK_THREAD_WAIT));

    j->cpu_waiting = j->workers > 0 ? unstarved(worker, fmin(worker * wants, 1) - worker)
                                    : (double)NAN;
    if (j->workers > 0 || !(j->wait > 0) || isnan(rank))
        return;
    if (thread >= 0) {
        low = j->compute + j->v->share[BRIM_STAGE_COPY];
        low += j->marked ? j->v->share[BRIM_STAGE_OTHER] : 0;
        j->cpu_waiting = fmax(0, fmin(1, (thread - low) / j->wait));
        return;
    }
    if (!j->has_gpus && j->threads >= 1)
        most = fmin(j->threads, j->cpus >= 1 ? j->cpus : j->threads);
    high = (rank - (1 - j->wait)) / j->wait;
    low = (rank - (1 - j->wait) * most) / j->wait;
    j->cpu_waiting = fmax(0, fmin(1, (low + high) / 2));
    j->guessed = low <= j->l.loader_asleep && high >= j->l.loader_on_cpu;
}

static void look_at_settings(struct judge *j)
{
    double limit = judge_mean(j, RUN_JOB_CPU_LIMIT), cpu = judge_mean(j, RUN_JOB_CPU);
    double runnable = judge_mean(j, RUN_JOB_RUN_WAIT);

    j->has_gpus = judge_mean(j, RUN_GPUS) >= 1 || judge_mean(j, RUN_GPU_BUSY) >= 0;
    j->workers = judge_number(j, "loader", "workers");
    if (isnan(j->workers))
        j->workers = judge_mean(j, RUN_WORKERS) / (double)MAX(j->n_ranks, 1);
    j->threads = judge_number(j, "threads", "intra");
    if (isnan(j->threads))
        j->threads = judge_number(j, "process", "threads");
    j->cpus = judge_mean(j, RUN_CPUS);
    if (limit > 0)
        j->cpus = isnan(j->cpus) ? limit : fmin(j->cpus, limit);
    j->starved = runnable >= 0 && cpu + runnable > 0 ? runnable / (cpu + runnable) : (double)NAN;
    look_at_waiting(j);
}

/* Steps that were found without marks have no stages: the time in which GPUs are idle counts as
 * waiting; without GPUs, the time in which the process runs on no CPU, and its first thread neither
 * runs nor waits for one. */
static void look_at_unmarked(struct judge *j)
{
    double thread = judge_mean(j, RUN_RANK_THREAD_CPU) + judge_mean(j, RUN_RANK_THREAD_WAIT);
    double busy = judge_mean(j, RUN_GPU_BUSY);

    if (isnan(busy))
        busy = fmax(judge_mean(j, RUN_RANK_CPU), thread);
    j->wait = busy > 1 ? 0 : 1 - busy;
    j->wait_least = (double)NAN;
    j->compute = isnan(busy) ? 0 : 1 - j->wait;
}

int judge_look(struct judge *j)
{
    int rc;

    j->wait = j->exposed = j->compute = j->samples = j->bytes = (double)NAN;
    j->wait_least = j->exposed_least = (double)NAN;
    j->v->steps_per_s = j->v->samples_per_s = (double)NAN;
    j->v->step_s = j->v->step_p90_s = j->v->step_best_s = (double)NAN;
    rc = look_at_steps(j);
    if (rc < 0)
        return rc;
    look_at_moments(j);
    if (j->n_ranks && !j->marked)
        look_at_unmarked(j);
    look_at_settings(j);
    return 0;
}
