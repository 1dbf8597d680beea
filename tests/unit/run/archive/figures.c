/* What a run comes to in a few numbers: which steps count, what is a mean, a sum or the most, and
 * what is not known. */
#include "run/archive/figures.h"

#include <math.h>
#include <stdio.h>

#include "tap.h"

#define S ((int64_t)1000 * 1000 * 1000)

enum { STEPS = 60 };

static bool is_near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

/* A rank of n steps of a second, the first ten of 3 s; half of each is forward, a quarter each
 * waits and communicates, but for the first ones, which are left out: these do other things. */
static struct run_rank make_rank(struct step *steps, size_t n)
{
    struct run_rank k = { .steps = steps, .n_steps = n };
    int64_t at_ns = 0;

    for (size_t i = 0; i < n; i++) {
        double seconds = i < 10 ? 3 : 1;

        steps[i] = (struct step){ .number = i, .begin_ns = at_ns, .samples = 8 };
        at_ns += (int64_t)seconds * S;
        steps[i].end_ns = at_ns;
        if (i < MIN(n / 10, (size_t)5)) {
            steps[i].host_s[BRIM_STAGE_OTHER] = seconds / 2;
            steps[i].host_s[BRIM_STAGES - 1] = seconds / 2;
        } else {
            steps[i].host_s[BRIM_STAGE_FORWARD] = seconds / 2;
            steps[i].host_s[BRIM_STAGE_WAIT] = seconds / 4;
            steps[i].host_s[BRIM_STAGE_COMMUNICATION] = seconds / 4;
        }
        k.total.samples += 8;
        for (unsigned g = 0; g < BRIM_STAGES; g++)
            k.total.host_s[g] += steps[i].host_s[g];
    }
    k.total.number = n;
    k.total.end_ns = at_ns;
    return k;
}

static void test_steps(void)
{
    static struct step steps[STEPS], fewer[STEPS];
    struct run_rank ranks[2] = { make_rank(steps, STEPS), make_rank(fewer, 40) };
    const struct run r = { .ranks = ranks, .n_ranks = 2 }, one = { .ranks = ranks, .n_ranks = 1 };
    struct run_figures f;

    is_int(run_figures(&one, &f), 0, "figures of one rank are made");
    ok(is_near(f.steps, 60), "a rank has its steps: %g", f.steps);
    ok(is_near(f.steps_per_s, 55.0 / 65), "the first five steps are left out: %g", f.steps_per_s);
    ok(is_near(f.samples_per_s, 55 * 8.0 / 65), "samples are of the same steps: %g",
       f.samples_per_s);
    ok(is_near(f.step_s, 1) && is_near(f.step_p90_s, 1), "the usual step takes a second");
    ok(is_near(f.share[BRIM_STAGE_FORWARD], 0.5) && is_near(f.share[BRIM_STAGE_WAIT], 0.25) &&
           is_near(f.share[BRIM_STAGE_OTHER], 0) && is_near(f.share[BRIM_STAGES - 1], 0),
       "stages have their shares");
    ok(is_near(f.communication, 0.5), "communication is told by what is computed");
    is_int(run_figures(&r, &f), 0, "figures of two ranks are made");
    ok(is_near(f.steps, 50), "steps of ranks are a mean: %g", f.steps);
    ok(is_near(f.steps_per_s, (55.0 / 65 + 36.0 / 48) / 2), "rates of ranks are a mean: %g",
       f.steps_per_s);
    ok(is_near(f.samples_per_s, 55 * 8.0 / 65 + 36 * 8.0 / 48), "samples of ranks are added: %g",
       f.samples_per_s);
    ok(is_near(f.share[BRIM_STAGE_FORWARD], 0.5), "shares of ranks are a mean");
}

