/* What a loop does beside training, Python's lock, and steps that get longer all the time: as jobs
 * with them measured on two CPUs. */
#include <string.h>

#include "diagnose/verdict/judge.h"
#include "run_made.h"
#include "tap.h"

/* One rank on two CPUs, whose loop is outside of all stages for that share. */
static struct made outside(double share)
{
    struct made m = { .seed = 4 };

    made_healthy(&m, false);
    m.ranks = 1;
    m.steps = 160;
    made_stage(&m, BRIM_STAGE_COMMUNICATION, 0);
    made_stage(&m, BRIM_STAGE_WAIT, 0.01);
    made_stage(&m, BRIM_STAGE_OTHER, share);
    m.s[RUN_CPUS] = 2;
    m.s[RUN_OTHER_CPU] = 0.02;
    m.s[RUN_JOB_CPU] = m.s[RUN_RANK_CPU] = 1.9;
    m.s[RUN_JOB_RUN_WAIT] = 0.1;
    m.s[RUN_RANK_THREAD_CPU] = 0.94;
    m.s[RUN_RANK_THREAD_WAIT] = 0.05;
    m.s[RUN_WORKER_CPU] = (double)NAN;
    return m;
}

static void judge_built(struct run *r, struct verdict *v)
{
    *v = (struct verdict){ .count = 0 };
    if (judge_run(r, NULL, v) != 0)
        abort();
    run_done(r);
}

static void says(struct made *m, enum cause cause, const char *words)
{
    struct run r;
    struct verdict v;

    made_build(m, &r);
    judge_built(&r, &v);
    ok(v.items[0].cause == cause && strstr(v.sentence, words),
       "the run has its cause, and its sentence has '%s': %s", words, v.sentence);
    verdict_done(&v);
}

static void test_kinds(void)
{
    struct made m = outside(0.5);

    says(&m, CAUSE_LOOP, "on a CPU");
    m.s[RUN_RANK_THREAD_CPU] = 0.5;
    m.s[RUN_RANK_THREAD_WAIT] = 0.02;
    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = 1.3;
    says(&m, CAUSE_LOOP, "asleep");
    m.s[RUN_IO_PRESSURE] = 0.4;
    says(&m, CAUSE_LOOP, "waiting for a disk");
    made_stage(&m, BRIM_STAGE_OTHER, 0.15);
    says(&m, CAUSE_NONE, ""); /* it reads: as its workers may */
    m.s[RUN_JOB_WRITE] = 2 * m.s[RUN_JOB_READ];
    says(&m, CAUSE_LOOP, "waiting for a disk");
    m.s[RUN_IO_PRESSURE] = 0.01;
    says(&m, CAUSE_NONE, "");
    made_stage(&m, BRIM_STAGE_OTHER, 0.5);
    m.s[RUN_JOB_CPU] = 1.8;
    says(&m, CAUSE_LOOP, "processes that it starts");
    m = outside(0.15);
    says(&m, CAUSE_NONE, "");
    m = outside(0.6);
    m.level = 1.3;
    m.slow_from = 90;
    says(&m, CAUSE_LOOP, ""); /* not that steps took a little longer later on */
    m = outside(0.5);
    m.s[RUN_GPUS] = 1;
    m.s[RUN_GPU_BUSY] = 0.97;
    says(&m, CAUSE_NONE, ""); /* the host waits for a GPU that has work */
}

/* What torch.compile made is marked from outside, the loss may be not: as long as what is marked is
 * longer, it may be that. */
static void test_compiled(void)
{
    struct made m = outside(0.45);

    made_note(&m, "torch.compile", "no");
    says(&m, CAUSE_LOOP, "");
    m = outside(0.45);
    made_note(&m, "torch.compile", "yes");
    says(&m, CAUSE_UNKNOWN, "in no stage that is marked");
    made_stage(&m, BRIM_STAGE_OTHER, 0.6);
    says(&m, CAUSE_LOOP, "");
}

static void test_now_and_then(void)
{
    struct made m = outside(0.03);

    m.pause_every = 20;
    m.pause_s = 8 * m.step_s;
    m.pause_stage = BRIM_STAGE_OTHER;
    made_note(&m, "gc.seconds", "0.001");
    says(&m, CAUSE_LOOP, "about every 20 steps");
}

static void test_lock(void)
{
    struct made m = outside(0.15);

    m.s[RUN_RANK_THREAD_CPU] = 0.1;
    m.s[RUN_RANK_THREAD_WAIT] = 0.03;
    says(&m, CAUSE_PYTHON_LOCK, "may not run");
    m.s[RUN_RANK_THREAD_WAIT] = 0.37; /* for CPUs that those threads have as well */
    says(&m, CAUSE_PYTHON_LOCK, "may not run");
    m.s[RUN_RANK_THREAD_WAIT] = 0.03;
    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = 0.2;
    says(&m, CAUSE_NONE, ""); /* nobody in it runs: it waits for a device that is not known */
    m = outside(0.15);
    m.s[RUN_RANK_THREAD_CPU] = 0.6;
    says(&m, CAUSE_NONE, "");
}

/* Steps grow to so many times their length. What the rest of them takes is as long as ever, or in
 * the third quarter less by that share of a step. */
static enum cause judge_growth(size_t steps, double to, double dip, char *said)
{
    struct made m = outside(0.03);
    struct verdict v;
    struct run r;
    enum cause found;
    int64_t more = 0;

    m.steps = steps;
    made_build(&m, &r);
    for (size_t i = 0; i < r.ranks[0].n_steps; i++) {
        struct step *s = &r.ranks[0].steps[i];
        double longer = m.step_s * (to - 1) * (double)i / (double)m.steps;
        double less = i * 4 / m.steps == 2 ? m.step_s * dip : 0;

        s->begin_ns += more;
        more += (int64_t)((longer - less) * 1e9);
        s->end_ns += more;
        s->host_s[BRIM_STAGE_OTHER] += longer;
        s->host_s[BRIM_STAGE_BACKWARD] -= less;
    }
    for (size_t i = 0; i < r.n_moments; i++) {
        r.moments[i].values[RUN_CPU_BUSY] = 0.98;
        r.moments[i].values[RUN_OTHER_CPU] = 0;
    }
    judge_built(&r, &v);
    found = v.items[0].cause;
    snprintf(said, 256, "%s", v.sentence);
    verdict_done(&v);
    return found;
}

static void test_growing(void)
{
    char said[256];

    is_int(judge_growth(160, 4, 0, said), CAUSE_SLOWER_THAN_BEFORE,
           "four times as long at the end");
    ok(strstr(said, "longer all the time"), "steps four times as long grow all the time: %s", said);
    is_int(judge_growth(160, 1.02, 0, said), CAUSE_NONE, "two in a hundred is nothing");
    is_int(judge_growth(70, 4, 0, said), CAUSE_SLOWER_THAN_BEFORE,
           "steps four times as long show in 70 steps");
    ok(strstr(said, "longer all the time"), "70 steps are enough to see growth: %s", said);
    (void)judge_growth(70, 1.8, 0, said);
    ok(!strstr(said, "longer all the time"), "less does not: %s", said);
    (void)judge_growth(160, 1.6, 0.4, said);
    ok(strstr(said, "longer all the time"), "what grows is seen where the rest is faster: %s",
       said);
}

int main(void)
{
    test_kinds();
    test_compiled();
    test_now_and_then();
    test_lock();
    test_growing();
    return done();
}
