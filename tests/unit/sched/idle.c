/* What jobs do with their devices, and what becomes of idle ones: every action is followed second
 * by second by a model as simple as can be. */
#include "sim/sim.h"
#include "trace/activity.h"

#include "made_work.h"
#include "sched_books.h"
#include "tap.h"

enum { ROUNDS = 40, JOBS = 40, LONGEST = 4000, HORIZON = 400000 };

/* ---- workloads ---- */

static int make(struct workload *w, uint64_t seed)
{
    int now = 0;
    struct err e;

    if (made_begin(w) != 0)
        return -1;
    for (int i = 0; i < JOBS; i++) {
        struct work *job = made_job(w, now, 1 + below(&seed, LONGEST));

        if (!job)
            return -1;
        job->limit_ms = WORK_UNKNOWN;
        job->devices = 1 + below(&seed, below(&seed, 3) ? 4 : 8);
        job->class = (int16_t)below(&seed, 2);
        if (below(&seed, 5) && made_stretches(w, job, 900, 0, &seed) < 0)
            return -1;
        now += below(&seed, 300);
    }
    return workload_settle(w, &e);
}

/* ---- the model ---- */

enum { RESTART = 5, WORKED = 1, HELD = 2 };

struct model {
    const struct workload *work;
    const struct policy *policy;
    uint8_t *did[JOBS]; /* by second: WORKED, HELD */
    int at[JOBS];       /* seconds of its length that have passed */
    int restart[JOBS];  /* seconds of starts that are left */
    int paid[JOBS];     /* and that it had its devices for */
    int from[JOBS];     /* when it started last */
    int pause[JOBS];    /* the second after that in which it became idle, plus 1; 0: it is not */
    bool pauses[JOBS];  /* the last time that this was for policy.again, it was for long */
    int now;            /* seconds that are counted */
    bool runs[JOBS], begun[JOBS], wrong_kind;
    int early, late_warning, reclaimed, warned, idle_waits, quick;
    double busy;
};

static int use_at(const struct model *m, int job, int second)
{
    const struct work *w = &m->work->jobs[job];
    int64_t ms = second * 1000LL;

    for (uint32_t i = 0; i < w->n_stretches; i++) {
        ms -= m->work->stretches[w->stretch + i].ms;
        if (ms < 0)
            return m->work->stretches[w->stretch + i].milli;
    }
    return WORK_WHOLE;
}

/* A job is idle from now on, or works again: was it worth taking its devices? */
static void learn(struct model *m, int job, bool idle)
{
    const struct policy_idle *p = &m->policy->idle;
    int lasted = m->now + 1 - m->pause[job];

    if (idle && m->runs[job] && !m->pause[job])
        m->pause[job] = m->now + 1;
    if (idle || !m->pause[job])
        return;
    if (lasted * 1000LL >= p->again_ms)
        m->pauses[job] = lasted * 1000LL >= p->reclaim_ms;
    m->pause[job] = 0;
}

/* One more second of all jobs. */
static void tick(struct model *m)
{
    for (int i = 0; i < JOBS; i++) {
        const struct work *w = &m->work->jobs[i];
        int use = use_at(m, i, m->at[i]);

        if (!m->begun[i] || m->at[i] * 1000LL >= w->length_ms)
            continue;
        learn(m, i, use <= WORK_IDLE);
        if (m->runs[i])
            m->did[i][m->now] |= HELD;
        if (m->runs[i] && m->restart[i] > 0) {
            m->restart[i]--;
            m->paid[i]++;
            continue;
        }
        if (!m->runs[i] && use > WORK_IDLE)
            continue;
        m->at[i]++;
        if (!m->runs[i])
            continue;
        m->busy += (double)w->devices * use / WORK_WHOLE;
        if (use > WORK_IDLE)
            m->did[i][m->now] |= WORKED;
    }
    m->now++;
}

static void go_to(struct model *m, int64_t now_ms)
{
    while (m->now * 1000LL < now_ms && m->now < HORIZON)
        tick(m);
}

/* Whether a job held its devices for all of a window and worked no more than a burst in it; a start
 * after a preemption is no work, and within the grace. */
static bool is_idle(const struct model *m, int job, int64_t window_ms)
{
    const struct policy_idle *p = &m->policy->idle;
    int from = m->now - (int)(window_ms / 1000), worked = 0;

    if (from < m->from[job] + (int)(p->grace_ms / 1000))
        return false;
    for (int s = from; s < m->now; s++) {
        if (!(m->did[job][s] & HELD))
            return false;
        worked += m->did[job][s] & WORKED;
    }
    return worked <= (int)(p->burst_ms / 1000);
}

