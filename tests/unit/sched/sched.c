/* Scheduling policies on random workloads: compared with a naive scheduler, and what must hold of
 * any of them. */
#include "sim/sim.h"
#include "naive_sched.h"
#include "sched/core/waiting.h"
#include "sched/core/order.h"
#include "sched/place/place.h"

#include "tap.h"

enum { ROUNDS = 100 };

/* Numbers that repeat. */
static uint64_t next(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15ULL;
    uint64_t z = *state;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
}

static int below(uint64_t *state, int n)
{
    return (int)(next(state) % (uint64_t)n);
}

/* ---- workloads ---- */

static int add_job(struct workload *w, int submit, int length, int devices)
{
    struct work *job = ARENA_PUSH(&w->arena, &w->jobs, &w->n_jobs);

    if (!job)
        return -1;
    *job = (struct work){ .submit_ms = submit * 1000LL, .length_ms = length * 1000LL };
    job->devices = devices;
    job->milli = WORK_WHOLE;
    job->limit_ms = job->length_ms * 2;
    job->restart_ms = -1;
    job->user = (int16_t)(w->n_jobs % 3);
    job->priority = (int16_t)(w->n_jobs % 5 == 0);
    job->class = (int16_t)(w->n_jobs % 4) - 1;
    job->name = arena_printf(&w->arena, "j%zu", w->n_jobs);
    return job->name ? 0 : -1;
}

static void make(struct workload *w, struct naive *m, uint64_t seed)
{
    int now = 0;

    *m = (struct naive){ .n = 10 + below(&seed, 60), .nodes = 1 + below(&seed, 6) };
    *w = (struct workload){ .n_jobs = 0 };
    m->each = 1 + below(&seed, 8);
    for (int i = 0; i < 3; i++)
        if (work_number(w, &w->users, (const char *[]){ "a", "b", "c" }[i]) < 0 ||
            work_number(w, &w->classes, (const char *[]){ "a", "b", "c" }[i]) < 0)
            return;
    for (int i = 0; i < m->n; i++) {
        int length = 1 + below(&seed, below(&seed, 4) ? 50 : 2000);
        int devices = 1 + below(&seed, below(&seed, 3) ? m->each : m->nodes * m->each);

        if (add_job(w, now, length, devices) < 0)
            return;
        m->jobs[i] = (struct naive_job){ .submit = now, .length = length, .devices = devices };
        now += below(&seed, 3) ? below(&seed, 30) : 0;
    }
}

/* Let most of them be due some time after they could end; of some that is before. */
static void add_deadlines(struct workload *w, struct naive *m, uint64_t seed)
{
    for (size_t i = 0; i < w->n_jobs; i++) {
        struct work *job = &w->jobs[i];
        struct work_wish *wish = arena_alloc(&w->arena, sizeof(*wish));
        int64_t s = job->length_ms / 1000;

        if (!wish || below(&seed, 4) == 0)
            continue;
        wish->due_ms = MAX(s - 2 + below(&seed, (int)(below(&seed, 2) ? s : 300) + 1), 1) * 1000;
        job->wish = wish;
        m->jobs[i].due = (int)((job->submit_ms + wish->due_ms) / 1000);
    }
}

/* Let some of them be shares of a device, want one kind, CPUs, or a shape on their nodes. */
static void mix(struct workload *w, uint64_t seed)
{
    for (size_t i = 0; i < w->n_jobs; i++) {
        struct work *job = &w->jobs[i];

        if (job->devices == 1 && below(&seed, 2))
            job->milli = (int16_t)(100 * (1 + below(&seed, 10)));
        if (job->devices % 4 == 0 && below(&seed, 2))
            job->per_node = 4;
        if (below(&seed, 4) == 0)
            job->kinds = 1U << below(&seed, 2);
        if (below(&seed, 20) == 0)
            *job = (struct work){ .submit_ms = job->submit_ms,
                                  .length_ms = job->length_ms,
                                  .limit_ms = job->limit_ms,
                                  .restart_ms = -1,
                                  .milli = WORK_WHOLE,
                                  .name = job->name };
    }
}

static bool read_policy(struct policy *p, const char *text)
{
    struct err e;
    char whole[512];

    snprintf(whole, sizeof(whole), "[policy]\n%s", text);
    return policy_read(p, "test", whole, strlen(whole), &e) == 0;
}

