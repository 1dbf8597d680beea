/* A made run, its verdict, and what is proposed against that. */
#ifndef BRIM_TESTS_PROPOSED_H
#define BRIM_TESTS_PROPOSED_H
#include <stdlib.h>
#include <string.h>

#include "diagnose/verdict/judge.h"
#include "knobs_ini.h"
#include "run_made.h"
#include "tune/propose/propose.h"

struct proposed {
    struct knobs knobs;
    struct run run;
    struct verdict verdict;
    struct propose_about about;
    struct proposals out;
};

static inline void open_made(struct proposed *p, struct made *m)
{
    struct err e = { "" };

    *p = (struct proposed){ .run = { .id = NULL } };
    made_build(m, &p->run);
    if (judge_run(&p->run, NULL, &p->verdict) != 0 ||
        knobs_load(&p->knobs, "k", data_knobs_ini, data_knobs_ini_len, &e) < 0)
        abort();
    p->about = (struct propose_about){ .run = &p->run,
                                       .verdict = &p->verdict,
                                       .knobs = &p->knobs,
                                       .least_gain = 0.02,
                                       .shm_free_b = (double)NAN,
                                       .mtbf_s = (double)NAN };
}

/* The run may have changed, and with it what its loader needs. */
static inline void again(struct proposed *p)
{
    CLEANUP(verdict_done) struct verdict now = { .count = 0 };

    if (judge_run(&p->run, NULL, &now) != 0)
        abort();
    p->verdict.loader = now.loader;
    proposals_done(&p->out);
    if (propose(&p->out, &p->about) < 0)
        abort();
}

static inline void close_made(struct proposed *p)
{
    proposals_done(&p->out);
    verdict_done(&p->verdict);
    run_done(&p->run);
    knobs_done(&p->knobs);
}

static inline const struct candidate *find(const struct candidate *list, size_t n, const char *knob)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i].knob->name, knob))
            return &list[i];
    return NULL;
}

static inline const struct candidate *allowed(const struct proposed *p, const char *knob)
{
    return find(p->out.list, p->out.count, knob);
}

static inline const struct candidate *barred(const struct proposed *p, const char *knob)
{
    return find(p->out.barred, p->out.n_barred, knob);
}

/* A rank that waits 80 % of 100 ms without workers, on 64 CPUs. */
static inline struct made waiting(void)
{
    struct made m = made_like(CAUSE_NONE, 2);

    m.ranks = 1;
    m.step_s = 0.1;
    m.noise = 1e-9;
    m.steps = 100;
    for (int s = 0; s < BRIM_STAGES; s++)
        m.share[s] = 0;
    m.share[BRIM_STAGE_WAIT] = 0.8;
    m.share[BRIM_STAGE_BACKWARD] = 0.2;
    m.s[RUN_CPUS] = 64;
    m.s[RUN_RANK_CPU] = 0.25;
    m.s[RUN_CPU_BUSY] = 0.01;
    made_note(&m, "note.0", "loader 1: workers 0, batch 16, prefetch none, pin no, kind map");
    return m;
}

#endif
