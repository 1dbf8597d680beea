/* Runs made up for tests of what is rendered of them: a loader that waits for a disk, several ranks
 * of which one is slow, a checkpoint now and then. Deterministic; no memory left is a failed
 * assert(). */
#ifndef BRIM_TESTS_MADE_RUN_H
#define BRIM_TESTS_MADE_RUN_H
#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "model/job/run.h"
#include "model/verdict/verdict.h"

struct made {
    size_t ranks, steps; /* steps of each rank */
    double step_s;
    bool no_gpu;         /* nothing is known of accelerators */
    bool no_stages;      /* steps were inferred */
    const char *hostile; /* every text is this; NULL: none */
};

struct made_chance {
    uint64_t state;
};

/* 0 to 1. */
static inline double made_chance(struct made_chance *c)
{
    c->state = c->state * 6364136223846793005U + 1442695040888963407U;
    return (double)(c->state >> 40) / (double)(1 << 24);
}

static inline void *made_sure(void *p)
{
    assert(p);
    return p;
}

static inline void made_note(struct run *r, struct run_note **list, size_t *n, const char *name,
                             const char *value)
{
    struct run_note *note = made_sure(ARENA_PUSH(&r->arena, list, n));

    note->name = made_sure(arena_strdup(&r->arena, name));
    note->value = made_sure(arena_strdup(&r->arena, value));
}

static inline void made_step(struct step *s, const struct made *m, const struct run_rank *k,
                             struct made_chance *chance)
{
    bool slow = m->ranks > 2 && k->rank == 2 && s->number > m->steps / 3;
    double scale = (slow ? 1.45 : 1) * m->step_s;

    s->host_s[BRIM_STAGE_WAIT] = scale * (0.35 + 0.3 * made_chance(chance));
    if (s->number > m->steps / 2 && s->number < m->steps * 6 / 10)
        s->host_s[BRIM_STAGE_WAIT] *= 2;
    s->host_s[BRIM_STAGE_COPY] = scale * 0.03;
    s->host_s[BRIM_STAGE_FORWARD] = scale * (0.13 + 0.01 * made_chance(chance));
    s->host_s[BRIM_STAGE_BACKWARD] = scale * 0.25;
    s->host_s[BRIM_STAGE_COMMUNICATION] = m->ranks > 1 ? 0.04 * m->step_s : 0;
    s->host_s[BRIM_STAGE_OPTIMIZER] = scale * 0.05;
    s->host_s[BRIM_STAGE_OTHER] = scale * 0.02;
    if (m->steps >= 10 && s->number % (m->steps / 5) == m->steps / 5 - 1)
        s->host_s[BRIM_STAGE_CHECKPOINT] = scale * 6;
    s->samples = 64;
}

static inline void made_rank(struct run *r, const struct made *m, int rank,
                             struct made_chance *chance)
{
    struct run_rank *k = made_sure(ARENA_PUSH(&r->arena, &r->ranks, &r->n_ranks));

    *k = (struct run_rank){ .rank = rank,
                            .local_rank = rank,
                            .world = (int)m->ranks,
                            .pid = 4000 + rank,
                            .host = r->host,
                            .framework = m->hostile ? m->hostile : "torch 1.13.1" };
    k->steps = made_sure(arena_alloc(&r->arena, (m->steps + 1) * sizeof(*k->steps)));
    for (size_t i = 0; i < m->steps; i++) {
        struct step *s = &k->steps[k->n_steps++];

        *s = (struct step){ .number = i, .loss = (double)NAN };
        made_step(s, m, k, chance);
    }
    made_note(r, &k->notes, &k->n_notes, m->hostile ? m->hostile : "loader.workers",
              m->hostile ? m->hostile : "2");
}

static inline double made_seconds(const struct step *s)
{
    double seconds = 0;

    for (unsigned stage = 0; stage < BRIM_STAGES; stage++)
        seconds += s->host_s[stage];
    return seconds;
}

