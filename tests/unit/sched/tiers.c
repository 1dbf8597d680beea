/* Services, spot jobs and a cap of power on random workloads: what must hold after each pass, and
 * what spot jobs must not change for others. */
#include "sim/outages.h"
#include "sim/sim.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

enum { ROUNDS = 120, JOBS = 70, CLASSES = 4, ALL = -2 };

static const char *const names[CLASSES] = { "chat", "rank", "spot", "train" };

/* Numbers that repeat. */
static int below(uint64_t *state, int n)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((*state >> 33) % (uint64_t)n);
}

/* ---- workloads ---- */

/* Without those of a class, or ALL. */
static int make(struct workload *w, uint64_t seed, int without, int most)
{
    int64_t now_ms = 0;
    struct err e;

    *w = (struct workload){ .n_jobs = 0 };
    for (int i = 0; i < CLASSES; i++)
        if (work_number(w, &w->classes, names[i]) < 0)
            return -1;
    for (int i = 0; i < JOBS; i++) {
        int group = below(&seed, CLASSES + 1) - 1, devices = 1 + below(&seed, most);
        int64_t length_ms = 1000LL * (1 + below(&seed, below(&seed, 4) ? 60 : 900));
        int64_t checkpoint_ms = 1000LL * (below(&seed, 2) ? 20 : 0);
        struct work *job;

        now_ms += below(&seed, 3) ? 1000LL * below(&seed, 25) : 0;
        if (i == 0)
            group = -1; /* the first is there with and without spot jobs */
        if (group == without)
            continue;
        job = ARENA_PUSH(&w->arena, &w->jobs, &w->n_jobs);
        if (!job)
            return -1;
        *job = (struct work){ .submit_ms = now_ms, .length_ms = length_ms, .devices = devices };
        job->class = (int16_t)group;
        job->milli = WORK_WHOLE;
        job->limit_ms = WORK_UNKNOWN;
        job->restart_ms = -1;
        job->checkpoint_ms = checkpoint_ms;
        job->user = -1;
        job->team = (int16_t)i; /* to find it again */
        job->name = arena_printf(&w->arena, "j%d", i);
        if (!job->name)
            return -1;
    }
    return workload_settle(w, &e);
}

/* ---- what must hold ---- */

struct watch {
    const struct workload *work;
    const struct pool *pool;
    const struct policy *policy;
    const struct watts *watts; /* of all kinds; NULL */
    const char *wrong;
    int way, replicas, held, late, failures;
};

static bool is_service(const struct watch *t, uint32_t job)
{
    int group = t->work->jobs[job].class;

    for (size_t i = 0; i < t->policy->service.classes.n && group >= 0; i++)
        if (!strcmp(t->policy->service.classes.names[i], names[group]))
            return true;
    return false;
}

static bool is_spot(const struct watch *t, uint32_t job)
{
    return t->work->jobs[job].class == 2 && t->policy->spot.said;
}

/* Devices of each node that batch jobs have, all that spot jobs have, and what all draw. */
static void look(struct watch *t, const struct sched *s)
{
    int64_t mw = 0, spot = 0, cap = t->policy->power.cap_mw;
    const struct free_capacity *r = sched_capacity(s);
    int batch[64] = { 0 };

    for (uint32_t i = 0; i < t->work->n_jobs; i++) {
        if (sched_job(s, i)->state != SCHED_RUNNING)
            continue;
        for (uint32_t p = sched_job(s, i)->part; p != NO_PART; p = r->parts[p].next) {
            int n = __builtin_popcount(r->parts[p].devices);

            batch[r->parts[p].node] += is_service(t, i) || is_spot(t, i) ? 0 : n;
            spot += is_spot(t, i) ? n : 0;
            if (t->watts && t->policy->power.action == POWER_WAIT)
                mw += n * (t->watts[t->pool->nodes[r->parts[p].node].kind].busy_mw -
                           t->watts[t->pool->nodes[r->parts[p].node].kind].idle_mw);
        }
    }
    for (size_t n = 0; n < t->pool->n_nodes; n++) {
        if (batch[n] > t->pool->nodes[n].devices - sched_reserve(s, (uint32_t)n))
            t->wrong = "batch has devices of the reserve";
        mw += t->policy->power.node_mw;
        if (t->watts)
            mw += t->pool->nodes[n].devices * t->watts[t->pool->nodes[n].kind].idle_mw;
    }
    if (t->policy->spot.ceiling.amount > 0 && (double)spot > t->policy->spot.ceiling.amount)
        t->wrong = "spot jobs have more than their ceiling";
    if (cap && (sched_drawn_mw(s) > cap || mw > cap))
        t->wrong = "the cap is exceeded";
    if (cap && t->policy->power.action == POWER_WAIT && sched_drawn_mw(s) != mw)
        t->wrong = "power is miscounted";
}

