/* Jobs that share devices by turns: how long their steps take, and who shares with whom. */
#include "sched/interleave.h"
#include "sched/core/order.h"
#include "sim/sim.h"

#include <math.h>

#include "tap.h"

enum { ROUNDS = 100, JOBS = 60 };

/* Numbers that repeat. */
static int below(uint64_t *state, int n)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((*state >> 33) % (uint64_t)n);
}

static bool near(double a, double b, double share)
{
    return fabs(a - b) <= share * fmax(fabs(a), fabs(b));
}

/* ---- steps ---- */

static struct work job_of(float read, float compute, float talk)
{
    struct work w = { .length_ms = 1000, .milli = WORK_WHOLE, .devices = 1, .restart_ms = -1 };

    w.stage_ms[0] = read;
    w.stage_ms[1] = compute;
    w.stage_ms[2] = talk;
    w.step_ms = read + compute + talk;
    return w;
}

static double period(const struct work *a, const struct work *b, const struct work *c,
                     const struct work *d)
{
    const struct work *jobs[] = { a, b, c, d };
    int n = 1;

    while (n < INTERLEAVE_JOBS && jobs[n])
        n++;
    return interleave_period(jobs, n);
}

static void test_steps(void)
{
    const struct work reads = job_of(100, 0, 0), computes = job_of(0, 100, 0);
    const struct work talks = job_of(0, 0, 100);

    ok(near(period(&reads, NULL, NULL, NULL), 101.5, 1e-6),
       "a job alone takes little more than its stage");
    ok(near(period(&reads, &computes, NULL, NULL), 100 * 1.33 / 1.015, 1e-6), "two that differ");
    ok(near(period(&computes, &computes, NULL, NULL), 200 * 1.33 / 1.015, 1e-6),
       "two jobs with the same stage take turns");
    ok(near(period(&computes, &talks, &computes, &talks), 200 * 1.37 / 1.015, 1e-6),
       "two jobs of each of two kinds take twice as long");
    ok(near(period(&reads, &reads, &reads, &reads), 200 * 1.37 / 1.015, 1e-6),
       "two may read at a time");
}

/* Whatever the jobs: their order does not matter, and nobody computes or talks beside another. */
static void test_any_steps(void)
{
    static const double costs[] = { 1.015, 1.33, 1.5, 1.37 };
    int differ = 0, impossible = 0;
    uint64_t chance = 1;

    for (int round = 0; round < ROUNDS; round++) {
        int n = 2 + below(&chance, 3);
        struct work w[INTERLEAVE_JOBS];
        const struct work *jobs[INTERLEAVE_JOBS], *other[INTERLEAVE_JOBS];
        double compute = 0, talk = 0, made;

        for (int i = 0; i < n; i++) {
            w[i] = job_of((float)below(&chance, 800), (float)below(&chance, 400),
                          (float)below(&chance, 100));
            jobs[i] = &w[i];
            other[n - 1 - i] = &w[i];
            compute += (double)w[i].stage_ms[1];
            talk += (double)w[i].stage_ms[2];
        }
        made = interleave_period(jobs, n);
        differ += !near(made, interleave_period(other, n), 2e-3);
        made *= costs[0] / costs[n - 1];
        impossible += made * (1 + 2e-3) < fmax(compute, talk);
    }
    is_int(differ, 0, "the order of jobs does not matter");
    is_int(impossible, 0, "the steps are possible");
}

/* ---- plans ---- */

static int add_job(struct workload *w, uint64_t *chance, int64_t *now_ms)
{
    static const int sizes[] = { 1, 1, 2, 4, 8, 16 };
    struct work *job = ARENA_PUSH(&w->arena, &w->jobs, &w->n_jobs);

    if (!job)
        return -1;
    *job = job_of((float)below(chance, 3) * 200, (float)(1 + below(chance, 3)) * 100,
                  (float)below(chance, 2) * 50);
    if (below(chance, 8) == 0)
        job->step_ms = 0; /* nobody knows */
    job->name = "j";
    job->devices = sizes[below(chance, 6)];
    job->length_ms = 1 + below(chance, 5000000);
    job->limit_ms = job->length_ms * 2;
    job->restart_ms = below(chance, 2) ? below(chance, 9) * 1000 : -1;
    job->submit_ms = *now_ms;
    *now_ms += below(chance, 200000);
    return 0;
}

