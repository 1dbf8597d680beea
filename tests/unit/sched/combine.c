/* Sections of a policy together, on random workloads: services and spot jobs, a cap of power,
 * shares, idle devices, and EASY. What jobs have is counted here anew; when the first one that
 * waits is to start is compared with a count of devices, one after the other. */
#include <math.h>

#include "sched/core/order.h"
#include "sim/outages.h"
#include "sim/sim.h"

#include "tap.h"

enum { ROUNDS = 100, JOBS = 70, NODES = 32, CLASSES = 5, RESERVE = 6 };
enum { CHAT, RANK, SPOT_CLASS, CLASS_A, CLASS_B };

static const char *const names[CLASSES] = { "chat", "rank", "spot", "a", "b" };
static const int64_t busy_mw = 400000, idle_mw = 50000;

/* Numbers that repeat. */
static int below(uint64_t *state, int n)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((*state >> 33) % (uint64_t)n);
}

/* ---- workloads: in whole seconds ---- */

static int add_stretches(struct workload *w, struct work *job, uint64_t *chance)
{
    int left = (int)(job->length_ms / 1000);
    bool idle = below(chance, 3) == 0;

    while (left > 0) {
        int s = 1 + below(chance, below(chance, 2) ? 30 : 300);

        s = MIN(s, left);
        if (work_stretch_add(w, job, s * 1000LL, idle ? 0 : 100 + below(chance, 900)) != 0)
            return -1;
        left -= s;
        idle = !idle;
    }
    return 0;
}

static int make(struct workload *w, uint64_t seed, int most, bool active)
{
    int64_t now_ms = 0;
    struct err e;

    *w = (struct workload){ .n_jobs = 0 };
    for (int i = 0; i < CLASSES; i++)
        if (work_number(w, &w->classes, names[i]) < 0)
            return -1;
    if (work_number(w, &w->teams, "a") < 0 || work_number(w, &w->teams, "b") < 0 ||
        work_number(w, &w->teams, "c") < 0) /* which has no share */
        return -1;
    for (int i = 0; i < JOBS; i++) {
        struct work *job = ARENA_PUSH(&w->arena, &w->jobs, &w->n_jobs);

        if (!job)
            return -1;
        *job = (struct work){ .name = "j", .milli = WORK_WHOLE, .restart_ms = -1, .user = -1 };
        job->submit_ms = now_ms;
        job->length_ms = 1000LL * (1 + below(&seed, below(&seed, 4) ? 60 : 900));
        job->limit_ms = 2 * job->length_ms;
        job->devices = 1 + below(&seed, below(&seed, 4) ? MIN(most, 5) : most);
        job->class = (int16_t)(below(&seed, CLASSES + 1) - 1);
        job->team = (int16_t)(i % 3);
        job->checkpoint_ms = 1000LL * (below(&seed, 2) ? 20 : 0);
        if (active && below(&seed, 4) && add_stretches(w, job, &seed) < 0)
            return -1;
        now_ms += below(&seed, 3) ? 1000LL * below(&seed, 25) : 0;
    }
    return workload_settle(w, &e);
}

/* ---- counting ---- */

/* What is known of a job from actions. */
struct count {
    int64_t from_ms, left_ms; /* it runs since then, for so long at most */
    int64_t promised_ms;      /* it starts then, at the latest; 0: nobody said */
    int beyond;               /* of its devices, those outside of any reserve */
    bool runs;
};

struct watch {
    const struct workload *work;
    const struct pool *pool;
    const struct policy *policy;
    struct count jobs[JOBS];
    bool flat;  /* nodes have one device each: a number is a place */
    bool fails; /* nodes do */
    const char *wrong;
    int promises, way, replicas, taken, lent, idle, late;
};

static void say(struct watch *t, bool wrong, const char *what)
{
    if (wrong && !t->wrong)
        t->wrong = what;
}

static bool is_service(const struct watch *t, uint32_t job)
{
    int class = t->work->jobs[job].class;

    return t->policy->service.said && (class == CHAT || class == RANK);
}

static bool is_spot(const struct watch *t, uint32_t job)
{
    return t->policy->spot.said && t->work->jobs[job].class == SPOT_CLASS;
}