/* Ranks wait for the slowest one in each step; then the times are known. */
static inline void made_times(struct run *r, const struct made *m)
{
    int64_t at_ns = (int64_t)5000000000;

    for (size_t i = 0; i < m->steps; i++) {
        double longest = 0;

        for (size_t k = 0; k < r->n_ranks; k++)
            longest = MAX(longest, made_seconds(&r->ranks[k].steps[i]));
        for (size_t k = 0; k < r->n_ranks; k++) {
            struct step *s = &r->ranks[k].steps[i], *total = &r->ranks[k].total;

            s->host_s[BRIM_STAGE_COMMUNICATION] += longest - made_seconds(s);
            s->begin_ns = at_ns;
            s->end_ns = at_ns + (int64_t)(longest * 1e9);
            total->samples += s->samples;
            total->number++;
            for (unsigned stage = 0; stage < BRIM_STAGES; stage++) {
                total->host_s[stage] += s->host_s[stage];
                if (m->no_stages)
                    s->host_s[stage] = total->host_s[stage] = (double)NAN;
            }
        }
        at_ns += (int64_t)(longest * 1e9);
    }
}

static inline void made_moment(struct run_moment *t, const struct made *m,
                               struct made_chance *chance)
{
    double x = made_chance(chance), *v = t->values;

    for (size_t i = 0; i < RUN_SIGNALS; i++)
        v[i] = (double)NAN;
    v[RUN_CPUS] = 16;
    v[RUN_CPU_BUSY] = 0.2 + 0.15 * x;
    v[RUN_CPU_PRESSURE] = 0.01 * x;
    v[RUN_IO_PRESSURE] = 0.5 + 0.3 * x;
    v[RUN_MEMORY_PRESSURE] = 0;
    v[RUN_MEMORY_TOTAL] = 64e9;
    v[RUN_MEMORY_AVAILABLE] = 40e9 + 1e9 * x;
    v[RUN_DISK_BUSY] = 0.95 + 0.05 * x;
    v[RUN_DISK_AWAIT] = 0.02 + 0.03 * x * x;
    v[RUN_DISK_READ] = 110e6 + 20e6 * x;
    v[RUN_DISK_WRITE] = x > 0.97 ? 300e6 : 1e6 * x;
    v[RUN_NET_RECEIVED] = 1e5 * x;
    v[RUN_NET_SENT] = 1e5 * x;
    v[RUN_JOB_CPU] = 2.2 + x;
    v[RUN_JOB_IO_WAIT] = 1.5 + x;
    v[RUN_WORKER_IO_WAIT] = 0.7 + 0.2 * x;
    v[RUN_JOB_RESIDENT] = 12e9 + 2e8 * x;
    v[RUN_SWAP] = 0;
    if (m->no_gpu)
        return;
    v[RUN_GPUS] = (double)m->ranks;
    v[RUN_GPU_BUSY] = 0.4 + 0.3 * x;
    v[RUN_GPU_MEMORY] = 0.31;
    v[RUN_GPU_CLOCK] = 0.98;
    v[RUN_GPU_THROTTLED] = 0;
}

static inline void made_moments(struct run *r, const struct made *m, struct made_chance *chance)
{
    int64_t begin_ns = (int64_t)4000000000, end_ns = begin_ns;

    for (size_t i = 0; i < r->n_ranks; i++)
        if (r->ranks[i].n_steps)
            end_ns = MAX(end_ns, r->ranks[i].steps[r->ranks[i].n_steps - 1].end_ns);
    r->end_ns = r->begin_ns + (end_ns - begin_ns);
    r->moments = made_sure(arena_alloc(&r->arena, ((size_t)((end_ns - begin_ns) / 1000000000) + 1) *
                                                      sizeof(*r->moments)));
    for (int64_t at_ns = begin_ns + 1000000000; at_ns < end_ns; at_ns += 1000000000) {
        struct run_moment *t = &r->moments[r->n_moments++];

        *t = (struct run_moment){ r->begin_ns + at_ns - begin_ns, at_ns, 1, { 0 } };
        made_moment(t, m, chance);
    }
}