static int make(struct workload *w, uint64_t seed)
{
    int64_t now_ms = 0;
    struct err e;

    *w = (struct workload){ .n_jobs = 0 };
    for (int i = 0; i < JOBS; i++)
        if (add_job(w, &seed, &now_ms) < 0)
            return -1;
    return workload_settle(w, &e);
}

/* What is wrong with a plan; NULL. */
static const char *wrong_plan(const struct interleave *x, const struct interleave_job *jobs,
                              int64_t devices, bool contended)
{
    bool used[JOBS] = { false };
    int64_t taken = 0;

    for (size_t i = 0; i < x->n_bundles; i++) {
        const struct bundle *b = &x->bundles[i];

        if (b->n == 0 || b->n > (uint32_t)x->most)
            return "a bundle is too large";
        if (b->n > 1 && !contended)
            return "jobs share that need not";
        taken += jobs[b->jobs[0]].work->devices;
        for (uint32_t k = 0; k < b->n; k++) {
            const struct work *w = jobs[b->jobs[k]].work;

            if (used[b->jobs[k]])
                return "a job is in two bundles";
            if (w->devices != jobs[b->jobs[0]].work->devices)
                return "jobs of different sizes share";
            if (b->n > 1 && (w->step_ms <= 0 || jobs[b->jobs[k]].alone))
                return "a job shares whose steps nobody knows";
            used[b->jobs[k]] = true;
        }
    }
    return taken > devices ? "more devices are taken than there are" : NULL;
}

/* Those of n jobs that wait from now on, or (wait false) do not any more. */
static void tell(struct interleave *x, const struct interleave_job *jobs, uint32_t n, bool wait)
{
    for (uint32_t i = 0; i < n; i++)
        if (jobs[i].bundle == BUNDLE_NONE && wait)
            interleave_wait(x, jobs, i);
        else if (jobs[i].bundle == BUNDLE_NONE)
            interleave_leave(x, jobs, i);
}

/* A plan for those of n jobs that run, last places first, and for those that wait. */
static void plan_told(struct interleave *x, const struct interleave_job *jobs, uint32_t n,
                      int64_t devices)
{
    uint32_t runs[JOBS], n_runs = 0;

    for (uint32_t i = n; i-- > 0;)
        if (jobs[i].bundle != BUNDLE_NONE)
            runs[n_runs++] = i;
    interleave_plan(x, jobs, runs, n_runs, devices);
}

static void plan(struct interleave *x, const struct interleave_job *jobs, uint32_t n,
                 int64_t devices)
{
    tell(x, jobs, n, true);
    plan_told(x, jobs, n, devices);
    tell(x, jobs, n, false);
}

static void test_plans(const struct policy *policy)
{
    const char *wrong = NULL;
    int shared = 0;

    for (uint64_t seed = 1; seed <= ROUNDS && !wrong; seed++) {
        struct interleave_job jobs[JOBS];
        struct interleave x = { .most = 0 };
        struct workload w;
        int64_t sum = 0;

        if (make(&w, seed) < 0 || interleave_open(&x, &w, policy) < 0)
            wrong = "it cannot be made";
        for (uint32_t i = 0; i < JOBS && !wrong; i++) {
            jobs[i] = (struct interleave_job){ .work = &w.jobs[i],
                                               .devices = w.jobs[i].devices,
                                               .left_ms = (double)w.jobs[i].length_ms,
                                               .bundle = BUNDLE_NONE,
                                               .kind = x.kind[i],
                                               .alone = i % 7 == 0 };
            sum += w.jobs[i].devices;
        }
        for (int k = 0; k < 2 && !wrong; k++) {
            int64_t devices = k ? sum : sum / 3;

            plan(&x, jobs, JOBS, devices);
            wrong = wrong_plan(&x, jobs, devices, !k);
            for (size_t i = 0; i < x.n_bundles; i++)
                shared += x.bundles[i].n > 1;
        }
        interleave_done(&x);
        workload_done(&w);
    }
    ok(!wrong, "plans of random jobs keep the rules: %s", wrong ? wrong : "hold");
    ok(shared > ROUNDS, "jobs share (%d)", shared);
}

