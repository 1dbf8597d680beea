/* How often to save: formulas against a simulation, their limits, and published rates. */
#include "plan/search/checkpoint.h"

#include <errno.h>
#include <math.h>

#include "failures_csv.h"
#include "noise.h"
#include "oom_arena.h"
#include "plan/cluster/failures.h"
#include "tap.h"

static const double day_s = 86400;

static bool near(double got, double want, double part)
{
    return fabs(got - want) <= part * fabs(want);
}

/* ---- against a simulation ---- */

/* A job as it runs, from event to event: its clock, its next failure, what is safe. */
struct sim {
    struct checkpoint_cost c;
    double mtbf_s, work_s;
    double now, fails_at;
    double useful, restart;
    struct noise noise;
};

static double exponential(struct sim *s)
{
    return -s->mtbf_s * log(noise_even(&s->noise));
}

/* Let time pass; false when a failure came before. */
static bool pass(struct sim *s, double seconds)
{
    if (s->now + seconds < s->fails_at) {
        s->now += seconds;
        return true;
    }
    s->now = s->fails_at;
    s->fails_at += exponential(s);
    return false;
}

/* Start again until a start gets through. */
static void restart(struct sim *s)
{
    double begin = s->now;

    while (!pass(s, s->c.restart_s))
        continue;
    s->restart += s->now - begin;
}

/* Segments from a checkpoint that is whole until the next failure: each works, copies, and writes
 * while the next one works. */
static void run_until_failure(struct sim *s)
{
    bool writing = false;

    for (;;) {
        double before = writing ? s->c.write_s : 0;

        /* What the last segment left is written first: only then is its work safe. */
        if (!pass(s, before))
            return;
        s->useful += writing ? s->work_s : 0;
        if (!pass(s, s->work_s - before) || !pass(s, s->c.stall_s))
            return;
        writing = true;
        if (s->c.write_s <= 0) {
            s->useful += s->work_s;
            writing = false;
        }
    }
}

static struct sim simulate(const struct checkpoint_cost *c, double mtbf_s, double work_s,
                           double failures)
{
    struct sim s = { .c = *c, .mtbf_s = mtbf_s, .work_s = work_s, .noise = noise_start(7, false) };

    s.fails_at = exponential(&s);
    while (s.now < failures * mtbf_s) {
        run_until_failure(&s);
        restart(&s);
    }
    return s;
}