/* ---- against the naive one ---- */

static const struct {
    const char *text;
    enum naive_order order;
    bool greedy, preempts, adds;
} same[] = {
    { "order = fifo\n", NAIVE_FIFO, false, false, false },
    { "order = sjf\nlength = oracle\n", NAIVE_SJF, false, false, false },
    { "order = fifo\nbackfill = greedy\n", NAIVE_FIFO, true, false, false },
    { "order = sjf\nlength = oracle\nbackfill = greedy\n", NAIVE_SJF, true, false, false },
    { "order = srtf\npreempt = quota\nlength = oracle\nties = waiting\nevery = 1s\nnotice = 1s\n"
      "restart = 40s\nrestart-multi = 40s\n",
      NAIVE_SRTF, true, true, false },
    { "order = srtf\npreempt = quota\nlength = oracle\nties = waiting\nevery = 1s\nnotice = 1s\n"
      "restart = 40s\nrestart-multi = 40s\nrestart-adds = yes\n",
      NAIVE_SRTF, true, true, true },
    { "order = deadline\nlength = oracle\nevery = 1s\n", NAIVE_DEADLINE, false, false, false },
    { "order = deadline\nlength = oracle\nevery = 1s\nbackfill = greedy\n", NAIVE_DEADLINE, true,
      false, false },
};

/* How many jobs fare otherwise than with the naive one; -1 when it could not be run. */
static int compare_one(struct workload *w, struct naive *m, const struct policy *p)
{
    struct sim_result r;
    struct pool pool = { .n_nodes = 0 };
    char nodes[24];
    int differ = 0;
    struct err e;

    snprintf(nodes, sizeof(nodes), "%dx%d", m->nodes, m->each);
    if (pool_parse(&pool, nodes, &e) != 0 || workload_settle(w, &e) != 0 ||
        sim_run(&r, p, &pool, w, NULL, &e) != 0)
        return -1;
    naive_run(m);
    for (int i = 0; i < m->n; i++)
        differ += r.jobs[i].start_ms != m->jobs[i].start * 1000LL ||
                  r.jobs[i].end_ms != m->jobs[i].end * 1000LL ||
                  r.jobs[i].wait_ms != m->jobs[i].wait * 1000LL;
    sim_result_done(&r);
    pool_done(&pool);
    return differ;
}

static void test_same(void)
{
    static struct naive m;

    for (size_t k = 0; k < ARRAY_SIZE(same); k++) {
        int differ = 0, preempted = 0;

        for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
            struct workload w;
            struct policy p;

            make(&w, &m, seed);
            add_deadlines(&w, &m, seed);
            m.order = same[k].order;
            m.greedy = same[k].greedy;
            m.preempts = same[k].preempts;
            m.adds = same[k].adds;
            if (!read_policy(&p, same[k].text) || compare_one(&w, &m, &p) != 0)
                differ++;
            for (int i = 0; i < m.n; i++)
                preempted += m.jobs[i].preempted;
            workload_done(&w);
        }
        is_int(differ, 0, "the scheduler does as the naive one on %d workloads: %.20s", ROUNDS,
               same[k].text);
        ok(!same[k].preempts || preempted > ROUNDS, "a policy that preempts does so (%d)",
           preempted);
    }
}

/* ---- what must hold of any ---- */

struct watch {
    const struct workload *work;
    uint32_t owner[NAIVE_NODES][POOL_DEVICES]; /* job + 1 */
    int64_t promised[NAIVE_JOBS];
    bool running[NAIVE_JOBS];
    int64_t cleared_ms;  /* when jobs were stopped for another one */
    int64_t cleared_for; /* that has not started yet; -1 */
    int64_t every_ms;
    int64_t ageing_ms; /* 0: others may go ahead */
    bool moves;        /* jobs that run get other devices, without an action */
    int twice, torn, late, in_vain, overtaken;
};

/* Whether some device is given to more than there is of it, by what the scheduler says. */
static bool is_twice(const struct watch *t, const struct sched *s)
{
    int used[NAIVE_NODES][POOL_DEVICES] = { { 0 } };
    const struct free_capacity *r = sched_capacity(s);
    bool twice = false;

    for (uint32_t i = 0; i < t->work->n_jobs; i++) {
        const struct sched_job *j = sched_job(s, i);

        if (j->state != SCHED_RUNNING)
            continue;
        for (uint32_t p = j->part; p != NO_PART; p = r->parts[p].next)
            for (int d = 0; d < POOL_DEVICES; d++)
                if (r->parts[p].devices >> d & 1)
                    twice |= (used[r->parts[p].node][d] += r->parts[p].milli) > WORK_WHOLE;
    }
    return twice;
}

