/* Nodes that fail: what a job has saved, against a clock that ticks; and what must hold of random
 * workloads while nodes are lost, come back, and are stood in for. */
#include <stdlib.h>

#include "oom.h"
#include "oom_arena.h"
#include "sim/outages.h"
#include "sim/sim.h"
#include "tap.h"

enum { ROUNDS = 40, JOBS = 60, NODES = 6, EACH = 4 };

static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    return z ^ z >> 31;
}

static int below(uint64_t *state, int n)
{
    return (int)(next(state) % (uint64_t)n);
}

/* ---- checkpoints ---- */

/* Work and save by turns, a millisecond at a time; how long all of it takes. */
static int64_t tick(int64_t ran, int64_t work, int64_t every, int64_t cost, struct outage_work *w)
{
    int64_t since = 0, saving = 0, took = 0;

    *w = (struct outage_work){ 0 };
    for (; w->did_ms < work || saving > 0; took++) {
        if (took == ran)
            return took;
        if (saving > 0) {
            if (--saving == 0) {
                w->saved_ms = w->did_ms;
                w->paid_ms += cost;
                since = 0;
            }
            continue;
        }
        w->did_ms++;
        if (every > 0 && ++since == every && w->did_ms < work) {
            saving = cost;
            if (cost == 0) {
                w->saved_ms = w->did_ms;
                since = 0;
            }
        }
    }
    return took;
}

static void test_checkpoints(void)
{
    uint64_t chance = 1;
    int differ = 0;

    for (int i = 0; i < 3000; i++) {
        int64_t work = below(&chance, 60), every = below(&chance, 12), cost = below(&chance, 4);
        int64_t ran = below(&chance, 90), takes = outages_takes(work, every, cost);
        struct outage_work slow, w = outages_did(ran, work, every, cost);

        differ += tick(INT64_MAX, work, every, cost, &slow) != takes;
        tick(MIN(ran, takes), work, every, cost, &slow);
        differ += w.did_ms != slow.did_ms || w.saved_ms != slow.saved_ms ||
                  w.paid_ms != slow.paid_ms;
    }
    is_int(differ, 0, "work, what is saved of it and what that costs, as by a clock");
}

/* ---- random workloads ---- */

static int add_job(struct workload *w, uint64_t *chance, int64_t submit_ms)
{
    struct work *job = ARENA_PUSH(&w->arena, &w->jobs, &w->n_jobs);

    if (!job)
        return -1;
    *job = (struct work){ .submit_ms = submit_ms, .restart_ms = -1, .milli = WORK_WHOLE };
    job->length_ms = 1000LL * (1 + below(chance, 400));
    job->limit_ms = job->length_ms * 2;
    job->devices = 1 + below(chance, below(chance, 3) ? EACH : (NODES - 2) * EACH);
    job->checkpoint_ms = below(chance, 2) ? 1000LL * (1 + below(chance, 60)) : 0;
    if (job->devices == 1 && below(chance, 3) == 0)
        job->milli = 300;
    if (below(chance, 20) == 0)
        job->devices = 0;
    job->user = job->team = job->class = -1;
    job->name = arena_printf(&w->arena, "j%zu", w->n_jobs);
    return job->name ? 0 : -1;
}

static int make(struct workload *w, struct pool *p, struct outage *list, uint64_t seed)
{
    int64_t now = 0;

    *w = (struct workload){ .n_jobs = 0 };
    *p = (struct pool){ .n_nodes = 0 };
    for (int i = 0; i < JOBS; i++) {
        if (add_job(w, &seed, now) < 0)
            return -1;
        now += 1000LL * below(&seed, 40);
    }
    for (int i = 0; i < 8; i++)
        list[i] = (struct outage){ 100000LL * i + below(&seed, 90000), 1000LL * below(&seed, 300),
                                   (uint32_t)below(&seed, NODES) };
    if (workload_settle(w, NULL) != 0)
        return -1;
    return pool_parse(p, "6x4", NULL);
}

/* Make windows of a list: each is two, of one node. */
static void plan(struct outage *list)
{
    for (int i = 0; i < 8; i += 2) {
        list[i].kind = OUTAGE_CLOSES;
        list[i].lasts_ms = list[i + 1].at_ms - list[i].at_ms;
        list[i + 1].kind = OUTAGE_WINDOW;
        list[i + 1].node = list[i].node;
    }
}

struct watch {
    bool lost[NODES];
    int64_t closed[NODES]; /* nothing may start before that */
    int64_t back[JOBS];    /* what each job went back by, in all */
    int64_t losses[JOBS];
    int on_lost, downs, stands, leaves;
};