static bool is_batch(const struct watch *t, uint32_t job)
{
    return !is_service(t, job) && !is_spot(t, job);
}

static bool is_over(const struct count *c, int64_t at_ms)
{
    return !c->runs || c->from_ms + c->left_ms <= at_ms;
}

/* Devices that batch jobs may have and do not, at a time, as far as ends are known; power. */
static bool has_room(const struct watch *t, uint32_t job, int64_t at_ms)
{
    int64_t mw = t->policy->power.cap_mw - t->pool->devices * idle_mw, adds = busy_mw - idle_mw;
    int devices = t->work->jobs[job].devices;
    int64_t free = t->pool->devices - (t->policy->service.n_reserves ? RESERVE : 0);

    for (uint32_t i = 0; i < t->work->n_jobs; i++) {
        if (is_spot(t, i) || is_over(&t->jobs[i], at_ms))
            continue;
        free -= is_batch(t, i) ? t->work->jobs[i].devices : t->jobs[i].beyond;
        mw -= t->work->jobs[i].devices * adds;
    }
    return free >= devices && (!t->policy->power.said || mw >= devices * adds);
}

/* When there is room for a job at the earliest. */
static int64_t first_room(const struct watch *t, uint32_t job, int64_t now_ms)
{
    int64_t best_ms = has_room(t, job, now_ms) ? now_ms : WORK_UNKNOWN;

    for (uint32_t i = 0; i < t->work->n_jobs; i++) {
        const struct count *c = &t->jobs[i];
        int64_t end_ms = c->from_ms + c->left_ms;

        if (!is_over(c, now_ms) && end_ms < best_ms && has_room(t, job, end_ms))
            best_ms = end_ms;
    }
    return best_ms;
}

/* Whether all ends are known, and nothing but them lets the first job start. */
static bool is_plain(const struct watch *t)
{
    const struct policy *p = t->policy;

    return t->flat && !t->fails && p->length == LENGTH_ORACLE && p->spot.notice_ms == 0 &&
           p->power.action == POWER_WAIT && p->idle.reclaim_ms == 0;
}

static bool keeps_promises(const struct watch *t)
{
    return t->policy->backfill == BACKFILL_EASY && !t->fails && t->policy->idle.reclaim_ms == 0 &&
           t->policy->order == order_named("fifo"); /* in others, later ones may go ahead */
}

/* ---- after a pass ---- */

struct held {
    uint16_t used[NODES];
    int batch[NODES], slot[3]; /* slot: of a, of b, of all other batch jobs */
    int all_batch, beyond, in_reserve;
};

static int slot_of(const struct watch *t, uint32_t job)
{
    int class = t->work->jobs[job].class;

    if (t->policy->quota.by_team)
        return t->work->jobs[job].team;
    return class == CLASS_A ? 0 : class == CLASS_B ? 1 : 2;
}

static void hold(struct watch *t, const struct sched *s, struct held *h)
{
    const struct free_capacity *r = sched_capacity(s);

    *h = (struct held){ .beyond = 0 };
    for (uint32_t i = 0; i < t->work->n_jobs; i++) {
        if (sched_job(s, i)->state != SCHED_RUNNING)
            continue;
        for (uint32_t p = sched_job(s, i)->part; p != NO_PART; p = r->parts[p].next) {
            const struct part *x = &r->parts[p];
            int n = __builtin_popcount(x->devices), *own;

            say(t, h->used[x->node] & x->devices, "a device was given twice");
            h->used[x->node] |= x->devices;
            own = sched_reserve(s, x->node) ? &h->in_reserve : &h->beyond;
            *own += is_service(t, i) ? n : 0;
            h->batch[x->node] += is_batch(t, i) ? n : 0;
            h->all_batch += is_batch(t, i) ? n : 0;
            h->slot[slot_of(t, i)] += is_batch(t, i) ? n : 0;
        }
    }
}

static int share_of(const struct watch *t, int slot)
{
    const struct policy_share *x = &t->policy->quota.shares[slot];

    return slot == 2 ? 0 : (int)(x->amount / 100 * (double)t->pool->devices + 1e-9);
}