/* Whether a job that has not aged starts while one that has finds no place, and would wait. */
static bool overtakes(const struct watch *t, const struct sched *s, const struct action *a,
                      int64_t now_ms)
{
    if (!t->ageing_ms || sched_job(s, a->job)->aged)
        return false;
    for (uint32_t i = 0; i < t->work->n_jobs; i++) {
        const struct sched_job *j = sched_job(s, i);

        if (j->state == SCHED_WAITING && now_ms - j->since_ms >= t->ageing_ms)
            return true;
    }
    return false;
}

/* Forget what jobs own that no longer run. */
static void forget(struct watch *t, const struct sched *s)
{
    for (size_t n = 0; n < NAIVE_NODES; n++)
        for (size_t d = 0; d < POOL_DEVICES; d++)
            if (t->owner[n][d] && (!t->running[t->owner[n][d] - 1] ||
                                   sched_job(s, t->owner[n][d] - 1)->state != SCHED_RUNNING))
                t->owner[n][d] = 0;
}

static void own(struct watch *t, const struct sched *s, uint32_t job)
{
    const struct free_capacity *r = sched_capacity(s);
    int got = 0;

    for (uint32_t p = sched_job(s, job)->part; p != NO_PART; p = r->parts[p].next)
        for (int d = 0; d < POOL_DEVICES; d++)
            if (r->parts[p].devices >> d & 1) {
                t->twice += !t->moves && r->parts[p].milli == WORK_WHOLE &&
                            t->owner[r->parts[p].node][d] != 0;
                t->owner[r->parts[p].node][d] = job + 1;
                got++;
            }
    t->torn += got != t->work->jobs[job].devices;
}

static void watch(void *ctx, const struct sched *s, const struct action *a, int64_t now_ms)
{
    struct watch *t = ctx;

    forget(t, s);
    t->twice += is_twice(t, s);
    t->overtaken += a->kind == ACTION_START && overtakes(t, s, a, now_ms);
    t->in_vain += t->cleared_for >= 0 && now_ms > t->cleared_ms;
    if (a->kind == ACTION_START && a->job == t->cleared_for)
        t->cleared_for = -1;
    if (a->why == WHY_VICTIM || a->why == WHY_RECLAIM) {
        t->cleared_for = a->other;
        t->cleared_ms = now_ms;
    }
    if (a->kind == ACTION_PREEMPT) {
        t->running[a->job] = false;
        forget(t, s);
        return;
    }
    t->running[a->job] = true;
    if (sched_job(s, a->job)->state == SCHED_RUNNING)
        own(t, s, a->job);
    t->late += t->promised[a->job] > 0 && now_ms > t->promised[a->job] + t->every_ms;
    if ((a->why == WHY_SHORT || a->why == WHY_SPARE) && a->until_ms != WORK_UNKNOWN)
        t->promised[a->other] = a->until_ms;
}

#define SHARES "[quota]\nshare = a 40%\nshare = b 20%\nshare = c 40%\n"

