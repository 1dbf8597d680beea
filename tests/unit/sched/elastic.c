/* Elastic jobs on random workloads: what each of them did is counted here anew, from the actions
 * alone. */
#include <math.h>

#include "sched/place/place.h"
#include "sim/outages.h"
#include "sim/sim.h"

#include "sched_books.h"
#include "tap.h"

enum { ROUNDS = 60, JOBS = 60, NODES = 6, RESTART = 5000, EVERY = 60000 };
enum { FIRST = 3, SHORT = 200000, LONG = 400000 }; /* settle_on_two() */

/* Numbers that repeat. */
static int below(uint64_t *state, int n)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((*state >> 33) % (uint64_t)n);
}

/* ---- workloads ---- */

/* Let a job of one node use fewer and more, one of several whole nodes. */
static void stretch(struct work *job, int devices, uint64_t *chance)
{
    int unit = job->per_node ? job->per_node : 1, n = job->devices / unit;

    job->least = unit * (1 + below(chance, n));
    job->most = MIN(unit * (n + below(chance, 2 * n + 1)), devices / unit * unit);
    job->scaling = (float)below(chance, 11) / 10;
    if (job->least == job->most)
        job->least = job->most = 0;
}

static int add_job(struct workload *w, int64_t submit_ms, int each, int nodes, uint64_t *chance)
{
    struct work *job = ARENA_PUSH(&w->arena, &w->jobs, &w->n_jobs);

    if (!job)
        return -1;
    *job = (struct work){ .submit_ms = submit_ms, .milli = WORK_WHOLE, .restart_ms = -1 };
    job->length_ms = (1 + below(chance, below(chance, 4) ? 90 : 2000)) * 1000LL;
    job->limit_ms = job->length_ms * 2;
    job->devices = 1 + below(chance, below(chance, 3) ? each : nodes * each);
    if (job->devices % each == 0 && below(chance, 2))
        job->per_node = each;
    job->class = (int16_t)below(chance, 3);
    job->user = (int16_t)below(chance, 2);
    job->priority = (int16_t)below(chance, 2);
    job->checkpoint_ms = below(chance, 3) * 10000LL;
    job->memory_mib = 100;
    job->name = "j";
    if (below(chance, 3))
        stretch(job, nodes * each, chance);
    return 0;
}

static int make(struct workload *w, struct pool *p, uint64_t seed)
{
    static const char *const names[] = { "a", "b", "c" };
    int nodes = 1 + below(&seed, NODES), each = 1 + below(&seed, 8), jobs = 10 + below(&seed, 50);
    int64_t now_ms = 0;
    char text[24];
    struct err e;

    *w = (struct workload){ .n_jobs = 0 };
    *p = (struct pool){ .n_nodes = 0 };
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (work_number(w, &w->classes, names[i]) < 0 || work_number(w, &w->users, names[i]) < 0)
            return -1;
    for (int i = 0; i < jobs; i++) {
        if (add_job(w, now_ms, each, nodes, &seed) < 0)
            return -1;
        now_ms += below(&seed, 3) ? below(&seed, 90) * 1000LL : 0;
    }
    snprintf(text, sizeof(text), "%dx%d", nodes, each);
    return pool_parse(p, text, &e) != 0 || workload_settle(w, &e) != 0 ? -1 : 0;
}

/* Two jobs are short and one is long; when these have ended come the others, which all are long. */
static int settle_on_two(struct workload *w)
{
    static const int64_t first[FIRST] = { SHORT, SHORT, LONG };
    struct err e;

    for (size_t i = 0; i < w->n_jobs; i++) {
        struct work *job = &w->jobs[i];

        job->class = job->user = 0;
        job->length_ms = i < FIRST ? first[i] : LONG;
        job->limit_ms = WORK_UNKNOWN;
        job->submit_ms += i < FIRST ? 0 : 1000000;
        if (i < FIRST)
            job->devices = 1;
        if (i < FIRST)
            job->per_node = job->least = job->most = 0;
    }
    return workload_settle(w, &e);
}