/* Whether nobody of its share waits in front of a job. */
static bool is_first(const struct watch *t, const struct sched *s, uint32_t job)
{
    for (uint32_t i = 0; i < job; i++)
        if (sched_job(s, i)->state == SCHED_WAITING && is_batch(t, i) &&
            slot_of(t, i) == slot_of(t, job))
            return false;
    return true;
}

/* A batch job that waits, though a number of devices is a place. */
static void check_share(struct watch *t, const struct sched *s, const struct held *h, uint32_t job)
{
    const struct policy_quota *q = &t->policy->quota;
    int devices = t->work->jobs[job].devices, slot = slot_of(t, job);
    bool within = h->slot[slot] + devices <= share_of(t, slot), above = false;
    int64_t free = t->pool->devices - RESERVE - h->all_batch - h->beyond;

    if (t->policy->backfill == BACKFILL_NONE && !is_first(t, s, job))
        return;
    for (int k = 0; k < 3; k++)
        above |= h->slot[k] > share_of(t, k);
    say(t, (within || q->borrow) && free >= devices, "a job waits beside spot jobs");
    if (t->policy->idle.reclaim_ms == 0) /* who borrows idle devices lets their class have less */
        say(t, within && above && h->beyond == 0, "an owner waits while others borrow");
}

static void check_waiting(struct watch *t, const struct sched *s, const struct held *h)
{
    bool quota = t->policy->quota.n > 0 && t->policy->preempt == PREEMPT_NONE;

    if (!t->flat || t->fails || t->policy->spot.notice_ms || t->policy->power.said)
        return;
    for (uint32_t i = 0; i < t->work->n_jobs; i++) {
        if (sched_job(s, i)->state != SCHED_WAITING)
            continue;
        say(t, is_service(t, i) && t->work->jobs[i].devices <= RESERVE - h->in_reserve,
            "a replica waits beside its reserve");
        if (quota && is_batch(t, i))
            check_share(t, s, h, i);
    }
}

static void check_state(struct watch *t, const struct sched *s)
{
    int64_t cap = t->policy->power.cap_mw, mw = t->pool->devices * idle_mw;
    struct held h;

    hold(t, s, &h);
    for (uint32_t n = 0; n < t->pool->n_nodes; n++) {
        say(t, h.batch[n] > t->pool->nodes[n].devices - sched_reserve(s, n),
            "batch has devices of the reserve");
        mw += __builtin_popcount(h.used[n]) * (busy_mw - idle_mw);
    }
    for (int k = 0; k < 3 && t->policy->quota.n && !t->policy->quota.borrow; k++)
        say(t, h.slot[k] > share_of(t, k), "a class has more than its share");
    say(t, cap && sched_drawn_mw(s) > cap, "the cap is exceeded");
    say(t, cap && t->policy->power.action == POWER_WAIT && sched_drawn_mw(s) != mw,
        "power is miscounted");
    check_waiting(t, s, &h);
}

/* ---- actions ---- */

/* Replicas beyond the reserve may take what was promised; below a cap, its power; where a spot job
 * leaves more than they need, that is free when its notice is over. */
static void forget_promises(struct watch *t)
{
    for (size_t i = 0; i < JOBS; i++)
        t->jobs[i].promised_ms = 0;
}

static void check_promise(struct watch *t, const struct action *a, int64_t now_ms)
{
    const struct count *c = &t->jobs[a->job];
    bool behind = a->why == WHY_SHORT || a->why == WHY_SPARE;
    int64_t room_ms;

    if (!keeps_promises(t))
        return;
    say(t, c->promised_ms && now_ms > c->promised_ms, "a promise was broken");
    say(t, c->promised_ms && a->ready_ms > c->promised_ms + t->policy->spot.notice_ms,
        "a promise was broken by more than a notice");
    if (is_plain(t))
        say(t, a->why == WHY_GREEDY, "nobody knows when the first one starts");
    if (!behind)
        return;
    t->promises++;
    room_ms = first_room(t, a->other, now_ms);
    say(t, is_plain(t) && a->until_ms != room_ms, "it was promised another time");
    if (!t->jobs[a->other].promised_ms || a->until_ms < t->jobs[a->other].promised_ms)
        t->jobs[a->other].promised_ms = a->until_ms;
}