/* Whether a job's devices may be taken; m->pauses may be a second late. */
static bool is_due(struct model *m, int job)
{
    const struct policy_idle *p = &m->policy->idle;

    if (is_idle(m, job, p->reclaim_ms))
        return true;
    m->quick++;
    return p->again_ms && m->pauses[job] && is_idle(m, job, p->again_ms);
}

static void watch(void *ctx, const struct sched *s, const struct action *a, int64_t now_ms)
{
    struct model *m = ctx;
    int job = (int)a->job;

    (void)s;
    go_to(m, now_ms);
    switch (a->kind) {
    case ACTION_START:
        m->runs[job] = m->begun[job] = true;
        m->from[job] = m->now;
        return;
    case ACTION_WARN:
        m->warned++;
        m->late_warning += !is_idle(m, job, m->policy->idle.warn_ms);
        return;
    default:
        m->runs[job] = false;
        m->restart[job] = RESTART;
        m->pause[job] = a->kind == ACTION_PARK ? m->pause[job] : 0;
    }
    if (a->why != WHY_IDLE)
        return;
    m->reclaimed++;
    m->early += !is_due(m, job);
    m->wrong_kind |= (a->kind == ACTION_PARK) != (m->policy->idle.action == IDLE_SHRINK);
    m->wrong_kind |= m->work->jobs[job].class == 1; /* y is exempt */
}

#define IDLE "[idle]\nwarn = 100s\nreclaim = 200s\ngrace = 20s\nexempt = y\n"
#define COST "restart = 5s\n" /* passes at whole seconds: what jobs have had is in milliseconds */

static const char *const policies[] = {
    "order = fifo\n" COST IDLE "action = shrink\n",
    "order = fifo\n" COST IDLE "action = requeue\nburst = 20s\n",
    "order = fifo\n" COST IDLE "action = warn\n",
    "order = fifo\nbackfill = greedy\n" COST IDLE "action = shrink\nburst = 10s\n",
    "order = fifo\nbackfill = greedy\n" COST IDLE "action = shrink\nagain = 60s\n",
    "order = fifo\nbackfill = easy\nlength = oracle\n" COST IDLE "action = shrink\n",
    "order = sjf\nlength = oracle\n" COST IDLE "action = shrink\n",
    "order = las\nqueues = 30s 300s\nevery = 1s\npreempt = victims\n" COST IDLE
    "action = shrink\nburst = 5s\n",
    "order = srtf\nlength = oracle\npreempt = victims\n" COST IDLE "action = requeue\n",
    "order = fifo\n" COST "[quota]\nshare = x 50%\nshare = y 50%\nborrow = yes\n" IDLE
    "action = shrink\n",
    ("order = las\nqueues = 30s 300s\nevery = 1s\npreempt = victims\n" COST
     "[quota]\nshare = x 50%\nshare = y 50%\nborrow = yes\n" IDLE "action = requeue\n"),
    "order = las\nqueues = 30s 300s\nevery = 1s\npreempt = victims\n" COST,
    ("order = fifo\n" COST IDLE
     "action = shrink\n[service]\nclass = y\nreserve = 4\npreempt = yes\n"),
    ("order = fifo\nbackfill = greedy\n" COST IDLE
     "action = shrink\n[spot]\nclass = y\nsave = 0s\n"),
};

/* What went wrong, as words; NULL. */
static const char *wrong_with(struct model *m, const struct sim_result *r)
{
    go_to(m, r->end_ms);
    if (m->early)
        return "devices were taken of a job that was not idle for long enough";
    if (m->late_warning)
        return "a job was warned that was not idle for long enough";
    if (m->wrong_kind)
        return "a job was stopped that is exempt, or otherwise than the policy says";
    if (!near(m->busy * 1000, r->busy_all))
        return "the time that devices were busy is wrong";
    for (int i = 0; i < JOBS; i++) {
        const struct sim_job *j = &r->jobs[i];
        const struct work *w = &m->work->jobs[i];
        int64_t paid = m->paid[i] * 1000LL;

        if (j->end_ms - w->submit_ms != j->ran_ms + j->wait_ms + j->away_ms)
            return "time was lost or made";
        if (j->ran_ms + j->idle_ms != w->length_ms + paid || m->at[i] * 1000LL != w->length_ms)
            return "work was lost or made";
    }
    return NULL;
}