/* ---- counting ---- */

struct count {
    double did_ms; /* of its length */
    double unpaid_ms;
    int64_t since_ms, resized_ms;
    int devices, moves; /* moves: starts and resizes */
    bool runs;
};

struct watch {
    const struct workload *work;
    const struct policy *policy;
    const struct pool *pool;
    struct count jobs[JOBS];
    bool fails;                /* nodes do */
    bool told;                 /* lengths are those of jobs that ended: settle_on_two() */
    bool scatters;             /* gangs lie anywhere */
    int64_t gave_ms;           /* when somebody gave */
    int64_t gave_to;           /* for a job that has not started yet; -1 */
    const char *wrong;         /* the first that was */
    int64_t promised_ms[JOBS]; /* EASY: when a job starts at the latest; 0 */
    int more, fewer, on_fewer;
    int again; /* it was told anew what is left of a job, which then started or was resized */
};

static void say(struct watch *t, bool wrong, const char *what)
{
    if (wrong && !t->wrong)
        t->wrong = what;
}

static double pace(const struct work *w, int devices)
{
    return pow((double)devices / w->devices, (double)w->scaling);
}

static double restart(const struct watch *t, int devices)
{
    return devices > t->pool->most ? 2 * RESTART : RESTART;
}

/* Count what a job did up to now. */
static void settle(struct watch *t, uint32_t job, int64_t now_ms)
{
    struct count *c = &t->jobs[job];
    double passed = c->runs ? (double)(now_ms - c->since_ms) : 0;
    double paid = fmin(passed, c->unpaid_ms);

    c->unpaid_ms -= paid;
    c->did_ms += (passed - paid) * pace(&t->work->jobs[job], c->devices);
    c->since_ms = now_ms;
}

/* Whether a job may have that number of devices. */
static bool is_size(const struct watch *t, const struct work *w, int n)
{
    if (w->most == 0)
        return n == w->devices;
    if (n < w->least || n > w->most || (w->per_node && n % w->per_node))
        return false;
    return n <= t->pool->most || n % t->pool->most == 0 || n == w->devices || n == w->least ||
           n == w->most;
}

/* Of the state after a pass: places are as large as they are said to be, and nobody's twice. */
static void check_places(struct watch *t, const struct sched *s)
{
    uint32_t used[NODES] = { 0 };
    const struct free_capacity *r = sched_capacity(s);
    int64_t all = 0;

    for (uint32_t i = 0; i < t->work->n_jobs; i++) {
        const struct work *w = &t->work->jobs[i];
        int got = 0, parts = 0;

        if (sched_job(s, i)->state != SCHED_RUNNING)
            continue;
        for (uint32_t p = sched_job(s, i)->part; p != NO_PART; p = r->parts[p].next, parts++) {
            say(t, used[r->parts[p].node] & r->parts[p].devices, "a device was given twice");
            used[r->parts[p].node] |= r->parts[p].devices;
            got += __builtin_popcount(r->parts[p].devices);
        }
        all += got;
        say(t, got != sched_devices(s, i), "a job has other devices than it is said to have");
        say(t, !is_size(t, w, got), "a job has a number of devices that it cannot use");
        say(t,
            !t->scatters &&
                (w->per_node ? parts * w->per_node != got : got <= t->pool->most && parts != 1),
            "a gang lies on other nodes than it should");
    }
    say(t, all + r->whole + r->lost / WORK_WHOLE != t->pool->devices, "devices were lost");
    say(t, wrong_books(s) != NULL, wrong_books(s));
}

/* What is known of it, it ends sooner: with what it has to pay. */
static bool ends_sooner(const struct watch *t, uint32_t job, const struct action *a)
{
    const struct work *w = &t->work->jobs[job];
    double left = (double)w->length_ms - t->jobs[job].did_ms;

    return t->policy->length != LENGTH_ORACLE ||
           left / pace(w, a->devices) + (double)a->until_ms < left / pace(w, a->before) + 1;
}