static void note_start(struct watch *t, const struct sched *s, const struct action *a,
                       int64_t now_ms)
{
    const struct free_capacity *r = sched_capacity(s);
    struct count *c = &t->jobs[a->job];

    check_promise(t, a, now_ms);
    c->runs = true;
    c->from_ms = MAX(now_ms, a->ready_ms);
    c->promised_ms = 0;
    c->beyond = 0;
    for (uint32_t p = sched_job(s, a->job)->part; p != NO_PART; p = r->parts[p].next)
        c->beyond += sched_reserve(s, r->parts[p].node) ? 0
                                                        : __builtin_popcount(r->parts[p].devices);
    if (is_service(t, a->job) &&
        (a->why == WHY_SERVICE || a->ready_ms > now_ms || t->policy->power.said))
        forget_promises(t);
    t->late += a->ready_ms > now_ms;
    t->lent += a->why == WHY_LENT;
    say(t, is_spot(t, a->job) != (a->why == WHY_SPOT), "a spot job started as another");
}

static void note_stop(struct watch *t, const struct action *a, int64_t now_ms)
{
    struct count *c = &t->jobs[a->job];

    c->left_ms -= MAX(now_ms - c->from_ms, 0);
    c->runs = false;
    if (a->why == WHY_REPLICA)
        forget_promises(t);
    say(t, is_service(t, a->job), "a replica was stopped");
    say(t, is_spot(t, a->job) != (a->why == WHY_WAY), "what gave way is no spot job");
    say(t, a->why == WHY_REPLICA && !is_service(t, a->other), "stopped for what is no replica");
    say(t, a->why == WHY_RECLAIM && !is_batch(t, a->other), "shares are for batch jobs");
    say(t, (a->kind == ACTION_PARK || a->why == WHY_IDLE) && is_spot(t, a->other),
        "a spot job got idle devices");
    t->way += a->why == WHY_WAY;
    t->replicas += a->why == WHY_REPLICA;
    t->taken += a->why == WHY_RECLAIM;
    t->idle += a->why == WHY_IDLE;
}

static void watch(void *ctx, const struct sched *s, const struct action *a, int64_t now_ms)
{
    struct watch *t = ctx;

    check_state(t, s);
    if (a->kind == ACTION_START)
        note_start(t, s, a, now_ms);
    else if (a->kind == ACTION_PREEMPT || a->kind == ACTION_PARK)
        note_stop(t, a, now_ms);
}

/* ---- what must hold ---- */

#define EASY "order = fifo\nbackfill = easy\nlength = oracle\n"
#define SERVICE "[service]\nclass = chat\nclass = rank\nreserve = 6\n"
#define SPOT "[spot]\nclass = spot\n"
#define SHARES "[quota]\nshare = a 40%\nshare = b 30%\n"
#define IDLE "[idle]\nreclaim = 60s\ngrace = 5s\nburst = 2s\n"
#define VICTIMS "order = las\nqueues = 30s 300s\npreempt = victims\nrestart = 5s\n"

enum { PROMISES = 1, WAY = 2, REPLICAS = 4, TAKEN = 8, LENT = 16, IDLES = 32, LATE = 64 };