static const char *const any[] = {
    "order = fifo\n",
    "order = fifo\nbackfill = greedy\n",
    "order = fifo\nbackfill = easy\nlength = oracle\n",
    "order = fifo\nbackfill = easy\nlength = limit\n",
    "order = sjf\nbackfill = easy\nlength = oracle\n",
    "order = fifo\nbackfill = conservative\nlength = oracle\n",
    "order = fifo\nbackfill = conservative\nlength = limit\n",
    "order = fair\nbackfill = greedy\nhalf-life = 1h\n",
    "order = fifo\nplace = first\nbackfill = easy\nlength = oracle\n",
    "order = fifo\nplace = scatter\nbackfill = greedy\n",
    "order = srtf\npreempt = quota\nlength = oracle\nties = waiting\nrestart = 5s\n",
    "order = srsf\npreempt = quota\nlength = oracle\nplace = scatter\n",
    "order = las\nqueues = 30s 300s\npreempt = quota\nties = running\nevery = 10s\n",
    "order = las\nqueues = 30s 300s\npreempt = quota\nties = list\nplace = scatter\n",
    "order = las\nqueues = 30s 300s\npreempt = victims\nrestart = 5s\n",
    "order = srtf\npreempt = victims\nlength = oracle\nrestart = 5s\n",
    "order = fifo\npreempt = victims\npriorities = yes\nrestart = 5s\n",
    "order = las\nqueues = 30s 300s\npreempt = victims\nleast-run = 20s\nplace = first\n",
    "order = fifo\n" SHARES,
    "order = fifo\nrestart = 5s\n" SHARES "borrow = yes\n",
    "order = fair\nbackfill = greedy\nrestart = 5s\n" SHARES "borrow = yes\n",
    "order = las\nqueues = 30s 300s\npreempt = victims\nrestart = 5s\n" SHARES,
    "order = las\nqueues = 30s 300s\npreempt = victims\nrestart = 5s\n" SHARES "borrow = yes\n",
    "order = srtf\npreempt = victims\nlength = oracle\nrestart = 5s\n" SHARES "borrow = yes\n",
    "order = sjf\nlength = oracle\nbackfill = greedy\nageing = 60s\n",
    "order = smallest\nageing = 100s\n",
    "order = fair\nbackfill = greedy\nhalf-life = 1h\nageing = 30s\n",
    "order = smallest\nbackfill = easy\nlength = limit\nageing = 100s\n",
    "order = las\nqueues = 30s 300s\npreempt = victims\nrestart = 5s\nageing = 200s\n",
    "order = fifo\nbackfill = greedy\nplace = topology\n",
    "order = fifo\nbackfill = greedy\nplace = balance\n",
    "order = fifo\nbackfill = greedy\nageing = 50s\n" SHARES,
    "order = deadline\n",
    "order = deadline\nbackfill = greedy\nlength = oracle\n",
    "order = deadline\nbackfill = easy\nlength = limit\n",
    "order = deadline\nbackfill = conservative\nlength = oracle\nageing = 60s\n",
    "order = deadline\npreempt = victims\nlength = oracle\nrestart = 5s\n",
    "order = deadline\npreempt = victims\npriorities = yes\nrestart = 5s\nageing = 90s\n",
    "order = deadline\npreempt = quota\nlength = limit\nrestart = 5s\n",
    "order = deadline\npreempt = rebuild\nlength = oracle\nrestart = 5s\n",
    "order = deadline\nbackfill = greedy\nlength = oracle\nrestart = 5s\n" SHARES "borrow = yes\n",
    "order = deadline\npreempt = victims\nlength = oracle\nrestart = 5s\n" SHARES "borrow = yes\n",
};

/* What went wrong, as a word; NULL. */
static const char *wrong_with(const struct sim_result *r, const struct watch *t,
                              const struct policy *p, const struct workload *w)
{
    if (t->twice)
        return "a device was given twice";
    if (t->torn)
        return "a gang was torn";
    if (t->overtaken)
        return "a job went before one that had waited for too long";
    if (t->in_vain)
        return "jobs were stopped for one that did not start";
    if (t->late && p->order == order_named("fifo") && !p->priorities && !p->ageing_ms)
        /* in others, later ones may go ahead */
        return "a promise was broken";
    for (size_t i = 0; i < w->n_jobs; i++) {
        const struct sim_job *j = &r->jobs[i];
        /* the last start is paid in full, those before it as far as they came */
        int64_t least = j->starts > 1 ? MIN(p->restart_ms, p->restart_multi_ms) : 0;
        int64_t most = (int64_t)(j->starts - 1) * MAX(p->restart_ms, p->restart_multi_ms) +
                       (int64_t)j->starts * p->notice_ms;
        int64_t more = j->ran_ms - w->jobs[i].length_ms;

        if (j->fate == SIM_IMPOSSIBLE)
            continue;
        if (j->starts == 0)
            return "a job never ran";
        if (p->restart_each_pass ? more < 0 : more < least || more > most)
            return "work was lost or made";
        if (j->end_ms - w->jobs[i].submit_ms != j->ran_ms + j->wait_ms)
            return "time was lost or made";
    }
    return NULL;
}