static void check_resize(struct watch *t, const struct sched *s, const struct action *a,
                         int64_t now_ms)
{
    struct count *c = &t->jobs[a->job];
    bool more = a->devices > a->before;

    say(t, !c->runs || c->devices != a->before, "it was resized from what it did not have");
    say(t, a->devices == a->before, "it was resized to what it had");
    say(t, now_ms - c->resized_ms < t->policy->elastic.every_ms, "it was resized too soon");
    say(t, a->until_ms != (int64_t)restart(t, MAX(a->before, a->devices)), "it pays otherwise");
    say(t, a->why != (more ? WHY_FREE : WHY_GIVES), "it was resized for another reason");
    say(t, more ? !t->policy->elastic.grow : !t->policy->elastic.give, "the policy said no");
    t->more += more;
    t->fewer += !more;
    if (!more) {
        t->gave_ms = now_ms;
        t->gave_to = a->other;
        return;
    }
    say(t, !ends_sooner(t, a->job, a), "it ends later with more devices");
    for (uint32_t i = 0; i < t->work->n_jobs; i++)
        say(t, sched_job(s, i)->state == SCHED_WAITING, "it grew while another one waited");
}

/* Whether that is left of a job that takes so long on what it asked for. */
static bool is_left(const struct watch *t, uint32_t job, int64_t left_ms, double length_ms)
{
    const struct count *c = &t->jobs[job];
    double left = c->unpaid_ms + (length_ms - c->did_ms) / pace(&t->work->jobs[job], c->devices);

    return fabs((double)left_ms - left) <= 20 * (1 + c->moves);
}

/* What the scheduler takes to be left of a job that starts, or was resized, where it knows. Told by
 * those that ended before, a job is as long as the short ones until it has done as much. */
static void check_left(struct watch *t, const struct sched *s, const struct action *a,
                       int64_t now_ms)
{
    const struct work *w = &t->work->jobs[a->job];
    const struct sched_job *j = sched_job(s, a->job);
    const struct count *c = &t->jobs[a->job];
    bool longer = c->did_ms > SHORT + 20 * (1 + c->moves), good;

    if ((t->policy->length != LENGTH_ORACLE && !t->told) || j->state != SCHED_RUNNING ||
        j->since_ms != now_ms || sched_devices(s, a->job) != c->devices ||
        (t->fails && t->policy->preempt != PREEMPT_NONE) || (t->told && a->job < FIRST))
        return;
    good = is_left(t, a->job, j->left_ms, (double)w->length_ms) ||
           (t->told && !longer && is_left(t, a->job, j->left_ms, SHORT));
    t->again += t->told && longer && w->most > 0;
    say(t, !good, "it has other work left");
}

/* EASY: nobody that goes ahead delays the one that is promised a start. */
static void check_promise(struct watch *t, const struct action *a, int64_t now_ms)
{
    if (t->fails || t->policy->length != LENGTH_ORACLE)
        return;
    say(t, t->promised_ms[a->job] && now_ms > t->promised_ms[a->job], "a promise was broken");
    if ((a->why == WHY_SHORT || a->why == WHY_SPARE) && a->until_ms != WORK_UNKNOWN)
        t->promised_ms[a->other] = a->until_ms;
}