/* run_done() it. */
static inline void made_run(struct run *r, const struct made *m)
{
    struct made_chance chance = { 7 };
    const char *h = m->hostile;

    *r = (struct run){ .id = h ? h : "20261121-034912-a1b2",
                       .name = h ? h : "resnet50",
                       .command = h ? h : "python train.py --data '/mnt/imagenet' --workers 2",
                       .folder = h ? h : "/home/ana/vision",
                       .user = h ? h : "ana",
                       .host = h ? h : "node-07",
                       .begin_ns = (int64_t)1795232952 * 1000000000,
                       .end = RUN_EXITED,
                       .inferred_confidence = (double)NAN };
    if (m->no_stages) {
        r->inferred = h ? h : "a rhythm of 0.40 s in the reads of its processes";
        r->inferred_confidence = 0.8;
    }
    for (size_t i = 0; i < m->ranks; i++)
        made_rank(r, m, (int)i, &chance);
    made_times(r, m);
    made_moments(r, m, &chance);
    made_note(r, &r->environment, &r->n_environment, h ? h : "torch", h ? h : "1.13.1");
    made_note(r, &r->environment, &r->n_environment, "kernel", h ? h : "6.1.0-18-amd64");
    made_note(r, &r->environment, &r->n_environment, "OMP_NUM_THREADS", h ? h : "8");
}

static inline void made_item(struct verdict *v, struct verdict_item item)
{
    struct verdict_item *to = made_sure(ARENA_PUSH(&v->arena, &v->items, &v->count));

    *to = item;
}

static inline void made_shares(struct verdict *v, const struct run *r)
{
    double sum = 0;

    for (size_t i = 0; i < r->n_ranks; i++)
        for (unsigned s = 0; s < BRIM_STAGES; s++) {
            v->share[s] += r->ranks[i].total.host_s[s];
            sum += r->ranks[i].total.host_s[s];
        }
    for (unsigned s = 0; s < BRIM_STAGES; s++)
        v->share[s] /= sum;
}

/* What might be said of such a run; verdict_done() it. */
static inline void made_verdict(struct verdict *v, const struct run *r, const struct made *m)
{
    const char *h = m->hostile;

    *v = (struct verdict){
        .sentence = h ? h
                      : "Every rank waits 49 % of each step for data: reads of 30 ms a request "
                        "from nvme0n1, which 2 loader workers cannot hide.",
        .steps_per_s = 1 / m->step_s,
        .samples_per_s = 64 * (double)m->ranks / m->step_s,
        .step_s = m->step_s,
        .step_p90_s = m->step_s * 1.3,
        .step_best_s = m->step_s * 0.9,
    };
    made_shares(v, r);
    made_item(v, (struct verdict_item){
                     CAUSE_STORAGE_LATENCY, SEVERITY_CRITICAL, 0.49, 1.96, 0.92, -1,
                     h ? h : "loader workers wait for nvme0n1",
                     h ? h
                       : "disk time for a request 31 ms (diskstats), 2.0 of 2 workers in disk "
                         "wait 81 % of the time (taskstats), CPUs 27 % busy",
                     h ? h : "raise num_workers to 8: brim optimize -- python train.py" });
    made_item(v, (struct verdict_item){
                     CAUSE_SLOW_RANK, SEVERITY_WARNING, 0.12, 1.14, 0.7, 2,
                     h ? h : "rank 2 is 1.45 times slower than the median since step 33",
                     h ? h
                       : "its forward and backward take longer at equal samples; other ranks "
                         "wait for it in communication",
                     h ? h : "look at its GPU: brim machine --audit" });
    made_item(v,
              (struct verdict_item){ CAUSE_MEMORY_UNUSED, SEVERITY_NOTE, (double)NAN, (double)NAN,
                                     0.5, -1, h ? h : "69 % of GPU memory are never used",
                                     h ? h : "in use 31 % at most (NVML)", NULL });
}

#endif