static void watch(void *ctx, const struct sched *s, const struct action *a, int64_t now_ms)
{
    struct watch *t = ctx;
    CLEANUP(str_done) struct str text = STR_INIT(1000);

    sched_reason(s, a, now_ms, &text);
    if (a->kind == ACTION_CLOSE) {
        t->closed[a->other] = a->until_ms;
    } else if (a->kind == ACTION_LEAVE) {
        t->leaves++;
    } else if (a->kind == ACTION_DOWN || a->kind == ACTION_WINDOW) {
        t->lost[a->other] = true;
        t->downs++;
    } else if (a->kind == ACTION_UP || a->kind == ACTION_STANDS) {
        t->lost[a->other] = false;
        t->stands += a->kind == ACTION_STANDS;
    } else if (a->kind == ACTION_LOSE) {
        t->back[a->job] += a->until_ms;
        t->losses[a->job]++;
    } else if (a->kind == ACTION_START) {
        for (uint32_t n = 0; n < NODES; n++)
            t->on_lost += (t->lost[n] || now_ms < t->closed[n]) && sched_is_on(s, a->job, n);
    }
}

/* What went wrong, as a word; NULL. */
static const char *wrong_with(const struct sim_result *r, const struct watch *t,
                              const struct workload *w, const struct outage_options *o)
{
    if (t->on_lost)
        return "a job started on a node that is lost";
    for (size_t i = 0; i < w->n_jobs; i++) {
        const struct sim_job *j = &r->jobs[i];
        int64_t cost = 5000LL * (j->starts - 1); /* what starts again cost, at most */
        int64_t saving = o->checkpoint_cost_ms && w->jobs[i].checkpoint_ms
                             ? o->checkpoint_cost_ms *
                                   ((w->jobs[i].length_ms + t->back[i]) / w->jobs[i].checkpoint_ms)
                             : 0;

        if (j->fate != SIM_ENDED)
            return "a job did not end";
        if (j->losses != t->losses[i])
            return "losses were not told";
        if (j->end_ms - w->jobs[i].submit_ms != j->wait_ms + j->ran_ms)
            return "time went astray";
        if (j->ran_ms < w->jobs[i].length_ms + t->back[i] ||
            j->ran_ms > w->jobs[i].length_ms + t->back[i] + cost + saving)
            return "work went astray";
        if (t->losses[i] == 0 && t->back[i] != 0)
            return "work was lost without a loss";
    }
    return NULL;
}

static const char *const policies[] = {
    "order = fifo\n",
    "order = fifo\nbackfill = greedy\nplace = scatter\n",
    "order = fifo\nbackfill = easy\nlength = oracle\nrestart = 5s\n",
    "order = fifo\nbackfill = conservative\nlength = limit\n",
    "order = srtf\npreempt = quota\nlength = oracle\nties = waiting\nrestart = 5s\n",
    "order = las\nqueues = 30s 300s\npreempt = victims\nrestart = 5s\n",
    "order = fifo\nbackfill = greedy\nplace = fgd\n",
    "order = fifo\nbackfill = greedy\nplace = best-fit\n",
};

static const struct {
    const char *name;
    struct outage_options o;
    bool list, windows;
} cases[] = {
    { "of a list", { .checkpoint_cost_ms = 0 }, true, false },
    { "of a list, one spare", { .spares = 1, .checkpoint_cost_ms = 700 }, true, false },
    { "and windows", { .per_device_day = 10, .seed = 3, .repair_ms = 50000 }, true, true },
    { "and windows, one spare", { .spares = 1, .checkpoint_cost_ms = 700 }, true, true },
    { "by rate, two spares",
      { .per_device_day = 20, .seed = 7, .repair_ms = 60000, .spares = 2 },
      false,
      false },
};

static void test_policy(const char *text, size_t kind)
{
    struct outage_options o = cases[kind].o;
    struct outage list[8];
    const char *wrong = NULL;
    char whole[256];
    int downs = 0, stands = 0, leaves = 0;

    snprintf(whole, sizeof(whole), "[policy]\n%s", text);
    for (uint64_t seed = 1; seed <= ROUNDS && !wrong; seed++) {
        struct watch t = { .on_lost = 0 };
        struct sim_options options = { .watch = watch, .ctx = &t, .outages = &o };
        struct workload w;
        struct policy p;
        struct pool pool;
        struct sim_result r = { .events = 0 };

        for (uint32_t n = NODES - o.spares; n < NODES; n++)
            t.lost[n] = true;
        o.list = list;
        o.n_list = cases[kind].list ? ARRAY_SIZE(list) : 0;
        wrong = make(&w, &pool, list, seed) < 0 ? "no memory" : NULL;
        if (cases[kind].windows)
            plan(list);
        if (wrong || policy_read(&p, "test", whole, strlen(whole), NULL) != 0 ||
            sim_run(&r, &p, &pool, &w, &options, NULL) != 0)
            wrong = "it does not run";
        if (!wrong)
            wrong = wrong_with(&r, &t, &w, &o);
        downs += t.downs;
        stands += t.stands;
        leaves += t.leaves;
        sim_result_done(&r);
        workload_done(&w);
        pool_done(&pool);
    }
    is_str(wrong ? wrong : "nothing", "nothing",
           "failures %s leave nothing wrong under policy: %.30s", cases[kind].name, text);
    ok(downs > ROUNDS && (stands > 0) == (o.spares > 0) && (leaves > 0) == cases[kind].windows,
       "failures happen (%d), spares stand in for %d nodes, and %d leave", downs, stands, leaves);
}