static void watch(void *ctx, const struct sched *s, const struct action *a, int64_t now_ms)
{
    struct watch *t = ctx;
    struct count *c = a->job < JOBS ? &t->jobs[a->job] : NULL;
    const struct work *w = c ? &t->work->jobs[a->job] : NULL;

    say(t, t->gave_to >= 0 && now_ms > t->gave_ms, "jobs gave for one that did not start");
    check_places(t, s);
    if (!c || a->kind > ACTION_LOSE)
        return;
    settle(t, a->job, now_ms);
    switch (a->kind) {
    case ACTION_START:
        say(t, c->runs, "a job that runs was started");
        say(t, a->devices > w->devices, "it started on more than it asked for");
        say(t, a->devices < w->devices && !t->policy->elastic.start, "it started on fewer");
        t->on_fewer += a->devices < w->devices;
        t->gave_to = a->job == t->gave_to ? -1 : t->gave_to;
        c->runs = true;
        c->moves++;
        check_promise(t, a, now_ms);
        break;
    case ACTION_RESIZE:
        check_resize(t, s, a, now_ms);
        c->unpaid_ms = (double)a->until_ms;
        c->moves++;
        break;
    case ACTION_LOSE:
        c->did_ms -= (double)a->until_ms * pace(w, c->devices);
        __attribute__((fallthrough));
    default:
        say(t, a->kind != ACTION_LOSE && a->devices != c->devices, "it gives up other devices");
        c->unpaid_ms = restart(t, w->devices);
        c->runs = false;
    }
    c->devices = a->kind == ACTION_LOSE ? 0 : a->devices;
    c->resized_ms = now_ms;
    if (c->runs)
        check_left(t, s, a, now_ms);
}

/* ---- what must hold ---- */

#define ELASTIC "restart = 5s\nrestart-multi = 10s\n[elastic]\nevery = 60s\n"
#define SHARES "[quota]\nshare = a 40%\nshare = b 20%\nshare = c 40%\n"

static const char *const policies[] = {
    "order = fifo\n" ELASTIC,
    "order = fifo\nbackfill = greedy\n" ELASTIC,
    "order = fifo\nlength = oracle\n" ELASTIC,
    "order = fifo\nbackfill = easy\nlength = oracle\n" ELASTIC,
    "order = fifo\nbackfill = easy\nlength = limit\nplace = topology\n" ELASTIC,
    "order = sjf\nlength = oracle\nbackfill = greedy\nageing = 100s\n" ELASTIC,
    "order = fair\nbackfill = greedy\nhalf-life = 1h\nevery = 7s\n" ELASTIC,
    "order = las\nqueues = 30s 300s\npreempt = victims\n" ELASTIC,
    "order = srtf\nlength = oracle\npreempt = victims\nplace = first\n" ELASTIC,
    "order = fifo\npreempt = victims\npriorities = yes\n" ELASTIC,
    "order = fifo\n" ELASTIC SHARES,
    "order = fifo\nbackfill = greedy\n" ELASTIC SHARES "borrow = yes\n",
    "order = las\nqueues = 30s 300s\npreempt = victims\n" ELASTIC SHARES "borrow = yes\n",
    "order = fifo\nplace = fgd\n" ELASTIC "start = no\ngrow = no\n",
    "order = fifo\nplace = scatter\n" ELASTIC "start = no\ngive = no\n",
    "order = fifo\n" ELASTIC "give = no\ngrow = no\n",
    "order = fifo\nbackfill = greedy\nlength = history\n" ELASTIC,
    "order = srtf\nlength = history\npreempt = victims\n" ELASTIC,
};

static bool read_policy(struct policy *p, const char *text)
{
    char whole[512];
    struct err e;

    snprintf(whole, sizeof(whole), "[policy]\n%s", text);
    return policy_read(p, "test", whole, strlen(whole), &e) == 0;
}

static const char *wrong_with(struct watch *t, const struct sim_result *r)
{
    if (t->wrong)
        return t->wrong;
    for (uint32_t i = 0; i < t->work->n_jobs; i++) {
        const struct sim_job *j = &r->jobs[i];
        const struct work *w = &t->work->jobs[i];
        double off;

        if (j->fate == SIM_IMPOSSIBLE)
            continue;
        if (j->fate != SIM_ENDED || j->starts == 0)
            return "a job never ended";
        settle(t, i, j->end_ms);
        off = t->jobs[i].did_ms - (double)w->length_ms;
        /* times are whole milliseconds: a little more for each change of pace */
        if (off < -1 || off > (1 + 2 * t->jobs[i].moves) * fmax(1, 1 + pace(w, MAX(w->most, 1))))
            return "work was lost or made";
        if (j->end_ms - w->submit_ms != j->ran_ms + j->wait_ms)
            return "time was lost or made";
        if (t->jobs[i].moves != (int)j->starts && w->most == 0 && !t->fails)
            return "a job was resized that is not elastic";
    }
    return NULL;
}