/* A tenth of the steps is left out at most. */
static void test_short(void)
{
    static struct step steps[STEPS];
    struct run_rank rank = make_rank(steps, 19);
    struct run r = { .ranks = &rank, .n_ranks = 1 };
    struct run_figures f;

    is_int(run_figures(&r, &f), 0, "figures of 19 steps are made");
    ok(is_near(f.steps_per_s, 18.0 / 36), "of 19 steps one is left out: %g", f.steps_per_s);
    ok(is_near(f.step_s, 2), "the median of an even number of steps is between two: %g", f.step_s);
    ok(is_near(f.step_p90_s, 3), "one step in ten takes longer: %g", f.step_p90_s);
    rank = make_rank(steps, 9);
    is_int(run_figures(&r, &f), 0, "figures of 9 steps are made");
    ok(is_near(f.steps_per_s, 9.0 / 27), "of 9 steps none is left out: %g", f.steps_per_s);
    ok(is_near(f.step_s, 3), "the median of nine steps is the fifth");
    for (int i = 0; i < 9; i++)
        steps[i].samples = (double)NAN;
    rank.total.samples = (double)NAN;
    is_int(run_figures(&r, &f), 0, "figures of steps without samples are made");
    ok(isnan(f.samples_per_s), "samples that nobody told are not known");
    rank.total = (struct step){ .number = 0 };
    is_int(run_figures(&r, &f), 0, "figures of a rank without a total are made");
    ok(isnan(f.steps_per_s) && isnan(f.communication), "a rank without steps has no rate");
    rank.total = (struct step){ .number = 9 };
    is_int(run_figures(&r, &f), 0, "figures of a rank whose steps took no time are made");
    ok(isnan(f.steps_per_s), "steps that took no time have no rate");
    rank.total = (struct step){ .number = 1, .end_ns = 2 * S };
    rank.total.host_s[BRIM_STAGE_OTHER] = 2;
    is_int(run_figures(&r, &f), 0, "figures of one other step are made");
    ok(is_near(f.steps_per_s, 0.5) && is_near(f.share[BRIM_STAGE_OTHER], 1) &&
           isnan(f.communication),
       "what computes nothing has no share of communication");
    r.n_ranks = 0;
    is_int(run_figures(&r, &f), 0, "figures of a run without ranks are made");
    ok(isnan(f.step_s) && isnan(f.steps) && isnan(f.communication), "no ranks make no steps");
}

static void test_moments(void)
{
    struct run_moment moments[3] = { { .wall_ns = 101 * S, .seconds = 1 },
                                     { .wall_ns = 104 * S, .seconds = 3 },
                                     { .wall_ns = 105 * S, .seconds = 1 } };
    struct run r = { .begin_ns = 100 * S, .moments = moments, .n_moments = 3 };
    struct run_figures f;

    for (int i = 0; i < 3; i++)
        for (int s = 0; s < RUN_SIGNALS; s++)
            moments[i].values[s] = (double)NAN;
    for (int i = 0; i < 2; i++) {
        static const enum run_signal means[] = { RUN_GPUS, RUN_GPU_BUSY, RUN_CPUS, RUN_JOB_CPU,
                                                 RUN_JOB_IO_READ };

        for (size_t s = 0; s < ARRAY_SIZE(means); s++)
            moments[i].values[means[s]] = (double)(s + 1) * (i ? 5 : 1);
        moments[i].values[RUN_JOB_RESIDENT] = i ? 7 : 9;
    }
    moments[0].values[RUN_JOB_PSS] = 0;
    is_int(run_figures(&r, &f), 0, "figures of moments are made");
    ok(is_near(f.gpus, 4) && is_near(f.gpu_busy, 8) && is_near(f.cpus, 12) &&
           is_near(f.job_cpu, 16) && is_near(f.job_read, 20),
       "means are by the moments' lengths, without those that tell nothing");
    ok(is_near(f.resident, 9), "of memory the most counts");
    ok(isnan(f.pss), "no memory at all is not known");
    ok(is_near(f.seconds, 5), "a run without an end lasts up to its last moment");
    r.end_ns = 103 * S;
    is_int(run_figures(&r, &f), 0, "figures of a run with an end are made");
    ok(is_near(f.seconds, 3), "a run lasts up to its end");
    r.end_ns = 100 * S;
    is_int(run_figures(&r, &f), 0, "figures of a run that ended at once are made");
    ok(is_near(f.seconds, 0), "a run that ended at once lasted 0 s");
    r.end_ns = 99 * S;
    is_int(run_figures(&r, &f), 0, "figures of a run that ends before it begins are made");
    ok(isnan(f.seconds), "how long a run lasted that ended before it began is not known");
    r.begin_ns = 1;
    is_int(run_figures(&r, &f), 0, "figures of a run that began with its clock are made");
    ok(f.seconds > 98.9 && f.seconds < 99.1, "a run may begin at 1 ns");
    r = (struct run){ .end_ns = 5 };
    is_int(run_figures(&r, &f), 0, "figures of a run without a begin are made");
    ok(isnan(f.seconds) && isnan(f.gpus) && isnan(f.resident), "of such a run nothing is known");
}

static void test_hosts(void)
{
    struct run_rank ranks[] = { { .host = "b" },  { .host = "" },  { .host = "a" },
                                { .host = NULL }, { .host = "b" }, { .host = "c" } };
    struct run r = { .host = "a", .ranks = ranks, .n_ranks = ARRAY_SIZE(ranks) };
    const char *names[3] = { NULL };

    is_int((long long)run_figures_hosts(&r, names, 2), 3, "different hosts are counted");
    ok(!strcmp(names[0], "b") && !strcmp(names[1], "a") && !names[2],
       "the first hosts are named, and a rank without one is on the run's");
    r.host = NULL;
    is_int((long long)run_figures_hosts(&r, names, 3), 3,
           "a rank of no known host counts for none");
}

int main(void)
{
    test_steps();
    test_short();
    test_moments();
    test_hosts();
    return done();
}