/* 200,000 failures: the mean of their losses is within 1 % at 4 standard errors. */
static void test_simulation(void)
{
    static const struct {
        const char *name;
        struct checkpoint_cost c;
        double mtbf_s, interval_s; /* 0: the best */
    } cases[] = {
        { "16k GPUs, blocking", { 60, 0, 600 }, 3 * 3600, 0 },
        { "the same, every 3 hours", { 60, 0, 600 }, 3 * 3600, 3 * 3600 },
        { "failures as frequent as saves", { 600, 0, 600 }, 900, 0 },
        { "asynchronous", { 2, 60, 600 }, 3 * 3600, 0 },
        { "asynchronous, storage slower than the best", { 1, 900, 300 }, 3600, 0 },
        { "no restart cost", { 30, 0, 0 }, 3600, 0 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct checkpoint_cost *c = &cases[i].c;
        double m = cases[i].mtbf_s;
        double work = cases[i].interval_s > 0 ? cases[i].interval_s
                                              : checkpoint_interval(c, m).best_s;
        struct checkpoint_share share = checkpoint_share(c, m, work);
        struct sim s = simulate(c, m, work, 200000);

        ok(near(share.useful, s.useful / s.now, 0.01), "%s: useful %.4f, simulated %.4f",
           cases[i].name, share.useful, s.useful / s.now);
        ok(fabs(share.restart - s.restart / s.now) < 0.005, "%s: restart %.4f, simulated %.4f",
           cases[i].name, share.restart, s.restart / s.now);
        ok(near(share.useful + share.saving + share.repeated + share.restart, 1, 1e-12),
           "%s: the shares are all of the time", cases[i].name);
    }
}

/* ---- the optimum ---- */

static void test_best(void)
{
    const struct checkpoint_cost c = { .stall_s = 30, .restart_s = 600 };

    for (int i = 0; i < 10; i++) {
        double m = 10 * pow(7, i), best = checkpoint_interval(&c, m).best_s;
        double top = checkpoint_share(&c, m, best).useful;

        ok(checkpoint_share(&c, m, best * 1.01).useful < top &&
               checkpoint_share(&c, m, best / 1.01).useful < top,
           "an MTBF of %.3g s has its best interval, %.4g s, not 1 %% beside it", m, best);
    }
}

static void test_limits(void)
{
    struct checkpoint_cost c = { .stall_s = 1 };
    struct checkpoint_interval i = checkpoint_interval(&c, 1e12);

    ok(near(i.daly_s, i.young_s, 1e-5) && near(i.best_s, i.young_s, 1e-5),
       "for a save far below the MTBF all three intervals agree");
    for (int k = 1; k < 6; k++) {
        double m = pow(10, k), off;

        i = checkpoint_interval(&c, m);
        off = fabs(i.daly_s / i.best_s - 1);
        ok(off < 0.02 * pow(m, -1.5) && off < fabs(i.young_s / i.best_s - 1),
           "for an MTBF of %g saves Daly is %.2g off, the next term, and less than Young", m, off);
    }
    i = checkpoint_interval(&c, 0.3);
    ok(i.daly_s > 0.29 && i.daly_s < 0.31, "for a save longer than two MTBF Daly says the MTBF");
    ok(i.best_s > 0 && i.best_s <= 0.3,
       "for a save longer than two MTBF the best is below the MTBF");
}

static void test_storage(void)
{
    const struct checkpoint_cost c = { .stall_s = 1, .write_s = 1800, .restart_s = 60 };
    struct checkpoint_interval i = checkpoint_interval(&c, 36000);

    ok(i.by_storage && near(i.best_s, 1800, 1e-12),
       "the best interval lets no save overtake another");
    ok(near(checkpoint_share(&c, 36000, 10).useful, checkpoint_share(&c, 36000, 1800).useful,
            1e-12),
       "an interval shorter than a write counts as the write");
    ok(!checkpoint_interval(&c, 36000000).by_storage, "with rare failures storage is no limit");
}

/* ---- sizes and rates ---- */

/* BigScience's page of the run: weights 329 GB, all 2.3 TB, in units of 1024 and rounded up. */
static void test_state(void)
{
    double bloom = 176247271424, all = checkpoint_state_b(bloom);

    is_int((long long)ceil(2 * bloom / (1 << 30)), 329, "the weights of BLOOM take 329 GiB");
    is_int((long long)ceil(10 * all / 1024 / (1 << 30)), 23, "the state of BLOOM takes 2.3 TiB");
}

static double gpu_days(const struct failures *f, const char *name)
{
    const struct failure_row *r = NULL;

    return failures_find(f, name, &r, NULL) == 0 ? r->node_mtbf_s / day_s * r->node_gpus : 0;
}

static void test_rates(void)
{
    CLEANUP(failures_done) struct failures f = { .n_rows = 0 };
    struct err e = { "" };

    is_int(failures_load(&f, (const char *)data_failures_csv, data_failures_csv_len, &e), 0,
           "failures_load reads failures.csv: %s", e.text);
    ok(near(gpu_days(&f, "llama_3"), 16384. * 54 / 419, 1e-12),
       "Llama 3 has a failure in 2,112 GPU days");
    ok(near(gpu_days(&f, f.rows[0].name) / 16384 * 24, 3.1, 0.01),
       "the default is a failure each 3.1 hours on 16,384 GPUs");
    ok(near(gpu_days(&f, "RSC-1"), 8000 / 6.5, 1e-12), "RSC-1 has 6.5 failures in 1,000 node days");
    ok(near(gpu_days(&f, "rsc1") / 16384 * 24, 1.8, 0.01),
       "RSC-1 on 16,384 GPUs has a failure each 1.8 hours");
    is_int(failures_find(&f, "RSC-3", &(const struct failure_row *){ NULL }, &e), -EINVAL,
           "failures_find refuses an unknown name");
    is_str(e.text, "unknown failure rate 'RSC-3' (did you mean RSC-1?)",
           "the error names a name near the unknown one");
}

#define HEADER "name,aliases,gpu,node_gpus,gpus,days,failures,per_1000_node_days,source,notes\n"

static void test_refused(void)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        { HEADER, "failures.csv: there is no row in it" },
        { HEADER "a,,,8,64,10,,,s,n\n",
          "failures.csv:2: a rate needs node_gpus, and gpus, days and failures or "
          "per_1000_node_days" },
        { HEADER "a,,,8,,,,-1,s,n\n", "failures.csv:2: '-1' is no per_1000_node_days" },
        { HEADER "a b,,,8,,,,1,s,n\n", "failures.csv:2: a rate needs a name without blanks" },
        { HEADER "a,,,8,,,,1,s,n\nA,,,8,,,,1,s,n\n",
          "failures.csv:3: A has a name that another rate has" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(failures_done) struct failures f = { .n_rows = 0 };
        struct err e = { "" };

        is_int(failures_load(&f, cases[i].text, strlen(cases[i].text), &e), -EINVAL,
               "failures_load refuses: %s", cases[i].said);
        is_str(e.text, cases[i].said, "failures_load says: %s", cases[i].said);
    }
}

static void test_oom(void)
{
    bool failed;

    oom_restart();
    do {
        struct failures f = { .n_rows = 0 };
        struct err e = { "" };
        int rc;

        oom_next();
        rc = failures_load(&f, (const char *)data_failures_csv, data_failures_csv_len, &e);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM && e.text[0] : rc == 0,
           "failures_load with allocation %d failing returns %d", oom_at, rc);
        failures_done(&f);
    } while (failed);
}

int main(void)
{
    test_simulation();
    test_best();
    test_limits();
    test_storage();
    test_state();
    test_rates();
    test_refused();
    test_oom();
    return done();
}