static const char *check_one(const struct policy *p, uint64_t seed, bool fails, bool told,
                             int *moves)
{
    static struct watch t;
    struct sim_options options = { .watch = watch, .ctx = &t }, quiet = { .watch = NULL };
    const struct outage_options outages = { .per_device_day = 4, .seed = seed, .repair_ms = 90000 };
    struct sim_result r, again;
    struct workload w;
    const char *wrong;
    struct pool pool;
    struct err e;

    if (make(&w, &pool, seed) < 0 || (told && settle_on_two(&w) < 0))
        return "it cannot be made";
    t = (struct watch){ .work = &w, .policy = p, .pool = &pool, .fails = fails, .gave_to = -1 };
    t.told = told;
    t.scatters = p->place == place_named("scatter");
    for (size_t i = 0; i < JOBS; i++)
        t.jobs[i].resized_ms = INT64_MIN / 2;
    options.outages = quiet.outages = fails ? &outages : NULL;
    if (sim_run(&r, p, &pool, &w, &options, &e) != 0 ||
        sim_run(&again, p, &pool, &w, &quiet, &e) != 0)
        return "it does not run";
    wrong = wrong_with(&t, &r);
    if (memcmp(r.jobs, again.jobs, w.n_jobs * sizeof(*r.jobs)) != 0)
        wrong = "a second run differs";
    if ((int)r.resizes.to_more != t.more || (int)r.resizes.to_fewer != t.fewer ||
        (int)r.resizes.started_on_fewer != t.on_fewer)
        wrong = "resizes are counted otherwise";
    moves[0] += t.more;
    moves[1] += t.fewer;
    moves[2] += t.on_fewer;
    moves[3] += t.again;
    sim_result_done(&r);
    sim_result_done(&again);
    workload_done(&w);
    pool_done(&pool);
    return wrong;
}

static void test_all(bool fails)
{
    for (size_t k = 0; k < ARRAY_SIZE(policies); k++) {
        const char *wrong = NULL;
        int moves[4] = { 0 };
        uint64_t seed = 0;
        struct policy p;

        if (!read_policy(&p, policies[k]))
            wrong = "it cannot be read";
        while (!wrong && seed++ < ROUNDS)
            wrong = check_one(&p, seed, fails, false, moves);
        ok(!wrong, "policy %s%s keeps the rules: %s (seed %d)", policies[k],
           fails ? "with failures" : "", wrong ? wrong : "holds", (int)seed);
        ok((!p.elastic.grow || moves[0] > ROUNDS / 4) && (!p.elastic.give || moves[1] > 5) &&
               (!p.elastic.start || moves[2] > 5),
           "%d to more, %d to fewer, %d started on fewer", moves[0], moves[1], moves[2]);
    }
}

/* What is told of lengths by those that ended, of jobs on more devices and on fewer. */
static void test_told(void)
{
    static const char *const orders[] = {
        "order = fifo\nbackfill = greedy\nlength = history\n" ELASTIC,
        "order = fifo\nbackfill = easy\nlength = history\n" ELASTIC,
        "order = srtf\nlength = history\npreempt = victims\n" ELASTIC,
    };

    for (size_t k = 0; k < ARRAY_SIZE(orders); k++) {
        const char *wrong = NULL;
        int moves[4] = { 0 };
        uint64_t seed = 0;
        struct policy p;

        if (!read_policy(&p, orders[k]))
            wrong = "it cannot be read";
        while (!wrong && seed++ < ROUNDS)
            wrong = check_one(&p, seed, false, true, moves);
        ok(!wrong, "order %s keeps the rules where more is told: %s (seed %d)", orders[k],
           wrong ? wrong : "holds", (int)seed);
        ok(moves[3] > ROUNDS / 4, "%d times after more was told", moves[3]);
    }
}

/* ---- what must not change ---- */

