/* Made runs, judged: what stands first. */
#ifndef BRIM_TESTS_JUDGED_H
#define BRIM_TESTS_JUDGED_H
#include <stdio.h>
#include <stdlib.h>

#include "diagnose/verdict/judge.h"
#include "run_made.h"

static inline enum cause judge_built(struct run *r, struct verdict *v)
{
    *v = (struct verdict){ .count = 0 };
    if (judge_run(r, NULL, v) != 0)
        abort();
    return v->items[0].cause;
}

static inline enum cause judge_made(struct made *m)
{
    struct run r;
    struct verdict v;
    enum cause found;

    made_build(m, &r);
    found = judge_built(&r, &v);
    printf("# %s\n", v.sentence);
    verdict_done(&v);
    run_done(&r);
    return found;
}

/* One rank on two CPUs, computing on both. */
static inline struct made small_node(void)
{
    struct made m = { .seed = 5 };

    made_healthy(&m, false);
    m.ranks = 1;
    m.steps = 100;
    m.share[BRIM_STAGE_BACKWARD] += m.share[BRIM_STAGE_COMMUNICATION];
    m.share[BRIM_STAGE_COMMUNICATION] = 0;
    m.s[RUN_CPUS] = 2;
    m.s[RUN_OTHER_CPU] = 0.05;
    m.s[RUN_JOB_CPU] = m.s[RUN_RANK_CPU] = 1.9;
    m.s[RUN_JOB_RUN_WAIT] = 0.05;
    m.s[RUN_RANK_THREAD_CPU] = 0.97;
    m.s[RUN_RANK_THREAD_WAIT] = 0.02;
    made_note(&m, "threads.intra", "2");
    return m;
}

#endif
