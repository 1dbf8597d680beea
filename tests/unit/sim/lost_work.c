/* Jobs of known activity on nodes that fail: each job is followed second by second by a model as
 * simple as can be, and all device time that was given is accounted for. */
#include "sim/outages.h"
#include "sim/sim.h"

#include "made_work.h"
#include "tap.h"

enum { ROUNDS = 40, JOBS = 40, NODES = 4, EACH = 4, FAILURES = 8 };
enum { RESTART = 5, STRETCHES = 200 };

/* ---- workloads ---- */

static int make(struct workload *w, uint64_t seed)
{
    int now = 0;
    struct err e;

    if (made_begin(w) != 0)
        return -1;
    for (int i = 0; i < JOBS; i++) {
        struct work *job = made_job(w, now, 1 + below(&seed, 900));

        if (!job)
            return -1;
        job->limit_ms = 2 * job->length_ms;
        job->devices = 1 + below(&seed, below(&seed, 3) ? EACH : (NODES - 1) * EACH);
        job->checkpoint_ms = below(&seed, 3) ? (1 + below(&seed, 90)) * 1000LL : 0;
        job->class = (int16_t)below(&seed, 2);
        if (job->devices == 1 && below(&seed, 4) == 0)
            job->milli = 250;
        if (below(&seed, 6) && made_stretches(w, job, 300, 100 + below(&seed, 900), &seed) < 0)
            return -1;
        now += below(&seed, 60);
    }
    return workload_settle(w, &e);
}

/* Failures; every second one is a window. */
static void fail(struct outage *list, uint64_t seed)
{
    for (int i = 0; i < FAILURES; i++)
        list[i] = (struct outage){ .at_ms = 1000LL * (200 * i + below(&seed, 180)),
                                   .lasts_ms = 1000LL * below(&seed, 300),
                                   .node = (uint32_t)below(&seed, NODES),
                                   .kind = i % 2 ? OUTAGE_WINDOW : OUTAGE_FAILURE };
}

/* ---- the model ---- */

struct one {
    int stretch, left; /* seconds of that one */
    int again;         /* lost while it was idle */
    int start, save;   /* seconds of it that are left */
    int round;         /* work since it was saved */
    int end;           /* when it was over; -1 */
    bool holds, begun, last;
    int held, started, saved, redone, idle; /* seconds */
};

struct model {
    const struct workload *work;
    struct one jobs[JOBS];
    int now, cost, losses, left;
    bool wrong_back;
};

static int n_stretches(const struct work *w)
{
    return w->n_stretches ? (int)w->n_stretches : 1;
}

static int length(const struct model *m, const struct work *w, int k)
{
    return (int)((w->n_stretches ? m->work->stretches[w->stretch + (uint32_t)k].ms : w->length_ms) /
                 1000);
}

static bool is_idle(const struct model *m, int i)
{
    const struct work *w = &m->work->jobs[i];

    return w->n_stretches &&
           m->work->stretches[w->stretch + (uint32_t)m->jobs[i].stretch].milli <= WORK_IDLE;
}

/* A stretch is over. What was lost in an idle one is worked again in the next, or in one more. */
static void turn(struct model *m, int i)
{
    const struct work *w = &m->work->jobs[i];
    struct one *j = &m->jobs[i];

    if (!j->last && j->stretch + 1 < n_stretches(w)) {
        j->left = length(m, w, ++j->stretch);
    } else if (j->again > 0) {
        j->last = true;
        j->stretch--; /* the idle one has passed: the one before works */
    } else {
        j->end = m->now + 1;
    }
    if (!is_idle(m, i)) {
        j->left += j->again;
        j->again = 0;
    }
}

static void work_on(struct model *m, int i)
{
    int every = (int)(m->work->jobs[i].checkpoint_ms / 1000);
    struct one *j = &m->jobs[i];
    bool works = !is_idle(m, i);

    j->idle += !works && j->holds;
    j->round += works;
    if (--j->left == 0)
        turn(m, i);
    if (!works || every == 0 || j->round < every || j->end >= 0)
        return;
    j->save = m->cost;
    j->round = j->save ? j->round : 0;
}