/* Whether jobs fare as with another policy. */
static bool same(const char *text, const char *other, bool rigid)
{
    struct policy p, q;
    bool same = read_policy(&p, text) && read_policy(&q, other);

    for (uint64_t seed = 1; seed <= ROUNDS && same; seed++) {
        struct sim_result r, s;
        struct workload w;
        struct pool pool;
        struct err e;

        same = make(&w, &pool, seed) == 0;
        for (size_t i = 0; i < w.n_jobs && rigid; i++)
            w.jobs[i].least = w.jobs[i].most = 0;
        if (!same || sim_run(&r, &p, &pool, &w, NULL, &e) != 0 ||
            sim_run(&s, &q, &pool, &w, NULL, &e) != 0)
            return false;
        same = memcmp(r.jobs, s.jobs, w.n_jobs * sizeof(*r.jobs)) == 0 && r.events == s.events &&
               r.passes == s.passes;
        sim_result_done(&r);
        sim_result_done(&s);
        workload_done(&w);
        pool_done(&pool);
    }
    return same;
}

static void test_without(void)
{
    static const char *const orders[] = {
        "order = fifo\nbackfill = easy\nlength = oracle\n",
        "order = las\nqueues = 30s 300s\npreempt = victims\n",
        "order = fifo\nbackfill = greedy\n",
    };

    for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
        char with[256], without[256];

        snprintf(with, sizeof(with), "%s" ELASTIC, orders[i]);
        snprintf(without, sizeof(without), "%srestart = 5s\nrestart-multi = 10s\n", orders[i]);
        ok(same(with, without, true), "no job is elastic: %s as without [elastic]", orders[i]);
        ok(!same(with, without, false), "some are: otherwise");
    }
}

/* Its devices, taken up by another scheduler, are those that it was left with. */
static void test_taken_up(void)
{
    struct work job = { .name = "a", .devices = 8, .least = 2, .most = 8, .milli = WORK_WHOLE };
    const struct workload w = { .jobs = &job, .n_jobs = 1, .n_shapes = 1 };
    struct part part = { 0, 0xf, WORK_WHOLE, NO_PART };
    const struct sched_job was = { .left_ms = WORK_UNKNOWN };
    const struct fit where = { &part, 1 };
    struct pool pool = { .n_nodes = 0 };
    struct sched *s = NULL;
    int64_t again_ms;
    struct policy p;
    struct err e;

    job.scaling = 1;
    job.restart_ms = -1;
    job.cpus_milli = 7000;
    if (!ok(read_policy(&p, ELASTIC) && pool_parse(&pool, "1x8", &e) == 0,
            "a policy with [elastic] is read"))
        return;
    pool.nodes[0].cpus_milli = 10000;
    if (!ok(sched_open(&s, &p, &pool, &w, &e) == 0 && sched_resizes(s),
            "sched_open opens a scheduler that resizes jobs"))
        return;
    is_int(sched_take_up(s, 0, 1000, &was, &where), 0, "a job that runs on four of its eight");
    is_int(sched_devices(s, 0), 4, "the job that was taken up has four devices");
    is_int(sched_capacity(s)->nodes[0].cpus_milli, 6000,
           "with half of its devices the job has half of its CPUs, in whole ones");
    ok(sched_pass(s, 1000, &again_ms) == 0 && again_ms == EVERY, "asks when it may grow");
    ok(sched_pass(s, EVERY, &again_ms) == 0 && sched_devices(s, 0) == 8,
       "the job that may grow has eight devices");
    is_int(sched_capacity(s)->nodes[0].cpus_milli, 3000, "the job has all of its CPUs again");
    sched_end(s, 0, EVERY + 1000);
    is_int(sched_capacity(s)->whole, 8, "all devices are free when the job ends");
    is_int(sched_capacity(s)->nodes[0].cpus_milli, 10000, "all CPUs are free when the job ends");
    sched_close(s);
    pool_done(&pool);
}

int main(void)
{
    test_all(false);
    test_all(true);
    test_told();
    test_without();
    test_taken_up();
    return done();
}