static void watch(void *ctx, const struct sched *s, const struct action *a, int64_t now_ms)
{
    struct watch *t = ctx;

    look(t, s);
    t->held += a->kind == ACTION_HOLD;
    t->late += a->kind == ACTION_START && a->ready_ms > now_ms;
    if (a->kind != ACTION_PREEMPT)
        return;
    if (is_service(t, a->job))
        t->wrong = "a replica was stopped";
    if (a->why == WHY_REPLICA && (is_spot(t, a->job) || !is_service(t, a->other)))
        t->wrong = "a job was stopped for what is no replica";
    if (a->why == WHY_REPLICA && !t->policy->service.preempt)
        t->wrong = "a batch job was stopped without leave";
    if ((a->why == WHY_WAY) != is_spot(t, a->job))
        t->wrong = "what gave way is no spot job";
    t->way += a->why == WHY_WAY;
    t->replicas += a->why == WHY_REPLICA;
}

/* What became of the jobs. */
static const char *wrong_with(const struct sim_result *r, const struct policy *p,
                              const struct workload *w)
{
    for (size_t i = 0; i < w->n_jobs; i++) {
        const struct sim_job *j = &r->jobs[i];

        if (j->fate == SIM_IMPOSSIBLE)
            continue;
        if (j->starts == 0 || j->end_ms == 0)
            return "a job never ended";
        if (j->end_ms - w->jobs[i].submit_ms != j->ran_ms + j->wait_ms)
            return "time was lost or made";
        if (j->ran_ms < w->jobs[i].length_ms)
            return "work was lost";
        if (j->starts == 1 && j->ran_ms != w->jobs[i].length_ms && p->power.action == POWER_WAIT)
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

static const struct watts watts[] = {
    { 400000, 50000, { { 0.8, 0.95 }, { 0.6, 0.8 }, { 0.4, 0.5 } }, 3 },
    { 300000, 40000, { { 0.75, 0.9 }, { 0.5, 0.7 } }, 2 },
};

static const char *check_one(struct watch *sum, const struct policy *p, const char *nodes,
                             uint64_t seed)
{
    const struct outage_options failures = { .per_device_day = 20,
                                             .seed = seed,
                                             .repair_ms = 60000 };
    struct watch t = { .policy = p, .watts = p->power.said ? watts : NULL };
    struct sim_options options = { .watch = watch, .ctx = &t, .watts = t.watts };
    struct pool pool = { .n_nodes = 0 };
    struct sim_result r, again;
    struct workload w;
    struct err e;

    if (make(&w, seed, ALL, strchr(nodes, '1') ? 6 : 12) < 0 || pool_parse(&pool, nodes, &e) != 0)
        return "it cannot be made";
    t.work = &w;
    t.pool = &pool;
    if (seed % 4 == 0)
        options.outages = &failures;
    if (sim_run(&r, p, &pool, &w, &options, &e) != 0) {
        printf("# %s\n", e.text);
        return "it does not run";
    }
    if (!t.wrong)
        t.wrong = wrong_with(&r, p, &w);
    options.watch = NULL;
    if (sim_run(&again, p, &pool, &w, &options, &e) != 0 ||
        memcmp(r.jobs, again.jobs, w.n_jobs * sizeof(*r.jobs)) != 0)
        t.wrong = "a second run differs";
    sum->way += t.way;
    sum->replicas += t.replicas;
    sum->held += t.held;
    sum->late += t.late;
    sum->failures += (int)r.losses.failures;
    sim_result_done(&r);
    sim_result_done(&again);
    workload_done(&w);
    pool_done(&pool);
    return t.wrong;
}

#define SERVICE "[service]\nclass = chat\nclass = rank\n"
#define SPOT "[spot]\nclass = spot\n"
#define EASY "order = fifo\nbackfill = easy\nlength = oracle\n"

static const struct {
    const char *text;
    bool way, replicas, held, late;
} policies[] = {
    { "order = fifo\n" SERVICE "reserve = 6\n", false, false, false, false },
    { "order = fifo\n" SERVICE "reserve = 25%\n" SPOT, true, false, false, false },
    { "order = fifo\nrestart = 5s\n" SERVICE "reserve = 6\npreempt = yes\n" SPOT, true, true, false,
      false },
    { "order = fifo\nbackfill = greedy\nageing = 300s\n" SERVICE
      "reserve = chat 4\nreserve = rank 3\npreempt = yes\n" SPOT "ceiling = 9\n",
      true, true, false, false },
    { "order = fifo\nrestart = 5s\n" SERVICE "reserve = 8\npreempt = yes\n" SPOT
      "notice = 30s\nsave = 20s\n",
      true, true, false, true },
    { "order = fair\nbackfill = greedy\n" SPOT "notice = 15s\n", true, false, false, true },
    { "order = las\nqueues = 30s 300s\npreempt = victims\nrestart = 5s\n" SERVICE
      "reserve = 5\npreempt = yes\n" SPOT,
      true, true, false, false },
    { "order = las\nqueues = 30s 300s\npreempt = victims\n" SERVICE "reserve = 4\n" SPOT
      "notice = 10s\n",
      true, false, false, true },
    { "order = fifo\n[power]\ncap = 5kW\nnode = 100 W\n", false, false, true, false },
    { "order = fifo\nbackfill = greedy\nageing = 200s\n" SERVICE "reserve = 4\npreempt = yes\n" SPOT
      "[power]\ncap = 5kW\n",
      true, true, true, false },
    { "order = fifo\n" SPOT "[power]\ncap = 4500 W\naction = limit\n", true, false, true, false },
    { EASY "restart = 5s\n" SERVICE "reserve = chat 4\nreserve = rank 3\npreempt = yes\n" SPOT
           "notice = 30s\nsave = 20s\n",
      true, true, false, true },
    { EASY SERVICE "reserve = 4\npreempt = yes\n" SPOT "[power]\ncap = 5kW\n", true, true, true,
      false },
    { EASY SPOT "[power]\ncap = 4500 W\naction = limit\n", true, false, true, false },
};

static void test_holds(void)
{
    static const char *const pools[] = { "24x1", "4x8", "2x8:A,2x8:B" };

    for (size_t k = 0; k < ARRAY_SIZE(policies); k++) {
        struct watch sum = { .way = 0 };
        const char *wrong = NULL;
        uint64_t seed = 0;
        struct policy p;

        if (!read_policy(&p, policies[k].text))
            wrong = "it cannot be read";
        while (!wrong && seed++ < ROUNDS)
            wrong = check_one(&sum, &p, pools[seed % 3], seed);
        ok(!wrong, "policy %s keeps the rules: %s (seed %d)", policies[k].text,
           wrong ? wrong : "holds", (int)seed);
        ok(sum.failures > ROUNDS, "%d nodes fail meanwhile", sum.failures);
        ok((sum.way > ROUNDS) == policies[k].way && (sum.replicas > 10) == policies[k].replicas &&
               (sum.held > 10) == policies[k].held && (sum.late > 10) == policies[k].late,
           "%d gave way, %d stopped for replicas, %d waited for power, %d started late", sum.way,
           sum.replicas, sum.held, sum.late);
    }
}

/* ---- what others see of them ---- */

/* How many jobs of both fare otherwise; -1: it does not run. Jobs are the same by their team. */
static int differ(const char *a, const char *b, uint64_t seed, int without, int most)
{
    const char *nodes = without == ALL ? "4x8" : most == 1 ? "5x1" : "24x1";
    struct policy policy_a, policy_b;
    struct pool pool = { .n_nodes = 0 };
    struct workload all, fewer;
    struct sim_result x, y;
    size_t k = 0;
    int sum = 0;
    struct err e;

    if (!read_policy(&policy_a, a) || !read_policy(&policy_b, b) ||
        pool_parse(&pool, nodes, &e) != 0 || make(&all, seed, ALL, most) < 0 ||
        make(&fewer, seed, without, most) < 0 ||
        sim_run(&x, &policy_a, &pool, &all, NULL, &e) != 0 ||
        sim_run(&y, &policy_b, &pool, &fewer, NULL, &e) != 0)
        return -1;
    for (size_t i = 0; i < all.n_jobs && k < fewer.n_jobs; i++) {
        if (all.jobs[i].team != fewer.jobs[k].team)
            continue;
        sum += memcmp(&x.jobs[i], &y.jobs[k++], sizeof(*x.jobs)) != 0;
    }
    sum += k != fewer.n_jobs;
    sim_result_done(&x);
    sim_result_done(&y);
    workload_done(&all);
    workload_done(&fewer);
    pool_done(&pool);
    return sum;
}

/* On nodes with one device each a number is a place: then no batch job and no replica fares
 * otherwise for spot jobs that go at once. With a reserve that holds of jobs for one device: where
 * the rest of a replica goes that is beyond it hangs on what is free. */
static void test_unseen(void)
{
    static const struct {
        const char *text;
        int most;
    } texts[] = {
        { "order = fifo\n" SPOT, 6 },
        { "order = fifo\nbackfill = greedy\n" SPOT, 12 },
        { "order = sjf\nlength = oracle\nrestart = 5s\n" SERVICE "preempt = yes\n" SPOT, 6 },
        { "order = fifo\nbackfill = greedy\n" SERVICE "reserve = 3\n" SPOT, 1 },
        { "order = fifo\nrestart = 9s\n" SERVICE "reserve = 2\npreempt = yes\n" SPOT, 1 },
    };

    for (size_t k = 0; k < ARRAY_SIZE(texts); k++) {
        int sum = 0;

        for (uint64_t seed = 1; seed <= ROUNDS; seed++)
            sum += differ(texts[k].text, texts[k].text, seed, 2, texts[k].most) != 0;
        is_int(sum, 0, "spot jobs change nothing for others: %s", texts[k].text);
    }
}

/* Sections that no job is of change nothing. */
static void test_unused(void)
{
    static const char *const texts[] = {
        "order = fifo\n",
        "order = fifo\nbackfill = greedy\n",
        "order = las\nqueues = 30s 300s\npreempt = victims\nrestart = 5s\n",
        EASY,
    };

    for (size_t k = 0; k < ARRAY_SIZE(texts); k++) {
        char with[256];
        int sum = 0;

        snprintf(with, sizeof(with), "%s[service]\nclass = none\n[spot]\nclass = no-one\n",
                 texts[k]);
        for (uint64_t seed = 1; seed <= ROUNDS; seed++)
            sum += differ(texts[k], with, seed, ALL, 6) != 0;
        is_int(sum, 0, "sections that name nobody change nothing: %s", texts[k]);
    }
}

/* What sched_watts() refuses. */
static void test_too_little(void)
{
    struct sim_options options = { .watts = watts };
    struct pool pool = { .n_nodes = 0 };
    struct workload w;
    struct sim_result r;
    struct policy p;
    struct err e;

    ok(make(&w, 1, ALL, 6) == 0 && pool_parse(&pool, "2x8", &e) == 0,
       "six jobs and two nodes are made");
    ok(read_policy(&p, "[power]\ncap = 800W\n") &&
           sim_run(&r, &p, &pool, &w, &options, &e) == -EINVAL,
       "a cap below what idle nodes draw is refused");
    is_str(e.text, "test: the cap is 0.8 kW, and idle nodes draw 0.8 kW",
           "the error names the cap and what idle nodes draw");
    ok(sim_run(&r, &p, &pool, &w, NULL, &e) == -EINVAL, "a cap without watts is refused");
    ok(read_policy(&p, SERVICE "reserve = 17\n") && sim_run(&r, &p, &pool, &w, NULL, &e) == -EINVAL,
       "a reserve of more than there is");
    is_str(e.text, "test: a reserve is 17 devices, and only 16 suit and are left",
           "the error names the reserve and the devices that suit");
    workload_done(&w);
    pool_done(&pool);
}

int main(void)
{
    test_holds();
    test_unseen();
    test_unused();
    test_too_little();
    return done();
}