static const char *check_one(const struct policy *p, uint64_t seed, bool mixed)
{
    static struct naive m;
    struct watch t = { .cleared_for = -1,
                       .every_ms = p->every_ms,
                       .moves = p->preempt == PREEMPT_REBUILD };
    const struct sim_options options = { watch, &t };
    struct pool pool = { .n_nodes = 0 };
    struct sim_result r, again;
    const char *wrong = NULL;
    struct workload w;
    char nodes[24];
    struct err e;

    make(&w, &m, seed);
    t.work = &w;
    if (p->backfill <= BACKFILL_GREEDY && p->preempt == PREEMPT_NONE && p->quota.n == 0)
        t.ageing_ms = p->ageing_ms;
    if (mixed)
        mix(&w, seed);
    add_deadlines(&w, &m, seed);
    snprintf(nodes, sizeof(nodes), mixed ? "3x8:A,4x4:B" : "%dx%d", m.nodes, m.each);
    if (pool_parse(&pool, nodes, &e) != 0 || workload_settle(&w, &e) != 0 ||
        sim_run(&r, p, &pool, &w, &options, &e) != 0 ||
        sim_run(&again, p, &pool, &w, NULL, &e) != 0)
        return "it does not run";
    wrong = wrong_with(&r, &t, p, &w);
    if (memcmp(r.jobs, again.jobs, w.n_jobs * sizeof(*r.jobs)) != 0)
        wrong = "a second run differs";
    sim_result_done(&r);
    sim_result_done(&again);
    workload_done(&w);
    pool_done(&pool);
    return wrong;
}

static void test_any(void)
{
    for (size_t k = 0; k < ARRAY_SIZE(any); k++) {
        const char *wrong = NULL;
        struct policy p;
        uint64_t seed = 0;

        if (!read_policy(&p, any[k]))
            wrong = "it cannot be read";
        while (!wrong && seed++ < ROUNDS)
            wrong = check_one(&p, seed, seed % 3 == 0);
        ok(!wrong, "policy %s keeps the rules: %s (seed %d)", any[k], wrong ? wrong : "holds",
           (int)seed);
    }
}

/* All policies with names; of those that interleave, interleave.c. */
static void test_named(void)
{
    for (size_t k = 0; policy_name_at(k); k++) {
        const char *wrong = NULL;
        struct policy p;
        uint64_t seed = 0;
        struct err e;

        if (policy_named(&p, policy_name_at(k), &e) != 0)
            wrong = e.text;
        else if (p.interleave > 1)
            continue;
        while (!wrong && seed++ < ROUNDS / 3)
            wrong = check_one(&p, seed, seed % 3 == 0);
        ok(!wrong, "policy %s keeps the rules on mixtures: %s (seed %d)", policy_name_at(k),
           wrong ? wrong : "holds", (int)seed);
    }
}

/* Parts at random: those that go together have to hold, too. */
static void test_mixtures(void)
{
    static const char *const backfills[] = { "none", "greedy", "easy", "conservative" };
    static const char *const preempts[] = { "none", "none", "quota", "victims", "rebuild" };
    static const char *const ties[] = { "submitted", "waiting", "running" };
    static const char *const lengths[] = { "none", "limit", "oracle" };
    const char *wrong = NULL;
    uint64_t chance = 7;
    int good = 0;
    char text[512] = "";

    for (int round = 0; round < 12 * ROUNDS && !wrong; round++) {
        int orders = 0, places = 0;
        struct policy p;

        while (order_name_at((size_t)orders))
            orders++;
        while (place_name_at((size_t)places))
            places++;
        snprintf(text, sizeof(text),
                 "order = %s\nplace = %s\nbackfill = %s\npreempt = %s\nties = %s\nlength = %s\n"
                 "queues = 20s 400s\nrestart = %ds\nevery = %ds\nageing = %ds\npriorities = %s\n%s",
                 order_name_at((size_t)below(&chance, orders)),
                 place_name_at((size_t)below(&chance, places)), backfills[below(&chance, 4)],
                 preempts[below(&chance, 5)], ties[below(&chance, 3)], lengths[below(&chance, 3)],
                 below(&chance, 8), below(&chance, 2) * 7, below(&chance, 2) * 90,
                 below(&chance, 2) ? "yes" : "no",
                 below(&chance, 4) ? "" : SHARES "borrow = yes\n");
        if (!read_policy(&p, text))
            continue;
        good++;
        for (int k = 0; k < 3 && !wrong; k++)
            wrong = check_one(&p, next(&chance) >> 8, k == 2);
    }
    ok(!wrong, "random mixtures of jobs run well under policy %s: %s", text,
       wrong ? wrong : "mixtures hold");
    ok(good > ROUNDS, "%d of the random policies are good ones", good);
}