static const struct {
    const char *text;
    int what; /* that happens */
} policies[] = {
    { EASY SPOT, PROMISES | WAY },
    { EASY SERVICE, PROMISES },
    { EASY SERVICE SPOT, PROMISES | WAY },
    { EASY SERVICE "preempt = yes\n" SPOT "ceiling = 9\n", PROMISES | WAY | REPLICAS },
    { EASY SERVICE "preempt = yes\n" SPOT "notice = 30s\nsave = 20s\n",
      PROMISES | WAY | REPLICAS | LATE },
    { "order = fifo\nbackfill = easy\nlength = limit\nplace = first\n" SERVICE SPOT "notice = 7s\n",
      PROMISES | WAY | LATE },
    { "order = smallest\nbackfill = easy\nlength = limit\nageing = 100s\n" SERVICE SPOT, WAY },
    { EASY "[power]\ncap = 6kW\n", PROMISES },
    { EASY SERVICE SPOT "[power]\ncap = 6kW\n", PROMISES | WAY },
    { EASY SPOT "[power]\ncap = 5kW\naction = limit\nleast = 40%\n", PROMISES | WAY },
    { "order = fifo\n" SERVICE "preempt = yes\n" SPOT SHARES, WAY | REPLICAS },
    { "order = fifo\nrestart = 5s\n" SERVICE "preempt = yes\n" SPOT SHARES "borrow = yes\n",
      WAY | REPLICAS | TAKEN | LENT },
    { "order = fifo\nbackfill = greedy\n" SERVICE "preempt = yes\n" SPOT "notice = 10s\n" SHARES
      "borrow = yes\n",
      WAY | REPLICAS | TAKEN | LENT | LATE },
    { VICTIMS SERVICE SPOT SHARES "borrow = yes\n", WAY | TAKEN | LENT },
    { "order = fifo\n" SERVICE SPOT SHARES "by = team\n", WAY },
    { "order = fifo\n" SERVICE SPOT SHARES "by = team\nborrow = yes\n", WAY | TAKEN | LENT },
    { "order = fifo\nrestart = 5s\n" SERVICE "preempt = yes\n" SPOT IDLE "action = shrink\n",
      WAY | REPLICAS | IDLES },
    { "order = fifo\nbackfill = greedy\n" SERVICE "preempt = yes\n" SPOT
      "notice = 20s\nsave = 20s\n" IDLE "action = requeue\n",
      WAY | REPLICAS | IDLES | LATE },
    { EASY SERVICE SPOT IDLE "action = shrink\n", WAY | IDLES },
    { "order = fifo\nrestart = 5s\n" SERVICE "preempt = yes\n" SPOT SHARES "borrow = yes\n" IDLE
      "action = shrink\n",
      WAY | REPLICAS | TAKEN | LENT | IDLES },
    { VICTIMS SERVICE SPOT IDLE "action = requeue\n", WAY | IDLES },
    { "order = fifo\nrestart = 5s\n" SHARES "borrow = yes\n[power]\ncap = 6kW\n", TAKEN | LENT },
    { "order = fifo\nbackfill = greedy\n" SERVICE "preempt = yes\n" SPOT SHARES
      "borrow = yes\n[power]\ncap = 6kW\n",
      WAY | REPLICAS | TAKEN | LENT },
    { "order = fifo\n" SPOT IDLE "action = shrink\n[power]\ncap = 6kW\n", WAY | IDLES },
};

/* Device time in which all jobs work, in ms. What is done again may be busier. */
static double all_work(const struct workload *w, const struct sim_result *r)
{
    double sum = 0;

    for (size_t i = 0; i < w->n_jobs; i++) {
        const struct work *job = &w->jobs[i];

        if (r->jobs[i].fate != SIM_ENDED)
            continue;
        sum += job->n_stretches ? 0 : (double)job->devices * (double)job->length_ms;
        for (uint32_t k = 0; k < job->n_stretches; k++) {
            const struct work_stretch *x = &w->stretches[job->stretch + k];

            sum += x->milli > WORK_IDLE ? (double)job->devices * (double)x->ms : 0;
        }
    }
    return sum;
}

static const char *wrong_with(const struct watch *t, const struct sim_result *r)
{
    double work = r->spent[USE_ALL][USE_BUSY] + r->spent[USE_ALL][USE_PARTLY], held = 0;

    if (t->wrong)
        return t->wrong;
    if (r->measured && fabs(work - all_work(t->work, r)) > work / 1e6)
        return "work was lost or made where activity is known";
    for (int k = 0; k < USE_SHARED; k++)
        held += r->spent[USE_ALL][k];
    if (r->measured && fabs(held - r->used_all) > held / 1e6)
        return "devices were held for nothing that is counted";
    for (size_t i = 0; i < t->work->n_jobs; i++) {
        const struct sim_job *j = &r->jobs[i];
        int64_t length_ms = t->work->jobs[i].length_ms;

        if (j->fate == SIM_IMPOSSIBLE)
            continue;
        if (j->fate != SIM_ENDED || j->starts == 0 || j->end_ms == 0)
            return "a job never ended";
        if (j->end_ms - t->work->jobs[i].submit_ms != j->ran_ms + j->wait_ms + j->away_ms)
            return "time was lost or made";
        if (j->ran_ms + j->idle_ms < length_ms)
            return "work was lost";
        if (j->starts == 1 && !r->measured && j->ran_ms != length_ms &&
            t->policy->power.action == POWER_WAIT)
            return "work was made";
    }
    return NULL;
}