/* Jobs whose steps nobody knows: those with the least left for their devices come first. */
static void test_unknown(const struct policy *policy)
{
    for (int k = 0; k < 4; k++) {
        int large = k % 2, shorter = k / 2; /* which has two devices, and which less left */
        struct interleave_job jobs[2];
        struct interleave x = { .most = 0 };
        struct workload w = { .n_jobs = 0 };
        struct err e;

        for (int i = 0; i < 2; i++) {
            struct work *job = ARENA_PUSH(&w.arena, &w.jobs, &w.n_jobs);

            if (!job)
                abort();
            *job = job_of(0, 0, 0);
            job->name = "j";
            job->devices = i == large ? 2 : 1;
            job->length_ms = i == shorter ? 1000 : 1000000000;
        }
        if (workload_settle(&w, &e) != 0 || interleave_open(&x, &w, policy) != 0)
            abort();
        for (uint32_t i = 0; i < 2; i++)
            jobs[i] = (struct interleave_job){ .work = &w.jobs[i],
                                               .devices = w.jobs[i].devices,
                                               .left_ms = (double)w.jobs[i].length_ms,
                                               .bundle = BUNDLE_NONE,
                                               .kind = x.kind[i] };
        plan(&x, jobs, 2, 2);
        ok(x.n_bundles == 1 && x.bundles[0].n == 1 && x.bundles[0].jobs[0] == (uint32_t)shorter,
           "the job with the least left goes first, job %d with two devices", large);
        interleave_done(&x);
        workload_done(&w);
    }
}

/* When jobs have left, one that runs has a number beyond those that are there: it runs on. */
static void test_left(const struct policy *policy)
{
    struct interleave_job jobs[3];
    struct interleave x = { .most = 0 };
    struct workload w = { .n_jobs = 0 };
    struct err e;

    for (int i = 0; i < 3; i++) {
        struct work *job = ARENA_PUSH(&w.arena, &w.jobs, &w.n_jobs);

        if (!job)
            abort();
        *job = job_of(0, 0, 0);
        job->name = "j";
        job->length_ms = 1000;
    }
    if (workload_settle(&w, &e) != 0 || interleave_open(&x, &w, policy) != 0)
        abort();
    for (uint32_t i = 0; i < 3; i++)
        jobs[i] = (struct interleave_job){ .work = &w.jobs[i],
                                           .devices = w.jobs[i].devices,
                                           .left_ms = 1000,
                                           .bundle = i,
                                           .kind = x.kind[i] };
    plan(&x, jobs, 3, 3);
    plan(&x, &jobs[2], 1, 3);
    ok(x.n_bundles == 1 && x.bundles[0].same == 2, "the job that is left runs on (%u)",
       x.bundles[0].same);
    interleave_done(&x);
    workload_done(&w);
}

/* Let time pass: those that run have less left, some stop, and jobs change their numbers. */
static void move_on(const struct interleave *x, struct interleave_job *jobs, uint64_t *chance)
{
    for (uint32_t i = 0; i < JOBS; i++)
        jobs[i].bundle = BUNDLE_NONE;
    for (uint32_t i = 0; i < x->n_bundles; i++)
        for (uint32_t k = 0; k < x->bundles[i].n; k++) {
            struct interleave_job *j = &jobs[x->bundles[i].jobs[k]];

            j->left_ms -= below(chance, 900000);
            j->left_ms = MAX(j->left_ms, 1);
            j->bundle = i;
        }
    for (uint32_t i = 0; i < x->n_bundles; i++)
        for (uint32_t k = 0; below(chance, 4) == 0 && k < x->bundles[i].n; k++)
            jobs[x->bundles[i].jobs[k]].bundle = BUNDLE_NONE;
    for (int i = 0; i < 3; i++) {
        int a = below(chance, JOBS), b = below(chance, JOBS);
        struct interleave_job swap = jobs[a];

        jobs[a] = jobs[b];
        jobs[b] = swap;
    }
}