/* A job that the failures let never end is given up. */
static void test_endless(void)
{
    struct outage_options o = { .per_device_day = 24, .seed = 1, .repair_ms = 1000 };
    struct sim_options options = { .outages = &o };
    struct workload w = { .n_jobs = 0 };
    struct pool pool = { .n_nodes = 0 };
    struct sim_result r = { .events = 0 };
    struct policy p;
    uint64_t chance = 1;

    if (add_job(&w, &chance, 0) < 0 || pool_parse(&pool, "6x4", NULL) != 0)
        return;
    w.jobs[0].devices = 24;
    w.jobs[0].milli = WORK_WHOLE;
    w.jobs[0].checkpoint_ms = 0;
    w.jobs[0].length_ms = 86400000;
    if (workload_settle(&w, NULL) != 0 || policy_named(&p, "fifo", NULL) != 0 ||
        sim_run(&r, &p, &pool, &w, &options, NULL) != 0)
        return;
    is_int(r.jobs[0].fate, SIM_ENDLESS, "a job that is lost again and again is given up");
    is_int(r.jobs[0].losses, SIM_LOSSES, "a job is given up after so many losses");
    sim_result_done(&r);
    workload_done(&w);
    pool_done(&pool);
}

/* ---- lists ---- */

static void test_lists(void)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        { "when,node,duration_s\n",
          "l.csv: a list of failures starts with time_s,node,duration_s" },
        { "time_s,node,duration_s\n1,n9,3\n", "l.csv:2: there is no node n9" },
        { "time_s,node,duration_s\n-1,n1,3\n",
          "l.csv:2: a failure is time_s,node,duration_s, in seconds" },
        { "time_s,node,duration_s\n1,n1\n",
          "l.csv:2: a failure is time_s,node,duration_s, in seconds" },
    };
    static const char good[] = "time_s,node,duration_s\n7,n1,3\n5.5,n0,1e3\n";
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct pool pool = { .n_nodes = 0 };
    struct outage *list = NULL;
    struct err e;
    size_t n;

    if (pool_parse(&pool, "2x1", NULL) != 0)
        return;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct outage_text text = { "l.csv", bad[i].text, strlen(bad[i].text) };

        ok(outages_read(&a, &pool, &text, &list, &n, &e) < 0, "outages_read refuses bad list %zu",
           i);
        is_str(e.text, bad[i].why, "the error explains what is wrong in bad list %zu", i);
    }
    is_int(outages_read(&a, &pool, &(struct outage_text){ "l.csv", good, strlen(good) }, &list, &n,
                        &e),
           0, "outages_read reads a list of two failures");
    ok(n == 2 && list[0].at_ms == 5500 && list[0].node == 0 && list[0].lasts_ms == 1000000,
       "failures of a list stand in the order of their times");
    pool_done(&pool);
}

/* ---- allocations that fail ---- */

static void test_oom(void)
{
    struct outage list[8];
    struct outage_options o = { .list = list, .n_list = ARRAY_SIZE(list), .spares = 1 };
    struct sim_options options = { .outages = &o };
    struct workload w;
    struct pool pool;
    struct policy p;
    bool failed = true, good = true;

    if (make(&w, &pool, list, 3) < 0 || policy_named(&p, "easy", NULL) != 0)
        return;
    for (oom_restart(); failed;) {
        struct sim_result r = { .events = 0 };
        struct err e;
        int rc;

        oom_next();
        rc = sim_run(&r, &p, &pool, &w, &options, &e);
        failed = oom_end();
        good &= failed ? rc == -12 : rc == 0;
        sim_result_done(&r);
    }
    ok(good, "each allocation that fails is reported");
    workload_done(&w);
    pool_done(&pool);
}

int main(void)
{
    test_checkpoints();
    for (size_t kind = 0; kind < ARRAY_SIZE(cases); kind++)
        for (size_t i = 0; i < ARRAY_SIZE(policies); i++)
            test_policy(policies[i], kind);
    test_endless();
    test_lists();
    test_oom();
    return done();
}
