/* Ranks against each other: one that is slow, unequal work, and communication. */
#include <string.h>

#include "model/signal/sorted.h"

#include "diagnose/verdict/failslow.h"
#include "diagnose/verdict/judge_private.h"

enum { STEPS_MAX = 2000 /* that are compared */, RANKS_LEAST = 2, STEPS_LEAST = 5 };

/* What the ranks did in the same steps, without waiting for each other. */
struct race {
    size_t n;       /* steps */
    double *own;    /* seconds without communication and checkpoints, n rows of n_ranks */
    uint64_t first; /* number of the first */
    double exposed; /* seconds in communication, of the rank that waits least in each step; sum */
    struct judge_parts parts; /* the same */
    double seconds;           /* of the steps; sum */
};

/* The step of that number; NULL when the rank does not have it. */
static const struct step *find_step(const struct judge_rank *r, uint64_t number)
{
    size_t low = 0, high = r->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (r->steps[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->n && r->steps[low].number == number ? &r->steps[low] : NULL;
}

static void fill_row(const struct judge *j, uint64_t number, struct race *race)
{
    double *row = race->own + race->n * j->n_ranks, least = (double)INFINITY, longest = 0;

    for (size_t i = 0; i < j->n_ranks; i++) {
        const struct step *s = find_step(&j->ranks[i], number);

        if (!s)
            return;
        /* checkpoints are a cause of their own: one rank may save for all */
        row[i] = step_seconds(s) - s->host_s[BRIM_STAGE_COMMUNICATION] -
                 s->host_s[BRIM_STAGE_CHECKPOINT];
        least = fmin(least, s->host_s[BRIM_STAGE_COMMUNICATION]);
        longest = fmax(longest, step_seconds(s));
    }
    race->exposed += least;
    judge_parts_add(&race->parts, number - race->first, least, longest);
    race->seconds += longest;
    race->n++;
}

/* The last steps that all ranks have. */
static bool look(struct judge *j, struct race *race)
{
    uint64_t first = 0, last = UINT64_MAX;

    for (size_t i = 0; i < j->n_ranks; i++) {
        first = MAX(first, j->ranks[i].steps[0].number);
        last = MIN(last, j->ranks[i].steps[j->ranks[i].n - 1].number);
    }
    if (first > last || last - first + 1 < STEPS_LEAST)
        return false;
    if (last - first >= STEPS_MAX)
        first = last - STEPS_MAX + 1;
    race->first = first;
    race->parts.n = (size_t)(last - first + 1);
    race->own = arena_alloc(&j->scratch,
                            (size_t)(last - first + 1) * j->n_ranks * sizeof(*race->own));
    if (!race->own) {
        j->v->no_memory = true;
        return false;
    }
    for (uint64_t number = first; number <= last; number++)
        fill_row(j, number, race);
    return race->n >= STEPS_LEAST;
}

/* The middle of the others: of two ranks, the other one. */
static double others(const double *row, size_t n, size_t rank, double *room)
{
    size_t k = 0;

    for (size_t i = 0; i < n; i++)
        if (i != rank)
            room[k++] = row[i];
    return sorted_median(room, k);
}

/* The slowest rank of a step. */
static size_t last_of(const double *row, size_t n)
{
    size_t last = 0;

    for (size_t i = 1; i < n; i++)
        last = row[i] > row[last] ? i : last;
    return last;
}

/* How a rank compares with the others. */
struct slow {
    size_t rank;
    size_t from;   /* the row since when it is slow; 0: as long as it is seen */
    double ratio;  /* its own time to the others', since then */
    double steady; /* share of the steps since then in which it is the slowest */
    double loss;   /* share of what steps lose to their slowest rank that is lost to this one */
    double cost;   /* share of the step */
    double least;  /* the same, at least: sure.h */
    double lost_s; /* by which it took longer since then, in all */
};

/* What a step loses to its slowest rank. */
static double lost_to(const double *row, size_t n, size_t last)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += row[i];
    return row[last] - sum / (double)n;
}

/* The rank that is the slowest most often in the last third; where none is, the one to which most
 * is lost: a quota stops a rank in some steps only. */
static size_t find_last(const struct judge *j, const struct race *race, double *sums)
{
    size_t from = race->n - (race->n + 2) / 3, found = 0;

    for (int by_loss = 0; by_loss < 2; by_loss++) {
        for (size_t i = 0; i < j->n_ranks; i++)
            sums[i] = 0;
        for (size_t i = from; i < race->n; i++) {
            const double *row = race->own + i * j->n_ranks;
            size_t last = last_of(row, j->n_ranks);

            sums[last] += by_loss ? lost_to(row, j->n_ranks, last) : 1;
        }
        for (size_t i = found = 0; i < j->n_ranks; i++)
            found = sums[i] > sums[found] ? i : found;
        if (sums[found] >= j->l.slow_rank_steady * (double)(race->n - from))
            break;
    }
    return found;
}

/* The row since when the rank takes longer than the others by more than before; 0: none. */
static size_t find_change(const struct judge *j, const struct race *race, size_t rank, double *room)
{
    struct failslow f;
    struct failslow_change change;
    size_t from = 0;

    failslow_init(&f);
    for (size_t i = 0; i < race->n; i++) {
        const double *row = race->own + i * j->n_ranks;

        if (failslow_step(&f, row[rank] / others(row, j->n_ranks, rank, room), &change))
            from = change.after > change.before ? (size_t)change.step : from;
    }
    return from;
}

/* The rank against the others in the rows since then. */
static struct slow compare_since(const struct judge *j, const struct race *race, size_t rank,
                                 size_t from, double *room)
{
    struct slow s = { .rank = rank, .from = from };
    double ratio = 0, lost = 0, lost_to_it = 0, n = (double)(race->n - from);
    struct judge_parts parts = { .n = race->n - from };

    for (size_t i = from; i < race->n; i++) {
        const double *row = race->own + i * j->n_ranks;
        double rest = others(row, j->n_ranks, rank, room);
        size_t last = last_of(row, j->n_ranks);

        ratio += row[rank] / rest;
        s.lost_s += fmax(0, row[rank] - rest);
        s.steady += last == rank;
        judge_parts_add(&parts, i - from, row[rank] - rest, j->v->step_s);
        lost += lost_to(row, j->n_ranks, last);
        lost_to_it += last == rank ? lost_to(row, j->n_ranks, rank) : 0;
    }
    s.ratio = ratio / n;
    s.steady /= n;
    s.loss = lost > 0 ? lost_to_it / lost : 0;
    s.cost = s.lost_s / n / j->v->step_s;
    s.least = judge_parts_least(&parts);
    return s;
}

/* The slowest rank against the others: since its last change to the worse, or in all steps where
 * that change has cost next to nothing, and may be chance. */
static struct slow compare(const struct judge *j, const struct race *race, double *room)
{
    size_t rank = find_last(j, race, room);
    struct slow s = compare_since(j, race, rank, find_change(j, race, rank, room), room);

    return s.from && s.lost_s < j->l.slow_rank_lost ? compare_since(j, race, rank, 0, room) : s;
}

/* The stage in which a rank takes longer than the others, and by how much of the step. */
static unsigned longest_stage(const struct judge *j, size_t rank, double *more, double *room)
{
    unsigned found = 0;

    *more = 0;
    for (unsigned s = 0; s < BRIM_STAGES; s++) {
        size_t k = 0;
        double diff;

        if (s == BRIM_STAGE_COMMUNICATION)
            continue;
        for (size_t i = 0; i < j->n_ranks; i++)
            if (i != rank)
                room[k++] = j->ranks[i].share[s];
        diff = j->ranks[rank].share[s] - sorted_median(room, k);
        if (diff > *more) {
            *more = diff;
            found = s;
        }
    }
    return found;
}

/* Its samples to the others'; NaN. */
static double samples_ratio(const struct judge *j, size_t rank, double *room)
{
    size_t k = 0;

    for (size_t i = 0; i < j->n_ranks; i++)
        if (i != rank)
            room[k++] = j->ranks[i].samples;
    return j->ranks[rank].samples / sorted_median(room, k);
}

static const char *host_of(const struct judge *j, const struct run_rank *r)
{
    if (r->host)
        return r->host;
    return j->r->host ? j->r->host : "its host";
}

/* Whether the rank lacks CPUs: then write that, and what to do. How long threads wait for a CPU is
 * known of all ranks together: it has to be half as much as the slow rank costs. */
static bool say_cpus(struct judge *j, struct verdict_item *to, const char *host)
{
    double waits = judge_mean(j, RUN_RANK_THREAD_WAIT) * (double)j->n_ranks;
    double others = judge_mean(j, RUN_OTHER_CPU), throttled = judge_mean(j, RUN_JOB_THROTTLED);
    bool lacks = waits >= fmax(j->l.cpu_starved, to->share / 2);

    if (throttled >= j->l.cpu_throttled) {
        judge_agrees(j, to, "%s of the periods of its cgroup's CPU quota are cut short",
                     quantity_share(throttled).text);
        judge_advises(j, to, "raise the quota (cpu.max) on %s", host);
    } else if (lacks && others >= j->l.others_cpu) {
        judge_agrees(j, to,
                     "it lacks a CPU: ranks wait for one %s of the time, and other processes use "
                     "%.1f",
                     quantity_share(fmin(1, waits)).text, others);
        judge_advises(
            j, to, "see which processes use its CPUs: brim top --sort cpu on %s; pin it elsewhere",
            host);
    } else if (lacks) {
        judge_agrees(
            j, to,
            "it lacks a CPU: ranks wait for one %s of the time, and no other process uses them",
            quantity_share(fmin(1, waits)).text);
        judge_advises(
            j, to,
            "look at what it may use on %s: cpu.max and cpuset of its cgroup, taskset -p PID",
            host);
    } else {
        return false;
    }
    return true;
}

/* Write why the rank is slow, as far as anything was measured, and what to do. Returns whether it
 * lacks CPUs. */
static bool say_why(struct judge *j, struct verdict_item *to, unsigned stage, const char *host)
{
    double worst = judge_mean(j, RUN_GPU_WORST_CLOCK), hot = judge_mean(j, RUN_GPU_THROTTLED);

    if (!j->has_gpus && say_cpus(j, to, host))
        return true;
    if (worst < j->l.gpu_clock)
        judge_agrees(j, to, "the slowest GPU here has %s of the others' clock",
                     quantity_share(worst).text);
    if (hot >= j->l.gpu_throttled)
        judge_agrees(j, to, "GPUs are throttled %s of the time", quantity_share(hot).text);
    if (stage == BRIM_STAGE_WAIT)
        judge_advises(j, to, "look at the loader and the storage of %s", host);
    else if (worst < j->l.gpu_clock || hot >= j->l.gpu_throttled)
        judge_advises(
            j, to, "cool or replace the GPU: nvidia-smi -q -d PERFORMANCE,TEMPERATURE on %s", host);
    else
        judge_advises(j, to,
                      "compare %s with its peers: brim top, brim machine --audit there; else "
                      "leave it out",
                      host);
    return false;
}

/* Without GPUs collectives are work of CPUs, too: a rank that is stopped for a part of its own work
 * is stopped for as much of them, while all wait. */
static void add_stalls(struct judge *j, struct verdict_item *to, double ratio)
{
    double stalled = j->exposed * (1 - 1 / ratio);

    if (!(stalled > 0))
        return;
    to->share += stalled;
    j->exposed -= stalled;
    j->exposed_least /= ratio;
    judge_tells(j, to, "as it is stopped in collectives as well, %s of the step are lost there",
                quantity_share(stalled).text);
}

static void add_slow(struct judge *j, const struct race *race, const struct slow *s, double *room)
{
    const struct run_rank *r = j->ranks[s->rank].r;
    const char *host = host_of(j, r);
    struct verdict_item *to = judge_add(j, CAUSE_SLOW_RANK, r->rank, s->cost);
    double more;
    unsigned stage = longest_stage(j, s->rank, &more, room);

    to->least = s->least;
    if (s->from)
        judge_says(j, to, "rank %d on %s is slow since step %llu: %.2f times the others' time",
                   r->rank, host, (unsigned long long)race->first + s->from, s->ratio);
    else
        judge_says(j, to, "rank %d on %s is slow: %.2f times the others' time", r->rank, host,
                   s->ratio);
    judge_agrees(j, to, "its own work takes %.2f times the others'", s->ratio);
    judge_agrees(j, to, "it is the slowest in %s of %zu steps, and %s of what waits is for it",
                 quantity_share(s->steady).text, race->n - s->from, quantity_share(s->loss).text);
    if (j->ranks[s->rank].share[BRIM_STAGE_COMMUNICATION] + s->cost / 2 <
        j->v->share[BRIM_STAGE_COMMUNICATION])
        judge_agrees(j, to, "the others wait for it: %s of their step in communication, %s of its",
                     quantity_share(j->v->share[BRIM_STAGE_COMMUNICATION]).text,
                     quantity_share(j->ranks[s->rank].share[BRIM_STAGE_COMMUNICATION]).text);
    if (more > 0)
        judge_tells(j, to, "the time is in its stage '%s'", step_stage_name(stage));
    if (say_why(j, to, stage, host))
        add_stalls(j, to, s->ratio);
}

/* Share of the step in which a rank waits in the mean for the one that has most to do. */
static double imbalance(const struct judge *j, const struct race *race, double *least)
{
    struct judge_parts parts = { .n = race->n };
    double lost = 0;

    for (size_t i = 0; i < race->n; i++) {
        const double *row = race->own + i * j->n_ranks;
        double here = lost_to(row, j->n_ranks, last_of(row, j->n_ranks));

        judge_parts_add(&parts, i, here, j->v->step_s);
        lost += here;
    }
    *least = judge_parts_least(&parts);
    return lost / (double)race->n / j->v->step_s;
}

static void add_imbalance(struct judge *j, double cost, double least, double samples)
{
    struct verdict_item *to = judge_add(j, CAUSE_IMBALANCE, -1, cost);

    to->least = least;
    judge_says(j, to, "the ranks have unequal work: they wait for the one that has most");
    judge_agrees(j, to, "%s of the step is lost to the slowest, which changes or has more to do",
                 quantity_share(cost).text);
    if (fabs(samples - 1) >= j->l.samples_differ)
        judge_agrees(j, to, "the slowest has %.2f times the samples of the others", samples);
    else
        judge_agrees(j, to, "no rank is the slowest for long");
    judge_advises(j, to, "equal batches by length: sort or bucket samples, drop_last=True");
}

/* Whether a rank is slow: it takes longer than the others, and is the slowest in nearly all steps
 * or the one that the others wait for most. */
static bool is_slow(const struct judge *j, const struct slow *s)
{
    bool loses = s->loss >= j->l.slow_rank_loss && !(s->least < j->l.wait_warning / 2);

    return s->ratio >= j->l.slow_rank && (s->steady >= j->l.slow_rank_steady || loses);
}

void judge_slow_ranks(struct judge *j)
{
    struct race race = { .n = 0 };
    struct slow s;
    double samples, cost, least, *room;

    if (j->n_ranks < RANKS_LEAST || !look(j, &race))
        return;
    if (race.seconds > 0) {
        j->exposed = race.exposed / race.seconds;
        j->exposed_least = judge_parts_least(&race.parts);
    }
    room = arena_alloc(&j->scratch, j->n_ranks * sizeof(*room));
    if (!room) {
        j->v->no_memory = true;
        return;
    }
    s = compare(j, &race, room);
    samples = samples_ratio(j, s.rank, room);
    cost = imbalance(j, &race, &least);
    if (is_slow(j, &s) && !(samples >= 1 + j->l.samples_differ))
        add_slow(j, &race, &s, room);
    else if (cost >= j->l.imbalance || (s.ratio >= j->l.slow_rank && cost >= j->l.imbalance / 2))
        add_imbalance(j, cost, least, samples);
}

/* ---- communication ---- */

/* Bytes a second that collectives move on the rank that waits least for others; NaN. */
static double collective_rate(const struct judge *j)
{
    const struct judge_rank *least = &j->ranks[0];
    double bytes = 0, seconds = 0;

    for (size_t i = 1; i < j->n_ranks; i++)
        if (j->ranks[i].share[BRIM_STAGE_COMMUNICATION] < least->share[BRIM_STAGE_COMMUNICATION])
            least = &j->ranks[i];
    for (size_t i = 0; i < least->n; i++) {
        bytes += least->steps[i].collective_b;
        seconds += least->steps[i].collective_s;
    }
    return bytes > 0 && seconds > 0 ? bytes / seconds : (double)NAN;
}

/* Bytes a second on the network while every rank communicates; NaN: a step has few, as over
 * loopback, which is not the network. *step_b: bytes of a step. */
static double network_rate(const struct judge *j, double *step_b)
{
    double sent = fmax(judge_mean(j, RUN_NET_SENT), judge_mean(j, RUN_NET_RECEIVED));

    *step_b = sent * j->v->step_s;
    return *step_b >= j->l.exchange_small ? sent / j->exposed : (double)NAN;
}

static void tell_communication(struct judge *j, struct verdict_item *to, double rate)
{
    judge_agrees(j, to, "every rank waits %s of the step and more in communication",
                 quantity_share(j->exposed).text);
    if (j->bytes > 0)
        judge_tells(j, to, "%s per step and rank, %s", quantity_bytes(j->bytes).text,
                    quantity_rate(rate).text);
}

/* Not known to exchange in another way than DDP: FSDP, DeepSpeed, calls of the job's own. */
static bool has_ddp(struct judge *j)
{
    const char *used = judge_setting(j, j->ranks[0].r, "ddp", "used");

    return !used || strcmp(used, "no") != 0;
}

void judge_communication(struct judge *j)
{
    double load = judge_mean(j, RUN_NET_LOAD), lost = judge_mean(j, RUN_TCP_RETRANSMITS);
    double rate = collective_rate(j), step_b, network = network_rate(j, &step_b);
    bool told = rate < j->l.link_slow && j->bytes >= j->l.bytes_some;
    double waits = judge_mean(j, RUN_RANK_THREAD_WAIT);
    bool starved = waits >= 0 ? waits >= j->exposed / 2 : j->starved >= j->l.cpu_starved;
    bool slow = (told || network < j->l.link_slow) && !starved;
    struct verdict_item *to;

    if (j->n_ranks + (size_t)(j->ranks[0].r->world > 1) < RANKS_LEAST ||
        !(j->exposed >= j->l.communication_warning))
        return;
    if (lost >= j->l.retransmits) {
        to = judge_add(j, CAUSE_LOSSY_NETWORK, -1, j->exposed);
        judge_says(j, to, "the network loses packets: %.1f %% are sent again", 100 * lost);
        judge_agrees(j, to, "%.1f %% of TCP's segments are sent again", 100 * lost);
        judge_advises(j, to, "find the bad cable or port: ethtool -S DEVICE, ss -ti");
    } else if (load >= j->l.link_load || slow) {
        to = judge_add(j, CAUSE_SLOW_LINK, -1, j->exposed);
        judge_says(j, to, "the link between the ranks is too slow for what they exchange");
        if (load >= j->l.link_load)
            judge_agrees(j, to, "the fullest interface is %s full", quantity_share(load).text);
        if (slow && told)
            judge_agrees(j, to, "collectives get %s", quantity_rate(rate).text);
        if (slow && network < j->l.link_slow)
            judge_agrees(j, to, "the network carries %s while they communicate, %s in a step",
                         quantity_rate(network).text, quantity_bytes(step_b).text);
        if (j->s[RUN_NET_SENT].variation <= j->l.flat)
            judge_agrees(j, to, "what is sent is held at %s",
                         quantity_rate(judge_mean(j, RUN_NET_SENT)).text);
        judge_advises(j, to,
                      "use the fast interface (NCCL_SOCKET_IFNAME, GLOO_SOCKET_IFNAME), or "
                      "send less: gradient accumulation%s",
                      has_ddp(j) ? ", a compressing DDP hook" : "");
    } else {
        to = judge_add(j, CAUSE_COMMUNICATION, -1, j->exposed);
        judge_says(j, to, "communication does not run beside computing");
        judge_advises(j, to, "%s",
                      has_ddp(j) ? "DDP(bucket_cap_mb=..., gradient_as_bucket_view=True), gradient "
                                   "accumulation with no_sync(), or larger batches"
                                 : "exchange while it computes (FSDP: set_modules_to_forward_"
                                   "prefetch(); async_op=True), or larger batches");
    }
    tell_communication(j, to, rate);
}