/* Say what has become of jobs since they were as before: nothing of those that are as they were. */
static void tell_changes(struct interleave *x, const struct interleave_job *before,
                         const struct interleave_job *jobs)
{
    bool same[JOBS];

    for (uint32_t i = 0; i < JOBS; i++) {
        same[i] = before[i].work == jobs[i].work && before[i].bundle == jobs[i].bundle &&
                  before[i].left_ms <= jobs[i].left_ms; /* it never grows */
        if (!same[i] && before[i].bundle == BUNDLE_NONE)
            interleave_leave(x, before, i);
    }
    for (uint32_t i = 0; i < JOBS; i++)
        if (!same[i] && jobs[i].bundle == BUNDLE_NONE)
            interleave_wait(x, jobs, i);
}

/* The same jobs planned for by one that has planned before, and by one that has not. */
static void test_kept(const struct policy *policy)
{
    int differ = 0, plans = 0;

    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct interleave_job jobs[JOBS], before[JOBS];
        struct interleave x = { .most = 0 };
        struct workload w;
        uint64_t chance = seed;

        if (make(&w, seed) < 0 || interleave_open(&x, &w, policy) < 0)
            printf("Bail out! no memory\n");
        for (uint32_t i = 0; i < JOBS; i++)
            jobs[i] = (struct interleave_job){ .work = &w.jobs[i],
                                               .devices = w.jobs[i].devices,
                                               .left_ms = 1000.0 * (1 + below(&chance, 9)),
                                               .bundle = BUNDLE_NONE,
                                               .kind = x.kind[i] };
        tell(&x, jobs, JOBS, true);
        for (int k = 0; k < 8; k++, plans++) {
            struct interleave fresh = { .most = 0 };

            if (interleave_open(&fresh, &w, policy) < 0)
                printf("Bail out! no memory\n");
            plan_told(&x, jobs, JOBS, JOBS / 2);
            plan(&fresh, jobs, JOBS, JOBS / 2);
            differ += x.n_bundles != fresh.n_bundles;
            for (size_t i = 0; i < MIN(x.n_bundles, fresh.n_bundles); i++)
                differ += x.bundles[i].n != fresh.bundles[i].n ||
                          memcmp(x.bundles[i].jobs, fresh.bundles[i].jobs,
                                 x.bundles[i].n * sizeof(*x.bundles[i].jobs)) != 0;
            interleave_done(&fresh);
            memcpy(before, jobs, sizeof(jobs));
            move_on(&x, jobs, &chance);
            tell_changes(&x, before, jobs);
        }
        interleave_done(&x);
        workload_done(&w);
    }
    is_int(differ, 0, "each of %d plans is the one that is made without those before it", plans);
}

/* ---- runs ---- */

static const char *check(const struct policy *p, uint64_t seed)
{
    const char *wrong = NULL;
    struct pool pool = { .n_nodes = 0 };
    struct sim_result r, again;
    struct workload w;
    struct err e;
    double work = 0;

    if (make(&w, seed) < 0 || pool_parse(&pool, "4x8", &e) != 0 ||
        sim_run(&r, p, &pool, &w, NULL, &e) != 0 || sim_run(&again, p, &pool, &w, NULL, &e) != 0)
        return "it does not run";
    for (size_t i = 0; i < w.n_jobs && !wrong; i++) {
        const struct sim_job *j = &r.jobs[i];

        if (j->starts == 0 || j->end_ms <= 0)
            wrong = "a job never ran";
        else if (j->end_ms - w.jobs[i].submit_ms != j->ran_ms + j->wait_ms)
            wrong = "time was lost or made";
        else if (j->ran_ms < w.jobs[i].length_ms)
            wrong = "work was made";
        work += (double)j->ran_ms * w.jobs[i].devices;
    }
    if (!wrong && r.used_all > (double)pool.devices * (double)r.end_ms)
        wrong = "more devices were used than there are";
    if (!wrong && r.used_all > work)
        wrong = "devices were held by nobody";
    if (memcmp(r.jobs, again.jobs, w.n_jobs * sizeof(*r.jobs)) != 0)
        wrong = "a second run differs";
    sim_result_done(&r);
    sim_result_done(&again);
    workload_done(&w);
    pool_done(&pool);
    return wrong;
}