static const char *check_one(const struct policy *p, uint64_t seed, struct model *m)
{
    struct sim_options options = { watch, m };
    struct pool pool = { .n_nodes = 0 };
    const char *wrong = "it does not run";
    struct workload w;
    struct sim_result r;
    struct err e;

    if (make(&w, seed) == 0 && pool_parse(&pool, seed % 2 ? "2x8" : "16x1", &e) == 0) {
        m->work = &w;
        m->policy = p;
        if (sim_run(&r, p, &pool, &w, &options, &e) == 0) {
            wrong = wrong_with(m, &r);
            sim_result_done(&r);
        }
    }
    workload_done(&w);
    pool_done(&pool);
    return wrong;
}

static void test_holds(void)
{
    static uint8_t did[JOBS][HORIZON];

    for (size_t k = 0; k < ARRAY_SIZE(policies); k++) {
        const char *wrong = NULL;
        int reclaimed = 0, warned = 0, quick = 0;
        uint64_t seed = 0;
        struct policy p;
        char text[512];
        struct err e;

        snprintf(text, sizeof(text), "[policy]\n%s", policies[k]);
        if (policy_read(&p, "test", text, strlen(text), &e) != 0)
            wrong = e.text;
        while (!wrong && seed++ < ROUNDS) {
            struct model m = { .now = 0 };

            for (int i = 0; i < JOBS; i++)
                m.did[i] = did[i];
            wrong = check_one(&p, seed, &m);
            for (int i = 0; i < JOBS; i++)
                memset(did[i], 0, (size_t)m.now);
            reclaimed += m.reclaimed;
            warned += m.warned;
            quick += m.quick;
        }
        ok(!wrong, "policy %s keeps the rules on idle devices: %s (seed %d)", policies[k],
           wrong ? wrong : "holds", (int)seed);
        ok((reclaimed > ROUNDS / 4) == (p.idle.reclaim_ms && p.idle.action != IDLE_WARN) &&
               (warned > ROUNDS) == (p.idle.warn_ms > 0),
           "%d jobs gave up idle devices, %d were warned", reclaimed, warned);
        ok((quick > ROUNDS / 4) == (p.idle.again_ms > 0), "%d of them gave devices up early",
           quick);
    }
}

/* ---- devices that are shared ---- */

struct pairs {
    const struct workload *work;
    const char *wrong; /* with what is counted of them */
    int joined, twice, torn;
};

/* After a pass, and its actions so far: each device is one job's, or two jobs' of which the guest
 * has no part of its own. */
static void look(void *ctx, const struct sched *s, const struct action *a, int64_t now_ms)
{
    uint16_t taken[16] = { 0 };
    struct pairs *p = ctx;

    (void)now_ms;
    p->joined += a->kind == ACTION_JOIN;
    p->wrong = p->wrong ? p->wrong : wrong_books(s);
    for (uint32_t i = 0; i < JOBS; i++) {
        int has = 0;

        if (sched_job(s, i)->state != SCHED_RUNNING)
            continue;
        for (uint32_t k = sched_job(s, i)->part; k != NO_PART;
             k = sched_capacity(s)->parts[k].next) {
            const struct part *part = &sched_capacity(s)->parts[k];

            p->twice += (taken[part->node] & part->devices) != 0;
            taken[part->node] |= part->devices;
            has += __builtin_popcount(part->devices);
        }
        p->torn += has != 0 && has != p->work->jobs[i].devices;
    }
}

static const char *wrong_pairs(const struct pairs *p, const struct sim_result *r)
{
    double work = made_busy(p->work), off = work - r->busy_all;

    if (p->twice || p->torn)
        return "a device was given twice, or a gang was torn";
    if (p->wrong)
        return p->wrong;
    if (off > work / 1000 || off < -work / 1000)
        return "work was lost or made";
    if (r->busy_all > r->used_all)
        return "devices were busy that nobody had";
    for (size_t i = 0; i < p->work->n_jobs; i++) {
        const struct sim_job *j = &r->jobs[i];

        if (j->end_ms - p->work->jobs[i].submit_ms != j->ran_ms + j->wait_ms + j->away_ms)
            return "time was lost or made";
    }
    return NULL;
}

#define SHARE "[share]\nbelow = 80%\ntogether = 120%\nafter = 60s\ncost = 10%\n"