static bool read_policy(struct policy *p, const char *text)
{
    char whole[512];
    struct err e;
    bool good;

    snprintf(whole, sizeof(whole), "[policy]\nname = test\n%s", text);
    good = policy_read(p, "test", whole, strlen(whole), &e) == 0;
    if (!good)
        printf("# %s\n", e.text);
    return good;
}

/* Add up what happened. */
static void add(struct watch *sum, const struct watch *t)
{
    sum->promises += t->promises;
    sum->way += t->way;
    sum->replicas += t->replicas;
    sum->taken += t->taken;
    sum->lent += t->lent;
    sum->idle += t->idle;
    sum->late += t->late;
}

static const char *check_one(struct watch *sum, const struct policy *p, const char *nodes,
                             uint64_t seed)
{
    static const struct watts watts = { 400000, 50000, { { 0.8, 0.95 }, { 0.4, 0.5 } }, 2 };
    const struct outage_options failures = { .per_device_day = 20,
                                             .seed = seed,
                                             .repair_ms = 60000 };
    struct watch t = { .policy = p, .flat = strstr(nodes, "x1") != NULL, .fails = seed % 5 == 0 };
    struct sim_options options = { .watch = watch, .ctx = &t, .watts = &watts };
    struct pool pool = { .n_nodes = 0 };
    struct sim_result r, again;
    struct workload w;
    struct err e;

    if (make(&w, seed, t.flat ? 9 : 12, p->idle.reclaim_ms > 0) < 0 ||
        pool_parse(&pool, nodes, &e) != 0)
        return "it cannot be made";
    t.work = &w;
    t.pool = &pool;
    options.watts = p->power.said ? &watts : NULL;
    options.outages = t.fails ? &failures : NULL;
    for (size_t i = 0; i < JOBS; i++)
        t.jobs[i].left_ms = w.jobs[i].length_ms;
    if (sim_run(&r, p, &pool, &w, &options, &e) != 0) {
        printf("# %s\n", e.text);
        return "it does not run";
    }
    t.wrong = wrong_with(&t, &r);
    options.watch = NULL;
    if (sim_run(&again, p, &pool, &w, &options, &e) != 0 ||
        memcmp(r.jobs, again.jobs, w.n_jobs * sizeof(*r.jobs)) != 0)
        t.wrong = "a second run differs";
    add(sum, &t);
    sim_result_done(&r);
    sim_result_done(&again);
    workload_done(&w);
    pool_done(&pool);
    return t.wrong;
}

static int what_of(const struct watch *t)
{
    return (t->promises > ROUNDS ? PROMISES : 0) | (t->way > ROUNDS ? WAY : 0) |
           (t->replicas > 10 ? REPLICAS : 0) | (t->taken > 10 ? TAKEN : 0) |
           (t->lent > ROUNDS ? LENT : 0) | (t->idle > 10 ? IDLES : 0) | (t->late > 10 ? LATE : 0);
}

int main(void)
{
    static const char *const pools[] = { "24x1", "4x8" };

    for (size_t k = 0; k < ARRAY_SIZE(policies); k++) {
        struct watch sum = { .way = 0 };
        const char *wrong = NULL;
        uint64_t seed = 0;
        struct policy p;

        if (!read_policy(&p, policies[k].text))
            wrong = "it cannot be read";
        while (!wrong && seed++ < ROUNDS)
            wrong = check_one(&sum, &p, pools[seed % 2], seed);
        ok(!wrong, "policy %s keeps the rules: %s (seed %d)", policies[k].text,
           wrong ? wrong : "holds", (int)seed);
        ok(what_of(&sum) == policies[k].what,
           "%d promises, %d gave way, %d stopped for replicas, %d for shares, %d borrowed, %d were "
           "idle, %d started late",
           sum.promises, sum.way, sum.replicas, sum.taken, sum.lent, sum.idle, sum.late);
    }
    return done();
}