/* A job for one device that costs nothing to start; stages: 0 are not known. NULL: no memory. */
static struct work *add_seen(struct workload *w, int64_t submit_ms, float stages)
{
    struct work *job = ARENA_PUSH(&w->arena, &w->jobs, &w->n_jobs);

    if (!job)
        return NULL;
    *job = job_of(stages, stages / 2, 0);
    job->name = "j";
    job->length_ms = 600000;
    job->restart_ms = 0;
    job->submit_ms = submit_ms;
    return job;
}

/* Runs them on one device, where jobs declare their steps. */
static bool run_seen(struct workload *w, struct sim_result *r)
{
    struct pool pool = { .n_nodes = 0 };
    struct policy p;
    struct err e;
    bool runs;

    runs = workload_settle(w, &e) == 0 && pool_parse(&pool, "1x1", &e) == 0 &&
           policy_named(&p, "interleave-steps", &e) == 0 && sim_run(r, &p, &pool, w, NULL, &e) == 0;
    pool_done(&pool);
    return ok(runs, "the simulator runs the jobs on one device");
}

/* The first of a kind has the device for itself until a minute of its work was seen; then those of
 * its kind share at once. */
static void test_seen(void)
{
    static const int64_t submitted_ms[] = { 0, 10000, 200000 }, started_ms[] = { 0, 60000, 200000 };
    struct workload w = { .n_jobs = 0 };
    struct sim_result r = { .events = 0 };
    bool made = true;

    for (int i = 0; i < 3; i++)
        made = add_seen(&w, submitted_ms[i], i < 2 ? 200 : 100) && made;
    if (made && run_seen(&w, &r)) {
        for (int i = 0; i < 3; i++)
            is_int(r.jobs[i].start_ms, started_ms[i], "job %d begins", i);
        is_int(r.jobs[0].wait_ms, 60000, "the first waits while the third is seen");
        is_int(r.jobs[1].wait_ms, 50000 + 60000,
               "the second job, which shared with the first, waits as well");
    }
    sim_result_done(&r);
    workload_done(&w);
}

/* Jobs whose stages nobody knows are not alike: the second is not known by the first, and goes
 * before it for its own minute. */
static void test_unlike(void)
{
    struct workload w = { .n_jobs = 0 };
    struct work *job;
    struct sim_result r = { .events = 0 };

    for (int i = 0; i < 2; i++) {
        job = add_seen(&w, i * 100000, 0);
        if (job)
            job->length_ms = i ? 6000000 : 1000000;
    }
    if (run_seen(&w, &r)) {
        is_int(r.jobs[1].start_ms, 100000, "though it is the longer one");
        is_int(r.jobs[1].starts, 2, "the second job waits for the other one behind its own minute");
    }
    sim_result_done(&r);
    workload_done(&w);
}

int main(void)
{
    static const char *const names[] = { "interleave", "interleave-las", "interleave-steps" };

    test_steps();
    test_any_steps();
    test_seen();
    test_unlike();
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const char *wrong = NULL;
        struct policy p;
        struct err e;

        if (!ok(policy_named(&p, names[i], &e) == 0, "policy_named finds the policy %s", names[i]))
            continue;
        test_plans(&p);
        test_unknown(&p);
        test_left(&p);
        test_kept(&p);
        for (uint64_t seed = 1; seed <= ROUNDS && !wrong; seed++)
            wrong = check(&p, seed);
        ok(!wrong, "policy %s keeps the rules on random jobs: %s", names[i],
           wrong ? wrong : "holds");
    }
    return done();
}