static const char *const sharing[] = {
    "order = fifo\n" COST SHARE,
    "order = fifo\nbackfill = greedy\n" COST SHARE IDLE "action = shrink\n",
    "order = las\nqueues = 30s 300s\npreempt = victims\n" COST SHARE IDLE "action = requeue\n",
    "order = fifo\n" COST "[quota]\nshare = x 50%\nshare = y 50%\nborrow = yes\n" SHARE IDLE
    "action = shrink\n",
    "order = las\nqueues = 30s 300s\npreempt = victims\n" COST
    "[quota]\nshare = x 40%\nshare = y 60%\nborrow = yes\n" SHARE,
};

static const char *share_one(const struct policy *p, uint64_t seed, int *joined)
{
    const char *wrong = "it does not run";
    struct pool pool = { .n_nodes = 0 };
    struct workload w;
    struct pairs pairs = { .work = &w };
    const struct sim_options options = { .watch = look, .ctx = &pairs };
    struct sim_result r;
    struct err e;

    if (make(&w, seed) == 0 && pool_parse(&pool, seed % 2 ? "2x8" : "16x1", &e) == 0 &&
        sim_run(&r, p, &pool, &w, &options, &e) == 0) {
        wrong = wrong_pairs(&pairs, &r);
        sim_result_done(&r);
    }
    *joined += pairs.joined;
    workload_done(&w);
    pool_done(&pool);
    return wrong;
}

static void test_sharing(void)
{
    for (size_t k = 0; k < ARRAY_SIZE(sharing); k++) {
        const char *wrong = NULL;
        uint64_t seed = 0;
        struct policy p;
        int joined = 0;
        char text[512];
        struct err e;

        snprintf(text, sizeof(text), "[policy]\n%s", sharing[k]);
        if (policy_read(&p, "test", text, strlen(text), &e) != 0)
            wrong = e.text;
        while (!wrong && seed++ < ROUNDS)
            wrong = share_one(&p, seed, &joined);
        ok(!wrong, "sharing %s keeps the rules: %s (seed %d)", sharing[k], wrong ? wrong : "holds",
           (int)seed);
        ok(joined > ROUNDS / 2, "%d jobs went to others", joined);
    }
}

/* ---- drawn activity ---- */

static int add_long(struct workload *w, int n)
{
    struct err e;

    for (int i = 0; i < n; i++) {
        struct work *job = ARENA_PUSH(&w->arena, &w->jobs, &w->n_jobs);

        if (!job)
            return -1;
        *job = (struct work){ .name = "j", .length_ms = 86400000, .devices = 1, .milli = 1000 };
    }
    return workload_settle(w, &e);
}

/* Share of their time that jobs work, and how busy they are over all of it. */
static void measure(const struct workload *w, double *idle, double *busy, bool *adds_up)
{
    double all = 0;

    *idle = *busy = 0;
    *adds_up = true;
    for (size_t i = 0; i < w->n_jobs; i++) {
        const struct work *job = &w->jobs[i];
        int64_t sum = 0;

        for (uint32_t k = 0; k < job->n_stretches; k++) {
            const struct work_stretch *s = &w->stretches[job->stretch + k];

            sum += s->ms;
            *idle += s->milli <= WORK_IDLE ? (double)s->ms : 0;
            *busy += (double)s->ms * s->milli / WORK_WHOLE;
        }
        *adds_up &= sum == job->length_ms;
        all += (double)sum;
    }
    *idle /= all;
    *busy /= all;
}

static void test_drawn(void)
{
    static const char *const names[] = { "philly", "seren", "kalos" };
    static const double means[] = { 0.472, 0.661, 0.620 }; /* of the samples that were published */

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const struct activity *a = activity_named(names[i]);
        struct workload w = { .n_jobs = 0 };
        double idle, busy;
        bool adds_up;
        struct err e;

        ok(add_long(&w, 4000) == 0 && activity_draw(&w, a, 3600000, 7, &e) == 0,
           "activity_draw draws the activity of %s", a->name);
        measure(&w, &idle, &busy, &adds_up);
        ok(adds_up, "stretches add up to lengths");
        ok(idle > a->idle - 0.01 && idle < a->idle + 0.01,
           "jobs of %s are idle for the share %.3f of their time", a->name, idle);
        ok(busy > means[i] - 0.01 && busy < means[i] + 0.01,
           "the devices of jobs of %s are busy by %.3f on average", a->name, busy);
        workload_done(&w);
    }
    ok(!activity_named("none"), "no cluster has the name none");
}

int main(void)
{
    test_holds();
    test_sharing();
    test_drawn();
    return done();
}