/* A gang behind a stream of small jobs: it waits for as long as they come, unless it ages. */
static int64_t gang_waits(const char *text)
{
    struct pool pool = { .n_nodes = 0 };
    struct workload w = { .n_jobs = 0 };
    struct sim_result r;
    struct policy p;
    int64_t waits = -1;
    struct err e;

    for (int i = 0; i < 400; i++)
        if (add_job(&w, i * 10, 60, i == 5 ? 8 : 2) < 0)
            return -1;
    if (read_policy(&p, text) && pool_parse(&pool, "1x8", &e) == 0 &&
        workload_settle(&w, &e) == 0 && sim_run(&r, &p, &pool, &w, NULL, &e) == 0) {
        waits = r.jobs[5].wait_ms / 1000;
        sim_result_done(&r);
    }
    pool_done(&pool);
    workload_done(&w);
    return waits;
}

static void test_ageing(void)
{
    static const char *const orders[] = { "order = fifo\nbackfill = greedy\n", "order = smallest\n",
                                          "order = smallest\nbackfill = greedy\n",
                                          "order = sjf\nlength = oracle\nbackfill = greedy\n",
                                          "order = smallest\nbackfill = easy\n" };

    for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
        char text[128];
        int64_t waits;

        snprintf(text, sizeof(text), "%sageing = 300s\n", orders[i]);
        waits = gang_waits(text);
        ok(gang_waits(orders[i]) > 2000, "a gang starves without ageing: %s", orders[i]);
        ok(waits >= 300 && waits <= 400, "with ageing it waits for %d s", (int)waits);
    }
}

/* ---- jobs that wait ---- */

/* The first of a group behind a key that is short enough, the slow way. */
static uint32_t slow_next(const struct order_key *keys, const int64_t *lengths, const bool *there,
                          const struct order_key *after, int64_t longest)
{
    uint32_t best = WAITING_NONE;

    for (uint32_t i = 0; i < NAIVE_JOBS; i++)
        if (there[i] && lengths[i] <= longest && (!after || order_compare(after, &keys[i]) < 0) &&
            (best == WAITING_NONE || order_compare(&keys[i], &keys[best]) < 0))
            best = i;
    return best;
}

static uint32_t slow_before(const struct order_key *keys, const bool *there,
                            const struct order_key *key)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < NAIVE_JOBS; i++)
        n += there[i] && order_compare(&keys[i], key) < 0;
    return n;
}

static void test_waiting(void)
{
    struct order_key keys[NAIVE_JOBS];
    int64_t lengths[NAIVE_JOBS];
    bool there[NAIVE_JOBS] = { false };
    struct arena a = ARENA_INIT;
    struct waiting q;
    uint64_t chance = 1;
    int differ = 0, miscounted = 0;

    if (!ok(waiting_init(&q, &a, NAIVE_JOBS, 1) == 0, "room for jobs that wait"))
        return;
    for (int round = 0; round < 20000; round++) {
        uint32_t job = (uint32_t)below(&chance, NAIVE_JOBS), other;
        int64_t longest = below(&chance, 100);

        if (there[job]) {
            waiting_remove(&q, 0, job);
        } else {
            keys[job] = (struct order_key){ below(&chance, 20), below(&chance, 3), job };
            lengths[job] = below(&chance, 100);
            waiting_add(&q, 0, job, &keys[job], lengths[job]);
        }
        there[job] = !there[job];
        other = slow_next(keys, lengths, there, NULL, INT64_MAX);
        differ += waiting_next(&q, 0, NULL, INT64_MAX) != other;
        differ += waiting_next(&q, 0, &keys[job], longest) !=
                  slow_next(keys, lengths, there, &keys[job], longest);
        miscounted += waiting_before(&q, 0, &keys[job]) != slow_before(keys, there, &keys[job]);
    }
    is_int(miscounted, 0, "waiting_before counts as many jobs as a look at all does");
    is_int(differ, 0, "waiting_next finds the same job as a look at all does");
    arena_done(&a);
}

int main(void)
{
    test_waiting();
    test_same();
    test_any();
    test_named();
    test_mixtures();
    test_ageing();
    return done();
}