static void tick(struct model *m)
{
    for (int i = 0; i < JOBS; i++) {
        struct one *j = &m->jobs[i];

        if (!j->begun || j->end >= 0 || (!j->holds && !is_idle(m, i)))
            continue;
        j->held += j->holds;
        if (j->holds && j->start > 0) {
            j->start--;
            j->started++;
        } else if (j->holds && j->save > 0) {
            j->saved++;
            if (--j->save == 0)
                j->round = 0;
        } else {
            work_on(m, i);
        }
    }
    m->now++;
}

static void go_to(struct model *m, int64_t now_ms)
{
    while (m->now * 1000LL < now_ms)
        tick(m);
}

static void watch(void *ctx, const struct sched *s, const struct action *a, int64_t now_ms)
{
    struct model *m = ctx;
    struct one *j = a->job < JOBS ? &m->jobs[a->job] : NULL;

    (void)s;
    go_to(m, now_ms);
    switch (a->kind) {
    case ACTION_START:
        j->holds = j->begun = true;
        return;
    case ACTION_LOSE:
        m->losses++;
        m->wrong_back |= a->until_ms != j->round * 1000LL;
        j->redone += j->round;
        *(is_idle(m, (int)a->job) ? &j->again : &j->left) += j->round;
        break;
    case ACTION_LEAVE:
    case ACTION_PREEMPT:
    case ACTION_PARK:
        m->left += a->kind == ACTION_LEAVE;
        break;
    default:
        return;
    }
    j->start = RESTART; /* whatever it did of the one before */
    j->round = j->save = 0;
    j->holds = false;
}

/* ---- what must hold ---- */

/* All device time that was given is told apart, whoever shares it. */
static const char *wrong_sum(const struct workload *w, const struct sim_result *r)
{
    const double *x = r->spent[USE_ALL];
    double held = 0, sum = 0;

    for (int what = 0; what < USE_SHARED; what++) {
        if (x[what] < 0)
            return "a part of the time is less than none";
        sum += x[what];
    }
    for (size_t i = 0; i < w->n_jobs; i++)
        held += (double)r->jobs[i].ran_ms * w->jobs[i].devices * w->jobs[i].milli / WORK_WHOLE;
    if (!near(sum, held))
        return "what jobs did is not what they held devices for";
    if (!near(sum - x[USE_SHARED], r->used_all))
        return "what jobs did is not what was allocated";
    for (size_t i = 0; i < w->n_jobs; i++) {
        const struct sim_job *j = &r->jobs[i];

        if (j->fate != SIM_ENDED)
            return "a job did not end";
        if (j->end_ms - w->jobs[i].submit_ms != j->ran_ms + j->wait_ms + j->away_ms)
            return "time was lost or made";
    }
    return NULL;
}

/* The same by the model, where nobody shares devices. */
static const char *wrong_by_seconds(struct model *m, const struct sim_result *r)
{
    double started = 0, saved = 0, redone = 0, idle = 0;

    go_to(m, r->end_ms);
    for (int i = 0; i < JOBS; i++) {
        const struct work *w = &m->work->jobs[i];
        double devices = (double)w->devices * w->milli;

        if (m->jobs[i].end * 1000LL != r->jobs[i].end_ms ||
            m->jobs[i].held * 1000LL != r->jobs[i].ran_ms)
            return "a job ended at another time, or held its devices for another";
        started += devices * m->jobs[i].started;
        saved += devices * m->jobs[i].saved;
        redone += devices * m->jobs[i].redone;
        idle += devices * m->jobs[i].idle;
    }
    if (m->wrong_back)
        return "a job goes back by another time";
    if (!near(started, r->losses.restarts) || !near(saved, r->losses.saving) ||
        !near(redone, r->losses.redone) || !near(idle, r->spent[USE_ALL][USE_IDLE]))
        return "starts, checkpoints, lost work or idle time is wrong";
    if (!near(made_busy(m->work), r->busy_all))
        return "work was lost or made";
    return NULL;
}

#define COST "restart = 5s\nevery = 1s\n"
#define IDLE "[idle]\nreclaim = 60s\ngrace = 5s\n"
#define SHARE "[share]\nbelow = 80%\ntogether = 120%\nafter = 20s\ncost = 10%\n"
#define QUOTA "[quota]\nshare = x 50%\nshare = y 50%\nborrow = yes\n"
#define LAS "order = las\nqueues = 30s 300s\npreempt = victims\n" COST

static const char *const policies[] = {
    "order = fifo\n" COST,
    "order = fifo\n" COST IDLE "action = shrink\n",
    "order = fifo\nbackfill = greedy\n" COST IDLE "again = 20s\naction = shrink\n",
    "order = fifo\nbackfill = easy\nlength = oracle\n" COST IDLE "action = requeue\n",
    "order = fifo\nbackfill = easy\nlength = limit\n" COST,
    "order = srtf\nlength = oracle\npreempt = victims\n" COST,
    LAS QUOTA IDLE "action = shrink\n",
    "order = fifo\nbackfill = greedy\n" COST SHARE,
    "order = fifo\nbackfill = greedy\n" COST SHARE IDLE "action = shrink\n",
    LAS QUOTA SHARE IDLE "again = 20s\naction = shrink\n",
    LAS SHARE IDLE "action = requeue\n",
};

static const char *check_one(const struct policy *p, uint64_t seed, struct model *m, int *joined)
{
    struct outage list[FAILURES];
    struct outage_options o = { .list = list, .n_list = FAILURES };
    struct sim_options options = { .watch = watch, .ctx = m, .outages = &o };
    struct pool pool = { .n_nodes = 0 };
    const char *wrong = "it does not run";
    struct workload w;
    struct sim_result r;
    struct err e;

    fail(list, seed);
    m->cost = seed % 3 ? (int)(seed % 3) * 2 : 0;
    o.checkpoint_cost_ms = m->cost * 1000LL;
    o.spares = seed % 4 == 0;
    if (make(&w, seed) == 0 && pool_parse(&pool, "4x4", &e) == 0) {
        m->work = &w;
        for (int i = 0; i < JOBS; i++) {
            m->jobs[i].end = -1;
            m->jobs[i].left = length(m, &w.jobs[i], 0);
        }
        if (sim_run(&r, p, &pool, &w, &options, &e) == 0) {
            *joined += (int)r.joined;
            wrong = wrong_sum(&w, &r);
            if (!wrong && p->share.below == 0)
                wrong = wrong_by_seconds(m, &r);
            sim_result_done(&r);
        }
    }
    workload_done(&w);
    pool_done(&pool);
    return wrong;
}

static void test_holds(void)
{
    for (size_t k = 0; k < ARRAY_SIZE(policies); k++) {
        const char *wrong = NULL;
        int losses = 0, left = 0, joined = 0;
        uint64_t seed = 0;
        struct policy p;
        char text[512];
        struct err e;

        snprintf(text, sizeof(text), "[policy]\n%s", policies[k]);
        if (policy_read(&p, "test", text, strlen(text), &e) != 0)
            wrong = e.text;
        while (!wrong && seed++ < ROUNDS) {
            struct model m = { .now = 0 };

            wrong = check_one(&p, seed, &m, &joined);
            losses += m.losses;
            left += m.left;
        }
        ok(!wrong, "policy %s keeps the rules on lost work: %s (seed %d)", policies[k],
           wrong ? wrong : "holds", (int)seed);
        ok(losses > ROUNDS && left > ROUNDS && (joined > ROUNDS / 2) == (p.share.below > 0),
           "%d jobs lost work, %d left for a window, %d went to others", losses, left, joined);
    }
}

int main(void)
{
    test_holds();
    return done();
}
